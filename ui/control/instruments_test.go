package control

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wirespeed/engine/meter"
	"wirespeed/nic"
)

// TestInstruments lets a device show each regime to a run whose clock is exact.
func TestInstruments(t *testing.T) {
	queue := func(backlog uint64) []nic.QueueQdisc {
		return []nic.QueueQdisc{{Queue: 0, OneQueue: true, Qdisc: nic.Qdisc{Kind: "pfifo_fast", BacklogPackets: backlog, BacklogBytes: 60 * backlog}}}
	}
	for _, c := range []struct {
		name   string
		line   []string
		queues func(look int) []nic.QueueQdisc
		limits func(int) nic.Limits
		want   meter.Regime
		why    string
		check  func(t *testing.T, i *Instruments)
	}{
		{"direct", []string{"path qdisc"}, func(int) []nic.QueueQdisc { return queue(0) }, nil, meter.Direct, "the queue was empty in 100 %", nil},
		{"queued", []string{"path qdisc"}, func(n int) []nic.QueueQdisc { return queue(uint64(n % 2 * 10)) }, nil, meter.Queued, "of the looks", func(t *testing.T, i *Instruments) {
			q := i.Qdiscs[0]
			if !near(q.Waiting, 0.5, 0.02) || !near(q.Mean, 5, 0.2) || q.Max != 10 || q.MaxBytes != 600 || q.Computed {
				t.Errorf("%+v", q)
			}
		}},
		{
			"bulking, by byte queue limits",
			[]string{"path qdisc"},
			func(int) []nic.QueueQdisc { return queue(38) },
			func(int) nic.Limits { return nic.Limits{InFlight: 6000, Limit: 7200} }, meter.Bulking, "room for 20.0 frames at once", func(t *testing.T, i *Instruments) {
				if d := i.Devices[0]; d.Mean != 100 || d.Limit != 120 || d.Most != 100 || d.MeanBytes != 6000 {
					t.Errorf("%+v", d)
				}
			},
		},
		{"limited by the driver", []string{"path qdisc"}, func(n int) []nic.QueueQdisc {
			q := queue(200)
			q[0].Requeues = uint64(uint32(1<<32 - 1 + n)) // over the wrap
			return q
		}, nil, meter.Limited, "the driver is the limit", func(t *testing.T, i *Instruments) {
			if q := i.Qdiscs[0]; q.Requeues < 50 || q.Requeues > 80 || q.AllReqs == 0 || q.AllReqs > 1000 {
				t.Errorf("%+v: one a look, 66 looks a second", q)
			}
		}},
		{"limited by the link", []string{"path qdisc", "rate 100%"}, func(int) []nic.QueueQdisc { return queue(38) }, nil, meter.Limited, "the link is the limit: 100.0 % of 1 Gbit/s", nil},
		{"no queue", []string{"path qdisc"}, func(int) []nic.QueueQdisc { return []nic.QueueQdisc{} }, nil, meter.Direct, "no queue to wait in", nil},
		{"the bypass", []string{"path bypass"}, func(int) []nic.QueueQdisc { return queue(38) }, nil, meter.Direct, "the bypass leads past the queue", nil},
		{"what cannot be read is not guessed", []string{"path qdisc"}, nil, nil, meter.RegimeUnknown, "not supported", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world, o *Options) {
				looks := 0
				if c.queues != nil {
					w.queues = func() []nic.QueueQdisc { looks++; return c.queues(looks) }
				}
				w.limits = c.limits
			}, func(t *testing.T, w *world, r *Run) {
				for _, line := range c.line {
					if _, err := r.Do(line); err != nil {
						t.Fatal(err)
					}
				}
				if i := r.Tick().Instruments; i.Regime != meter.RegimeUnknown {
					t.Errorf("before the start the regime is %s: %s", i.Regime, i.RegimeWhy)
				}
				start(t, r)
				for range 3 {
					tick(t, r)
				}
				i := r.Tick().Instruments
				if i.Regime != c.want || !strings.Contains(i.RegimeWhy, c.why) {
					t.Fatalf("%s: %s; want %s: %s", i.Regime, i.RegimeWhy, c.want, c.why)
				}
				if c.queues != nil && (i.PerSecond < 50 || i.PerSecond > 100) {
					t.Errorf("%.1f looks a second", i.PerSecond)
				}
				if c.check != nil {
					c.check(t, i)
				}
			})
		})
	}
}

// TestRegimeChanges is what just changed, and after what.
func TestRegimeChanges(t *testing.T) {
	var frames atomic.Uint64
	inBubble(t, func(w *world, o *Options) {
		w.queues = func() []nic.QueueQdisc {
			backlog := frames.Load()
			return []nic.QueueQdisc{{Queue: -1, Qdisc: nic.Qdisc{Kind: "pfifo", BacklogPackets: backlog, BacklogBytes: 60 * backlog}}}
		}
	}, func(t *testing.T, w *world, r *Run) {
		if _, err := r.Do("path qdisc"); err != nil {
			t.Fatal(err)
		}
		start(t, r)
		tick(t, r)
		tick(t, r)
		if _, err := r.Do("burst 8"); err != nil {
			t.Fatal(err)
		}
		frames.Store(100)
		for range 4 {
			time.Sleep(250 * time.Millisecond)
			r.Tick()
		}
		i := r.Tick().Instruments
		if len(i.Changes) != 1 || i.Changes[0].From != meter.Direct || i.Changes[0].To != meter.Queued || i.Changes[0].After != "burst 8" {
			t.Errorf("changes %+v", i.Changes)
		}
		if i.Regime != meter.Queued || i.Since != i.Changes[0].At {
			t.Errorf("%s since %v", i.Regime, i.Since)
		}
	})
}
