package nic

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"

	"wirespeed/nic/lab/labtest"
)

// hostRoot tells whether the process is root of the whole machine: in a user namespace XPS files are not ours.
func hostRoot(t testing.TB) bool {
	t.Helper()
	uids, err := os.ReadFile("/proc/self/uid_map")
	must(t, err)
	return os.Geteuid() == 0 && slices.Equal(strings.Fields(string(uids)), []string{"0", "0", "4294967295"})
}

func TestPauseOfVeth(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	d, v0 := open(t, "v0"), handle(t, "v0")
	check := func(is error, text string) {
		t.Helper()
		if _, err := d.Pause(); !errors.Is(err, is) || err.Error() != text {
			t.Errorf("%v, want %q", err, text)
		}
	}
	check(ErrNotSupported, "veth has no pause frames")
	must(t, netlink.LinkSetName(v0, "v0new")) // nobody has told d
	check(ErrNotSupported, "veth has no pause frames")
	must(t, netlink.LinkDel(v0))
	check(ErrNotFound, "pause of v0: no such device")
}

func TestInFlightOfVeth(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 2)
	d := open(t, "v0")
	sender(t, "v0")(60)
	if n, err := d.InFlight(1); !errors.Is(err, ErrNotSupported) || err.Error() != "veth does not use byte queue limits" {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := d.InFlight(2); !errors.Is(err, ErrNotSupported) || !strings.Contains(err.Error(), "no transmit queue 2, the last is 1") {
		t.Errorf("%d, %v", n, err)
	}
}

func TestXPS(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 2)
	d := open(t, "v0")
	file := filepath.Join("/sys/class/net/v0", queueFile(1, "xps_cpus"))
	mask := func() string {
		b, err := os.ReadFile(file)
		must(t, err)
		return strings.TrimSpace(string(b))
	}
	before := mask()
	if cpus, err := d.XPS(1); err != nil || cpus != nil {
		t.Errorf("at first: %v, %v; want none", cpus, err)
	}
	restore, err := d.SetXPS(1, []int{0})
	if !hostRoot(t) {
		if !errors.Is(err, ErrNotPermitted) || restore != nil {
			t.Errorf("in a user namespace: %v, want not permitted", err)
		}
		return
	}
	must(t, err)
	if cpus, err := d.XPS(1); err != nil || !slices.Equal(cpus, []int{0}) || !strings.HasSuffix(mask(), "1") {
		t.Errorf("after setting 0: %v, %v, mask %s", cpus, err, mask())
	}
	back, err := d.SetXPS(1, nil)
	must(t, err)
	if mask() != before {
		t.Errorf("after setting none: %s, want %s", mask(), before)
	}
	must(t, back())
	if cpus, err := d.XPS(1); err != nil || !slices.Equal(cpus, []int{0}) {
		t.Errorf("after the inner restore: %v, %v; want 0", cpus, err)
	}
	must(t, restore())
	if mask() != before {
		t.Errorf("after restore: %s, want exactly %s", mask(), before)
	}
	if _, err := d.SetXPS(1, []int{0, 9999}); err == nil || !strings.Contains(err.Error(), "not all of CPUs [0 9999]") {
		t.Errorf("CPU 9999: %v", err)
	}
	if mask() != before {
		t.Errorf("after a refusal: %s, want %s", mask(), before)
	}
	if restore, err := d.SetXPS(2, []int{0}); !errors.Is(err, ErrNotSupported) || restore != nil {
		t.Errorf("no such queue: %v", err)
	}
	restore, err = d.SetXPS(0, []int{0})
	must(t, err)
	must(t, deleteLink("v0"))
	if err := restore(); err != nil {
		t.Errorf("restore of a removed interface: %v", err)
	}
}

func TestMask(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []int
		bad      bool
	}{
		{name: "none", in: "0"},
		{name: "none, padded", in: "00000000,00000000\n"},
		{name: "one word", in: "5", want: []int{0, 2}},
		{name: "two words", in: "1,80000000", want: []int{31, 32}},
		{name: "capitals", in: "A", want: []int{1, 3}},
		{name: "empty", in: "", bad: true},
		{name: "empty word", in: "1,,1", bad: true},
		{name: "word too long", in: "000000001", bad: true},
		{name: "sign", in: "-1", bad: true},
		{name: "plus", in: "+1", bad: true},
		{name: "prefix", in: "0x1", bad: true},
		{name: "list, not mask", in: "0-1", bad: true},
		{name: "endless", in: strings.Repeat("0,", 1e5) + "1", bad: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseMask(c.in)
			if diff := cmp.Diff(c.want, got); diff != "" || (err != nil) != c.bad {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
	if s, err := formatMask([]int{65, 0, 31}); s != "2,00000000,80000001" || err != nil {
		t.Errorf("format: %q, %v", s, err)
	}
	for _, cpu := range []int{-1, maxCPU + 1} {
		if s, err := formatMask([]int{cpu}); err == nil {
			t.Errorf("format of %d: %q, want an error", cpu, s)
		}
	}
}

func FuzzMask(f *testing.F) {
	for _, s := range []string{"0", "3", "ff,00000000", "1,80000000,00000001", "-1", "0_0", ","} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		cpus, err := parseMask(s)
		if err != nil {
			return
		}
		if !slices.IsSorted(cpus) {
			t.Errorf("%q: %v is not ascending", s, cpus)
		}
		text, err := formatMask(cpus)
		if err != nil {
			t.Fatalf("%q: %v: %v", s, cpus, err)
		}
		again, err := parseMask(text)
		if err != nil || !slices.Equal(cpus, again) {
			t.Errorf("%q is %v, written %q, read again %v, %v", s, cpus, text, again, err)
		}
		// The digits are the same but for leading zeros and case.
		norm := func(s string) string {
			words := strings.Split(strings.ToLower(strings.TrimSpace(s)), ",")
			for i, w := range words {
				words[i] = strings.Repeat("0", 8-len(w)) + w
			}
			return strings.TrimLeft(strings.Join(words, ""), "0")
		}
		if norm(s) != norm(text) {
			t.Errorf("%q was written as %q", s, text)
		}
	})
}
