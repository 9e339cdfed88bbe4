package nic

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// putBack brings back all changes of a journal, the last first, and takes them out of it, but for those that failed. It needs no journal on
// the disk.
func putBack(d *Device, j *journal) (notes []string, err error) {
	changes := j.Changes
	j.Changes = nil
	if j.Lost == nil {
		j.Lost = make(map[string]string)
	}
	var errs []error
	if _, gone := d.linkMsg(d.index); errors.Is(gone, ErrNotFound) {
		notes = append(notes, goneNote(j.Name, changes))
		return notes, putBackHost(changes)
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
			notes = append(notes, goneNote(j.Name, changes))
			return notes, putBackHost(changes)
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
		if _, waits := j.Lost[e.Name]; waits {
			notes = append(notes, fmt.Sprintf("%s of %s is not there any more: it was %s", e.Name, j.Name, e.BeforeText))
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
	return notes, errors.Join(errs...)
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

// putBackHost brings back what is the machine's, for an interface that is gone.
func putBackHost(changes []entry) error {
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
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Left is what a session has left changed on a device.
type Left struct {
	Device    string
	PID       int
	Held      string  // the session goes on: who holds it; "" if nobody
	Elsewhere bool    // the device is of another network namespace
	Changes   []Delta // Kept tells what was left on purpose; Now is not read
}

// Pending lists what sessions have left changed, in journals below dir ("" is where they usually are). It changes nothing.
func Pending(dir string) ([]Left, error) {
	var list []Left
	err := eachJournal(dir, func(path string, here uint64, boot string) error {
		b, err := readUpTo(path, maxJournal)
		if err != nil {
			return err
		}
		j, err := parseJournal(b)
		if err != nil || j.Boot != boot {
			return nil // RestoreAll puts it out of the way
		}
		l := Left{Device: j.Name, PID: j.PID, Elsewhere: j.NetNS != here}
		s, err := openStore(filepath.Dir(path), j.key(), j.Name)
		switch {
		case errors.Is(err, ErrHeld):
			l.Held = err.Error()
		case err != nil:
			return err
		default:
			s.close()
		}
		for i, e := range slices.Concat(j.Kept, j.Changes) {
			l.Changes = append(l.Changes, Delta{Name: e.Name, Before: e.BeforeText, Wrote: e.WroteText, Kept: i < len(j.Kept)})
		}
		list = append(list, l)
		return nil
	})
	return list, err
}

// RestoreAll puts back what sessions that are over have left changed, on purpose or killed, on all devices of this network namespace, and
// says so in notes, a line each. Devices that a session holds are left alone.
func RestoreAll(dir string) (notes []string, err error) {
	return restore(dir, func(string) bool { return true })
}

// RestoreOne is RestoreAll for the devices of one name. errors.Is(err, ErrNotFound) where no journal is of such a one.
func RestoreOne(dir, name string) (notes []string, err error) {
	found := false
	notes, err = restore(dir, func(path string) bool {
		b, err := readUpTo(path, maxJournal)
		if err != nil {
			return false
		}
		j, err := parseJournal(b)
		if err != nil {
			return false
		}
		if d, err := openIndex(j.Index); err == nil { // it may have another name by now
			if d.Name() == name {
				j.Name = name
			}
			d.Close()
		}
		found = found || j.Name == name
		return j.Name == name
	})
	if err == nil && !found {
		err = &reason{text: "no session has left anything changed on " + name, is: ErrNotFound}
	}
	return notes, err
}

// restore puts back from the journals that are wanted.
func restore(dir string, wanted func(path string) bool) (notes []string, err error) {
	err = eachJournal(dir, func(path string, here uint64, boot string) error {
		if !wanted(path) {
			return nil
		}
		s, err := openStore(filepath.Dir(path), strings.TrimSuffix(filepath.Base(path), ".journal"), "the device of "+filepath.Base(path))
		if errors.Is(err, ErrHeld) {
			notes = append(notes, err.Error())
			return nil
		}
		if err != nil {
			return err
		}
		defer s.close()
		j, note, err := s.read(boot)
		if note != "" {
			notes = append(notes, note)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if j.NetNS != here {
			notes = append(notes, fmt.Sprintf("%s is of another network namespace (%d): run restore there", j.Name, j.NetNS))
			return nil
		}
		n := len(j.Changes) + len(j.Kept)
		j.Changes = merge(j.Kept, j.Changes)
		j.Kept = nil
		said, err := restoreJournal(&j)
		if err == nil {
			notes = append(notes, fmt.Sprintf("%s: %d of %d changes put back", j.Name, n-min(n, len(said)), n))
		}
		notes = append(notes, said...)
		if len(j.Changes) > 0 {
			return errors.Join(err, s.write(&j))
		}
		return errors.Join(err, s.remove())
	})
	return notes, err
}

// restoreJournal finds a journal's device and puts it back.
func restoreJournal(j *journal) (notes []string, err error) {
	gone := func() ([]string, error) {
		changes := j.Changes
		j.Changes = nil
		return []string{goneNote(j.Name, changes)}, putBackHost(changes)
	}
	d, err := openIndex(j.Index)
	if errors.Is(err, ErrNotFound) {
		return gone()
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	m, err := d.linkMsg(d.index)
	if err != nil || m.mac.String() != j.MAC && m.name != j.Name { // the index belongs to another one now
		return gone()
	}
	j.Name = m.name
	return putBack(d, j)
}

// eachJournal calls f for each journal in a directory; all errors are returned.
func eachJournal(dir string, f func(path string, netns uint64, boot string) error) error {
	if dir == "" {
		dir = journalDir()
	}
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("journals: %w", err)
	}
	if err := makeJournalDir(dir); err != nil { // whose journals are these?
		return err
	}
	here, err := netNS()
	if err != nil {
		return err
	}
	boot, err := bootID()
	if err != nil {
		return err
	}
	var errs []error
	for _, file := range files {
		if strings.HasSuffix(file.Name(), ".journal") && file.Type().IsRegular() {
			errs = append(errs, f(filepath.Join(dir, file.Name()), here, boot))
		}
	}
	return errors.Join(errs...)
}
