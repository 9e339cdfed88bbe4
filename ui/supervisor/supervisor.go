package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Options are what a worker is started with.
type Options struct {
	// Console says that the worker reads keys and draws: its group becomes the foreground group (if ours is), and what it writes to a
	// stderr that is the terminal is held back until the screen is the normal one again, so that a panic can be read.
	Console bool
	// PutBack puts back what a worker that has ended, with this process number, had changed and could not put back itself, and says so, a line
	// each: nothing where it left nothing. Nil where nothing outlives the worker.
	PutBack func(pid int) (notes []string, err error)
}

// supervised is a running worker. Only the goroutine of Run uses it.
type supervised struct {
	pid     int
	console bool
	putBack func(pid int) ([]string, error)
	term    *terminal
	held    *held // nil where the worker writes to stderr itself
	signals chan os.Signal

	ready   bool             // the worker takes signals
	waiting []syscall.Signal // came before it was ready
	strays  int              // times it wanted a terminal that it can never have
}

// Run starts cmd as the worker and returns when it has ended, with its exit code (128 + N if signal N ended it). cmd is prepared by the
// caller but for its process group, parent-death signal, environment and file descriptor 3, which the two processes use to meet. An
// error means that the worker did not start.
func Run(cmd *exec.Cmd, o Options) (code int, err error) {
	// The parent-death signal follows the thread that starts the child, not the process (prctl(2)); and signals are blocked per thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	s := &supervised{console: o.Console, putBack: o.PutBack, term: openTerminal(), signals: make(chan os.Signal, 16)}
	defer s.term.close()
	signal.Ignore(unix.SIGQUIT, unix.SIGPIPE)
	signal.Notify(s.signals, append(EndSignals(), unix.SIGTSTP, unix.SIGCONT)...)
	defer signal.Stop(s.signals)

	if o.Console && cmd.Stderr == os.Stderr && IsTerminal(os.Stderr) {
		if s.held, err = hold(cmd, os.Stderr); err != nil {
			return 0, err
		}
	}
	meet, err := s.start(cmd)
	s.held.started()
	if err != nil {
		s.held.finish()
		return 0, err
	}
	defer meet.Close()
	return s.exitCode(s.loop(watch(s.pid), readiness(meet), meet)), nil
}

// start starts the worker. It sends a byte through meet when it takes signals, and waits for one before it does anything: by then the
// terminal is its own. (Until then it is in the background, so that nothing which a package does at start-up can touch the terminal.)
func (s *supervised) start(cmd *exec.Cmd) (meet *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("start the worker: socketpair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "worker"), os.NewFile(uintptr(pair[1]), "supervisor")
	defer theirs.Close()
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, parentVar+"="+strconv.Itoa(os.Getpid()))
	cmd.ExtraFiles = []*os.File{theirs}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.SysProcAttr.Pdeathsig = unix.SIGKILL
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	s.pid = cmd.Process.Pid
	return ours, nil
}

// watch reports each change of the worker's state, its end last, and then ends.
func watch(pid int) <-chan unix.WaitStatus {
	states := make(chan unix.WaitStatus)
	go func() {
		defer close(states)
		for {
			var status unix.WaitStatus
			_, err := unix.Wait4(pid, &status, unix.WUNTRACED, nil)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err != nil {
				return
			}
			states <- status
			if status.Exited() || status.Signaled() {
				return
			}
		}
	}()
	return states
}

// readiness is closed when the worker takes signals. Its goroutine ends with the worker at the latest.
func readiness(meet io.Reader) <-chan struct{} {
	ready := make(chan struct{})
	go func() {
		if n, _ := meet.Read(make([]byte, 1)); n == 1 {
			close(ready)
		}
	}()
	return ready
}

// loop carries signals to the worker and the terminal to whoever has a right to it, until the worker ends.
func (s *supervised) loop(states <-chan unix.WaitStatus, ready <-chan struct{}, meet io.Writer) unix.WaitStatus {
	for {
		select {
		case status, ok := <-states:
			switch {
			case !ok: // somebody else has reaped it: there is no state to tell
				return unix.WaitStatus(1 << 8)
			case status.Stopped():
				s.stopped(status.StopSignal())
			case status.Exited(), status.Signaled():
				return status
			}
		case sig := <-s.signals:
			s.signal(sig.(syscall.Signal))
		case <-ready:
			ready, s.ready = nil, true
			if s.console {
				s.term.handOver(s.pid)
			}
			_, _ = meet.Write([]byte{1}) // if it has died meanwhile, states will say how
			for _, sig := range s.waiting {
				s.send(sig)
			}
		}
	}
}

// signal acts on one that the supervisor got.
func (s *supervised) signal(sig syscall.Signal) {
	switch {
	case sig == unix.SIGCONT:
		// Also after a SIGSTOP that nobody could see coming: the shell has given the foreground to our group.
		if s.console && s.ready {
			s.term.handOver(s.pid)
		}
	case s.ready:
		s.send(sig)
	default:
		s.waiting = append(s.waiting, sig)
	}
}

// send passes a signal on to the worker alone. One that has just ended needs none.
func (s *supervised) send(sig syscall.Signal) { _ = unix.Kill(s.pid, sig) }

// stopped is called when the worker has stopped.
func (s *supervised) stopped(by syscall.Signal) {
	switch by {
	case unix.SIGTSTP:
	case unix.SIGTTIN, unix.SIGTTOU:
		// It touched the terminal before that was its own. If it can have it now, nobody need notice.
		if s.console && s.term.handOver(s.pid) {
			_ = unix.Kill(-s.pid, unix.SIGCONT)
			return
		}
	default: // who stops it with SIGSTOP will also continue it
		return
	}
	mine := s.term.takeBack(s.pid)
	s.held.flush()
	if mine {
		// ctrl+z went to the worker's group alone; the shell waits for all of ours.
		signal.Ignore(unix.SIGTSTP)
		_ = unix.Kill(0, unix.SIGTSTP)
		signal.Notify(s.signals, unix.SIGTSTP)
	}
	from := time.Now()
	stopSelf()
	if by != unix.SIGTSTP && time.Since(from) < notStopped && !s.term.handOver(s.pid) {
		s.stray()
	}
	again := s.console && s.term.handOver(s.pid) && s.term.enterAgain()
	_ = unix.Kill(-s.pid, unix.SIGCONT)
	if again {
		_ = unix.Kill(-s.pid, unix.SIGWINCH) // makes it draw everything
	}
}

// notStopped tells that stopSelf did not stop: no person types fg as fast.
const notStopped = 10 * time.Millisecond

// stray ends a worker that wants the terminal while our group is in the background and orphaned: nobody will ever bring it to the front, and
// it would be stopped and continued for ever. For an ordinary process the kernel makes that an error (EIO).
func (s *supervised) stray() {
	if s.strays++; s.strays == 1 {
		s.send(unix.SIGHUP)
		return
	}
	s.send(unix.SIGKILL)
}

// stopSelf stops this process until somebody continues it. It returns at once where nobody could, because our process group is orphaned:
// the kernel then ignores stop signals other than SIGSTOP (setpgid(2)). Sent to this very thread it works before the call returns. It is
// SIGTTOU because the Go runtime, once it has caught SIGTSTP, never lets it have its default effect again.
func stopSelf() { _ = unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGTTOU) }

// exitCode cleans up behind the ended worker and says what to exit with.
func (s *supervised) exitCode(status unix.WaitStatus) int {
	s.term.takeBack(s.pid)
	s.held.finish()
	if status.Signaled() {
		fmt.Fprintf(os.Stderr, "wirespeed: the worker process was ended by %s\n", unix.SignalName(status.Signal()))
	}
	if s.putBack != nil && (status.Signaled() || status.ExitStatus() != 0) {
		notes, err := s.putBack(s.pid)
		for _, n := range notes {
			fmt.Fprintln(os.Stderr, "wirespeed:", n)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "wirespeed: %s: wirespeed restore tries again\n", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}
