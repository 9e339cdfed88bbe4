package nic

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"

	"wirespeed/nic/lab/labtest"
)

// state is all that ethtool, ip, tc and the files of queues and interrupts show of a device's settings, by where it was read.
func state(t testing.TB, dev string) map[string]string {
	t.Helper()
	m := make(map[string]string)
	for _, words := range []string{
		"ethtool -a", "ethtool -g", "ethtool -c", "ethtool -l", "ethtool -k", "ethtool --show-priv-flags", "ip -d link show", "tc qdisc show dev",
	} {
		args := append(strings.Fields(words), dev)
		if _, err := exec.LookPath(args[0]); err != nil {
			t.Skipf("no %s here to compare with", args[0])
		}
		out, _ := exec.Command(args[0], args[1:]...).CombinedOutput() // "not supported" is an answer
		m[words] = string(out)
	}
	for _, pattern := range []string{"queues/tx-*/xps_cpus", "queues/tx-*/byte_queue_limits/limit_m*"} {
		files, err := filepath.Glob("/sys/class/net/" + dev + "/" + pattern)
		must(t, err)
		for _, f := range files {
			b, _ := os.ReadFile(f) // xps_cpus of one queue cannot be read
			m[f] = string(b)
		}
	}
	// By the interrupt's name: a driver that opens anew may get other numbers.
	dirs, err := filepath.Glob("/proc/irq/*/*" + dev + "*")
	must(t, err)
	virtio, err := filepath.Glob("/proc/irq/*/virtio*put*")
	must(t, err)
	for _, dir := range append(dirs, virtio...) {
		b, err := os.ReadFile(filepath.Dir(dir) + "/smp_affinity_list")
		must(t, err)
		m["smp_affinity_list of "+filepath.Base(dir)] = string(b)
	}
	return m
}

func setting(t testing.TB, d *Device, name string) Setting {
	t.Helper()
	s, err := d.Setting(name)
	must(t, err)
	return s
}

func TestSettingsOfVeth(t *testing.T) {
	labtest.Pair(t, "s0", "s1", 2)
	d := open(t, "s0")
	for name, want := range map[string]string{
		"pause":             "veth has no pause frames",
		"rings.tx":          "veth has no rings to set",
		"coalesce.rx-usecs": "veth has no interrupt coalescing",
		"irq[1]":            "veth has no interrupts of its own",
		"feature.rx-lro":    "veth does not let rx-lro be changed",
	} {
		s := setting(t, d, name)
		if s.Why != want {
			t.Errorf("%s: why %q, want %q", name, s.Why, want)
		}
		if _, err := s.Write("1"); !errors.Is(err, ErrNotSupported) && !errors.Is(err, ErrValue) {
			t.Errorf("%s: written: %v", name, err)
		}
	}
	for _, name := range []string{"nosuch", "priv.blueflame", "xps[2]", "feature.nosuch"} {
		if s, err := d.Setting(name); !errors.Is(err, ErrNotSupported) {
			t.Errorf("%s: %+v, %v; want not supported", name, s, err)
		}
	}
	names := make(map[string]bool)
	for _, s := range d.Settings() {
		if names[s.Name] {
			t.Errorf("%s is there twice", s.Name)
		}
		names[s.Name] = true
		if s.Help == "" || s.Group == "" || s.Why == "" && s.Range == "" {
			t.Errorf("%s: help, group or range is missing: %+v", s.Name, s)
		}
		if text, err := s.Read(); s.Why == "" && (err != nil || text == "") {
			t.Errorf("%s: %q, %v", s.Name, text, err)
		}
	}
}

// TestSettingsAreWhatToolsSay writes settings and asks another program what they are.
func TestSettingsAreWhatToolsSay(t *testing.T) {
	labtest.Pair(t, "s0", "s1", 2)
	d := open(t, "s0")
	for _, c := range []struct{ name, write, now, tool, want string }{
		{"mtu", "1400", "1400", "ip link show s0", " mtu 1400 "},
		{"txqueuelen", "77", "77", "ip link show s0", " qlen 77"},
		{"channels", "1", "rx 1 tx 1", "ethtool -l s0", "TX:\t\t1\n"},
		{"channels", "tx 2", "rx 1 tx 2", "ethtool -l s0", "TX:\t\t2\n"},
		{"feature.tx-udp-segmentation", "off", "off", "ethtool -k s0", "tx-udp-segmentation: off\n"},
		{"qdisc", "pfifo limit 17", "pfifo limit 17", "tc qdisc show dev s0", "pfifo 7e5d: root refcnt 3 limit 17p"},
		{"qdisc", "pfifo limit 18", "pfifo limit 18", "tc qdisc show dev s0", "limit 18p"},
		{"qdisc", "bfifo limit 20000", "bfifo limit 20000", "tc qdisc show dev s0", "limit 20000b"},
		{"qdisc", "pfifo_fast", "pfifo_fast", "tc qdisc show dev s0", "pfifo_fast"},
		{"qdisc", "mq", "mq", "tc qdisc show dev s0", "qdisc mq 7e5d: root"},
		{"qdisc", "noqueue", "noqueue", "tc qdisc show dev s0", "qdisc noqueue 7e5d: root"},
		{"qdisc", "tbf rate 100Mbit burst 16000 limit 40000 overhead 24 mpu 84", "tbf rate 100Mbit burst 16000 limit 40000 overhead 24 mpu 84", "tc qdisc show dev s0", "overhead 24"},
		{"qdisc", "tbf rate 100Mbit burst 16000 limit 40000", "tbf rate 100Mbit burst 16000 limit 40000", "tc qdisc show dev s0", "rate 100Mbit burst 16000b lat 1"},
		{"qdisc", "htb rate 300Mbit", "htb rate 300Mbit", "tc class show dev s0", "rate 300Mbit ceil 300Mbit"},
		{"qdisc", "fq_codel limit 99 target 7ms", "", "tc qdisc show dev s0", "limit 99p flows 1024"},
		{"qdisc", "fq limit 99 maxrate 8Mbit", "", "tc qdisc show dev s0", "maxrate 8Mbit"},
		{"qdisc", "default", "default (noqueue)", "tc qdisc show dev s0", "qdisc noqueue 0: root"},
	} {
		s := setting(t, d, c.name)
		now, err := s.Write(c.write)
		if errors.Is(err, ErrNotSupported) && strings.HasPrefix(err.Error(), "qdisc of s0: this kernel has no ") {
			t.Logf("%v", err)
			continue
		}
		must(t, err)
		if c.now != "" && now != c.now {
			t.Errorf("%s %s: is now %q, want %q", c.name, c.write, now, c.now)
		}
		if out := tool(t, c.tool); !strings.Contains(out, c.want) {
			t.Errorf("%s %s: %s says %s, want %q", c.name, c.write, c.tool, out, c.want)
		}
		// What was read can be written.
		must(t, setting(t, d, c.name).Check(now))
		if again, err := setting(t, d, c.name).Write(now); err != nil || again != now {
			t.Errorf("%s: %q written again is %q, %v", c.name, now, again, err)
		}
	}
}

func TestSettingRefuses(t *testing.T) {
	labtest.Pair(t, "s0", "s1", 2)
	d := open(t, "s0")
	before := state(t, "s0")
	for _, c := range []struct{ name, text string }{
		{"mtu", "67"},
		{"mtu", "many"},
		{"mtu", "-1"},
		{"mtu", ""},
		{"channels", "3"},
		{"channels", "0"},
		{"channels", "combined 1"},
		{"channels", "rx"},
		{"feature.tx-udp-segmentation", "yes"},
		{"qdisc", ""},
		{"qdisc", "nosuch"},
		{"qdisc", "pfifo limit"},
		{"qdisc", "pfifo limit 0"},
		{"qdisc", "pfifo limit 1 limit 2"},
		{"qdisc", "tbf"},
		{"qdisc", "tbf rate 1Mbit overhead 65536"},
		{"qdisc", "tbf rate 100"},
		{"qdisc", "htb rate 1e9bit"},
		{"qdisc", "mq limit 3"},
	} {
		if err := setting(t, d, c.name).Check(c.text); !errors.Is(err, ErrValue) {
			t.Errorf("%s %q: checked: %v; want ErrValue", c.name, c.text, err)
		}
		if now, err := setting(t, d, c.name).Write(c.text); !errors.Is(err, ErrValue) {
			t.Errorf("%s %q: %q, %v; want ErrValue", c.name, c.text, now, err)
		}
	}
	if diff := cmp.Diff(before, state(t, "s0")); diff != "" {
		t.Errorf("refused values changed something (-before +after):\n%s", diff)
	}
}

func TestForeignQdiscIsLeftAlone(t *testing.T) {
	labtest.Pair(t, "s0", "s1", 2)
	d := open(t, "s0")
	for _, c := range []struct {
		name     string
		make     []string
		tangled  string
		replayed bool
	}{
		{"a qdisc below", []string{"qdisc add dev s0 root handle 1: mq", "qdisc add dev s0 parent 1:1 handle 10: pfifo limit 5"}, "pfifo of its own below", false},
		{"classes", []string{"qdisc add dev s0 root handle 1: htb"}, "somebody's own making", false},
		{"a simple one", []string{"qdisc add dev s0 root handle 5: pfifo limit 33"}, "", true},
		{"a shaper", []string{"qdisc add dev s0 root handle 5: tbf rate 10mbit burst 20000 latency 30ms"}, "", true},
		{"no queue on purpose", []string{"qdisc add dev s0 root handle 5: noqueue"}, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, words := range c.make {
				run(t, "tc", strings.Fields(words)...)
			}
			defer exec.Command("tc", "qdisc", "del", "dev", "s0", "root").Run()
			before := state(t, "s0")
			g := guard(t, d)
			_, undo, err := g.Set("qdisc", "pfifo limit 9")
			if !c.replayed {
				if !errors.Is(err, ErrNotSupported) || !strings.Contains(err.Error(), c.tangled) {
					t.Errorf("%v; want %q", err, c.tangled)
				}
			} else {
				must(t, err)
				if out := tool(t, "tc qdisc show dev s0"); !strings.Contains(out, "limit 9p") {
					t.Errorf("not changed: %s", out)
				}
				must(t, undo())
			}
			if diff := cmp.Diff(before, state(t, "s0")); diff != "" {
				t.Errorf("(-before +after):\n%s", diff)
			}
		})
	}
}

func TestPauseText(t *testing.T) {
	for _, text := range []string{"off", "rx", "tx", "rx+tx", "autoneg", "autoneg off", "autoneg rx", "autoneg tx"} {
		p, err := parsePause(text)
		if err != nil || p.String() != text {
			t.Errorf("%s: %+v prints %s, %v", text, p, p, err)
		}
	}
	for _, text := range []string{"", "on", "rx tx", "autoneg on", "off off", "autoneg rx tx"} {
		if p, err := parsePause(text); !errors.Is(err, ErrValue) {
			t.Errorf("%q: %+v, %v", text, p, err)
		}
	}
}

func TestCPULists(t *testing.T) {
	for text, want := range map[string][]int{"0": {0}, "0-2,5": {0, 1, 2, 5}, "3,1": {1, 3}, "1,1": {1}, "none": nil, "7-7": {7}} {
		got, err := parseList(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
		if again, err := parseList(formatList(got)); err != nil || !slices.Equal(again, want) {
			t.Errorf("%s: printed as %s", text, formatList(got))
		}
	}
	for _, text := range []string{"", ",", "1-", "-1", "2-1", "a", "1 2", "65536"} {
		if got, err := parseList(text); !errors.Is(err, ErrValue) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestPlaceIRQs(t *testing.T) {
	for _, c := range []struct {
		how     string
		queues  int
		workers []int
		cpus    []int
		want    string
	}{
		{"auto", 2, []int{2, 3}, []int{0, 1, 2, 3}, "[2 3]"},
		{"auto", 4, []int{2, 3}, []int{0, 1, 2, 3}, "[2 3 2 3]"},
		{"apart", 2, []int{0, 2}, []int{0, 1, 2, 3}, "[1 3]"},
		{"apart", 2, []int{0, 3}, []int{0, 1, 2, 3}, "[1 1]"},
		{"0-1", 3, nil, []int{0, 1}, "[0 1 0]"},
		{"1,0", 2, nil, []int{0, 1}, "[1 0]"},
		{"3,0-1", 4, nil, []int{0, 1, 2, 3}, "[3 0 1 3]"},
		{"1,1,0", 3, nil, []int{0, 1}, "[1 1 0]"},
		{"1,,0", 2, nil, []int{0, 1}, ""},
		{"1,none", 2, nil, []int{0, 1}, ""},
		{"auto", 1, nil, []int{0}, ""},
		{"apart", 1, []int{0, 1}, []int{0, 1}, ""},
		{"somewhere", 1, []int{0}, []int{0}, ""},
	} {
		got, err := PlaceIRQs(c.how, c.queues, c.workers, c.cpus)
		if c.want == "" && !errors.Is(err, ErrValue) || c.want != "" && (err != nil || fmt.Sprint(got) != c.want) {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
}

// TestSettingsOfOthers reads the settings of other software devices: none may fail without a reason.
func TestSettingsOfOthers(t *testing.T) {
	for _, l := range []netlink.Link{
		&netlink.Ifb{LinkAttrs: netlink.LinkAttrs{Name: "o-ifb"}},
		&netlink.Tuntap{LinkAttrs: netlink.LinkAttrs{Name: "o-tap"}, Mode: netlink.TUNTAP_MODE_TAP},
	} {
		t.Run(l.Type(), func(t *testing.T) {
			if l.Type() == "tuntap" {
				f, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0)
				if err != nil {
					t.Skipf("no tap here: %v", err)
				}
				f.Close()
			}
			add(t, l)
			d := open(t, l.Attrs().Name)
			before := state(t, l.Attrs().Name)
			var unavailable []string
			for _, s := range d.Settings() {
				if text, err := s.Read(); s.Why == "" && err != nil {
					t.Errorf("%s: %q, %v", s.Name, text, err)
				}
				if s.Why != "" {
					unavailable = append(unavailable, s.Name+": "+s.Why)
				}
			}
			g := guard(t, d)
			for name, text := range map[string]string{"mtu": "1300", "txqueuelen": "55", "feature.tx-scatter-gather": "off", "qdisc": "pfifo limit 7"} {
				if now, _, err := g.Set(name, text); err != nil || now != text {
					t.Errorf("%s: %s, %v", name, now, err)
				}
			}
			notes, err := g.Close()
			must(t, err)
			if diff := cmp.Diff(before, state(t, l.Attrs().Name)); diff != "" || len(notes) > 0 {
				t.Errorf("%v (-before +after):\n%s", notes, diff)
			}
			t.Log(strings.Join(unavailable, "\n"))
		})
	}
}

func diffState(t testing.TB, want, got map[string]string) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if diff := cmp.Diff(want[key], got[key]); diff != "" {
			t.Errorf("%s (-before +after):\n%s", key, diff)
		}
	}
}

// BenchmarkLook is what a look at all settings costs: the console takes one a second.
func BenchmarkLook(b *testing.B) {
	labtest.Pair(b, "b0", "b1", 2)
	d := open(b, "b0")
	for b.Loop() {
		d.texts()
	}
}
