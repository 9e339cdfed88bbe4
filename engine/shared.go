package engine

import (
	"math"
	"sync/atomic"
)

// shared is what all workers of a run read, and write through atomics only.
type shared struct {
	clock   *clock
	carrier *atomic.Bool   // false: nothing may be sent
	forgive *atomic.Uint64 // raised to have all debt given up
	stop    atomic.Bool

	limited   bool
	count     uint64       // frames of the run, when limited
	remaining atomic.Int64 // frames of the run that no worker has claimed yet, when limited
}

// limit bounds the run to count frames, 0 for no bound.
func (s *shared) limit(count uint64) {
	s.limited, s.count = count > 0, count
	s.remaining.Store(int64(min(count, math.MaxInt64)))
}

// claim takes up to n frames off what the run may still send.
func (s *shared) claim(n int) int {
	if !s.limited || n == 0 {
		return n
	}
	left := s.remaining.Add(-int64(n))
	if left >= 0 {
		return n
	}
	give := max(0, n+int(left))
	s.remaining.Add(int64(n - give))
	return give
}

// unclaim gives back claimed frames that were not sent.
func (s *shared) unclaim(n int) {
	if s.limited && n > 0 {
		s.remaining.Add(int64(n))
	}
}

// exhausted says whether every frame of the run has been claimed.
func (s *shared) exhausted() bool { return s.limited && s.remaining.Load() <= 0 }
