package control

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"wirespeed/engine"
	"wirespeed/nic"
	"wirespeed/nic/trace"
)

// Trace is what the kernel's trace points showed: an immutable value.
type Trace struct {
	What    string        // the knob's value
	Windows int           // that were watched, of those that are not every frame
	Bulks   *trace.Bulks  // of the last window, or since it was switched on where every frame is watched; nil before the first
	Device  *trace.Owned  // likewise
	At      time.Time     // when the last window began; zero where every frame is watched
	Cost    *float64      // share of the rate that tracing costs; nil is not known
	CostPPS *float64      // the same in frames a second
	CostWhy string        // why it is not known, "" where it is
	Blind   string        // why nothing is to be seen, "" where there is
	Err     string        // why it ended before its time
	Window  time.Duration // of each second
}

const (
	traceWindow = 100 * time.Millisecond
	traceEvery  = time.Second
)

// tracer watches the device in a goroutine of its own while the knob trace is on. Its lock is its own.
type tracer struct {
	mu    sync.Mutex
	view  Trace
	on    bool
	live  *trace.Live // where every frame is watched
	stop  context.CancelFunc
	ended chan struct{}

	with, without float64 // frames a second while it watched, and while it did not: means over windows
}

// setTrace is what the knob trace calls. The caller holds cmd, or is New.
func (r *Run) setTrace(what string) error {
	var t *trace.Tracer
	r.mu.Lock()
	link := r.link
	r.mu.Unlock()
	kind, every := strings.CutSuffix(what, "-all")
	if what != "" { // what is on stays so where the other cannot be had
		var err error
		switch kind {
		case "bulk":
			t, err = trace.OpenBulks(link.Index)
		case "device":
			t, err = trace.OpenDevice(link.Name)
		}
		if errors.Is(err, trace.ErrNotPermitted) {
			return notPermitted("trace %s: %v", what, err)
		}
		if err != nil {
			return fmt.Errorf("trace %s: %w", what, err)
		}
	}
	r.endTrace()
	live, ended := r.beginTrace(t, what, kind, every)
	if live != nil { // the first frame must not be before it
		select {
		case <-live.Ready:
		case <-ended:
		}
	}
	return nil
}

// beginTrace watches through t, nil for nothing, in a goroutine of its own. The caller holds cmd, or is New.
func (r *Run) beginTrace(t *trace.Tracer, what, kind string, every bool) (live *trace.Live, ended chan struct{}) {
	r.tracer.mu.Lock()
	defer r.tracer.mu.Unlock()
	r.tracer.view, r.tracer.on, r.tracer.live = Trace{What: what, Window: traceWindow, CostWhy: "not measured yet"}, what != "", nil
	r.tracer.with, r.tracer.without = 0, 0
	if t == nil {
		return nil, nil
	}
	ctx, stop := context.WithCancel(r.life)
	r.tracer.stop, r.tracer.ended = stop, make(chan struct{})
	ended = r.tracer.ended
	if every {
		live = t.Watch()
		r.tracer.live = live
		r.tracer.view.Window = traceEvery
	}
	r.spawn(func() {
		defer close(ended)
		err := r.keepTracing(ctx, t, kind, live)
		if err = errors.Join(err, t.Close()); err != nil {
			r.log.add("trace", "trace: "+err.Error())
			r.tracer.show(func(v *Trace) { v.Err = err.Error() })
		}
	})
	return live, ended
}

// endTrace ends tracing and waits for that. The caller holds cmd, or is New or free.
func (r *Run) endTrace() {
	r.tracer.mu.Lock()
	stop, ended := r.tracer.stop, r.tracer.ended
	r.tracer.stop = nil
	r.tracer.mu.Unlock()
	if stop != nil {
		stop()
		<-ended
	}
}

func (t *tracer) show(f func(*Trace)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.view)
}

// keepTracing watches every frame, or a window of each second, until ctx ends.
func (r *Run) keepTracing(ctx context.Context, t *trace.Tracer, kind string, live *trace.Live) error {
	if live != nil {
		return r.watchAll(ctx, t, kind)
	}
	for {
		without := r.takenRate(ctx, traceEvery-traceWindow)
		if ctx.Err() != nil {
			return nil
		}
		if !r.isRunning() {
			continue
		}
		var s engine.Snapshot
		r.eng.Snapshot(&s)
		from, began := s.Taken, time.Now()
		var b trace.Bulks
		var o trace.Owned
		var err error
		if kind == "bulk" {
			b, err = t.Bulks(ctx, traceWindow)
		} else {
			o, err = t.Device(ctx, traceWindow)
		}
		if err != nil {
			return err
		}
		r.eng.Snapshot(&s)
		with := -1.0
		if d := (s.Taken.At - from.At).Seconds(); d > 0 {
			with = float64(s.Taken.Count-from.Count) / d
		}
		r.tracer.show(func(v *Trace) {
			v.Windows++
			v.At = began
			if kind == "bulk" {
				v.Bulks = &b
			} else {
				v.Device = &o
			}
		})
		r.cost(without, with)
	}
}

// watchAll watches every frame until ctx ends.
func (r *Run) watchAll(ctx context.Context, t *trace.Tracer, kind string) error {
	r.tracer.show(func(v *Trace) {
		v.CostWhy = "every frame is watched, with no time without to compare: trace " + kind + " measures it"
	})
	const forever = 1000 * time.Hour
	if kind == "bulk" {
		_, err := t.Bulks(ctx, forever)
		return err
	}
	_, err := t.Device(ctx, forever)
	return err
}

// takenRate is how many frames a second the kernel took over a time; negative where that is not known.
func (r *Run) takenRate(ctx context.Context, d time.Duration) float64 {
	var a, b engine.Snapshot
	r.eng.Snapshot(&a)
	if !sleep(ctx, d) {
		return -1
	}
	r.eng.Snapshot(&b)
	if took := (b.Taken.At - a.Taken.At).Seconds(); took > 0 && b.Taken.Count > a.Taken.Count {
		return float64(b.Taken.Count-a.Taken.Count) / took
	}
	return -1
}

// cost learns what a window took from the rate, from the time right before it.
func (r *Run) cost(without, with float64) {
	t := &r.tracer
	asked := !r.eng.Config().Rate.IsMax()
	t.mu.Lock()
	defer t.mu.Unlock()
	if without <= 0 || with < 0 {
		return
	}
	const weight = 0.3 // of the last window
	if t.without == 0 {
		t.with, t.without = with, without
	}
	t.with += weight * (with - t.with)
	t.without += weight * (without - t.without)
	share, pps := 1-t.with/t.without, t.without-t.with
	t.view.Cost, t.view.CostPPS, t.view.CostWhy = &share, &pps, ""
	if asked {
		t.view.CostWhy = "the rate is asked for: what tracing costs shows at rate max"
	}
}

// tracing is the knob's value as the knobs have it.
func (r *Run) tracing() string {
	r.tracer.mu.Lock()
	defer r.tracer.mu.Unlock()
	return r.tracer.view.What
}

// traceView is what is shown, nil while the knob is off.
func (r *Run) traceView() *Trace {
	t := &r.tracer
	bypass := r.eng.Config().Path == engine.Bypass
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.on {
		return nil
	}
	v := t.view
	if t.live != nil {
		v.Bulks, v.Device = t.live.Bulks.Load(), t.live.Owned.Load()
	}
	if bypass {
		v.Blind = "the bypass passes the trace points by: path qdisc is watched"
	}
	return &v
}

// settleTrace brings the figures of a trace of every frame up to date, at the end of a run.
func (r *Run) settleTrace() {
	r.tracer.mu.Lock()
	live, ended := r.tracer.live, r.tracer.ended
	r.tracer.mu.Unlock()
	if live == nil {
		return
	}
	done := make(chan struct{})
	timeout := time.After(traceEvery)
	select {
	case live.Ask <- done:
	case <-ended:
		return
	case <-timeout:
		return
	}
	select {
	case <-done:
	case <-ended:
	case <-timeout:
	}
}

// ringTx is the length of the device's transmit rings, 0 where it is not known.
func ringTx(values []nic.Value) (n int) {
	for _, v := range values {
		if v.Name == "rings.tx" {
			_, _ = fmt.Sscan(v.Now, &n) // unknown stays 0
		}
	}
	return n
}
