package supervisor_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patient bounds every wait of these tests; it is only used up by a test that fails.
const patient = 20 * time.Second

// console is a pseudo-terminal with a session on it: what it shows, and keys to type.
type console struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd

	mu    sync.Mutex
	shown bytes.Buffer
	seen  int // how much of shown earlier expectations have used up
}

// newConsole runs cmd as the leader of a session whose controlling terminal is a new pseudo-terminal.
func newConsole(t *testing.T, cmd *exec.Cmd) *console {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd(master), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd(master), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd(master), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	c := &console{t: t, master: master, cmd: cmd}
	go c.read()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // a second Wait, where the test has waited, is an error and means nothing
		master.Close()
	})
	return c
}

// fd returns the number of a file without making it blocking, as File.Fd would.
func fd(f *os.File) (number int) {
	raw, err := f.SyscallConn()
	if err == nil {
		err = raw.Control(func(n uintptr) { number = int(n) })
	}
	if err != nil {
		panic(err)
	}
	return number
}

func (c *console) read() {
	buf := make([]byte, 4096)
	for {
		n, err := c.master.Read(buf)
		c.mu.Lock()
		c.shown.Write(buf[:n])
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// send types keys.
func (c *console) send(keys string) {
	c.t.Helper()
	if _, err := c.master.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
}

// expect waits until the pattern shows in what came since the last expectation, and returns its last group.
func (c *console) expect(pattern string) string {
	c.t.Helper()
	re := regexp.MustCompile(pattern)
	var found string
	ok := eventually(func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		at := re.FindSubmatchIndex(c.shown.Bytes()[c.seen:])
		if at == nil {
			return false
		}
		found = string(c.shown.Bytes()[c.seen+at[len(at)-2] : c.seen+at[len(at)-1]])
		c.seen += at[1]
		return true
	})
	if !ok {
		c.t.Fatalf("%q does not show. The whole session:\n%q", pattern, c.all())
	}
	return found
}

func (c *console) all() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown.String()
}

// settings are those of the terminal.
func (c *console) settings() unix.Termios {
	c.t.Helper()
	now, err := unix.IoctlGetTermios(fd(c.master), unix.TCGETS)
	if err != nil {
		c.t.Fatal(err)
	}
	return *now
}

// foreground is the terminal's foreground process group.
func (c *console) foreground() int {
	c.t.Helper()
	group, err := unix.IoctlGetInt(fd(c.master), unix.TIOCGPGRP)
	if err != nil {
		c.t.Fatal(err)
	}
	return group
}

// eventually polls: what it waits for happens in other processes.
func eventually(f func() bool) bool {
	for end := time.Now().Add(patient); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if f() {
			return true
		}
	}
	return f()
}
