package control

import (
	"errors"
	"fmt"
	"time"

	"wirespeed/engine"
	"wirespeed/nic"
)

// loss is what the kernel took of us without a carrier to send it on. It counts with D = taken - device since the base of the
// statistics: frames that were taken and never left make D grow for good. A look reads taken before device, so each gives a lower bound
// of D, and the largest one seen while all was well is where a loss begins. The zero value has lost nothing. Guarded by its owner.
type loss struct {
	taken, device uint64 // the base of D

	floor   int64   // largest lower bound of D
	settled int64   // the same without the looks in recent
	recent  []bound // looks that may have seen what no notice had told of yet, oldest first

	frames  uint64
	unknown bool // a loss fell in a time without a usable count of the device
}

// bound is the floor as of a look.
type bound struct {
	at    time.Time
	floor int64
}

// settle takes the looks up to a time as certain.
func (l *loss) settle(until time.Time) {
	n := 0
	for ; n < len(l.recent) && !l.recent[n].at.After(until); n++ {
		l.settled = l.recent[n].floor
	}
	l.recent = append(l.recent[:0], l.recent[n:]...)
}

// rebase begins anew with a look. The frames lost so far are forgotten.
func (l *loss) rebase(b look) {
	*l = loss{taken: b.engine.Taken.Count, device: b.tx.Count}
}

// consistent is the device's count that goes with a look's count of frames taken: between the two reads frames went on leaving. Where
// the two are further apart than that, others send too, and the count stands as it was read.
func (l *loss) consistent(b look) uint64 {
	count := l.device + uint64(int64(b.engine.Taken.Count-l.taken)-l.floor)
	if b.tx.Count-count > 10*batchFrames {
		return b.tx.Count
	}
	return count
}

// d is the lower bound of D that a look gives.
func (l *loss) d(b look) int64 {
	return int64(b.engine.Taken.Count-l.taken) - int64(b.tx.Count-l.device)
}

// watch lets a look with carrier raise the floor.
func (l *loss) watch(b look) {
	if b.tx.OK {
		l.settle(b.at.Add(-noticeTime))
		l.floor = max(l.floor, l.d(b))
		l.recent = append(l.recent, bound{b.at, l.floor})
	}
}

// noticeTime is how long a notice of the kernel may take. A look that is younger when the notice comes may have seen phantom frames.
const noticeTime = 100 * time.Millisecond

// book takes a look after a loss, with every worker parked, and returns the frames lost. The noticed time is when the notice came.
func (l *loss) book(b look, noticed time.Time) uint64 {
	l.settle(noticed.Add(-noticeTime))
	d := l.d(b)
	lost := uint64(max(0, d-l.settled))
	l.frames += lost
	l.floor = max(l.settled, d)
	l.settled, l.recent = l.floor, l.recent[:0]
	return lost
}

// linkChanged is called by the device's watch, from its goroutine, with every change of the link and once at the beginning.
func (r *Run) linkChanged(c nic.Change) {
	if c.Gone {
		r.eng.SetCarrier(false)
		r.deviceGone()
		return
	}
	// Before anything else: on the qdisc path a sender without carrier "succeeds" at tens of millions of frames a second.
	r.eng.SetCarrier(c.Link.Carrier)
	noticed := time.Now()

	r.mu.Lock()
	was := r.link
	r.link = c.Link
	dev := engineDevice(c.Link, r.stated, r.engDev.CPUs)
	changed := dev.MTU != r.engDev.MTU || dev.Speed != r.engDev.Speed || dev.Queues != r.engDev.Queues || dev.MAC != r.engDev.MAC
	r.engDev = dev
	lost := was.Carrier && !c.Link.Carrier
	back := !was.Carrier && c.Link.Carrier
	switch {
	case lost:
		r.downSince = noticed
		r.change("link down", false)
		r.log.add("", "link down")
	case back:
		if !r.downSince.IsZero() {
			r.outage += noticed.Sub(r.downSince)
		}
		r.change("link up", false)
		r.log.add("", linkWords(c.Link))
	}
	if was.MTU != c.Link.MTU {
		r.log.add("", fmt.Sprintf("mtu %d -> %d", was.MTU, c.Link.MTU))
	}
	running := r.running()
	r.mu.Unlock()

	if changed {
		r.eng.SetDevice(dev)
	}
	if lost && running {
		r.bookLoss(noticed)
	}
	if back {
		pause := pauseWords(r.dev.Pause()) // autonegotiation may have changed it
		r.mu.Lock()
		r.pause = pause
		r.mu.Unlock()
	}
}

// linkWords says what came up.
func linkWords(l nic.Link) string {
	if l.Speed == 0 {
		return "link up"
	}
	words := "link up " + speedWords(l.Speed)
	if l.Duplex != "" {
		words += " " + l.Duplex
	}
	return words
}

// speedWords prints a speed in the largest unit that keeps it whole.
func speedWords(bps uint64) string {
	for _, u := range []struct {
		of   uint64
		name string
	}{{1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}} {
		if bps >= u.of && bps%u.of == 0 {
			return fmt.Sprintf("%d %s", bps/u.of, u.name)
		}
	}
	return fmt.Sprintf("%d bit/s", bps)
}

const (
	settleTime = 300 * time.Millisecond // at most, until every worker is parked and both counts stand still
	settlePoll = 5 * time.Millisecond
)

// bookLoss waits until nothing moves any more and books what was taken and did not leave.
func (r *Run) bookLoss(noticed time.Time) {
	deadline := noticed.Add(settleTime)
	last := r.take(settleTime)
	for time.Now().Before(deadline) {
		time.Sleep(settlePoll)
		now := r.take(settleTime)
		still := now.engine.Taken.Count == last.engine.Taken.Count && now.tx.Count == last.tx.Count
		last = now
		if still && parked(now.engine) {
			break
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !last.tx.OK || r.gauge.source() == fromEngine {
		r.loss.unknown = true
		return
	}
	if lost := r.loss.book(last, noticed); lost > 0 {
		r.log.add("", fmt.Sprintf("lost %s: no carrier", frames(lost)))
	}
}

// parked says whether no worker is sending.
func parked(s engine.Snapshot) bool {
	for _, w := range s.Workers {
		if w.State == engine.Running {
			return false
		}
	}
	return true
}

// deviceGone ends the run: the interface was removed.
func (r *Run) deviceGone() {
	err := fmt.Errorf("%s is gone: the interface was removed", r.o.Device)
	r.mu.Lock()
	running := r.running()
	if running && r.failure == nil {
		r.failure = err
	}
	r.link.Up, r.link.Carrier = false, false
	r.mu.Unlock()
	r.log.fatal(err)
	if running {
		r.spawn(func() { r.Stop() }) // its error is that the device is gone
	}
}

// isGone asks whether the device is no longer there.
func (r *Run) isGone() bool {
	_, err := r.dev.Link()
	return errors.Is(err, nic.ErrNotFound)
}

// explain prefers the plain reason for an error of the engine: a device that is no longer there.
func (r *Run) explain(err error) error {
	if r.isGone() {
		return fmt.Errorf("%s is gone: the interface was removed", r.o.Device)
	}
	return err
}
