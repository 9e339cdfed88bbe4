package engine

import (
	"math"
	"runtime"
	"testing"
)

// bench is a worker on a real ring whose steps the test makes itself.
func bench(t testing.TB, rate string) *worker {
	t.Helper()
	return benchOf(t, rate, func(c Config) Config { return c })
}

// benchOf is bench with another stream.
func benchOf(t testing.TB, rate string, change func(Config) Config) *worker {
	t.Helper()
	runtime.LockOSThread() // adopt pins it; it ends with the test's goroutine
	tx, _ := pair(t, 1)
	q, err := openQueue(tx, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.close() })
	e := &Engine{clock: newClock()}
	e.carrier.Store(true)
	s := &shared{clock: &e.clock, carrier: &e.carrier, forgive: &e.forgive}
	w := newWorker(s, q)
	cfg := change(base(t, tx, rate))
	p, err := compile(cfg, tx, 0, e.clock.now(), math.MaxInt64, false)
	if err != nil {
		t.Fatal(err)
	}
	p.serial = 1
	if p.source, err = newSource(cfg, tx, 0, func() uint64 { return 2 }); err != nil {
		t.Fatal(err)
	}
	if err := w.adopt(p, e.clock.now()); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestHotLoopAllocatesNothing(t *testing.T) {
	for _, rate := range []string{"max", "900kpps"} {
		t.Run(rate, func(t *testing.T) {
			w := bench(t, rate)
			now := w.shared.clock.now()
			allocs := testing.AllocsPerRun(2000, func() {
				read, until, err := w.step(now)
				if err != nil {
					t.Fatal(err)
				}
				now = w.await(read, until)
			})
			if allocs != 0 {
				t.Errorf("%v allocations per batch", allocs)
			}
			if w.tally.taken == 0 {
				t.Error("nothing was sent")
			}
		})
	}
}

// BenchmarkStep sends at max; ns/op is per frame, and user-ns/frame is the share outside the kernel.
func BenchmarkStep(b *testing.B) {
	w := bench(b, "max")
	b.ReportAllocs()
	b.ResetTimer()
	for now := w.shared.clock.now(); w.tally.taken < uint64(b.N); {
		read, until, err := w.step(now)
		if err != nil {
			b.Fatal(err)
		}
		now = w.await(read, until)
	}
	b.ReportMetric(float64(w.tally.user)/float64(w.tally.taken), "user-ns/frame")
	b.ReportMetric(float64(w.tally.kernel)/float64(w.tally.taken), "kernel-ns/frame")
}

// BenchmarkFill is a worker's own work per frame: it fills slots over and over and never gives them to the kernel.
func BenchmarkFill(b *testing.B) {
	w := bench(b, "max")
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n += maxBatch {
		w.fill(maxBatch, int64(n))
		w.frames.tail, w.frames.tailSlot = w.frames.head, w.frames.headSlot
	}
}

func TestMixedHotLoopAllocatesNothing(t *testing.T) {
	for name, change := range map[string]func(Config) Config{
		"imix":        func(c Config) Config { return sized(t, c, "imix") },
		"four fields": fourFields,
		"streams": func(c Config) Config {
			c.Streams = []Stream{{Name: "a", Frame: c.Frame, Weight: 1}, {Name: "b", Frame: fourFields(c).Frame, Weight: 3}}
			return c
		},
		"capture": func(c Config) Config {
			c.Load = &Load{Name: "x.pcap", Capture: recorded(t, 100)}
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := benchOf(t, "max", change)
			now := w.shared.clock.now()
			allocs := testing.AllocsPerRun(1000, func() {
				read, until, err := w.step(now)
				if err != nil {
					t.Fatal(err)
				}
				now = w.await(read, until)
			})
			if allocs != 0 {
				t.Errorf("%v allocations per batch", allocs)
			}
			if w.tally.taken == 0 {
				t.Error("nothing was sent")
			}
		})
	}
}

// BenchmarkModified sends plain frames, and frames of which four header fields and both checksums change, in turns of a few milliseconds. "speed" is the
// second kind's share of the first one's, of the fastest turns of each: 1 is no loss. Both in linear slots.
func BenchmarkModified(b *testing.B) {
	linear := func(c Config) Config { c.Slot = SlotLinear; return c }
	w := benchOf(b, "max", linear)
	tx := device(b, "v0", 1)
	cfg := linear(fourFields(base(b, tx, "max")))
	modified, err := compile(cfg, tx, 0, 0, math.MaxInt64, false)
	if err == nil {
		modified.serial = 3
		modified.source, err = newSource(cfg, tx, 0, func() uint64 { return 4 })
	}
	if err != nil {
		b.Fatal(err)
	}
	plans := [2]*plan{w.cur, modified}
	best := [2]float64{math.Inf(1), math.Inf(1)}
	b.ReportAllocs()
	b.ResetTimer()
	for sent := uint64(0); sent < uint64(b.N); {
		for i, p := range plans {
			now := w.shared.clock.now()
			if err := w.adopt(p, now); err != nil {
				b.Fatal(err)
			}
			for range 20 { // 2,560 frames
				from, begin := w.tally.taken, now
				read, until, err := w.step(now)
				if err != nil {
					b.Fatal(err)
				}
				now = w.await(read, until)
				if n := w.tally.taken - from; n > 0 {
					best[i] = min(best[i], float64(now-begin)/float64(n))
				}
			}
		}
		sent = w.tally.taken
	}
	b.ReportMetric(best[0], "plain-ns/frame")
	b.ReportMetric(best[1], "modified-ns/frame")
	b.ReportMetric(best[0]/best[1], "speed")
}
