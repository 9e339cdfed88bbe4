package supervisor_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// outer prepares this binary as a supervisor without a terminal.
func outer(how string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), role+"=outer", what+"="+how)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		name, how string
		code      int
		stderr    string
	}{
		{"success", "exit 0", 0, ""},
		{"failure", "exit 1", 1, ""},
		{"not permitted", "exit 3", 3, ""},
		{"panic", "panic", 2, "panic: planted"},
		{"panic of a guarded goroutine", "guarded", 2, "put back\npanic: planted"},
		{"trace of a guarded goroutine", "guarded", 2, "deepPanic"},
		{"killed", "die", 137, "wirespeed: the worker process was ended by SIGKILL\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := outer(c.how)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			err := cmd.Run()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if code := cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if !strings.Contains(stderr.String(), c.stderr) || (c.stderr == "") != (stderr.String() == "") {
				t.Errorf("stderr %q, want %q in it", stderr.String(), c.stderr)
			}
		})
	}
}

// running is a supervisor with a worker that has said READY.
type running struct {
	*exec.Cmd
	out    *bufio.Reader
	stderr *strings.Builder
	worker int
}

func start(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r := &running{Cmd: cmd, out: bufio.NewReader(out), stderr: &strings.Builder{}}
	cmd.Stderr = r.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	r.worker, err = strconv.Atoi(strings.TrimPrefix(r.line(t), "READY "))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *running) line(t *testing.T) string {
	t.Helper()
	text, err := r.out.ReadString('\n')
	if err != nil {
		t.Fatalf("%q, %v", text, err)
	}
	return strings.TrimSuffix(text, "\n")
}

func TestSignalsArePassedOn(t *testing.T) {
	for _, c := range []struct {
		sig  unix.Signal
		want string
	}{
		{unix.SIGINT, "END interrupt"},
		{unix.SIGTERM, "END terminated"},
		{unix.SIGHUP, "END hangup"},
	} {
		t.Run(unix.SignalName(c.sig), func(t *testing.T) {
			r := start(t, outer("wait"))
			for _, sig := range []unix.Signal{unix.SIGQUIT, unix.SIGPIPE, c.sig} { // the first two are ignored
				if err := r.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
			}
			if got := r.line(t); got != c.want {
				t.Errorf("the worker says %q, want %q", got, c.want)
			}
			if err := r.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestEarlySignal sends the signal while the worker's program is not yet there to catch it.
func TestEarlySignal(t *testing.T) {
	cmd := outer("sleepy")
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !eventually(func() bool { return len(children(t, cmd.Process.Pid)) == 1 }) {
		t.Fatal("no worker")
	}
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: the worker died of a signal that it was to handle", err)
	}
	if !strings.Contains(out.String(), "END terminated") {
		t.Errorf("the worker said %q", out.String())
	}
}

func TestNohup(t *testing.T) {
	cmd := outer("wait")
	cmd.Args = []string{"nohup", cmd.Path}
	var err error
	if cmd.Path, err = exec.LookPath("nohup"); err != nil {
		t.Fatal(err)
	}
	// /proc/self/exe would be nohup itself.
	if cmd.Args[1], err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	r := start(t, cmd)
	for _, pid := range []int{r.Process.Pid, r.worker} {
		if err := unix.Kill(pid, unix.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := r.line(t); got != "END terminated" {
		t.Errorf("the worker says %q: nohup did not keep SIGHUP away", got)
	}
}

func TestSecondInterrupt(t *testing.T) {
	r := start(t, outer("stuck"))
	interrupt := func() {
		if err := r.Process.Signal(unix.SIGINT); err != nil {
			t.Fatal(err)
		}
	}
	interrupt()
	if got := r.line(t); got != "ended by interrupt" {
		t.Fatalf("the worker says %q", got)
	}
	for _, sig := range []unix.Signal{unix.SIGSTOP, unix.SIGCONT} {
		if err := unix.Kill(r.worker, sig); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.line(t); got != "resumed" {
		t.Errorf("the worker says %q after SIGCONT", got)
	}
	interrupt() // too early: the end in order has its two seconds
	said := make(chan string)
	go func() {
		text, _ := r.out.ReadString('\n')
		said <- text
	}()
	for range 2 {
		select {
		case got := <-said:
			t.Fatalf("the worker says %q before the two seconds are over", got)
		case <-after(1100):
		}
	}
	interrupt()
	if got := <-said; got != "at once\n" {
		t.Errorf("the worker says %q", got)
	}
	_ = r.Wait()
	if code := r.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d", code)
	}
}

func TestWorkerDiesWithSupervisor(t *testing.T) {
	r := start(t, outer("wait"))
	if err := r.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.Wait()
	gone(t, r.worker)
}

// TestStoppedByOthers: a SIGSTOP of the worker alone is none of the terminal's business.
func TestStoppedByOthers(t *testing.T) {
	r := start(t, outer("wait"))
	if err := unix.Kill(r.worker, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if !eventually(func() bool { return state(r.worker) == "T" }) {
		t.Fatal("it does not stop")
	}
	if err := unix.Kill(r.worker, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := r.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := r.line(t); got != "END terminated" {
		t.Errorf("the worker says %q", got)
	}
}

func TestClosedPipeIsAnError(t *testing.T) {
	cmd := outer("pipe")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	w.Close()
	if !eventually(func() bool { return len(children(t, cmd.Process.Pid)) == 1 }) {
		t.Fatal("no worker")
	}
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(stderr)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(string(text), "broken pipe") {
		t.Errorf("the write says %q", text)
	}
}

// state is a process's state as ps shows it, "" where there is none.
func state(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	after := text[strings.LastIndexByte(string(text), ')')+2:]
	return string(after[:1])
}

func children(t *testing.T, pid int) []string {
	t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, task := range tasks { // a thread may have ended meanwhile
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}
