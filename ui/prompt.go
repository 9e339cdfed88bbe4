package ui

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirespeed/presets/knob"
)

// prompt is a line that is typed at the foot of the screen, with what it means said at once below.
type prompt struct {
	title, remark string
	lead          string // stands before the line
	in            input
	said          string // feedback
	bad           bool
	offers        []string // completions, shown after tab

	line    func(text string) string  // the command line that the text stands for; nil: none, nothing is checked or completed
	changed func(text string)         // nil: nothing to do
	accept  func(text string) tea.Cmd // the prompt is closed before
	cancel  func()
	past    *history
}

func (p *prompt) low() bool { return true }

func (p *prompt) hints(k KeyMap) []hint {
	h := []hint{{k.Accept, "do it"}, {k.Cancel, "leave"}}
	if p.line != nil {
		h = append(h, hint{k.Complete, "complete"})
	}
	if p.past != nil {
		h = append(h, hint{k.Earlier, "earlier"})
	}
	return h
}

func (p *prompt) feedback(text string, err error) {
	p.said, p.bad = clean(text), err != nil
	if err != nil {
		p.said = clean(err.Error())
	}
}

func (p *prompt) press(m *model, msg tea.KeyMsg) tea.Cmd {
	k := m.keys
	switch {
	case key.Matches(msg, k.Cancel):
		m.overlay = nil
		if p.cancel != nil {
			p.cancel()
		}
		return nil
	case key.Matches(msg, k.Accept):
		text := strings.TrimSpace(p.in.String())
		m.overlay = nil
		if p.past != nil {
			p.past.add(text)
		}
		return p.accept(text)
	case p.line != nil && key.Matches(msg, k.Complete):
		return p.complete(m)
	case p.past != nil && key.Matches(msg, k.Earlier):
		p.in.set(p.past.earlier(p.in.String()))
		return p.ask(m)
	case p.past != nil && key.Matches(msg, k.Later):
		p.in.set(p.past.later(p.in.String()))
		return p.ask(m)
	}
	before := p.in.String()
	p.in.update(msg, k)
	if p.in.String() == before {
		return nil
	}
	if p.changed != nil {
		p.changed(p.in.String())
	}
	return p.ask(m)
}

// ask has the run say what the line means. The answer to an older line is not shown.
func (p *prompt) ask(m *model) tea.Cmd {
	p.offers = nil
	if p.line == nil {
		return nil
	}
	m.asked++
	n, run, line := m.asked, m.run, p.line(p.in.String())
	return m.work.do(func() tea.Msg {
		text, err := meaning(run, line)
		return meaningMsg{n: n, text: text, err: err}
	})
}

// complete asks what the line can become.
func (p *prompt) complete(m *model) tea.Cmd {
	m.asked++
	n, line := m.asked, p.line(p.in.String())
	return m.work.do(func() tea.Msg { return completeMsg{n: n, lines: completions(line)} })
}

// completed takes what the line can become: as far as it is certain it does, and what is not is offered.
func (p *prompt) completed(m *model, lines []string) tea.Cmd {
	if len(lines) == 0 {
		return nil
	}
	common := lines[0]
	for _, l := range lines[1:] {
		for !strings.HasPrefix(l, common) {
			common = common[:len(common)-1]
		}
	}
	if len(lines) == 1 && !strings.Contains(common, " ") {
		common += " "
	}
	before := p.line("")
	p.in.set(strings.TrimPrefix(common, before))
	cmd := p.ask(m)
	if len(lines) > 1 {
		for i := range lines {
			lines[i] = strings.TrimPrefix(lines[i], before)
		}
		p.offers = lines
	}
	return cmd
}

func (p *prompt) rows(m *model, w, h int) []string {
	th := m.theme
	line := newRow(w)
	line.put(th.Key, " "+p.lead)
	p.in.draw(line, th)
	back := newRow(w)
	switch {
	case len(p.offers) > 0:
		back.put(th.Text, " ").clip(th.Title, strings.Join(p.offers, "  "), w-1, th.Glyphs.Cut)
	case p.bad:
		back.put(th.Bad, " "+th.Glyphs.States[2]+" ").clip(th.Bad, p.said, w-3, th.Glyphs.Cut)
	case p.said != "":
		back.put(th.Good, " = ").clip(th.Text, p.said, w-3, th.Glyphs.Cut)
	}
	switch {
	case h <= 0:
		return nil
	case h == 1:
		if p.said != "" && !p.bad {
			line.put(th.Good, "  = ").clip(th.Text, p.said, w-line.w, th.Glyphs.Cut)
		} else if p.bad {
			line.put(th.Bad, "  "+th.Glyphs.States[2]+" ").clip(th.Bad, p.said, w-line.w, th.Glyphs.Cut)
		}
		return []string{line.full()}
	case h == 2:
		return []string{line.full(), back.full()}
	}
	return []string{rule(th, w, p.title, p.remark), line.full(), back.full()}
}

// edit asks for a value of the chosen knob.
func (m *model) edit() tea.Cmd {
	k := m.panel.current(m.knobs())
	if k == nil {
		return nil
	}
	if k.Reason != "" {
		m.say(k.Name+": "+k.Reason, true)
		return nil
	}
	name := k.Name
	p := &prompt{
		title: "set " + name, remark: grammar(name), lead: name + " ", in: given(k.Value),
		line: func(text string) string { return name + " " + text },
		accept: func(text string) tea.Cmd {
			if text == "" {
				return nil
			}
			return m.enqueue(job{do: func(r runner) outcome {
				said, err := r.Do(name + " " + text)
				return outcome{said: said, err: err, knob: name, value: text}
			}})
		},
	}
	m.overlay = p
	return p.ask(m)
}

// command opens the command line: the words of presets and scripts, typed.
func (m *model) command() tea.Cmd {
	m.history.at = len(m.history.lines)
	p := &prompt{
		title: "command", remark: "the words of presets and scripts", lead: m.keys.Command.Help().Key,
		past: &m.history,
		line: func(text string) string { return text },
		accept: func(text string) tea.Cmd {
			if text == "" {
				return nil
			}
			if c, err := knob.ParseLine(text); err == nil && c.Verb == knob.DoCheck { // the findings are more than a line
				return m.openCheck()
			}
			return m.enqueue(job{do: func(r runner) outcome {
				said, err := r.Do(text)
				return outcome{said: said, err: err}
			}})
		},
	}
	m.overlay = p
	return p.ask(m)
}

// filter narrows the panel while the word is typed.
func (m *model) filter() tea.Cmd {
	before := m.panel.filter
	m.overlay = &prompt{
		title: "filter the knobs", remark: "by name, group or help", lead: "/", in: given(before),
		changed: func(text string) { m.panel.filter = strings.ToLower(strings.TrimSpace(text)) },
		accept:  func(string) tea.Cmd { return nil },
		cancel:  func() { m.panel.filter = "" },
	}
	return nil
}

// unfilter shows all knobs again.
func (m *model) unfilter() tea.Cmd {
	m.panel.filter = ""
	return nil
}

// history is the lines typed at the command line.
type history struct {
	lines []string
	at    int // place of the line shown; len(lines) is the new one
	kept  string
}

const longestHistory = 100

func (h *history) add(line string) {
	if line != "" && (len(h.lines) == 0 || h.lines[len(h.lines)-1] != line) {
		h.lines = append(h.lines, line)
		h.lines = h.lines[max(0, len(h.lines)-longestHistory):]
	}
	h.at = len(h.lines)
}

// earlier returns the line before; the one being typed is kept for the way back.
func (h *history) earlier(now string) string {
	if h.at == len(h.lines) {
		h.kept = now
	}
	if h.at == 0 {
		return now
	}
	h.at--
	return h.lines[h.at]
}

func (h *history) later(now string) string {
	switch {
	case h.at >= len(h.lines):
		return now
	case h.at == len(h.lines)-1:
		h.at++
		return h.kept
	}
	h.at++
	return h.lines[h.at]
}
