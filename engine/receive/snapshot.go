package receive

import (
	"wirespeed/engine/meter"
	"wirespeed/engine/verify"
)

// Snapshot is what a Receiver knows. Counts are totals since it was opened: who wants those since some moment subtracts two (Since).
type Snapshot struct {
	Arrived uint64 // frames that passed the filter, those included that nobody saw
	NotSeen uint64 // of them: found the ring full, and were not read
	Read    uint64 // of them: read from the ring
	Foreign uint64 // frames on the device that did not pass the filter; ForeignOK says whether they are counted
	verify.Counts
	ForeignOK bool
	Flows     []verify.FlowCounts // by worker

	Latency *Latency // nil where no frame can be timed; Why says why
	Why     string
}

// Lost is how many numbers are missing that neither the ring's drops nor corrupt frames account for. (RFC 7680 calls a corrupt frame lost; here each
// fault is counted once, as what it is.) While frames flow it may be some that are on the way; it is never too low for long.
func (s *Snapshot) Lost() uint64 { return less(s.Missing, s.NotSeen+s.Corrupt) }

// Since is the growth of all counts since an earlier snapshot. Largest extents, restarts' flows and latency are of the whole.
func (s *Snapshot) Since(o *Snapshot) Snapshot {
	d := *s
	d.Arrived, d.NotSeen, d.Read = less(s.Arrived, o.Arrived), less(s.NotSeen, o.NotSeen), less(s.Read, o.Read)
	d.Foreign = less(s.Foreign, o.Foreign)
	c, b := &d.Counts, &o.Counts
	for _, f := range []struct {
		now *uint64
		was uint64
	}{
		{&c.Right, b.Right},
		{&c.Received, b.Received},
		{&c.Missing, b.Missing},
		{&c.Duplicates, b.Duplicates},
		{&c.Reordered, b.Reordered},
		{&c.ExtentSum, b.ExtentSum},
		{&c.ExtentOpen, b.ExtentOpen},
		{&c.Late, b.Late},
		{&c.Restarts, b.Restarts},
		{&c.Corrupt, b.Corrupt},
		{&c.BadLength, b.BadLength},
		{&c.BadIPSum, b.BadIPSum},
		{&c.BadL4Sum, b.BadL4Sum},
		{&c.Unnumbered, b.Unnumbered},
		{&c.Partial, b.Partial},
		{&c.Unsummed, b.Unsummed},
		{&c.Homeless, b.Homeless},
	} {
		*f.now = less(*f.now, f.was)
	}
	return d
}

// less is a difference that is never below zero: a missing number that comes after all makes a count smaller.
func less(a, b uint64) uint64 {
	if a < b {
		return 0
	}
	return a - b
}

// Latency is how long frames were on their way, from the time the sender noted for their batch to the kernel's time stamp at the receiver. Only
// frames that are right and come for the first time are timed.
type Latency struct {
	meter.Distribution
	JitterNS     *float64 // RFC 3550, of the flow where it is largest; nil before two frames
	ResolutionNS int64    // of the coarser of both time stamps
	ClockErrNS   int64    // how far the two clocks' distance may be wrong
	Negative     uint64   // frames that seem to have arrived before they were sent: the clocks do not agree, and they are not in the distribution
	Untimed      uint64   // frames not timed because somebody set the clock meanwhile
}

// Source says in words what the two ends of a latency are.
const Source = "from the start of a frame's batch, by the sender's clock, to the kernel's software time stamp at the receiving packet socket"
