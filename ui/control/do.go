package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wirespeed/engine"
	"wirespeed/engine/meter"
	"wirespeed/presets"
	"wirespeed/presets/knob"
)

// Step is one line of the command language and where it stands.
type Step = knob.Step

// ErrQuit is returned by Do for the line "quit": the front end then ends.
var ErrQuit = errors.New("quit")

// Do carries out one line of the command language and says in words what happened. errors.Is(err, knob.ErrUsage) where the line is wrong.
func (r *Run) Do(line string) (said string, err error) {
	c, err := knob.ParseLine(line)
	if err != nil {
		return "", err
	}
	switch c.Verb {
	case knob.DoWait:
		return "", usage("wait is for scripts: there is nothing that comes after")
	case knob.DoSweep:
		return r.startSweep(c.Sweep)
	case knob.DoKick:
		return r.startKick(c.Wait)
	}
	return r.carryOut(r.life, c)
}

// carryOut does what one command says; wait is the script's own.
func (r *Run) carryOut(ctx context.Context, c knob.Command) (string, error) {
	switch c.Verb {
	case knob.DoSweep:
		if c.Sweep.Stop {
			return r.StopSweep()
		}
		s, err := r.Sweep(ctx, c.Sweep)
		if s != nil {
			r.logSweep(s)
		}
		if errors.Is(err, context.Canceled) && ctx.Err() == nil {
			err = nil // somebody said sweep stop: the script goes on
		}
		return "", err
	case knob.DoSet:
		return r.turn(c.Knob, c.Value)
	case knob.DoMark:
		return r.Mark(c.Name)
	case knob.DoKick:
		_, err := r.Kick(ctx, c.Wait)
		if errors.Is(err, knob.ErrUsage) { // an experiment goes on without it where it cannot be
			r.log.add("", err.Error())
			err = nil
		}
		if errors.Is(err, context.Canceled) && ctx.Err() == nil {
			err = nil
		}
		return "", err
	case knob.DoDiff:
		c, err := r.Compare(c.Name, c.Other)
		if err != nil {
			return "", err
		}
		r.log.add("", c.String())
		return c.String(), nil
	case knob.DoStart:
		return "sending", r.Start()
	case knob.DoStop:
		return "stopped", r.Stop()
	case knob.DoReset:
		r.Reset()
		return "statistics begin anew", nil
	case knob.DoPreset:
		return r.preset(c.Name)
	case knob.DoSave:
		return r.save(c.Name, c.Replace)
	case knob.DoNIC:
		return r.diff()
	case knob.DoCheck:
		return r.checkWords()
	case knob.DoHelp:
		return help(c.Knob)
	case knob.DoQuit:
		r.mu.Lock()
		r.quit = true
		r.mu.Unlock()
		return "", errors.Join(ErrQuit, r.Stop())
	}
	return "", nil // a comment
}

// help is one line on a knob or a command, or the commands.
func help(word string) (string, error) {
	if word != "" {
		return knob.Help(word)
	}
	words := ""
	for _, u := range knob.Usages() {
		words += u.Form + "   "
	}
	return words[:len(words)-3], nil
}

// turn sets a knob; where its value changes, an epoch ends.
func (r *Run) turn(name, value string) (string, error) {
	r.cmd.Lock()
	defer r.cmd.Unlock()
	return r.turnHeld(name, value)
}

// turnHeld is turn for who holds cmd.
func (r *Run) turnHeld(name, value string) (string, error) {
	k, err := knob.Find(name)
	if err != nil {
		return "", err
	}
	b := r.liveBench()
	old := k.Get(b)
	before := b.Config
	if _, err := k.Set(b, value); err != nil {
		return "", err
	}
	now := k.Get(b)
	if now == old {
		return fmt.Sprintf("%s is %s already", name, now), nil
	}
	said := fmt.Sprintf("%s %s -> %s", name, old, now)
	if name == "link" {
		said += forced(before, b.Config)
		if r.o.Lab && now == "none" {
			said += "; path stays qdisc and segment off"
		}
	}
	r.log.add(name, said)
	r.turnedByHand()
	r.changed(name + " " + now)
	return said, nil
}

// turnAll sets the knobs of a preset as one change.
func (r *Run) turnAll(label string, settings []Setting) error {
	r.cmd.Lock()
	defer r.cmd.Unlock()
	b := r.liveBench()
	if _, err := knob.SetAll(b, settings); err != nil {
		return err
	}
	r.log.add("", label)
	r.turnedByHand()
	r.changed(label)
	return nil
}

// turnedByHand counts the operator's turns: a sweep under way ends by one.
func (r *Run) turnedByHand() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turns++
}

// apply puts a configuration into effect. Samples under way are mixed from before the change on, so that none in which it fell slips
// through. The caller holds cmd.
func (r *Run) apply(cfg engine.Config) error {
	was := r.eng.Config()
	if sameConfig(was, cfg) {
		return nil
	}
	if cfg.Queues != was.Queues || cfg.Path != was.Path {
		cfg.FlowOffsets = nil // they were found for other queues
	}
	r.mu.Lock()
	r.mix()
	r.maxed = r.maxed || !cfg.Scheduled()
	other := cfg.Counts() != was.Counts() || cfg.Verifies() != was.Verifies() || cfg.Verifies() && cfg.Sink != was.Sink // receiver
	r.deaf = r.deaf || r.running() && (other || !cfg.Counts() && cfg.Sink != was.Sink)
	r.mu.Unlock()
	if r.isRunning() {
		r.prepareSegments(cfg)
	}
	if err := r.eng.Apply(cfg); err != nil {
		return err
	}
	r.saySink(was, cfg)
	r.sayContent(was, cfg)
	if other {
		r.mu.Lock()
		r.hearing = hearing{} // another receiver, which counts from 0
		r.mu.Unlock()
	}
	if cfg.Queues != was.Queues || cfg.Path != was.Path || fmt.Sprint(workerCPUs(cfg)) != fmt.Sprint(workerCPUs(was)) {
		r.replace()
	}
	return nil
}

// changed begins the epoch of a change that is in effect.
func (r *Run) changed(label string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.change(label, true)
}

// Mark keeps the present epoch by name ("" takes the next letter) and says what was kept.
func (r *Run) Mark(name string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.epochs.mark(name)
	if m.N == 0 {
		return "", usage("mark: the present epoch has no sample yet: wait for one")
	}
	said := fmt.Sprintf("mark %s: %s, %s pps, %.1f ns/packet over %d samples", m.Mark, m.Label, meter.Number(m.PPS, 0), m.MeanNS, m.N)
	r.log.add("", said)
	return said, nil
}

// rehearse tries the script on a copy of the knobs, so that a wrong line is refused before the first frame.
func (r *Run) rehearse(b *knob.Bench) error {
	for i, s := range r.o.Script {
		if s.Verb == knob.DoSave {
			if err := presets.CheckName(s.Name); err != nil {
				return knob.At(s.Where, err)
			}
		}
		// Without a screen nobody is left to start again: what follows would be dropped without a word.
		if s.Verb == knob.DoStop && i+1 < len(r.o.Script) && r.o.Script[i+1].Verb != knob.DoQuit && !r.o.Console {
			return knob.At(r.o.Script[i+1].Where, usage("nothing is carried out after stop, which ends a run without a screen: leave it out, or use rate and wait"))
		}
	}
	return knob.Rehearse(b, r.o.Script, loadPreset)
}

// turnFirst turns the knobs that a script begins with, before the first frame, and returns the steps after them. The caller holds cmd.
func (r *Run) turnFirst(steps []Step) ([]Step, error) {
	for i, s := range steps {
		if s.Verb != knob.DoSet {
			return steps[i:], nil
		}
		if _, err := r.turnHeld(s.Knob, s.Value); err != nil {
			return nil, knob.At(s.Where, err)
		}
	}
	return nil, nil
}

// play types the steps of the script that are left. After its last line the run goes on to its limit, and without one it ends.
func (r *Run) play(ctx context.Context, steps []Step) {
	name := "script"
	if r.o.Preset != "" && !r.o.Scripted {
		name = r.o.Preset
		if own, run := r.newSteps(); run != nil { // another preset may end them
			ctx = own
		}
	}
	if !r.playSteps(ctx, name, steps) {
		return
	}
	if r.o.Limit == (engine.Limit{}) {
		r.Stop() // an error of it is the run's
	}
}

// playSteps types steps, waits relative to each other, and says whether it came to the end.
func (r *Run) playSteps(ctx context.Context, name string, steps []Step) bool {
	at := time.Now()
	lines := make([]string, len(steps))
	for i, s := range steps {
		lines[i] = s.Line
	}
	var now *Progress
	defer func() { r.progressed(now, nil) }()
	for i, s := range steps {
		next := &Progress{Name: name, At: i, Steps: lines}
		if s.Verb == knob.DoWait {
			next.Until = at.Add(s.Wait)
		}
		r.progressed(now, next)
		now = next
		if s.Verb == knob.DoWait {
			// Absolute times, so that what the commands take does not add up.
			at = at.Add(s.Wait)
			if !sleep(ctx, time.Until(at)) {
				return false
			}
			continue
		}
		if ctx.Err() != nil {
			return false
		}
		r.catchUp()
		said, err := r.carryOut(ctx, s.Command)
		if err == nil && said != "" && (s.Verb == knob.DoHelp || s.Verb == knob.DoNIC) {
			r.log.add("", said)
		}
		if err != nil {
			if !errors.Is(err, ErrQuit) && !errors.Is(err, context.Canceled) {
				r.fail(knob.At(s.Where, err))
			}
			return false
		}
		if late := time.Since(at); late > oneChange {
			at = at.Add(late) // a command that took long, such as stop
		}
	}
	return true
}

// sleep waits unless ctx ends first, and says whether it did.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// fail ends a headless run with an error; a console shows it and goes on.
func (r *Run) fail(err error) {
	if r.o.Console {
		r.log.add("", err.Error())
		return
	}
	r.log.fatal(err)
	r.mu.Lock()
	if r.failure == nil {
		r.failure = err
	}
	r.mu.Unlock()
	r.Stop() // an error of it comes second
}
