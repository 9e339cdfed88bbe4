package engine

// fullSleep is the longest that a worker sleeps at a full ring: half of what the fastest stream takes to empty it.
const fullSleep = 200e3

// full is what a worker knows of a ring that is full: how long it took the last time until it was worth filling again. A slow link is waited for
// asleep: who spins there takes its own CPU away from the timer that lets frames go, and is itself kept waiting by other programs when a frame is due.
// The zero value knows nothing, and spins.
type full struct {
	since  int64 // when it was found full, 0 while it is not
	refill int64 // ns
}

// found is when to look again, at the latest at soon without a reason to wait.
func (f *full) found(now, soon int64) int64 {
	if f.since != 0 {
		return soon
	}
	f.since = now
	return max(soon, now+min(f.refill*3/4, fullSleep))
}

// filled notes that there was room again.
func (f *full) filled(now int64) {
	if f.since != 0 {
		f.refill, f.since = now-f.since, 0
	}
}
