package control

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestGapsInWords(t *testing.T) {
	n := func(v uint64) *uint64 { return &v }
	for _, c := range []struct {
		name   string
		ladder Ladder
		circ   circumstances
		want   []string
	}{
		{
			"all the same",
			Ladder{Asked: n(100), Ring: 100, Taken: 100, Device: n(100), Arrived: n(100)},
			circumstances{},
			nil,
		},
		{
			"missed",
			Ladder{Asked: n(1500), Ring: 100, Taken: 100, Device: n(100)},
			circumstances{missed: 1400},
			[]string{"asked, not in the ring: missed 1,400 frames, owed for too long and given up"},
		},
		{
			"missed while others ran",
			Ladder{Asked: n(1500), Ring: 100, Taken: 100, Device: n(100)},
			circumstances{missed: 1400, away: 3140 * time.Millisecond},
			[]string{"asked, not in the ring: missed 1,400 frames, owed for too long and given up: others had the workers' CPUs for 3.1 s"},
		},
		{
			"stuck in the kernel",
			Ladder{Ring: 101, Taken: 100, Device: n(100)},
			circumstances{over: true},
			[]string{"in the ring, not taken: 1 frame never let go of by the kernel"},
		},
		{
			"waiting for the carrier",
			Ladder{Ring: 344, Taken: 100, Device: n(100)},
			circumstances{},
			[]string{"in the ring, not taken: 244 frames still in the kernel"},
		},
		{
			"each cause of a loss",
			Ladder{Ring: 9000, Taken: 9000, Device: n(2000), Arrived: n(1999)},
			circumstances{lost: 1000, qdiscDrops: 2000, txDrops: 3000},
			[]string{
				"taken, not at the device: 1,000 frames lost: no carrier",
				"taken, not at the device: 2,000 frames dropped by the qdisc",
				"taken, not at the device: 3,000 frames dropped by the driver (tx_dropped)",
				"taken, not at the device: 1,000 frames, no counter says why",
				"device, not arrived: 1 frame lost between the device and the receiver",
			},
		},
		{
			"a cause never explains more than there is",
			Ladder{Ring: 10, Taken: 10, Device: n(8)},
			circumstances{qdiscDrops: 50},
			[]string{"taken, not at the device: 2 frames dropped by the qdisc"},
		},
		{
			"a driver that drops what the ring offers again and again",
			Ladder{Ring: 76, Taken: 0, Device: n(0)},
			circumstances{over: true, inKernel: 76, txDrops: 1011},
			[]string{"in the ring, not taken: 76 frames that the driver drops whenever they are offered (tx_dropped 1,011): is the peer's MTU too small, or the peer down?"},
		},
		{
			"read one after the other at full speed",
			Ladder{Ring: 1_000_000, Taken: 999_000, Device: n(1_002_000), Arrived: n(1_001_900)},
			circumstances{moving: true, device: "v0", meanwhile: 2000},
			nil,
		},
		{
			"more than can leave meanwhile",
			Ladder{Ring: 1_000_000, Taken: 999_000, Device: n(1_003_000)},
			circumstances{moving: true, device: "v0", meanwhile: 2000},
			[]string{"device above taken: 4,000 frames of others on v0"},
		},
		{
			"frames of others",
			Ladder{Ring: 10, Taken: 10, Device: n(16), Arrived: n(10)},
			circumstances{device: "v0"},
			[]string{"device above taken: 6 frames of others on v0"},
		},
		{
			"on the way while frames flow",
			Ladder{Asked: n(9010), Ring: 9000, Taken: 8990, Device: n(8995), Arrived: n(8000)},
			circumstances{moving: true, workers: 1, inKernel: 10},
			nil,
		},
		{
			"no device count: arrived is held against taken",
			Ladder{Ring: 10, Taken: 10, Arrived: n(7)},
			circumstances{},
			[]string{"taken, not arrived: 3 frames lost between the device and the receiver"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, gaps(c.ladder, c.circ)); diff != "" {
				t.Errorf("gaps (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLadderCountsFromTheStart(t *testing.T) {
	inBubble(t, func(w *world, o *Options) {
		o.Rx, o.Limit.Duration = "rx0", 2e9
		w.device, w.arrived, w.taken = 5000, 5000, 5000
	}, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		<-r.Done()
		got := r.Result()
		n := uint64(2e6)
		want := Ladder{Ring: n, Taken: n, Device: &n, Arrived: &n}
		if diff := cmp.Diff(want, got.Ladder); diff != "" {
			t.Errorf("ladder (-want +got):\n%s", diff)
		}
		if got.TxPackets != n || got.TxSource != "device" || *got.RxPackets != n || !near(got.AvgPPS, 1e6, 1) {
			t.Errorf("summary %+v", got)
		}
		const result = "Result: OK: 2000000(c2000000+d0) usec, 2000000 (60byte,0frags)\n  1000000pps 480Mb/sec (480000000bps) errors: 0"
		if got.Result != result {
			t.Errorf("result\n%s\nwant\n%s", got.Result, result)
		}
	})
}

func TestAskedIsUnknownOnceThereWasNoSchedule(t *testing.T) {
	inBubble(t, func(_ *world, o *Options) { o.Settings = append(o.Settings, Setting{Knob: "rate", Value: "1kpps"}) },
		func(t *testing.T, w *world, r *Run) {
			start(t, r)
			if v := tick(t, r); v.Ladder.Asked == nil || *v.Ladder.Asked != 1000 {
				t.Errorf("asked %v, want 1000", deref(v.Ladder.Asked))
			}
			for _, line := range []string{"rate max", "rate 2kpps"} {
				if _, err := r.Do(line); err != nil {
					t.Fatal(err)
				}
			}
			if v := tick(t, r); v.Ladder.Asked != nil {
				t.Errorf("asked %d, want unknown", *v.Ladder.Asked)
			}
		})
}
