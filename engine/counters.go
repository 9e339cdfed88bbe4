package engine

import (
	"sync/atomic"

	"wirespeed/engine/frame"
)

// counters are what a worker publishes, once per batch, in cache lines that nothing else writes. All are totals; times are ns.
type counters struct {
	_ [64]byte

	ring, taken      atomic.Uint64
	bytes, fcs       atomic.Uint64
	asked, missed    atomic.Uint64
	ringFull         atomic.Uint64
	retries, errors  atomic.Uint64
	kicks            atomic.Uint64
	user, kernel     atomic.Int64
	spin, wait, idle atomic.Int64
	state, kind      atomic.Uint32
	tid              atomic.Int64

	_ [64]byte
}

// tally is the worker's own copy of its counters.
type tally struct {
	ring, taken      uint64
	bytes, fcs       uint64 // of the frames in ring: without FCS, and with it and padding
	asked, missed    uint64
	ringFull         uint64
	retries, errors  uint64
	kicks            uint64
	user, kernel     int64
	spin, wait, idle int64
}

// publish makes the worker's figures visible. Figures that rarely change are stored only when they did: an atomic store costs as much as
// a frame's own work.
func (c *counters) publish(t *tally) {
	c.ring.Store(t.ring)
	c.taken.Store(t.taken)
	c.bytes.Store(t.bytes)
	c.fcs.Store(t.fcs)
	c.user.Store(t.user)
	c.kernel.Store(t.kernel)
	c.kicks.Store(t.kicks)
	storeChanged(&c.asked, t.asked)
	storeChanged(&c.missed, t.missed)
	storeChanged(&c.ringFull, t.ringFull)
	storeChanged(&c.retries, t.retries)
	storeChanged(&c.errors, t.errors)
	if c.spin.Load() != t.spin {
		c.spin.Store(t.spin)
	}
	if c.wait.Load() != t.wait {
		c.wait.Store(t.wait)
	}
	if c.idle.Load() != t.idle {
		c.idle.Store(t.idle)
	}
}

func storeChanged(c *atomic.Uint64, v uint64) {
	if c.Load() != v {
		c.Store(v)
	}
}

// measure books the lengths of n frames of one size.
func (t *tally) measure(n, size int) {
	t.bytes += uint64(n * size)
	t.fcs += uint64(n * frame.L(size))
}

// add sums up tallies of workers that are over.
func (t *tally) add(o *tally) {
	t.ring += o.ring
	t.taken += o.taken
	t.bytes += o.bytes
	t.fcs += o.fcs
	t.asked += o.asked
	t.missed += o.missed
	t.ringFull += o.ringFull
	t.retries += o.retries
	t.errors += o.errors
	t.kicks += o.kicks
	t.user += o.user
	t.kernel += o.kernel
	t.spin += o.spin
	t.wait += o.wait
	t.idle += o.idle
}
