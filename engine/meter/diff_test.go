package meter

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The quantile is checked against the integral of Student's density itself, by Simpson's rule after t = sqrt(df) * tan(x).
func TestStudent(t *testing.T) {
	within := func(q, df float64) float64 {
		const n = 4000
		logGamma := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
		c := math.Exp(logGamma((df+1)/2)-logGamma(df/2)) / math.Sqrt(math.Pi)
		h := math.Atan(q/math.Sqrt(df)) / n
		sum := 1 + math.Pow(math.Cos(n*h), df-1)
		for i := 1; i < n; i++ {
			sum += float64(2+2*(i%2)) * math.Pow(math.Cos(float64(i)*h), df-1)
		}
		return 2 * c * sum * h / 3
	}
	for df := 1.0; df < 400; df = df*1.03 + 0.01 {
		// The true quantile lies between these two for the error that student95 states.
		wide := 0.002
		switch {
		case df < 2:
			wide = 0.029
		case df < 3:
			wide = 0.005
		case df >= 10:
			wide = 0.0001
		}
		q := student95(df)
		if lo, hi := within(q/(1+wide), df), within(q*1.0001, df); lo > 0.95 || hi < 0.95 {
			t.Errorf("df %.3f: quantile %.4f is off by more than %.2f %%: %.6f, %.6f around 0.95", df, q, 100*wide, lo, hi)
		}
	}
	for df, want := range map[float64]float64{0: 12.7062, math.Inf(1): normal95, 1: 12.7062, 4: 2.7764, 30: 2.0423, 120: 1.9799} {
		if got := student95(df); math.Abs(got-want) > 0.0002 {
			t.Errorf("df %v: %v, want %v", df, got, want)
		}
	}
	if got := student95(math.NaN()); got != studentTable[0] {
		t.Errorf("df NaN: %v, want the widest", got)
	}
}

func TestCompare(t *testing.T) {
	// The two regimes that the project is about: 31 ns per packet apart.
	a := Epoch{Mark: "A", PPS: 1423314, N: 60, Timed: 60, StdDevNS: 0.3}
	b := Epoch{Mark: "B", PPS: 1489324, N: 29, Timed: 29, StdDevNS: 0.02}
	d := Compare(a, b)
	if !d.OK || !d.CIOK || !d.Real || math.Abs(d.NS-31.14) > 0.01 {
		t.Errorf("%+v, want 31 ns per packet, for real", d)
	}
	// sA²/nA = 0.0015, sB²/nB = 0.0000138: 60.1 degrees of freedom, t = 2.0003
	if want := 2.0003 * math.Sqrt(0.09/60+0.0004/29); math.Abs(d.CI95-want) > 1e-5 {
		t.Errorf("half width %v, want %v", d.CI95, want)
	}
	if back := Compare(b, a); back.NS != -d.NS || back.CI95 != d.CI95 || !back.Real {
		t.Errorf("the other way round: %+v", back)
	}
}

func TestDiffString(t *testing.T) {
	e := func(mark string, pps float64, n int, sd float64) Epoch {
		return Epoch{Mark: mark, Label: "burst 8", PPS: pps, N: n, Timed: n, StdDevNS: sd}
	}
	for _, c := range []struct {
		name string
		a, b Epoch
		want string
	}{
		{"faster", e("A", 1423314, 60, 0.3), e("B", 1489324, 29, 0.02), "B is faster than A by 31.1 ± 0.1 ns/packet (95 %)"},
		{"slower", e("A", 1489324, 60, 0.3), e("B", 1423314, 29, 0.02), "B is slower than A by 31.1 ± 0.1 ns/packet (95 %)"},
		{"label instead of a mark", e("A", 1e6, 9, 1), e("", 2e6, 9, 1), "`burst 8` is faster than A by 500.0 ± 1.0 ns/packet (95 %)"},
		{"too close", e("A", 1e6, 9, 1), e("B", 1.0005e6, 9, 1), "A and B do not differ: 0.5 ± 1.0 ns/packet (95 %)"},
		{"one sample", e("A", 1e6, 1, 0), e("B", 2e6, 9, 1), "B is faster than A by 500.0 ns/packet (too few samples to say how sure)"},
		{"no frames", e("A", 0, 9, 0), e("B", 2e6, 9, 1), "no difference of A and B: one has no rate"},
		{"no scatter", e("A", 1e6, 9, 0), e("B", 2e6, 9, 0), "B is faster than A by 500.0 ± 0.0 ns/packet (95 %)"},
		{"nothing known", Epoch{Number: 1}, Epoch{Number: 2}, "no difference of epoch 1 and epoch 2: one has no rate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Compare(c.a, c.b).String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What a 95 % interval means: of many experiments with a known difference, 95 % of the intervals hold it, also where samples resemble the ones
// before. Few samples cannot tell how much they do: there it is somewhat wider than it need be, and at much memory somewhat too narrow.
func TestCompareCovers(t *testing.T) {
	for _, c := range []struct {
		name     string
		nA, nB   int
		sdA, sdB float64
		memory   float64
		lo, hi   float64 // of what is held, in per cent
	}{
		{"alike", 10, 10, 1, 1, 0, 94, 99},
		{"few samples", 3, 4, 1, 1, 0, 94, 99},
		{"unlike variances", 5, 20, 3, 0.1, 0, 94, 99.5},
		{"unlike the other way", 20, 5, 0.1, 3, 0, 94, 99.5},
		{"many", 60, 60, 1, 1, 0, 94, 97.5},
		{"a little memory", 10, 10, 1, 1, 0.3, 94, 98},
		{"memory", 30, 30, 1, 1, 0.5, 93.5, 97},
		{"memory, few samples", 6, 6, 1, 1, 0.5, 90.5, 97},
		{"much memory", 40, 40, 1, 1, 0.7, 93, 97},
	} {
		t.Run(c.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(7, 7))
			const runs, truth = 10_000, 30.5
			held := 0
			for range runs {
				a, b := NewEpoch(1, ""), NewEpoch(2, "")
				for _, v := range remembering(rnd, c.nA, c.memory, rnd.NormFloat64) {
					a.Add(1e9/(702.5+c.sdA*v), 1)
				}
				for _, v := range remembering(rnd, c.nB, c.memory, rnd.NormFloat64) {
					b.Add(1e9/(672+c.sdB*v), 1)
				}
				if d := Compare(a.Epoch(), b.Epoch()); math.Abs(d.NS-truth) <= d.CI95 {
					held++
				}
			}
			if share := 100 * float64(held) / runs; share < c.lo || share > c.hi {
				t.Errorf("%.1f %% of the intervals hold the truth, want %v to %v", share, c.lo, c.hi)
			}
		})
	}
}

// readable says that a text for people has no number that is none.
func readable(t *testing.T, s string) {
	t.Helper()
	for _, bad := range []string{"NaN", "Inf", "%!", "--"} {
		if strings.Contains(s, bad) {
			t.Fatalf("%q", s)
		}
	}
}
