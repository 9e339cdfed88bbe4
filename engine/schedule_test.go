package engine

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func rat(t testing.TB, rate string) *big.Rat {
	t.Helper()
	r, err := ParseRate(rate)
	if err != nil {
		t.Fatal(err)
	}
	pps, err := r.PPS(60, Device{Speed: 1e9})
	if err != nil {
		t.Fatal(err)
	}
	return pps
}

// exact is the time of burst k in exact arithmetic, rounded up.
func exact(pps *big.Rat, k, burst uint64) *big.Int {
	t := new(big.Rat).SetFrac(new(big.Int).Mul(new(big.Int).SetUint64(k), new(big.Int).SetUint64(burst)), big.NewInt(1))
	t.Mul(t, big.NewRat(1e9, 1)).Quo(t, pps)
	n := new(big.Int).Add(t.Num(), new(big.Int).Sub(t.Denom(), big.NewInt(1)))
	return n.Div(n, t.Denom())
}

func TestScheduleIsExactAndDoesNotDrift(t *testing.T) {
	for _, rate := range []string{"1pps", "10pps", "1kpps", "100kpps", "1.2Mpps", "14.880952Mpps", "333333.333pps", "40%", "100Mbit", "67ns", "3000000pps", "0.1pps"} {
		for _, burst := range []int{1, 8, 64, 1000} {
			pps := rat(t, rate)
			for _, workers := range []int{1, 2, 7} {
				s := newSchedule(newPace(pps), burst, workers, workers-1, 1000, math.MaxInt64)
				for _, n := range []uint64{0, 1, 1000, 1 << 32, 1 << 33, 1e13} {
					n = n / uint64(workers) / uint64(burst) * uint64(burst)
					k := n/uint64(burst)*uint64(workers) + uint64(workers-1)
					want := new(big.Int).Add(exact(pps, k, uint64(burst)), big.NewInt(1000))
					if !want.IsInt64() {
						continue // beyond 292 years
					}
					at := s.at(n)
					if diff := at - want.Int64(); diff < -1 || diff > 1 {
						t.Errorf("%s burst %d workers %d: frame %d is due at %d ns, want %d", rate, burst, workers, n, at, want)
					}
					if before, then := s.due(at-1), s.due(at); before != n || then != n+uint64(burst) {
						t.Errorf("%s burst %d workers %d: %d frames due before %d ns and %d then, want %d and %d",
							rate, burst, workers, before, at, then, n, n+uint64(burst))
					}
				}
			}
		}
	}
}

func TestScheduleSendsExactlyTheFramesOfTheRun(t *testing.T) {
	tests := []struct {
		rate  string
		burst int
		end   int64
		want  uint64
	}{
		{"100kpps", 1, 5e9, 500_000},
		{"1000pps", 32, 10e9, 10_016}, // 313 bursts begin in [0, 10 s)
		{"1pps", 1, 10e9, 10},
		{"1pps", 1, 10e9 + 1, 11},
		{"3pps", 1, 1e9, 3},
		{"1pps", 1, 1, 1},
		{"1pps", 1, 0, 0},
		{"10kpps", 1, 10e9, 100_000},
	}
	for _, tt := range tests {
		for workers := 1; workers <= 5; workers++ {
			var total, due uint64
			for i := range workers {
				s := newSchedule(newPace(rat(t, tt.rate)), tt.burst, workers, i, 77, 77+tt.end)
				total += s.total()
				due += s.due(math.MaxInt64 / 2)
			}
			if total != tt.want || due != tt.want {
				t.Errorf("%s burst %d for %d ns, %d workers: %d frames, %d due long after, want %d", tt.rate, tt.burst, tt.end, workers, total, due, tt.want)
			}
		}
	}
}

func TestWorkersShareTheStreamEvenly(t *testing.T) {
	whole := newSchedule(newPace(rat(t, "333.3kpps")), 8, 1, 0, 0, math.MaxInt64)
	for range 1000 {
		now := rand.Int64N(1e12)
		var sum uint64
		for i := range 3 {
			s := newSchedule(newPace(rat(t, "333.3kpps")), 8, 3, i, 0, math.MaxInt64)
			sum += s.due(now)
		}
		if sum != whole.due(now) {
			t.Fatalf("at %d ns three workers have %d frames due, one has %d", now, sum, whole.due(now))
		}
	}
}

func TestPaceOfNumbersTooFine(t *testing.T) {
	for _, rate := range []string{"1234567.89012345678pps", "0.000023148148148148pps", "99999999999999999999ns", "3.141592653589793238%"} {
		pps := rat(t, rate)
		p := newPace(pps)
		got := new(big.Rat).SetFrac(new(big.Int).SetUint64(p.num), new(big.Int).SetUint64(p.den))
		got.Mul(got, big.NewRat(1e9, 1)).Quo(got, pps).Sub(got, big.NewRat(1, 1)).Abs(got)
		if err, _ := got.Float64(); pps.Cmp(slowest) >= 0 && err > 1e-12 {
			t.Errorf("%s: relative error %g", rate, err)
		}
	}
}

// driver runs a worker's account against a clock of its own: no ring, frames leave the moment they may.
type driver struct {
	w    worker
	now  int64
	sent []int64 // time of each frame
}

func newDriver(t testing.TB, rate string, burst, workers int, end int64) *driver {
	p := newPace(rat(t, rate))
	d := &driver{}
	d.w.batch = maxBatch
	d.w.cur = &plan{
		paced: true, burst: uint64(burst), end: end,
		schedule: newSchedule(p, burst, workers, 0, 0, end),
		bucket:   newBucket(p, burst, workers, 0),
	}
	d.w.bucket = d.w.cur.bucket
	return d
}

// run lets the worker have the CPU until a time.
func (d *driver) run(until int64) {
	for d.now < until && !d.w.ended {
		n, next := d.w.want(d.now)
		for range n {
			d.sent = append(d.sent, d.now)
		}
		d.w.done += uint64(n)
		if n > 0 {
			d.w.bucket.left(n, d.now, d.now+100)
		}
		if n == 0 {
			d.now = max(next, d.now+1)
		} else {
			d.now += 100 // what a kick takes
		}
	}
	d.now = max(d.now, until)
}

func TestDebtRule(t *testing.T) {
	tests := []struct {
		name         string
		rate         string
		burst        int
		away         int64  // ns off the CPU, from 50 ms on
		missed       uint64 // give or take a burst
		backOnWithin int64  // ns after the CPU is back
	}{
		{"10 ms away at 100 kpps", "100kpps", 1, 10e6, 0, 20e6},
		{"10 ms away at 1 Mpps in bursts", "1Mpps", 64, 10e6, 0, 20e6},
		{"10 ms away at 1 kpps", "1kpps", 1, 10e6, 0, 20e6},
		{"90 ms away", "100kpps", 8, 90e6, 0, 150e6},
		{"1 s away", "100kpps", 1, 1e9, 90_000, 160e6},
		{"1 s away at 1 Mpps", "1Mpps", 32, 1e9, 900_000, 160e6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDriver(t, tt.rate, tt.burst, 1, 3e9)
			d.run(50e6)
			d.now += tt.away
			back := d.now
			// On schedule again: no more owed than what has just come due.
			for d.w.settle(d.now) > uint64(tt.burst) || d.now == back {
				d.run(d.now + 100e3)
				if d.now > back+1e9 {
					t.Fatal("never back on schedule")
				}
			}
			if took := d.now - back; took > tt.backOnWithin {
				t.Errorf("back on schedule after %d ns, want within %d", took, tt.backOnWithin)
			}
			d.run(4e9)
			missed := d.w.tally.missed
			if diff := int64(missed) - int64(tt.missed); diff < -int64(tt.burst) || diff > int64(2*tt.burst) {
				t.Errorf("%d frames missed, want %d", missed, tt.missed)
			}
			if uint64(len(d.sent))+missed != d.w.tally.asked || d.w.tally.asked != d.w.cur.schedule.total() {
				t.Errorf("sent %d and missed %d of %d asked, want %d", len(d.sent), missed, d.w.tally.asked, d.w.cur.schedule.total())
			}
			pps, _ := rat(t, tt.rate).Float64()
			window := int64(max(1e6, 4*float64(tt.burst)/pps*1e9))
			most := 0
			for i, j := 0, 0; j < len(d.sent); j++ {
				for d.sent[j]-d.sent[i] >= window {
					i++
				}
				most = max(most, j-i+1)
			}
			if limit := 2 * pps * float64(window) / 1e9; float64(most) > limit+1 {
				t.Errorf("%d frames within %d ns, the limit is twice the rate: %.0f", most, window, limit)
			}
		})
	}
}

func TestBurstDoesNotChangeTheRate(t *testing.T) {
	for _, burst := range []int{1, 2, 32, 1000, 1024} {
		d := newDriver(t, "10kpps", burst, 1, 10e9)
		d.run(11e9)
		if diff := len(d.sent) - 100_000; diff < 0 || diff >= burst {
			t.Errorf("burst %d: %d frames in 10 s at 10 kpps", burst, len(d.sent))
		}
	}
}

func TestEvenFromTheFirstMillisecond(t *testing.T) {
	d := newDriver(t, "100kpps", 1, 1, math.MaxInt64)
	d.run(100e6)
	for i := 1; i < len(d.sent); i++ {
		if gap := d.sent[i] - d.sent[i-1]; gap < 9_000 || gap > 11_000 {
			t.Fatalf("frame %d left %d ns after the one before, want 10000", i, gap)
		}
	}
	if len(d.sent) != 10_000 {
		t.Errorf("%d frames in the first 100 ms, want 10000", len(d.sent))
	}
}

func FuzzSchedule(f *testing.F) {
	f.Add(uint64(1), uint64(1e9), 1, 1, int64(5e9))
	f.Add(uint64(1488095), uint64(1e12), 1024, 3, int64(1e18))
	f.Fuzz(func(t *testing.T, num, den uint64, burst, workers int, now int64) {
		if burst < 1 || burst > MaxBurst || workers < 1 || workers > 64 || now < 0 || num == 0 || den == 0 {
			return
		}
		pps := new(big.Rat).SetFrac(new(big.Int).SetUint64(num), new(big.Int).SetUint64(den))
		if pps.Cmp(slowest) < 0 || pps.Cmp(fastest) > 0 {
			return
		}
		s := newSchedule(newPace(pps), burst, workers, workers-1, 0, math.MaxInt64)
		due := s.due(now)
		if due == math.MaxUint64 || due > 1<<62 {
			return
		}
		if next := s.at(due); next <= now {
			t.Fatalf("at %d ns %d frames are due, but the next was due at %d", now, due, next)
		}
		if due > 0 {
			if last := s.at(due - 1); last > now {
				t.Fatalf("at %d ns %d frames are due, but the last only at %d", now, due, last)
			}
		}
	})
}
