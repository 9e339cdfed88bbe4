package meter

import (
	"math"
	"testing"
)

// probe runs a bisection against a property to its end.
func probe(b *Bisection, holds func(float64) bool) {
	for {
		x, more := b.Next()
		if !more {
			return
		}
		b.Note(holds(x))
	}
}

func TestBisectionFindsEveryEdge(t *testing.T) {
	for edge := 61; edge <= 128; edge++ {
		for _, ends := range [][2]float64{{60, 128}, {128, 60}} {
			b := NewBisection(ends[0], ends[1], 1)
			probe(b, func(x float64) bool { return x >= float64(edge) })
			before, after, ok := b.Edge()
			want := [2]float64{float64(edge - 1), float64(edge)}
			if ends[0] > ends[1] {
				want[0], want[1] = want[1], want[0]
			}
			if !ok || before != want[0] || after != want[1] {
				t.Fatalf("%v: edge %v, %v %v, want %v", ends, before, after, ok, want)
			}
			if limit := 2 + int(math.Ceil(math.Log2(68))); b.Probes() > limit {
				t.Errorf("%d probes, want at most %d", b.Probes(), limit)
			}
			if b.Holds() != (ends[0] >= float64(edge)) {
				t.Errorf("holds at the beginning: %v", b.Holds())
			}
		}
	}
}

func TestBisectionWithoutAnEdge(t *testing.T) {
	for _, c := range []struct {
		name           string
		from, to, step float64
		holds          bool
		probes         int
	}{
		{"both ends hold", 1, 100, 1, true, 2},
		{"neither does", 1, 100, 1, false, 2},
		{"a range of one place", 5, 5, 1, true, 1},
		{"a step of no width", 5, 5, 0, true, 1},
		{"no number as step", 1, 2, math.NaN(), true, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := NewBisection(c.from, c.to, c.step)
			if _, _, ok := b.Edge(); ok {
				t.Error("an edge before anything is known")
			}
			probe(b, func(float64) bool { return c.holds })
			if _, _, ok := b.Edge(); ok || b.Probes() != c.probes {
				t.Errorf("edge %v after %d probes, want none after %d", ok, b.Probes(), c.probes)
			}
		})
	}
}

func TestBisectionKeepsToItsGrid(t *testing.T) {
	b := NewBisection(0.2e6, 0.6e6, 3e4) // 13 steps and a rest
	probe(b, func(x float64) bool {
		if n := (x - 0.2e6) / 3e4; math.Abs(n-math.Round(n)) > 1e-9 || x > 0.6e6 {
			t.Errorf("%v is not on the grid", x)
		}
		return x < 446_428
	})
	if before, after, ok := b.Edge(); !ok || before != 440e3 || after != 470e3 {
		t.Errorf("%v %v %v", before, after, ok)
	}
}

func FuzzBisection(f *testing.F) {
	f.Add(1.0, 64.0, 1.0, 17.5)
	f.Add(0.0, math.Inf(1), 1.0, 3.0)
	f.Add(math.NaN(), 1.0, 1e-300, 0.0)
	f.Fuzz(func(t *testing.T, from, to, step, edge float64) {
		b := NewBisection(from, to, step)
		for n := 0; ; n++ {
			x, more := b.Next()
			if !more {
				break
			}
			b.Note(x < edge)
			if n > 70 {
				t.Fatal("no end")
			}
		}
		if before, after, ok := b.Edge(); ok && (before < edge) == (after < edge) {
			t.Errorf("no edge between %v and %v", before, after)
		}
	})
}
