package ui

import (
	"fmt"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirespeed/engine/meter"
	"wirespeed/ui/control"
)

// sweepPane shows the sweep under way, or the last one: pps and ns per packet over the knob, and what was found.
//
//	── sweep size 60..128 ────────────────────────────── 41 of 69, going up ──
//	 pps      ┌ axis zoomed to the data
//	 ns/packet
//	            60                       size                            128
//	 pps falls by 8.1 % between size 104 and 105: 61 ns per packet
type sweepPane struct{}

func (o *sweepPane) low() bool { return false }

func (o *sweepPane) hints(k KeyMap) []hint {
	return []hint{{k.Close, "close"}, {k.Sweep, "close"}, {k.Stop, "end the sweep"}}
}

func (o *sweepPane) press(m *model, msg tea.KeyMsg) tea.Cmd {
	switch {
	case key.Matches(msg, m.keys.Close), key.Matches(msg, m.keys.Sweep):
		m.overlay = nil
	case key.Matches(msg, m.keys.Command):
		return m.command()
	case key.Matches(msg, m.keys.Stop):
		return m.doLine("sweep stop")()
	}
	return nil
}

func (o *sweepPane) rows(m *model, w, h int) []string {
	th := m.theme
	s := m.view0().Sweep
	if s == nil {
		out := []string{rule(th, w, "sweep", "")}
		for _, t := range wrap("No sweep yet. Type "+m.keys.Command.Help().Key+" and: sweep size 60..128, or sweep rate 100kpps..1Mpps updown", w-2) {
			out = append(out, newRow(w).put(th.Text, " "+t).full())
		}
		return out[:min(len(out), h)]
	}
	out := []string{rule(th, w, clean(fmt.Sprintf("sweep %s %s..%s", s.Knob, s.From, s.To)), clean(sweepProgress(s)))}
	words := sweepWords(m, s, w)
	words = words[:min(len(words), max(h/3, 1))]
	room := h - len(out) - len(words) - 1
	if w < 40 { // too narrow for a plot
		room = 0
	}
	if room >= 6 {
		upper := room / 2
		out = append(out, sweepPPS.drawColumns(sweepColumns(s, w, th, false), w, upper, th)...)
		out = append(out, sweepNS.drawColumns(sweepColumns(s, w, th, true), w, room-upper, th)...)
	} else if room >= 3 {
		out = append(out, sweepNS.drawColumns(sweepColumns(s, w, th, true), w, room, th)...)
	}
	if room >= 3 {
		out = append(out, sweepAxis(s, w, th))
	}
	out = append(out, words...)
	return out[:min(len(out), h)]
}

var (
	sweepPPS = chart{title: "pps"}
	sweepNS  = chart{title: "ns/packet", log: true}
)

// sweepProgress says how far it has come.
func sweepProgress(s *control.Sweep) string {
	switch {
	case s.Ended != "":
		return "ended: " + s.Ended
	case !s.Running:
		return fmt.Sprintf("done: %s is %s again", s.Knob, s.Restored)
	case s.Values > 0 && len(s.Points) < s.Values:
		return fmt.Sprintf("%d of %d, %s", len(s.Points), s.Values, s.Doing)
	}
	return s.Doing
}

// sweepWords are the last point and what was found.
func sweepWords(m *model, s *control.Sweep, w int) []string {
	th := m.theme
	var out []string
	for _, f := range s.Findings {
		k := th.Strong
		if f.Kind == control.FindNone || f.Confirmed != nil && !*f.Confirmed {
			k = th.Text
		}
		for i, t := range wrap(clean(f.Text), w-4) {
			sign := "   "
			if i == 0 {
				sign = " " + th.Glyphs.Dot + " "
			}
			out = append(out, newRow(w).put(th.Dim, sign).put(k, t).full())
		}
	}
	if n := len(s.Points); n > 0 && s.Running {
		p := s.Points[n-1]
		pps := unknown
		if p.OK {
			pps = ppsText(p.PPS)
		}
		r := newRow(w).put(th.Dim, " "+clean(s.Knob)+" ").put(th.Text, clean(p.Text)).put(th.Dim, "  pps ").put(th.TX, pps).
			put(th.Dim, "  ns/packet ").put(th.TX, nsOr(p.NS))
		if p.Regime != "" {
			r.put(th.Dim, "  regime ").put(th.Text, clean(p.Regime))
		}
		out = append([]string{r.full()}, out...)
	}
	return out
}

// sweepColumns sorts the points of a sweep into the columns of a plot; between neighbours of one leg the line goes straight.
func sweepColumns(s *control.Sweep, w int, th *Theme, ns bool) []column {
	n, _ := plotSize(max(w-2*axisWidth, 1), 1, th.Glyphs)
	cols := make([]column, n)
	lo, hi := s.Ends[0], s.Ends[1]
	place := func(x float64) int {
		if hi <= lo {
			return n / 2
		}
		return max(0, min(n-1, int((x-lo)/(hi-lo)*float64(n-1)+0.5)))
	}
	set := func(x int, y float64) {
		k := &cols[x]
		if !k.ok {
			k.ok, k.lo, k.hi = true, y, y
		}
		k.lo, k.hi = min(k.lo, y), max(k.hi, y)
	}
	var last *control.SweepPoint
	for i := range s.Points {
		p := &s.Points[i]
		y, ok := sweepValue(p, ns)
		if !ok {
			last = nil
			continue
		}
		x := place(p.X)
		set(x, y)
		if last != nil && last.Leg == p.Leg && p.Leg != control.LegAgain && !s.Bisect {
			y0, _ := sweepValue(last, ns)
			x0 := place(last.X)
			step := 1
			if x < x0 {
				step = -1
			}
			for c := x0 + step; c != x && x0 != x; c += step {
				set(c, y0+(y-y0)*float64(c-x0)/float64(x-x0))
			}
		}
		last = p
	}
	for _, f := range s.Findings {
		if f.Kind != control.FindNone && (f.Confirmed == nil || *f.Confirmed) {
			cols[place(f.X)].mark = f.Kind
		}
	}
	return cols
}

func sweepValue(p *control.SweepPoint, ns bool) (float64, bool) {
	switch {
	case !p.OK || p.NS == nil:
		return 0, false
	case ns:
		return *p.NS, true
	}
	return p.PPS, true
}

// sweepAxis names the ends of the axis below the plots.
func sweepAxis(s *control.Sweep, w int, th *Theme) string {
	r := newRow(w).pad(axisWidth).put(th.Dim, clean(s.Least))
	name := clean(s.Knob)
	r.pad((w-len(name))/2).put(th.Dim, name)
	r.pad(max(w-axisWidth-len(clean(s.Most)), 0)).put(th.Dim, clean(s.Most))
	return r.full()
}

// epochPane lists the last epochs; any two of them are compared.
type epochPane struct {
	at    int
	first int // number of the epoch that the other is compared with, 0 none yet
}

func (o *epochPane) low() bool { return false }

func (o *epochPane) hints(k KeyMap) []hint {
	if o.first != 0 {
		return []hint{{k.Apply, fmt.Sprintf("compare with %d", o.first)}, {k.Close, "close"}}
	}
	return []hint{{k.Apply, "take as the first"}, {k.Close, "close"}}
}

// list are the epochs, the newest first.
func (o *epochPane) list(m *model) []meter.Epoch {
	all := m.view0().Epochs
	out := make([]meter.Epoch, 0, len(all))
	for i := len(all) - 1; i >= 0; i-- {
		out = append(out, all[i])
	}
	return out
}

func (o *epochPane) press(m *model, msg tea.KeyMsg) tea.Cmd {
	k, list := m.keys, o.list(m)
	switch {
	case key.Matches(msg, k.Close), key.Matches(msg, k.Epochs):
		m.overlay = nil
	case key.Matches(msg, k.Up):
		o.at--
	case key.Matches(msg, k.Down):
		o.at++
	case key.Matches(msg, k.PageUp):
		o.at -= 8
	case key.Matches(msg, k.PageDown):
		o.at += 8
	case key.Matches(msg, k.Top):
		o.at = 0
	case key.Matches(msg, k.Bottom):
		o.at = len(list)
	case key.Matches(msg, k.Apply) && len(list) > 0:
		number := list[min(o.at, len(list)-1)].Number
		if o.first == 0 || o.first == number {
			o.first = number
			break
		}
		line := fmt.Sprintf("diff %d %d", o.first, number)
		o.first = 0
		return m.doLine(line)()
	}
	o.at = max(0, min(o.at, len(list)-1))
	return nil
}

func (o *epochPane) rows(m *model, w, h int) []string {
	th, v := m.theme, m.view0()
	out := []string{rule(th, w, "epochs", "the last 50; choose two to compare")}
	foot := 3
	var rows []string
	for i, e := range o.list(m) {
		r := newRow(w)
		k, mark := th.Text, "   "
		if i == o.at {
			k, mark = th.Pick, " "+th.Glyphs.Pick+" "
		}
		r.put(th.Pick, mark)
		if e.Number == o.first {
			r.put(th.Badge, fmt.Sprintf("%4d", e.Number))
		} else {
			r.put(k, fmt.Sprintf("%4d", e.Number))
		}
		r.right(th.TX, ppsText(e.PPS), 14).put(th.Dim, " pps").right(th.Text, nsText(e.MeanNS), 12).put(th.Dim, " ns ")
		r.right(th.Dim, fmt.Sprintf("%d samples", e.N), 13)
		name := ""
		for _, x := range v.Marks {
			if x.Number == e.Number && x.Label == e.Label {
				name = clean(x.Mark) + "  "
			}
		}
		r.put(th.Mean, "  "+name).clip(th.Dim, clean(e.Label), max(w-r.w, 0), th.Glyphs.Cut)
		rows = append(rows, newRow(w).put(ink{}, r.full()).full()) // clear of the edge of the smallest screens
	}
	if len(rows) == 0 {
		return append(out, newRow(w).put(th.Dim, "   no epoch has a sample yet").full())[:min(2, h)]
	}
	shown, _ := window(rows, o.at, max(h-1-foot, 1))
	out = append(out, shown...)
	if m.note.text != "" {
		k := th.Strong
		if m.note.bad {
			k = th.Bad
		}
		for i, t := range wrap(m.note.text, w-2) {
			if i < foot {
				out = append(out, newRow(w).put(k, " "+t).full())
			}
		}
	}
	return out[:min(len(out), h)]
}
