package ui

import (
	"math"

	"wirespeed/engine/meter"
)

// axis maps values to point rows.
type axis struct {
	lo, hi float64
	log    bool
	rows   int
}

// axisOf zooms to the data: round ends, and never so close that the noise of a steady stream looks like a storm.
func (c chart) axisOf(cols []column, rows int) (axis, bool) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, k := range cols {
		if k.ok {
			lo, hi = min(lo, k.lo), max(hi, k.hi)
		}
	}
	if lo > hi {
		return axis{rows: rows}, false
	}
	a := axis{rows: rows, log: c.log && lo > 0 && hi/lo > logBeyond}
	if a.log {
		a.lo, a.hi = 1/meter.RoundStep(1/lo), meter.RoundStep(hi)
		return a, true
	}
	if least := max(hi*0.004, 0.1); hi-lo < least {
		mid := (hi + lo) / 2
		lo, hi = max(mid-least/2, 0), mid+least/2
	}
	if lo < (hi-lo)/2 {
		lo = 0
	}
	step := meter.RoundStep((hi - lo) / 6)
	a.lo, a.hi = math.Floor(lo/step+1e-9)*step, math.Ceil(hi/step-1e-9)*step
	return a, true
}

// row is the point row of a value, 0 at the top.
func (a axis) row(y float64) int {
	lo, hi := a.lo, a.hi
	if a.log {
		lo, hi, y = math.Log10(lo), math.Log10(hi), math.Log10(y)
	}
	return max(0, min(a.rows-1, int(math.Round((hi-y)/(hi-lo)*float64(a.rows-1)))))
}

// says tells how the axis was chosen; its ends stand beside the plot.
func (a axis) says() string {
	switch {
	case a.log:
		return "logarithmic axis"
	case a.lo > 0:
		return "axis zoomed to the data"
	}
	return "axis from 0"
}
