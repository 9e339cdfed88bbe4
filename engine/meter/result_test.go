package meter

import (
	"math"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestResult(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		name          string
		total, waited time.Duration
		packets       uint64
		size          int
		errors        uint64
		want          string
	}{
		{
			"the one people quote", 70408581 * us, 2602 * us, 100000000, 60, 0,
			"Result: OK: 70408581(c70405979+d2602) usec, 100000000 (60byte,0frags)\n  1420281pps 681Mb/sec (681734880bps) errors: 0",
		},
		{
			"errors", 2 * time.Second, time.Second, 3, 1514, 7,
			"Result: OK: 2000000(c1000000+d1000000) usec, 3 (1514byte,0frags)\n  1pps 0Mb/sec (12112bps) errors: 7",
		},
		{
			"nothing", 0, 0, 0, 60, 0,
			"Result: OK: 0(c0+d0) usec, 0 (60byte,0frags)\n  0pps 0Mb/sec (0bps) errors: 0",
		},
		{
			"waited longer than it ran", time.Second, 2 * time.Second, 1000, 60, 0,
			"Result: OK: 1000000(c0+d1000000) usec, 1000 (60byte,0frags)\n  1000pps 0Mb/sec (480000bps) errors: 0",
		},
		{
			"more than 64 bits", 10000000 * time.Second, 0, 1e13, 9014, math.MaxUint64,
			"Result: OK: 10000000000000(c10000000000000+d0) usec, 10000000000000 (9014byte,0frags)\n  1000000pps 72112Mb/sec (72112000000bps) errors: 18446744073709551615",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Result(c.total, c.waited, c.packets, c.size, c.errors)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

var resultForm = regexp.MustCompile(`^Result: OK: \d+\(c\d+\+d\d+\) usec, \d+ \(-?\d+byte,0frags\)\n  \d+pps \d+Mb/sec \(\d+bps\) errors: \d+$`)

func FuzzResult(f *testing.F) {
	f.Add(int64(1), int64(0), uint64(math.MaxUint64), 60, uint64(0))
	f.Add(int64(math.MinInt64), int64(math.MinInt64), uint64(1), math.MinInt, uint64(1))
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), uint64(1), math.MaxInt, uint64(1))
	f.Fuzz(func(t *testing.T, total, waited int64, packets uint64, size int, errors uint64) {
		if s := Result(time.Duration(total), time.Duration(waited), packets, size, errors); !resultForm.MatchString(s) {
			t.Fatalf("%q", s)
		}
	})
}

func TestResultOfAMix(t *testing.T) {
	got := ResultOf(10*time.Second, 0, 1200, 12, 4294, 0) // seven frames of 60, four of 590, one of 1514
	if want := "Result: OK: 10000000(c10000000+d0) usec, 1200 (358byte,0frags)\n  120pps 0Mb/sec (343520bps) errors: 0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
