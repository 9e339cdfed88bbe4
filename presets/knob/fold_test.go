package knob

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirespeed/engine"
)

// settings reads "size 60, vlan 5".
func settings(text string) []Setting {
	var out []Setting
	for s := range strings.SplitSeq(text, ", ") {
		name, value, _ := strings.Cut(s, " ")
		out = append(out, Setting{name, value})
	}
	return out
}

func TestOrderOfSettingsDoesNotMatter(t *testing.T) {
	for _, text := range []string{
		"size 1518, vlan 5",
		"dst-ip 2001:db8::2, size 62",
		"dst-ip 2001:db8::2, src-ip 2001:db8::1, size 100, rate 40%",
		"cpus 0, queues 2",
		"cpus 5,0, queues 3, burst 32, path qdisc",
	} {
		s := settings(text)
		b := gigabit()
		if _, err := SetAll(b, s); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for _, want := range s {
			if got := find(t, want.Knob).Get(b); got != want.Value {
				t.Errorf("%s: %s is %s, want %s", text, want.Knob, got, want.Value)
			}
		}
		slices.Reverse(s)
		r := gigabit()
		if _, err := SetAll(r, s); err != nil {
			t.Errorf("%s, reversed: %v", text, err)
		}
		if diff := cmp.Diff(values(b), values(r)); diff != "" {
			t.Errorf("%s: forwards and backwards differ:\n%s", text, diff)
		}
	}
}

func TestSetAllIsOneChange(t *testing.T) {
	b := gigabit()
	before := values(b)
	applied := 0
	b.Apply = func(engine.Config) error { applied++; return nil }
	undo, err := SetAll(b, settings("rate 10kpps, size 100, rate 20kpps"))
	if err != nil {
		t.Fatal(err)
	}
	if applied != 1 {
		t.Errorf("the engine saw %d changes, want 1", applied)
	}
	if got := find(t, "rate").Get(b); got != "20kpps" {
		t.Errorf("rate is %s: the last setting should win: 20kpps", got)
	}
	if err := undo(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, values(b)); diff != "" {
		t.Errorf("after undo (-want +got):\n%s", diff)
	}
	for _, bad := range []string{"size 100, vlan 5000", "size 1518, rate 1kpps", "rate 5parsec, rate 5kpps", "size 100, speed 5"} {
		if _, err := SetAll(b, settings(bad)); err == nil {
			t.Errorf("%s: accepted", bad)
		}
	}
	if diff := cmp.Diff(before, values(b)); diff != "" {
		t.Errorf("a refused setting changed something:\n%s", diff)
	}
}

func TestSettingsReadBack(t *testing.T) {
	b := gigabit()
	if _, err := SetAll(b, settings("rate 40%, size 1518, vlan 7, queues 2, burst 8, path qdisc, dst-ip 2001:db8::1")); err != nil {
		t.Fatal(err)
	}
	s := Settings(b)
	for _, k := range s {
		if k.Knob == "dst-mac" || k.Knob == "src-mac" || k.Knob == "cpus" || k.Knob == "receiver" {
			t.Errorf("%s is kept: it belongs to the machine and nobody changed it", k.Knob)
		}
	}
	again := gigabit()
	if _, err := SetAll(again, s); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(values(b), values(again)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	set(t, b, "cpus", "5,4")
	if s := Settings(b); !slices.Contains(s, Setting{"cpus", "5,4"}) {
		t.Errorf("CPUs that were chosen are not kept: %v", s)
	}
}
