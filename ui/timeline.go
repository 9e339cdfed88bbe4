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

// markRows name what was turned under the place where it was turned. In two lines every place has its sign; in one, and
// among the names, those that find no room are left out, the latest last.
func markRows(v *control.View, w, n int, th *Theme) []string {
	plotW := max(w-2*axisWidth, 1)
	nc, _ := plotSize(plotW, 1, th.Glyphs)
	cols := ppsChart.columns(v, nc)
	wide := nc / plotW
	lines := make([]labels, n)
	for i := range lines {
		lines[i] = make(labels, plotW)
	}
	for i := nc - 1; i >= 0; i-- {
		if cols[i].mark == "" {
			continue
		}
		x, name, sign := i/wide, clean(cols[i].mark), th.Glyphs.Mark
		if n == 1 {
			_ = lines[0].put(x, sign+" "+name+" ") || lines[0].put(x-cells(name)-1, name+" "+sign) || lines[0].put(x, sign)
			continue
		}
		lines[0].put(x, sign)
		_ = lines[1].put(x, name+" ") || lines[1].put(x-cells(name)+1, name)
	}
	out := make([]string, n)
	for i, line := range lines {
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
		out[i] = r.full()
	}
	return out
}

// labels is a line of cells: "" is free, else what begins there; the cells that it covers are taken.
type labels []string

const taken = "\x00"

// put writes s at cell x if there is room for it.
func (l labels) put(x int, s string) bool {
	n := cells(s)
	if x < 0 || x+n > len(l) {
		return false
	}
	for i := x; i < x+n; i++ {
		if l[i] != "" {
			return false
		}
	}
	l[x] = s
	for i := x + 1; i < x+n; i++ {
		l[i] = taken
	}
	return true
}

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
