package ui

import (
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

// headerRows are the first two lines: what sends and in which state, where to and what.
func (m *model) headerRows(w int) []string {
	return []string{m.deviceRow(w), m.streamRow(w)}
}

// deviceRow keeps the state at its right; what of the device does not fit beside it is left out from the end.
func (m *model) deviceRow(w int) string {
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
	room := w - stateW - 1
	if v.Device.Lab {
		r.put(th.Text, " ").put(th.Badge, " LAB ")
	}
	r.put(th.Strong, " "+clean(v.Device.Link.Name))
	if v.Device.Rx != "" {
		r.put(th.Dim, " "+th.Glyphs.To+" ").put(th.Strong, clean(v.Device.Rx))
	}
	for _, f := range m.deviceFacts() {
		if r.w+2+cells(f) > room {
			break
		}
		r.put(th.Text, "  ")
		if word, value, ok := strings.Cut(f, "\t"); ok {
			r.put(th.Dim, word+" ").put(th.Text, value)
		} else {
			r.put(th.Text, f)
		}
	}
	r.pad(w - stateW)
	if badge != "" {
		r.put(th.Badge, badge).put(th.Text, " ")
	}
	return r.put(k, state).put(th.Text, clock).put(th.Text, " ").full()
}

// deviceFacts are the words of the header; "word\tvalue" draws the word dim.
func (m *model) deviceFacts() []string {
	v := m.view
	l := v.Device.Link
	speed := speedText(v.Device.Speed)
	if v.Device.Stated {
		speed += " (stated)"
	}
	driver := clean(l.Driver)
	if driver == "" {
		driver = unknown
	}
	queues := strconv.Itoa(l.TxQueues) + " queues"
	if l.TxQueues == 1 {
		queues = "1 queue"
	}
	qdisc := clean(l.Qdisc)
	if qdisc == "" {
		qdisc = unknown
	}
	facts := []string{driver, "speed\t" + speed, "mtu\t" + strconv.Itoa(l.MTU), queues, "qdisc\t" + qdisc}
	if p := knobValue(v, "path"); p != "" {
		facts = append(facts, "path\t"+clean(p))
	}
	if p := v.Device.Pause; p != "" {
		facts = append(facts, "pause\t"+clean(p))
	}
	return facts
}

// streamRow says where the frames go, or why none do.
func (m *model) streamRow(w int) string {
	v, th := m.view, m.theme
	r := newRow(w)
	if v.Why != "" {
		return r.put(th.Text, " ").clip(th.Warn, clean(v.Why), w-2, th.Glyphs.Cut).full()
	}
	r.put(th.Dim, " to ").put(th.Text, clean(v.Device.To))
	if k := knobOf(v, "size"); k != nil {
		s := clean(k.Detail)
		if s == "" || s == unknown {
			s = clean(k.Value)
		}
		r.put(th.Dim, "  frame ").put(th.Text, s)
	}
	return r.full()
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
	second := newRow(w)
	second.put(th.Dim, "   "+tail)
	if warn := v.Line.Warning(); warn != "" {
		second.put(th.Warn, "  "+warn)
	}
	return []string{newRow(w).put(th.Dim, " "+head).full(), second.full()}
}
