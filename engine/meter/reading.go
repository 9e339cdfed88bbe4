package meter

import (
	"math"
	"time"
)

// Reading is one value of a counter and when it was read. The clock is read before and after the counter: At is the
// middle, since any origin that all compared readings share, and Err half the bracket. OK is false where the counter
// could not be read; such a reading is never a zero.
type Reading struct {
	Count uint64
	At    time.Duration
	Err   time.Duration
	OK    bool
}

// Between is the reading of a counter that was read between two looks at the clock.
func Between(before, after time.Duration, count uint64) Reading {
	half := (after - before) / 2
	return Reading{Count: count, At: before + half, Err: half, OK: true}
}

// tries is how often Bracket reads at most.
const tries = 5

// Wide says whether a bracket is too wide for an interval: over 0.005 % of it.
func Wide(bracket, interval time.Duration) bool {
	return float64(bracket) > float64(interval)*0.00005
}

// Bracket reads a counter between two looks at the clock, and again while the bracket is too wide for the interval that it will be
// compared over, five times at most: a thread that lost its CPU between clock and counter does not know when it read. It returns the
// reading with the narrowest bracket. An error of read ends it: with the reading there is by then, else with one that is not OK and the
// error. It blocks as long as read does.
func Bracket(interval time.Duration, now func() time.Duration, read func() (uint64, error)) (Reading, error) {
	var best Reading
	for range tries {
		before := now()
		count, err := read()
		after := now()
		if err != nil {
			if best.OK {
				return best, nil
			}
			return Reading{}, err
		}
		if r := Between(before, after, count); !best.OK || r.Err < best.Err {
			best = r
		}
		if !Wide(after-before, interval) {
			break
		}
	}
	return best, nil
}

// Delta is the rate between two readings of one counter, a before b, over the time between them as it was measured, and by how many ns
// per packet the two brackets may have made it wrong (0 at 0 pps, where there is no time per packet). ok is false, and the rate nothing,
// where a reading is not OK, no time has passed, or the counter went backwards: it was reset, and what it counted until then is gone.
func Delta(a, b Reading) (pps, errNS float64, ok bool) {
	interval := b.At - a.At
	if !a.OK || !b.OK || interval <= 0 || b.Count < a.Count {
		return 0, 0, false
	}
	n := float64(b.Count - a.Count)
	if n == 0 {
		return 0, 0, true
	}
	// half the brackets / interval * ns per packet, where ns per packet is interval / n
	return n / interval.Seconds(), math.Abs(float64(a.Err)+float64(b.Err)) / n, true
}
