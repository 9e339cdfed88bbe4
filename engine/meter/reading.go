package meter

import "time"

// Reading is one value of a counter and when it was read. The clock is read before and after the counter: At is the
// middle, since any origin that all compared readings share, and Err half the bracket. OK is false where the counter
// could not be read; such a reading is never a zero.
type Reading struct {
	Count uint64
	At    time.Duration
	Err   time.Duration
	OK    bool
}
