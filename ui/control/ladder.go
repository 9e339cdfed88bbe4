package control

import (
	"fmt"
	"time"

	"wirespeed/engine"
	"wirespeed/engine/meter"
)

// ladder is the frames since a base, step by step. The caller holds mu.
func (r *Run) ladder(base, now look) (Ladder, *Arrivals) {
	l := Ladder{
		Ring:  since(base.engine.Ring.Count, now.engine.Ring.Count),
		Taken: since(base.engine.Taken.Count, now.engine.Taken.Count),
	}
	if now.engine.AskedOK && !r.maxed {
		asked := since(base.engine.Asked, now.engine.Asked)
		l.Asked = &asked
	}
	if base.tx.OK && now.tx.OK && !r.gauge.blind {
		device := since(base.tx.Count, now.tx.Count)
		l.Device = &device
	}
	if base.engine.Arrived.OK && now.engine.Arrived.OK && !r.deaf {
		arrived := since(base.engine.Arrived.Count, now.engine.Arrived.Count)
		l.Arrived = &arrived
	}
	c := circumstances{
		device:   r.o.Device,
		moving:   now.engine.State == engine.Running || now.engine.State == engine.Draining || r.baseLive,
		over:     now.engine.State == engine.Done || now.engine.State == engine.Failed,
		workers:  len(now.engine.Workers),
		missed:   since(base.engine.Missed, now.engine.Missed),
		away:     r.rows.away.sum(),
		inKernel: now.engine.InKernel,
		txDrops:  since(base.dev.TxDropped, now.dev.TxDropped),
		lost:     r.loss.frames,
		outage:   r.outage,
		veth:     r.link.Driver == "veth",
		backlog:  since(base.backlog, now.backlog),
	}
	if !r.link.Carrier && !r.downSince.IsZero() {
		c.outage += now.at.Sub(r.downSince)
	}
	arrivals := r.arrivals(l, c.over)
	if arrivals != nil {
		l.Verified = arrivals.Verified
	}
	c.arrivals = arrivals
	// What leaves while the counts are read one after the other, twice over: the rate is that of the last sample.
	c.meanwhile = uint64(2 * r.instant.TX.PPS * (now.took + base.took).Seconds())
	if r.qdisc != nil && r.qdiscBase != nil {
		c.qdiscDrops = since(r.qdiscBase.Drops, r.qdisc.Drops)
	}
	l.Gaps = gaps(l, c)
	r.farSide(now.at).farGap(&l, c, r.far.live)
	return l, arrivals
}

// since is the growth of a count; one that went backwards was reset and counts from 0.
func since(base, now uint64) uint64 {
	if now < base {
		return now
	}
	return now - base
}

// circumstances are what else is known when the steps of a ladder differ.
type circumstances struct {
	device              string
	away                time.Duration // the workers were ready to run, and others ran in their place
	moving              bool          // frames flow: the counts were read one after the other
	over                bool          // nothing will flow any more
	workers             int
	meanwhile           uint64 // frames that may have left between the first count and the last
	missed              uint64
	inKernel            int
	qdiscDrops, txDrops uint64
	lost                uint64 // no carrier
	outage              time.Duration
	veth                bool   // the device's drops are the peer's backlog's
	backlog             uint64 // frames that the kernel dropped on arrival: net.core.netdev_max_backlog
	arrivals            *Arrivals
}

// refused says whether the driver drops the frames that wait in the ring: on the bypass they stay there, to be offered again.
func (c circumstances) refused() bool {
	return c.txDrops > 0 && c.inKernel > 0 && c.txDrops > uint64(c.inKernel)
}

// peerDrops are those of the device's drops that the peer's backlog made: a veth counts what its peer refuses (veth_xmit in drivers/net/veth.c).
func (c circumstances) peerDrops() uint64 {
	if !c.veth {
		return 0
	}
	return min(c.backlog, c.txDrops)
}

// forTime is " for 1.2 s", nothing for none.
func forTime(d time.Duration) string {
	if d < 50*time.Millisecond {
		return ""
	}
	return fmt.Sprintf(" for %.1f s", d.Seconds())
}

// awayTold is the least time off its CPU that can have to do with a frame that is missed: they are owed for 100 ms before they are.
const awayTold = 100 * time.Millisecond

// batchFrames bounds what one worker may have counted in one step and not yet in the next.
const batchFrames = 1024

// gaps explains every difference between two steps in words.
func gaps(l Ladder, c circumstances) []string {
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	slack := uint64(0)
	if c.moving {
		slack = batchFrames*uint64(max(1, c.workers)) + c.meanwhile
	}

	if l.Asked != nil && *l.Asked > l.Ring {
		rest := *l.Asked - l.Ring
		if c.missed > 0 {
			why := ""
			if c.away >= awayTold {
				why = ": others had the workers' CPUs" + forTime(c.away)
			}
			say("asked, not in the ring: missed %s, owed for too long and given up%s", frames(min(c.missed, rest)), why)
			rest -= min(c.missed, rest)
		}
		if rest > slack {
			say("asked, not in the ring: %s behind the schedule", frames(rest))
		}
	}
	if l.Ring > l.Taken && (l.Ring-l.Taken > slack || c.refused()) {
		where := "still in the kernel"
		switch {
		case c.refused():
			where = fmt.Sprintf("that the driver drops whenever they are offered (tx_dropped %s): is the peer's MTU too small, or the peer down?",
				meter.Thousands(c.txDrops))
		case c.over:
			where = "never let go of by the kernel"
		}
		say("in the ring, not taken: %s %s", frames(l.Ring-l.Taken), where)
	}
	if l.Device != nil {
		sayDevice(say, l.Taken, *l.Device, slack, c)
	}
	left, step := l.Taken, "taken"
	if l.Device != nil && *l.Device <= l.Taken { // above it others are counted too
		left, step = *l.Device, "device"
	}
	switch {
	case l.Arrived == nil:
	case *l.Arrived < left && left-*l.Arrived > slack:
		if c.moving {
			say("%s, not arrived: %s lost or on the way", step, frames(left-*l.Arrived))
		} else {
			say("%s, not arrived: %s lost between the device and the receiver", step, frames(left-*l.Arrived))
		}
	case *l.Arrived > left && *l.Arrived-left > slack:
		say("arrived above %s: %s more at the receiver than left", step, frames(*l.Arrived-left))
	}
	if c.backlog > 0 && !c.veth && l.Arrived != nil {
		say("dropped on arrival: %s by the kernel's backlog: net.core.netdev_max_backlog", frames(c.backlog))
	}
	if c.arrivals != nil {
		sayArrivals(say, c.arrivals, c.moving, slack)
	}
	return said
}

// sayDevice explains the gap between what was taken and what the device counted.
func sayDevice(say func(string, ...any), taken, device, slack uint64, c circumstances) {
	if device > taken {
		if device-taken > slack {
			say("device above taken: %s of others on %s", frames(device-taken), c.device)
		}
		return
	}
	rest := taken - device
	for _, known := range []struct {
		n    uint64
		what string
	}{
		{c.lost, "lost: no carrier" + forTime(c.outage)},
		{c.qdiscDrops, "dropped by the qdisc"},
		{c.peerDrops(), "dropped by the peer's backlog: net.core.netdev_max_backlog"},
		{c.txDrops - c.peerDrops(), "dropped by the driver (tx_dropped)"},
	} {
		if n := min(known.n, rest); n > 0 {
			say("taken, not at the device: %s %s", frames(n), known.what)
			rest -= n
		}
	}
	switch {
	case rest <= slack:
	case c.moving:
		say("taken, not at the device: %s in the qdisc or lost", frames(rest))
	default:
		say("taken, not at the device: %s, no counter says why", frames(rest))
	}
}

// frames prints a number of frames, with separators: "1,234 frames", "1 frame".
func frames(n uint64) string {
	if n == 1 {
		return "1 frame"
	}
	return meter.Thousands(n) + " frames"
}
