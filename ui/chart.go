package ui

import (
	"strings"
	"time"

	"wirespeed/engine/meter"
	"wirespeed/ui/control"
)

// One column of points is a second, or more where the plot is so narrow that it would hold no minute and a half. Columns are
// counted from the start of the run: the picture moves by whole columns, and a column once drawn does not change its
// height because time went on.
func stepFor(cols int) time.Duration {
	for _, s := range [...]time.Duration{1, 2, 5} {
		if time.Duration(cols)*s >= 100 {
			return s * time.Second
		}
	}
	return 10 * time.Second
}

const (
	axisWidth = 10 // left of the plot: the axis; right of it: the means
	logBeyond = 20 // a ratio of highest to lowest value from which an axis becomes logarithmic
)

// chart says what one chart shows.
type chart struct {
	title string
	value func(control.Point) (float64, bool)
	mean  func(meter.Epoch) float64
	log   bool // may be drawn on a logarithmic axis
}

var ppsChart = chart{
	title: "pps",
	value: func(p control.Point) (float64, bool) { return p.PPS, p.Valid },
	mean:  func(e meter.Epoch) float64 { return e.PPS },
}

var nsChart = chart{
	title: "ns/packet",
	value: func(p control.Point) (float64, bool) { return p.NS, p.Valid && p.NS > 0 },
	mean:  func(e meter.Epoch) float64 { return e.MeanNS },
	log:   true,
}

// column is what one column of points shows: the samples of one step of time.
type column struct {
	ok     bool
	lo, hi float64
	mean   float64 // of the epoch, 0 without one
	epoch  int
	mark   string
}

// plotSize is the number of point columns and rows in a plot of w by h cells.
func plotSize(w, h int, g glyphs) (cols, rows int) {
	if g.Braille {
		return 2 * w, 4 * h
	}
	return w, 2 * h
}

// columns sorts the history into the columns of a chart; the last column is the present.
func (c chart) columns(v *control.View, n int) []column {
	cols := make([]column, n)
	if len(v.History) == 0 || n == 0 {
		return cols
	}
	step := stepFor(n)
	last := int(v.History[len(v.History)-1].At / step)
	var ep meter.Epoch
	for i := len(v.History) - 1; i >= 0; i-- {
		p := v.History[i]
		x := n - 1 - last + int(p.At/step)
		if x < 0 {
			break
		}
		if x >= n {
			continue
		}
		k := &cols[x]
		if k.mark == "" {
			k.mark = p.Mark
		}
		y, ok := c.value(p)
		if !ok {
			continue
		}
		if !k.ok {
			k.ok, k.lo, k.hi = true, y, y
		}
		k.lo, k.hi = min(k.lo, y), max(k.hi, y)
		if k.epoch == 0 && p.Epoch != 0 {
			if p.Epoch != ep.Number {
				ep = epochOf(v, p.Epoch)
			}
			if k.epoch = ep.Number; k.epoch != 0 {
				k.mean = c.mean(ep)
			}
		}
	}
	return cols
}

// epochOf finds an epoch by its number; one without samples, or forgotten, is the zero value.
func epochOf(v *control.View, number int) meter.Epoch {
	if v.Epoch.Number == number && v.Epoch.N > 0 {
		return v.Epoch
	}
	for i := len(v.Epochs) - 1; i >= 0; i-- {
		if e := v.Epochs[i]; e.Number == number && e.N > 0 {
			return e
		}
	}
	return meter.Epoch{}
}

// draw returns the chart in h lines of w cells, the title among them.
func (c chart) draw(v *control.View, w, h int, th *Theme) []string {
	nc, _ := plotSize(max(w-2*axisWidth, 1), h-1, th.Glyphs)
	return c.drawColumns(c.columns(v, nc), w, h, th)
}

// drawColumns is draw for columns that are sorted already.
func (c chart) drawColumns(cols []column, w, h int, th *Theme) []string {
	plotW, plotH := max(w-2*axisWidth, 1), h-1
	nc, nr := plotSize(plotW, plotH, th.Glyphs)
	a, ok := c.axisOf(cols, nr)
	out := make([]string, 0, h)
	if !ok {
		out = append(out, rule(th, w, c.title, "no frames yet"))
		for len(out) < h {
			out = append(out, blanks(w))
		}
		return out
	}
	out = append(out, rule(th, w, c.title, a.says()))
	dots := newDots(plotW, plotH, th.Glyphs)
	means := c.plot(cols, a, dots)
	cells := dots.runes()
	labels := meanLabels(cols, a, plotH, nr)
	for y := range plotH {
		r := newRow(w)
		switch y {
		case 0:
			r.right(th.Dim, shortText(a.hi), axisWidth-2)
		case plotH - 1:
			r.right(th.Dim, shortText(a.lo), axisWidth-2)
		}
		r.pad(axisWidth-1).put(th.Rule, th.Glyphs.Bar)
		plotRow(r, cells[y], cols, means[y], th, nc/plotW)
		if labels[y] != 0 {
			r.put(th.Mean, " "+shortText(labels[y]))
		}
		out = append(out, r.full())
	}
	return out
}

// plot sets the points of all columns and says in which cells the mean of an epoch runs.
func (c chart) plot(cols []column, a axis, d *dots) (means [][]bool) {
	means = make([][]bool, d.h)
	for y := range means {
		means[y] = make([]bool, d.w)
	}
	var prev column
	prevTop, prevLow := 0, 0
	for x, k := range cols {
		if !k.ok {
			prev = k
			continue
		}
		top, low := a.row(k.hi), a.row(k.lo)
		// A line, not a cloud: neighbours of one regime touch. Across a change they do not.
		if from, to := top, low; prev.ok && prev.epoch == k.epoch {
			from, to = min(from, prevLow+1), max(to, prevTop-1)
			d.vertical(x, from, to)
		} else {
			d.vertical(x, from, to)
		}
		if k.mean > 0 {
			y := a.row(k.mean)
			d.set(x, y)
			means[y/d.dotsHigh()][x/d.dotsWide()] = true
		}
		prev, prevTop, prevLow = k, top, low
	}
	return means
}

// meanLabels puts the mean of every epoch in sight beside the row where it runs, the latest first.
func meanLabels(cols []column, a axis, h, rows int) []float64 {
	labels := make([]float64, h)
	seen := 0
	for i := len(cols) - 1; i >= 0; i-- {
		k := cols[i]
		if k.epoch == 0 || k.epoch == seen {
			continue
		}
		seen = k.epoch
		if y := a.row(k.mean) * h / rows; labels[y] == 0 {
			labels[y] = k.mean
		}
	}
	return labels
}

// plotRow writes one line of the plot, with a faint line down where a knob was turned.
func plotRow(r *row, line []rune, cols []column, mean []bool, th *Theme, wide int) {
	const (
		none = iota
		data
		step
		turn
	)
	inks := [...]ink{th.Text, th.TX, th.Mean, th.Rule}
	mark := []rune(th.Glyphs.Line)[0]
	kind, n := none, 0
	var b strings.Builder
	flush := func() {
		if n > 0 {
			r.raw(inks[kind], b.String())
			r.w += n
			b.Reset()
			n = 0
		}
	}
	for x, c := range line {
		k := data
		switch {
		case mean[x]:
			k = step
		case c != ' ':
		case marked(cols, x, wide):
			k, c = turn, mark
		default:
			k = none
		}
		if k != kind {
			flush()
			kind = k
		}
		b.WriteRune(c)
		n++
	}
	flush()
}

func marked(cols []column, x, wide int) bool {
	for i := x * wide; i < (x+1)*wide; i++ {
		if cols[i].mark != "" {
			return true
		}
	}
	return false
}
