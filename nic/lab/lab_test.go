package lab_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"wirespeed/nic/lab"
	"wirespeed/nic/lab/labtest"
)

// role tells a re-execution of the test binary what to be.
const role = "WIRESPEED_LAB_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "outer":
		os.Exit(outer())
	case "inner":
		os.Exit(inner())
	case "powerless":
		os.Exit(powerless())
	}
	os.Exit(labtest.Main(m))
}

// facts are what the inner process saw of its lab.
type facts struct {
	UID        int
	Net, Mnt   string
	Links, Sys []string
	TxQueues   int
	States     []string
}

// outer is a program that starts itself in a lab, as main does.
func outer() int {
	runtime.LockOSThread()
	cmd := self("inner")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	lab.Command(cmd)
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "outer:", lab.StartError(err))
		return 1
	}
	return 0
}

// inner is the same program inside.
func inner() int {
	f, err := look()
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "inner:", err)
		return 1
	}
	return 0
}

func look() (f facts, err error) {
	if err := lab.Enter(); err != nil {
		return f, err
	}
	if err := lab.Pair(lab.Sender, lab.Receiver, 3); err != nil {
		return f, err
	}
	f.UID = os.Getuid()
	f.Net, _ = os.Readlink("/proc/self/ns/net")
	f.Mnt, _ = os.Readlink("/proc/self/ns/mnt")
	links, err := netlink.LinkList()
	if err != nil {
		return f, err
	}
	for _, l := range links {
		addrs, err := netlink.AddrList(l, netlink.FAMILY_ALL)
		if err != nil {
			return f, err
		}
		f.Links = append(f.Links, fmt.Sprintf("%s addresses:%d", l.Attrs().Name, len(addrs)))
		f.States = append(f.States, l.Attrs().OperState.String())
	}
	f.Sys, err = sysClassNet()
	if err != nil {
		return f, err
	}
	tx, err := filepath.Glob("/sys/class/net/v0/queues/tx-*")
	f.TxQueues = len(tx)
	return f, err
}

// powerless is a process that a security module let into a namespace and robbed of its rights.
func powerless() int {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	runtime.LockOSThread()
	if err := unix.Capset(&hdr, &none[0]); err != nil {
		fmt.Println("capset:", err)
		return 1
	}
	err := lab.Enter()
	fmt.Printf("%t %v", errors.Is(err, lab.ErrRefused), err)
	return 0
}

func self(as string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), role+"="+as)
	return cmd
}

func sysClassNet() ([]string, error) {
	entries, err := os.ReadDir("/sys/class/net")
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// isRoot says whether the test runs as the machine's root, not as another user that the lab calls root.
func isRoot(t *testing.T) bool {
	t.Helper()
	uids, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		t.Fatal(err)
	}
	return len(strings.Fields(string(uids))) == 3 && strings.Fields(string(uids))[2] == "4294967295"
}

func TestLab(t *testing.T) {
	outside, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	outsideMnt, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		t.Fatal(err)
	}
	for _, as := range []struct {
		name   string
		uid    uint32
		isRoot bool // needs to be root to become it
	}{
		{name: "as ourselves"},
		{name: "as nobody", uid: 65534, isRoot: true},
	} {
		t.Run(as.name, func(t *testing.T) {
			cmd := self("outer")
			if as.uid != 0 {
				if !isRoot(t) {
					t.Log("not root: the whole test runs as another user, and the first case has shown it")
					return
				}
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: as.uid, Gid: as.uid}}
			}
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, stderr.String())
			}
			var got facts
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%v in %q", err, out)
			}
			if got.Net == outside || got.Net == "" || got.Mnt == outsideMnt || got.Mnt == "" {
				t.Errorf("namespaces inside: %s and %s, outside: %s and %s", got.Net, got.Mnt, outside, outsideMnt)
			}
			got.Net, got.Mnt = "", ""
			want := facts{
				Links:    []string{"lo addresses:0", "v1 addresses:0", "v0 addresses:0"},
				States:   []string{"down", "up", "up"},
				Sys:      []string{"lo", "v0", "v1"},
				TxQueues: 3,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the lab (-want +got):\n%s", diff)
			}
		})
	}
	after, err := netlink.LinkList()
	if err != nil {
		t.Fatal(err)
	}
	if len(after) != 1 {
		t.Errorf("%d devices are here after the labs are gone, want lo alone", len(after))
	}
}

func TestEnterWithoutRights(t *testing.T) {
	out, err := self("powerless").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := "true no user namespaces here (AppArmor?): go build -o wirespeed . && sudo ./wirespeed"
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Errorf("what the operator reads (-want +got):\n%s", diff)
	}
}

func TestStartError(t *testing.T) {
	for _, c := range []struct {
		name    string
		err     error
		refused bool
	}{
		{"seccomp of a container", fmt.Errorf("fork/exec: %w", unix.EPERM), true},
		{"user.max_user_namespaces is 0", fmt.Errorf("fork/exec: %w", unix.ENOSPC), true},
		{"kernel without user namespaces", unix.EINVAL, true},
		{"no memory", unix.ENOMEM, false},
		{"program gone", unix.ENOENT, false},
		{"none", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := lab.StartError(c.err)
			if errors.Is(got, lab.ErrRefused) != c.refused || !errors.Is(got, c.err) {
				t.Errorf("StartError(%v) = %v", c.err, got)
			}
		})
	}
}

// TestQuiet counts what a fresh pair sends by itself. A second pair, with IPv6 on, shows that the count would see something.
func TestQuiet(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	noisy := netlink.NewLinkAttrs()
	noisy.Name = "n0"
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: noisy, PeerName: "n1", PeerTxQLen: -1}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lab.Delete("n0") })
	for _, name := range []string{"n0", "n1"} {
		file := "/proc/sys/net/ipv6/conf/" + name + "/disable_ipv6"
		if err := os.WriteFile(file, []byte("0"), 0); errors.Is(err, os.ErrNotExist) {
			t.Skip("this kernel has no IPv6")
		} else if err != nil {
			t.Fatal(err)
		}
		link, err := netlink.LinkByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := netlink.LinkSetUp(link); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(2 * time.Second)
	for _, name := range []string{"v0", "v1"} {
		if got := sent(t, name); got != 0 {
			t.Errorf("%s sent %d frames that are not ours", name, got)
		}
	}
	if got := sent(t, "n0"); got == 0 {
		t.Error("a pair with IPv6 sent nothing either: this test proves nothing")
	}
}

func sent(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile("/sys/class/net/" + name + "/statistics/tx_packets")
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPairFailsWhole(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	if err := lab.Pair("w0", "v1", 1); err == nil {
		t.Fatal("a pair whose second name is taken was made")
	}
	if _, err := os.Stat("/sys/class/net/w0"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("w0 is left behind: %v", err)
	}
	if err := lab.Delete("w0"); err != nil {
		t.Errorf("delete what does not exist: %v", err)
	}
}
