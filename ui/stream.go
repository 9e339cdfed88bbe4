package ui

import (
	"math"
	"strconv"

	"wirespeed/engine/meter"
	"wirespeed/ui/control"
)

// The TX block: the instant rate in digits that can be read from the back row, and beside it what it means.

const (
	factValue = 12 // a number of the facts, right-aligned
	factWidth = 28 // with its unit
)

// fact is one number and what it is: "672.0 ns/packet".
type fact struct {
	value, unit string
	ink         ink
	spare       bool // left out first
}

// rate is the instant pps of a flow, "-" where it is not known.
func rate(f control.Flow) string {
	if !f.OK {
		return unknown
	}
	return ppsText(f.PPS)
}

// streamRows draws the TX block, its digits five or three lines high, or plain where neither fits.
func (m *model) streamRows(w, high int) []string {
	v, th := m.view, m.theme
	digits := m.digits(v.Fast.TX, high, w)
	facts := m.facts()
	if digits == nil {
		r := newRow(w)
		r.put(th.Strong, " TX ").right(th.TX, rate(v.Fast.TX), factValue).put(th.Strong, " pps")
		r.put(facts[0].ink, "   "+facts[0].value).put(th.Dim, " "+facts[0].unit)
		return append([]string{r.full()}, m.factRows(facts[1:], w, 4)...)
	}
	zone := cells(digits[0])
	if gap := m.digitsNS(v.Fast.TX, high, w-zone-2*factWidth); gap != nil {
		digits, zone = beside(digits, zone, gap), zone+cells(gap[0])
	}
	across := (w - zone) / factWidth
	if len(digits) > 3 {
		across = min(across, 2)
	}
	n := min(across*len(digits), len(facts))
	beneath := m.factRows(facts[n:], w, 2)
	return append(beside(digits, zone, m.factRows(facts[:n], min(w-zone, across*factWidth), len(digits))), beneath...)
}

// digits are the lines of the large number with its labels, nil where it cannot be drawn so high
// or leaves no room for what it means.
func (m *model) digits(f control.Flow, high, w int) []string {
	text := unknown
	if f.OK {
		text = groupf(f.PPS, 0)
	}
	for ; high >= 3; high -= 2 {
		if d := m.lettered(text, "9,999,999", " TX", " pps", high); d != nil && cells(d[0])+factWidth <= w {
			return d
		}
	}
	return nil
}

// digitsNS is the time of a packet as large as the rate, for screens that have w cells for it.
func (m *model) digitsNS(f control.Flow, high, w int) []string {
	const widest, last = "999,999.9", " /packet"
	text := nsOr(f.NS)
	if high < 5 || largeWidth(text) > largeWidth(widest) || w < largeWidth(widest)+len(last)+3 {
		return nil
	}
	return m.lettered(text, widest, " ns", last, high)
}

// lettered draws a number in the digits of a height, with words beside its first and last line, in a zone at least as
// wide as a number of the usual length, so that nothing moves when the number does.
func (m *model) lettered(text, usual, first, last string, high int) []string {
	th := m.theme
	var lines []string
	zone := 0
	switch {
	case high >= 5:
		point := "█"
		if !th.Glyphs.Braille {
			point = "#"
		}
		l := large(text, point)
		lines, zone = l[:], max(largeWidth(usual), largeWidth(text))
	case high >= 3 && th.Glyphs.Braille:
		l := small(text)
		lines, zone = l[:], max(smallWidth(usual), smallWidth(text))
	default:
		return nil
	}
	for i, s := range lines {
		r := newRow(1 + zone + max(cells(first), cells(last)) + 2)
		r.put(th.Text, " ").right(th.TX, s, zone)
		switch i {
		case 0:
			r.put(th.Strong, first)
		case len(lines) - 1:
			r.put(th.Strong, last)
		}
		lines[i] = r.full()
	}
	return lines
}

// facts in the order in which they are drawn.
func (m *model) facts() []fact {
	v, th := m.view, m.theme
	tx := v.Fast.TX
	asked, askedUnit := "max", "asked"
	if pace := knobValue(v, "timing"); v.Target == nil && pace != "" && pace != "rate" && knobValue(v, "file") != "none" {
		asked, askedUnit = pace, "capture's pace"
	}
	ofAsked := unknown
	if v.Target != nil {
		asked, askedUnit = ppsText(*v.Target), "pps asked"
		if tx.OK && *v.Target > 0 {
			ofAsked = groupf(100*tx.PPS/(*v.Target), 2)
		}
	}
	wire := unknown
	if tx.Percent != nil {
		wire = groupf(*tx.Percent, 1)
	}
	l1, l2 := unknown, unknown
	if tx.OK {
		l1, l2 = bitText(tx.BpsL1), bitText(tx.BpsL2)
	}
	avg, sd := unknown, unknown
	if e := v.Epoch; e.N > 0 {
		avg = ppsText(e.PPS)
		if e.N > 1 && !math.IsNaN(e.StdDevNS) {
			sd = groupf(e.StdDevNS, 2)
		}
	}
	variation, extremes, k := m.variation()
	return []fact{
		{value: nsOr(tx.NS), unit: "ns/packet", ink: th.TX},
		{value: asked, unit: askedUnit},
		{value: wire, unit: "% of wirespeed"},
		{value: ofAsked, unit: "% of asked"},
		{value: l1, unit: "Mbit/s L1"},
		{value: l2, unit: "Mbit/s L2"},
		{value: avg, unit: "pps average", ink: th.Mean},
		{value: sd, unit: "ns deviation", spare: true},
		{value: variation, unit: "ns variation", ink: k},
		extremes,
	}
}

// variation is that of the last whole interval. One below its own error is dim, and says so.
func (m *model) variation() (value string, extremes fact, k ink) {
	th, s := m.theme, m.view.Sample
	if !s.Valid || !s.TX.OK {
		return unknown, fact{value: unknown, unit: "least to most"}, th.Dim
	}
	extremes = fact{value: signed(s.TX.VarMin), unit: "to " + signed(s.TX.VarMax) + " ns"}
	if math.Abs(s.TX.VarNS) < s.ErrNS {
		extremes.unit += " (err " + strconv.FormatFloat(s.ErrNS, 'f', 3, 64) + ")"
		return signed(s.TX.VarNS), extremes, th.Dim
	}
	return signed(s.TX.VarNS), extremes, th.Text
}

func signed(x float64) string { return groupf(x, 3) }

// factRows lays facts out in at most n lines of w cells; where they do not all fit the spare ones go first.
func (m *model) factRows(facts []fact, w, n int) []string {
	across := max(w/factWidth, 1)
	if w >= 3*(factWidth-2) && w < 3*factWidth {
		across = 3 // 80 columns
	}
	width := min(w/across, factWidth)
	if len(facts) > across*n {
		kept := facts[:0:0]
		for _, f := range facts {
			if !f.spare {
				kept = append(kept, f)
			}
		}
		facts = kept
	}
	var out []string
	for len(facts) > 0 && len(out) < n {
		r := newRow(w)
		for i := range min(across, len(facts)) {
			f := facts[i]
			r.pad(i*width).right(f.ink, f.value, factValue).put(m.theme.Dim, " "+f.unit)
		}
		facts = facts[min(across, len(facts)):]
		out = append(out, r.full())
	}
	return out
}

// rxRow is the receiving side in one line, and what the queueing discipline holds.
func (m *model) rxRow(w int) string {
	v, th := m.view, m.theme
	s := v.Fast
	r := newRow(w)
	r.put(th.Strong, " RX ").put(th.Text, clean(s.RxDev)).pad(factValue)
	r.right(th.RX, rate(s.RX), factValue).put(th.Dim, " pps")
	r.right(th.RX, nsOr(s.RX.NS), factValue).put(th.Dim, " ns/packet")
	if text := "   TX counted by the " + clean(s.TxSource); s.TxSource != "" {
		if r.w+cells(text) > w { // a device with a long name
			text = "   TX: " + clean(s.TxSource)
		}
		r.clip(th.Dim, text, w-r.w, th.Glyphs.Cut)
	}
	if i := v.Instruments; i != nil && w >= 110 {
		r.put(th.Dim, "   regime ").put(th.Strong, string(i.Regime)).pad(r.w + len(meter.Limited) - len(i.Regime))
	}
	if q := v.Qdisc; q != nil && q.Kind != "" && q.Kind != "noqueue" {
		r.put(th.Dim, "   "+clean(q.Kind)+" backlog").right(th.Text, group(q.BacklogPackets), 7)
		if drops := "  drops " + group(q.Drops); r.w+cells(drops) <= w {
			r.put(th.Dim, "  drops ").put(th.Text, group(q.Drops))
		}
	}
	return r.full()
}
