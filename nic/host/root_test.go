package host

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// tree makes a root of files; one whose content is "denied" may not be read.
func tree(files map[string]string) Root {
	t := make(fstest.MapFS)
	for name, content := range files {
		t[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return Root{deny{t}}
}

type deny struct{ fstest.MapFS }

func (d deny) ReadFile(name string) ([]byte, error) {
	b, err := d.MapFS.ReadFile(name)
	if string(b) == "denied" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return b, err
}

func TestParseList(t *testing.T) {
	for in, want := range map[string]string{
		"0-3,8": "0-3,8", "": "", "(null)": "", "3\n": "3", "8,0-1,1": "0-1,8", "0,1,2": "0-2", "0,2": "0,2", "65535": "65535",
	} {
		got, err := ParseList(in)
		if err != nil || FormatList(got) != want {
			t.Errorf("%q: %v, %v; want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"x", "1-", "-1", "3-1", "0-65536", "1,,2", "+1", "0-9999999999"} {
		if got, err := ParseList(in); err == nil {
			t.Errorf("%q: %v, want an error", in, got)
		}
	}
}

// TestErrors: what may not be read and what is not there are told apart, in one line that names the file.
func TestErrors(t *testing.T) {
	r := tree(map[string]string{"proc/cmdline": "denied", "proc/x": "many"})
	if _, err := r.BootParams(); !errors.Is(err, fs.ErrPermission) || err.Error() != "/proc/cmdline: permission denied" {
		t.Error(err)
	}
	if _, err := r.Clock(); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "open") {
		t.Error(err)
	}
	if _, err := r.Int("proc/x"); err == nil || err.Error() != `/proc/x: "many" is no number` {
		t.Error(err)
	}
}

// TestLive holds this machine's files against what the kernel says otherwise.
func TestLive(t *testing.T) {
	r := Live()
	online, err := r.Online()
	must(t, err)
	mine, err := CPUs()
	must(t, err)
	for _, cpu := range mine {
		if !slices.Contains(online, cpu) {
			t.Errorf("we may use CPU %d, online are %v", cpu, online)
		}
	}
	list, _, err := r.Processes()
	must(t, err)
	self := false
	for _, p := range list {
		self = self || p.PID == os.Getpid() && p.Name != ""
	}
	if !self {
		t.Errorf("process %d is not among %d", os.Getpid(), len(list))
	}
	if _, err := r.PacketSockets(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestCPUFiles(t *testing.T) {
	const cpu = "sys/devices/system/cpu/"
	r := tree(map[string]string{
		cpu + "cpu0/cpufreq/scaling_governor":             "powersave\n",
		cpu + "cpu0/topology/thread_siblings_list":        "0,2\n",
		cpu + "intel_pstate/no_turbo":                     "0\n",
		cpu + "cpu0/cpuidle/state0/name":                  "POLL",
		cpu + "cpu0/cpuidle/state0/latency":               "0",
		cpu + "cpu0/cpuidle/state0/disable":               "0",
		cpu + "cpu0/cpuidle/state1/name":                  "C1E",
		cpu + "cpu0/cpuidle/state1/latency":               "10",
		cpu + "cpu0/cpuidle/state1/disable":               "0",
		cpu + "cpu0/cpuidle/state2/name":                  "C6",
		cpu + "cpu0/cpuidle/state2/latency":               "133",
		cpu + "cpu0/cpuidle/state2/disable":               "1",
		"sys/devices/system/node/node0/cpulist":           "0-1\n",
		"sys/devices/system/node/node1/cpulist":           "2-3\n",
		"sys/devices/system/node/possible":                "0-1\n",
		"proc/cpuinfo":                                    "processor : 0\nflags\t\t: fpu tsc hypervisor lahf_lm\n",
		"sys/class/dmi/id/sys_vendor":                     "VMware, Inc.\n",
		"sys/bus/pci/devices/0000:03:00.0/numa_node":      "1\n",
		cpu + "vulnerabilities/meltdown":                  "Mitigation: PTI\n",
		cpu + "vulnerabilities/spectre_v1":                "Mitigation: usercopy/swapgs barriers\n",
		cpu + "vulnerabilities/spectre_v2":                "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional\n",
		cpu + "vulnerabilities/mds":                       "Vulnerable\n",
		cpu + "vulnerabilities/retbleed":                  "Mitigation: untrained return thunk; SMT vulnerable\n",
		"sys/bus/pci/devices/0000:03:00.0/max_link_speed": "8.0 GT/s PCIe\n", "sys/bus/pci/devices/0000:03:00.0/max_link_width": "8\n",
		"sys/bus/pci/devices/0000:03:00.0/current_link_speed": "2.5 GT/s PCIe\n", "sys/bus/pci/devices/0000:03:00.0/current_link_width": "4\n",
	})
	governors, err := r.Governors([]int{0, 1})
	if diff := cmp.Diff(map[int]string{0: "powersave", 1: ""}, governors); diff != "" || err != nil {
		t.Errorf("governors %v\n%s", err, diff)
	}
	if s, err := r.Siblings(0); err != nil || FormatList(s) != "0,2" {
		t.Errorf("siblings %v, %v", s, err)
	}
	if on, file, off, err := r.Turbo(); !on || file != "/"+cpu+"intel_pstate/no_turbo" || off != "1" || err != nil {
		t.Errorf("turbo %v %s %s %v", on, file, off, err)
	}
	if s, err := r.DeepestIdle(0); err != nil || s != (IdleState{"C1E", 10 * time.Microsecond}) {
		t.Errorf("idle %v, %v", s, err)
	}
	nodes, err := r.Nodes()
	if diff := cmp.Diff(map[int]int{0: 0, 1: 0, 2: 1, 3: 1}, nodes); diff != "" || err != nil {
		t.Errorf("nodes %v\n%s", err, diff)
	}
	if h, err := r.Hypervisor(); err != nil || h != "VMware" {
		t.Errorf("hypervisor %q, %v", h, err)
	}
	mitigations, err := r.Mitigations()
	if diff := cmp.Diff([]string{"meltdown PTI", "retbleed untrained return thunk"}, mitigations); diff != "" || err != nil {
		t.Errorf("mitigations %v\n%s", err, diff)
	}
	p, err := r.PCIe("0000:03:00.0")
	if err != nil || p != (PCIe{2.5, 8, 4, 8}) || p.Rate() != 8e9 || int(p.MaxRate()/1e9) != 63 {
		t.Errorf("PCIe %+v %v: %g %g", p, err, p.Rate(), p.MaxRate())
	}
	if h, err := tree(map[string]string{"proc/cpuinfo": "flags : fpu\n", "sys/class/dmi/id/sys_vendor": "Dell Inc."}).Hypervisor(); err != nil || h != "" {
		t.Errorf("bare metal is %q, %v", h, err)
	}
	if on, file, _, err := tree(map[string]string{cpu + "cpufreq/boost": "1"}).Turbo(); !on || err != nil || file != "/"+cpu+"cpufreq/boost" {
		t.Errorf("boost %v %s %v", on, file, err)
	}
}

func TestKernelFiles(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err := w.Write([]byte("# comment\nCONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=m\nCONFIG_D=n\nCONFIG_HZ=250\n"))
	must(t, errors.Join(err, w.Close()))
	want := Config{"A": "y", "C": "m", "HZ": "250"}
	for name, files := range map[string]map[string]string{
		"/proc/config.gz":  {"proc/config.gz": z.String(), "proc/sys/kernel/osrelease": "6.1"},
		"/boot/config-6.1": {"boot/config-6.1": "CONFIG_A=y\nCONFIG_C=m\nCONFIG_HZ=250\n", "proc/sys/kernel/osrelease": "6.1\n"},
	} {
		c, source, err := tree(files).Config()
		if diff := cmp.Diff(want, c); diff != "" || err != nil || source != name {
			t.Errorf("%s: %v from %s\n%s", name, err, source, diff)
		}
	}
	if _, _, err := tree(map[string]string{"proc/sys/kernel/osrelease": "6.1"}).Config(); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, _, err := tree(map[string]string{"proc/sys/kernel/osrelease": "6.1", "boot/config-6.1": "denied"}).Config(); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}

	r := tree(map[string]string{
		"proc/kallsyms":                                 "ffffffff81000000 T _stext\n0000000000000000 t lock_acquire_x\n0000000000000000 t igb_open\t[igb]\n",
		"proc/modules":                                  "igb 311296 0 - Live 0x0\nnf_tables 1 2 - Live 0x0\n",
		"sys/kernel/tracing/current_tracer":             "nop\n",
		"sys/kernel/tracing/set_event":                  "net:netif_rx\nnet:net_dev_xmit\n",
		"sys/kernel/tracing/instances/a/set_event":      "",
		"sys/kernel/tracing/instances/a/current_tracer": "function\n",
		"sys/kernel/slab/kmalloc-2k/poison":             "1\n",
		"sys/kernel/slab/kmalloc-2k/trace":              "0\n",
	})
	found, err := r.Symbols("lock_acquire", "igb_open", "_stext")
	if diff := cmp.Diff(map[string]bool{"igb_open": true, "_stext": true}, found); diff != "" || err != nil {
		t.Errorf("symbols %v\n%s", err, diff)
	}
	for name, want := range map[string]bool{"igb": true, "nf-tables": true, "ig": false} {
		if in, err := r.Loaded(name); in != want || err != nil {
			t.Errorf("module %s: %v, %v", name, in, err)
		}
	}
	trace, err := r.Tracing()
	if diff := cmp.Diff(Tracing{[]string{"function"}, []string{"net:netif_rx", "net:net_dev_xmit"}, "/sys/kernel/tracing"}, trace); diff != "" || err != nil {
		t.Errorf("tracing %v\n%s", err, diff)
	}
	old := tree(map[string]string{"sys/kernel/debug/tracing/current_tracer": "wakeup", "sys/kernel/debug/tracing/set_event": ""})
	if trace, err := old.Tracing(); err != nil || trace.Dir != "/sys/kernel/debug/tracing" || len(trace.Tracers) != 1 {
		t.Errorf("tracing of old: %+v, %v", trace, err)
	}
	if on, err := r.SlabDebug(); err != nil || len(on) != 1 || on[0] != "poison" {
		t.Errorf("slab %v, %v", on, err)
	}
	if v, found := Param([]string{"a=1", "slab-debug=P", "slab_debug=-"}, "slub_debug", "slab_debug"); !found || v != "-" {
		t.Errorf("the last of two parameters: %q, %v", v, found)
	}
}

func TestGroup(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  Group
	}{
		{"none", map[string]string{}, Group{}},
		{"root", map[string]string{"proc/self/cgroup": "0::/\n"}, Group{}},
		{
			"the tightest on the way up, version 2",
			map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "50000 100000\n", "sys/fs/cgroup/a/b/cpu.max": "max 100000\n"},
			Group{"/a/b", 0.5, "/sys/fs/cgroup/a/cpu.max"},
		},
		{
			"controller on above only",
			map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "max 100000\n"},
			Group{Path: "/a"},
		},
		{
			"a container's root",
			map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "200000 100000\n"},
			Group{"/", 2, "/sys/fs/cgroup/cpu.max"},
		},
		{
			"version 1",
			map[string]string{
				"proc/self/cgroup": "3:cpuacct,cpu:/x\n0::/y\n",
				"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us":  "150000\n",
				"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us": "100000\n",
			},
			Group{"/x", 1.5, "/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us"},
		},
		{"version 1, root", map[string]string{"proc/self/cgroup": "3:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n"}, Group{}},
	} {
		got, err := tree(c.files).Group()
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, diff)
		}
	}
	if g, err := tree(map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "5 0"}).Group(); err == nil {
		t.Errorf("a period of 0: %+v", g)
	}
}

func TestProcessesAndSockets(t *testing.T) {
	const rest = " S 0 0 0 0 -1 4194560 0 0 0 0 3 4 0 0 20 0 1 0 51 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0"
	r := tree(map[string]string{
		"proc/2/stat": "2 (kthreadd)" + rest, "proc/70/stat": "70 (a (b) c)" + rest, "proc/uptime": "1 1",
		"proc/71/stat": "71 (exe)" + rest, "proc/71/cmdline": "./wirespeed\x00run\x00",
		"proc/net/packet": "sk       RefCnt Type Proto  Iface R Rmem   User   Inode\n00000000 3      3    0003   2     1 0      0      4711\n00000000 3      2    88cc   0     0 0      0      4712\n",
	})
	list, all, err := r.Processes()
	want := []Process{{2, "kthreadd", 1, 70 * time.Millisecond}, {70, "a (b) c", 1, 70 * time.Millisecond}, {71, "wirespeed", 1, 70 * time.Millisecond}}
	if diff := cmp.Diff(want, list); diff != "" || err != nil || !all {
		t.Errorf("processes %v, all %v\n%s", err, all, diff)
	}
	sockets, err := r.PacketSockets()
	if diff := cmp.Diff([]PacketSocket{{3, 2, true, 4711}, {0x88cc, 0, false, 4712}}, sockets); diff != "" || err != nil {
		t.Errorf("sockets %v\n%s", err, diff)
	}
	r.FS.(deny).MapFS["proc/70/fd/3"] = &fstest.MapFile{Data: []byte("socket:[4711]"), Mode: fs.ModeSymlink | 0o777}
	owners, err := r.Owners(map[uint64]bool{4711: true})
	if err != nil || owners[4711].PID != 70 || len(owners) != 1 {
		t.Errorf("owners %v, %v", owners, err)
	}
	if _, all, err := tree(map[string]string{"proc/2/stat": "2 (sh)" + rest}).Processes(); err != nil || all {
		t.Errorf("a container: all %v, %v", all, err)
	}
}

func FuzzList(f *testing.F) {
	for _, s := range []string{"0-3,8", "", "(null)", "3-1", "1,,2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list, err := ParseList(s)
		if err != nil {
			return
		}
		again, err := ParseList(FormatList(list))
		if diff := cmp.Diff(list, again); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", s, err, diff)
		}
	})
}

func FuzzFiles(f *testing.F) {
	for _, file := range []string{"/proc/self/stat", "/proc/net/packet", "/proc/self/cgroup", "/proc/config.gz"} {
		if b, err := os.ReadFile(file); err == nil {
			f.Add(b)
		}
	}
	f.Add([]byte("CONFIG_A=y\n"))
	f.Add([]byte("8.0 GT/s PCIe"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := string(b)
		if p, err := parseProcess(s); err == nil && (p.PID < 0 || p.Used < 0 || p.CPU < 0) {
			t.Errorf("%q: %+v", s, p)
		}
		if list, err := parsePacket(s); err == nil {
			for _, p := range list {
				if p.Index < 0 || p.Protocol < 0 || p.Protocol > 0xffff {
					t.Errorf("%q: %+v", s, p)
				}
			}
		}
		if gt, err := parseTransfers(s); err == nil && !(gt > 0) {
			t.Errorf("%q: %g", s, gt)
		}
		if c, err := parseConfigFile(b); err == nil && len(c) == 0 {
			t.Errorf("%q: no options and no error", s)
		}
		if c, _, err := ratio("x", s, s); err == nil && c != 1 && c != 0 {
			t.Errorf("%q: %g", s, c)
		}
		_, _, _ = parseCgroup(s)
		_ = costly("meltdown", s)
		_ = costly("spectre_v2", s)
	})
}
