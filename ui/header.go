package ui

import (
	"slices"
	"strconv"
	"strings"

	"wirespeed/engine"
	"wirespeed/ui/control"
)

// stateText is a state as sign and word.
func stateText(s engine.State, th *Theme) (ink, string) {
	inks := [...]ink{engine.Ready: th.Dim, engine.Running: th.Good, engine.NoCarrier: th.Bad, engine.Draining: th.Warn, engine.Failed: th.Bad, engine.Done: th.Title}
	if int(s) >= len(inks) {
		return th.Bad, unknown
	}
	return inks[s], th.Glyphs.States[s] + " " + strings.ReplaceAll(s.String(), "_", " ")
}

// headerRows are the first two lines: what sends and in which state, where to and what. Facts of the device that find no
// room beside the state go to the second line.
func (m *model) headerRows(w int) []string {
	first, rest := m.deviceRow(w)
	return []string{first, m.streamRow(w, rest)}
}

// deviceRow keeps the state at its right, and returns the facts it had no room for.
func (m *model) deviceRow(w int) (line string, rest []headerFact) {
	v, th := m.view, m.theme
	k, state := stateText(v.State, th)
	clock := " " + clockText(v.Elapsed)
	badge := ""
	if m.frozen {
		badge = " FROZEN "
	}
	stateW := cells(state) + cells(clock) + 1
	if badge != "" {
		stateW += cells(badge) + 1
	}
	r := newRow(w)
	if v.Device.Lab {
		r.put(th.Text, " ").put(th.Badge, " LAB ")
	}
	if v.Device.Shaped {
		r.put(th.Text, " ").put(th.Badge, " SHAPED ")
	}
	r.put(th.Strong, " "+clean(v.Device.Link.Name))
	if v.Device.Rx != "" {
		r.put(th.Dim, " "+th.Glyphs.To+" ").put(th.Strong, clean(v.Device.Rx))
	}
	rest = m.deviceFacts()
	for len(rest) > 0 && r.w+2+rest[0].width() < w-stateW {
		rest[0].put(r.put(th.Text, "  "), th)
		rest = rest[1:]
	}
	r.pad(w - stateW)
	if badge != "" {
		r.put(th.Badge, badge).put(th.Text, " ")
	}
	return r.put(k, state).put(th.Text, clock).put(th.Text, " ").full(), rest
}

// headerFact is a value with the word before it, where it needs one.
type headerFact struct{ word, value string }

func (f headerFact) width() int { return cells(f.word) + cells(f.value) }

func (f headerFact) put(r *row, th *Theme) { r.put(th.Dim, f.word).put(th.Text, f.value) }

func (m *model) deviceFacts() []headerFact {
	v := m.view
	l := v.Device.Link
	speed := headerFact{"", speedText(v.Device.Speed)}
	switch {
	case v.Device.Speed == 0:
		speed.word = "speed "
	case v.Device.Stated && !v.Device.Shaped:
		speed.value += " stated"
	}
	queues := strconv.Itoa(l.TxQueues) + " queues"
	if l.TxQueues == 1 {
		queues = "1 queue"
	}
	facts := []headerFact{
		{"", textOr(clean(l.Driver))}, speed, {"mtu ", strconv.Itoa(l.MTU)}, {"", queues}, {"", textOr(clean(l.Qdisc))},
	}
	if l.Qdisc == "" {
		facts[len(facts)-1].word = "qdisc "
	}
	if k := knobOf(v, "path"); k != nil {
		facts = append(facts, headerFact{"path ", m.value(*k)})
	}
	return append(facts, headerFact{"pause ", textOr(clean(v.Device.Pause))})
}

// streamRow says where the frames go and how large they are, or why none do.
func (m *model) streamRow(w int, facts []headerFact) string {
	v, th := m.view, m.theme
	r := newRow(w)
	if v.Why != "" {
		return r.put(th.Text, " ").clip(th.Warn, clean(v.Why), w-2, th.Glyphs.Cut).full()
	}
	all := []headerFact{{"to ", textOr(clean(v.Device.To))}}
	if k := knobOf(v, "size"); k != nil {
		all = append(all, headerFact{"", sizeText(*k, w < 110)})
	}
	all = append(all, facts...)
	sum := 0
	for _, f := range all {
		sum += f.width() + 2
	}
	gap := "  "
	if sum > w {
		gap = " "
	}
	// Where not all fit, flow control goes first of what the line above had no room for: it can slow a sender without a trace.
	if last := len(all) - 1; sum-len(all)*(2-len(gap)) > w && strings.HasPrefix(all[last].word, "pause") && len(all) > len(facts) {
		all = slices.Insert(all[:last], len(all)-len(facts), all[last])
	}
	r.put(th.Text, " ")
	for i, f := range all {
		if i > 1 && r.w+len(gap)+f.width() > w { // whole, or not at all
			continue
		}
		if i > 0 {
			r.put(th.Text, gap)
		}
		f.put(r, th)
	}
	return r.full()
}

// sizeText is the size of a frame in all three ways of counting.
func sizeText(k control.Knob, short bool) string {
	s := shortDetail(k.Value, k.Detail)
	if s == "" {
		return clean(k.Value)
	}
	if short {
		s = strings.NewReplacer("with FCS", "FCS", "on the wire", "wire").Replace(s)
	}
	return s
}

func knobOf(v *control.View, name string) *control.Knob {
	for i := range v.Knobs {
		if v.Knobs[i].Name == name {
			return &v.Knobs[i]
		}
	}
	return nil
}

func knobValue(v *control.View, name string) string {
	if k := knobOf(v, name); k != nil {
		return k.Value
	}
	return ""
}

// classicRows is the classic line, broken where it breaks in a mail.
func (m *model) classicRows(w int) []string {
	v, th := m.view, m.theme
	line := v.Line.String()
	head, tail := line, ""
	if i := strings.Index(line, "(instant variation"); i > 0 {
		head, tail = strings.TrimRight(line[:i], " "), line[i:]
	}
	first, second := newRow(w).put(th.Dim, " "+head), newRow(w).put(th.Dim, "   "+tail)
	if warn := v.Line.Warning(); warn != "" {
		short, _, _ := strings.Cut(warn, " ")
		switch {
		case second.w+2+cells(warn) <= w:
			second.put(th.Warn, "  "+warn)
		case second.w+2+cells(short) <= w:
			second.put(th.Warn, "  "+short)
		case first.w+2+cells(short) <= w:
			first.put(th.Warn, "  "+short)
		default:
			second = newRow(w).put(th.Warn, "   "+short+" ").put(th.Dim, tail)
		}
	}
	return []string{first.full(), second.full()}
}
