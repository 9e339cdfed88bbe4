package control

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"wirespeed/engine/meter"
)

// Finding is something that a sweep has found, with the words for it.
type Finding struct {
	Kind          string // one of the Find constants
	Leg           string // the direction it was found in, "" for both together
	Before, After string // values of the knob between which it lies, in the leg's order; the same for one value
	X             float64
	PPSBefore     float64
	PPSAfter      float64
	NS            float64 // after minus before, in ns per packet: positive costs more
	CI95          *float64
	Percent       float64 // of pps, after against before
	Confirmed     *bool   // whether it was there again when the knob went back and forth; nil where nobody looked
	Text          string
}

// The kinds of findings.
const (
	FindStep       = "step"       // pps changes at once
	FindBacklog    = "backlog"    // frames begin, or cease, to wait in the qdisc
	FindBehind     = "behind"     // fewer leave than asked from here on, or to here
	FindBreakEven  = "break-even" // from here on a burst is cheaper than single frames
	FindHysteresis = "hysteresis" // the way down is another than the way up
	FindNone       = "none"       // nothing of all this
)

// least is the smallest step that is named: below it alignment, caches and neighbours on the machine are at work anyway.
const least = 0.015

// findings are what the points so far say.
func (s *sweeper) findings() []Finding {
	var list []Finding
	for _, leg := range legs(s.state.Direction) {
		points := onLeg(s.state.Points, leg)
		list = append(list, s.edges(points, leg)...)
		list = append(list, s.steps(points, leg)...)
		if leg == legs(s.state.Direction)[0] {
			list = append(list, s.breakEven(points, leg)...)
		}
	}
	list = append(list, s.hysteresis()...)
	if len(list) == 0 {
		list = append(list, Finding{Kind: FindNone, Text: s.nothing()})
	}
	return list
}

func (s *sweeper) nothing() string {
	points := onLeg(s.state.Points, legs(s.state.Direction)[0])
	x, y := s.course(points)
	step, ok := meter.Visible(x, y)
	if !ok {
		return fmt.Sprintf("nothing is looked for in fewer than %d values that have a rate: there are %d", meter.LeastPoints, len(points))
	}
	middle := slices.Sorted(slices.Values(y))[len(y)/2]
	share := max(100*step/middle, 100*least)
	return fmt.Sprintf("no step found in %d values of %s; one of %.1f %% would have been seen", len(points), s.knob.Name, share)
}

// onLeg are the points of one leg that have a rate.
func onLeg(points []SweepPoint, leg string) []SweepPoint {
	var list []SweepPoint
	for _, p := range points {
		if p.Leg == leg && p.OK && p.NS != nil {
			list = append(list, p)
		}
	}
	return list
}

// course is what steps are looked for in. Smooth courses become lines: ns per packet over one by the number of frames or queues that share a cost, and the
// rate that leaves over the rate that is asked, until it does not follow any more.
func (s *sweeper) course(points []SweepPoint) (x, y []float64) {
	for _, p := range points {
		switch s.knob.Name {
		case "rate":
			asked := p.X
			if p.Asked != nil {
				asked = *p.Asked
			}
			x, y = append(x, asked), append(y, 1e9 / *p.MedianNS)
		case "burst", "queues":
			x, y = append(x, 1/max(p.X, 1)), append(y, *p.MedianNS)
		default:
			x, y = append(x, p.X), append(y, *p.MedianNS)
		}
	}
	return x, y
}

// steps are the places where pps changes at once.
func (s *sweeper) steps(points []SweepPoint, leg string) []Finding {
	x, y := s.course(points)
	var list []Finding
	for _, c := range meter.Changes(x, y) {
		from, to := c.From, c.To
		if s.knob.Name != "rate" {
			from, to = 1e9/c.From, 1e9/c.To
		}
		if f := s.step(points[c.After], points[c.After+1], from, to, leg); math.Abs(f.Percent) >= 100*least {
			list = append(list, f)
		}
	}
	return list
}

// step words one.
func (s *sweeper) step(a, b SweepPoint, from, to float64, leg string) Finding {
	f := Finding{
		Kind: FindStep, Leg: leg, Before: a.Text, After: b.Text, X: (a.X + b.X) / 2,
		PPSBefore: from, PPSAfter: to, NS: 1e9/to - 1e9/from, Percent: 100 * (to - from) / from,
	}
	f.Text = fmt.Sprintf("pps %s by %.1f %% between %s %s and %s: %s ns per packet",
		rises(f.Percent), math.Abs(f.Percent), s.knob.Name, f.Before, f.After, nsText(math.Abs(f.NS)))
	return s.going(f)
}

func rises(percent float64) string {
	if percent < 0 {
		return "falls"
	}
	return "rises"
}

// nsText prints a difference: with a decimal where one can matter.
func nsText(ns float64) string {
	if ns < 10 {
		return meter.Number(ns, 1)
	}
	return meter.Number(ns, 0)
}

// edges are where a backlog begins or ends to stand, and where the rate that leaves ceases to follow the one that is asked, or follows again.
func (s *sweeper) edges(points []SweepPoint, leg string) []Finding {
	if s.knob.Name == "rate" {
		return s.rateEdge(points, leg)
	}
	var list []Finding
	standing, ok := edgeOf(points, SweepPoint.Standing)
	if ok {
		list = append(list, s.edge(FindBacklog, points[standing-1], points[standing], leg))
	}
	behind, found := edgeOf(points, func(p SweepPoint) bool { return p.Behind })
	if found && !(ok && behind == standing) { // of both at one place the backlog is the reason
		list = append(list, s.edge(FindBehind, points[behind-1], points[behind], leg))
	}
	return list
}

// edgeOf is where a state changes for good: the place that leaves the fewest points on the wrong side. At most one in ten may lie there, or there is
// no edge: the state comes and goes.
func edgeOf(points []SweepPoint, state func(SweepPoint) bool) (place int, ok bool) {
	n := len(points)
	best := n + 1
	for k := 1; k < n; k++ {
		wrong := 0
		for i, p := range points {
			if state(p) != (i < k) {
				wrong++
			}
		}
		if wrong = min(wrong, n-wrong); wrong < best && state(points[k-1]) != state(points[k]) {
			best, place = wrong, k
		}
	}
	return place, best <= n/10
}

// rateEdge is the rate from which on more is asked than can leave. Beyond it the rate that leaves stays, which tells the edge more closely than the
// values between which it lies.
func (s *sweeper) rateEdge(points []SweepPoint, leg string) []Finding {
	limit, percent := limitOf(points)
	if limit == 0 {
		return nil
	}
	var a, b *SweepPoint
	wrong := 0
	for i := range points {
		p := &points[i]
		switch {
		case p.Asked == nil:
		case *p.Asked <= limit:
			if a == nil || *p.Asked > *a.Asked {
				a = p
			}
			if p.Behind && *p.Asked < limit*(1-2*behindBy) {
				wrong++
			}
		default:
			if b == nil || *p.Asked < *b.Asked {
				b = p
			}
			if !p.Behind && *p.Asked > limit*(1+4*behindBy) {
				wrong++
			}
		}
	}
	if a == nil || b == nil || wrong > len(points)/10 {
		return []Finding{{
			Kind: FindBehind, Leg: leg, Before: points[0].Text, After: points[len(points)-1].Text, X: points[0].X, PPSBefore: points[0].PPS, PPSAfter: limit,
			Text: "fewer leave than asked, with no one edge: " + s.unsteady(a == nil),
		}}
	}
	if leg == LegDown {
		a, b = b, a
	}
	verb := map[bool]string{true: "ends", false: "begins"}[leg == LegDown]
	f := Finding{
		Kind: FindBehind, Leg: leg, Before: a.Text, After: b.Text, X: limit * (a.X + b.X) / (*a.Asked + *b.Asked), PPSBefore: a.PPS, PPSAfter: b.PPS,
		NS: *b.NS - *a.NS, Percent: 100 * (b.PPS - a.PPS) / a.PPS,
	}
	between := fmt.Sprintf("between rate %s and %s", f.Before, f.After)
	wire := percent != nil && math.Abs(*percent-100) < 1
	switch {
	case wire || anyWaits(points):
		f.Kind = FindBacklog
		f.Text = fmt.Sprintf("backlog %s at %s pps, %s: what is asked beyond waits", verb, meter.Number(math.Floor(limit), 0), between)
	default:
		f.Text = fmt.Sprintf("the sender's limit %s at %s pps, %s: no more leave, and none wait in a qdisc", verb, meter.Number(math.Floor(limit), 0), between)
	}
	if wire {
		f.Text += fmt.Sprintf("; that is %.1f %% of wirespeed, %s pps", *percent, s.wirespeed())
	}
	return []Finding{s.going(f)}
}

// unsteady says why there is no edge.
func (s *sweeper) unsteady(all bool) string {
	if all {
		return "even the least that was asked is more than leaves; begin lower"
	}
	return "it comes and goes; does the sender share its CPU with others?"
}

func anyWaits(points []SweepPoint) bool {
	return slices.ContainsFunc(points, func(p SweepPoint) bool { return p.Behind && p.Backlog != nil && *p.Backlog >= 1 })
}

// going adds the direction where it is not the only one.
func (s *sweeper) going(f Finding) Finding {
	if len(legs(s.state.Direction)) > 1 || f.Leg == LegDown {
		f.Text += ", going " + f.Leg
	}
	return f
}

// edge words one between two points.
func (s *sweeper) edge(kind string, a, b SweepPoint, leg string) Finding {
	f := Finding{
		Kind: kind, Leg: leg, Before: a.Text, After: b.Text, X: (a.X + b.X) / 2, PPSBefore: a.PPS, PPSAfter: b.PPS,
		NS: *b.NS - *a.NS, Percent: 100 * (b.PPS - a.PPS) / a.PPS,
	}
	where := fmt.Sprintf("between %s %s and %s", s.knob.Name, f.Before, f.After)
	switch {
	case kind == FindBacklog && b.Standing():
		f.Text = "backlog begins " + where
	case kind == FindBacklog:
		f.Text = "backlog ends " + where
	case b.Behind:
		f.Text = "fewer leave than asked: it begins " + where
	default:
		f.Text = "all that is asked leaves again: it begins " + where
	}
	return s.going(f)
}

// limitOf is the rate that leaves where more is asked than can.
func limitOf(points []SweepPoint) (pps float64, percent *float64) {
	var list []SweepPoint
	for _, p := range points {
		if p.Behind {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return 0, nil
	}
	slices.SortFunc(list, func(a, b SweepPoint) int { return cmp.Compare(a.PPS, b.PPS) })
	p := list[len(list)/2]
	return p.PPS, p.Percent
}

// wirespeed is what the link can carry.
func (s *sweeper) wirespeed() string {
	dev := s.r.engDevice()
	most, _ := s.r.eng.Config().Lengths(dev).MaxPPS(dev.Speed).Float64()
	return meter.Number(math.Floor(most), 0)
}

// breakEven is from which burst on a frame is cheaper than alone.
func (s *sweeper) breakEven(points []SweepPoint, leg string) []Finding {
	if s.knob.Name != "burst" || len(points) < 3 {
		return nil
	}
	points = slices.Clone(points)
	slices.SortFunc(points, func(a, b SweepPoint) int { return int(a.X - b.X) })
	single, last := points[0], points[len(points)-1]
	if single.X != 1 || single.Asked != nil {
		return nil // a schedule hides what a frame costs
	}
	first := len(points)
	for first > 1 && *points[first-1].MedianNS < *single.MedianNS {
		first--
	}
	f := Finding{Kind: FindBreakEven, Leg: leg, Before: single.Text, After: single.Text, X: single.X, PPSBefore: single.PPS, PPSAfter: single.PPS}
	if first == len(points) {
		f.Text = fmt.Sprintf("no break-even: no burst up to %s is cheaper for good than single frames (%s ns)", last.Text, meter.Number(*single.MedianNS, 1))
		return []Finding{f}
	}
	p := points[first]
	f.Before, f.After, f.X, f.PPSAfter = points[first-1].Text, p.Text, p.X, p.PPS
	f.NS, f.Percent = *p.MedianNS-*single.MedianNS, 100*(p.PPS-single.PPS)/single.PPS
	best := slices.MinFunc(points, func(a, b SweepPoint) int {
		if *a.MedianNS < *b.MedianNS {
			return -1
		}
		return 1
	})
	f.Text = fmt.Sprintf("break-even at burst %s: from there on a frame is cheaper than alone (%s ns, burst 1: %s ns); least at burst %s: %s ns",
		p.Text, meter.Number(*p.MedianNS, 1), meter.Number(*single.MedianNS, 1), best.Text, meter.Number(*best.MedianNS, 1))
	return []Finding{f}
}

// hysteresis is where the way down lies apart from the way up, over at least three neighbours, by more than four times the noise and 2 %.
func (s *sweeper) hysteresis() []Finding {
	if s.state.Direction != "updown" {
		return nil
	}
	up, down := onLeg(s.state.Points, LegUp), onLeg(s.state.Points, LegDown)
	type pair struct{ up, down SweepPoint }
	var pairs []pair
	var moves []float64 // of the difference from one value to the next: where the ways part it moves twice only
	for _, u := range up {
		if i := slices.IndexFunc(down, func(d SweepPoint) bool { return d.Text == u.Text }); i >= 0 {
			pairs = append(pairs, pair{u, down[i]})
		}
	}
	if len(pairs) < meter.LeastPoints {
		return nil
	}
	for i, p := range pairs[1:] {
		moves = append(moves, math.Abs(*p.down.MedianNS-*p.up.MedianNS-(*pairs[i].down.MedianNS-*pairs[i].up.MedianNS)))
	}
	noise := slices.Sorted(slices.Values(moves))[len(moves)/2] * 1.4826 / math.Sqrt2
	from, to, best := 0, 0, 0
	for i := 0; i < len(pairs); {
		j := i
		sign := 0.0
		for j < len(pairs) {
			d := *pairs[j].down.MedianNS - *pairs[j].up.MedianNS
			if math.Abs(d) < max(4*noise, 0.02**pairs[j].up.MedianNS) || sign != 0 && d*sign < 0 {
				break
			}
			sign = d
			j++
		}
		if j-i > best {
			from, to, best = i, j, j-i
		}
		i = max(j, i+1)
	}
	if best < 3 {
		return nil
	}
	sum := 0.0
	for _, p := range pairs[from:to] {
		sum += (*p.down.MedianNS - *p.up.MedianNS) / float64(best)
	}
	a, b := pairs[from], pairs[to-1]
	word := "slower"
	if sum < 0 {
		word = "faster"
	}
	return []Finding{{
		Kind: FindHysteresis, Before: a.up.Text, After: b.up.Text, X: (a.up.X + b.up.X) / 2, PPSBefore: a.up.PPS, PPSAfter: a.down.PPS,
		NS: sum, Percent: 100 * (a.down.PPS - a.up.PPS) / a.up.PPS,
		Text: fmt.Sprintf("hysteresis: from %s %s to %s the way down is %s than the way up, by %s ns per packet",
			s.knob.Name, a.up.Text, b.up.Text, word, nsText(math.Abs(sum))),
	}}
}
