package engine

import (
	"math"
	"math/big"
	"math/bits"
)

// pace is a rate: num frames in den nanoseconds.
type pace struct{ num, den uint64 }

// paceBits bounds num and den*burst so that no product below overflows 128 bits.
const paceBits = 52

// newPace turns frames per second into a pace. A number too fine for 52 bits becomes the last convergent of its continued fraction that
// fits (Khinchin, Continued Fractions, theorem 9): the error is below 1/den^2.
func newPace(pps *big.Rat) pace {
	x := new(big.Rat).Quo(pps, big.NewRat(1e9, 1))
	n, d := new(big.Int).Set(x.Num()), new(big.Int).Set(x.Denom())
	p0, q0, p1, q1 := big.NewInt(0), big.NewInt(1), big.NewInt(1), big.NewInt(0)
	for d.Sign() > 0 {
		a, rest := new(big.Int).QuoRem(n, d, new(big.Int))
		p2 := new(big.Int).Add(new(big.Int).Mul(a, p1), p0)
		q2 := new(big.Int).Add(new(big.Int).Mul(a, q1), q0)
		if max(p2.BitLen(), q2.BitLen()) > paceBits {
			break
		}
		p0, q0, p1, q1 = p1, q1, p2, q2
		n, d = d, rest
	}
	return pace{num: p1.Uint64(), den: q1.Uint64()}
}

// schedule is the part of one worker in an absolute schedule: burst k of the stream is due at origin + k*burst*den/num, and worker index of
// workers sends the bursts k = index, index+workers, index+2*workers ... Nothing in it depends on when a frame was really sent, so it
// neither drifts nor runs away. Times are ns of the engine's clock.
type schedule struct {
	pace    pace
	burst   uint64
	workers uint64
	index   uint64
	origin  int64
	bursts  uint64 // of the whole stream in the run; MaxUint64 without an end
}

// newSchedule makes the schedule of worker index for bursts due in [origin, end).
func newSchedule(p pace, burst, workers, index int, origin, end int64) schedule {
	s := schedule{pace: p, burst: uint64(burst), workers: uint64(workers), index: uint64(index), origin: origin, bursts: math.MaxUint64}
	switch {
	case end == math.MaxInt64:
	case end <= origin:
		s.bursts = 0
	default: // burst k is in the run if k*burst*den/num < end-origin
		s.bursts = mulDivUp(uint64(end-origin), p.num, p.den*s.burst)
	}
	return s
}

// due is how many frames of this worker have come due by now.
func (s *schedule) due(now int64) uint64 {
	if now < s.origin {
		return 0
	}
	k := mulDiv(uint64(now-s.origin), s.pace.num, s.pace.den*s.burst)
	return s.framesOf(min(k+1, s.bursts))
}

// total is how many frames this worker has to send in all.
func (s *schedule) total() uint64 {
	if s.bursts == math.MaxUint64 {
		return math.MaxUint64
	}
	return s.framesOf(s.bursts)
}

// framesOf is how many frames of the first k bursts of the stream are this worker's.
func (s *schedule) framesOf(k uint64) uint64 {
	if k <= s.index {
		return 0
	}
	return ((k-s.index-1)/s.workers + 1) * s.burst
}

// at is when the worker's frame number n (from 0) is due. MaxInt64 past any time.
func (s *schedule) at(n uint64) int64 {
	k := n/s.burst*s.workers + s.index
	t := mulDivUp(k*s.burst, s.pace.den, s.pace.num)
	if t > math.MaxInt64-uint64(max(s.origin, 0)) {
		return math.MaxInt64
	}
	return s.origin + int64(t)
}

// mulDiv is floor(a*b/c) with a 128-bit product, MaxUint64 where that does not fit.
func mulDiv(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi >= c {
		return math.MaxUint64
	}
	q, _ := bits.Div64(hi, lo, c)
	return q
}

// mulDivUp is ceil(a*b/c), likewise.
func mulDivUp(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi >= c {
		return math.MaxUint64
	}
	q, r := bits.Div64(hi, lo, c)
	if r > 0 {
		q++
	}
	return q
}

// The debt rule (DESIGN.md section 4): frames owed are worked off at no more than twice the asked rate over any window W of max(1 ms, 4 bursts).
// A token bucket of depth b and refill r lets at most r*W + b pass in any W. r is 1.75 times the asked rate; b is a burst, or an eighth of what the
// asked rate sends in W where that is more. The remaining eighth covers that frames leave up to debtShift after they were allowed.
const (
	debtWindow = 1e6 // ns
	debtDepth  = 0.125
	debtRefill = 1.75
	debtShift  = 70e3  // ns
	debtMax    = 100e6 // ns; older debt is given up
	debtFresh  = 1e6   // ns; younger debt dropped by a change of plan was never asked for, rather than missed
)

// bucket is the token bucket of one worker, in frames.
type bucket struct {
	refill float64 // frames per ns
	depth  float64
	tokens float64
	last   int64
	cost   float64 // ns that a frame takes to leave, smoothed
}

func newBucket(p pace, burst, workers int, now int64) bucket {
	rate := float64(p.num) / float64(p.den) / float64(workers)
	window := max(debtWindow, 4*float64(burst)/rate)
	b := bucket{refill: debtRefill * rate, depth: max(float64(burst), debtDepth*rate*window), last: now, cost: 1000}
	b.tokens = b.depth
	return b
}

// allow is how many of want frames may leave now: whole bursts, except that a burst already begun (rest frames of it are still to go) is
// finished first.
func (b *bucket) allow(now int64, want, burst, rest uint64) uint64 {
	b.tokens = min(b.depth, b.tokens+b.refill*float64(now-b.last))
	b.last = now
	if b.tokens < 0 {
		return min(want, rest)
	}
	// The bucket is never shallower than a burst; the small term takes up rounding.
	whole := uint64((b.tokens + 1e-6*float64(burst)) / float64(burst))
	return min(want, rest+whole*burst)
}

// left takes n frames that were allowed at one time and had all left by another. A thread that lost its CPU in between sent later than it was
// allowed to: that time earns no tokens, or the frames allowed next would crowd behind.
func (b *bucket) left(n int, allowed, now int64) {
	b.tokens -= float64(n)
	took := float64(now - allowed)
	if fair := max(debtShift, 1.5*b.cost*float64(n)); took > fair {
		b.last = max(b.last, now-int64(fair))
	}
	b.cost += (min(took/float64(n), 2*b.cost) - b.cost) / 16
}

// ready is when the next whole burst may leave.
func (b *bucket) ready(burst uint64) int64 {
	if b.tokens >= float64(burst) {
		return b.last
	}
	return b.last + int64(math.Ceil((float64(burst)-b.tokens)/b.refill))
}
