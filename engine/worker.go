package engine

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Times of a worker, in ns.
const (
	sleepOver = 50e3 // longer waits sleep
	wakeEarly = 20e3 // until so long before the time, and spin from there
	maxSleep  = 50e6 // so that a changed plan is seen soon
	parkLook  = 2e6  // between two looks at a link that is down
	drainMax  = 2e9  // for slots that do not come back
	drainDown = 50e6 // the same without a carrier, where little can come back
)

// worker feeds one queue. Its fields belong to its goroutine, except for plan, retire and counters, which are atomic.
type worker struct {
	shared   *shared
	queue    *queue
	plan     atomic.Pointer[plan]
	retire   atomic.Bool // leave, although the run goes on
	counters counters

	cur          *plan
	frames       lane  // slots of one frame
	super        *lane // slots of super-frames; nil before they are wanted
	lane         *lane // the one that is filled
	other        *lane // the one that was, while it still has slots with the kernel; nil otherwise
	kind         kind
	batch        int // frames put into slots before a kick, at most
	trial        trial
	full         full
	stalledSince int64 // when the worker began to wait for the kernel, 0 if it does not

	seq      uint32
	timing   float64 // of the plan by which the source's capture was last asked for its times
	done     uint64  // frames sent or given up under cur's schedule
	asked    uint64  // frames asked for under earlier plans
	bucket   bucket
	forgiven uint64
	ended    bool // nothing is left to send in this run
	down     bool // the kernel said ENETDOWN
	parked   bool // the state that others see is NoCarrier

	tally tally
	last  int64 // when it stopped sending
	err   error // why it failed; others read it once counters.state is Failed
}

func newWorker(s *shared, q *queue) *worker {
	w := &worker{shared: s, queue: q, frames: newLane(q.frames.ring), batch: maxBatch, forgiven: s.forgive.Load()}
	w.lane = &w.frames
	return w
}

// run is the life of a worker, on a thread of its own that ends with it (a pinned thread is of no use to anything else).
func (w *worker) run() {
	runtime.LockOSThread()
	w.counters.tid.Store(int64(unix.Gettid()))
	w.counters.state.Store(uint32(Running))
	// Sleep as exactly as the timer can: the default slack makes it 50 us late (PR_SET_TIMERSLACK, prctl(2)).
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	err := w.loop()
	w.counters.publish(&w.tally)
	w.err = err
	if err != nil {
		w.counters.state.Store(uint32(Failed))
	} else {
		w.counters.state.Store(uint32(Done))
	}
}

func (w *worker) loop() error {
	now := w.shared.clock.now()
	for {
		if p := w.plan.Load(); p != w.cur {
			if err := w.adopt(p, now); err != nil {
				return err
			}
		}
		if f := w.shared.forgive.Load(); f != w.forgiven {
			w.forgiven = f
			w.giveUp(now)
		}
		if w.ended || w.shared.stop.Load() || w.retire.Load() {
			return w.drain(now)
		}
		if w.down || !w.shared.carrier.Load() {
			var err error
			if now, err = w.park(now); err != nil {
				return err
			}
			continue
		}
		read, until, err := w.step(now)
		if err != nil {
			return err
		}
		now = w.await(read, until)
	}
}

// adopt begins a new plan. What the old one still owed is dropped: as missed, unless it is no more than what was just falling due.
func (w *worker) adopt(p *plan, now int64) error {
	old := w.cur
	if old == nil || old.cpu != p.cpu {
		var set unix.CPUSet
		set.Set(p.cpu)
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return fmt.Errorf("pin worker %d to CPU %d: %w", p.number, p.cpu, err)
		}
	}
	if old == nil || old.path != p.path {
		if err := w.queue.setPath(p.path); err != nil {
			return err
		}
	}
	if old != nil {
		if old.paced {
			due := old.schedule.due(now)
			if owed, fresh := due-w.done, due-old.schedule.due(now-debtFresh); owed > max(fresh, old.burst) {
				w.tally.missed += owed
				w.done = due
			}
		}
		w.asked += w.done
	}
	w.cur, w.done, w.bucket = p, 0, p.bucket
	w.tally.asked = w.asked
	if old == nil || old.shape != p.shape {
		w.trial.begin(p.kinds, p.paced, now)
		w.setKind(w.trial.kind())
	}
	w.batch = w.batchOf(w.kind)
	return nil
}

// setKind chooses the kind of slots to fill from now on.
func (w *worker) setKind(k kind) {
	l := &w.frames
	if k == segmented {
		if w.super == nil {
			s := newLane(w.queue.super.ring)
			w.super = &s
		}
		l = w.super
	}
	if l != w.lane && !w.lane.empty() {
		w.other = w.lane
	}
	w.lane, w.kind = l, k
	w.batch = w.batchOf(k)
	w.counters.kind.Store(uint32(k))
}

// batchOf is how many frames a batch has at most: as super-frames, whole bursts where they fit.
func (w *worker) batchOf(k kind) int {
	if k != segmented {
		return maxBatch
	}
	n, burst := min(maxSuperFrames, superSlots/2*w.cur.segments), int(w.cur.burst)
	if burst <= n {
		return n - n%burst
	}
	return n - n%w.cur.segments
}

// turn waits until the lane that was filled before has all its slots back, so that no frame overtakes another. w.other is nil when it has.
func (w *worker) turn(now int64) (read, until int64, err error) {
	o := w.other
	if err := w.reap(o); err != nil {
		return now, now, err
	}
	switch {
	case o.empty() || o == w.lane: // turned back in between
		w.other = nil
		return now, now, nil
	case o.pending:
		now, err = w.kick(o, now)
	}
	w.counters.publish(&w.tally)
	return now, w.backOff(now), err
}

// await waits until a time and returns the time it is then. It may return early: a sleep is cut so that changes are seen.
func (w *worker) await(now, until int64) int64 {
	if until <= now {
		return now
	}
	start := now
	if until-now > sleepOver {
		w.counters.publish(&w.tally)
		w.shared.clock.sleep(now, min(until-wakeEarly, now+maxSleep))
		now = w.shared.clock.now()
		w.tally.wait += now - start
	} else {
		for now < until {
			now = w.shared.clock.now()
		}
		w.tally.spin += now - start
	}
	if w.stalledSince == 0 {
		w.tally.idle += now - start
	}
	return now
}

// park looks once at a link that is down, after a short sleep. The schedule goes on; what falls due meanwhile is missed.
func (w *worker) park(now int64) (int64, error) {
	w.parked = true
	w.counters.state.Store(uint32(NoCarrier))
	idle := w.tally.idle
	now = w.await(now, now+parkLook+wakeEarly)
	w.tally.idle = idle                 // it is not the schedule that it waits for
	if err := w.reapAll(); err != nil { // slots come back late where a queueing discipline held them
		return now, err
	}
	if w.cur.paced {
		w.settle(now)
	} else if now >= w.cur.end {
		w.ended = true
	}
	w.ended = w.ended || w.shared.exhausted()
	var err error
	if w.down && w.shared.carrier.Load() { // nobody told of the link: ask the kernel
		_, err = w.kick(w.lane, now)
	}
	w.counters.publish(&w.tally)
	return now, err
}

// drain waits for the slots that the kernel still has, at most two seconds.
func (w *worker) drain(now int64) error {
	w.counters.state.Store(uint32(Draining))
	w.last = now
	for start := now; ; {
		if err := w.reapAll(); err != nil {
			return err
		}
		w.counters.publish(&w.tally)
		limit := int64(drainMax)
		if w.down || !w.shared.carrier.Load() {
			limit = drainDown
		}
		if w.lane.empty() && (w.other == nil || w.other.empty()) || now-start > limit {
			return nil
		}
		until := w.backOff(now)
		for _, l := range []*lane{w.other, w.lane} {
			if l != nil && l.pending {
				var err error
				if now, err = w.kick(l, now); err != nil {
					return err
				}
			}
		}
		now = w.await(now, until)
	}
}

func (w *worker) reapAll() error {
	if w.other != nil {
		if err := w.reap(w.other); err != nil {
			return err
		}
	}
	return w.reap(w.lane)
}
