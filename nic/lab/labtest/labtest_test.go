package labtest_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"

	"wirespeed/nic/lab/labtest"
)

// plant makes this binary, run again by its own tests, behave in some special way.
const (
	plant  = "WIRESPEED_LABTEST_PLANT"
	refuse = plant + "=refuse"
)

func TestMain(m *testing.M) {
	if os.Getenv(plant) == "refuse" {
		if err := refuseNamespaces(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
	}
	os.Exit(labtest.Main(m))
}

// refuseNamespaces forbids the user namespace that this process was started in to have any below it.
func refuseNamespaces() error {
	uids, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return err
	}
	if strings.HasSuffix(strings.TrimSpace(string(uids)), "4294967295") {
		return errors.New("not in a user namespace of its own: the limit would be the host's")
	}
	for _, kind := range []string{"user", "net"} {
		if err := os.WriteFile("/proc/sys/user/max_"+kind+"_namespaces", []byte("0"), 0); err != nil {
			return err
		}
	}
	return nil
}

// again runs this binary as go test would, from outside of any lab, and returns what it printed and its exit code.
func again(t *testing.T, env []string, attr *syscall.SysProcAttr, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", append([]string{"-test.run=^TestPlanted$"}, args...)...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "WIRESPEED_LABTEST_") && !strings.HasPrefix(v, "NET_TESTS=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// newUser is a user namespace in which the tests may set limits.
func newUser() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
	}
}

// TestPlanted does in the children what its parent tests ask for.
func TestPlanted(t *testing.T) {
	switch os.Getenv(plant) {
	case "fail":
		t.Error("planted")
	case "panic":
		panic("planted")
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func TestMainPassesOn(t *testing.T) {
	const require = "NET_TESTS=require"
	for _, c := range []struct {
		name        string
		env         []string
		args        []string
		code        int
		want, never string
	}{
		{name: "success", code: 0, want: "PASS"},
		{name: "failure", env: []string{plant + "=fail"}, code: 1, want: "labtest_test.go"},
		{name: "panic", env: []string{plant + "=panic"}, code: 2, want: "panic: planted"},
		{name: "death by signal", env: []string{plant + "=kill"}, code: 128 + 9, want: "ended by killed"},
		{name: "flags", args: []string{"-test.v"}, code: 0, want: "--- PASS: TestPlanted"},
		{name: "wrong flag", args: []string{"-nosuch"}, code: 2, want: "-nosuch"},
		{name: "skip is said", env: []string{refuse}, code: 0, want: "SKIP all tests of this package: no user namespaces here"},
		{name: "skip is seen by go test", env: []string{refuse}, code: 0, want: "\ntesting: warning: no tests to run\n"},
		{name: "skip runs nothing", env: []string{refuse}, code: 0, args: []string{"-test.v"}, never: "--- PASS"},
		{name: "required", env: []string{refuse, require}, code: 1, want: "FAIL", never: "PASS"},
		{name: "required and there", env: []string{require}, code: 0, want: "PASS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var attr *syscall.SysProcAttr
			if slices.Contains(c.env, refuse) {
				attr = newUser()
			}
			out, code := again(t, c.env, attr, c.args...)
			if code != c.code || !strings.Contains(out, c.want) || (c.never != "" && strings.Contains(out, c.never)) {
				t.Errorf("exit code %d, want %d; output (wanted %q, never %q):\n%s", code, c.code, c.want, c.never, out)
			}
		})
	}
}

func TestMainWritesProfiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpu")
	if out, code := again(t, nil, nil, "-test.cpuprofile="+file); code != 0 {
		t.Fatal(out)
	}
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		t.Errorf("the child's profile: %v, %v", info, err)
	}
}

func TestOnlyLoopback(t *testing.T) {
	links, err := netlink.LinkList()
	if err != nil {
		t.Fatal(err)
	}
	if len(links) != 1 || links[0].Attrs().Name != "lo" {
		t.Errorf("devices in a fresh lab: %v, want lo alone", links)
	}
}

func TestPairIsDeleted(t *testing.T) {
	t.Run("inner", func(t *testing.T) { labtest.Pair(t, "v0", "v1", 2) })
	if _, err := netlink.LinkByName("v1"); !errors.As(err, &netlink.LinkNotFoundError{}) {
		t.Errorf("v1 after its test: %v, want not found", err)
	}
}

func TestPairDeletedByTheTest(t *testing.T) {
	t.Run("inner", func(t *testing.T) {
		labtest.Pair(t, "v0", "v1", 1)
		link, err := netlink.LinkByName("v0")
		if err == nil {
			err = netlink.LinkDel(link)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzMain(f *testing.F) {
	f.Add("x")
	f.Fuzz(func(t *testing.T, _ string) {
		if os.Getenv("WIRESPEED_LABTEST_ENTERED") == "" {
			t.Error("a fuzz worker is not in the lab")
		}
	})
}
