package engine

import (
	"math"
	"runtime"
	"testing"
)

// bench is a worker on a real ring whose steps the test makes itself.
func bench(t testing.TB, rate string) *worker {
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
	p, err := compile(base(t, tx, rate), tx, 0, e.clock.now(), math.MaxInt64, false)
	if err != nil {
		t.Fatal(err)
	}
	p.serial = 1
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
