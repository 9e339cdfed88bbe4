package supervisor_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// insiders are the processes that are in one of the namespaces, as far as we may look.
func insiders(namespaces ...string) (all []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/ns/*")
	for _, link := range links {
		at, _ := os.Readlink(link)
		for _, ns := range namespaces {
			pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
			if at == ns && state(pid) != "Z" {
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

// gone fails unless a process ends soon. A zombie has ended: what it waits for is process 1 of this machine.
func gone(t *testing.T, pid int) {
	t.Helper()
	if !eventually(func() bool { return state(pid) == "" || state(pid) == "Z" }) {
		t.Errorf("process %d is still there, in state %s", pid, state(pid))
	}
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
		gone(t, worker)
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

// TestFileCapabilities: a binary with capabilities may not be looked into by its own user, and forgets its parent-death signal when it is
// executed; the lab works all the same, and dies with its supervisor.
func TestFileCapabilities(t *testing.T) {
	if os.Geteuid() != 0 || !ownsMachine(t) {
		t.Skip("only root can give a file capabilities")
	}
	capable := filepath.Join(filepath.Dir(program(t)), "wirespeed-cap")
	content, err := os.ReadFile(program(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(capable, content, 0o755); err != nil {
		t.Fatal(err)
	}
	// struct vfs_cap_data, revision 2, effective, permitted: CAP_NET_ADMIN and CAP_NET_RAW (linux/capability.h).
	caps := make([]byte, 20)
	binary.LittleEndian.PutUint32(caps, 0x02000001)
	binary.LittleEndian.PutUint32(caps[4:], 1<<unix.CAP_NET_ADMIN|1<<unix.CAP_NET_RAW)
	if err := unix.Setxattr(capable, "security.capability", caps, 0); err != nil {
		t.Skipf("file capabilities on this file system: %v", err)
	}
	cmd := user{uid: 65534, home: t.TempDir()}.command(t, "run", "--rate", "5kpps", "--interval", "50ms")
	cmd.Path, cmd.Dir = capable, "/"
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err, stderr.String())
	}
	worker := onlyChild(t, cmd.Process.Pid)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	gone(t, worker)
}

// ownsMachine says whether root here is the machine's.
func ownsMachine(t *testing.T) bool {
	t.Helper()
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		t.Fatal(err)
	}
	return strings.HasSuffix(strings.TrimSpace(string(text)), "4294967295")
}

// TestNoNamespaces: where the kernel refuses namespaces there is one line with the way out.
func TestNoNamespaces(t *testing.T) {
	u := user{home: t.TempDir()}
	cmd := u.command(t)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.Args = []string{"sh", "-c", `echo 0 >/proc/sys/user/max_net_namespaces && exec "$0" run --duration 1s`, cmd.Path}
	cmd.Path = "/bin/sh"
	// The limit is that of a user namespace of its own, not the machine's.
	cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
	cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
	cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	_ = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	want := "wirespeed: no user namespaces here (AppArmor?): go build -o wirespeed . && sudo ./wirespeed\n"
	if diff := cmp.Diff(want, stderr.String()); diff != "" {
		t.Errorf("stderr (-want +got):\n%s", diff)
	}
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
		sh.suspended(before, group, worker)
		sh.send("fg\n")
		sh.expect(`\[\?1049h[^$]*(LAB)`)
	}
	sh.send("q")
	sh.status(0)
	sh.left(before, group)
}
