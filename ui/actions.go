package ui

import (
	"errors"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirespeed/engine"
	"wirespeed/ui/control"
)

// action is what a key of the main screen does.
type action struct {
	key key.Binding
	do  func() tea.Cmd
}

func (m *model) actions() []action {
	k := m.keys
	turn := func(steps int, coarse bool) func() tea.Cmd {
		return func() tea.Cmd { return m.turn(steps, coarse) }
	}
	choose := func(n int) func() tea.Cmd {
		return func() tea.Cmd {
			m.panel.move(m.knobs(), n)
			return nil
		}
	}
	return []action{
		{k.Quit, func() tea.Cmd { return tea.Quit }},
		{k.StartStop, m.startStop},
		{k.Up, choose(-1)},
		{k.Down, choose(1)},
		{k.PageUp, choose(-8)},
		{k.PageDown, choose(8)},
		{k.Top, choose(-1 << 20)},
		{k.Bottom, choose(1 << 20)},
		{k.Less, turn(-1, false)},
		{k.More, turn(1, false)},
		{k.LessCoarse, turn(-1, true)},
		{k.MoreCoarse, turn(1, true)},
		{k.Edit, m.edit},
		{k.Filter, m.filter},
		{k.Close, m.unfilter},
		{k.Command, m.command},
		{k.Path, m.switchPath},
		{k.Mark, m.mark},
		{k.Reset, m.reset},
		{k.Pause, m.openPause},
		{k.Presets, m.openPresets},
		{k.Packet, m.openPacket},
		{k.Instruments, m.open(&instrumentPane{})},
		{k.Counters, m.open(&counterPane{})},
		{k.Arrivals, m.open(&arrivalPane{})},
		{k.Check, m.openCheck},
		{k.Freeze, m.freeze},
		{k.Chart, func() tea.Cmd {
			m.charts = (m.charts + 1) % showModes
			return nil
		}},
		{k.Help, m.open(&helpText{})},
		{k.Kick, m.doLine("kick")},
		{k.Sweep, m.open(&sweepPane{})},
		{k.Epochs, func() tea.Cmd {
			m.overlay = &epochPane{}
			return nil
		}},
		{k.Stop, m.doLine("sweep stop")},
	}
}

// doLine carries out a line of the command language.
func (m *model) doLine(line string) func() tea.Cmd {
	return func() tea.Cmd {
		return m.enqueue(job{do: func(r runner) outcome {
			said, err := r.Do(line)
			return outcome{said: said, err: err}
		}})
	}
}

func (m *model) open(o overlay) func() tea.Cmd {
	return func() tea.Cmd {
		m.overlay = o
		return nil
	}
}

func (m *model) knobs() []control.Knob {
	if m.view == nil {
		return nil
	}
	return m.view.Knobs
}

func (m *model) startStop() tea.Cmd {
	if m.live == nil {
		return nil
	}
	if m.live.State == engine.Draining {
		m.say("stopping: what is in the ring leaves first", false)
		return nil
	}
	if running(m.live) {
		return m.enqueue(job{do: func(r runner) outcome { return outcome{said: "stopped", err: r.Stop()} }})
	}
	return m.enqueue(job{do: func(r runner) outcome { return outcome{said: "started", err: r.Start()} }})
}

// turn moves the chosen knob. Turns that come while a command still runs are added up to one.
func (m *model) turn(steps int, coarse bool) tea.Cmd {
	k := m.panel.current(m.knobs())
	if k == nil {
		return nil
	}
	if k.Reason != "" {
		m.say(k.Name+": "+k.Reason, true)
		return nil
	}
	if n := len(m.jobs); n > 1 { // the first is under way
		if last := &m.jobs[n-1]; last.knob == k.Name && last.coarse == coarse {
			last.steps += steps
			return nil
		}
	}
	return m.enqueue(job{knob: k.Name, steps: steps, coarse: coarse})
}

// switchPath changes to the other path. The panel shows it at once, so that a second press goes back.
func (m *model) switchPath() tea.Cmd {
	const name = "path"
	k := knobOf(m.view0(), name)
	if k == nil {
		return nil
	}
	if k.Reason != "" {
		m.say(name+": "+k.Reason, true)
		return nil
	}
	now, to := k.Value, "qdisc"
	if p, ok := m.pending[name]; ok {
		now = p.text
	}
	if now == to {
		to = "bypass"
	}
	m.pending[name] = pending{text: to, left: 8}
	return m.enqueue(job{do: func(r runner) outcome {
		said, err := r.Do(name + " " + to)
		return outcome{said: said, err: err, knob: name, value: to}
	}})
}

// view0 is the latest look, an empty one before the first.
func (m *model) view0() *control.View {
	if m.live == nil {
		return &control.View{}
	}
	return m.live
}

func (m *model) mark() tea.Cmd {
	return m.enqueue(job{do: func(r runner) outcome {
		said, err := r.Mark("")
		return outcome{said: said, err: err}
	}})
}

func (m *model) reset() tea.Cmd {
	return m.enqueue(job{do: func(r runner) outcome {
		r.Reset()
		return outcome{said: "statistics begin anew"}
	}})
}

func (m *model) freeze() tea.Cmd {
	m.frozen = !m.frozen
	m.view = m.live
	return nil
}

// job is something to be done to the run: a turn of a knob, or anything else.
type job struct {
	knob   string
	steps  int
	coarse bool
	do     func(runner) outcome
}

// outcome is how a job ended. knob and value say what the panel may show at once.
type outcome struct {
	said        string
	err         error
	knob, value string
}

// enqueue does a job after those before it: commands take effect in the order of the keys.
func (m *model) enqueue(j job) tea.Cmd {
	m.jobs = append(m.jobs, j)
	if m.busy {
		return nil
	}
	return m.next()
}

func (m *model) next() tea.Cmd {
	if len(m.jobs) == 0 {
		m.busy = false
		return nil
	}
	m.busy = true
	j, run := m.jobs[0], m.run
	return m.work.do(func() tea.Msg { return doneMsg{j.carryOut(run)} })
}

func (j job) carryOut(r runner) outcome {
	if j.do != nil {
		return j.do(r)
	}
	text, err := turned(r, j.knob, j.steps, j.coarse)
	if err != nil {
		return outcome{err: err}
	}
	said, err := r.Do(j.knob + " " + text)
	return outcome{said: said, err: err, knob: j.knob, value: text}
}

// finish shows how a job ended and begins the next.
func (m *model) finish(o outcome) tea.Cmd {
	switch {
	case errors.Is(o.err, control.ErrQuit):
		return tea.Quit
	case o.err != nil:
		delete(m.pending, o.knob)
		m.say(o.err.Error(), true)
	default:
		if o.said != "" {
			m.say(o.said, false)
		}
		if o.knob != "" {
			m.pending[o.knob] = pending{text: o.value, left: 3}
		}
	}
	m.jobs = m.jobs[1:]
	return m.next()
}
