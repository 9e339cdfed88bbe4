package ui

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirespeed/presets"
)

// presetList shows the presets: names at the left, at the right what the chosen one is for and what it would change.
type presetList struct {
	list   []presets.Preset
	err    error
	loaded bool
	at     int
	about  scroller // over what is said of it
	seen   framed   // the frame of one of them, the chosen one or one before
}

// askFrame asks for the frame of the chosen preset.
func (o *presetList) askFrame(m *model) tea.Cmd {
	if len(o.list) == 0 || o.list[o.at].Err != nil || o.seen.name == o.list[o.at].Name {
		return nil
	}
	p := o.list[o.at]
	return m.askFrame(o, &p)
}

// openPresets opens the list; the files are read outside the loop.
func (m *model) openPresets() tea.Cmd {
	m.overlay = &presetList{}
	return m.work.do(func() tea.Msg {
		list, err := presets.List()
		return presetsMsg{list, err}
	})
}

func (o *presetList) low() bool { return false }

func (o *presetList) hints(k KeyMap) []hint {
	return []hint{{k.Apply, "apply"}, {k.Save, "save the present settings"}, {k.Close, "close"}}
}

func (o *presetList) press(m *model, msg tea.KeyMsg) tea.Cmd {
	k := m.keys
	switch {
	case key.Matches(msg, k.Close), key.Matches(msg, k.Presets):
		m.overlay = nil
	case key.Matches(msg, k.Up):
		o.at--
	case key.Matches(msg, k.Down):
		o.at++
	case key.Matches(msg, k.PageUp), key.Matches(msg, k.PageDown):
		o.about.press(k, msg)
		return nil
	case key.Matches(msg, k.Top):
		o.at = 0
	case key.Matches(msg, k.Bottom):
		o.at = len(o.list)
	case key.Matches(msg, k.Save):
		return m.savePreset()
	case key.Matches(msg, k.Apply) && len(o.list) > 0:
		p := o.list[o.at]
		if p.Err != nil {
			m.say(p.Err.Error(), true)
			return nil
		}
		m.overlay = nil
		name := p.Name
		if p.Path != "" {
			name = p.Path
		}
		return m.enqueue(job{do: func(r runner) outcome {
			said, err := r.Do("preset " + name)
			return outcome{said: said, err: err}
		}})
	}
	o.at, o.about.top = max(0, min(o.at, len(o.list)-1)), 0
	return o.askFrame(m)
}

// savePreset asks for the name of a new preset.
func (m *model) savePreset() tea.Cmd {
	m.overlay = &prompt{
		title: "save the present settings as a preset", remark: "letters, digits, - and _", lead: "name ",
		accept: func(name string) tea.Cmd {
			if name == "" {
				return nil
			}
			return m.enqueue(job{do: func(r runner) outcome {
				said, err := r.Do("save " + name)
				return outcome{said: said, err: err}
			}})
		},
	}
	return nil
}

func (o *presetList) rows(m *model, w, h int) []string {
	th := m.theme
	out := []string{rule(th, w, "presets", "")}
	switch {
	case !o.loaded:
		return append(out, newRow(w).put(th.Dim, " reading ...").full())[:min(2, h)]
	case o.err != nil && len(o.list) == 0:
		return append(out, newRow(w).clip(th.Bad, " "+clean(o.err.Error()), w, th.Glyphs.Cut).full())[:min(2, h)]
	}
	nameW := min(26, w)
	var names []string
	for i, p := range o.list {
		r := newRow(nameW)
		k, mark := th.Text, "   "
		if i == o.at {
			k, mark = th.Pick, " "+th.Glyphs.Pick+" "
		}
		r.put(th.Pick, mark).clip(k, clean(p.Name), nameW-r.w-5, th.Glyphs.Cut)
		if p.Path != "" {
			r.put(th.Dim, " own")
		}
		names = append(names, r.full())
	}
	names, _ = window(names, o.at, h-1)
	if w < nameW+20 {
		return append(out, names...)[:min(h, len(names)+1)]
	}
	about := o.about.cut(o.aboutRows(m, w-nameW), h-1)
	if o.about.lines > o.about.page {
		out[0] = rule(th, w, "presets", th.Glyphs.key(m.keys.PageDown)+" more")
	}
	out = append(out, beside(names, nameW, about)...)
	return out[:min(h, len(out))]
}

// aboutRows say what the chosen preset is for and what it changes.
func (o *presetList) aboutRows(m *model, w int) []string {
	th := m.theme
	if len(o.list) == 0 {
		return nil
	}
	p := o.list[o.at]
	var out []string
	line := func(k ink, s string) { out = append(out, newRow(w).put(k, s).full()) }
	if p.Err != nil {
		for _, s := range wrap(clean(p.Err.Error()), w-2) {
			line(th.Bad, s)
		}
		return out
	}
	line(th.Strong, clean(p.Title))
	for _, para := range strings.Split(p.Text, "\n") {
		for _, s := range wrap(clean(para), w-2) {
			line(th.Text, s)
		}
	}
	out = append(out, "")
	line(th.Dim, "it sets")
	for _, s := range p.Knobs {
		r := newRow(w)
		value := clean(s.Value)
		r.put(th.Key, "  "+clean(s.Knob)).pad(14)
		switch k := knobOf(m.view0(), s.Knob); {
		case k == nil:
			r.put(th.Text, value)
		case k.Reason != "":
			r.put(th.Text, value+"  ").clip(th.Warn, "not here: "+clean(k.Reason), w-r.w, th.Glyphs.Cut)
		case k.Value == value:
			r.put(th.Dim, value+"  as it is")
		default:
			r.put(th.Dim, clean(k.Value)+" "+th.Glyphs.To+" ").put(th.Strong, value)
		}
		out = append(out, r.full())
	}
	if len(p.Steps) > 0 {
		line(th.Dim, "and then")
		steps := make([]string, len(p.Steps))
		for i, s := range p.Steps {
			steps[i] = clean(s.Line)
		}
		for _, s := range wrap(strings.Join(steps, ", "), w-4) {
			line(th.Text, "  "+s)
		}
	}
	if o.seen.name != p.Name {
		return out
	}
	switch v := o.seen.view; {
	case o.seen.lacks != "":
		lacks := []string{}
		for _, s := range wrap("not here: "+clean(o.seen.lacks), w-2) {
			lacks = append(lacks, newRow(w).put(th.Warn, s).full())
		}
		out = append(out[:1:1], append(lacks, out[1:]...)...) // before all else
	case o.seen.err != nil:
		for _, s := range wrap(clean(o.seen.err.Error()), w-2) {
			line(th.Warn, s)
		}
	default:
		line(th.Dim, "a frame of it: "+sizeWords(v))
		out = append(append(out, layerRows(th, w, v)...), hexRows(th, w, v.Bytes[:min(len(v.Bytes), 96)])...)
	}
	return out
}
