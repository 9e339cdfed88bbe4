package engine

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// run is one run from Start to its end.
type run struct {
	shared  shared
	workers []*worker // worker i has number i
	leaving []*worker // told to retire; once gone they are in Engine.past
	started int64
	end     int64 // MaxInt64 without a duration
	ended   atomic.Int64
	misfit  error // why the device no longer takes the configuration
	alive   sync.WaitGroup
	done    chan struct{}
}

// compile makes the plans of all workers.
func (e *Engine) compile(r *run, cfg Config, origin int64) ([]*plan, error) {
	if err := e.source(r, cfg); err != nil {
		return nil, err
	}
	plans := make([]*plan, cfg.Queues)
	for i := range plans {
		p, err := compile(cfg, e.dev, i, origin, r.end, e.cutting(cfg).can)
		if err != nil {
			return nil, err
		}
		if cfg.Verifies() {
			p.times = e.times.Stamps(i)
		}
		e.serial++
		p.serial = e.serial
		p.source, p.shape.content = e.sources.list[i], e.sources.id
		plans[i] = p
	}
	return plans, nil
}

// employ starts a worker on the next open queue.
func (e *Engine) employ(r *run, p *plan) {
	q := e.queues[0]
	e.queues = e.queues[1:]
	w := newWorker(&r.shared, q)
	w.plan.Store(p)
	r.workers = append(r.workers, w)
	r.alive.Add(1)
	Spawn(func() {
		defer r.alive.Done()
		w.run()
		e.left(r, w)
	})
}

// spareThreads lets four threads run Go besides the workers', so that the console is never late because of them. It is said explicitly,
// before any thread is pinned: the runtime would otherwise take the number anew from the mask of a pinned thread (DESIGN.md section 4).
func spareThreads(workers int) { runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), workers+4)) }

// left is called by a worker's goroutine as its last act.
func (e *Engine) left(r *run, w *worker) {
	if w.err != nil {
		p := w.plan.Load()
		e.event(fmt.Sprintf("worker of queue %d on CPU %d stopped: %v", p.number, p.cpu, w.err))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if i := slices.Index(r.leaving, w); i >= 0 {
		r.leaving = slices.Delete(r.leaving, i, i+1)
		e.dismiss(w)
	}
}

// dismiss moves what a worker counted to the totals and closes its queue: the ring may hold slots that never came back.
func (e *Engine) dismiss(w *worker) {
	e.past.add(&w.tally)
	_ = w.queue.close() // nothing can be done about an error, and nothing is lost
}

// watch ends a run once its workers have left. It failed if the device refused it, or if not one worker came to the end.
func (e *Engine) watch(r *run) {
	r.alive.Wait()
	e.settle()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = r.misfit
	failed := 0
	for _, w := range r.workers {
		if w.err != nil {
			failed++
		}
	}
	if e.err == nil && failed == len(r.workers) {
		e.err = fmt.Errorf("%s: %w", e.dev.Name, r.workers[0].err)
	}
	// The run lasted until its last worker stopped sending; draining comes after it.
	ended := int64(0)
	for _, w := range r.workers {
		if w.err != nil {
			w.last = e.clock.now()
		}
		ended = max(ended, w.last)
	}
	r.ended.Store(max(ended, r.started+1))
	close(r.done)
}

func (r *run) over() bool { return r.ended.Load() != 0 }

// bury ends all that is left of a finished run.
func (e *Engine) bury(r *run) {
	for _, w := range r.workers {
		e.dismiss(w)
	}
	r.workers = nil
}
