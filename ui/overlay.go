package ui

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirespeed/presets/knob"
)

// overlay is what lies over a part of the screen and takes the keys.
type overlay interface {
	press(m *model, k tea.KeyMsg) tea.Cmd
	// rows draws it in at most h lines of w cells.
	rows(m *model, w, h int) []string
	// low says that it lies at the foot of the screen and leaves the rest in sight.
	low() bool
	hints(k KeyMap) []hint
}

var (
	_ overlay = (*prompt)(nil)
	_ overlay = (*helpText)(nil)
	_ overlay = (*packetPane)(nil)
	_ overlay = (*presetList)(nil)
	_ overlay = (*pauseText)(nil)
	_ overlay = (*counterPane)(nil)
	_ overlay = (*arrivalPane)(nil)
	_ overlay = (*checkPane)(nil)
	_ overlay = (*instrumentPane)(nil)
	_ overlay = (*sweepPane)(nil)
	_ overlay = (*epochPane)(nil)
)

// scroller moves over lines that do not all fit.
type scroller struct{ top, page, lines int }

// press takes the keys that move; it says whether the key was one.
func (s *scroller) press(k KeyMap, msg tea.KeyMsg) bool {
	switch {
	case key.Matches(msg, k.Up):
		s.top--
	case key.Matches(msg, k.Down):
		s.top++
	case key.Matches(msg, k.PageUp):
		s.top -= s.page
	case key.Matches(msg, k.PageDown):
		s.top += s.page
	case key.Matches(msg, k.Top):
		s.top = 0
	case key.Matches(msg, k.Bottom):
		s.top = s.lines
	default:
		return false
	}
	s.top = max(0, min(s.top, s.lines-s.page))
	return true
}

// cut takes the lines in sight.
func (s *scroller) cut(lines []string, h int) []string {
	s.page, s.lines = max(h, 1), len(lines)
	s.top = max(0, min(s.top, s.lines-s.page))
	return lines[s.top:min(s.top+max(h, 0), len(lines))]
}

// helpText lists all keys and knobs.
type helpText struct{ scroller }

func (o *helpText) low() bool { return false }

func (o *helpText) hints(k KeyMap) []hint {
	return []hint{{k.Close, "close"}, {k.Down, "down"}, {k.PageDown, "page"}}
}

func (o *helpText) press(m *model, msg tea.KeyMsg) tea.Cmd {
	if key.Matches(msg, m.keys.Close) || key.Matches(msg, m.keys.Help) {
		m.overlay = nil
		return nil
	}
	o.scroller.press(m.keys, msg)
	return nil
}

func (o *helpText) rows(m *model, w, h int) []string {
	if h < 1 {
		return nil
	}
	th := m.theme
	var lines []string
	if half := min(w/2, 60); w >= 110 {
		lines = beside(keyLines(m.keys, th, half), half, knobLines(m, th, w-half))
	} else {
		lines = append(append(keyLines(m.keys, th, w), ""), knobLines(m, th, w)...)
	}
	lines = o.cut(lines, h-1)
	remark := ""
	if o.lines > o.page {
		remark = th.Glyphs.key(m.keys.Down) + " more"
	}
	return append([]string{rule(th, w, "help", remark)}, lines...)
}

func keyLines(k KeyMap, th *Theme, w int) []string {
	var out []string
	for _, s := range k.scopes() {
		out = append(out, newRow(w).put(th.Dim, " "+s.name).full())
		for _, b := range s.keys {
			r := newRow(w)
			r.put(th.Key, "   "+th.Glyphs.key(b)).pad(14).put(th.Text, th.Glyphs.text(b.Help().Desc))
			out = append(out, r.full())
		}
	}
	return out
}

func knobLines(m *model, th *Theme, w int) []string {
	var out []string
	entry := func(name, text string, at int) {
		for i, s := range wrap(text, w-at-1) {
			r := newRow(w)
			if i == 0 {
				r.put(th.Key, "   "+name)
			}
			out = append(out, r.pad(at).put(th.Text, s).full())
		}
	}
	group := ""
	for _, k := range m.knobs() {
		if k.Group != group {
			group = k.Group
			out = append(out, newRow(w).put(th.Dim, " knobs: "+clean(group)).full())
		}
		entry(k.Name, clean(k.Help), 14)
	}
	out = append(out, newRow(w).put(th.Dim, " commands").full())
	for _, u := range knob.Usages() {
		entry(u.Form, u.Help, 24)
	}
	return out
}

func textOr(s string) string {
	if s == "" {
		return unknown
	}
	return s
}

// wrap breaks a text into lines of at most w cells.
func wrap(s string, w int) []string {
	var out []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && cells(line)+1+cells(word) > w {
			out, line = append(out, line), word
			continue
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		out = append(out, line)
	}
	return out
}
