package meter

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func at(count uint64, t, bracket time.Duration) Reading {
	return Reading{Count: count, At: t, Err: bracket / 2, OK: true}
}

func TestDelta(t *testing.T) {
	const s, us = time.Second, time.Microsecond
	type delta struct {
		PPS, ErrNS float64
		OK         bool
	}
	for _, c := range []struct {
		name string
		a, b Reading
		want delta
	}{
		{"a second", at(100, 0, 0), at(1100, s, 0), delta{1000, 0, true}},
		{"the measured interval, not the nominal", at(0, 0, 0), at(1000, 999*time.Millisecond, 0), delta{1000 / 0.999, 0, true}},
		{"nothing sent", at(5, 0, 10*us), at(5, s, 10*us), delta{0, 0, true}},
		// 0.2 ms in 1 s is 0.14 ns per packet at 1.4 Mpps (KERNEL.md); here both readings have half of it to either side
		{"error of the brackets", at(0, 0, 200*us), at(1_400_000, s, 200*us), delta{1.4e6, 200e3 / 1.4e6, true}},
		{"beyond 63 bits", at(1<<63-500, 0, 0), at(1<<63+500, s, 0), delta{1000, 0, true}},
		{"all 64 bits", at(0, 0, 0), at(math.MaxUint64, s, 0), delta{math.MaxUint64, 0, true}},
		{"a reset", at(1000, 0, 0), at(10, s, 0), delta{}},
		{"a reset at the top", at(math.MaxUint64, 0, 0), at(0, s, 0), delta{}},
		{"no first", Reading{}, at(10, s, 0), delta{}},
		{"no second", at(10, 0, 0), Reading{At: s}, delta{}},
		{"no time", at(10, s, 0), at(20, s, 0), delta{}},
		{"time backwards", at(10, s, 0), at(20, 0, 0), delta{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			pps, errNS, ok := Delta(c.a, c.b)
			if diff := cmp.Diff(c.want, delta{pps, errNS, ok}, near); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzDelta(f *testing.F) {
	f.Add(uint64(0), uint64(1), int64(0), int64(1), int64(0), int64(0))
	f.Add(uint64(math.MaxUint64), uint64(0), int64(math.MinInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(-1))
	f.Fuzz(func(t *testing.T, ca, cb uint64, ta, tb, ea, eb int64) {
		pps, errNS, ok := Delta(
			Reading{Count: ca, At: time.Duration(ta), Err: time.Duration(ea), OK: true},
			Reading{Count: cb, At: time.Duration(tb), Err: time.Duration(eb), OK: true})
		if math.IsNaN(pps) || math.IsInf(pps, 0) || pps < 0 || math.IsNaN(errNS) || math.IsInf(errNS, 0) || errNS < 0 {
			t.Fatalf("%v pps, error %v", pps, errNS)
		}
		if ok && cb < ca {
			t.Fatal("a counter that went backwards is OK")
		}
	})
}

func TestBracket(t *testing.T) {
	const us = time.Microsecond
	gone := errors.New("no such device")
	type step struct {
		width time.Duration // of this read's bracket
		count uint64
		err   error
	}
	for _, c := range []struct {
		name  string
		steps []step
		want  Reading
		err   error
		reads int
	}{
		{"narrow at once", []step{{50 * us, 7, nil}}, at(7, 25*us, 50*us), nil, 1},
		{"narrow at the third", []step{{90 * us, 7, nil}, {60 * us, 8, nil}, {10 * us, 9, nil}}, at(9, 155*us, 10*us), nil, 3},
		{"never narrow: the best of five", []step{{90 * us, 1, nil}, {80 * us, 2, nil}, {60 * us, 3, nil}, {70 * us, 4, nil}, {100 * us, 5, nil}}, at(3, 200*us, 60*us), nil, 5},
		{"gone", []step{{us, 0, gone}}, Reading{}, gone, 1},
		{"gone later", []step{{90 * us, 7, nil}, {us, 0, gone}}, at(7, 45*us, 90*us), nil, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var clock time.Duration
			reads := 0
			got, err := Bracket(time.Second, func() time.Duration { return clock }, func() (uint64, error) {
				s := c.steps[reads]
				reads++
				clock += s.width
				return s.count, s.err
			})
			if !errors.Is(err, c.err) || reads != c.reads {
				t.Errorf("error %v after %d reads, want %v after %d", err, reads, c.err, c.reads)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
