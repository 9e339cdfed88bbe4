package supervisor

import (
	"os"

	"golang.org/x/sys/unix"
)

// Sequences of ECMA-48 and xterm's control sequences. leave starts with CAN, which ends a sequence that the worker could not complete.
const (
	leave = "\x18\x1b[0m" + // plain text
		"\x1b[?2026l" + // no synchronized update
		"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l" + // no mouse
		"\x1b[?1004l" + // no focus reports
		"\x1b[?2004l" + // no bracketed paste
		"\x1b[?1049l" + // main screen, cursor where it was
		"\x1b[?7h\x1b[?25h" // autowrap, cursor shown
	enter = "\x1b[?1049h\x1b[2J\x1b[?25l"
)

// terminal is the controlling terminal, or where there is none, the first of stdin, stdout and stderr that is a terminal. All methods
// work on a nil terminal.
type terminal struct {
	fd     int
	jobs   bool         // it controls us: foreground and background exist
	before unix.Termios // what to leave behind
	drawn  *unix.Termios
}

func openTerminal() *terminal {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	jobs := err == nil
	for std := 0; err != nil && std <= 2; std++ {
		if isTerminal(std) {
			fd, err = unix.FcntlInt(uintptr(std), unix.F_DUPFD_CLOEXEC, 3)
		}
	}
	if err != nil {
		return nil
	}
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		_ = unix.Close(fd)
		return nil
	}
	return &terminal{fd: fd, jobs: jobs, before: *before}
}

// IsTerminal says whether f is a terminal.
func IsTerminal(f *os.File) bool { return isTerminal(int(f.Fd())) }

func isTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}

func (t *terminal) close() {
	if t != nil {
		_ = unix.Close(t.fd)
	}
}

// foreground returns the foreground process group, 0 where there is none.
func (t *terminal) foreground() int {
	if t == nil || !t.jobs {
		return 0
	}
	group, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	if err != nil {
		return 0
	}
	return group
}

// handOver makes group the foreground group if ours is, and says whether it now is. From the background it changes nothing.
func (t *terminal) handOver(group int) bool {
	switch t.foreground() {
	case group:
		return true
	case unix.Getpgrp():
		return unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group) == nil
	}
	return false
}

// takeBack makes ours the foreground group again if group was, which it reports, and the terminal what it was before. Where another job has
// the terminal, it is left alone.
func (t *terminal) takeBack(group int) (had bool) {
	if t == nil {
		return false
	}
	defer blockTTOU()() // we are in the background, where changing the terminal stops a process (termios(3))
	if t.foreground() == group {
		had = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, unix.Getpgrp()) == nil
	}
	if t.jobs && t.foreground() != unix.Getpgrp() {
		return had
	}
	// Who draws has raw settings, and puts them back after the screen. Settings as they were thus mean that the screen is in order, and the
	// sequences would do harm: leaving the other screen moves the cursor.
	now, err := unix.IoctlGetTermios(t.fd, unix.TCGETS)
	if err != nil || *now == t.before {
		return had
	}
	t.drawn = now
	_, _ = unix.Write(t.fd, []byte(leave))
	_ = unix.IoctlSetTermios(t.fd, unix.TCSETSF, &t.before) // F: keys typed for the worker are not for the shell
	return had
}

// enterAgain undoes what takeBack did to a screen, and says whether there was something to undo.
func (t *terminal) enterAgain() bool {
	if t == nil || t.drawn == nil {
		return false
	}
	defer blockTTOU()()
	_ = unix.IoctlSetTermios(t.fd, unix.TCSETSW, t.drawn)
	_, _ = unix.Write(t.fd, []byte(enter))
	t.drawn = nil
	return true
}

// blockTTOU keeps this thread from being stopped for using the terminal from the background. The caller has locked the thread.
func blockTTOU() (restore func()) {
	var block, old unix.Sigset_t
	block.Val[0] = 1 << (unix.SIGTTOU - 1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &block, &old); err != nil {
		return func() {}
	}
	return func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil) }
}
