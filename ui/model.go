package ui

import (
	"context"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirespeed/engine"
	"wirespeed/presets"
	"wirespeed/ui/control"
)

// model is the state of the console. Only bubbletea's loop touches it.
type model struct {
	ctx   context.Context
	run   runner
	keys  KeyMap
	theme *Theme
	pulse *pulse
	work  *work

	noSuspend string // why ctrl+z cannot suspend, "" if it can

	width, height int
	live, view    *control.View // the latest look, and the one on the screen: they differ while frozen
	frozen        bool
	panel         panel
	charts        int // which charts: one of showBoth ...
	overlay       overlay
	note          note
	history       history
	pending       map[string]pending
	jobs          []job // the first one runs when busy
	busy          bool
	asked         int // numbers the questions about a typed line: a late answer is told from the latest

	screen string // the last View
	drawn  bool   // it is still right
}

const (
	showBoth = iota
	showNS
	showPPS
	showModes
)

// note is what the last command said; it stands in the log's last line for a while.
type note struct {
	text  string
	bad   bool
	until time.Time // by the clock of the views
}

const noteTime = 8 * time.Second

// pending is a knob's new value until a view shows it.
type pending struct {
	text string
	left int // views to wait
}

// Messages.
type (
	viewMsg    struct{ view *control.View }
	doneMsg    struct{ outcome outcome }
	meaningMsg struct {
		n    int
		text string
		err  error
	}
	completeMsg struct {
		n     int
		lines []string
	}
	presetsMsg struct {
		list []presets.Preset
		err  error
	}
)

func newModel(ctx context.Context, run runner, th *Theme, every time.Duration) *model {
	return &model{
		ctx: ctx, run: run, keys: newKeyMap(), theme: th,
		pulse: &pulse{every: every}, work: &work{}, pending: map[string]pending{},
	}
}

// Init asks for the first look.
func (m *model) Init() tea.Cmd { return m.look() }

// look waits for the next beat and pulls a view.
func (m *model) look() tea.Cmd {
	ctx, run, p := m.ctx, m.run, m.pulse
	return m.work.do(func() tea.Msg {
		if !p.wait(ctx) {
			return nil
		}
		return viewMsg{run.Tick()}
	})
}

// pulse beats on an absolute schedule. Only the one look in flight uses it.
type pulse struct {
	every time.Duration
	next  time.Time
}

// wait returns at the next beat, or false when ctx ends.
func (p *pulse) wait(ctx context.Context) bool {
	now := time.Now()
	d := p.next.Sub(now)
	if p.next.IsZero() || d < -p.every {
		p.next, d = now, 0 // the first look is at once; missed beats are not made up for
	}
	p.next = p.next.Add(p.every)
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// Update takes one message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.drawn = false
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case viewMsg:
		m.take(msg.view)
		if msg.view.Quit {
			return m, tea.Quit
		}
		return m, m.look()
	case tea.KeyMsg:
		return m, m.typed(msg)
	case doneMsg:
		return m, m.finish(msg.outcome)
	case meaningMsg:
		if p, ok := m.overlay.(*prompt); ok && msg.n == m.asked {
			p.feedback(msg.text, msg.err)
		}
	case completeMsg:
		if p, ok := m.overlay.(*prompt); ok && msg.n == m.asked {
			return m, p.completed(m, msg.lines)
		}
	case checkMsg:
		msg.pane.take(msg)
	case presetsMsg:
		if p, ok := m.overlay.(*presetList); ok {
			p.list, p.err, p.loaded = msg.list, msg.err, true
			return m, p.askFrame(m)
		}
	case frameMsg:
		switch o := msg.to.(type) {
		case *packetPane:
			o.seen = msg.got
		case *presetList:
			o.seen = msg.got
		}
	default:
		m.drawn = m.screen != ""
	}
	return m, nil
}

// typed presses keys one after the other: what a fast typist, a slow line or a script types arrives as one message of several letters. What is pasted
// stays whole, and no letter of it is a command.
func (m *model) typed(msg tea.KeyMsg) tea.Cmd {
	if msg.Type != tea.KeyRunes || msg.Paste || len(msg.Runes) < 2 {
		return m.press(msg)
	}
	var cmds []tea.Cmd
	for i, r := range msg.Runes {
		letter := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt}
		_, text := m.overlay.(*prompt)
		if text { // the rest is its text, with one feedback
			letter.Runes = msg.Runes[i:]
		}
		if cmd := m.press(letter); cmd != nil {
			cmds = append(cmds, cmd)
		}
		if text {
			break
		}
	}
	if len(cmds) == 1 {
		return cmds[0]
	}
	return tea.Sequence(cmds...)
}

// take shows a new look, or keeps it behind a frozen screen.
func (m *model) take(v *control.View) {
	if v.Sweep != nil && v.Sweep.Running && m.overlay == nil && (m.live == nil || m.live.Sweep == nil || !m.live.Sweep.Running) {
		m.overlay = &sweepPane{} // one has just begun
	}
	m.live = v
	if !m.frozen {
		m.view = v
	} else {
		m.drawn = m.screen != ""
	}
	if m.note.text != "" {
		if m.note.until.IsZero() {
			m.note.until = v.At.Add(noteTime)
		} else if v.At.After(m.note.until) {
			m.note = note{}
			m.drawn = false
		}
	}
	for name, p := range m.pending {
		if p.left--; p.left <= 0 || knobValue(v, name) == p.text {
			delete(m.pending, name)
		} else {
			m.pending[name] = p
		}
	}
}

// say shows what a command said.
func (m *model) say(text string, bad bool) {
	m.note = note{text: clean(text), bad: bad}
}

// press finds what a key does: what holds everywhere first, then the overlay, then the main screen.
func (m *model) press(msg tea.KeyMsg) tea.Cmd {
	switch {
	case key.Matches(msg, m.keys.Abort):
		return tea.Quit
	case key.Matches(msg, m.keys.Suspend):
		if m.noSuspend != "" {
			m.say(m.noSuspend, true)
			return nil
		}
		return tea.Suspend
	case m.overlay != nil:
		return m.overlay.press(m, msg)
	}
	for _, a := range m.actions() {
		if key.Matches(msg, a.key) {
			return a.do()
		}
	}
	return nil
}

// running says whether frames flow, or would with a carrier.
func running(v *control.View) bool {
	return v != nil && (v.State == engine.Running || v.State == engine.NoCarrier || v.State == engine.Draining)
}
