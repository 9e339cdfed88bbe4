package meter

import (
	"fmt"
	"math"
)

// Diff is the difference of two epochs, b against a.
type Diff struct {
	A, B Epoch
	OK   bool    // both epochs have a rate, so that there is a difference
	NS   float64 // (1/ppsA - 1/ppsB) * 1e9: positive = B is faster
	CI95 float64 // half width; 0 where CIOK is false
	CIOK bool    // both epochs have the two samples that an interval takes
	Real bool    // the interval leaves out 0
}

// Compare takes the difference of two epochs in ns per packet, with its 95 % confidence interval after Welch, which does not ask the two
// to vary alike (B. L. Welch, The Generalization of "Student's" Problem when Several Different Population Variances are Involved,
// Biometrika 34, 1947):
//
//	half width = t * sqrt(sA²/nA + sB²/nB)
//	with t the 97.5 % quantile of Student's distribution for
//	(sA²/nA + sB²/nB)² / ((sA²/nA)²/(nA-1) + (sB²/nB)²/(nB-1)) degrees of freedom
//
// Samples that resemble their neighbours count for less (variance). So of rows with a correlation of 0.5 between neighbours about 5 in 100 lie
// outside, and of 6 samples each 9, where an interval that takes them for independent is missed by 25. Still it speaks of the scatter between
// samples only: a machine that drifts over minutes, or errs always the same way, is wider than its interval.
func Compare(a, b Epoch) Diff {
	d := Diff{A: a, B: b}
	d.NS = 1e9/a.PPS - 1e9/b.PPS
	if !known(a.PPS) || !known(b.PPS) || math.IsInf(d.NS, 0) || math.IsNaN(d.NS) {
		d.NS = 0
		return d
	}
	d.OK = true
	if a.Timed < 2 || b.Timed < 2 {
		return d
	}
	va, vb := variance(a), variance(b)
	width := 0.0
	if va+vb > 0 {
		// In shares of the sum, since the square of a small variance may be no number any more.
		sa, sb := va/(va+vb), vb/(va+vb)
		df := 1 / (sa*sa/float64(a.Timed-1) + sb*sb/float64(b.Timed-1))
		width = student95(df) * math.Sqrt(va+vb)
	}
	if math.IsInf(width, 0) || math.IsNaN(width) {
		return d
	}
	d.CI95, d.CIOK = width, true
	d.Real = math.Abs(d.NS) > width
	return d
}

// variance is that of an epoch's mean: of as many independent samples as the epoch's are worth, n (1 - r)/(1 + r) for a correlation r of neighbours
// (G. V. Bayley and J. M. Hammersley, The "Effective" Number of
// Independent Observations in an Autocorrelated Time Series, Supplement to the JRSS 8, 1946).
func variance(e Epoch) float64 {
	worth := max(1.5, float64(e.Timed)*(1-e.Memory)/(1+e.Memory))
	return e.StdDevNS * e.StdDevNS / worth
}

// String says the difference in a sentence: "B is faster than A by 30.5 ± 0.2 ns/packet (95 %)". Epochs without a mark go by their label.
func (d Diff) String() string {
	a, b := name(d.A), name(d.B)
	switch {
	case !d.OK:
		return fmt.Sprintf("no difference of %s and %s: one has no rate", a, b)
	case !d.CIOK:
		return fmt.Sprintf("%s is %s than %s by %s ns/packet (too few samples to say how sure)", b, word(d.NS), a, Number(math.Abs(d.NS), 1))
	case !d.Real:
		return fmt.Sprintf("%s and %s do not differ: %s ± %s ns/packet (95 %%)", a, b, Number(d.NS, 1), Number(d.CI95, 1))
	}
	return fmt.Sprintf("%s is %s than %s by %s ± %s ns/packet (95 %%)", b, word(d.NS), a, Number(math.Abs(d.NS), 1), Number(d.CI95, 1))
}

func name(e Epoch) string {
	switch {
	case e.Mark != "":
		return e.Mark
	case e.Label != "":
		return fmt.Sprintf("`%s`", e.Label)
	}
	return fmt.Sprintf("epoch %d", e.Number)
}

func word(ns float64) string {
	if ns < 0 {
		return "slower"
	}
	return "faster"
}

// studentTable has the 97.5 % quantiles for 1 to 10 degrees of freedom.
var studentTable = [...]float64{12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281}

// student95 returns the 97.5 % quantile of Student's distribution, half of a 95 % interval to either side. Up to 10 degrees of freedom it
// is a table, between whose lines the logarithm goes straight in 1/df: 2.9 % too wide at worst between 1 and 2, 0.5 % between 2 and 3,
// 0.2 % after that, never too narrow. Above, it is the Cornish-Fisher expansion about the normal quantile (Abramowitz and Stegun,
// Handbook of Mathematical Functions, 26.7.5): within 0.01 %.
func student95(df float64) float64 {
	last := float64(len(studentTable))
	switch {
	case !(df > 1):
		return studentTable[0]
	case df < last:
		k := math.Floor(df)
		a, b := studentTable[int(k)-1], studentTable[int(k)]
		share := (1/k - 1/df) / (1/k - 1/(k+1))
		return a * math.Pow(b/a, share)
	case math.IsInf(df, 1):
		return normal95
	}
	const x = normal95
	return x +
		(x*x*x+x)/(4*df) +
		(5*x*x*x*x*x+16*x*x*x+3*x)/(96*df*df) +
		(3*x*x*x*x*x*x*x+19*x*x*x*x*x+17*x*x*x-15*x)/(384*df*df*df)
}

// normal95 is the 97.5 % quantile of the normal distribution.
const normal95 = 1.959963984540054
