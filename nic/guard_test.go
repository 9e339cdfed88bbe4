package nic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"

	"wirespeed/nic/lab/labtest"
)

// guard makes a guard with a journal of its own.
func guard(t testing.TB, d *Device) *Guard {
	t.Helper()
	return guardIn(t, d, t.TempDir()+"/j")
}

func guardIn(t testing.TB, d *Device, dir string) *Guard {
	t.Helper()
	g, notes, err := NewGuard(d, GuardOptions{Dir: dir})
	must(t, err)
	if len(notes) > 0 {
		t.Errorf("notes: %q", notes)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// set sets through a guard, and fails the test if it cannot be.
func set(t testing.TB, g *Guard, name, text string) (undo func() error) {
	t.Helper()
	now, undo, err := g.Set(name, text)
	if err != nil {
		t.Fatalf("%s %s: %v", name, text, err)
	}
	if !strings.HasPrefix(now, text) {
		t.Errorf("%s %s: is now %s", name, text, now)
	}
	return undo
}

// eight changes eight settings of a veth of two queues.
func eight(t testing.TB, g *Guard) {
	t.Helper()
	for _, c := range [][2]string{
		{"mtu", "1400"},
		{"txqueuelen", "77"},
		{"qdisc", "pfifo limit 50"},
		{"feature.tx-udp-segmentation", "off"},
		{"feature.tx-checksum-ip-generic", "off"},
		{"feature.rx-gro", "on"},
		{"qdisc", "mq"},
		{"channels", "rx 1 tx 1"},
		{"feature.tx-scatter-gather", "off"},
	} {
		set(t, g, c[0], c[1])
	}
	if n := len(g.Diff()); n != 8 {
		t.Errorf("%d settings changed, want 8: %+v", n, g.Diff())
	}
}

func journals(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.journal")
	must(t, err)
	return files
}

// kill ends a guard as SIGKILL would: nothing is put back, the kernel gives the lock away.
func kill(g *Guard) {
	g.store.close()
	g.done = true
}

func TestGuardPutsAllBack(t *testing.T) {
	labtest.Pair(t, "g0", "g1", 2)
	d := open(t, "g0")
	run(t, "tc", "qdisc", "add", "dev", "g0", "root", "handle", "9:", "pfifo", "limit", "123") // an operator's
	before := state(t, "g0")
	dir := t.TempDir() + "/j"
	g := guardIn(t, d, dir)
	eight(t, g)
	if len(journals(t, dir)) != 1 {
		t.Error("no journal")
	}
	notes, err := g.Close()
	if err != nil || len(notes) > 0 {
		t.Errorf("%q, %v", notes, err)
	}
	diffState(t, before, state(t, "g0"))
	if left := journals(t, dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	for range 2 {
		if notes, err := g.Close(); err != nil || len(notes) > 0 {
			t.Errorf("again: %q, %v", notes, err)
		}
	}
	if _, _, err := g.Set("mtu", "1300"); err == nil {
		t.Error("a closed guard changes things")
	}
	diffState(t, before, state(t, "g0"))
}

// killedChild is the directory of the journal for TestGuardChild, which does not survive.
const killedChild = "NIC_TEST_KILLED_CHILD"

func TestGuardChild(t *testing.T) {
	dir := os.Getenv(killedChild)
	if dir == "" {
		t.Skip("only as a child of TestGuardAfterKill")
	}
	dev := os.Getenv(killedChild + "_DEV")
	g, _, err := NewGuard(open(t, dev), GuardOptions{Dir: dir})
	must(t, err)
	eight(t, g)
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

func TestGuardAfterKill(t *testing.T) {
	for _, c := range []struct {
		name string
		back func(t *testing.T, dir string)
	}{
		{"restore", func(t *testing.T, dir string) {
			left, err := Pending(dir)
			if err != nil || len(left) != 1 || left[0].Device != "k0" || len(left[0].Changes) != 8 || left[0].Held != "" || left[0].Elsewhere {
				t.Errorf("pending: %+v, %v", left, err)
			}
			notes, err := RestoreAll(dir)
			if err != nil || len(notes) != 1 || notes[0] != "k0: 8 of 8 changes put back" {
				t.Errorf("%q, %v", notes, err)
			}
			if notes, err = RestoreAll(dir); err != nil || len(notes) > 0 {
				t.Errorf("again: %q, %v", notes, err)
			}
		}},
		{"next start", func(t *testing.T, dir string) {
			g, notes, err := NewGuard(open(t, "k0"), GuardOptions{Dir: dir})
			if err != nil || len(notes) != 1 || !strings.HasPrefix(notes[0], "k0: 8 settings that PID ") {
				t.Errorf("%q, %v", notes, err)
			}
			g.Close()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			labtest.Pair(t, "k0", "k1", 2)
			before := state(t, "k0")
			dir := t.TempDir() + "/j"
			cmd := exec.Command("/proc/self/exe", "-test.run=^TestGuardChild$")
			cmd.Env = append(os.Environ(), killedChild+"="+dir, killedChild+"_DEV=k0")
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("the child: %v: %s", err, out)
			}
			if after := state(t, "k0"); after["ethtool -k"] == before["ethtool -k"] || !strings.Contains(after["ip -d link show"], "mtu 1400") {
				t.Fatal("the child changed nothing")
			}
			c.back(t, dir)
			diffState(t, before, state(t, "k0"))
			if left := journals(t, dir); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func TestGuardIsHeld(t *testing.T) {
	labtest.Pair(t, "h0", "h1", 1)
	dir := t.TempDir() + "/j"
	g := guardIn(t, open(t, "h0"), dir)
	set(t, g, "mtu", "1400")
	_, _, err := NewGuard(open(t, "h0"), GuardOptions{Dir: dir})
	if want := "h0 is held by PID " + itoa(os.Getpid()) + ": end that session first"; !errors.Is(err, ErrHeld) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if notes, err := RestoreAll(dir); !errors.Is(err, ErrHeld) || len(notes) > 0 {
		t.Errorf("restore beside a session: %q, %v", notes, err)
	}
	if left, err := Pending(dir); err != nil || len(left) != 1 || left[0].Held == "" {
		t.Errorf("pending: %+v, %v", left, err)
	}
	if out := tool(t, "ip link show h0"); !strings.Contains(out, "mtu 1400") {
		t.Error("the session's change was put back under its feet")
	}
	guardIn(t, open(t, "h1"), dir) // another device is another matter
	g.Close()
	guardIn(t, open(t, "h0"), dir)
}

func TestGuardLeavesOthersChanges(t *testing.T) {
	labtest.Pair(t, "l0", "l1", 1)
	d := open(t, "l0")
	g := guard(t, d)
	if list := g.Look(); len(list) > 0 {
		t.Errorf("the first look: %+v", list)
	}
	set(t, g, "mtu", "1400")
	set(t, g, "txqueuelen", "77")
	undo := set(t, g, "feature.tx-scatter-gather", "off")
	if list := g.Look(); len(list) > 0 {
		t.Errorf("our own changes: %+v", list)
	}
	run(t, "ip", "link", "set", "l0", "mtu", "1350")
	run(t, "ethtool", "-K", "l0", "gro", "on")
	list := g.Look()
	if len(list) != 2 || list[0] != (Foreign{"feature.rx-gro", "off", "on", false}) || list[1] != (Foreign{"mtu", "1400", "1350", true}) {
		t.Errorf("%+v", list)
	}
	if list := g.Look(); len(list) > 0 {
		t.Errorf("told twice: %+v", list)
	}
	for _, delta := range g.Diff() {
		if delta.Foreign != (delta.Name == "mtu") {
			t.Errorf("%+v", delta)
		}
	}
	must(t, undo())
	if n := len(g.Diff()); n != 2 {
		t.Errorf("after an undo: %+v", g.Diff())
	}
	notes, err := g.Restore()
	want := "mtu of l0 is now 1350, somebody else has changed it: it is left alone (it was 1500)"
	if err != nil || len(notes) != 1 || notes[0] != want {
		t.Errorf("%q, %v; want %s", notes, err, want)
	}
	l, err := d.Link()
	must(t, err)
	if q := handle(t, "l0").Attrs().TxQLen; l.MTU != 1350 || q != 1000 {
		t.Errorf("mtu %d, txqueuelen %d", l.MTU, q)
	}
}

func TestGuardOfVanished(t *testing.T) {
	for _, killed := range []bool{false, true} {
		labtest.Pair(t, "n0", "n1", 1)
		dir := t.TempDir() + "/j"
		g := guardIn(t, open(t, "n0"), dir)
		set(t, g, "mtu", "1400")
		set(t, g, "feature.tx-scatter-gather", "off")
		must(t, netlink.LinkDel(handle(t, "n0")))
		var notes []string
		var err error
		if killed {
			kill(g)
			notes, err = RestoreAll(dir)
		} else {
			notes, err = g.Close()
		}
		if want := "n0 is gone: its 2 changed settings went with it"; (err != nil) != killed || len(notes) == 0 || notes[len(notes)-1] != want {
			t.Errorf("killed %v: %q, %v; want %s", killed, notes, err, want)
		}
		if left := journals(t, dir); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
}

func TestGuardKeeps(t *testing.T) {
	labtest.Pair(t, "e0", "e1", 1)
	before := state(t, "e0")
	dir := t.TempDir() + "/j"
	d := open(t, "e0")
	g := guardIn(t, d, dir)
	set(t, g, "mtu", "1400")
	g.Keep(true)
	notes, err := g.Close()
	if err != nil || len(notes) > 0 {
		t.Errorf("%q, %v", notes, err)
	}
	g = guardIn(t, d, dir) // the next session leaves it, and puts back what it changes itself
	set(t, g, "mtu", "1300")
	set(t, g, "txqueuelen", "5")
	if notes, err := g.Close(); err != nil || len(notes) > 0 {
		t.Errorf("%q, %v", notes, err)
	}
	if l, err := d.Link(); err != nil || l.MTU != 1400 {
		t.Errorf("mtu %d, %v; want the kept one", l.MTU, err)
	}
	left, err := Pending(dir)
	if err != nil || len(left) != 1 || len(left[0].Changes) != 1 || left[0].Changes[0] != (Delta{Name: "mtu", Before: "1500", Wrote: "1400", Kept: true}) {
		t.Errorf("%+v, %v", left, err)
	}
	if notes, err = RestoreAll(dir); err != nil || len(notes) != 1 {
		t.Errorf("%q, %v", notes, err)
	}
	diffState(t, before, state(t, "e0"))
}

// edit changes a journal on the disk.
func edit(t testing.TB, file string, change func(*journal)) {
	t.Helper()
	b, err := os.ReadFile(file)
	must(t, err)
	j, err := parseJournal(b)
	must(t, err)
	change(&j)
	b, err = json.Marshal(j)
	must(t, err)
	must(t, os.WriteFile(file, b, 0o600))
}

func TestJournalsThatAreNoUse(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, file string)
		note  string
		left  bool
	}{
		{"another boot", func(t *testing.T, file string) { edit(t, file, func(j *journal) { j.Boot = "older" }) }, "earlier boot", false},
		{"another namespace", func(t *testing.T, file string) { edit(t, file, func(j *journal) { j.NetNS++ }) }, "another network namespace", true},
		{"cut off", func(t *testing.T, file string) { must(t, os.Truncate(file, 40)) }, "damaged journal", false},
		{"empty", func(t *testing.T, file string) { must(t, os.Truncate(file, 0)) }, "damaged journal", false},
		{"no JSON", func(t *testing.T, file string) { must(t, os.WriteFile(file, []byte("hello"), 0o600)) }, "damaged journal", false},
		{"too new", func(t *testing.T, file string) { edit(t, file, func(j *journal) { j.Version = 2 }) }, "version 2", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			labtest.Pair(t, "u0", "u1", 1)
			dir := t.TempDir() + "/j"
			g := guardIn(t, open(t, "u0"), dir)
			set(t, g, "mtu", "1400")
			kill(g)
			c.spoil(t, journals(t, dir)[0])
			notes, err := RestoreAll(dir)
			if (err != nil) != c.left || !strings.Contains(fmt.Sprint(notes, err), c.note) {
				t.Errorf("%q, %v; want %s", notes, err, c.note)
			}
			if got := len(journals(t, dir)) == 1; got != c.left {
				t.Errorf("left: %v, want %v", got, c.left)
			}
			if l, err := open(t, "u0").Link(); err != nil || l.MTU != 1400 {
				t.Errorf("mtu %d, %v", l.MTU, err)
			}
		})
	}
}

// TestJournalBeforeTheWrite cuts a session off between the journal and the write, and between the write and what it resets.
func TestJournalBeforeTheWrite(t *testing.T) {
	labtest.Pair(t, "w0", "w1", 2)
	before := state(t, "w0")
	dir := t.TempDir() + "/j"
	g := guardIn(t, open(t, "w0"), dir)
	set(t, g, "mtu", "1400")
	kill(g)
	edit(t, journals(t, dir)[0], func(j *journal) {
		j.Changes[0].Done = false
		j.Changes = append(j.Changes, entry{Name: "feature.tx-scatter-gather", Before: "on", BeforeText: "on"})
		j.Beside = map[string]string{"txqueuelen": "1000"}
	})
	run(t, "ip", "link", "set", "w0", "txqueuelen", "3") // as a reset would
	if notes, err := RestoreAll(dir); err != nil || len(notes) != 1 {
		t.Errorf("%q, %v", notes, err)
	}
	diffState(t, before, state(t, "w0"))
}

// TestGovernor uses files as cpufreq has them: this machine may have none. The governor is the machine's, so it comes back also when the
// interface is gone.
func TestGovernor(t *testing.T) {
	old := governorFiles
	t.Cleanup(func() { governorFiles = old })
	root := t.TempDir()
	governorFiles = root + "/cpu[0-9]*/cpufreq/scaling_governor"
	write := func(cpu, file, text string) {
		t.Helper()
		must(t, os.MkdirAll(root+"/"+cpu+"/cpufreq", 0o755))
		must(t, os.WriteFile(root+"/"+cpu+"/cpufreq/"+file, []byte(text+"\n"), 0o644))
	}
	for _, cpu := range []string{"cpu0", "cpu1"} {
		write(cpu, "scaling_available_governors", "performance powersave schedutil")
		write(cpu, "scaling_governor", "powersave")
	}
	write("cpu1", "scaling_governor", "schedutil")
	for _, end := range []string{"closed", "gone", "killed and gone"} {
		t.Run(end, func(t *testing.T) {
			labtest.Pair(t, "r0", "r1", 1)
			d := open(t, "r0")
			if now := d.texts()["governor"]; now != "powersave schedutil" {
				t.Errorf("governor %q", now)
			}
			dir := t.TempDir() + "/j"
			g := guardIn(t, d, dir)
			set(t, g, "mtu", "1400")
			set(t, g, "governor", "performance")
			if _, _, err := g.Set("governor", "warp"); !errors.Is(err, ErrValue) {
				t.Errorf("warp: %v", err)
			}
			if end != "closed" {
				must(t, netlink.LinkDel(handle(t, "r0")))
			}
			if end == "killed and gone" {
				kill(g)
				_, err := RestoreAll(dir)
				must(t, err)
			} else {
				_, err := g.Close()
				must(t, err)
			}
			for cpu, want := range map[string]string{"cpu0": "powersave", "cpu1": "schedutil"} {
				b, err := os.ReadFile(root + "/" + cpu + "/cpufreq/scaling_governor")
				must(t, err)
				if got := strings.TrimSpace(string(b)); got != want {
					t.Errorf("%s: %s is %s, want %s", end, cpu, got, want)
				}
			}
		})
	}
}

// TestRestoreThatFails keeps what could not be put back for another try.
func TestRestoreThatFails(t *testing.T) {
	labtest.Pair(t, "f0", "f1", 1)
	before := state(t, "f0")
	dir := t.TempDir() + "/j"
	g := guardIn(t, open(t, "f0"), dir)
	set(t, g, "mtu", "1400")
	set(t, g, "txqueuelen", "5")
	kill(g)
	file := journals(t, dir)[0]
	edit(t, file, func(j *journal) { j.Changes[0].Before = "nonsense" })
	if notes, err := RestoreAll(dir); err == nil || !strings.Contains(err.Error(), "put back: mtu of f0: ") {
		t.Errorf("%q, %v", notes, err)
	}
	if left, err := Pending(dir); err != nil || len(left) != 1 || len(left[0].Changes) != 1 || left[0].Changes[0].Name != "mtu" {
		t.Errorf("%+v, %v", left, err)
	}
	edit(t, file, func(j *journal) { j.Changes[0].Before = "1500" })
	if notes, err := RestoreAll(dir); err != nil {
		t.Errorf("%q, %v", notes, err)
	}
	diffState(t, before, state(t, "f0"))
}

func TestGuardWithoutJournal(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 2)
	before := state(t, "v0")
	for range 2 { // nothing is locked
		g, notes, err := NewGuard(open(t, "v0"), GuardOptions{Volatile: true})
		if err != nil || len(notes) > 0 {
			t.Fatalf("%q, %v", notes, err)
		}
		eight(t, g)
		if _, err := g.Close(); err != nil {
			t.Error(err)
		}
		diffState(t, before, state(t, "v0"))
	}
}

// TestGuardFromAnywhere turns and restores from many goroutines; the race detector looks on.
func TestGuardFromAnywhere(t *testing.T) {
	labtest.Pair(t, "a0", "a1", 1)
	before := state(t, "a0")
	g := guard(t, open(t, "a0"))
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 5 {
				g.Set("mtu", itoa(1400+i+n))
				_, undo, _ := g.Set("feature.tx-scatter-gather", []string{"on", "off"}[n%2])
				g.Diff()
				g.Look()
				if undo != nil {
					undo()
				}
				if i == 3 {
					g.Restore()
				}
			}
		})
	}
	wg.Wait()
	if notes, err := g.Close(); err != nil || len(notes) > 0 {
		t.Errorf("%q, %v", notes, err)
	}
	diffState(t, before, state(t, "a0"))
}

func TestGuardPlans(t *testing.T) {
	labtest.Pair(t, "p0", "p1", 1)
	g := guard(t, open(t, "p0"))
	before := state(t, "p0")
	delta, err := g.Plan("mtu", "1400")
	if err != nil || delta != (Delta{Name: "mtu", Before: "1500", Wrote: "1400", Now: "1400"}) {
		t.Errorf("%+v, %v", delta, err)
	}
	if _, err := g.Plan("pause", "off"); !errors.Is(err, ErrNotSupported) || err.Error() != "pause of p0: veth has no pause frames" {
		t.Errorf("%v", err)
	}
	diffState(t, before, state(t, "p0"))
}

func TestGuardRefusesAnOpenDirectory(t *testing.T) {
	labtest.Pair(t, "d0", "d1", 1)
	dir := t.TempDir() + "/j"
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.Chmod(dir, 0o777))
	if _, _, err := NewGuard(open(t, "d0"), GuardOptions{Dir: dir}); err == nil || !strings.Contains(err.Error(), "not a directory of ours alone") {
		t.Errorf("%v", err)
	}
}

func FuzzJournal(f *testing.F) {
	good, err := json.Marshal(journal{Version: 1, Boot: "b", Index: 2, Name: "eth0", Changes: []entry{{Name: "mtu", Before: "1500", Done: true}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	for i := range 8 {
		f.Add(good[:i*len(good)/8])
	}
	f.Add(bytes.ReplaceAll(good, []byte("mtu"), nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		j, err := parseJournal(b)
		if err != nil {
			if !errors.Is(err, errDamaged) {
				t.Errorf("%v", err)
			}
			return
		}
		again, err := json.Marshal(j)
		must(t, err)
		if _, err := parseJournal(again); err != nil {
			t.Errorf("%s: not read again: %v", again, err)
		}
	})
}

func FuzzSavedQdisc(f *testing.F) {
	f.Add("7e5d: pfifo 11000000")
	f.Add("1: tbf")
	f.Add("pfifo limit 3")
	f.Add("tbf rate 100Mbit burst 3000 limit 5000")
	f.Add("fq_codel limit 3 target 5ms")
	f.Add("htb rate 0.5kbit")
	f.Fuzz(func(t *testing.T, s string) {
		parseSavedQdisc(strings.Fields(s))
		r, err := parseQdisc(s)
		if err != nil || r.kind == "default" {
			return
		}
		r.handle = ourHandle
		if _, err := parseQdisc(r.String()); err != nil {
			t.Errorf("%q is printed as %q: %v", s, r.String(), err)
		}
	})
}

func itoa(n int) string { return strconv.Itoa(n) }

// TestQueueThatGoesAndComes takes a queue away that somebody has given an XPS map: the kernel forgets the map, the guard does not.
func TestQueueThatGoesAndComes(t *testing.T) {
	for _, c := range []struct {
		name string
		back func(t *testing.T, g *Guard, dir string)
	}{
		{"undone", func(t *testing.T, g *Guard, dir string) { set(t, g, "channels", "rx 2 tx 2") }},
		{"closed", func(t *testing.T, g *Guard, dir string) { _, err := g.Close(); must(t, err) }},
		{"killed", func(t *testing.T, g *Guard, dir string) { kill(g); _, err := RestoreAll(dir); must(t, err) }},
	} {
		for _, ours := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				labtest.Pair(t, "q0", "q1", 2)
				d := open(t, "q0")
				restore, err := d.SetXPS(1, []int{0})
				if errors.Is(err, ErrNotPermitted) {
					t.Skip(err)
				}
				must(t, err)
				_ = restore // the device goes with the test
				before := state(t, "q0")
				dir := t.TempDir() + "/j"
				g := guardIn(t, d, dir)
				if ours {
					set(t, g, "xps[1]", "1")
				}
				set(t, g, "channels", "rx 1 tx 1")
				if _, err := d.Setting("xps[1]"); !errors.Is(err, ErrNotSupported) {
					t.Errorf("queue 1 is still there: %v", err)
				}
				c.back(t, g, dir)
				if ours && c.name == "undone" {
					if got, err := d.XPS(1); err != nil || len(got) != 1 || got[0] != 1 {
						t.Errorf("our XPS: %v, %v; want CPU 1", got, err)
					}
					g.Close()
				}
				diffState(t, before, state(t, "q0"))
			})
		}
	}
}

// TestQueueThatWasOurs: what was set on a queue that only our channels made goes with it, without a word.
func TestQueueThatWasOurs(t *testing.T) {
	labtest.Pair(t, "y0", "y1", 2)
	d := open(t, "y0")
	run(t, "ethtool", "-L", "y0", "rx", "1", "tx", "1")
	before := state(t, "y0")
	g := guard(t, d)
	set(t, g, "channels", "rx 2 tx 2")
	if _, _, err := g.Set("xps[1]", "0"); errors.Is(err, ErrNotPermitted) || errors.Is(err, ErrNotSupported) {
		set(t, g, "mtu", "1400") // XPS is root's
	}
	if notes, err := g.Close(); err != nil || len(notes) > 0 {
		t.Errorf("%q, %v", notes, err)
	}
	diffState(t, before, state(t, "y0"))
}
