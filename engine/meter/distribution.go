package meter

import (
	"github.com/HdrHistogram/hdrhistogram-go"
)

// What a Distribution can hold: times to 10 s, each kept to three digits, so that its error is below 0.1 % and below 1 ns.
const (
	longest = 10_000_000_000
	digits  = 3
)

// Recorder collects times in ns. It belongs to one goroutine and allocates only when made.
type Recorder struct {
	h    *hdrhistogram.Histogram
	over uint64
}

// NewRecorder returns an empty one; it takes 200 KiB.
func NewRecorder() *Recorder { return &Recorder{h: hdrhistogram.New(1, longest, digits)} }

// Record takes one time of at least 0; what is above 10 s counts as that.
func (r *Recorder) Record(ns int64) {
	if ns > longest {
		r.over++
		ns = longest
	}
	_ = r.h.RecordValue(ns) // it fails only above the longest
}

// Reset forgets everything.
func (r *Recorder) Reset() { r.h.Reset(); r.over = 0 }

// Distribution returns what was recorded so far, as a value of its own.
func (r *Recorder) Distribution() Distribution {
	s := r.h.Export()
	return Distribution{counts: s.Counts, over: r.over}
}

// Distribution is how often each time came. The zero value is empty. It is never changed.
type Distribution struct {
	counts []int64
	over   uint64
}

// Plus adds another one's times.
func (d Distribution) Plus(o Distribution) Distribution { return d.with(o, 1) }

// Minus takes away the times of an earlier state of the same recorder.
func (d Distribution) Minus(o Distribution) Distribution { return d.with(o, -1) }

func (d Distribution) with(o Distribution, sign int64) Distribution {
	if len(o.counts) == 0 {
		return d
	}
	out := Distribution{counts: make([]int64, len(o.counts)), over: d.over + uint64(sign)*o.over}
	copy(out.counts, d.counts)
	for i, n := range o.counts {
		out.counts[i] = max(0, out.counts[i]+sign*n)
	}
	return out
}

// Quantiles are the figures of a distribution, in ns. Over is how many times were longer than 10 s, and count as that.
type Quantiles struct {
	N                           uint64
	Min, Median, P99, P999, Max int64
	Mean                        float64
	Over                        uint64
}

// Quantiles computes the figures; all are 0 where N is 0.
func (d Distribution) Quantiles() Quantiles {
	h := d.histogram()
	if h == nil || h.TotalCount() == 0 {
		return Quantiles{}
	}
	return Quantiles{
		N: uint64(h.TotalCount()), Min: h.Min(), Median: h.ValueAtQuantile(50), P99: h.ValueAtQuantile(99), P999: h.ValueAtQuantile(99.9), Max: h.Max(),
		Mean: h.Mean(), Over: d.over,
	}
}

func (d Distribution) histogram() *hdrhistogram.Histogram {
	if len(d.counts) == 0 {
		return nil
	}
	return hdrhistogram.Import(&hdrhistogram.Snapshot{
		LowestTrackableValue: 1, HighestTrackableValue: longest, SignificantFigures: digits, Counts: d.counts,
	})
}

// Bar is a range of times and how often they came.
type Bar struct {
	From, To int64 // ns, From included and To not
	N        uint64
}

// Bars divides the times into ranges that a person can read: 1, 2 and 5 times powers of ten, from the range of the smallest time to that of the
// largest, at most most of them; the last one then has all that is longer.
func (d Distribution) Bars(most int) []Bar {
	h := d.histogram()
	if h == nil || h.TotalCount() == 0 || most < 1 {
		return nil
	}
	least, largest := h.Min(), h.Max()
	var bars []Bar
	from := int64(0)
	for i, to := 0, int64(1); ; i++ {
		if to > least {
			bars = append(bars, Bar{From: from, To: to})
		}
		if to > largest {
			break
		}
		from = to
		to = to * [...]int64{2, 5, 2}[i%3] / [...]int64{1, 2, 1}[i%3]
	}
	if len(bars) > most {
		bars[most-1].To = bars[len(bars)-1].To
		bars = bars[:most]
	}
	i := 0
	for _, b := range h.Distribution() {
		for i < len(bars)-1 && b.From >= bars[i].To {
			i++
		}
		bars[i].N += uint64(b.Count)
	}
	return bars
}
