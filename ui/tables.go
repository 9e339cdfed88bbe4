package ui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirespeed/engine"
	"wirespeed/ui/control"
)

// queueColumn is one column of the table of workers.
type queueColumn struct {
	title string
	width int
	rank  int // where there is no room the highest go first
	text  func(control.Queue) string
}

var queueColumns = []queueColumn{
	{"queue", 6, 0, func(q control.Queue) string {
		if q.Queue < 0 {
			return unknown // which one is not known
		}
		return strconv.Itoa(q.Queue)
	}},
	{"cpu", 4, 0, func(q control.Queue) string { return strconv.Itoa(q.CPU) }},
	{"user", 6, 1, func(q control.Queue) string { return percent(q.User) }},
	{"kern", 5, 1, func(q control.Queue) string { return percent(q.Kernel) }},
	{"spin", 5, 1, func(q control.Queue) string { return percent(q.Spin) }},
	{"wait", 5, 1, func(q control.Queue) string { return percent(q.Wait) }},
	{awayColumn, 5, 3, func(q control.Queue) string {
		if q.Away == nil {
			return unknown
		}
		return percent(*q.Away)
	}},
	{"pps", 12, 0, func(q control.Queue) string { return ppsText(q.PPS) }},
	{"ns/packet", 11, 2, func(q control.Queue) string { return nsOr(q.NS) }},
	{"in kernel", 10, 4, func(q control.Queue) string { return strconv.Itoa(q.InKernel) }},
	{"in device", 10, 6, func(q control.Queue) string {
		if q.InDevice == nil {
			return unknown
		}
		return groupf(*q.InDevice, 0)
	}},
	{irqColumn, 7, 4, func(q control.Queue) string {
		if q.IRQs == nil {
			return unknown
		}
		if *q.IRQs >= 99_999.5 {
			return groupf(*q.IRQs/1000, 0) + "k"
		}
		return groupf(*q.IRQs, 0)
	}},
	{"ring full", 11, 5, func(q control.Queue) string { return group(q.RingFull) }},
	{"retries", 9, 6, func(q control.Queue) string { return group(q.Retries) }},
	{"errors", 7, 3, func(q control.Queue) string { return group(q.Errors) }},
}

// Columns that are left out where no queue knows a value: interrupts in the lab, time off the CPU where the kernel keeps none.
const (
	irqColumn  = "irq/s"
	awayColumn = "away"
)

// columnsFor are the columns that have something to say about these queues.
func columnsFor(queues []control.Queue) []queueColumn {
	has := map[string]bool{
		irqColumn:  slices.ContainsFunc(queues, func(q control.Queue) bool { return q.IRQs != nil }),
		awayColumn: slices.ContainsFunc(queues, func(q control.Queue) bool { return q.Away != nil }),
	}
	return slices.DeleteFunc(slices.Clone(queueColumns), func(c queueColumn) bool {
		known, asked := has[c.title]
		return asked && !known
	})
}

func percent(share float64) string {
	if share < 0 {
		return unknown
	}
	return strconv.Itoa(int(100*share+0.5)) + "%"
}

// queueRows is the table of workers in at most n lines, its heading among them.
func (m *model) queueRows(w, n int) []string {
	th, queues := m.theme, m.view.Queues
	cols := fitting(columnsFor(queues), w)
	head := newRow(w)
	for _, c := range cols {
		head.right(th.Dim, c.title, c.width)
	}
	out := []string{head.full()}
	shown := min(len(queues), n-1)
	if shown < len(queues) && shown > 0 {
		shown-- // the last line says how many are missing
	}
	for _, q := range queues[:max(shown, 0)] {
		r := newRow(w)
		k := th.Text
		if q.State == engine.Failed {
			k = th.Bad
		}
		for _, c := range cols {
			r.right(k, c.text(q), c.width)
		}
		if q.Err != "" {
			r.put(th.Bad, "  "+clean(q.Err))
		}
		out = append(out, r.full())
	}
	if rest := len(queues) - shown; rest > 0 && n > 1 {
		var pps float64
		for _, q := range queues[shown:] {
			pps += q.PPS
		}
		out = append(out, newRow(w).put(th.Dim, "   and "+strconv.Itoa(rest)+" more with "+ppsText(pps)+" pps together").full())
	}
	return out[:min(n, len(out))]
}

// fitting leaves out the columns of the highest rank until the rest fits.
func fitting(cols []queueColumn, w int) []queueColumn {
	for rank := 6; ; rank-- {
		sum := 0
		for _, c := range cols {
			sum += c.width
		}
		if sum <= w || rank == 0 {
			return cols
		}
		kept := cols[:0:0]
		for _, c := range cols {
			if c.rank < rank {
				kept = append(kept, c)
			}
		}
		cols = kept
	}
}

// rung is one step of the ladder.
type rung struct {
	name  string
	count *uint64
}

func rungs(l control.Ladder) []rung {
	steps := []rung{{"asked", l.Asked}, {"ring", &l.Ring}, {"taken", &l.Taken}, {"device", l.Device}, {"arrived", l.Arrived}}
	if l.HasFar && l.Arrived == nil { // it has the place of what nobody counts here
		steps = steps[:4]
	}
	if l.Verified != nil {
		steps = append(steps, rung{"verified", l.Verified})
	}
	if l.HasFar {
		steps = append(steps, rung{"far", l.Far})
	}
	return steps
}

func countOr(n *uint64) string {
	if n == nil {
		return unknown
	}
	return group(*n)
}

// shortCount is countOr where there is little room.
func shortCount(n *uint64) string {
	if n == nil {
		return unknown
	}
	return shortText(float64(*n))
}

// ladderRows is the ladder one rung a line, each with its difference to the last known rung above.
func (m *model) ladderRows(w int) []string {
	th, l := m.theme, m.view.Ladder
	var out []string
	var above *uint64
	for _, g := range rungs(l) {
		r := newRow(w)
		r.put(th.Dim, " "+g.name).pad(9)
		text := countOr(g.count)
		if g.name == "asked" && g.count == nil && m.view.Target == nil {
			text = "max"
		}
		r.right(th.Text, text, 16)
		if g.count != nil {
			if above != nil && *above != *g.count {
				r.put(th.Dim, " "+difference(*g.count, *above))
			}
			above = g.count
		}
		out = append(out, r.full())
	}
	return out
}

func difference(n, above uint64) string {
	if n > above {
		return "+" + group(n-above)
	}
	return "-" + group(above-n)
}

// ladderShort is the ladder in two lines: the counts, and their gaps in words.
func (m *model) ladderShort(w int) []string {
	th := m.theme
	steps := rungs(m.view.Ladder)
	if steps[0].count == nil {
		steps = steps[1:]
	}
	text, room := countOr, w
	for _, g := range steps {
		room -= len(g.name) + 2 + len(countOr(g.count))
	}
	if room < 0 {
		text = shortCount
	}
	r := newRow(w)
	for _, g := range steps {
		r.put(th.Dim, " "+g.name+" ").put(th.Text, text(g.count))
	}
	return []string{r.full(), m.gapRow(w, m.view.Ladder.Gaps)}
}

// gapRow is what was given up, and gaps of the ladder in words.
func (m *model) gapRow(w int, gaps []string) string {
	v, th := m.view, m.theme
	r := newRow(w)
	r.put(th.Dim, " missed ").put(countInk(th, v.Missed), group(v.Missed))
	if v.LostNoCarrier != nil {
		r.put(th.Dim, "  lost without carrier ").put(countInk(th, *v.LostNoCarrier), group(*v.LostNoCarrier))
	}
	r.put(th.Dim, "  errors ").put(countInk(th, v.Errors), group(v.Errors))
	for _, g := range gaps {
		r.put(th.Dim, "  "+th.Glyphs.Dot+" ").clip(th.Text, clean(g), w-r.w, th.Glyphs.Cut)
	}
	return r.full()
}

// gapRows explain the gaps of the ladder in at most n lines of whole sentences; rest are those that found no room.
func (m *model) gapRows(w, n int) (out, rest []string) {
	th := m.theme
	for i, g := range m.view.Ladder.Gaps {
		lines := wrap(clean(g), w-5)
		if len(out)+len(lines) > n {
			return out, m.view.Ladder.Gaps[i:]
		}
		for j, s := range lines {
			sign := "   "
			if j == 0 {
				sign = " " + th.Glyphs.Dot + " "
			}
			out = append(out, newRow(w).put(th.Dim, sign).put(th.Text, s).full())
		}
	}
	return out, nil
}

func countInk(th *Theme, n uint64) ink {
	if n > 0 {
		return th.Warn
	}
	return th.Text
}

// markRows are the kept epochs, and on the last line the difference of the last two.
func (m *model) markRows(w int) []string {
	v, th := m.view, m.theme
	if len(v.Marks) == 0 {
		hint := newRow(w).put(th.Dim, " no marks yet: ").put(th.Key, m.keys.Mark.Help().Key).
			put(th.Dim, " keeps this epoch, a second mark shows the difference in ns/packet").full()
		return []string{hint, blanks(w)}
	}
	r := newRow(w)
	shown := v.Marks
	for len(shown) > 1 && len(shown)*markWidth > w {
		shown = shown[1:]
	}
	for i, e := range shown {
		r.pad(i*markWidth).put(th.Mean, " "+clean(e.Mark)).put(th.Text, " "+clean(e.Label)+" "+ppsText(e.PPS)+" pps ").put(th.TX, nsText(e.MeanNS)).put(th.Dim, " ns")
	}
	return []string{r.full(), newRow(w).put(th.Text, " "+diffText(v.Diff, th.Glyphs.PlusMinus)).full()}
}

const markWidth = 40

// diffText says what two marks differ by.
func diffText(d *control.Comparison, plusMinus string) string {
	if d == nil {
		return ""
	}
	return strings.ReplaceAll(clean(d.String()), "±", plusMinus)
}

// progressWords say which step of a preset or script is under way, and what comes next.
func progressWords(p *control.Progress, now time.Time) string {
	s := fmt.Sprintf("%d of %d: %s", p.At+1, len(p.Steps), p.Steps[p.At])
	if left := p.Until.Sub(now); !p.Until.IsZero() && left > 0 {
		s += fmt.Sprintf(" (%d s left)", int(left.Seconds()+0.999))
	}
	if p.At+1 < len(p.Steps) {
		return s + ", then " + p.Steps[p.At+1]
	}
	return s + ", the last one"
}

// logRows are the last n lines of the log, the latest at the bottom; steps under way and what a command said take its place.
func (m *model) logRows(w, n int) []string {
	v, th := m.view, m.theme
	events := v.Log
	if len(events) > n {
		events = events[len(events)-n:]
	}
	var out []string
	for len(out) < n-len(events) {
		out = append(out, blanks(w))
	}
	for _, e := range events {
		out = append(out, newRow(w).put(th.Dim, " "+e.At.Format("15:04:05")+" ").clip(th.Text, clean(e.Text), w-10, th.Glyphs.Cut).full())
	}
	if p := v.Progress; p != nil && n > 0 {
		out[n-1] = newRow(w).put(th.Badge, " "+clean(p.Name)+" ").put(th.Text, " ").clip(th.Text, clean(progressWords(p, v.At)), w-cells(p.Name)-4, th.Glyphs.Cut).full()
	}
	if m.note.text != "" && n > 0 {
		k := th.Good
		if m.note.bad {
			k = th.Bad
		}
		out[n-1] = newRow(w).put(th.Text, " ").clip(k, m.note.text, w-1, th.Glyphs.Cut).full()
	}
	return out
}
