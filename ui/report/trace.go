package report

import (
	"wirespeed/ui/control"
)

// newTrace is what the trace points showed as an object, null while they are off.
func newTrace(t *control.Trace) *traceJSON {
	if t == nil {
		return nil
	}
	o := &traceJSON{
		What: t.What, WindowS: t.Window.Seconds(), Windows: t.Windows, CostShare: t.Cost, CostPPS: t.CostPPS, CostWhy: word(t.CostWhy), Blind: word(t.Blind), Error: word(t.Err),
	}
	if b := t.Bulks; b != nil {
		o.Bulks = &bulksJSON{Dequeues: b.Dequeues, Frames: b.Frames, Mean: known(b.Mean(), b.Dequeues > 0), Max: b.Max, Histogram: []bucketJSON{}, Lost: b.Lost}
		for i, n := range b.Histogram {
			bucket := bucketJSON{Dequeues: n}
			if i < len(b.Histogram)-1 {
				bucket.UpTo = &t.Bulks.Ends()[i]
			}
			o.Bulks.Histogram = append(o.Bulks.Histogram, bucket)
		}
	}
	if d := t.Device; d != nil {
		o.Device = &deviceJSON{
			Frames: d.Frames, Heads: d.Heads, Released: d.Released, Again: d.Again, Lost: d.Lost, InMean: d.InMean, InMax: d.InMax, WindowS: d.Window.Seconds(),
			LapMean: known(d.LapMean.Seconds()*1e6, d.Released > 0), LapMax: known(d.LapMax.Seconds()*1e6, d.Released > 0), OldestS: known(d.Oldest.Seconds(), d.Stuck > 0 && d.Lost == 0),
		}
		if d.Lost == 0 {
			o.Device.Stuck = &d.Stuck
		}
	}
	return o
}
