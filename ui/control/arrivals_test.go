package control

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wirespeed/engine"
	"wirespeed/engine/meter"
	"wirespeed/engine/receive"
	"wirespeed/engine/verify"
)

// verifying is a world with a receiver that verifies.
func verifying(w *world, o *Options) {
	o.Rx = "rx0"
	o.Settings = append(o.Settings, Setting{Knob: "receiver", Value: "verify"})
}

func (w *world) hears(s receive.Snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard.Snapshot = s
}

func TestArrivalsCountSinceTheStartOrTheReset(t *testing.T) {
	inBubble(t, verifying, func(t *testing.T, w *world, r *Run) {
		w.heard.AllNumbered = true
		w.hears(receive.Snapshot{Arrived: 1000, Read: 1000, Counts: verify.Counts{Right: 1000, Received: 900, Missing: 70, Duplicates: 100}})
		start(t, r)
		w.hears(receive.Snapshot{Arrived: 3000, Read: 2900, NotSeen: 40, Counts: verify.Counts{
			Right: 2890, Received: 2780, Missing: 120, Duplicates: 110, Corrupt: 4, BadIPSum: 1, BadL4Sum: 3, Reordered: 5, ExtentMax: 3, Unnumbered: 2,
		}, Foreign: 7, ForeignOK: true})
		v := tick(t, r)
		a := v.Arrivals
		if a == nil || *a.Verified != 1880 || *a.Lost != 120-70-40-4 || *a.Foreign != 9 || a.Duplicates != 10 || *v.Ladder.Verified != 1880 {
			t.Fatalf("%+v", a)
		}
		if a.Whole != nil || a.NoDelay == "" && w.heard.Why != "" {
			t.Errorf("latency %+v, %q", a.Whole, a.NoDelay)
		}
		if said := strings.Join(v.Ladder.Gaps, "\n"); !strings.Contains(said, "receiver limited: 40 frames not seen by us") ||
			!strings.Contains(said, "arrived corrupt: 4 frames (IP checksum 1, UDP or TCP checksum 3)") ||
			!strings.Contains(said, "lost or on the way, by their numbers: 6 frames") {
			t.Errorf("gaps:\n%s", said)
		}
		if log := v.Log[len(v.Log)-1].Text; log != "receiver limited: 40 frames not seen by us so far" {
			t.Errorf("log: %s", log)
		}
		r.Reset()
		if a := tick(t, r).Arrivals; *a.Verified != 0 || *a.Lost != 0 || a.NotSeen != 0 || *a.Foreign != 0 {
			t.Errorf("after the reset %+v", a)
		}
	})
}

// A missing number that comes after all makes the count smaller than it was at the reset: that is not less than none.
func TestWhatComesAfterAllIsNotNegative(t *testing.T) {
	inBubble(t, verifying, func(t *testing.T, w *world, r *Run) {
		w.hears(receive.Snapshot{Counts: verify.Counts{Missing: 9}})
		start(t, r)
		w.hears(receive.Snapshot{Counts: verify.Counts{Missing: 2, Received: 7}})
		if a := tick(t, r).Arrivals; *a.Lost != 0 {
			t.Errorf("lost %d", *a.Lost)
		}
	})
}

func TestTheTailIsAccountedForAtTheEnd(t *testing.T) {
	inBubble(t, verifying, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		tick(t, r)
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
		sent := uint64(w.taken + 1e-6)
		w.hears(receive.Snapshot{Arrived: sent - 5, Read: sent - 5, Counts: verify.Counts{Right: sent - 6, Received: sent - 6, Missing: 3, Corrupt: 1}})
		s := r.Result()
		if *s.Arrivals.Lost != 5 {
			t.Errorf("lost %d of %d sent, want 5: 2 between others and 3 after the last that came", *s.Arrivals.Lost, sent)
		}
		if lines := strings.Join(s.Kept(), "\n"); !strings.Contains(lines, "lost 5,") || !strings.Contains(lines, "corrupt 1") {
			t.Errorf("%s", lines)
		}
	})
}

func TestWhatTellsNothingIsUnknown(t *testing.T) {
	inBubble(t, verifying, func(t *testing.T, w *world, r *Run) {
		w.heard.Unclear = "no room for a number"
		start(t, r)
		v := tick(t, r)
		if v.Arrivals.Lost != nil || v.Arrivals.Verified != nil || v.Ladder.Verified != nil {
			t.Errorf("%+v", v.Arrivals)
		}
		if said := strings.Join(v.Ladder.Gaps, "\n"); !strings.Contains(said, "not verified: no room for a number") {
			t.Errorf("gaps:\n%s", said)
		}
	})
}

func TestCountingOnlyHasNoArrivals(t *testing.T) {
	inBubble(t, func(w *world, o *Options) { o.Rx = "rx0" }, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		if v := tick(t, r); v.Arrivals != nil || v.Ladder.Verified != nil {
			t.Errorf("%+v", v.Arrivals)
		}
	})
}

func TestLatencyOfTheIntervalAndOfTheWhole(t *testing.T) {
	inBubble(t, verifying, func(t *testing.T, w *world, r *Run) {
		rec := meter.NewRecorder()
		jitter := 33.0
		tell := func(negative uint64) {
			w.hears(receive.Snapshot{Latency: &receive.Latency{Distribution: rec.Distribution(), ResolutionNS: 1, ClockErrNS: 40, JitterNS: &jitter, Negative: negative}})
		}
		rec.Record(9_000_000) // before the start
		tell(0)
		start(t, r)
		rec.Record(1000)
		tell(0)
		tick(t, r)
		rec.Record(5000)
		tell(0)
		a := tick(t, r).Arrivals
		if a.Whole == nil || a.Whole.N != 2 || a.Whole.Max > 5010 || a.Recent == nil || a.Recent.N != 1 || a.Recent.Min < 4990 {
			t.Fatalf("whole %+v, recent %+v", a.Whole, a.Recent)
		}
		want := []meter.Bar{{From: 1000, To: 2000, N: 1}, {From: 2000, To: 5000, N: 0}, {From: 5000, To: 10_000, N: 1}}
		if diff := cmp.Diff(want, a.Whole.Bars); diff != "" {
			t.Errorf("bars (-want +got):\n%s", diff)
		}
		if text := a.Whole.String(); !strings.Contains(text, "max 5.00 us, jitter 33 ns of 2 frames") || !strings.Contains(text, "clocks within 40 ns") {
			t.Errorf("%s", text)
		}
		if a := tick(t, r).Arrivals; a.Recent != nil || a.Whole == nil {
			t.Errorf("an interval without a frame: %+v", a.Recent)
		}
		tell(3)
		if a := tick(t, r).Arrivals; a.Whole != nil || !strings.Contains(a.NoDelay, "3 frames seem to have arrived before they were sent") {
			t.Errorf("clocks that do not agree: %+v, %q", a.Whole, a.NoDelay)
		}
	})
}

func TestAnotherReceiverCountsFromZero(t *testing.T) {
	inBubble(t, verifying, func(t *testing.T, w *world, r *Run) {
		w.hears(receive.Snapshot{Counts: verify.Counts{Received: 500}})
		start(t, r)
		tick(t, r)
		for _, word := range []string{"off", "verify"} {
			w.hears(receive.Snapshot{Counts: verify.Counts{Received: 20}})
			if _, err := r.Do("receiver " + word); err != nil {
				t.Fatal(err)
			}
			tick(t, r)
		}
		if a := tick(t, r).Arrivals; *a.Verified != 20 {
			t.Errorf("verified %d", *a.Verified)
		}
	})
}

func TestDelayText(t *testing.T) {
	for _, c := range []struct {
		ns, resolution int64
		want           string
	}{
		{0, 1, "0 ns"},
		{812, 1, "812 ns"},
		{7423, 1, "7.42 us"},
		{7423, 1000, "7 us"},
		{74_230, 1, "74.2 us"},
		{742_300, 1, "742 us"},
		{7_423_000, 1, "7.42 ms"},
		{7_423_000, 1000, "7.42 ms"},
		{1000, 1, "1.00 us"},
		{2_000_000_000, 1000, "2.00 s"},
		{1000, 1000, "1 us"},
	} {
		if got := DelayText(c.ns, c.resolution); got != c.want {
			t.Errorf("%d ns at %d: %q, want %q", c.ns, c.resolution, got, c.want)
		}
	}
}

// The sentences of the issue.
func TestGapsHaveTheirCause(t *testing.T) {
	n := func(v uint64) *uint64 { return &v }
	for _, c := range []struct {
		name string
		l    Ladder
		circ circumstances
		want []string
	}{
		{
			"no carrier, with its time",
			Ladder{Ring: 9000, Taken: 9000, Device: n(6887)},
			circumstances{lost: 2113, outage: 1234 * time.Millisecond},
			[]string{"taken, not at the device: 2,113 frames lost: no carrier for 1.2 s"},
		},
		{
			"a veth counts what its peer's backlog refuses",
			Ladder{Ring: 900, Taken: 900, Device: n(450)},
			circumstances{veth: true, txDrops: 450, backlog: 400},
			[]string{
				"taken, not at the device: 400 frames dropped by the peer's backlog: net.core.netdev_max_backlog",
				"taken, not at the device: 50 frames dropped by the driver (tx_dropped)",
			},
		},
		{
			"the backlog behind a real device",
			Ladder{Ring: 900, Taken: 900, Device: n(900), Arrived: n(500)},
			circumstances{backlog: 400},
			[]string{
				"device, not arrived: 400 frames lost between the device and the receiver",
				"dropped on arrival: 400 frames by the kernel's backlog: net.core.netdev_max_backlog",
			},
		},
		{
			"all of the receiver's",
			Ladder{Ring: 900, Taken: 900, Device: n(900), Arrived: n(900), Verified: n(880)},
			circumstances{arrivals: &Arrivals{
				Received: engine.Received{Snapshot: receive.Snapshot{NotSeen: 1, Counts: verify.Counts{Duplicates: 2, Corrupt: 3, BadLength: 3, Late: 4, Reordered: 1, ExtentMax: 1}}},
				Lost:     n(5),
			}},
			[]string{
				"receiver limited: 1 frame not seen by us (its ring was full; they arrived)", "arrived corrupt: 3 frames (length 3)",
				"arrived again: 2 frames (duplicates)", "arrived too late to tell duplicates from late ones: 4 frames",
				"lost, by their numbers: 5 frames", "reordered: 1 frame, by up to 1 frame",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, gaps(c.l, c.circ)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
