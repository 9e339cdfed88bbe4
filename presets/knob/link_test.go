package knob_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirespeed/engine"
	"wirespeed/nic"
	"wirespeed/presets/knob"
)

// labBench is a lab's, with a root qdisc.
func labBench() *knob.Bench {
	dev := engine.Device{
		Name: "v0", MTU: 1500, Queues: 4, MAC: [6]byte{2, 0, 0, 0, 0, 1}, SpeedWhy: "veth has no speed of its own", CPUs: []int{0, 1},
	}
	to := [6]byte{2, 0, 0, 0, 0, 0xfe}
	b := &knob.Bench{
		Device: dev, Lab: true, RxMAC: &to, OwnSpeedWhy: dev.SpeedWhy,
		Settings: []nic.Value{{Setting: nic.Setting{Name: "qdisc", Values: []string{"default", "mq"}}, Now: "default (noqueue)"}},
	}
	b.Config = knob.Defaults(dev, b.RxMAC, true)
	return b
}

// state is what the knob link turns.
type state struct {
	Link, Path, Segment string
	Speed               uint64
}

func stateOf(t *testing.T, b *knob.Bench) state {
	t.Helper()
	get := func(name string) string {
		k, err := knob.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		return k.Get(b)
	}
	return state{get("link"), get("path"), get("segment"), b.Device.Speed}
}

func TestLinkOfALab(t *testing.T) {
	plain := state{"none", "bypass", "software", 0}
	shaped := state{"300Mbit", "qdisc", "off", 300e6}
	for _, c := range []struct {
		name     string
		settings []knob.Setting
		want     state
		refused  string // in the error
	}{
		{"by itself it takes the defaults with it", []knob.Setting{{Knob: "link", Value: "300Mbit"}}, shaped, ""},
		{"with a rate that needs it", []knob.Setting{{Knob: "rate", Value: "40%"}, {Knob: "link", Value: "0.3Gbit"}}, shaped, ""},
		{"with what it needs", []knob.Setting{{Knob: "path", Value: "qdisc"}, {Knob: "segment", Value: "off"}, {Knob: "link", Value: "300Mbit"}}, shaped, ""},
		{"with the bypass, before it", []knob.Setting{{Knob: "path", Value: "bypass"}, {Knob: "link", Value: "300Mbit"}}, plain, "path bypass: link 300Mbit is shaped by the qdisc"},
		{"with the bypass, after it", []knob.Setting{{Knob: "link", Value: "300Mbit"}, {Knob: "path", Value: "bypass"}}, plain, "path bypass: link 300Mbit is shaped by the qdisc"},
		{"with segments", []knob.Setting{{Knob: "link", Value: "300Mbit"}, {Knob: "segment", Value: "software"}}, plain, "segment software: link 300Mbit is shaped"},
		{"with a qdisc", []knob.Setting{{Knob: "link", Value: "300Mbit"}, {Knob: "qdisc", Value: "mq"}}, plain, "qdisc mq: link 300Mbit is a tbf at the root"},
		{"none", []knob.Setting{{Knob: "link", Value: "none"}}, plain, ""},
		{"no speed", []knob.Setting{{Knob: "link", Value: "fast"}}, plain, `"fast" is not a speed`},
		{"a speed that the kernel cannot shape", []knob.Setting{{Knob: "link", Value: "100Gbit"}}, plain, "the kernel shapes up to 34Gbit"},
		{"hardly any", []knob.Setting{{Knob: "link", Value: "10bit"}}, plain, "use none, or 1kbit and more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := labBench()
			undo, err := knob.SetAll(b, c.settings)
			if diff := cmp.Diff(c.want, stateOf(t, b)); diff != "" {
				t.Errorf("after it (-want +got):\n%s", diff)
			}
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) || !errors.Is(err, knob.ErrUsage) {
					t.Errorf("error %v, want one with %q", err, c.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := undo(); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(plain, stateOf(t, b)); diff != "" {
				t.Errorf("undone (-want +got):\n%s", diff)
			}
		})
	}
}

// A link is there before the rate that is a percentage of it, and goes after that.
func TestLinkInOrder(t *testing.T) {
	b := labBench()
	var did []string
	b.SetLink = func(speed uint64) error {
		did = append(did, "link "+knob.SpeedText(speed))
		return nil
	}
	b.Apply = func(c engine.Config) error {
		did = append(did, "rate "+c.Rate.String()+" path "+c.Path.String())
		return nil
	}
	set := func(settings ...knob.Setting) func() error {
		t.Helper()
		undo, err := knob.SetAll(b, settings)
		if err != nil {
			t.Fatal(err)
		}
		return undo
	}
	set(knob.Setting{Knob: "rate", Value: "40%"}, knob.Setting{Knob: "link", Value: "1Gbit"})
	undo := set(knob.Setting{Knob: "rate", Value: "max"}, knob.Setting{Knob: "link", Value: "none"})
	if err := undo(); err != nil {
		t.Fatal(err)
	}
	want := []string{"link 1Gbit", "rate 40% path qdisc", "rate max path qdisc", "link 0bit", "link 1Gbit", "rate 40% path qdisc"}
	if diff := cmp.Diff(want, did); diff != "" {
		t.Errorf("what was done (-want +got):\n%s", diff)
	}
	path, _ := knob.Find("path")
	if _, err := path.Set(b, "bypass"); !errors.Is(err, knob.ErrUnavailable) {
		t.Errorf("the bypass beside a link: %v", err)
	}
}

func TestLinkElsewhereIsStated(t *testing.T) {
	b := labBench()
	b.Lab, b.OwnSpeed, b.OwnSpeedWhy, b.Device.Speed = false, 1e9, "", 1e9
	k, err := knob.Find("link")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text, detail string
		want         state
	}{
		{"none", "the device's 1 Gbit/s", state{"none", "bypass", "software", 1e9}},
		{"10Gbit", "stated", state{"10Gbit", "bypass", "software", 10e9}},
		{"100Gbit", "stated", state{"100Gbit", "bypass", "software", 100e9}},
		{"none", "the device's 1 Gbit/s", state{"none", "bypass", "software", 1e9}},
	} {
		if _, err := k.Set(b, c.text); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, stateOf(t, b)); diff != "" || k.Detail(b) != c.detail {
			t.Errorf("link %s: %q, want %q (-want +got):\n%s", c.text, k.Detail(b), c.detail, diff)
		}
	}
}

func TestLinkTurns(t *testing.T) {
	b := labBench()
	k, err := knob.Find("link")
	if err != nil {
		t.Fatal(err)
	}
	if got := k.Turn(b, 1, false); got != "none" {
		t.Errorf("turned from none to %s", got)
	}
	if _, err := k.Set(b, "300Mbit"); err != nil {
		t.Fatal(err)
	}
	got := []string{k.Turn(b, 1, false), k.Turn(b, -1, false), k.Turn(b, 1, true), k.Turn(b, -100000, true)}
	if diff := cmp.Diff([]string{"302Mbit", "298Mbit", "320Mbit", "1kbit"}, got); diff != "" {
		t.Errorf("turned (-want +got):\n%s", diff)
	}
}
