package control

import (
	"fmt"
	"math"

	"wirespeed/engine/meter"
)

// pairs is how often the knob goes back and forth over a step that was found. What does not come back with it was the machine's drift: no method can
// tell that from a step in a row that was measured once.
const pairs = 3

// lookAgain looks more closely at what was found: a step or an edge between two values that the operator did not choose is narrowed down to the knob's
// finest, and each step is passed back and forth.
func (s *sweeper) lookAgain() error {
	for i := range s.state.Findings {
		f := s.state.Findings[i]
		var err error
		switch f.Kind {
		case FindStep:
			f, err = s.passAgain(f)
		case FindBacklog, FindBehind:
			f, err = s.narrowEdge(f)
		}
		if err != nil {
			return err
		}
		s.state.Findings[i] = f
		s.publish()
	}
	return nil
}

// passAgain narrows a step down and passes it back and forth. Where that fails at the narrow place, it tries the two values it was found between.
func (s *sweeper) passAgain(f Finding) (Finding, error) {
	a, b := s.placeOf(f.Before), s.placeOf(f.After)
	if s.axis.Chosen && math.Abs(b-a) > s.axis.Grid {
		s.state.Doing = fmt.Sprintf("looking where between %s and %s it is", f.Before, f.After)
		middle := (1e9/f.PPSBefore + 1e9/f.PPSAfter) / 2
		before, after, ok, err := s.narrow(a, b, func(p SweepPoint) bool { return (*p.MedianNS < middle) == (f.NS > 0) })
		if err != nil {
			return f, err
		}
		if ok {
			g, err := s.pass(f, before, after)
			if err != nil || *g.Confirmed {
				return g, err
			}
		}
	}
	return s.pass(f, a, b)
}

// placeOf is where a value of the knob lies on the axis.
func (s *sweeper) placeOf(text string) float64 {
	for i, t := range s.axis.Texts {
		if t == text {
			return s.axis.Values[i]
		}
	}
	for _, p := range s.state.Points {
		if p.Text == text {
			return p.X
		}
	}
	return math.NaN()
}

// narrow halves the way between two places until they are neighbours. holds says whether a point is of the first place's side.
func (s *sweeper) narrow(a, b float64, holds func(SweepPoint) bool) (before, after float64, ok bool, err error) {
	search := meter.NewBisection(a, b, s.axis.Grid)
	for {
		x, more := search.Next()
		if !more {
			break
		}
		p, err := s.at(s.axis.Text(x), x, LegAgain)
		if err != nil {
			return 0, 0, false, err
		}
		if !p.OK || p.NS == nil {
			return 0, 0, false, nil
		}
		search.Note(holds(p))
	}
	before, after, ok = search.Edge()
	return before, after, ok && search.Holds(), nil
}

// pass measures both sides of a step in turns and says whether it is there each time, at half its size at least.
func (s *sweeper) pass(f Finding, a, b float64) (Finding, error) {
	s.state.Doing = fmt.Sprintf("going back and forth between %s and %s", s.axis.Text(a), s.axis.Text(b))
	one, other := meter.NewEpoch(0, s.axis.Text(a)), meter.NewEpoch(0, s.axis.Text(b))
	confirmed := true
	var last SweepPoint
	var pa, pb SweepPoint
	for i := range 2*pairs + 1 {
		x, e := a, one
		if i%2 == 1 {
			x, e = b, other
		}
		p, err := s.at(s.axis.Text(x), x, LegAgain)
		if err != nil {
			return f, err
		}
		if !p.OK || p.NS == nil {
			confirmed = false
			continue
		}
		e.Add(1e9 / *p.MedianNS, p.Measured.Seconds())
		if i > 0 && last.NS != nil {
			d := *p.MedianNS - *last.MedianNS
			if i%2 == 0 {
				d = -d
			}
			confirmed = confirmed && d*f.NS > 0 && math.Abs(d) >= math.Abs(f.NS)/2
		}
		if last = p; i%2 == 0 {
			pa = p
		} else {
			pb = p
		}
	}
	if !confirmed || pa.NS == nil || pb.NS == nil {
		no := false
		f.Confirmed = &no
		f.Text += "; it was not there again when the knob went back and forth: the machine's drift, or a state that stays"
		return f, nil
	}
	d := meter.Compare(one.Epoch(), other.Epoch())
	g := s.step(pa, pb, d.A.PPS, d.B.PPS, f.Leg)
	if d.CIOK {
		g.CI95 = &d.CI95
		g.Text += fmt.Sprintf(" (± %s, 95 %%, %d times back and forth)", nsText(d.CI95), pairs)
	}
	yes := true
	g.Confirmed = &yes
	return g, nil
}

// narrowEdge finds the neighbours between which a state changes. A rate's edge is told by the rate that leaves beyond it.
func (s *sweeper) narrowEdge(f Finding) (Finding, error) {
	a, b := s.placeOf(f.Before), s.placeOf(f.After)
	if s.knob.Name == "rate" || !s.axis.Chosen || !(math.Abs(b-a) > s.axis.Grid) {
		return f, nil
	}
	s.state.Doing = fmt.Sprintf("looking where between %s and %s it is", f.Before, f.After)
	state := SweepPoint.Standing
	if f.Kind == FindBehind {
		state = func(p SweepPoint) bool { return p.Behind }
	}
	var first *bool
	at := map[float64]SweepPoint{}
	before, after, ok, err := s.narrow(a, b, func(p SweepPoint) bool {
		now := state(p)
		if first == nil {
			first = &now
		}
		at[p.X] = p
		return now == *first
	})
	if err != nil || !ok {
		return f, err
	}
	return s.edge(f.Kind, at[before], at[after], f.Leg), nil
}

// bisect finds the edge of a regime between the two ends in as few looks as possible: where the asked rate is reached no more or a backlog begins to
// stand, and for other knobs where pps leaves the level of the one end for that of the other.
func (s *sweeper) bisect() error {
	n := len(s.axis.Values)
	from, to := s.axis.Values[0], s.axis.Values[n-1]
	leg := LegUp
	if s.state.Direction == "down" {
		from, to, leg = to, from, LegDown
	}
	s.state.Doing = "halving"
	first, err := s.at(s.axis.Text(from), from, leg)
	if err != nil {
		return err
	}
	last, err := s.at(s.axis.Text(to), to, leg)
	if err != nil {
		return err
	}
	if first.NS == nil || last.NS == nil {
		s.state.Findings = []Finding{{Kind: FindNone, Text: "no edge: at one end nothing leaves"}}
		return nil
	}
	kind, holds, criterion := s.criterion(first, last)
	s.state.Criterion = criterion
	if holds == nil {
		s.state.Findings = []Finding{{Kind: FindNone, Text: "no edge: " + criterion}}
		return nil
	}
	search := meter.NewBisection(from, to, s.axis.Grid)
	search.Next()
	search.Note(holds(first))
	search.Next()
	search.Note(holds(last))
	pair := []SweepPoint{first, last}
	for {
		x, more := search.Next()
		if !more {
			break
		}
		p, err := s.at(s.axis.Text(x), x, leg)
		if err != nil {
			return err
		}
		at := 0
		if p.NS == nil || !holds(p) {
			at = 1
		}
		search.Note(at == 0)
		if p.NS != nil {
			pair[at] = p
		}
	}
	if kind == FindStep {
		f := s.step(pair[0], pair[1], pair[0].PPS, pair[1].PPS, leg)
		s.state.Findings = []Finding{f}
		s.publish()
		f, err := s.pass(f, pair[0].X, pair[1].X)
		s.state.Findings = []Finding{f}
		return err
	}
	if s.knob.Name == "rate" {
		s.state.Findings = s.rateEdge(onLeg(s.state.Points, leg), leg)
	} else {
		s.state.Findings = []Finding{s.edge(kind, pair[0], pair[1], leg)}
	}
	return nil
}

// criterion chooses what changes between the two ends, and the words for it; holds is nil where nothing does.
func (s *sweeper) criterion(first, last SweepPoint) (kind string, holds func(SweepPoint) bool, words string) {
	switch {
	case s.knob.Name != "rate" && first.Standing() != last.Standing():
		return FindBacklog, func(p SweepPoint) bool { return p.Standing() == first.Standing() },
			"whether frames wait in the qdisc in at least 9 of 10 looks"
	case first.Behind != last.Behind && first.Asked != nil && last.Asked != nil:
		return FindBehind, func(p SweepPoint) bool { return p.Behind == first.Behind },
			fmt.Sprintf("whether at least %.1f %% of the asked rate leaves", 100*(1-behindBy))
	}
	difference := math.Abs(*last.MedianNS - *first.MedianNS)
	if s.knob.Name == "rate" {
		return "", nil, "all that is asked leaves at both ends, or at neither"
	}
	if difference < max(least**first.MedianNS, 3*(first.ErrNS+last.ErrNS)) {
		return "", nil, fmt.Sprintf("both ends are alike: %s and %s ns per packet, and no backlog begins between them",
			meter.Number(*first.MedianNS, 1), meter.Number(*last.MedianNS, 1))
	}
	middle := (*first.MedianNS + *last.MedianNS) / 2
	return FindStep, func(p SweepPoint) bool { return (*p.MedianNS < middle) == (*first.MedianNS < middle) },
		fmt.Sprintf("whether a packet takes more or less than %s ns, halfway between the two ends", meter.Number(middle, 1))
}
