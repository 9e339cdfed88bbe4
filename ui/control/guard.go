package control

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"wirespeed/nic"
	"wirespeed/presets/knob"
)

// guard is the way to change the device so that it comes back: *nic.Guard. It waits while another change is made, a second where the link goes down.
type guard interface {
	Set(name, text string) (now string, undo func() error, err error)
	SetXPS(queue int, cpus []int) (restore func() error, err error)
	SetFeature(name string, on bool) (restore func() error, err error)
	Values() []nic.Value
	Look() []nic.Foreign
	Diff() []nic.Delta
	Keep(bool)
	Close() (notes []string, err error)
}

var _ guard = (*nic.Guard)(nil)

// noGuard is in the place of a guard where there can be none: a change that could not be put back is not made.
type noGuard struct {
	device
	why error
}

func (g noGuard) refuse(what string) error { return fmt.Errorf("%s: %w", what, g.why) }

func (g noGuard) Set(name, _ string) (string, func() error, error) { return "", nil, g.refuse(name) }
func (g noGuard) SetXPS(int, []int) (func() error, error)          { return nil, g.refuse("XPS") }
func (g noGuard) SetFeature(name string, _ bool) (func() error, error) {
	return nil, g.refuse("feature." + name)
}
func (g noGuard) Look() []nic.Foreign      { return nil }
func (g noGuard) Diff() []nic.Delta        { return nil }
func (g noGuard) Keep(bool)                {}
func (g noGuard) Close() ([]string, error) { return nil, nil }

// takeHold opens the guard: errors.Is(err, nic.ErrHeld) while another session has the device. What a killed one left is put back first.
func (r *Run) takeHold() error {
	if r.o.DryRun {
		r.guard = noGuard{r.dev, errors.New("nothing is changed with --dry-run")}
		return nil
	}
	g, notes, err := r.parts.guard(r.dev, r.o.Lab)
	for _, n := range notes {
		r.log.add("", n)
	}
	switch {
	case errors.Is(err, nic.ErrHeld):
		return err
	case err != nil:
		err = fmt.Errorf("settings of the device stay as they are: %w", err)
		r.log.add("", err.Error())
		g = noGuard{r.dev, err}
	}
	g.Keep(r.o.Keep)
	r.guard = g
	return nil
}

// release puts everything back and lets the device go, once; it may be called from anywhere, also from a goroutine that panics.
func (r *Run) release() error {
	if r.guard == nil {
		return nil
	}
	notes, err := r.guard.Close()
	for _, n := range notes {
		r.log.add("", n)
	}
	r.notesLock.Lock()
	defer r.notesLock.Unlock()
	r.notes = append(r.notes, notes...)
	return err
}

// Notes are what Close had to say about the device, a line each: what somebody else has changed and was left alone, and what is kept.
func (r *Run) Notes() []string {
	r.notesLock.Lock()
	defer r.notesLock.Unlock()
	return slices.Clone(r.notes)
}

// Plan is what the command line changes on the device, a line each: "pause autoneg -> off". With Options.DryRun it is not done.
func (r *Run) Plan() []string { return slices.Clone(r.plan) }

// adjust brings about the settings of the command line, before the engine is opened: it must know the MTU and the queues that are then.
func (r *Run) adjust(to []nic.Value) error {
	for _, s := range knob.Differences(r.values, to) {
		was := none // of a queue that there will be
		if i := slices.IndexFunc(r.values, func(v nic.Value) bool { return v.Name == s.Knob }); i >= 0 {
			was = r.values[i].Now
		}
		line := fmt.Sprintf("%s %s -> %s", s.Knob, was, s.Value)
		r.plan = append(r.plan, line)
		if r.o.DryRun {
			continue
		}
		r.operators.add(s.Knob)
		now, _, err := r.guard.Set(s.Knob, s.Value)
		if err != nil {
			return knob.RefusedByNIC(err)
		}
		if now != s.Value {
			line += " (the driver made it " + now + ")"
		}
		r.log.add(s.Knob, line)
	}
	if r.stated != 0 {
		if err := r.shapeFirst(); err != nil {
			return err
		}
	}
	if len(r.plan) == 0 || r.o.DryRun {
		return nil
	}
	r.values = r.readSettings()
	l, err := r.dev.Link()
	if err != nil {
		return err
	}
	r.link, r.engDev = l, engineDevice(l, r.stated, r.engDev.CPUs)
	r.pause = pauseWords(r.dev.Pause())
	return nil
}

// setNIC is what the knobs of the device call. The caller holds cmd.
func (r *Run) setNIC(name, text string) (now string, undo func() error, err error) {
	r.mu.Lock()
	r.mix()
	r.mu.Unlock()
	isXPS := strings.HasPrefix(name, "xps[")
	if isXPS { // what the run steers goes first: the operator changes what was there before, and it stays so
		if err := r.steering.restore(); err != nil {
			return "", nil, err
		}
	}
	r.operators.add(name)
	now, undo, err = r.guard.Set(name, text)
	if err == nil && name == "mtu" {
		err = r.reshape()
	}
	r.reread()
	if isXPS && r.isRunning() {
		r.replace()
	}
	if undo == nil {
		return now, nil, err
	}
	return now, func() error {
		err := undo()
		r.reread()
		return err
	}, err
}

// readSettings reads what the settings are. Ours are those that the operator has turned: what a run changes for itself, XPS and offloads, goes
// when it stops.
func (r *Run) readSettings() []nic.Value {
	list := r.guard.Values()
	for i := range list {
		list[i].Ours = list[i].Ours && r.operators.has(list[i].Name)
	}
	return list
}

// nameSet is a set of names for any goroutine. The zero value is empty.
type nameSet struct {
	lock  sync.Mutex
	names map[string]bool
}

func (s *nameSet) add(name string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.names == nil {
		s.names = make(map[string]bool)
	}
	s.names[name] = true
}

func (s *nameSet) has(name string) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.names[name]
}

// hasAny tells whether a name with this beginning is in it.
func (s *nameSet) hasAny(prefix string) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	for name := range s.names {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// reread takes in what a change of the device has come to, before anything else is held against it.
func (r *Run) reread() {
	values, pause := r.readSettings(), pauseWords(r.dev.Pause())
	l, err := r.dev.Link()
	r.mu.Lock()
	r.values, r.pause = values, pause
	r.readings++
	changed := false
	if err == nil {
		dev := engineDevice(l, r.stated, r.engDev.CPUs)
		changed = !sameDevice(dev, r.engDev)
		r.engDev = dev
	}
	dev := r.engDev
	r.mu.Unlock()
	if changed {
		r.eng.SetDevice(dev)
	}
}

// settingsPeriod is how soon a change that somebody else made is noticed.
const settingsPeriod = time.Second

// keepWatch looks once a second what has become of the settings and the device's own counters, until Close.
func (r *Run) keepWatch() {
	r.guard.Look()
	for sleep(r.life, settingsPeriod) {
		foreign := r.guard.Look()
		values, pause := r.readSettings(), pauseWords(r.dev.Pause())
		facts := r.facts.look(r.dev, time.Now())
		if r.life.Err() != nil {
			return // what a closed device answers is no news
		}
		r.mu.Lock()
		same := slices.EqualFunc(r.values, values, func(a, b nic.Value) bool {
			return a.Name == b.Name && a.Now == b.Now && a.Why == b.Why && a.Ours == b.Ours
		})
		r.shown = facts
		if !same {
			r.values = values
		}
		r.pause = pause
		r.readings++
		var said []string
		for _, f := range foreign {
			text := fmt.Sprintf("%s %s -> %s, by somebody else", f.Name, f.From, f.To)
			if f.Ours {
				text += ": it is left alone from now on"
			}
			r.log.add(f.Name, text)
			said = append(said, f.Name+" "+f.To)
		}
		if len(said) > 0 {
			r.change("others: "+strings.Join(said, ", "), false)
		}
		r.mu.Unlock()
	}
}

// diff is the line nic diff: it goes into the log, a setting a line.
func (r *Run) diff() (string, error) {
	list := r.guard.Diff()
	for _, d := range list {
		text := fmt.Sprintf("%s: before %s, now %s", d.Name, known(d.Before), known(d.Now))
		switch {
		case d.Foreign:
			text += " (by somebody else: it will be left alone)"
		case d.Kept:
			text += " (it stays: wirespeed restore takes it back)"
		}
		r.log.add("", text)
	}
	switch len(list) {
	case 0:
		return "nothing is changed on " + r.o.Device, nil
	case 1:
		return "1 setting is changed: " + deltaWords(list[0]), nil
	}
	var words []string
	for _, d := range list {
		words = append(words, deltaWords(d))
	}
	return fmt.Sprintf("%d settings are changed: %s", len(list), strings.Join(words, ", ")), nil
}

func deltaWords(d nic.Delta) string {
	return fmt.Sprintf("%s %s -> %s", d.Name, known(d.Before), known(d.Now))
}

func known(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}
