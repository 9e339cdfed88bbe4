package labtest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"wirespeed/nic/lab"
)

const (
	// inside marks the child. Its value names the network namespace that was left, so that a variable that strayed into an environment
	// cannot make tests play with the devices of the host.
	inside = "WIRESPEED_LABTEST_OUTSIDE"
	// require is the variable that turns a skip into a failure when it says "require".
	require = "NET_TESTS"
	// refusedCode is how the child says that it was let in but may do nothing (AppArmor). No exit code of package testing.
	refusedCode = 77
)

// Main runs a package's tests inside private namespaces: TestMain calls it and exits with its result. Tests make their own devices with
// Pair. Where namespaces are refused the tests are skipped with a clear word, unless NET_TESTS=require: then that is a failure.
//
// It starts the test binary again with the same arguments, so all flags, profiles and coverage files are the child's, and passes on its
// exit code and the signals that ask for an end or a stack dump. The child dies with this process.
func Main(m *testing.M) int {
	here, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return failed(err)
	}
	if outside := os.Getenv(inside); outside != "" && outside != here {
		if os.Getenv(entered) == "" { // fuzz workers are children of the child: what was entered is theirs already
			if err := lab.Enter(); errors.Is(err, lab.ErrRefused) {
				return refusedCode
			} else if err != nil {
				return failed(err)
			}
			if err := os.Setenv(entered, "1"); err != nil {
				return failed(err)
			}
		}
		return m.Run()
	}
	code, err := again(here)
	switch {
	case errors.Is(err, lab.ErrRefused) || code == refusedCode:
		return skip(m)
	case err != nil:
		return failed(err)
	}
	return code
}

// entered marks, below the child, that Enter has been called.
const entered = "WIRESPEED_LABTEST_ENTERED"

// again runs this program once more in namespaces of its own and returns its exit code.
func again(outside string) (int, error) {
	// The kernel's parent-death signal follows the thread, not the process (prctl(2)).
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = os.Args
	cmd.Env = append(os.Environ(), inside+"="+outside, entered+"=")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	lab.Command(cmd)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGQUIT, unix.SIGHUP)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 0, lab.StartError(err)
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case sig := <-signals:
				_ = cmd.Process.Signal(sig) // a child that has just ended needs none
			case <-done:
				return
			}
		}
	}()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		fmt.Fprintf(os.Stderr, "labtest: the tests were ended by %v\n", status.Signal())
		return 128 + int(status.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
}

// skip runs no test, and lets package testing say so: go test then prints "[no tests to run]" beside the package.
func skip(m *testing.M) int {
	if os.Getenv(require) == "require" {
		fmt.Fprintf(os.Stderr, "labtest: FAIL: %s=require, and %v\n", require, lab.ErrRefused)
		return 1
	}
	fmt.Fprintf(os.Stderr, "labtest: SKIP all tests of this package: %v\n", lab.ErrRefused)
	flag.Parse()
	if err := flag.Set("test.skip", "."); err != nil {
		return failed(err)
	}
	return m.Run()
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, "labtest: FAIL:", err)
	return 1
}
