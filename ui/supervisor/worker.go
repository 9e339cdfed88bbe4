package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// parentVar tells the worker whose child it is; its value is the supervisor's process number.
	parentVar = "WIRESPEED_SUPERVISOR"
	meetFD    = 3
	// patience is how long an end in order may take before a second INT cuts it short.
	patience = 2 * time.Second
)

// EndSignals are the signals that end a run in order: INT, TERM, and HUP unless the process was started to outlive its terminal (nohup).
func EndSignals() []os.Signal {
	ends := []os.Signal{unix.SIGINT, unix.SIGTERM}
	if !signal.Ignored(unix.SIGHUP) {
		ends = append(ends, unix.SIGHUP)
	}
	return ends
}

// IsWorker says whether this process was started by Run.
func IsWorker() bool { return os.Getenv(parentVar) != "" }

// Worker is called first thing in a process that Run started: it ties the process's life to the supervisor's, makes a write to a closed
// pipe an error (EPIPE) instead of death, and waits until the terminal is the worker's. From its return on no signal is lost: those
// that ask for an end arrive on ends.
func Worker() (ends <-chan os.Signal, err error) {
	parent, err := strconv.Atoi(os.Getenv(parentVar))
	if err != nil {
		return nil, fmt.Errorf("%s=%s is not a process number: unset it", parentVar, os.Getenv(parentVar))
	}
	if err := os.Unsetenv(parentVar); err != nil {
		return nil, err
	}
	_ = os.WriteFile("/proc/self/comm", []byte(filepath.Base(os.Args[0])), 0) // for ps: executing /proc/self/exe made it "exe"
	signal.Ignore(unix.SIGPIPE)
	caught := make(chan os.Signal, 16)
	signal.Notify(caught, EndSignals()...)
	if err := dieWith(parent); err != nil {
		return nil, err
	}
	unix.CloseOnExec(meetFD)
	meet := os.NewFile(meetFD, "supervisor")
	defer meet.Close()
	b := []byte{1}
	if _, err := meet.Write(b); err != nil {
		return nil, fmt.Errorf("the supervisor is gone: %w", err)
	}
	if _, err := meet.Read(b); err != nil {
		return nil, fmt.Errorf("the supervisor is gone: %w", err)
	}
	return caught, nil
}

// dieWith has the kernel kill this process when parent ends. Run asked for that already, but executing a binary with file capabilities
// forgets it (prctl(2)).
func dieWith(parent int) error {
	armed := make(chan error)
	go func() {
		// The setting belongs to the thread and ends with it, so the thread stays.
		runtime.LockOSThread()
		err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
		armed <- err
		if err == nil {
			select {}
		}
	}()
	if err := <-armed; err != nil {
		return fmt.Errorf("prctl(PR_SET_PDEATHSIG): %w", err)
	}
	if os.Getppid() != parent {
		return errors.New("the supervisor is gone")
	}
	return nil
}

// Ended is the cause of a context that Watch has ended.
type Ended struct{ Signal os.Signal }

// Error names the signal.
func (e Ended) Error() string { return "ended by " + e.Signal.String() }

// Reactions are what a worker does about signals. All are called from the one goroutine of Watch, and none may be nil.
type Reactions struct {
	Go      func(func()) // starts that goroutine
	Resumed func()       // the process was stopped, and goes on
	AtOnce  func()       // an end in order takes too long for the operator; must not return
}

// Watch returns a context that the first signal from ends cancels (context.Cause is an Ended). An INT that comes more than two seconds after
// it calls AtOnce. stop ends the watch and waits for its goroutine.
func Watch(parent context.Context, ends <-chan os.Signal, do Reactions) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	done, ended := make(chan struct{}), make(chan struct{})
	do.Go(func() {
		defer close(ended)
		var first time.Time
		for {
			select {
			case sig := <-ends:
				if first.IsZero() {
					first = time.Now()
					cancel(Ended{sig})
				} else if sig == unix.SIGINT && time.Since(first) >= patience {
					do.AtOnce()
				}
			case <-continued:
				do.Resumed()
			case <-done:
				return
			}
		}
	})
	return ctx, func() {
		signal.Stop(continued)
		close(done)
		<-ended
		cancel(nil)
	}
}
