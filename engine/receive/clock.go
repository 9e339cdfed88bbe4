package receive

import (
	"sync/atomic"
	"time"
)

// Clock is the sender's clock and what it noted, for a receiver in the same process. The header of a frame tells the time of its batch to the
// microsecond; the sender notes the same time to the nanosecond here, and the receiver finds it by the microsecond.
type Clock struct {
	now    func() int64 // Unix time in ns, as the sender stamps it
	stamps [maxStamped]atomic.Pointer[Stamps]
}

// maxStamped bounds the workers whose times are noted; those of others are known to the microsecond.
const maxStamped = 256

// NewClock makes the clock of a sender whose time is now: Unix time in ns, from a base that never steps.
func NewClock(now func() int64) *Clock { return &Clock{now: now} }

// Stamps are the times of a worker's batches; nil for a worker whose times are not noted. It may be called from any goroutine.
func (c *Clock) Stamps(worker int) *Stamps {
	if worker < 0 || worker >= maxStamped {
		return nil
	}
	if s := c.stamps[worker].Load(); s != nil {
		return s
	}
	c.stamps[worker].CompareAndSwap(nil, &Stamps{})
	return c.stamps[worker].Load()
}

// stampSlots is for how many microseconds a time is kept: a quarter of a second, more than a receiver that keeps up ever lags.
const stampSlots = 1 << 18

// Stamps are the times at which one worker began its batches. One goroutine writes, any may read.
type Stamps struct{ at [stampSlots]atomic.Int64 }

// Note keeps the time of a batch, Unix time in ns. Of two batches in one microsecond the first one's is kept: no frame seems faster than it was.
func (s *Stamps) Note(ns int64) {
	if slot := &s.at[ns/1e3%stampSlots]; slot.Load()/1e3 != ns/1e3 {
		slot.Store(ns)
	}
}

// at is the time of the batch that was begun in a microsecond; ok is false where it is no longer kept, or never was.
func (c *Clock) at(worker uint16, micros uint64) (ns int64, ok bool) {
	if int(worker) >= maxStamped {
		return 0, false
	}
	s := c.stamps[worker].Load()
	if s == nil {
		return 0, false
	}
	ns = s.at[micros%stampSlots].Load()
	return ns, uint64(ns)/1e3 == micros
}

// skew is the distance of CLOCK_REALTIME, by which the kernel stamps, from the sender's clock. It changes only when somebody sets the time: both
// are slewed alike.
type skew struct {
	ns  int64
	err int64 // half the bracket it was read in
}

// step is a change of the distance that is no error of reading it.
const step = 1000

// measure reads the distance a number of times and takes the narrowest.
func (c *Clock) measure(times int) skew {
	best := skew{err: 1 << 62}
	for range times {
		before := c.now()
		wall := time.Now().UnixNano()
		after := c.now()
		if half := (after - before + 1) / 2; half < best.err {
			best = skew{wall - before - half, half}
		}
	}
	return best
}
