package control

import (
	"context"
	"fmt"
	"strings"
	"time"

	"wirespeed/engine"
	"wirespeed/engine/far"
	"wirespeed/engine/meter"
)

// FarSide is what the far end of two machines says of the frames since the start or the last reset. A nil figure is not known.
type FarSide struct {
	Address string
	Device  string // there
	How     string // "verify", "xdp (native)"
	Err     string // why nothing is known now, "" where it is
	Age     *time.Duration
	PPS     *float64

	Arrived, Verified, Lost, Duplicates, Reordered, Corrupt, NotSeen *uint64
	Received, Dropped                                                *uint64 // by its device, frames of others included
}

// farLink is the connection to the far end. The zero value is none.
type farLink struct {
	link *far.Link
	base *far.Report // where the statistics begin; nil where that is not known
	live bool        // frames flowed then: the count is not of one moment
}

// How long the start and the end of a run wait for the far end to say where it stands, and how long frames that have left may take.
const (
	farPatience = 2 * time.Second
	farOnTheWay = 200 * time.Millisecond
)

// dialFar begins to keep the connection, if there is to be one.
func (r *Run) dialFar() {
	if r.o.Far != "" {
		r.far.link = far.Dial(r.o.Far, r.o.FarKey, engine.Spawn)
	}
}

// farBegins asks the far end where it stands, before the first frame leaves. It blocks for as long as that takes, two seconds at most.
func (r *Run) farBegins() {
	if r.far.link == nil {
		return
	}
	ctx, cancel := context.WithTimeout(r.life, farPatience)
	defer cancel()
	a := r.far.link.Fresh(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.far.base, r.far.live = nil, false
	if a.Err != nil {
		r.log.add("", fmt.Sprintf("far end %s: %v: what arrives there is not known", r.o.Far, a.Err))
		return
	}
	r.far.base = &a.Report
}

// farEnds waits, after the last frame has left, until the far end has counted what was on the way.
func (r *Run) farEnds() {
	if r.far.link == nil {
		return
	}
	ctx, cancel := context.WithTimeout(r.life, farOnTheWay+farPatience)
	defer cancel()
	select {
	case <-time.After(farOnTheWay):
		r.far.link.Fresh(ctx) // the link keeps it
	case <-ctx.Done():
	}
}

// farResets begins its statistics anew, from what was last heard. The caller holds mu.
func (r *Run) farResets() {
	if r.far.link == nil {
		return
	}
	r.far.base, r.far.live = nil, true
	if a := r.far.link.Latest(); a.Err == nil {
		r.far.base = &a.Report
	}
}

// closeFar ends the connection.
func (r *Run) closeFar() {
	if r.far.link != nil {
		r.far.link.Close()
	}
}

// farSide is what is known of the far end now, nil without one. The caller holds mu.
func (r *Run) farSide(now time.Time) *FarSide {
	if r.far.link == nil {
		return nil
	}
	return newFarSide(r.far.link.Address(), r.far.link.Latest(), r.far.base, r.started.IsZero(), now)
}

// newFarSide takes an answer apart; fresh says that nothing was sent yet.
func newFarSide(address string, a far.Answer, base *far.Report, fresh bool, now time.Time) *FarSide {
	s := &FarSide{Address: address, Device: a.Report.Device, How: a.Report.How}
	if !a.At.IsZero() {
		age := max(0, now.Sub(a.At))
		s.Age = &age
	}
	switch {
	case a.Err != nil:
		s.Err = a.Err.Error()
		return s
	case fresh:
		s.PPS = a.Report.PPS
		return s
	case base == nil:
		s.Err = "connected after the start: its counts begin elsewhere (r begins them anew)"
		return s
	case base.Session != a.Report.Session:
		s.Err = "the sink was started anew: its counts begin elsewhere (r begins them anew)"
		return s
	}
	n, b := &a.Report, base
	grown := func(was, now *uint64) *uint64 {
		if was == nil || now == nil {
			return nil
		}
		d := uint64(0)
		if *now > *was { // what came late makes a loss smaller
			d = *now - *was
		}
		return &d
	}
	s.PPS = n.PPS
	s.Arrived, s.Verified, s.Lost = grown(b.Arrived, n.Arrived), grown(b.Verified, n.Verified), grown(b.Lost, n.Lost)
	s.Duplicates, s.Reordered, s.Corrupt = grown(b.Duplicates, n.Duplicates), grown(b.Reordered, n.Reordered), grown(b.Corrupt, n.Corrupt)
	s.NotSeen, s.Received, s.Dropped = grown(b.Unseen, n.Unseen), grown(b.Received, n.Received), grown(b.Dropped, n.Dropped)
	return s
}

// sentence is all of it in words, as a line below the ladder.
func (s *FarSide) sentence() string {
	age := "never heard of"
	if s.Age != nil {
		age = fmt.Sprintf("%.1f s ago", s.Age.Seconds())
	}
	if s.Err != "" {
		return fmt.Sprintf("far %s unknown: %s (%s)", s.Address, s.Err, age)
	}
	var parts []string
	for _, p := range []struct {
		name string
		n    *uint64
		null bool // said even where it is not known
	}{
		{"arrived", s.Arrived, true},
		{"lost", s.Lost, false},
		{"not seen (receiver limited)", s.NotSeen, false},
		{"duplicates", s.Duplicates, false},
		{"out of order", s.Reordered, false},
		{"corrupt", s.Corrupt, false},
	} {
		switch {
		case p.n != nil && (*p.n > 0 || p.name == "arrived" || p.name == "lost"):
			parts = append(parts, meter.Thousands(*p.n)+" "+p.name)
		case p.n == nil && p.null:
			parts = append(parts, p.name+" -")
		}
	}
	return fmt.Sprintf("far %s: %s (%s; %s, %s)", s.Device, strings.Join(parts, ", "), age, s.Address, s.How)
}

// farGap adds to a ladder what the far end says, as from there.
func (s *FarSide) farGap(l *Ladder, c circumstances, live bool) {
	if s == nil {
		return
	}
	l.Far, l.HasFar = s.Arrived, true
	l.Gaps = append([]string{s.sentence()}, l.Gaps...)
	left, step := l.Taken, "taken"
	if l.Device != nil && *l.Device <= l.Taken {
		left, step = *l.Device, "device"
	}
	if s.Arrived == nil || c.moving || live { // the counts are of different moments
		return
	}
	switch {
	case *s.Arrived < left:
		l.Gaps = append(l.Gaps, fmt.Sprintf("%s, not at the far end: %s lost between the two", step, frames(left-*s.Arrived)))
	case *s.Arrived > left:
		l.Gaps = append(l.Gaps, fmt.Sprintf("far end above %s: %s of another sender there", step, frames(*s.Arrived-left)))
	}
}
