package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"wirespeed/presets/knob"
)

// Sweep is a sweep as far as it has come: an immutable value.
type Sweep struct {
	knob.Sweep
	Unit      string // of the values on the axis, "" for plain numbers
	Least     string // the ends of the axis, as values of the knob
	Most      string
	Ends      [2]float64 // the same as numbers
	Values    int        // that it goes through, those that are looked at again left out; 0 for a bisection
	Criterion string     // of a bisection: what changes at the edge
	Points    []SweepPoint
	Findings  []Finding
	Running   bool
	Doing     string // what it does now, in words
	Ended     string // why it ended before its time, "" if it did not
	Restored  string // what the knob was put back to
}

// The legs of a sweep. Again is looking a second time, for what was found.
const (
	LegUp    = "up"
	LegDown  = "down"
	LegAgain = "again"
)

// Sweep turns a knob through its values, dwells at each, names what it finds, and puts the knob back, whatever happens. It blocks until it is over;
// what there is by then is returned, also with an error. errors.Is(err, knob.ErrUsage) where it cannot begin. Only one runs at a time, and only
// while frames flow.
func (r *Run) Sweep(ctx context.Context, spec knob.Sweep) (*Sweep, error) {
	s, err := r.newSweep(ctx, spec)
	if err != nil {
		return nil, err
	}
	err = s.run()
	return &s.state, err
}

// StopSweep ends the sweep under way; its knob is put back. Without one it is an error.
func (r *Run) StopSweep() (string, error) {
	r.mu.Lock()
	end := r.endSweep
	r.mu.Unlock()
	if end == nil {
		return "", usage("sweep stop: there is none under way")
	}
	end()
	return "the sweep ends", nil
}

// sweeper is a sweep under way. One goroutine has it.
type sweeper struct {
	r      *Run
	ctx    context.Context
	cancel context.CancelFunc
	knob   knob.Knob
	axis   knob.Axis
	was    string // the knob before
	set    string // what it was turned to last
	turns  int    // of the operator, when it began
	began  time.Time
	state  Sweep // published as copies
}

// run goes through with it and finishes.
func (s *sweeper) run() (err error) {
	defer s.finish()
	if s.state.Bisect {
		err = s.bisect()
	} else {
		err = s.through()
	}
	switch {
	case errors.Is(err, context.Canceled):
		s.state.Ended = "interrupted"
	case err != nil:
		s.state.Ended = err.Error()
	}
	return err
}

// errTurned ends a sweep in which something else was turned.
var errTurned = errors.New("another knob was turned meanwhile: what was measured would not compare")

// newSweep checks what can be and takes the place of the one sweep.
func (r *Run) newSweep(ctx context.Context, spec knob.Sweep) (*sweeper, error) {
	if err := spec.Complete(); err != nil {
		return nil, err
	}
	k, err := knob.Find(spec.Knob)
	if err != nil {
		return nil, err
	}
	b := r.Bench()
	axis, err := k.Axis(b, spec.From, spec.To, spec.Step)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.running():
		return nil, usage("sweep: nothing is sent: start first")
	case r.apart != "":
		return nil, usage("sweep: %s is under way: wait for its end, or end it with sweep stop", r.apart)
	}
	s := &sweeper{r: r, knob: k, axis: axis, was: k.Get(b), turns: r.turns, began: time.Now()}
	s.ctx, s.cancel = context.WithCancel(ctx)
	stop := context.AfterFunc(r.ctx, s.cancel) // the run's end is the sweep's
	r.endSweep = func() { stop(); s.cancel() }
	last := len(axis.Texts) - 1
	s.state = Sweep{
		Sweep: spec, Unit: axis.Unit, Running: true,
		Least: axis.Texts[0], Most: axis.Texts[last], Ends: [2]float64{axis.Values[0], axis.Values[last]},
	}
	if !spec.Bisect {
		s.state.Values = len(axis.Texts)
		if spec.Direction == "updown" {
			s.state.Values *= 2
		}
	}
	said := fmt.Sprintf("sweep %s %s..%s", spec.Knob, spec.From, spec.To)
	r.setApart(said)
	r.log.add("", said)
	s.publishHeld()
	return s, nil
}

// setApart begins a time whose samples belong to no epoch, or ends it with "". The caller holds mu.
func (r *Run) setApart(what string) {
	if what == "" {
		r.change("after "+r.apart, false)
		r.apart = ""
		return
	}
	r.change(what, false)
	r.apart = what
}

// publish lets the front ends see how far it has come.
func (s *sweeper) publish() {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.publishHeld()
}

func (s *sweeper) publishHeld() {
	c := s.state
	c.Points, c.Findings = slices.Clip(c.Points), slices.Clip(c.Findings)
	s.r.sweep = &c
}

// finish puts the knob back and says what was found.
func (s *sweeper) finish() {
	s.cancel()
	if s.set != "" && s.set != s.was {
		if err := s.restore(); err != nil {
			s.r.log.add("", fmt.Sprintf("%s could not be put back to %s: %v", s.knob.Name, s.was, err))
		}
	}
	s.state.Restored, s.state.Running, s.state.Doing = s.was, false, ""
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.r.setApart("")
	s.r.endSweep = nil
	s.publishHeld()
}

// restore turns the knob back. A run that is closed has no engine any more, and its guard puts the device back.
func (s *sweeper) restore() error {
	s.r.cmd.Lock()
	defer s.r.cmd.Unlock()
	if s.r.closed {
		return nil
	}
	return s.r.turnApart(s.knob, s.was)
}

// turnApart sets a knob without an epoch or a word in the log. The caller holds cmd.
func (r *Run) turnApart(k knob.Knob, value string) error {
	b := r.liveBench()
	_, err := k.Set(b, value)
	return err
}

// at turns the knob to a value, dwells there and keeps what was measured.
func (s *sweeper) at(text string, x float64, leg string) (SweepPoint, error) {
	if err := s.turn(text); err != nil {
		return SweepPoint{}, err
	}
	p, err := s.r.dwell(s.ctx, s.state.Dwell)
	if err != nil {
		return p, err
	}
	p.Text, p.X, p.Leg, p.At = text, x, leg, time.Since(s.began)
	s.state.Points = append(s.state.Points, p)
	s.publish()
	return p, nil
}

func (s *sweeper) turn(text string) error {
	s.r.cmd.Lock()
	defer s.r.cmd.Unlock()
	s.r.mu.Lock()
	turned := s.r.turns != s.turns
	s.r.mu.Unlock()
	switch {
	case s.ctx.Err() != nil:
		return s.ctx.Err()
	case turned:
		return errTurned
	}
	s.set = text
	if err := s.r.turnApart(s.knob, text); err != nil {
		return fmt.Errorf("%s %s: %w", s.knob.Name, text, err)
	}
	return nil
}

// through goes to every value, in its direction, and looks again at what is found.
func (s *sweeper) through() error {
	n := len(s.axis.Texts)
	for _, leg := range legs(s.state.Direction) {
		s.state.Doing = "going " + leg
		for i := range n {
			if leg == LegDown {
				i = n - 1 - i
			}
			if _, err := s.at(s.axis.Texts[i], s.axis.Values[i], leg); err != nil {
				s.state.Findings = s.findings()
				return err
			}
		}
	}
	s.state.Findings = s.findings()
	s.publish()
	return s.lookAgain()
}

func legs(direction string) []string {
	switch direction {
	case "down":
		return []string{LegDown}
	case "updown":
		return []string{LegUp, LegDown}
	}
	return []string{LegUp}
}

// logSweep says what was found.
func (r *Run) logSweep(s *Sweep) {
	for _, f := range s.Findings {
		r.log.add("", f.Text)
	}
}

// startSweep begins a sweep that goes on by itself, for a line that was typed.
func (r *Run) startSweep(spec knob.Sweep) (string, error) {
	if spec.Stop {
		return r.StopSweep()
	}
	began := make(chan error, 1)
	r.mu.Lock()
	ctx := r.ctx
	r.mu.Unlock()
	if ctx == nil {
		return "", usage("sweep: nothing is sent: start first")
	}
	r.spawn(func() {
		s, err := r.newSweep(ctx, spec)
		began <- err
		if err != nil {
			return
		}
		err = s.run()
		r.logSweep(&s.state)
		if err != nil {
			r.log.add("", "the sweep ended before its time: "+s.state.Ended)
		}
	})
	if err := <-began; err != nil {
		return "", err
	}
	return fmt.Sprintf("sweep %s %s..%s: sweep stop ends it", spec.Knob, spec.From, spec.To), nil
}
