package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wirespeed/engine/meter"
	"wirespeed/ui/control"
)

// history is one sample a second.
func historyOf(epoch int, pps ...float64) []control.Point {
	var out []control.Point
	for i, x := range pps {
		p := control.Point{At: time.Duration(i) * time.Second, PPS: x, Valid: x >= 0, Epoch: epoch}
		if x > 0 {
			p.NS = 1e9 / x
		}
		out = append(out, p)
	}
	return out
}

// The picture of a small chart, drawn by hand: three samples at 100, a gap where one was invalid, two at 200, and the mean.
func TestChartShowsTheSamples(t *testing.T) {
	v := &control.View{History: historyOf(1, 100, 100, 100, -1, 200, 200), Epoch: meter.Epoch{Number: 1, N: 6, PPS: 150}}
	g := asciiGlyphs
	th := plainTheme()
	th.Glyphs = g
	c := ppsChart
	cols := c.columns(v, 100)
	if n := len(cols); cols[n-1].hi != 200 || cols[n-3].ok || cols[n-4].lo != 100 || cols[n-7].ok {
		t.Errorf("columns are wrong: %+v", cols[n-8:])
	}
	a, ok := c.axisOf(cols, 10)
	if !ok || a.lo > 100 || a.hi < 200 {
		t.Errorf("axis %+v does not hold the data", a)
	}
	got := c.draw(v, 100+2*axisWidth, 6, th)
	var plot []string
	for _, l := range got[1:] {
		plot = append(plot, l[axisWidth+92:axisWidth+100])
	}
	want := []string{ // 200 in point row 0 of 10, the mean 150 in row 5, 100 in row 9
		"      ''",
		"        ",
		"  ... ..",
		"        ",
		"  ...   ",
	}
	if diff := cmp.Diff(want, plot); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, strings.Join(got, "\n"))
	}
}

// The axis holds all that is drawn, and says when it does not begin at 0.
func TestAxisHoldsTheData(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values []float64
		says   string
	}{
		{"steady", []float64{702.5}, "axis zoomed to the data"},
		{"a step of 31 ns", []float64{702.6, 672}, "axis zoomed to the data"},
		{"down to half", []float64{1000, 400}, "axis zoomed to the data"},
		{"nearly nothing", []float64{1000, 100}, "axis from 0"},
		{"orders of magnitude", []float64{700, 100e6}, "logarithmic axis"},
		{"tiny", []float64{0.001}, "axis from 0"},
		{"huge", []float64{1e15, 2e15}, "axis zoomed to the data"},
	} {
		var v control.View
		for i, ns := range tt.values {
			v.History = append(v.History, control.Point{At: time.Duration(i) * time.Second, NS: ns, PPS: 1e9 / ns, Valid: true})
		}
		cols := nsChart.columns(&v, 120)
		a, _ := nsChart.axisOf(cols, 24)
		if got := a.says(); got != tt.says {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.says)
		}
		last := -1
		for _, ns := range tt.values {
			if ns < a.lo*0.999 || ns > a.hi*1.001 {
				t.Errorf("%s: %g is not within %g to %g", tt.name, ns, a.lo, a.hi)
			}
			if y := a.row(ns); y < 0 || y >= 24 || y == last && len(tt.values) > 1 {
				t.Errorf("%s: %g is drawn in row %d, as the one before or outside", tt.name, ns, y)
			} else {
				last = y
			}
		}
	}
}

// Time moves the picture by whole columns and changes nothing in it.
func TestChartMovesByWholeColumns(t *testing.T) {
	f := newFakeNIC().after(401)
	before := ppsChart.columns(f.Tick(), 120)
	f.after(3)
	after := ppsChart.columns(f.Tick(), 120)
	if diff := cmp.Diff(before[1:119], after[:118], cmp.AllowUnexported(column{}), cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".mean" }, cmp.Ignore())); diff != "" {
		t.Errorf("columns changed while they moved:\n%s", diff)
	}
}

// A mark stands below the column in which the knob was turned.
func TestMarkStandsWhereTheKnobWasTurned(t *testing.T) {
	v := &control.View{History: historyOf(1, make([]float64, 60)...)}
	v.History[29].Mark = "burst 8"
	row := markRows(v, 120+2*axisWidth, 1, plainTheme())[0]
	at := strings.Index(row, unicodeGlyphs.Mark)
	if at < 0 || !strings.Contains(row, "burst 8") {
		t.Fatalf("no mark in %q", row)
	}
	// 30 s ago in columns of 1 s, two a cell, from the right end of the plot.
	if want := axisWidth + 120 - 1 - 30/2; cells(row[:at]) != want {
		t.Errorf("mark at cell %d, want %d", cells(row[:at]), want)
	}
}

// Of marks that are close together every one has its sign, and the latest has its name.
func TestMarksThatAreClose(t *testing.T) {
	v := &control.View{History: historyOf(1, make([]float64, 60)...)}
	for i, name := range map[int]string{10: "burst 2", 46: "burst 4", 52: "burst 8", 56: "path qdisc"} {
		v.History[i].Mark = name
	}
	rows := markRows(v, 100+2*axisWidth, 2, plainTheme())
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i][axisWidth+70:], " ")
	}
	want := []string{
		"     ▲                 ▲  ▲ ▲",
		"     burst 2       path qdisc",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
