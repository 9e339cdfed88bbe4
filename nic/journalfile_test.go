package nic

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"wirespeed/nic/lab/labtest"
)

// TestWhatIsNoJournal: whatever lies in the place of a journal, or of the file beside it that will replace it, is said in one line, at once, and
// is left as it is.
func TestWhatIsNoJournal(t *testing.T) {
	fifo := func(path string) error { return unix.Mkfifo(path, 0o600) }
	for _, c := range []struct {
		name, ending string
		plant        func(path string) error
		says         string
	}{
		{"a FIFO", ".journal", fifo, ".journal is a FIFO"},
		{"a symbolic link", ".journal", func(path string) error { return os.Symlink("/etc/passwd", path) }, ".journal is a symbolic link"},
		{"a link to nothing", ".journal", func(path string) error { return os.Symlink("/nosuch", path) }, ".journal is a symbolic link"},
		{"a directory", ".journal", func(path string) error { return os.Mkdir(path, 0o700) }, ".journal is a directory"},
		{"a socket", ".journal", func(path string) error {
			l, err := net.Listen("unix", path)
			if err == nil {
				l.(*net.UnixListener).SetUnlinkOnClose(false)
				l.Close()
			}
			return err
		}, ".journal is a socket"},
		{"a FIFO for the lock", ".lock", fifo, ".lock is a FIFO"},
		{"a directory for the lock", ".lock", func(path string) error { return os.Mkdir(path, 0o700) }, ".lock is a directory"},
		{"a link for the lock", ".lock", func(path string) error { return os.Symlink("/etc/passwd", path) }, ".lock is a symbolic link"},
		{"a FIFO for the new one", ".journal.new", fifo, ""},
		{"a link for the new one", ".journal.new", func(path string) error { return os.Symlink("/etc/passwd", path) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			labtest.Pair(t, "s0", "s1", 1)
			d := open(t, "s0")
			dir := "/tmp/" + t.Name()[:4] + itoa(os.Getpid()) // short enough for a socket's name
			t.Cleanup(func() { os.RemoveAll(dir) })
			must(t, os.Mkdir(dir, 0o700))
			g := guardIn(t, d, dir)
			path := strings.TrimSuffix(g.store.path, ".journal") + c.ending
			must(t, errors.Join(ignoreMissing(os.Remove(path)), c.plant(path)))
			kill(g)
			before, err := os.Lstat(path)
			must(t, err)

			within(t, func() {
				g, _, err := NewGuard(d, GuardOptions{Dir: dir})
				if c.says == "" { // what is only there to be replaced is replaced
					must(t, err)
					set(t, g, "mtu", "1400")
					g.Close()
					return
				}
				if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "remove it") || strings.Contains(err.Error(), "\n") {
					t.Errorf("start: %v; want one line with %s", err, c.says)
				}
				if after, err := os.Lstat(path); err != nil || after.Mode() != before.Mode() {
					t.Errorf("%v, %v: it was %v", after, err, before)
				}
			})
			if c.ending != ".journal" {
				return
			}
			within(t, func() {
				if _, err := RestoreAll(dir); err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("restore: %v; want %s", err, c.says)
				}
				if _, err := Pending(dir); err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("pending: %v; want %s", err, c.says)
				}
			})
		})
	}
}

func ignoreMissing(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

// within fails the test if f hangs. It runs in this goroutine's thread's namespace: all of the process is in one.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("it hangs")
	}
}

// TestRestoreSaysWhatCame of it: how many were put back, and an error where that is none.
func TestRestoreSaysWhatCame(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, file string)
		notes string // all of them
		err   string // "" is none
	}{
		{"all", nil, "c0: 2 of 2 changes put back", ""},
		{
			"one was changed by somebody else", func(t *testing.T, _ string) { run(t, "ip", "link", "set", "c0", "mtu", "1350") },
			"c0: 1 of 2 changes put back; mtu of c0 is now 1350, somebody else has changed it: it is left alone (it was 1500)", "",
		},
		{
			"both were", func(t *testing.T, _ string) { run(t, "ip", "link", "set", "c0", "mtu", "1350", "txqueuelen", "9") },
			"c0: 0 of 2 changes put back; txqueuelen of c0 is now 9, somebody else has changed it: it is left alone (it was 1000); " +
				"mtu of c0 is now 1350, somebody else has changed it: it is left alone (it was 1500)", "nothing could be put back",
		},
		{
			"the device is gone", func(t *testing.T, _ string) { must(t, netlink.LinkDel(handle(t, "c0"))) },
			"c0: 0 of 2 changes put back; c0 is gone: its 2 changed settings went with it", "nothing could be put back",
		},
		{
			"another namespace's", func(t *testing.T, file string) { edit(t, file, func(j *journal) { j.NetNS++ }) },
			"", "c0 is of another network namespace",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			labtest.Pair(t, "c0", "c1", 1)
			dir := t.TempDir() + "/j"
			g := guardIn(t, open(t, "c0"), dir)
			set(t, g, "mtu", "1400")
			set(t, g, "txqueuelen", "77")
			kill(g)
			if c.spoil != nil {
				c.spoil(t, journals(t, dir)[0])
			}
			notes, err := RestoreAll(dir)
			if got := strings.Join(notes, "; "); got != c.notes {
				t.Errorf("notes (-want +got):\n- %s\n+ %s", c.notes, got)
			}
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v, want %q", err, c.err)
			}
		})
	}
}

// TestRestoreOfHeld names the device, not the file, and is no success.
func TestRestoreOfHeld(t *testing.T) {
	labtest.Pair(t, "h0", "h1", 1)
	dir := t.TempDir() + "/j"
	g := guardIn(t, open(t, "h0"), dir)
	set(t, g, "mtu", "1400")
	for _, restore := range []func() ([]string, error){
		func() ([]string, error) { return RestoreAll(dir) },
		func() ([]string, error) { return RestoreOne(dir, "h0") },
	} {
		notes, err := restore()
		if want := "h0 is held by PID " + itoa(os.Getpid()) + ": end that session first"; !errors.Is(err, ErrHeld) || err.Error() != want || len(notes) > 0 {
			t.Errorf("%q, %v; want %s", notes, err, want)
		}
	}
}

// TestRestoreAfter puts back what one process left, nothing of others, and nothing that was left on purpose.
func TestRestoreAfter(t *testing.T) {
	labtest.Pair(t, "p0", "p1", 1)
	dir := t.TempDir() + "/j"
	d := open(t, "p0")
	g := guardIn(t, d, dir)
	set(t, g, "txqueuelen", "77")
	g.Keep(true)
	g.Close()
	kept := state(t, "p0")
	g = guardIn(t, d, dir)
	set(t, g, "mtu", "1400")
	set(t, g, "txqueuelen", "78")
	kill(g)
	must(t, unix.Mkfifo(dir+"/1-2-3.journal", 0o600)) // is no business of whoever comes after one process
	if notes, err := RestoreAfter(dir, os.Getpid()+1); err != nil || len(notes) > 0 {
		t.Errorf("another's: %q, %v", notes, err)
	}
	notes, err := RestoreAfter(dir, os.Getpid())
	if want := "p0: 2 of 2 changes put back"; err != nil || len(notes) != 1 || notes[0] != want {
		t.Errorf("%q, %v; want %s", notes, err, want)
	}
	diffState(t, kept, state(t, "p0"))
	must(t, os.Remove(dir+"/1-2-3.journal"))
	left, err := Pending(dir)
	if err != nil || len(left) != 1 || len(left[0].Changes) != 1 || !left[0].Changes[0].Kept {
		t.Errorf("what was left on purpose: %+v, %v", left, err)
	}
	if notes, err := RestoreAfter(dir, os.Getpid()); err != nil || len(notes) > 0 {
		t.Errorf("again: %q, %v", notes, err)
	}
}
