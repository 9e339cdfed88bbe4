package control

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wirespeed/nic"
	"wirespeed/presets/knob"
)

// withSettings gives the world's device some settings.
func withSettings(more ...Setting) func(*world, *Options) {
	return func(w *world, o *Options) {
		w.settings = []nic.Value{
			{Setting: nic.Setting{Name: "pause", Values: []string{"off", "rx", "tx", "rx+tx", "autoneg"}}, Now: "rx+tx"},
			{Setting: nic.Setting{Name: "rings.tx", Range: "1 .. 4096", Min: 1, Max: 4096}, Now: "256"},
			{Setting: nic.Setting{Name: "mtu", Range: "68 .. 9000", Min: 68, Max: 9000}, Now: "1500"},
			{Setting: nic.Setting{Name: "governor", Why: "no governors here"}},
		}
		o.Settings = append(o.Settings, more...)
	}
}

func now(w *world, name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.settings, func(s nic.Value) bool { return s.Name == name })
	return w.settings[i].Now
}

func row(v *View, name string) Knob {
	i := slices.IndexFunc(v.Knobs, func(k Knob) bool { return k.Name == name })
	return v.Knobs[i]
}

func logOf(r *Run) string {
	var lines []string
	for _, e := range r.Events() {
		lines = append(lines, e.Text)
	}
	return strings.Join(lines, "\n")
}

func TestSettingsOfTheCommandLineAreSetFirstAndComeBack(t *testing.T) {
	var w0 *world
	inBubble(t, withSettings(Setting{Knob: "mtu", Value: "9000"}, Setting{Knob: "size", Value: "9000"}, Setting{Knob: "pause", Value: "off"}),
		func(t *testing.T, w *world, r *Run) {
			w0 = w
			if got := now(w, "mtu") + " " + now(w, "pause"); got != "9000 off" {
				t.Errorf("mtu and pause are %s, want 9000 off", got)
			}
			if w.dev.MTU != 9000 || w.cfg.Frame.Size != 9000 {
				t.Errorf("the engine was opened with MTU %d and size %d", w.dev.MTU, w.cfg.Frame.Size)
			}
			if diff := cmp.Diff([]string{"pause rx+tx -> off", "mtu 1500 -> 9000"}, r.Plan()); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	if got := now(w0, "mtu") + " " + now(w0, "pause"); got != "1500 rx+tx" || w0.released != 1 {
		t.Errorf("after Close mtu and pause are %s, released %d times", got, w0.released)
	}
}

func TestDryRunChangesNothing(t *testing.T) {
	inBubble(t, func(w *world, o *Options) {
		withSettings(Setting{Knob: "pause", Value: "off"})(w, o)
		o.DryRun = true
		w.held = errors.New("the guard was opened")
	}, func(t *testing.T, w *world, r *Run) {
		if got := now(w, "pause"); got != "rx+tx" {
			t.Errorf("pause is %s", got)
		}
		if diff := cmp.Diff([]string{"pause rx+tx -> off"}, r.Plan()); diff != "" {
			t.Errorf("plan (-want +got):\n%s", diff)
		}
	})
}

func TestKeepLeavesChanges(t *testing.T) {
	w0 := newWorld()
	o := Options{Device: "tx0", Keep: true, Settings: []Setting{{Knob: "dst-mac", Value: "02:00:00:00:00:02"}}}
	withSettings(Setting{Knob: "pause", Value: "off"})(w0, &o)
	r, err := open(o, w0.parts())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := now(w0, "pause"); got != "off" {
		t.Errorf("pause is %s, want off: it was to be kept", got)
	}
	if diff := cmp.Diff([]string{"pause is kept"}, r.Notes()); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// TestHeld: another session's device is refused, and any other trouble of the guard leaves a session that only sends.
func TestHeld(t *testing.T) {
	w := newWorld()
	o := Options{Device: "tx0", Settings: []Setting{{Knob: "dst-mac", Value: "02:00:00:00:00:02"}}}
	withSettings()(w, &o)
	w.held = nic.ErrHeld
	if _, err := open(o, w.parts()); !errors.Is(err, nic.ErrHeld) {
		t.Errorf("got %v, want ErrHeld", err)
	}
	w.held = errors.New("no place for a journal")
	r, err := open(o, w.parts())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	if _, err := r.Do("pause off"); err == nil || !strings.Contains(err.Error(), "no place for a journal") {
		t.Errorf("pause off: %v", err)
	}
	if got := now(w, "pause"); got != "rx+tx" {
		t.Errorf("pause is %s without a guard", got)
	}
}

func TestAKnobOfTheDeviceEndsTheEpoch(t *testing.T) {
	inBubble(t, withSettings(), func(t *testing.T, w *world, r *Run) {
		start(t, r)
		for range 3 {
			tick(t, r)
		}
		time.Sleep(100 * time.Millisecond)
		said, err := r.Do("pause off")
		if err != nil || said != "pause rx+tx -> off" {
			t.Fatalf("%q, %v", said, err)
		}
		if v := tick(t, r); v.Sample.Epoch != 0 {
			t.Errorf("the sample in which pause was turned belongs to epoch %d", v.Sample.Epoch)
		}
		v := tick(t, r)
		if k := row(v, "pause"); k.Value != "off" {
			t.Errorf("the panel shows pause %s", k.Value)
		}
		if v.Epoch.Label != "pause off" {
			t.Errorf("the epoch is %q", v.Epoch.Label)
		}
		said, err = r.Do("nic diff")
		if err != nil || said != "1 setting is changed: pause rx+tx -> off" {
			t.Errorf("nic diff: %q, %v", said, err)
		}
		if _, err := r.Do("governor performance"); !errors.Is(err, knob.ErrUnavailable) || !strings.Contains(err.Error(), "no governors here") {
			t.Errorf("governor: %v", err)
		}
		if _, err := r.Do("mtu 9000"); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Do("size 9014"); err != nil {
			t.Errorf("a size that the new MTU allows: %v", err)
		}
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
		if got := now(w, "pause"); got != "off" {
			t.Errorf("after the stop pause is %s: the operator's knobs stay until Close", got)
		}
	})
}

func TestOthersAreNoticedWithinASecond(t *testing.T) {
	inBubble(t, withSettings(), func(t *testing.T, w *world, r *Run) {
		start(t, r)
		for range 2 {
			tick(t, r)
		}
		w.mu.Lock()
		fakeGuard{fakeDevice{w}}.put(1, "80", false)
		w.foreign = []nic.Foreign{{Name: "rings.tx", From: "256", To: "80", Ours: true}}
		w.mu.Unlock()
		time.Sleep(1100 * time.Millisecond)
		v := r.Tick()
		if k := row(v, "rings.tx"); k.Value != "80" {
			t.Errorf("the panel shows %s", k.Value)
		}
		if want := "rings.tx 256 -> 80, by somebody else: it is left alone from now on"; !strings.Contains(logOf(r), want) {
			t.Errorf("log without %q:\n%s", want, logOf(r))
		}
	})
}

func TestFactsAreRates(t *testing.T) {
	inBubble(t, withSettings(), func(t *testing.T, w *world, r *Run) {
		count := func(n uint64) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.stats = []nic.Stat{{Name: "tx_queue_0_packets", Value: 1000 * n}, {Name: "rx_errors", Value: 7}}
			tx := 5 * n
			w.paused = nic.PauseFrames{Tx: &tx}
		}
		if v := r.Tick(); v.Facts != nil {
			t.Errorf("facts before two looks: %+v", v.Facts)
		}
		count(1)
		time.Sleep(1100 * time.Millisecond)
		count(2)
		time.Sleep(time.Second)
		v := r.Tick()
		if v.Facts == nil {
			t.Fatal("no facts")
		}
		if diff := cmp.Diff([]nic.StatRate{{Name: "tx_queue_0_packets", PerSecond: 1000, Value: 2000}}, v.Facts.Counters); diff != "" {
			t.Errorf("counters (-want +got):\n%s", diff)
		}
		if v.Facts.PauseTx == nil || *v.Facts.PauseTx != 5 || v.Facts.PauseRx != nil {
			t.Errorf("pause frames %v %v, want 5 and unknown", v.Facts.PauseTx, v.Facts.PauseRx)
		}
		if k := row(v, "pause"); k.Detail != "frames/s rx -, tx 5" {
			t.Errorf("beside the setting: %q", k.Detail)
		}
	})
}

// TestASlowEnd: a NIC that takes long to be put back, as its link goes down for each setting, is waited for, and that is no failure.
func TestASlowEnd(t *testing.T) {
	inBubble(t, func(w *world, o *Options) {
		withSettings(Setting{Knob: "mtu", Value: "9000"})(w, o)
		w.slow = make(chan struct{}, 1)
		w.slow <- struct{}{}
	}, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
		if got := now(w, "mtu"); got != "1500" {
			t.Errorf("mtu is %s", got)
		}
	})
}
