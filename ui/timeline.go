package ui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"wirespeed/ui/control"
)

// rule is a title with a line to the end of w cells and a remark at its end.
func rule(th *Theme, w int, title, remark string) string {
	r := newRow(w)
	r.put(th.Title, " "+title+" ")
	remark = ansi.Truncate(clean(remark), max(w-r.w-4, 0), th.Glyphs.Cut)
	tail := 0
	if cells(remark) > 1 {
		tail = cells(remark) + 2
	}
	if n := w - tail - r.w; n > 0 {
		r.put(th.Rule, strings.Repeat(th.Glyphs.Rule, n))
	}
	if tail > 0 {
		r.put(th.Dim, " "+remark+" ")
	}
	return r.full()
}

// markRow names what was turned under the place where it was turned, the latest first where two need the same cells.
func markRow(v *control.View, w int, th *Theme) string {
	plotW := max(w-2*axisWidth, 1)
	nc, _ := plotSize(plotW, 1, th.Glyphs)
	cols := ppsChart.columns(v, nc)
	wide := nc / plotW
	line := make([]string, plotW) // "" free, else what starts here; taken cells hold "\x00"
	free := func(from, to int) bool {
		if from < 0 || to > plotW {
			return false
		}
		for i := from; i < to; i++ {
			if line[i] != "" {
				return false
			}
		}
		return true
	}
	take := func(at int, s string) {
		line[at] = s
		for i := 1; i < cells(s); i++ {
			line[at+i] = taken
		}
	}
	for i := nc - 1; i >= 0; i-- {
		if cols[i].mark == "" {
			continue
		}
		x, name := i/wide, clean(cols[i].mark)
		if !free(x, x+1) {
			continue
		}
		switch n := cells(name); {
		case free(x, x+n+3):
			take(x, th.Glyphs.Mark+" "+name+" ")
		case free(x-n-1, x+1):
			take(x-n-1, name+" "+th.Glyphs.Mark)
		default:
			take(x, th.Glyphs.Mark)
		}
	}
	r := newRow(w)
	r.pad(axisWidth)
	for _, s := range line {
		switch s {
		case "":
			r.put(th.Text, " ")
		case taken:
		default:
			r.put(th.Mean, s)
		}
	}
	return r.full()
}

const taken = "\x00"

// timeRow is the axis of time below the charts: how long ago.
func timeRow(w int, th *Theme) string {
	plotW := max(w-2*axisWidth, 1)
	nc, _ := plotSize(plotW, 1, th.Glyphs)
	perCell := nc / plotW * int(stepFor(nc).Seconds())
	line := []rune(strings.Repeat(th.Glyphs.Rule, plotW))
	put := func(end int, s string) {
		start := end - len(s)
		if start < 0 || end > plotW {
			return
		}
		copy(line[start:end], []rune(s))
	}
	put(plotW, " now")
	every := 30
	for every/perCell < 12 {
		every *= 2
	}
	for s := every; s/perCell < plotW; s += every {
		put(plotW-s/perCell+3, fmt.Sprintf(" -%d:%02d ", s/60, s%60))
	}
	r := newRow(w)
	r.pad(axisWidth).put(th.Dim, string(line))
	return r.full()
}
