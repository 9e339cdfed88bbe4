package meter

import "math"

// Bisection finds where a property ends that holds at one end of a range and not at the other, on a grid of equal steps, by halving what is
// left: log2 of the steps between the ends many probes, and the two ends themselves. Next says where to look, Note takes what was found there.
// It is a value of its owner's, and neither measures nor waits.
//
// It takes the property to change once. Where it changes more often one of the changes is found; where both ends are alike there is none,
// and Edge says so.
type Bisection struct {
	from, step float64
	lo, hi     int   // numbers of grid points; the property was found at lo and is to be found at hi, once both are known
	loHas      *bool // whether it holds there; nil before it is known
	hiHas      *bool
	same       bool
	probes     int
}

// NewBisection makes one over from, from + step ... to. A range that is no whole number of steps ends with the last whole one; the order of the ends
// does not matter, and a step that is none makes the range one step.
func NewBisection(from, to, step float64) *Bisection {
	width := math.Abs(to - from)
	if !(step > 0) || step > width {
		step = width
	}
	n := 0
	if step > 0 && !math.IsInf(width/step, 0) {
		n = int(min(math.Floor(width/step+1e-9), 1<<50))
	}
	if to < from {
		step = -step
	}
	return &Bisection{from: from, step: step, hi: n}
}

// Next returns the place to look at, and false once the edge is between two neighbours or there is none.
func (b *Bisection) Next() (x float64, more bool) {
	switch {
	case b.loHas == nil:
		return b.at(b.lo), true
	case b.same:
		return 0, false
	case b.hiHas == nil:
		return b.at(b.hi), true
	case b.hi-b.lo <= 1:
		return 0, false
	}
	return b.at((b.lo + b.hi) / 2), true
}

// Note takes whether the property holds at the place that Next returned.
func (b *Bisection) Note(holds bool) {
	b.probes++
	switch {
	case b.loHas == nil:
		b.loHas = &holds
		b.same = b.lo == b.hi
	case b.same:
	case b.hiHas == nil:
		b.hiHas = &holds
		b.same = holds == *b.loHas
	case holds == *b.loHas:
		b.lo = (b.lo + b.hi) / 2
	default:
		b.hi = (b.lo + b.hi) / 2
	}
}

// Edge returns the two neighbours between which the property changes: at before it is as at the beginning of the range, at after as at its
// end. ok is false while that is not known, and where both ends are alike.
func (b *Bisection) Edge() (before, after float64, ok bool) {
	if b.hiHas == nil || b.same || b.hi-b.lo > 1 {
		return 0, 0, false
	}
	return b.at(b.lo), b.at(b.hi), true
}

// Holds says whether the property holds at the beginning of the range; false while that is not known.
func (b *Bisection) Holds() bool { return b.loHas != nil && *b.loHas }

// Probes is how many places have been looked at.
func (b *Bisection) Probes() int { return b.probes }

func (b *Bisection) at(n int) float64 { return b.from + float64(n)*b.step }
