package control

import (
	"fmt"
	"slices"
	"time"

	"wirespeed/engine"
)

// Tick pulls one snapshot and makes a View of it. One caller at a time; it does not block on the device.
func (r *Run) Tick() *View {
	if due := r.Due(); !due.IsZero() && time.Since(due) > veryLate {
		time.Sleep(signalTime)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.observe()
	if !r.due.IsZero() {
		r.sampleLine(now)
	}
	return r.view(now)
}

// A tick that comes very late may be the first thing that happens after a SIGSTOP: Resume, which SIGCONT calls, is to come before it.
const (
	veryLate   = 100 * time.Millisecond
	signalTime = 10 * time.Millisecond
)

// Last is the last Tick of a run that has ended: a sample under way counts if it has at least half an interval.
func (r *Run) Last() *View {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.observe()
	if !r.due.IsZero() && now.at.Sub(r.line.from.at) >= r.o.Interval/2 {
		r.due = now.at
		r.sampleLine(now)
	}
	r.due = time.Time{}
	return r.view(now)
}

// Due is when the present run's next sample of the line is due; zero when none is. A front end that ticks at these times gets the line
// without drift.
func (r *Run) Due() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.due
}

// observe takes a look and makes the fast sample of it.
func (r *Run) observe() look {
	prev := r.fast.from
	now := r.take(prev.interval())
	r.hear()
	if q, err := r.dev.Qdisc(); err == nil {
		r.dropping = r.qdisc != nil && q.Drops > r.qdisc.Drops
		r.qdisc = &q
		if r.qdiscBase == nil {
			r.qdiscBase = &q
		}
	} else {
		r.qdisc, r.dropping = nil, false
	}
	if !r.fast.broken {
		r.judge(prev, now)
	}
	if r.link.Carrier {
		r.loss.watch(now)
	}
	r.instant = r.sample(r.fast, now)
	if !r.fast.mixed && r.apart == "" && r.belongs(r.fast.from, now) {
		r.instant.Epoch = r.epochs.number
	}
	if r.running() {
		r.remember(r.instant)
	}
	r.rows.update(r, prev, now)
	r.gauged = r.instrumentsOf(prev, now)
	r.over.measure(r.parts, now.engine.Workers)
	r.fast.next(now)
	return now
}

// belongs says whether the sample from one look to another may be of an epoch: an outage is one as well, with a rate of 0. A run that has ended may end
// the sample, and nothing of what follows is one. The caller holds mu.
func (r *Run) belongs(from, to look) bool {
	switch to.engine.State {
	case engine.Running, engine.NoCarrier:
		return true
	case engine.Done:
		over := from.engine.State == engine.Done || !r.running() && r.ended.Before(to.at.Add(-r.lateness()))
		return !over
	}
	return false
}

// lateness is how much earlier than due a tick may be and still end the line's sample.
func (r *Run) lateness() time.Duration { return r.o.Interval / 20 }

// sampleLine ends the line's sample if it is due.
func (r *Run) sampleLine(now look) {
	if now.at.Before(r.due.Add(-r.lateness())) {
		if (r.line.mixed || r.line.broken) && r.o.Console {
			// Nobody counts samples here: the new regime's first one begins now and not at the end of the mixed one.
			r.line.next(now)
			r.due = now.at.Add(r.o.Interval)
		}
		return
	}
	s := r.sample(r.line, now)
	if s.Valid && !r.line.mixed && r.apart == "" && r.belongs(r.line.from, now) {
		r.epochs.add(&s)
		r.note(s, r.regimeWord())
	}
	r.last, r.fresh = s, true
	r.hearing.turnLine()
	r.line.next(now)
	// The next whole multiple that leaves at least half an interval: ticks that come late are merged.
	for r.due = r.due.Add(r.o.Interval); r.due.Sub(now.at) < r.o.Interval/2; {
		r.due = r.due.Add(r.o.Interval)
	}
}

// catchUp ends the line's sample if it is due, before the next tick does: what a script does at that moment belongs to the next one.
func (r *Run) catchUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.due.IsZero() && !time.Now().Before(r.due.Add(-r.lateness())) {
		now := r.take(r.o.Interval)
		r.hear()
		r.sampleLine(now)
	}
}

// view shows a look. The caller holds mu.
func (r *Run) view(now look) *View {
	cfg := r.eng.Config()
	v := &View{
		At:      now.at,
		Elapsed: r.elapsed(now, r.started),
		State:   now.engine.State,
		Why:     r.why(now),
		Device: DeviceView{
			Link: r.link, Speed: r.engDev.Speed, Stated: r.stated != 0, Shaped: r.o.Lab && r.stated != 0, Lab: r.o.Lab, Rx: r.o.Rx, Pause: r.pause,
			To: destination(cfg),
		},
		Target: target(cfg, r.engDev),
		Fast:   r.instant, Sample: r.last, Line: r.epochs.shown, Fresh: r.fresh,
		Epoch: r.epochs.present(), Epochs: r.epochs.all(), Marks: slices.Clip(r.epochs.marks), Diff: r.epochs.diff,
		Missed:        since(r.base.engine.Missed, now.engine.Missed),
		LostNoCarrier: r.loss.known(),
		Errors:        since(r.base.engine.Errors, now.engine.Errors),
		Queues:        slices.Clone(r.rows.list),
		Placement:     r.steering.words(),
		Qdisc:         r.qdisc,
		Sink:          now.engine.Sink,
		Far:           r.farSide(now.at),
		Facts:         r.shown,
		Instruments:   r.gauged,
		Knobs:         r.panel.rows(r, cfg),
		Log:           r.log.events(),
		History:       slices.Clip(r.history),
		Overhead:      r.over.share,
		Sweep:         r.sweep,
		Kicks:         slices.Clip(r.kickList),
		Quit:          r.quit,
		Progress:      r.progress,
	}
	v.Ladder, v.Arrivals = r.ladder(r.base, now)
	r.fresh = false
	addIRQs(v.Queues, r.shown)
	return v
}

// elapsed is how long the present run has lasted since a moment in it, 0 before the first run.
func (r *Run) elapsed(now look, from time.Time) time.Duration {
	switch {
	case from.IsZero():
		return 0
	case r.running():
		return now.at.Sub(from)
	default:
		return r.ended.Sub(from)
	}
}

// why says in words what a state needs words for.
func (r *Run) why(now look) string {
	switch {
	case r.failure != nil:
		return r.failure.Error()
	case now.engine.Err != nil:
		return now.engine.Err.Error()
	case !r.link.Carrier && !r.downSince.IsZero():
		return fmt.Sprintf("no carrier on %s for %.1f s", r.link.Name, now.at.Sub(r.downSince).Seconds())
	case !r.link.Carrier, now.engine.State == engine.NoCarrier: // the workers know first
		return "no carrier on " + r.link.Name
	}
	return ""
}

// known is the number of frames lost without carrier, nil where it is not known.
func (l *loss) known() *uint64 {
	if l.unknown {
		return nil
	}
	n := l.frames
	return &n
}

// target is the rate asked in pps, nil for max and where it has no meaning.
func target(cfg engine.Config, dev engine.Device) *float64 {
	rat, err := cfg.PPS(dev)
	if err != nil || rat == nil {
		return nil
	}
	pps, _ := rat.Float64()
	return &pps
}
