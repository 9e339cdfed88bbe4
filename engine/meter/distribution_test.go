package meter

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func recorded(ns ...int64) Distribution {
	r := NewRecorder()
	for _, v := range ns {
		r.Record(v)
	}
	return r.Distribution()
}

// Against the sorted list: three digits are kept.
func TestQuantilesAgreeWithTheSortedList(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var list []int64
	r := NewRecorder()
	for range 20_000 {
		v := int64(rnd.ExpFloat64() * 50_000)
		list = append(list, v)
		r.Record(v)
	}
	slices.Sort(list)
	q := r.Distribution().Quantiles()
	at := func(share float64) int64 { return list[int(share*float64(len(list)))-1] }
	for _, c := range []struct {
		name      string
		got, want int64
	}{{"min", q.Min, list[0]}, {"median", q.Median, at(0.5)}, {"p99", q.P99, at(0.99)}, {"p99.9", q.P999, at(0.999)}, {"max", q.Max, list[len(list)-1]}} {
		if d := c.got - c.want; d > c.want/1000+1 || -d > c.want/1000+1 {
			t.Errorf("%s: %d, want %d", c.name, c.got, c.want)
		}
	}
	if q.N != uint64(len(list)) {
		t.Errorf("n %d", q.N)
	}
}

func TestDistributionsAddUpAndSubtract(t *testing.T) {
	r := NewRecorder()
	r.Record(100)
	before := r.Distribution()
	r.Record(700)
	if diff := cmp.Diff(recorded(700).Quantiles(), r.Distribution().Minus(before).Quantiles()); diff != "" {
		t.Errorf("minus (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(recorded(100, 700, 5).Quantiles(), r.Distribution().Plus(recorded(5)).Quantiles()); diff != "" {
		t.Errorf("plus (-want +got):\n%s", diff)
	}
	var none Distribution
	if none.Quantiles() != (Quantiles{}) || none.Bars(9) != nil || none.Plus(before).Quantiles().N != 1 {
		t.Error("the empty one has figures")
	}
	if q := recorded(longest * 3).Quantiles(); q.N != 1 || q.Over != 1 || q.Max < longest {
		t.Errorf("beyond the longest: %+v", q)
	}
}

func TestBars(t *testing.T) {
	for _, c := range []struct {
		name string
		ns   []int64
		most int
		want []Bar
	}{
		{"one time", []int64{1500}, 9, []Bar{{1000, 2000, 1}}},
		{"0 is a time", []int64{0, 1}, 9, []Bar{{0, 1, 1}, {1, 2, 1}}},
		{"at the edges", []int64{999, 1000, 1999, 2000, 4990, 5000}, 9, []Bar{{500, 1000, 1}, {1000, 2000, 2}, {2000, 5000, 2}, {5000, 10_000, 1}}},
		{"too many: the last has the rest", []int64{10, 30, 60, 9000}, 3, []Bar{{10, 20, 1}, {20, 50, 1}, {50, 10_000, 2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, recorded(c.ns...).Bars(c.most)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRecordAllocatesNothing(t *testing.T) {
	r := NewRecorder()
	if n := testing.AllocsPerRun(100, func() { r.Record(12345) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
