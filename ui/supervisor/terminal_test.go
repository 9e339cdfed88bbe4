package supervisor_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func after(ms int) <-chan time.Time { return time.After(time.Duration(ms) * time.Millisecond) }

// shell is an interactive bash on a terminal of its own: the jobs, groups and signals of these tests are a real shell's. $S is this binary.
func shell(t *testing.T) *console {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return shellFor(t, self)
}

// shellFor is a shell where $S is program.
func shellFor(t *testing.T, program string, env ...string) *console {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatalf("%v: the tests of job control need a shell that has it", err)
	}
	cmd := exec.Command(bash, "--noprofile", "--norc", "--noediting", "-i")
	cmd.Env = append(append(os.Environ(), "PS1=ready> ", "TERM=screen" /* not asked for its colours, as nobody would answer */, "HISTFILE=", "S="+program), env...)
	c := newConsole(t, cmd)
	c.expect("(ready> )")
	return c
}

// run types the command line that makes this binary a supervisor.
func (c *console) run(as, how, rest string) {
	c.t.Helper()
	c.send(role + "=" + as + " " + what + "='" + how + "' $S " + rest + "\n")
}

// left fails unless the terminal is as the shell had it.
func (c *console) left(before unix.Termios, shellGroup int) {
	c.t.Helper()
	if now := c.settings(); now != before {
		c.t.Errorf("settings are %+v, were %+v", now, before)
	}
	if group := c.foreground(); group != shellGroup {
		c.t.Errorf("the foreground group is %d, not the shell's %d", group, shellGroup)
	}
	all := c.all()
	for _, mode := range []struct{ on, off string }{{"\x1b[?1049h", "\x1b[?1049l"}, {"\x1b[?25l", "\x1b[?25h"}} {
		if strings.LastIndex(all, mode.on) > strings.LastIndex(all, mode.off) {
			c.t.Errorf("%q was not undone in %q", mode.on, all)
		}
	}
	// Once too often would move the cursor of the main screen.
	if strings.Count(all, "\x1b[?1049h") != strings.Count(all, "\x1b[?1049l") {
		c.t.Errorf("the other screen was not left exactly once for each time in %q", all)
	}
}

// suspended waits until the shell has the terminal because the job has stopped.
func (c *console) suspended(before unix.Termios, shellGroup, worker int) {
	c.t.Helper()
	c.expect("(Stopped)")
	c.expect("(ready> )")
	c.left(before, shellGroup)
	if got := state(worker); got != "T" {
		c.t.Errorf("the worker is in state %s, not stopped", got)
	}
}

// status waits for the prompt and asks for the exit code of the last command.
func (c *console) status(want int) {
	c.t.Helper()
	c.expect("(ready> )")
	c.send("echo status=$?\n")
	if got := c.expect(`status=(\d+)`); got != strconv.Itoa(want) {
		c.t.Errorf("exit code %s, want %d", got, want)
	}
	c.expect("(ready> )")
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestConsoleEnds: however the worker ends, the terminal is the shell's again and the code the worker's.
func TestConsoleEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(c *console, worker, supervisor int)
		says string // after the main screen is back
		code int
	}{
		{"q", func(c *console, _, _ int) { c.send("q") }, "Result", 7},
		{"panic", func(c *console, _, _ int) { c.send("p") }, `1049l[^$]*said before\r\npanic: planted`, 2},
		{"kill -9 of the worker", func(c *console, w, _ int) { _ = unix.Kill(w, unix.SIGKILL) }, "1049l[^$]*ended by SIGKILL", 137},
		{"TERM", func(c *console, _, s int) { _ = unix.Kill(s, unix.SIGTERM) }, "END terminated", 0},
		{"HUP of the worker", func(c *console, w, _ int) { _ = unix.Kill(w, unix.SIGHUP) }, "END hangup", 0},
		{"INT of the supervisor", func(c *console, _, s int) { _ = unix.Kill(s, unix.SIGINT) }, "END interrupt", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			sh := shell(t)
			before, group := sh.settings(), sh.foreground()
			sh.run("console", "draw", "")
			worker := number(t, sh.expect(`DRAWN (\d+)`))
			if sh.foreground() != worker {
				t.Errorf("the foreground group is %d, not the worker's %d", sh.foreground(), worker)
			}
			if sh.settings() == before {
				t.Fatal("the worker draws with settings of the shell: this test proves nothing")
			}
			c.end(sh, worker, parent(t, worker))
			sh.expect("(" + c.says + ")")
			sh.status(c.code)
			sh.left(before, group)
		})
	}
}

func parent(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+2:]))
	return number(t, fields[1])
}

func TestSuspend(t *testing.T) {
	for _, c := range []struct {
		name  string
		stop  func(c *console, worker, supervisor int)
		again string
	}{
		{"ctrl+z", func(c *console, _, _ int) { c.send("\x1a") }, "AGAIN"},
		// The worker does not know: settings and screen are the supervisor's to save.
		{"kill -TSTP of the worker", func(c *console, w, _ int) { _ = unix.Kill(w, unix.SIGTSTP) }, "1049h"},
		{"kill -TSTP of the supervisor", func(c *console, _, s int) { _ = unix.Kill(s, unix.SIGTSTP) }, "1049h"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sh := shell(t)
			before, group := sh.settings(), sh.foreground()
			sh.run("console", "draw", "")
			worker := number(t, sh.expect(`DRAWN (\d+)`))
			drawing := sh.settings()
			for range 2 {
				c.stop(sh, worker, parent(t, worker))
				sh.suspended(before, group, worker)
				sh.send("fg\n")
				sh.expect("(" + c.again + ")")
				if !eventually(func() bool { return sh.foreground() == worker && sh.settings() == drawing && state(worker) != "T" }) {
					t.Fatalf("after fg: group %d (worker %d), state %s, settings %+v", sh.foreground(), worker, state(worker), sh.settings())
				}
			}
			sh.send("x")
			sh.expect(`KEY ("x")`)
			sh.send("q")
			sh.status(7)
			sh.left(before, group)
		})
	}
}

// TestSuspendOrphaned: without a shell nobody could continue us, so ctrl+z only blinks.
func TestSuspendOrphaned(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), role+"=console", what+"=draw")
	c := newConsole(t, cmd)
	before := c.settings()
	c.expect(`DRAWN (\d+)`)
	for range 2 {
		c.send("\x1a")
		c.expect("(AGAIN)")
	}
	c.send("q")
	c.expect("(Result)")
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 7 {
		t.Errorf("exit code %d", code)
	}
	if c.settings() != before {
		t.Error("the settings are not as before")
	}
}

func TestBackgroundConsole(t *testing.T) {
	sh := shell(t)
	before, group := sh.settings(), sh.foreground()
	sh.run("console", "draw", "&")
	sh.expect("(ready> )")
	sh.send("wait -n; echo; jobs\n") // bash prints the state of jobs that have stopped
	sh.expect(`(Stopped)`)
	sh.left(before, group)
	sh.send("\nfg\n")
	sh.expect(`DRAWN (\d+)`)
	sh.send("q")
	sh.status(7)
	sh.left(before, group)
}

func TestHeadlessOnATerminal(t *testing.T) {
	t.Run("ctrl+c", func(t *testing.T) {
		sh := shell(t)
		sh.run("outer", "wait", "")
		sh.expect(`READY (\d+)`)
		sh.send("\x03")
		sh.expect("(END interrupt)")
		sh.status(0)
	})
	t.Run("ctrl+z and fg", func(t *testing.T) {
		sh := shell(t)
		before, group := sh.settings(), sh.foreground()
		sh.run("outer", "wait", "")
		worker := number(t, sh.expect(`READY (\d+)`))
		for range 2 {
			sh.send("\x1a")
			sh.suspended(before, group, worker)
			sh.send("fg\n")
			if !eventually(func() bool { return state(worker) != "T" && sh.foreground() != group }) {
				t.Fatalf("after fg the worker is in state %s", state(worker))
			}
		}
		sh.send("\x03")
		sh.expect("(END interrupt)")
		sh.status(0)
	})
	t.Run("pipeline that reads keys", func(t *testing.T) {
		sh := shell(t)
		sh.run("outer", "wait", "| (read key </dev/tty; echo got $key; cat)")
		sh.send("k\n")
		sh.expect("got (k)")
		sh.expect(`READY (\d+)`)
		sh.send("\x03")
		sh.expect("(ready> )")
	})
	t.Run("background", func(t *testing.T) {
		sh := shell(t)
		sh.run("outer", "wait", "&")
		sh.expect(`READY (\d+)`)
		sh.send("kill -TERM %1; wait %1; echo code=$?\n")
		sh.expect("(END terminated)")
		if got := sh.expect(`code=(\d+)`); got != "0" {
			t.Errorf("exit code %s", got)
		}
	})
	t.Run("timeout -s INT", func(t *testing.T) {
		sh := shell(t)
		sh.send(role + "=outer " + what + "=wait timeout -s INT 3 $S\n")
		sh.expect("(END interrupt)")
		sh.status(124)
	})
}

func TestCanSuspend(t *testing.T) {
	t.Run("from a shell", func(t *testing.T) {
		sh := shell(t)
		sh.run("outer", "suspendable", "")
		if got := sh.expect(`SUSPENDABLE (\w+)`); got != "true" {
			t.Error(got)
		}
	})
	t.Run("in a session of its own", func(t *testing.T) {
		out, err := outer("suspendable").Output()
		if err != nil || string(out) != "SUSPENDABLE false\n" {
			t.Errorf("%q, %v", out, err)
		}
	})
}
