package engine

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	maxBatch    = 128 // slots filled before a kick; more gains nothing on veth and lets the counters grow stale
	minRefill   = 32  // a full ring is filled again only when as many slots are free
	maxRefusals = 3   // of one slot before the worker fails
)

// step does one batch: take back slots, fill as many as are due, kick. It returns the time it read last and the time when there is
// something to do again.
func (w *worker) step(now int64) (read, until int64, err error) {
	if err := w.reap(); err != nil {
		return now, now, err
	}
	n, until := w.want(now)
	if n > 0 {
		if free := len(w.filled) - int(w.head-w.tail); free < n {
			w.tally.ringFull++
			if free < min(n, minRefill) {
				n, until = 0, w.backOff(now)
			} else {
				n = free
			}
		}
	}
	if n > 0 {
		n = w.shared.claim(n)
		w.ended = w.ended || n == 0
		w.fill(n, now)
	}
	if n == 0 && !w.pending {
		w.counters.publish(&w.tally)
		return now, until, nil
	}
	start := w.shared.clock.now()
	w.tally.user += start - now
	read, err = w.kick(start)
	if w.pending {
		until = w.backOff(read)
	}
	w.counters.publish(&w.tally)
	return read, until, err
}

// want is how many frames should leave now, at most a batch, and, when none, the time to look again.
func (w *worker) want(now int64) (n int, until int64) {
	p := w.cur
	if !p.paced {
		w.ended = now >= p.end
		if w.ended {
			return 0, now
		}
		return maxBatch, now
	}
	owed := w.settle(now)
	if owed == 0 {
		if w.ended {
			return 0, now
		}
		return 0, p.schedule.at(w.done)
	}
	rest := (p.burst - w.done%p.burst) % p.burst // of a burst already begun
	if allowed := w.bucket.allow(now, owed, p.burst, rest); allowed > 0 {
		return int(min(allowed, maxBatch)), now
	}
	return 0, w.bucket.ready(p.burst)
}

// settle brings the account of a paced plan up to date: what it asked for, what is given up, whether the run is over. It returns the
// frames owed.
func (w *worker) settle(now int64) (owed uint64) {
	s := &w.cur.schedule
	due := s.due(now)
	w.tally.asked = w.asked + due
	if due > w.done { // nearly always just a few frames
		if old := s.due(now - debtMax); old > w.done {
			w.tally.missed += old - w.done
			w.done = old
		}
	}
	w.ended = w.ended || w.done == s.total()
	return due - w.done
}

// giveUp drops all debt.
func (w *worker) giveUp(now int64) {
	if !w.cur.paced {
		return
	}
	due := w.cur.schedule.due(now)
	w.tally.missed += due - w.done
	w.done = due
}

// reap takes back the slots that the kernel has let go of, in order.
func (w *worker) reap() error {
	for w.tail < w.head && w.ring.Free(w.tailSlot) {
		if w.ring.Refused(w.tailSlot) {
			return w.repair()
		}
		w.tail++
		if w.tailSlot++; w.tailSlot == len(w.filled) {
			w.tailSlot = 0
		}
		w.tally.taken++
		w.refusals = 0
		w.stalledSince = 0
	}
	return nil
}

// repair describes the slot at tail anew, of which the kernel made no frame, and posts it again: the kernel waits right there.
func (w *worker) repair() error {
	w.tally.errors++
	size := len(w.cur.template.Bytes)
	if w.refusals++; w.refusals > maxRefusals {
		return fmt.Errorf("the kernel refused a frame of %d bytes %d times (TP_STATUS_WRONG_FORMAT)", size, maxRefusals)
	}
	w.ring.SetLinear(w.tailSlot, size)
	w.ring.Post(w.tailSlot)
	w.pending = true
	return nil
}

// fill puts the next n frames into free slots, of which there must be as many.
func (w *worker) fill(n int, now int64) {
	p := w.cur
	wall := w.shared.clock.wall + now
	stamp := p.template.Stamp(uint32(wall/1e9), uint32(wall%1e9/1e3), p.number)
	size, slot, seq := len(p.template.Bytes), w.headSlot, w.seq
	for range n {
		b := w.ring.Frame(slot, size)
		if w.filled[slot] != p.serial {
			copy(b, p.template.Bytes)
			w.ring.SetLinear(slot, size)
			w.filled[slot] = p.serial
		}
		seq++
		stamp.Patch(b, uint16(seq), seq)
		w.ring.Post(slot)
		if slot++; slot == len(w.filled) {
			slot = 0
		}
	}
	w.headSlot, w.seq = slot, seq
	w.head += uint64(n)
	w.done += uint64(n)
	w.bucket.tokens -= float64(n)
	w.tally.ring += uint64(n)
}

// kick has the kernel send what is posted, draws the conclusions of its answer, and returns the time it read afterwards.
func (w *worker) kick(now int64) (read int64, err error) {
	errno := w.ring.Kick()
	read = w.shared.clock.now()
	w.tally.kernel += read - now
	w.tally.kicks++
	// A last slot that is still requested was not looked at: it leaves with another kick.
	last := w.headSlot - 1
	if last < 0 {
		last = len(w.filled) - 1
	}
	w.pending = w.head > w.tail && w.ring.Requested(last)
	w.down = errno == unix.ENETDOWN
	switch errno {
	case 0, unix.EINTR, unix.ENETDOWN:
		return read, nil
	case unix.ENOBUFS, unix.EAGAIN:
		w.tally.retries++
		return read, nil
	case unix.ENXIO, unix.ENODEV:
		return read, fmt.Errorf("send: %w: the interface is gone", errno)
	}
	if w.head > w.tail && w.refusedAhead() {
		return read, nil // reap repairs it
	}
	return read, fmt.Errorf("send: %w", errno)
}

// refusedAhead says whether the kernel stopped at a slot that it refused.
func (w *worker) refusedAhead() bool {
	slot := w.tailSlot
	for range w.head - w.tail {
		if w.ring.Refused(slot) {
			return true
		}
		if slot++; slot == len(w.filled) {
			slot = 0
		}
	}
	return false
}

// backOff is when to try again where nothing moves: at once at first, rarely when nothing has moved for long.
func (w *worker) backOff(now int64) int64 {
	if w.stalledSince == 0 {
		w.stalledSince = now
	}
	switch stalled := now - w.stalledSince; {
	case stalled < 1e6:
		return now + 3e3
	case stalled < 10e6:
		return now + 100e3
	}
	return now + 1e6
}
