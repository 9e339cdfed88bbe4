package ui

import (
	"slices"
	"strings"

	"wirespeed/ui/control"
)

// panel is the state of the knob panel: which knob is chosen, by name, so that it stays when the list changes.
type panel struct {
	chosen string
	filter string

	drawn     panelKey
	drawnRows []string
	drawnOf   []control.Knob
}

// panelKey is what the drawing of the panel depends on, the knobs aside.
type panelKey struct {
	chosen, filter string
	w, h           int
}

// matching are the knobs that pass the filter.
func (p *panel) matching(knobs []control.Knob) []control.Knob {
	if p.filter == "" {
		return knobs
	}
	var out []control.Knob
	for _, k := range knobs {
		if strings.Contains(k.Name, p.filter) || strings.Contains(k.Group, p.filter) || strings.Contains(strings.ToLower(k.Help), p.filter) {
			out = append(out, k)
		}
	}
	return out
}

// index is the place of the chosen knob in a list, the first where it is not there.
func (p *panel) index(knobs []control.Knob) int {
	for i := range knobs {
		if knobs[i].Name == p.chosen {
			return i
		}
	}
	return 0
}

// current is the chosen knob, nil where none matches.
func (p *panel) current(knobs []control.Knob) *control.Knob {
	list := p.matching(knobs)
	if len(list) == 0 {
		return nil
	}
	return &list[p.index(list)]
}

// move chooses another knob n further.
func (p *panel) move(knobs []control.Knob, n int) {
	list := p.matching(knobs)
	if len(list) == 0 {
		return
	}
	p.chosen = list[max(0, min(len(list)-1, p.index(list)+n))].Name
}

const (
	nameWidth    = 11
	explainLines = 3
)

// panelRows draws the panel, or returns the last drawing: knobs change seldom.
func (m *model) panelRows(w, h int) []string {
	p := &m.panel
	now := panelKey{p.chosen, p.filter, w, h}
	if len(m.pending) > 0 || p.drawn != now || !slices.Equal(p.drawnOf, m.view.Knobs) {
		p.drawn, p.drawnOf, p.drawnRows = now, m.view.Knobs, m.drawPanel(w, h)
		if len(m.pending) > 0 {
			p.drawnOf = nil
		}
	}
	return p.drawnRows
}

// drawPanel is the panel in h lines of w cells: knobs with their values, or why one cannot be turned. Where there is room
// the last lines explain the chosen one.
func (m *model) drawPanel(w, h int) []string {
	v, th := m.view, m.theme
	list := m.panel.matching(v.Knobs)
	remark := m.keys.Filter.Help().Key + " filter"
	if m.panel.filter != "" {
		remark = "filter: " + m.panel.filter
	}
	out := []string{rule(th, w, "knobs", remark)}
	if h < 2 {
		return out[:h]
	}
	if len(list) == 0 {
		out = append(out, newRow(w).put(th.Dim, "   no knob matches").full())
		return filled(out, w, h)
	}
	at := m.panel.index(list)
	room := h - 1
	explain := 0
	if room >= 9 {
		explain = max(min(explainLines, room-len(list)), explainLines-1)
		room -= explain
	}
	lines := make([]string, len(list))
	for i, k := range list {
		group := ""
		if i == 0 || list[i-1].Group != k.Group {
			group = clean(k.Group)
		}
		lines[i] = m.knobLine(k, group, i == at, w)
	}
	lines, more := window(lines, at, room)
	if more {
		out[0] = rule(th, w, "knobs", th.Glyphs.More+" more, "+remark)
	}
	out = filled(append(out, lines...), w, 1+room)
	return append(out, filled(m.explanation(list[at], w, explain), w, explain)...)
}

// knobLine is one knob, at the right the group that begins with it. A detail that does not fit is left to the explanation.
func (m *model) knobLine(k control.Knob, group string, chosen bool, w int) string {
	th := m.theme
	r := newRow(w - 1 - cells(group))
	name, mark := th.Text, "   "
	switch {
	case chosen:
		name, mark = th.Pick, " "+th.Glyphs.Pick+" "
	case k.Reason != "":
		name = th.Dim
	}
	r.put(th.Pick, mark).put(name, clean(k.Name)).pad(3 + nameWidth)
	if cells(k.Name) >= nameWidth { // a long one still stands apart from its value
		r.put(th.Text, " ")
	}
	value := m.value(k)
	switch d := shortDetail(value, k.Detail); {
	case k.Reason != "":
		r.clip(th.Dim, value+"  "+clean(k.Reason), r.max-r.w-1, th.Glyphs.Cut)
	case r.w+cells(value)+cells(d)+3 <= r.max:
		r.put(th.Strong, value).put(th.Dim, "  "+d)
	default:
		r.clip(th.Strong, value, r.max-r.w-1, th.Glyphs.Cut)
	}
	s := r.full()
	return newRow(w).put(ink{}, s).put(th.Dim, group).full()
}

// value is what a knob is set to: what was just asked for, until a look shows it.
func (m *model) value(k control.Knob) string {
	if p, ok := m.pending[k.Name]; ok {
		return clean(p.text)
	}
	return clean(k.Value)
}

// explanation says in h lines what the chosen knob does, or why it cannot here.
func (m *model) explanation(k control.Knob, w, h int) []string {
	th := m.theme
	text, i := clean(k.Help), th.Dim
	if k.Reason != "" {
		text, i = clean(k.Reason), th.Warn
	} else if d := shortDetail(k.Value, k.Detail); d != "" && cells(d)+cells(k.Value)+6+nameWidth > w {
		text = d + "; " + text
	}
	var out []string
	lines := wrap(text, w-4)
	for n, s := range lines {
		if n == h-1 && len(lines) > h {
			s += th.Glyphs.Cut
		}
		out = append(out, newRow(w).put(th.Text, "   ").put(i, s).full())
	}
	return out
}

// shortDetail is the detail of a value, where it says more than the value.
func shortDetail(value, detail string) string {
	detail = clean(detail)
	if detail == unknown || detail == value {
		return ""
	}
	return detail
}

// window cuts lines to n around the one at place at, which it never loses.
func window(lines []string, at, n int) (out []string, more bool) {
	if len(lines) <= n {
		return lines, false
	}
	first := max(0, min(at-n/2, len(lines)-n))
	return lines[first : first+n], first+n < len(lines)
}

// filled pads or cuts a block to h lines.
func filled(lines []string, w, h int) []string {
	for len(lines) < h {
		lines = append(lines, blanks(w))
	}
	return lines[:h]
}
