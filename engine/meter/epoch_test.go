package meter

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// near compares what two ways of computing the same agree on.
var near = cmpopts.EquateApprox(1e-9, 1e-9)

type sample struct{ pps, seconds float64 }

func built(samples ...sample) Epoch {
	b := NewEpoch(3, "burst 8")
	for _, s := range samples {
		b.Add(s.pps, s.seconds)
	}
	return b.Epoch()
}

func TestEpoch(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name    string
		samples []sample
		want    Epoch
	}{
		{"no samples", nil, Epoch{}},
		{"one", []sample{{1e6, 1}}, Epoch{N: 1, PPS: 1e6, Timed: 1, MeanNS: 1000, MinNS: 1000, MaxNS: 1000}},
		{"two", []sample{{1e6, 1}, {2e6, 1}}, Epoch{N: 2, PPS: 1.5e6, Timed: 2, MeanNS: 750, StdDevNS: 500 / math.Sqrt2, MinNS: 500, MaxNS: 1000}},
		{"mean rate is frames over time", []sample{{1e6, 1}, {2e6, 3}}, Epoch{N: 2, PPS: 1.75e6, Timed: 2, MeanNS: 750, StdDevNS: 500 / math.Sqrt2, MinNS: 500, MaxNS: 1000}},
		{"a stall has no time per packet", []sample{{1e6, 1}, {0, 1}}, Epoch{N: 2, PPS: 5e5, Timed: 1, MeanNS: 1000, MinNS: 1000, MaxNS: 1000}},
		{"only stalls", []sample{{0, 1}, {0, 1}}, Epoch{N: 2}},
		{"what cannot be", []sample{{nan, 1}, {inf, 1}, {-1, 1}, {1, 0}, {1, -1}, {1, nan}, {1, inf}, {1e9, 1}}, Epoch{N: 1, PPS: 1e9, Timed: 1, MeanNS: 1, MinNS: 1, MaxNS: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.Number, c.want.Label = 3, "burst 8"
			if diff := cmp.Diff(c.want, built(c.samples...), near); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Fractions of a ns in 700 must survive a long epoch: compare with two passes over the samples.
func TestEpochKeepsFractions(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	var times []float64
	b := NewEpoch(1, "")
	for range 100_000 {
		ns := 702.5 + 0.01*rnd.NormFloat64()
		times = append(times, ns)
		b.Add(1e9/ns, 1)
	}
	var sum, squares float64
	for _, ns := range times {
		sum += ns
	}
	mean := sum / float64(len(times))
	for _, ns := range times {
		squares += (ns - mean) * (ns - mean)
	}
	sd := math.Sqrt(squares / float64(len(times)-1))
	e := b.Epoch()
	if math.Abs(e.MeanNS-mean) > 1e-9 || math.Abs(e.StdDevNS-sd) > 1e-7 {
		t.Errorf("mean %.12f sd %.12f, want %.12f, %.12f", e.MeanNS, e.StdDevNS, mean, sd)
	}
}

func finite(t *testing.T, e Epoch) {
	t.Helper()
	for _, v := range []float64{e.PPS, e.MeanNS, e.StdDevNS, e.MinNS, e.MaxNS} {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			t.Fatalf("%+v", e)
		}
	}
}

func FuzzEpoch(f *testing.F) {
	f.Add(1e6, 1.0, 2e6, 1.0)
	f.Add(0.0, 1.0, 5e-324, 1e300)
	f.Add(math.NaN(), math.Inf(1), -1.0, 0.0)
	f.Fuzz(func(t *testing.T, p1, s1, p2, s2 float64) {
		a, b := built(sample{p1, s1}, sample{p2, s2}, sample{p1, s2}), built(sample{p2, s2})
		finite(t, a)
		finite(t, b)
		d := Compare(a, b)
		if math.IsNaN(d.NS+d.CI95) || math.IsInf(d.NS+d.CI95, 0) {
			t.Fatalf("%+v", d)
		}
		readable(t, d.String())
	})
}
