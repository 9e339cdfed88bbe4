package supervisor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// insiders are the processes that are in one of the namespaces, as far as we may look.
func insiders(namespaces ...string) (all []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/ns/*")
	for _, link := range links {
		at, _ := os.Readlink(link)
		for _, ns := range namespaces {
			if at == ns {
				all = append(all, link)
			}
		}
	}
	return all
}

// onlyChild waits for the worker of a supervisor.
func onlyChild(t *testing.T, pid int) int {
	t.Helper()
	var found []string
	if !eventually(func() bool { found = children(t, pid); return len(found) == 1 }) {
		t.Fatalf("children of %d: %v", pid, found)
	}
	return number(t, found[0])
}

// TestKillOuter: nothing is left of a lab whose supervisor is killed.
func TestKillOuter(t *testing.T) {
	asEachUser(t, func(t *testing.T, u user) {
		before := tree(t, u.home)
		cmd := u.command(t, "run", "--rate", "5kpps", "--interval", "50ms")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil { // it sends
			t.Fatal(err)
		}
		worker := onlyChild(t, cmd.Process.Pid)
		var namespaces []string
		for _, kind := range []string{"net", "mnt", "user"} {
			ns, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", worker, kind))
			own, ownErr := os.Readlink("/proc/self/ns/" + kind)
			if err != nil || ownErr != nil {
				t.Fatal(err, ownErr)
			}
			if ns == own && (kind != "user" || u.uid != 0) {
				t.Errorf("the lab is in our own %s namespace", kind)
			}
			if ns != own {
				namespaces = append(namespaces, ns)
			}
		}
		if len(insiders(namespaces...)) == 0 {
			t.Fatal("nobody is in the lab: this test proves nothing")
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if !eventually(func() bool { return state(worker) == "" }) {
			t.Errorf("the worker is still there, in state %s", state(worker))
		}
		if left := insiders(namespaces...); len(left) > 0 {
			t.Errorf("still in the lab: %v", left)
		}
		// A namespace without processes lives on only where it is mounted.
		mounts, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil {
			t.Fatal(err)
		}
		for _, ns := range namespaces {
			if strings.Contains(string(mounts), ns) {
				t.Errorf("%s is mounted", ns)
			}
		}
		if after := tree(t, u.home); after != before {
			t.Errorf("files left: %s", after)
		}
	})
}

// tree lists all files below a folder.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

// TestSeenFromOutside: the rings are mapped, and each queue has a thread that is pinned to one CPU.
func TestSeenFromOutside(t *testing.T) {
	asEachUser(t, func(t *testing.T, u user) {
		cmd := u.command(t, "run", "--rate", "5kpps", "--interval", "50ms", "--queues", "2")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		worker := onlyChild(t, cmd.Process.Pid)
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", worker))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(maps), "socket:["); n < 2 {
			t.Errorf("%d packet sockets are mapped, want one for each of two queues", n)
		}
		one := regexp.MustCompile(`(?m)^Cpus_allowed_list:\t\d+$`)
		pinned := 0
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", worker))
		for _, file := range tasks {
			text, _ := os.ReadFile(file) // a thread may have ended
			if one.Match(text) {
				pinned++
			}
		}
		if own, _ := os.ReadFile("/proc/self/status"); one.Match(own) {
			t.Fatal("this machine lets us use one CPU only: pinned threads cannot be told from others")
		}
		if pinned != 2 {
			t.Errorf("%d threads are pinned to one CPU, want 2", pinned)
		}
	})
}

// TestConsole goes through the console's ends on a real terminal. What the screen shows is the console's own business.
func TestConsole(t *testing.T) {
	for _, c := range []struct {
		name string
		env  string
		end  func(c *console, worker, supervisor int)
		says string
		code int
	}{
		{"q", "", func(c *console, _, _ int) { c.send("q") }, `1049l[^$]*(Result: OK: )`, 0},
		{"ctrl+c", "", func(c *console, _, _ int) { c.send("\x03") }, `1049l[^$]*(Result: OK: )`, 0},
		{"TERM", "", func(_ *console, _, s int) { _ = unix.Kill(s, unix.SIGTERM) }, `1049l[^$]*(Result: OK: )`, 0},
		{"kill -9 of the worker", "", func(_ *console, w, _ int) { _ = unix.Kill(w, unix.SIGKILL) }, `1049l[^$]*(ended by SIGKILL)`, 137},
		{"planted panic", "WIRESPEED_PLANT=panic", func(*console, int, int) {}, `1049l[^$]*(panic: planted by WIRESPEED_PLANT)`, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			sh := shellFor(t, program(t), "HOME="+t.TempDir())
			before, group := sh.settings(), sh.foreground()
			sh.send(c.env + " $S\n")
			sh.expect(`(\[\?1049h)`)
			sh.expect(`(LAB)`)
			worker := sh.foreground()
			c.end(sh, worker, parent(t, worker))
			sh.expect(c.says)
			sh.status(c.code)
			sh.left(before, group)
		})
	}
}

func TestConsoleSuspends(t *testing.T) {
	sh := shellFor(t, program(t), "HOME="+t.TempDir())
	before, group := sh.settings(), sh.foreground()
	sh.send("$S\n")
	sh.expect(`(LAB)`)
	worker := sh.foreground()
	for range 2 {
		sh.send("\x1a")
		sh.expect("(Stopped)")
		sh.expect("(ready> )")
		sh.left(before, group)
		if got := state(worker); got != "T" {
			t.Errorf("the worker is in state %s, not stopped", got)
		}
		sh.send("fg\n")
		sh.expect(`\[\?1049h[^$]*(LAB)`)
	}
	sh.send("q")
	sh.status(0)
	sh.left(before, group)
}
