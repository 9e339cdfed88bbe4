package plot

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"

	"wirespeed/engine/meter"
)

// Chart is a whole picture.
type Chart struct {
	Title  string
	X      string // what the common axis is, with its unit
	LogX   bool   // where all places are above 0
	Panels []Panel
	Marks  []Mark
	Notes  []string // lines of text below the axis
}

// Panel is one plot; its scale follows its points.
type Panel struct {
	Y        string // what is drawn, with its unit
	FromZero bool
	Series   []Series
	Levels   []Level
}

// Series is one measurement over the axis, in the order in which its points are joined.
type Series struct {
	Name   string
	Points []Point
	Dots   bool // points alone, not joined
}

// Point is a value and how far it may be off to either side (0: not known or nothing).
type Point struct{ X, Y, Err float64 }

// Level is a value to compare with: a line from left to right.
type Level struct {
	Name string
	Y    float64
}

// Mark is a place on the axis, with words.
type Mark struct {
	X    float64
	Text string
}

// Measures of the page, in its own units.
const (
	pageWidth   = 960
	left, right = 90, 30
	panelHeight = 230
	panelGap    = 26
	titleHeight = 54
	axisHeight  = 44
	noteHeight  = 18
)

// inks are colours that people with colour blindness can tell apart (Okabe and Ito, Color Universal Design, 2008).
var inks = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

// SVG writes the picture. The error is the writer's.
func SVG(w io.Writer, c Chart) error {
	var b bytes.Buffer
	page := newPage(c)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="12" fill="#222">`+"\n",
		pageWidth, page.height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#fff"/>`+"\n")
	text(&b, left, 24, `font-size="16" font-weight="bold"`, c.Title)
	for i := range c.Panels {
		page.panel(&b, i)
	}
	page.marks(&b)
	page.axis(&b)
	for i, n := range c.Notes {
		text(&b, left, page.bottom()+axisHeight+noteHeight*(i+1), "", n)
	}
	b.WriteString("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

// page is a chart with its places worked out.
type page struct {
	c      Chart
	x      scale
	height int
}

func newPage(c Chart) *page {
	p := &page{c: c}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, panel := range c.Panels {
		for _, s := range panel.Series {
			for _, pt := range s.Points {
				if number(pt.X) {
					lo, hi = min(lo, pt.X), max(hi, pt.X)
				}
			}
		}
	}
	p.x = newScale(lo, hi, c.LogX, false)
	p.x.from, p.x.to = left, pageWidth-right
	p.height = p.bottom() + axisHeight + noteHeight*(len(c.Notes)+1)
	return p
}

func (p *page) top(panel int) int { return titleHeight + panel*(panelHeight+panelGap) }

func (p *page) bottom() int { return p.top(max(len(p.c.Panels), 1)-1) + panelHeight }

// panel draws one plot.
func (p *page) panel(b *bytes.Buffer, i int) {
	panel, top := p.c.Panels[i], p.top(i)
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, s := range panel.Series {
		for _, pt := range s.Points {
			if number(pt.Y) {
				e := errorOf(pt)
				lo, hi = min(lo, pt.Y-e), max(hi, pt.Y+e)
			}
		}
	}
	for _, l := range panel.Levels { // in sight where it is near
		if number(l.Y) && l.Y >= lo-(hi-lo)/2 && l.Y <= hi+(hi-lo)/2 {
			lo, hi = min(lo, l.Y), max(hi, l.Y)
		}
	}
	y := newScale(lo, hi, false, panel.FromZero)
	y.from, y.to = float64(top+panelHeight), float64(top)
	for _, t := range y.ticks() {
		at := y.at(t)
		fmt.Fprintf(b, `<path d="M%d %sH%d" stroke="#ddd" fill="none"/>`+"\n", left, short(at), pageWidth-right)
		text(b, left-8, int(at)+4, `text-anchor="end" fill="#555"`, y.label(t))
	}
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#888"/>`+"\n", left, top, pageWidth-left-right, panelHeight)
	text(b, left, top-6, `font-weight="bold"`, panel.Y)
	for _, l := range panel.Levels {
		if !number(l.Y) || l.Y < y.lo || l.Y > y.hi {
			continue
		}
		fmt.Fprintf(b, `<path d="M%d %sH%d" stroke="#888" stroke-dasharray="6 4" fill="none"/>`+"\n", left, short(y.at(l.Y)), pageWidth-right)
		text(b, pageWidth-right-6, int(y.at(l.Y))-4, `text-anchor="end" fill="#555"`, l.Name)
	}
	named := pageWidth - right
	for n := len(panel.Series) - 1; n >= 0; n-- {
		s := panel.Series[n]
		ink := inks[n%len(inks)]
		p.series(b, s, y, ink)
		if s.Name != "" {
			text(b, named, top-6, `text-anchor="end" fill="`+ink+`"`, s.Name)
			named -= 8*len([]rune(s.Name)) + 14
		}
	}
}

// series draws points, their errors and what joins them.
func (p *page) series(b *bytes.Buffer, s Series, y scale, ink string) {
	var path strings.Builder
	pen := "M"
	for _, pt := range s.Points {
		if !number(pt.X) || !number(pt.Y) || p.x.log && pt.X <= 0 {
			pen = "M"
			continue
		}
		x, at := short(p.x.at(pt.X)), short(y.at(pt.Y))
		fmt.Fprintf(&path, "%s%s %s", pen, x, at)
		pen = "L"
		if e := errorOf(pt); e > 0 {
			fmt.Fprintf(b, `<path d="M%s %sV%s" stroke="%s" stroke-opacity=".45" fill="none"/>`+"\n", x, short(y.at(pt.Y-e)), short(y.at(pt.Y+e)), ink)
		}
		fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="2.2" fill="%s"/>`+"\n", x, at, ink)
	}
	if !s.Dots && path.Len() > 0 {
		fmt.Fprintf(b, `<path d="%s" stroke="%s" stroke-width="1.3" fill="none"/>`+"\n", path.String(), ink)
	}
}

// marks draws the named places over all panels; their words stand one below the other, so that they do not cover each other.
func (p *page) marks(b *bytes.Buffer) {
	for i, m := range p.c.Marks {
		if !number(m.X) || m.X < p.x.lo || m.X > p.x.hi {
			continue
		}
		x := p.x.at(m.X)
		fmt.Fprintf(b, `<path d="M%s %dV%d" stroke="#b00" stroke-dasharray="3 3" fill="none"/>`+"\n", short(x), p.top(0), p.bottom())
		anchor, at := "start", int(x)+5
		if x > (left+pageWidth-right)/2 {
			anchor, at = "end", int(x)-5
		}
		text(b, at, p.top(0)+16+15*(i%8), `text-anchor="`+anchor+`" fill="#b00"`, m.Text)
	}
}

func (p *page) axis(b *bytes.Buffer) {
	at := p.bottom()
	for _, t := range p.x.ticks() {
		x := p.x.at(t)
		fmt.Fprintf(b, `<path d="M%s %dv5" stroke="#888" fill="none"/>`+"\n", short(x), at)
		text(b, int(x), at+18, `text-anchor="middle" fill="#555"`, p.x.label(t))
	}
	text(b, (left+pageWidth-right)/2, at+36, `text-anchor="middle"`, p.c.X)
}

// text writes a line of text, whatever is in it.
func text(b *bytes.Buffer, x, y int, attributes, s string) {
	if s == "" {
		return
	}
	if attributes != "" {
		attributes = " " + attributes
	}
	fmt.Fprintf(b, `<text x="%d" y="%d"%s>%s</text>`+"\n", x, y, attributes, html.EscapeString(plain(s)))
}

// plain leaves out what XML cannot hold.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r >= ' ' && r != 0xfffe && r != 0xffff {
			return r
		}
		return -1
	}, strings.ToValidUTF8(s, "?"))
}

// number says whether a value can be drawn: one that has a place on a page.
func number(v float64) bool { return !math.IsNaN(v) && math.Abs(v) < 1e30 }

func errorOf(p Point) float64 {
	if !number(p.Err) {
		return 0
	}
	return math.Abs(p.Err)
}

// short prints a place on the page to a hundredth.
func short(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }

// scale maps values to places on the page.
type scale struct {
	lo, hi   float64
	from, to float64
	log      bool
}

// newScale takes all values between two ends and a little more. Ends that are not known, or the same, still make a scale.
func newScale(lo, hi float64, log, zero bool) scale {
	switch {
	case lo > hi:
		lo, hi = 0, 1
		log = false
	case log && lo > 0:
		if hi <= lo*1.0001 {
			lo, hi = lo/2, hi*2
		}
		return scale{lo: lo, hi: hi, log: true}
	}
	if zero {
		lo, hi = min(lo, 0), max(hi, 0)
	}
	// A steady stream is to look like one: its noise is not blown up to the whole height.
	if least := max(math.Abs(hi)*0.01, 1e-9); hi-lo < least {
		mid := (hi + lo) / 2
		lo, hi = mid-least/2, mid+least/2
	}
	margin := (hi - lo) * 0.04
	if !zero || lo < 0 {
		lo -= margin
	}
	return scale{lo: lo, hi: hi + margin}
}

func (s scale) at(v float64) float64 {
	lo, hi := s.lo, s.hi
	if s.log {
		lo, hi, v = math.Log(lo), math.Log(hi), math.Log(v)
	}
	return s.from + (v-lo)/(hi-lo)*(s.to-s.from)
}

// ticks are round values in the scale.
func (s scale) ticks() (list []float64) {
	if s.log {
		for p := math.Pow(10, math.Floor(math.Log10(s.lo))); p > 0 && p <= s.hi && len(list) < 60; p *= 10 {
			for _, m := range [...]float64{1, 2, 5} {
				if v := m * p; v >= s.lo*0.9999 && v <= s.hi*1.0001 {
					list = append(list, v)
				}
			}
		}
		return list
	}
	step := meter.RoundStep((s.hi - s.lo) / 6)
	for n := math.Ceil(s.lo / step); n*step <= s.hi && len(list) < 20; n++ {
		list = append(list, n*step)
	}
	return list
}

// label prints a tick with as many decimals as tell it from its neighbours.
func (s scale) label(v float64) string {
	decimals := 0
	step := (s.hi - s.lo) / 6
	if s.log {
		step = v
	}
	if step < 1 {
		decimals = min(6, int(math.Ceil(-math.Log10(step))))
	}
	return meter.Number(v, decimals)
}
