package engine

import (
	"fmt"

	"golang.org/x/sys/unix"

	"wirespeed/engine/frame"
	"wirespeed/engine/tpacket"
)

const (
	maxBatch       = 128  // slots filled before a kick; more gains nothing on veth and lets the counters grow stale
	maxSuperFrames = 1024 // frames in the super-frames of a batch, likewise
	minRefill      = 32   // a full ring is filled again only when as many slots are free
)

// step does one batch: take back slots, fill as many as are due, kick. It returns the time it read last and the time when there is
// something to do again.
func (w *worker) step(now int64) (read, until int64, err error) {
	if w.parked { // said here, where sending begins: the link may come back at any moment
		w.parked = false
		w.counters.state.Store(uint32(Running))
	}
	l := w.lane
	if err := w.reap(l); err != nil {
		return now, now, err
	}
	if w.other != nil {
		if read, until, err = w.turn(now); w.other != nil || err != nil {
			return read, until, err
		}
		now = read
	}
	n, until := w.want(now)
	if n > 0 {
		if free, need := l.free(), w.slots(n); free < need {
			w.tally.ringFull++
			if free < min(need, minRefill) {
				n, until = 0, w.full.found(now, w.backOff(now))
			}
		}
	}
	if n > 0 {
		w.full.filled(now)
		n = w.shared.claim(n)
		w.ended = w.ended || n == 0
		switch {
		case w.kind == segmented:
			n = w.fillSuper(n, now)
		case w.cur.source != nil:
			n = w.fillMixed(n, now)
		default:
			n = w.fill(n, now)
		}
	}
	if n == 0 && !l.pending {
		w.counters.publish(&w.tally)
		return now, until, nil
	}
	start := w.shared.clock.now()
	w.tally.user += start - now
	read, err = w.kick(l, start)
	if l.pending {
		until = w.backOff(read)
	}
	if n > 0 && w.cur.paced {
		w.bucket.left(n, now, read)
	}
	w.counters.publish(&w.tally)
	if w.trial.on {
		w.trial.note(n, read-now, read)
		w.setKind(w.trial.kind())
	}
	return read, until, err
}

// want is how many frames should leave now, at most a batch, and, when none, the time to look again.
func (w *worker) want(now int64) (n int, until int64) {
	p := w.cur
	if p.timing != 0 {
		return w.wantTimed(now)
	}
	if !p.paced {
		w.ended = now >= p.end
		if w.ended {
			return 0, now
		}
		return w.batch, now
	}
	owed := w.settle(now)
	if owed == 0 {
		if w.ended {
			return 0, now
		}
		return 0, min(p.schedule.at(w.done), p.end)
	}
	rest := (p.burst - w.done%p.burst) % p.burst // of a burst already begun
	if allowed := w.bucket.allow(now, owed, p.burst, rest); allowed > 0 {
		return int(min(allowed, uint64(w.batch))), now
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
	w.ended = w.ended || now >= w.cur.end && w.done == s.total()
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

// reap takes back slots of a lane; a refused one is offered again.
func (w *worker) reap(l *lane) error {
	frames, refused := l.reap()
	if frames > 0 {
		w.tally.taken += frames
		w.stalledSince = 0
	}
	if refused {
		w.tally.errors++
		return l.repost()
	}
	return nil
}

// slots is how many slots n frames take at least.
func (w *worker) slots(n int) int {
	if w.kind == segmented {
		return (n + w.cur.segments - 1) / w.cur.segments
	}
	return n
}

// fill puts up to n frames into free slots, one into each, gives back what finds no place, and returns how many it put.
func (w *worker) fill(n int, now int64) int {
	p, l := w.cur, w.lane
	if free := l.free(); free < n {
		w.shared.unclaim(n - free)
		n = free
	}
	stamp := p.stamp(w.shared.clock, now)
	size, seq, want, first := len(p.template.Bytes), w.seq, key(p.serial, w.kind, 1), l.headSlot
	for range n {
		b := l.ring.Frame(l.headSlot, size)
		if l.content[l.headSlot] != want {
			l.content[l.headSlot] = want
			copy(b, p.template.Bytes)
			if w.kind == plain {
				l.ring.SetPlain(l.headSlot, size)
			} else {
				l.ring.SetLinear(l.headSlot, size)
			}
		}
		seq++
		stamp.Patch(b, uint16(seq), seq)
		l.stage(first)
	}
	if n > 0 {
		l.post(first)
	}
	w.seq = seq
	w.sent(n)
	w.tally.measure(n, size)
	return n
}

// fillSuper is fill for super-frames: a burst begins a new one, and none is longer than the plan says.
func (w *worker) fillSuper(n int, now int64) int {
	p, l := w.cur, w.lane
	u := &p.super
	stamp := p.stamp(w.shared.clock, now)
	put, first := 0, l.headSlot
	for free := l.free(); free > 0 && put < n; free-- {
		left := int(p.burst - (w.done+uint64(put))%p.burst)
		k := min(n-put, left, p.segments)
		size := u.Size(k)
		b := l.ring.Frame(l.headSlot, size)
		if want := key(p.serial, segmented, k); l.content[l.headSlot] != want {
			l.content[l.headSlot] = want
			u.Fill(b, k)
			l.ring.SetSegmented(l.headSlot, size, tpacket.Segments{
				GSOType: gsoType(u), GSOSize: u.Payload, SumStart: u.L4, SumOffset: u.Sum,
			})
		}
		u.Patch(b, k, &stamp, w.nextID(k), w.seq+1)
		w.seq += uint32(k)
		put += k
		l.stage(first)
	}
	if put > 0 {
		l.post(first)
	}
	w.shared.unclaim(n - put)
	w.sent(put)
	w.tally.measure(put, len(p.template.Bytes))
	return put
}

// nextID takes the numbers of the next k frames and returns the first: they go on from kind to kind of slots.
func (w *worker) nextID(k int) uint32 {
	if s := w.cur.source; s != nil {
		s.id += uint32(k)
		return s.id - uint32(k) + 1
	}
	return w.seq + 1
}

// gsoType is what the kernel calls u's kind.
func gsoType(u *frame.Super) uint8 {
	switch {
	case !u.TCP:
		return tpacket.GSOUDP
	case u.V6:
		return tpacket.GSOTCP6
	}
	return tpacket.GSOTCP4
}

// sent books n frames put into the ring.
func (w *worker) sent(n int) {
	w.done += uint64(n)
	w.tally.ring += uint64(n)
}

// kick has the kernel send what is posted on a lane, draws the conclusions of its answer, and returns the time it read afterwards.
func (w *worker) kick(l *lane, now int64) (read int64, err error) {
	errno := l.ring.Kick()
	read = w.shared.clock.now()
	w.tally.kernel += read - now
	w.tally.kicks++
	l.kicked()
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
	if l.refused() {
		return read, nil // reap offers it again
	}
	return read, fmt.Errorf("send: %w", errno)
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
