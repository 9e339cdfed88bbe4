package nic

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

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
		j, err := readJournal(path)
		switch {
		case errors.Is(err, errDamaged), err == nil && j.Boot != boot:
			return nil // RestoreAll puts it out of the way
		case err != nil:
			return err
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
// says so in notes, a line each. Devices that a session holds, and those of other namespaces, are left alone: an error, as it is where nothing
// of what was left could be put back. errors.Is(err, ErrHeld) for the former.
func RestoreAll(dir string) (notes []string, err error) {
	return restore(dir, func(journal) bool { return true }, true)
}

// RestoreOne is RestoreAll for the devices of one name. errors.Is(err, ErrNotFound) where no journal is of such a one.
func RestoreOne(dir, name string) (notes []string, err error) {
	found := false
	notes, err = restore(dir, func(j journal) bool {
		found = found || j.Name == name
		return j.Name == name
	}, true)
	if err == nil && !found {
		err = &reason{text: "no session has left anything changed on " + name, is: ErrNotFound}
	}
	return notes, err
}

// RestoreAfter puts back what a process that has ended did not put back itself. What was left on purpose stays. No notes and no error: it left
// nothing.
func RestoreAfter(dir string, pid int) (notes []string, err error) {
	return restore(dir, func(j journal) bool { return j.PID == pid && len(j.Changes) > 0 }, false)
}

// restore puts back from the journals that are wanted; kept, also what was left on purpose. Damaged journals, which are nobody's, are wanted by
// who wants all of them.
func restore(dir string, wanted func(journal) bool, kept bool) (notes []string, err error) {
	all, put := 0, 0
	err = eachJournal(dir, func(path string, here uint64, boot string) error {
		j, err := readJournal(path)
		if err != nil && !errors.Is(err, errDamaged) && kept { // who asks for what one process left has no use for what else is wrong
			return err
		}
		if !wanted(j) {
			return nil
		}
		if j.Name == "" {
			j.Name = "the device of " + filepath.Base(path)
		}
		s, err := openStore(filepath.Dir(path), strings.TrimSuffix(filepath.Base(path), ".journal"), j.Name)
		if err != nil {
			return err
		}
		defer s.close()
		name := j.Name
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
			return fmt.Errorf("%s is of another network namespace (%d): run restore there", name, j.NetNS)
		}
		var stays []entry
		if kept {
			j.Changes = merge(j.Kept, j.Changes)
		} else {
			stays = j.Kept
		}
		j.Kept = nil
		n := len(j.Changes)
		back, said, err := restoreJournal(&j)
		all, put = all+n, put+back
		notes = append(notes, fmt.Sprintf("%s: %d of %d changes put back", j.Name, back, n))
		notes = append(notes, said...)
		if j.Kept = stays; !j.empty() {
			return errors.Join(err, s.write(&j))
		}
		return errors.Join(err, s.remove())
	})
	if err == nil && all > 0 && put == 0 {
		err = errors.New("nothing could be put back")
	}
	return notes, err
}

// readJournal reads a journal without holding it, for what it says; Name is what its device is called by now. errors.Is(err, errDamaged).
func readJournal(path string) (journal, error) {
	b, err := readFile(path)
	if err != nil {
		return journal{}, fmt.Errorf("journal: %w", err)
	}
	j, err := parseJournal(b)
	if err != nil {
		return journal{}, err
	}
	here, err := netNS()
	if err != nil || here != j.NetNS {
		return j, err
	}
	if d, err := openIndex(j.Index); err == nil {
		if m, err := d.linkMsg(d.index); err == nil && m.mac.String() == j.MAC {
			j.Name = m.name
		}
		d.Close()
	}
	return j, nil
}

// restoreJournal finds a journal's device and puts it back.
func restoreJournal(j *journal) (put int, notes []string, err error) {
	gone := func() (int, []string, error) {
		changes := j.Changes
		j.Changes = nil
		put, err := putBackHost(changes)
		return put, []string{goneNote(j.Name, changes)}, err
	}
	d, err := openIndex(j.Index)
	if errors.Is(err, ErrNotFound) {
		return gone()
	}
	if err != nil {
		return 0, nil, err
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
		if strings.HasSuffix(file.Name(), ".journal") {
			errs = append(errs, f(filepath.Join(dir, file.Name()), here, boot))
		}
	}
	return errors.Join(errs...)
}
