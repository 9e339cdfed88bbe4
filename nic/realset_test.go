package nic

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestRealSettings changes every setting of a device with a driver of its own, compares with what ethtool, ip and tc say, and sees that all
// comes back: after an orderly end, and after a kill. For guests that are thrown away (.ci/vmlab-settings).
func TestRealSettings(t *testing.T) {
	dev := os.Getenv(realDevice)
	if dev == "" {
		t.Skipf("%s is not set: see .ci/vmlab-settings", realDevice)
	}
	d := open(t, dev)
	l, err := d.Link()
	must(t, err)
	r := real{Device: d, link: l, dev: dev}
	r.waitForCarrier(t)
	r.before = r.settled(t) // all that follows comes back to this
	for _, s := range d.Settings() {
		text, err := s.Read()
		t.Logf("%-30s %-20s [%s] %s %v", s.Name, text, s.Range, s.Why, err)
	}
	t.Run("Pause", r.setPauses)
	t.Run("Table", r.setTable)
	t.Run("IRQ", r.setIRQs)
	t.Run("Facts", r.facts)
	t.Run("All", r.setAll)
	t.Run("Kill", r.killed)
}

// unchanged runs f and waits until the device is as it was before.
func (r real) unchanged(t *testing.T, f func(g *Guard)) {
	t.Helper()
	r.waitForCarrier(t)
	g := guard(t, r.Device)
	f(g)
	notes, err := g.Close()
	if err != nil || len(notes) > 0 {
		t.Errorf("close: %q, %v", notes, err)
	}
	r.sameAs(t, r.before)
}

// settled is the state when it has not moved for a while: after the link came up a driver still tells what was agreed.
func (r real) settled(t *testing.T) map[string]string {
	t.Helper()
	last := state(t, r.dev)
	for still := 0; still < 3; {
		time.Sleep(200 * time.Millisecond)
		now := state(t, r.dev)
		if still++; !cmp.Equal(last, now) {
			still = 0
		}
		last = now
	}
	return last
}

func (r real) sameAs(t *testing.T, before map[string]string) {
	t.Helper()
	r.waitForCarrier(t)
	for start := time.Now(); time.Since(start) < 10*time.Second; time.Sleep(100 * time.Millisecond) {
		if cmp.Equal(before, state(t, r.dev)) {
			return
		}
	}
	diffState(t, before, state(t, r.dev))
}

func (r real) setPauses(t *testing.T) {
	s, err := r.Setting("pause")
	must(t, err)
	if s.Why != "" {
		if out, _ := exec.Command("ethtool", "-a", r.dev).CombinedOutput(); !strings.Contains(string(out), "not supported") {
			t.Errorf("%s, and ethtool says %s", s.Why, out)
		}
		return
	}
	r.unchanged(t, func(g *Guard) {
		for _, c := range []struct{ text, autoneg, rx, tx string }{
			{"rx", "off", "on", "off"}, {"tx", "off", "off", "on"}, {"rx+tx", "off", "on", "on"}, {"off", "off", "off", "off"}, {"autoneg", "on", "", ""},
		} {
			now, _, err := g.Set("pause", c.text)
			if r.link.Driver == "netdevsim" && c.text == "autoneg" {
				if !errors.Is(err, ErrValue) {
					t.Errorf("netdevsim knows no autonegotiation: %s, %v", now, err)
				}
				continue
			}
			if err != nil || !strings.HasPrefix(now, c.text) {
				t.Errorf("%s: %s, %v", c.text, now, err)
			}
			out := tool(t, "ethtool -a "+r.dev)
			if after(out, "Autonegotiate:") != c.autoneg || c.rx != "" && (after(out, "RX:") != c.rx || after(out, "TX:") != c.tx) {
				t.Errorf("%s: ethtool says %s", c.text, out)
			}
		}
	})
}

// pick finds a value in a tool's output by a pattern with one group; (?s) lets it reach over lines.
func pick(t *testing.T, words, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(tool(t, words))
	if m == nil {
		t.Errorf("%s: nothing like %s in: %s", words, pattern, tool(t, words))
		return ""
	}
	return m[1]
}

func (r real) setTable(t *testing.T) {
	changed := 0
	r.unchanged(t, func(g *Guard) {
		for _, c := range []struct{ name, text, tool, pattern string }{
			{"rings.tx", "128", "ethtool -g", `(?s)Current.*\nTX:\s+(\d+)`},
			{"rings.rx", "128", "ethtool -g", `(?s)Current.*?\nRX:\s+(\d+)`},
			{"coalesce.rx-usecs", "40", "ethtool -c", `\nrx-usecs:\s+(\d+)`},
			{"coalesce.tx-usecs", "30", "ethtool -c", `\ntx-usecs:\s+(\d+)`},
			{"coalesce.tx-frames", "1", "ethtool -c", `\ntx-frames:\s+(\d+)`},
			{"channels", "combined 1", "ethtool -l", `(?s)Current.*Combined:\s+(\d+)`},
			{"channels", "combined 2", "ethtool -l", `(?s)Current.*Combined:\s+(\d+)`},
			{"priv.legacy-rx", "on", "ethtool --show-priv-flags", `legacy-rx\s*: (\w+)`},
			{"priv.s0ix-enabled", "on", "ethtool --show-priv-flags", `s0ix-enabled\s*: (\w+)`},
			{"feature.tx-scatter-gather", "off", "ethtool -k", `tx-scatter-gather: (\w+)`},
			{"feature.tx-udp-segmentation", "off", "ethtool -k", `tx-udp-segmentation: (\w+)`},
			{"mtu", "1400", "ip link show", `mtu (\d+)`},
			{"txqueuelen", "300", "ip link show", `qlen (\d+)`},
			{"qdisc", "pfifo limit 44", "tc qdisc show dev", `limit (\d+)p`},
			{"qdisc", "fq_codel limit 55", "tc qdisc show dev", `limit (\d+)p`},
			{"qdisc", "fq limit 66", "tc qdisc show dev", `limit (\d+)p`},
		} {
			s, err := r.Setting(c.name)
			if err != nil || s.Why != "" {
				t.Logf("%s: %s %v", c.name, s.Why, err)
				continue
			}
			now, _, err := g.Set(c.name, c.text)
			if err != nil {
				t.Logf("%s %s: %v", c.name, c.text, err)
				if !errors.Is(err, ErrNotSupported) && !errors.Is(err, ErrValue) && !errors.Is(err, ErrIgnored) {
					t.Error("an error without a reason")
				}
				continue
			}
			changed++
			want := c.text[strings.LastIndex(c.text, " ")+1:]
			if got := pick(t, c.tool+" "+r.dev, c.pattern); got != want || !strings.HasPrefix(now, c.text) {
				t.Errorf("%s %s: is now %q, %s says %s", c.name, c.text, now, c.tool, got)
			}
		}
		for q := range r.link.TxQueues {
			for _, c := range [][3]string{{"bql.max", "limit_max", "30000"}, {"bql.min", "limit_min", "3000"}} {
				if s, err := r.Setting(fmt.Sprintf("%s[%d]", c[0], q)); err == nil && s.Why == "" {
					set(t, g, s.Name, c[2])
					if got := r.sys(t, fmt.Sprintf("queues/tx-%d/byte_queue_limits/%s", q, c[1])); got != c[2] {
						t.Errorf("%s: /sys says %s", s.Name, got)
					}
				}
			}
			if s, err := r.Setting(fmt.Sprintf("xps[%d]", q)); err == nil && s.Why == "" {
				text := "0-1"
				if now, _ := s.Read(); now == text {
					text = "1"
				}
				set(t, g, s.Name, text)
				if got, err := r.XPS(q); err != nil || formatList(got) != text {
					t.Errorf("%s: %v, %v", s.Name, got, err)
				}
			}
		}
	})
	if changed < 4 {
		t.Errorf("only %d settings could be changed", changed)
	}
}

// setIRQs moves interrupts, and sees that they fire where they were moved to, also after the rings were made anew.
func (r real) setIRQs(t *testing.T) {
	s, err := r.Setting("irq[0]")
	must(t, err)
	if s.Why != "" {
		t.Logf("irq[0]: %s", s.Why)
		if r.link.Driver != "netdevsim" {
			t.Error("interrupts were not found")
		}
		return
	}
	r.unchanged(t, func(g *Guard) {
		fires := func(when string) {
			t.Helper()
			r.waitForCarrier(t)
			before, err := r.Interrupts()
			must(t, err)
			sendFlows(t, r.dev, 200)
			time.Sleep(100 * time.Millisecond)
			now, err := r.Interrupts()
			must(t, err)
			moved := 0
			for i, irq := range now {
				if !irq.Tx || irq.Queue < 0 {
					continue
				}
				cpu := (irq.Queue + 1) % 2
				if got := strings.TrimSpace(run(t, "cat", affinityFile(irq.IRQ))); got != strconv.Itoa(cpu) || irq.CPUs != got {
					t.Errorf("%s: queue %d may run on %s (we read %s), want %d", when, irq.Queue, got, irq.CPUs, cpu)
				}
				there, else1 := irq.PerCPU[cpu]-before[i].PerCPU[cpu], irq.PerCPU[1-cpu]-before[i].PerCPU[1-cpu]
				if there > 0 && else1 <= 1 { // one may have been on its way
					moved++
				} else {
					t.Logf("%s: %s: %d on CPU %d, %d on the other", when, irq.Name, there, cpu, else1)
				}
			}
			if moved == 0 {
				t.Errorf("%s: no interrupt fired where it was asked to: %+v", when, now)
			}
		}
		texts, err := PlaceIRQs("auto", r.link.TxQueues, []int{1, 0}, []int{0, 1})
		must(t, err)
		_, err = g.SetIRQs(texts)
		must(t, err)
		fires("moved")
		if s, err := r.Setting("rings.tx"); err == nil && s.Why == "" {
			set(t, g, "rings.tx", "128") // virtio takes powers of two
			fires("rings made anew")
		}
	})
}

// facts compares what moves with what ethtool says.
func (r real) facts(t *testing.T) {
	t.Log(run(t, "cat", "/proc/interrupts"))
	if _, err := r.Stats(); err != nil {
		t.Log(err)
		if !errors.Is(err, ErrNotSupported) {
			t.Error("an error without a reason")
		}
	} else {
		testStats(t, r.Device, r.dev)
	}
	p, err := r.PauseFrames()
	out := run(t, "sh", "-c", "ethtool -I -a "+r.dev+" 2>&1 || true")
	if want := after(out, "tx_pause_frames:"); want != "" {
		if err != nil || p.Tx == nil || p.Rx == nil {
			t.Fatalf("%+v, %v; ethtool says %s", p, err, out)
		}
		t.Logf("pause frames: %d and %d from %s", *p.Tx, *p.Rx, p.Source)
		if strconv.FormatUint(*p.Tx, 10) != want || strconv.FormatUint(*p.Rx, 10) != after(out, "rx_pause_frames:") {
			t.Errorf("%d pause frames sent, %d received, ethtool says %s", *p.Tx, *p.Rx, out)
		}
		return
	}
	t.Logf("pause frames: %+v, %v", p, err)
	if err != nil && !errors.Is(err, ErrNotSupported) {
		t.Error("an error without a reason")
	}
}

// another is a value that a setting has not now; "" if there is none to be tried.
func another(s Setting, now string) string {
	switch {
	case len(s.Values) > 0:
		for _, v := range s.Values {
			if v != now && !strings.HasPrefix(now, v) {
				return v
			}
		}
		return ""
	case strings.HasPrefix(s.Name, "irq["):
		return map[bool]string{true: "1", false: "0"}[now != "1"]
	case strings.HasPrefix(s.Name, "xps["):
		return map[bool]string{true: "1", false: "0"}[now != "1"]
	}
	n, err := strconv.ParseUint(now, 10, 64)
	if err != nil {
		return ""
	}
	if n >= 128 {
		return strconv.FormatUint(max(n/2, s.Min), 10)
	}
	return strconv.FormatUint(n+50, 10)
}

// change turns each setting that can be turned, and returns how many were.
func (r real) change(t *testing.T, g *Guard, limit int) (changed int) {
	for _, s := range r.Settings() {
		now, err := s.Read()
		if s.Why != "" || err != nil || changed == limit {
			continue
		}
		text := another(s, now)
		if text == "" {
			continue
		}
		if now, _, err = g.Set(s.Name, text); err != nil {
			t.Logf("%s %s: %v", s.Name, text, err)
			if !errors.Is(err, ErrNotSupported) && !errors.Is(err, ErrValue) && !errors.Is(err, ErrIgnored) {
				t.Errorf("%s %s: an error without a reason", s.Name, text)
			}
			continue
		}
		changed++
		t.Logf("%s is now %s", s.Name, now)
	}
	return changed
}

// setAll turns everything that is there.
func (r real) setAll(t *testing.T) {
	r.unchanged(t, func(g *Guard) {
		if n := r.change(t, g, -1); n < 8 {
			t.Errorf("%d settings changed, want 8 or more", n)
		}
		t.Logf("%d in the journal", len(g.Diff()))
	})
}

// killed has a child change everything and die; restore puts it back.
func (r real) killed(t *testing.T) {
	dir := t.TempDir() + "/j"
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestRealChild$", "-test.v")
	cmd.Env = append(os.Environ(), killedChild+"="+dir)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the child: %v: %s", err, out)
	}
	if cmp.Equal(r.before, state(t, r.dev)) {
		t.Fatalf("the child changed nothing: %s", out)
	}
	notes, err := RestoreAll(dir)
	t.Logf("%q", notes)
	if err != nil || len(notes) != 1 {
		t.Errorf("%q, %v", notes, err)
	}
	r.sameAs(t, r.before)
	if left := journals(t, dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestRealChild(t *testing.T) {
	dir := os.Getenv(killedChild)
	if dir == "" || os.Getenv(realDevice) == "" {
		t.Skip("only as a child of TestRealSettings")
	}
	d := open(t, os.Getenv(realDevice))
	g, _, err := NewGuard(d, GuardOptions{Dir: dir})
	must(t, err)
	for _, name := range []string{"pause", "rings.tx", "coalesce.rx-usecs", "mtu", "qdisc", "feature.tx-scatter-gather", "txqueuelen"} {
		if s, err := d.Setting(name); err == nil && s.Why == "" {
			now, _ := s.Read()
			g.Set(name, another(s, now))
		}
	}
	for _, s := range d.Settings() {
		if slices.Contains([]string{GroupQueues, GroupIRQ, GroupFlags}, s.Group) && s.Why == "" {
			now, _ := s.Read()
			g.Set(s.Name, another(s, now))
		}
	}
	if n := len(g.Diff()); n < 6 {
		t.Fatalf("only %d changed", n)
	}
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
}
