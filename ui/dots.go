package ui

import (
	"strings"

	"github.com/NimbleMarkets/ntcharts/canvas/runes"
)

// dots is a plot of points: braille from ntcharts, or its like from ASCII with two points a cell.
type dots struct {
	w, h    int // cells
	braille *runes.PatternDotsGrid
	ascii   [][]rune
}

func newDots(w, h int, g glyphs) *dots {
	d := &dots{w: w, h: h}
	if g.Braille {
		d.braille = runes.NewPatternDotsGrid(2*w, 4*h)
		return d
	}
	d.ascii = make([][]rune, h)
	for y := range d.ascii {
		d.ascii[y] = []rune(strings.Repeat(" ", w))
	}
	return d
}

func (d *dots) dotsWide() int {
	if d.braille != nil {
		return 2
	}
	return 1
}

func (d *dots) dotsHigh() int {
	if d.braille != nil {
		return 4
	}
	return 2
}

func (d *dots) set(x, y int) {
	if d.braille != nil {
		d.braille.Set(x, y)
		return
	}
	upper := y%2 == 0
	switch c := &d.ascii[y/2][x]; {
	case *c == ' ' && upper:
		*c = '\''
	case *c == ' ':
		*c = '.'
	case *c == '\'' && !upper, *c == '.' && upper:
		*c = ':'
	}
}

func (d *dots) vertical(x, from, to int) {
	for y := from; y <= to; y++ {
		d.set(x, y)
	}
}

// runes returns the lines of the plot; an empty cell is a blank.
func (d *dots) runes() [][]rune {
	if d.braille == nil {
		return d.ascii
	}
	lines := d.braille.BraillePatterns()
	for _, line := range lines {
		for x := range line {
			if line[x] == runes.BrailleBlockOffset {
				line[x] = ' '
			}
		}
	}
	return lines
}
