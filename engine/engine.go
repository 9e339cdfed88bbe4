package engine

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"wirespeed/engine/receive"
)

// Spawn starts every goroutine of this package. The program may replace it, before the first Engine is opened, by one that puts the NIC
// back before a panic goes on.
var Spawn = func(f func()) { go f() }

// eventBuffer is how many events wait for a reader.
const eventBuffer = 64

// Engine is the handle of the sending and counting machinery of one device. Its methods may be called from any goroutine.
type Engine struct {
	clock   clock
	carrier atomic.Bool
	forgive atomic.Uint64
	events  chan Event

	mu       sync.Mutex
	dev      Device
	rx       *Device
	cfg      Config
	receiver *receiver // counts; nil without, or while verifier does
	verifier *verifier
	times    *receive.Clock
	sink     *sink    // that is on
	sunk     uint64   // frames that sinks have dropped that are off again
	queues   []*queue // opened and not yet used by a worker
	serial   uint64   // of the last plan
	sources  sources  // of the plans last compiled
	cuts     [2]cuts  // of UDP and of TCP

	run  *run  // the present or the last one, nil before the first
	past tally // of runs and workers that are over
	err  error // why the last run failed
}

// Open makes the rings and, with rx not nil and cfg.Receive, the receiver on rx. Nothing is sent. errors.Is(err, ErrNotPermitted) holds without
// CAP_NET_RAW.
func Open(dev Device, rx *Device, cfg Config) (*Engine, error) {
	if err := cfg.Validate(dev); err != nil {
		return nil, err
	}
	e := &Engine{clock: newClock(), events: make(chan Event, eventBuffer), dev: dev, rx: rx, cfg: cfg}
	e.times = receive.NewClock(func() int64 { return e.clock.wall + e.clock.now() })
	e.carrier.Store(true)
	if err := e.openQueues(cfg.Queues); err != nil {
		return nil, err
	}
	if err := errors.Join(e.setReceiver(cfg), e.setSink(cfg)); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// Start begins a run: sequence numbers, schedule and limits begin anew. The engine must be ready or done.
func (e *Engine) Start(l Limit) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run != nil {
		if !e.run.over() {
			return errors.New("already running")
		}
		e.bury(e.run)
	}
	if err := e.openQueues(e.cfg.Queues); err != nil {
		return err
	}
	now := e.clock.now()
	r := &run{started: now, end: math.MaxInt64, done: make(chan struct{})}
	if l.Duration > 0 {
		r.end = now + int64(l.Duration)
	}
	r.shared.clock, r.shared.carrier, r.shared.forgive = &e.clock, &e.carrier, &e.forgive
	if n := e.cfg.count(e.dev); n > 0 && (l.Count == 0 || n < l.Count) {
		l.Count = n
	}
	r.shared.limit(l.Count)
	if err := e.openSuper(e.cfg, e.queues); err != nil {
		return err
	}
	plans, err := e.compile(r, e.cfg, now)
	if err != nil {
		return err
	}
	e.err = nil
	e.run = r
	calmMonitor()
	spareThreads(len(plans) + maxReaders)
	for i := range plans {
		e.employ(r, plans[i])
	}
	Spawn(func() { e.watch(r) })
	return nil
}

// Stop ends the run in order: no further frame, the rings drained for at most two seconds. It blocks until that is done, and returns why the
// run failed, if it did.
func (e *Engine) Stop() error {
	e.mu.Lock()
	r := e.run
	e.mu.Unlock()
	if r == nil {
		return nil
	}
	r.shared.stop.Store(true)
	<-r.done
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// Done is closed when the present run has ended, by Stop, its limit, or failure of all workers. Before the first run it is nil.
func (e *Engine) Done() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run == nil {
		return nil
	}
	return e.run.done
}

// Config returns the present configuration.
func (e *Engine) Config() Config {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cfg
}

// Apply changes the configuration while frames flow, or before they do. A refused one changes nothing.
func (e *Engine) Apply(cfg Config) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := cfg.Validate(e.dev); err != nil {
		return err
	}
	return e.apply(cfg)
}

// apply puts a valid configuration into effect; e.mu is held.
func (e *Engine) apply(cfg Config) error {
	if err := e.setSink(cfg); err != nil { // before the first frame of that kind, too; and it is what may be refused
		return err
	}
	if err := e.applyStream(cfg); err != nil {
		return errors.Join(err, e.setSink(e.cfg))
	}
	return nil
}

// applyStream is apply for all but the sink.
func (e *Engine) applyStream(cfg Config) error {
	// Before the first frame of that kind.
	if cfg.Counts() && e.receiver != nil {
		if err := e.receiver.accept(cfg.flows()); err != nil {
			return err
		}
	}
	if cfg.Verifies() && e.verifier != nil {
		if err := e.verifier.accept(cfg, e.dev); err != nil {
			return err
		}
	}
	running := e.run != nil && !e.run.over() && !e.run.shared.stop.Load()
	if !running {
		if err := e.setReceiver(cfg); err != nil {
			return err
		}
		e.cfg = cfg
		return nil
	}
	if err := e.fits(cfg); err != nil {
		return err
	}
	now := e.clock.now()
	origin, err := cfg.follows(e.cfg, e.dev, e.run, now)
	if err != nil {
		return err
	}
	if add := cfg.Queues - len(e.run.workers); add > 0 {
		if err := e.openQueues(add); err != nil {
			return err
		}
	}
	if err := e.openSuper(cfg, append(e.run.queues(), e.queues...)); err != nil {
		return err
	}
	plans, err := e.compile(e.run, cfg, origin)
	if err != nil {
		return err
	}
	if err := e.setReceiver(cfg); err != nil {
		return err
	}
	e.cfg = cfg
	spareThreads(cfg.Queues + maxReaders)
	for i, p := range plans {
		if i < len(e.run.workers) {
			e.run.workers[i].plan.Store(p)
		} else {
			e.employ(e.run, p)
		}
	}
	for _, w := range e.run.workers[cfg.Queues:] {
		w.retire.Store(true)
		e.run.leaving = append(e.run.leaving, w)
	}
	e.run.workers = e.run.workers[:cfg.Queues]
	return nil
}

// SetCarrier tells the workers whether the link can carry frames; they see it with their next batch.
func (e *Engine) SetCarrier(up bool) { e.carrier.Store(up) }

// SetDevice tells the engine what has changed about its device (MTU, speed, queues). Where the present configuration no longer fits, the
// run fails with the reason: with PACKET_VNET_HDR the kernel itself checks nothing (KERNEL.md).
func (e *Engine) SetDevice(dev Device) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dev = dev
	err := e.cfg.Validate(dev)
	if err == nil {
		err = e.apply(e.cfg) // a percentage may mean another rate now
	}
	if err != nil && e.run != nil && !e.run.over() {
		e.run.misfit = err // it is told as the run's failure
		e.run.shared.stop.Store(true)
	}
}

// Forgive drops the debt of the schedule: after SIGCONT nothing owed is worked off, all of it is missed.
func (e *Engine) Forgive() { e.forgive.Add(1) }

// Now is the engine's clock, of all its readings: CLOCK_MONOTONIC since the engine's origin.
func (e *Engine) Now() time.Duration { return time.Duration(e.clock.now()) }

// Events delivers what rarely happens. It is bounded, and what does not fit is dropped: the snapshot has it all the same.
func (e *Engine) Events() <-chan Event { return e.events }

func (e *Engine) event(text string) {
	select {
	case e.events <- Event{At: time.Now(), Text: text}:
	default:
	}
}

// Close stops the run and frees everything. The engine cannot be used afterwards.
func (e *Engine) Close() error {
	_ = e.Stop() // its reason was told before
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run != nil {
		e.bury(e.run)
	}
	err := e.closeQueues()
	if e.receiver != nil {
		err = errors.Join(err, e.receiver.close())
		e.receiver = nil
	}
	if e.verifier != nil {
		err = errors.Join(err, e.verifier.Close())
		e.verifier = nil
	}
	return errors.Join(err, e.closeSink())
}
