package nic

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// besides reads what all settings but one are, as they would be brought back.
func besides(d *Device, but Setting) map[string]string {
	v := d.view()
	m := make(map[string]string)
	for _, s := range v.settings() {
		if s.Name == but.Name || s.Why != "" {
			continue
		}
		if saved, err := s.saved(v); err == nil {
			m[s.Name] = saved
		}
	}
	return m
}

// settle gives the settings that a write has reset their values back. Those of the written one's own group belong together: a driver with one
// timer for both directions changes both, and to put one back would take the other away, so what became of them is returned, to be put back
// later. What is not there any more goes to lost; what is there again comes out of it.
func settle(d *Device, wrote Setting, beside, lost map[string]string) (siblings []entry, err error) {
	if !wrote.resets {
		return nil, nil
	}
	v := d.view()
	list := v.settings()
	if len(list) == 0 { // the interface is gone
		return nil, nil
	}
	var errs []error
	there := make(map[string]bool)
	for _, s := range list {
		there[s.Name] = s.Why == ""
		was, ok := beside[s.Name]
		if old, waits := lost[s.Name]; waits && s.Why == "" {
			was, ok = old, true
			delete(lost, s.Name)
		}
		if !ok || s.Why != "" {
			continue
		}
		now, err := s.saved(v)
		switch {
		case err != nil || s.equal(now, was):
		case s.Group == wrote.Group && s.resets:
			text, _ := s.readIn(v)
			siblings = append(siblings, entry{Name: s.Name, Before: was, BeforeText: was, Wrote: now, WroteText: text, Done: true})
		default:
			errs = append(errs, s.bring(was))
		}
	}
	for name, was := range beside {
		if !there[name] {
			lost[name] = was
		}
	}
	return siblings, errors.Join(errs...)
}

// putBack brings back all changes of a journal, the last first, and takes them out of it, but for those that failed. put is how many are now as
// they were. It needs no journal on the disk.
func putBack(d *Device, j *journal) (put int, notes []string, err error) {
	changes := j.Changes
	j.Changes = nil
	if j.Lost == nil {
		j.Lost = make(map[string]string)
	}
	var errs []error
	if _, gone := d.linkMsg(d.index); errors.Is(gone, ErrNotFound) {
		put, err = putBackHost(changes)
		return put, append(notes, goneNote(j.Name, changes)), err
	}
	// The qdisc comes last: what the kernel chooses there depends on the MTU and on the queues.
	order := slices.Clone(changes)
	slices.Reverse(order)
	slices.SortStableFunc(order, func(a, b entry) int {
		rank := map[string]int{"qdisc": 1}
		return rank[a.Name] - rank[b.Name]
	})
	// Twice: what was put back first may have been reset by what came after, where two settings are one in the driver.
	var ours []entry
	failed := make(map[string]bool)
	defer func() {
		for _, e := range changes {
			if failed[e.Name] {
				j.Changes = append(j.Changes, e)
			}
		}
	}()
	for _, e := range order {
		mine, note, err := putBackOne(d, e, j)
		if errors.Is(err, ErrNotFound) {
			clear(failed)
			put, err = putBackHost(changes)
			return put, append(notes, goneNote(j.Name, changes)), err
		}
		if note != "" {
			notes = append(notes, note)
		}
		if err != nil {
			errs = append(errs, err)
			failed[e.Name] = true
		} else if mine {
			ours = append(ours, e)
		}
	}
	for _, e := range ours {
		if _, _, err := putBackOne(d, entry{Name: e.Name, Before: e.Before, BeforeText: e.BeforeText}, j); err != nil {
			errs = append(errs, err)
			failed[e.Name] = true
		}
		if _, waits := j.Lost[e.Name]; waits && !cameWith(changes, e) {
			notes = append(notes, fmt.Sprintf("%s of %s is not there any more: it was %s", e.Name, j.Name, e.BeforeText))
		} else if !failed[e.Name] {
			put++
		}
	}
	// A write that was cut off may have reset others. (A write that was not has settled them.)
	for _, name := range slices.Sorted(maps.Keys(j.Beside)) {
		if !slices.ContainsFunc(changes, func(e entry) bool { return e.Name == name }) {
			was := j.Beside[name]
			if _, _, err := putBackOne(d, entry{Name: name, Before: was, BeforeText: was}, j); err != nil {
				errs = append(errs, err)
			}
		}
	}
	j.Beside = nil
	return put, notes, errors.Join(errs...)
}

// cameWith tells whether a setting was only there because we had changed the channels before: it goes with its queue, and nothing is missing.
func cameWith(changes []entry, e entry) bool {
	at := func(name string) int { return slices.IndexFunc(changes, func(c entry) bool { return c.Name == name }) }
	channels := at("channels")
	return channels >= 0 && channels < at(e.Name)
}

// putBackOne brings one setting back, if it is as we left it.
func putBackOne(d *Device, e entry, j *journal) (ours bool, note string, err error) {
	s, err := d.Setting(e.Name)
	if err != nil || s.Why != "" {
		if _, gone := d.linkMsg(d.index); errors.Is(gone, ErrNotFound) {
			return false, "", gone
		}
		if err == nil {
			err = &reason{text: s.Why, is: ErrNotSupported}
		}
		if _, waits := j.Lost[e.Name]; waits || errors.Is(err, ErrNotSupported) {
			j.Lost[e.Name] = e.Before // it may come back with its queue
			return true, "", nil
		}
		return false, "", fmt.Errorf("put %s back: %w", e.Name, err)
	}
	v := d.view()
	now, err := s.saved(v)
	if err != nil {
		return false, "", fmt.Errorf("put back: %w", err)
	}
	if s.back(now, e.Before) {
		return true, "", nil
	}
	if e.Done && !s.equal(now, e.Wrote) {
		text, _ := s.readIn(v)
		return false, fmt.Sprintf("%s of %s is now %s, somebody else has changed it: it is left alone (it was %s)", e.Name, d.Name(), text, e.BeforeText), nil
	}
	var beside map[string]string
	if s.resets {
		beside = besides(d, s)
	}
	err = s.bring(e.Before)
	_, again := settle(d, s, beside, j.Lost)
	if err = errors.Join(err, again); err != nil {
		return true, "", fmt.Errorf("put back: %w", err)
	}
	now, err = s.saved(d.view())
	if err == nil && !s.equal(now, e.Before) {
		err = fmt.Errorf("put back: %s of %s is %s, it was %s", e.Name, d.Name(), now, e.Before)
	}
	return true, "", err
}

// hostSetting tells a setting that is the machine's, not the interface's.
func hostSetting(name string) bool { return name == "governor" }

func goneNote(name string, changes []entry) string {
	n := 0
	for _, e := range changes {
		if !hostSetting(e.Name) {
			n++
		}
	}
	if n == 1 {
		return name + " is gone: its 1 changed setting went with it"
	}
	return fmt.Sprintf("%s is gone: its %d changed settings went with it", name, n)
}

// putBackHost brings back what is the machine's, for an interface that is gone. put is how many are now as they were.
func putBackHost(changes []entry) (put int, err error) {
	d := &Device{}
	name := "this machine"
	d.name.Store(&name)
	var errs []error
	for _, e := range slices.Backward(changes) {
		if !hostSetting(e.Name) {
			continue
		}
		v := d.view()
		for _, s := range v.governorSettings() {
			s.d = d
			now, err := s.saved(v)
			if err == nil && now != e.Before && (!e.Done || now == e.Wrote) {
				err = s.bring(e.Before)
				now = e.Before
			}
			if err == nil && now == e.Before {
				put++
			}
			errs = append(errs, err)
		}
	}
	return put, errors.Join(errs...)
}
