package engine

import (
	"slices"
	"time"

	"wirespeed/engine/frame"
	"wirespeed/engine/meter"
)

// State is the state of a run, or of a worker.
type State uint8

// The states, as DESIGN.md section 6 names them in JSON.
const (
	Ready State = iota
	Running
	NoCarrier
	Draining
	Failed
	Done
)

var stateNames = [...]string{"ready", "running", "no_carrier", "draining", "failed", "done"}

// String returns the state's word in JSON.
func (s State) String() string { return stateNames[s] }

// Snapshot is one look at an engine. Counts are totals since Open: who wants rates or counts since some moment subtracts two snapshots.
type Snapshot struct {
	State    State
	Since    time.Duration // since the start of the run, to its end where it is over; 0 before the first
	Ring     meter.Reading // frames put into the rings
	Taken    meter.Reading // frames the kernel let go of
	Sent     frame.Lengths // how long the frames in Ring are
	Arrived  meter.Reading // frames the receiver counted; OK is false without a receiver
	Asked    uint64        // frames the schedule called for until now
	AskedOK  bool          // false while there is no schedule (rate max)
	Missed   uint64        // frames owed for too long and given up
	Errors   uint64        // slots the kernel refused
	InKernel int           // slots outstanding
	Waited   time.Duration // what workers spent waiting for the schedule, summed up
	Workers  []WorkerSnapshot
	Sink     *SinkSnapshot // nil while none is on
	Err      error         // why the run failed
}

// WorkerSnapshot is the part of one worker; its totals begin with the run, or when the worker joined it.
type WorkerSnapshot struct {
	Queue, CPU int
	TID        int // of its thread
	State      State
	Kind       string // of the slots it fills: linear, plain or segmented
	Ring       uint64
	Taken      uint64
	Missed     uint64
	InKernel   int
	RingFull   uint64 // times a frame was due and too few slots were free
	Retries    uint64 // kicks answered ENOBUFS or EAGAIN
	Errors     uint64
	Kicks      uint64
	User       time.Duration // filling slots
	Kernel     time.Duration // inside kicks
	Spin       time.Duration // waiting awake
	Wait       time.Duration // waiting asleep
	Err        error
}

// Event is something rare that happened to the engine.
type Event struct {
	At   time.Time
	Text string
}

// Snapshot reads the counters of the workers and the receiver into s, whose slices are reused. What a worker counts is as old as its last
// batch, or its last sleep: some microseconds, and 50 ms at the lowest rates, where nothing has happened since.
func (e *Engine) Snapshot(s *Snapshot) {
	e.mu.Lock()
	defer e.mu.Unlock()
	workers := s.Workers[:0]
	sum := e.past
	*s = Snapshot{Err: e.err, AskedOK: e.cfg.Scheduled()}
	before := e.clock.now()
	if r := e.run; r != nil {
		for _, w := range r.workers {
			workers = append(workers, w.snapshot(&sum))
			s.InKernel += workers[len(workers)-1].InKernel
		}
		for _, w := range r.leaving {
			s.InKernel += w.snapshot(&sum).InKernel
		}
		s.State = r.state(workers)
		if ended := r.ended.Load(); ended != 0 {
			s.Since = time.Duration(ended - r.started)
			if e.err != nil {
				s.State = Failed
			}
		} else {
			s.Since = time.Duration(before - r.started)
		}
	}
	after := e.clock.now()
	at, half := time.Duration(before+after)/2, time.Duration(after-before)/2
	s.Workers = workers
	s.Ring = meter.Reading{Count: sum.ring, At: at, Err: half, OK: true}
	s.Taken = meter.Reading{Count: sum.taken, At: at, Err: half, OK: true}
	s.Sent = frame.Lengths{Frames: sum.ring, Bytes: sum.bytes, L: sum.fcs}
	s.Asked, s.Missed, s.Errors = sum.asked, sum.missed, sum.errors
	if r := e.run; r != nil && r.shared.limited { // a schedule has no end, a count has
		s.Asked = min(s.Asked, e.past.asked+r.shared.count)
	}
	s.Waited = time.Duration(sum.idle)
	switch {
	case e.receiver != nil:
		s.Arrived = e.receiver.read()
	case e.verifier != nil:
		s.Arrived = e.verifier.count()
	}
	dropped, ok := e.sunkNow(s)
	if e.receiver == nil && e.verifier == nil && e.sink != nil {
		s.Arrived = meter.Between(time.Duration(before), time.Duration(e.clock.now()), 0)
		dropped += s.Sink.passed()
	}
	s.Arrived.Count += dropped
	s.Arrived.OK = s.Arrived.OK && ok
}

// snapshot reads one worker and adds it to sum. Taken is read before ring, so that it is never larger.
func (w *worker) snapshot(sum *tally) WorkerSnapshot {
	c, p := &w.counters, w.plan.Load()
	t := tally{
		bytes: c.bytes.Load(), fcs: c.fcs.Load(), taken: c.taken.Load(), ring: c.ring.Load(), asked: c.asked.Load(), missed: c.missed.Load(),
		ringFull: c.ringFull.Load(), retries: c.retries.Load(), errors: c.errors.Load(), kicks: c.kicks.Load(),
		user: c.user.Load(), kernel: c.kernel.Load(), spin: c.spin.Load(), wait: c.wait.Load(), idle: c.idle.Load(),
	}
	sum.add(&t)
	s := WorkerSnapshot{
		Queue: int(p.number), CPU: p.cpu, TID: int(c.tid.Load()), State: State(c.state.Load()), Kind: kind(c.kind.Load()).String(),
		Ring: t.ring, Taken: t.taken, Missed: t.missed, InKernel: int(t.ring - t.taken),
		RingFull: t.ringFull, Retries: t.retries, Errors: t.errors, Kicks: t.kicks,
		User: time.Duration(t.user), Kernel: time.Duration(t.kernel), Spin: time.Duration(t.spin), Wait: time.Duration(t.wait),
	}
	if s.State == Failed {
		s.Err = w.err // written before the state
	}
	return s
}

// state is what the run as a whole is doing: running as long as one worker is, failed only when all have.
func (r *run) state(workers []WorkerSnapshot) State {
	for _, s := range []State{Running, NoCarrier, Draining, Ready, Done} {
		if slices.ContainsFunc(workers, func(w WorkerSnapshot) bool { return w.State == s }) {
			if s == Ready { // its thread is about to begin
				return Running
			}
			return s
		}
	}
	if len(workers) > 0 {
		return Failed
	}
	return Running
}
