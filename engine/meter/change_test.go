package meter

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// each makes a row of n values.
func each(n int, f func(i int) float64) []float64 {
	l := make([]float64, n)
	for i := range l {
		l[i] = f(i)
	}
	return l
}

func student3(r *rand.Rand) float64 {
	a, b, c := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
	return r.NormFloat64() / math.Sqrt((a*a+b*b+c*c)/3)
}

// remembering makes AR(1) noise: each value keeps a share of the one before.
func remembering(r *rand.Rand, n int, share float64, f func() float64) []float64 {
	v := f() / math.Sqrt(1-share*share)
	return each(n, func(int) float64 { v = share*v + f(); return v })
}

// noises are what real rows of pps look like: none has a step.
var noises = []struct {
	name string
	draw func(r *rand.Rand, n int) []float64
}{
	{"normal", func(r *rand.Rand, n int) []float64 { return each(n, func(int) float64 { return r.NormFloat64() }) }},
	{"heavy tails", func(r *rand.Rand, n int) []float64 { return each(n, func(int) float64 { return student3(r) }) }},
	{"stalls", func(r *rand.Rand, n int) []float64 {
		return each(n, func(int) float64 {
			v := r.NormFloat64()
			if r.Float64() < 0.05 {
				v += 5 + 20*r.Float64()
			}
			return v
		})
	}},
	{"memory of a half", func(r *rand.Rand, n int) []float64 { return remembering(r, n, 0.5, r.NormFloat64) }},
	{"memory of 0.7", func(r *rand.Rand, n int) []float64 { return remembering(r, n, 0.7, r.NormFloat64) }},
	{"memory and heavy tails", func(r *rand.Rand, n int) []float64 {
		return remembering(r, n, 0.5, func() float64 { return student3(r) })
	}},
	{"a walk", func(r *rand.Rand, n int) []float64 {
		w := 0.0
		return each(n, func(int) float64 { w += 0.3 * r.NormFloat64(); return w + r.NormFloat64() })
	}},
	{"waves", func(r *rand.Rand, n int) []float64 {
		p := 6 * r.Float64()
		return each(n, func(i int) float64 { return 3*math.Sin(p+float64(i)/8) + r.NormFloat64() })
	}},
	{"whole numbers", func(r *rand.Rand, n int) []float64 {
		return each(n, func(int) float64 { return math.Round(r.NormFloat64()) })
	}},
	{"none", func(_ *rand.Rand, n int) []float64 { return make([]float64, n) }},
}

// smooths are courses of ns per packet over a knob without a step.
var smooths = []struct {
	name string
	at   func(i, n int) float64
}{
	{"flat", func(int, int) float64 { return 700 }},
	{"grows with the size", func(i, _ int) float64 { return 500 + 0.8*float64(i) }},
	{"falls", func(i, _ int) float64 { return 900 - 2*float64(i) }},
	{"a link is the limit from the middle on", func(i, n int) float64 { return 700 + max(0, 8*(float64(i)-0.437*float64(n))) }},
	{"curved", func(i, n int) float64 { u := float64(i) / float64(n); return 700 + 60*u*u }},
	{"saturates", func(i, n int) float64 { return 700 + 40*(1-math.Exp(-3*float64(i)/float64(n))) }},
}

func TestNoChangeWhereThereIsNone(t *testing.T) {
	const runs = 100
	r := rand.New(rand.NewPCG(5, 8))
	for _, c := range noises {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range []int{8, 12, 20, 64, 128} {
				wrong := 0
				x := each(n, func(i int) float64 { return float64(60 + i) })
				for range runs {
					e := c.draw(r, n)
					if len(Changes(x, each(n, func(i int) float64 { return 700 + 3*e[i] }))) > 0 {
						wrong++
					}
				}
				if wrong > runs/100 {
					t.Errorf("%d of %d rows of %d points have a change", wrong, runs, n)
				}
			}
		})
	}
}

func TestASmoothCourseHasNoChange(t *testing.T) {
	const runs = 50
	r := rand.New(rand.NewPCG(13, 21))
	for _, c := range smooths {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range []int{10, 32, 69, 200} {
				for _, sigma := range []float64{0, 0.1, 1, 5} {
					wrong := 0
					x := each(n, func(i int) float64 { return float64(60 + i) })
					for range runs {
						if got := Changes(x, each(n, func(i int) float64 { return c.at(i, n) + sigma*r.NormFloat64() })); len(got) > 0 {
							wrong++
						}
					}
					if wrong > 1 {
						t.Errorf("%d of %d rows of %d points with noise %v have a change", wrong, runs, n, sigma)
					}
				}
			}
		})
	}
}

// A step of twelve times the noise is found, between the right two points, on any smooth course.
func TestAStepIsFoundWhereItIs(t *testing.T) {
	r := rand.New(rand.NewPCG(34, 55))
	for _, c := range smooths[:3] {
		for _, sigma := range []float64{0.001, 1} {
			found, runs := 0, 0
			for at := 5; at <= 64; at++ {
				runs++
				y := each(69, func(i int) float64 {
					v := c.at(i, 69) + sigma*r.NormFloat64()
					if i >= at {
						v -= 12 * sigma
					}
					return v
				})
				got := Changes(each(69, func(i int) float64 { return float64(60 + i) }), y)
				if len(got) == 1 && got[0].After == at-1 && math.Abs(got[0].Step()+12*sigma) < 4*sigma {
					found++
				}
			}
			if found < runs*9/10 {
				t.Errorf("%s, noise %v: %d of %d steps found where they are", c.name, sigma, found, runs)
			}
		}
	}
}

func TestSeveralSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	x := each(100, func(i int) float64 { return float64(i) })
	y := each(100, func(i int) float64 {
		v := 700 + 0.1*float64(i) + 0.5*r.NormFloat64()
		if i >= 30 {
			v -= 61
		}
		if i >= 70 {
			v += 25
		}
		return v
	})
	y[50] += 200 // one stall is no change
	y[10] = math.NaN()
	got := Changes(x, y)
	if len(got) != 2 || got[0].After != 29 || got[1].After != 69 {
		t.Fatalf("%+v, want one after 29 and one after 69", got)
	}
	for i, want := range []float64{-61, 25} {
		if math.Abs(got[i].Step()-want) > 3 || math.Abs(got[0].From-703) > 3 {
			t.Errorf("step %v from %v, want %v", got[i].Step(), got[i].From, want)
		}
	}
	// Down the same way.
	back := func(l []float64) []float64 { return each(len(l), func(i int) float64 { return l[len(l)-1-i] }) }
	down := Changes(back(x), back(y))
	if len(down) != 2 || down[0].After != 29 || down[1].After != 69 || math.Abs(down[1].Step()-61) > 3 {
		t.Errorf("downwards %+v", down)
	}
}

func TestChangesOfNothing(t *testing.T) {
	for _, y := range [][]float64{nil, {1}, {1, 1, 1, 9, 9, 9, 9}, {math.NaN(), math.Inf(1), 1, 2, math.NaN(), 3, 4, 5, 6, math.Inf(-1)}} {
		if got := Changes(each(len(y), func(i int) float64 { return float64(i) }), y); len(got) != 0 {
			t.Errorf("%v: %+v", y, got)
		}
	}
	one := make([]float64, 20)
	if diff := cmp.Diff([]Change(nil), Changes(one, each(20, func(i int) float64 { return float64(i / 10) }))); diff != "" {
		t.Errorf("a knob that stands still (-want +got):\n%s", diff)
	}
}

func FuzzChanges(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 200, 201, 202, 203, 204}, 1.0)
	f.Add([]byte{0, 255, 0, 255, 0, 255, 0, 255, 0, 255}, math.Inf(1))
	f.Fuzz(func(t *testing.T, data []byte, scale float64) {
		data = data[:min(len(data), 64)]
		y := each(len(data), func(i int) float64 { return float64(data[i]) * scale })
		last := -1
		for _, c := range Changes(each(len(y), func(i int) float64 { return float64(i * i) }), y) {
			if c.After <= last || c.After >= len(y)-1 || math.IsNaN(c.From+c.To+c.Score) || !(c.Score > 0) {
				t.Errorf("%+v of %v", c, y)
			}
			last = c.After
		}
	})
}
