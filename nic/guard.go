package nic

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// Guard is the way to change a device's settings so that they come back: it keeps a journal of what was there before, on the disk before
// anything is changed, and puts everything back in Restore, in reverse order. What somebody else has changed meanwhile is left alone and
// said. One guard holds a device; a second session's fails with ErrHeld. Its methods may be called from any goroutine, also after Close and
// from one that panics.
type Guard struct {
	mu    sync.Mutex
	d     *Device
	store *store // nil without a journal
	j     journal
	saw   map[string]string // what Look saw last, as people read it
	keep  bool
	done  bool
}

// GuardOptions are how a guard keeps its journal.
type GuardOptions struct {
	// Dir is where journals lie; "" is /run/wirespeed for root, else XDG_RUNTIME_DIR/wirespeed.
	Dir string
	// Volatile keeps no journal and locks nothing: for the lab, whose devices vanish with the process.
	Volatile bool
}

// NewGuard takes hold of a device. What a session that was killed left changed is put back first, as the notes then say, a line each; what was
// left on purpose stays. errors.Is(err, ErrHeld) where another session has it. The guard does not close the Device, which must live longer.
func NewGuard(d *Device, o GuardOptions) (g *Guard, notes []string, err error) {
	m, err := d.linkMsg(d.index)
	if err != nil {
		return nil, nil, fmt.Errorf("guard of %w", err)
	}
	g = &Guard{d: d}
	g.j = journal{Version: journalVersion, Index: d.index, Name: m.name, MAC: m.mac.String(), PID: os.Getpid(), Lost: make(map[string]string)}
	if o.Volatile {
		return g, nil, nil
	}
	if g.j.Boot, err = bootID(); err != nil {
		return nil, nil, err
	}
	if g.j.NetNS, err = netNS(); err != nil {
		return nil, nil, err
	}
	dir := o.Dir
	if dir == "" {
		dir = journalDir()
	}
	if g.store, err = openStore(dir, g.j.key(), m.name); err != nil {
		return nil, nil, err
	}
	old, note, err := g.store.read(g.j.Boot)
	if note != "" {
		notes = append(notes, note)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return g, notes, nil
	case err != nil:
		g.store.close()
		return nil, nil, err
	}
	g.j.Kept = old.Kept
	if n := len(old.Changes); n > 0 {
		old.Name = m.name
		put, said, err := putBack(d, &old)
		of := ""
		if put < n {
			of = fmt.Sprintf(" of %d", n)
		}
		notes = append(notes, fmt.Sprintf("%s: %d%s settings that PID %d left changed are put back", m.name, put, of, old.PID))
		notes = append(notes, said...)
		if err != nil {
			notes = append(notes, err.Error())
		}
		g.j.Changes = old.Changes // what failed is tried again in the end
	}
	return g, notes, g.record()
}

// Set changes a setting and returns what it then is, and the way back to what it was before this call; undo is nil where it was so already.
// Errors are those of Setting.Write. Settings that the driver resets on the way, an interrupt's affinity or a queue's limits, are given their
// values back.
func (g *Guard) Set(name, text string) (now string, undo func() error, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.done {
		return "", nil, fmt.Errorf("%s of %s: the session is over", name, g.d.Name())
	}
	s, err := g.d.Setting(name)
	if err != nil {
		return "", nil, err
	}
	v := g.d.view()
	beforeText, err := s.readIn(v)
	if err != nil {
		return "", nil, err
	}
	if s.asks(text, beforeText) {
		return beforeText, nil, nil
	}
	if s.Why != "" {
		return "", nil, fmt.Errorf("%s of %s: %w", name, g.d.Name(), &reason{text: s.Why, is: ErrNotSupported})
	}
	before, err := s.saved(v)
	if err != nil {
		return "", nil, err
	}
	at := slices.IndexFunc(g.j.Changes, func(e entry) bool { return e.Name == name })
	if at < 0 {
		g.j.Changes = append(g.j.Changes, entry{Name: name, Before: before, BeforeText: beforeText})
		at = len(g.j.Changes) - 1
	} else {
		g.j.Changes[at].Done = false
	}
	if err := g.write(s, at, func() error { now, err = s.Write(text); return err }); err != nil {
		if again := g.takeBack(s, before); again != nil {
			err = errors.Join(err, again)
		}
		return now, nil, err
	}
	return now, func() error { return g.undo(name, before) }, nil
}

// SetXPS is Device.SetXPS under the guard.
func (g *Guard) SetXPS(queue int, cpus []int) (restore func() error, err error) {
	list := slices.Clone(cpus)
	slices.Sort(list)
	_, restore, err = g.Set(fmt.Sprintf("xps[%d]", queue), formatList(slices.Compact(list)))
	return restore, err
}

// SetFeature is Device.SetFeature under the guard.
func (g *Guard) SetFeature(name string, on bool) (restore func() error, err error) {
	_, restore, err = g.Set("feature."+name, onOff(on))
	return restore, err
}

// SetIRQs places the interrupts of the transmit queues, a text for each as PlaceIRQs makes them: all, or none where one fails.
func (g *Guard) SetIRQs(cpus []string) (undo func() error, err error) {
	var undos []func() error
	undo = func() error {
		var errs []error
		for _, u := range slices.Backward(undos) {
			errs = append(errs, u())
		}
		return errors.Join(errs...)
	}
	for q, text := range cpus {
		_, u, err := g.Set(fmt.Sprintf("irq[%d]", q), text)
		if err != nil {
			return nil, errors.Join(err, undo())
		}
		if u != nil {
			undos = append(undos, u)
		}
	}
	return undo, nil
}

// write records what is about to be written, writes it, and records what came of it. The caller holds mu.
func (g *Guard) write(s Setting, at int, write func() error) error {
	var beside map[string]string
	if s.resets {
		beside = besides(g.d, s)
	}
	g.j.Beside = beside
	if err := g.record(); err != nil {
		if g.j.Changes[at].Done = g.j.Changes[at].Wrote != ""; !g.j.Changes[at].Done {
			g.j.Changes = slices.Delete(g.j.Changes, at, at+1)
		}
		return err // nothing was changed
	}
	err := write()
	siblings, again := settle(g.d, s, beside, g.j.Lost)
	v := g.d.view()
	e := &g.j.Changes[at]
	var errs [2]error
	e.Wrote, errs[0] = s.saved(v)
	e.WroteText, errs[1] = s.readIn(v)
	e.Done = errs[0] == nil && errs[1] == nil
	if e.Done && s.back(e.Wrote, e.Before) {
		g.j.Changes = slices.Delete(g.j.Changes, at, at+1)
	}
	for _, sib := range siblings {
		g.sibling(sib)
	}
	g.j.Beside = nil
	g.look()
	return errors.Join(err, again, g.record())
}

// sibling keeps what a write changed beside what it was meant to. The caller holds mu.
func (g *Guard) sibling(e entry) {
	at := slices.IndexFunc(g.j.Changes, func(old entry) bool { return old.Name == e.Name })
	if at < 0 {
		g.j.Changes = append(g.j.Changes, e)
		return
	}
	if e.Before = g.j.Changes[at].Before; e.Before == e.Wrote {
		g.j.Changes = slices.Delete(g.j.Changes, at, at+1)
		return
	}
	g.j.Changes[at].Wrote, g.j.Changes[at].WroteText = e.Wrote, e.WroteText
}

// takeBack undoes a write that failed half-way. The caller holds mu.
func (g *Guard) takeBack(s Setting, to string) error {
	now, err := s.saved(g.d.view())
	if err != nil || s.equal(now, to) {
		return err
	}
	at := slices.IndexFunc(g.j.Changes, func(e entry) bool { return e.Name == s.Name })
	if at < 0 {
		return nil
	}
	return g.write(s, at, func() error { return s.bring(to) })
}

// undo brings a setting back to what it was before one Set, unless somebody else has changed it since.
func (g *Guard) undo(name, to string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.IndexFunc(g.j.Changes, func(e entry) bool { return e.Name == name })
	if at < 0 { // it is back already
		return nil
	}
	s, err := g.d.Setting(name)
	if err != nil {
		if errors.Is(err, ErrNotFound) || errors.Is(err, ErrNotSupported) { // it is gone, or away until its queue comes back
			return nil
		}
		return err
	}
	now, err := s.saved(g.d.view())
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil || g.j.Changes[at].Done && !s.equal(now, g.j.Changes[at].Wrote) {
		return err // somebody else's: Restore says so
	}
	return g.write(s, at, func() error { return s.bring(to) })
}

// record writes the journal. The caller holds mu.
func (g *Guard) record() error {
	if g.store == nil {
		return nil
	}
	if g.j.empty() {
		return g.store.remove()
	}
	return g.store.write(&g.j)
}

// Keep leaves all changes of this session in place when it ends. The journal keeps them, for RestoreAll.
func (g *Guard) Keep(keep bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.keep = keep
}

// Restore puts everything back, the last change first, and says in notes, a line each, what it left alone and what is gone. A second call
// does nothing. Changes that are to be kept stay.
func (g *Guard) Restore() (notes []string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.keep {
		g.j.Kept = merge(g.j.Kept, g.j.Changes)
		g.j.Changes = nil
		return nil, g.record()
	}
	if len(g.j.Changes) == 0 {
		return nil, nil
	}
	_, notes, err = putBack(g.d, &g.j)
	g.look()
	return notes, errors.Join(err, g.record())
}

// merge adds changes to those kept before. A setting that was kept already has its oldest value to come back to.
func merge(kept, changes []entry) []entry {
	for _, e := range changes {
		at := slices.IndexFunc(kept, func(old entry) bool { return old.Name == e.Name })
		if at < 0 {
			kept = append(kept, e)
		} else {
			kept[at].Wrote, kept[at].WroteText = e.Wrote, e.WroteText
		}
	}
	return kept
}

// Close restores, and gives the device free for others. A second call does nothing.
func (g *Guard) Close() (notes []string, err error) {
	notes, err = g.Restore()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.done = true
	if g.store != nil {
		g.store.close()
		g.store = nil
	}
	return notes, err
}

// Delta is one changed setting.
type Delta struct {
	Name    string
	Before  string // before this session
	Wrote   string // by this session, read back
	Now     string // "" unknown: the device or the queue is gone
	Foreign bool   // somebody else has changed it since: it will be left alone
	Kept    bool   // it stays when the session ends
}

// Diff lists what this session has changed, oldest first, and what earlier ones left on purpose.
func (g *Guard) Diff() []Delta {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, saved := make(map[string]string), make(map[string]string)
	equal := make(map[string]func(a, b string) bool)
	v := g.d.view()
	for _, s := range v.settings() {
		if slices.ContainsFunc(slices.Concat(g.j.Kept, g.j.Changes), func(e entry) bool { return e.Name == s.Name }) {
			now[s.Name], _ = s.readIn(v) // "" is unknown
			saved[s.Name], _ = s.saved(v)
			equal[s.Name] = s.equal
		}
	}
	var list []Delta
	add := func(e entry, kept bool) {
		d := Delta{Name: e.Name, Before: e.BeforeText, Wrote: e.WroteText, Now: now[e.Name], Kept: kept}
		d.Foreign = d.Now != "" && e.Done && !equal[e.Name](saved[e.Name], e.Wrote)
		list = append(list, d)
	}
	for _, e := range g.j.Kept {
		if !slices.ContainsFunc(g.j.Changes, func(c entry) bool { return c.Name == e.Name }) {
			add(e, true)
		}
	}
	for _, e := range g.j.Changes {
		add(e, g.keep)
	}
	return list
}

// Plan says what Set would change, and changes nothing; Before and Now are equal where it would change nothing.
func (g *Guard) Plan(name, text string) (Delta, error) {
	s, err := g.d.Setting(name)
	if err != nil {
		return Delta{}, err
	}
	if err := s.Check(text); err != nil {
		return Delta{}, err
	}
	now, err := s.Read()
	if err != nil {
		return Delta{}, err
	}
	if s.asks(text, now) {
		text = now
	}
	return Delta{Name: name, Before: now, Wrote: text, Now: text}, nil
}
