package control

import (
	"fmt"
	"math"
	"slices"
	"time"

	"wirespeed/engine/meter"
)

// Summary is the end of a run.
type Summary struct {
	Elapsed       time.Duration
	Waited        time.Duration // of it, on the average of the workers, waiting for the schedule (the d of the Result)
	TxPackets     uint64
	TxSource      string
	RxPackets     *uint64
	Ladder        Ladder
	Far           *FarSide  // nil without a far end
	Arrivals      *Arrivals // nil without a verifying receiver
	Missed        uint64
	LostNoCarrier *uint64
	AvgPPS        float64
	StdDevNS      float64 // of the last epoch; NaN with fewer than two samples
	Errors        uint64
	Epochs        []meter.Epoch
	Marks         []meter.Epoch
	Diff          *Comparison
	Kicks         []Kick
	Sweep         *Sweep // the last one, nil without one
	Result        string // two lines, "\n" between
	Trace         *Trace // nil while the knob trace is off
	Err           error  // why it failed
}

// Kept are the marks as lines of text, the difference of the last two, and what a verifying receiver found.
func (s Summary) Kept() []string {
	var lines []string
	for _, e := range s.Marks {
		lines = append(lines, fmt.Sprintf("%s: %s, %s pps, %s ns/packet over %d samples", e.Mark, e.Label, meter.Number(e.PPS, 0), meter.Number(e.MeanNS, 3), e.N))
	}
	for _, k := range s.Kicks {
		lines = append(lines, k.Text)
	}
	if s.Diff != nil {
		lines = append(lines, s.Diff.String())
	}
	if s.Arrivals != nil {
		lines = append(lines, s.Arrivals.Lines()...)
	}
	return lines
}

// Result is the end of a run in the classic form, two lines, and all the figures of the summary.
func (r *Run) Result() Summary {
	r.settleTrace()
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.take(r.o.Interval)
	r.hear()
	l, arrivals := r.ladder(r.base, now)
	sent := r.sent(r.base, now)
	s := Summary{
		Elapsed: r.elapsed(now, r.counted), Waited: (now.engine.Waited - r.base.engine.Waited) / time.Duration(r.eng.Config().Queues),
		TxPackets: l.Taken, TxSource: fromEngine, RxPackets: l.Arrived,
		Ladder: l, Arrivals: arrivals, Far: r.farSide(now.at), Missed: since(r.base.engine.Missed, now.engine.Missed), LostNoCarrier: r.loss.known(),
		Errors: since(r.base.engine.Errors, now.engine.Errors),
		Epochs: r.epochs.all(), Marks: slices.Clone(r.epochs.marks), Diff: r.epochs.diff,
		Kicks: slices.Clone(r.kickList), Sweep: r.sweep, StdDevNS: math.NaN(), Err: r.failure,
	}
	s.Trace = r.traceView()
	if l.Device != nil && !r.gauge.coarse {
		s.TxPackets, s.TxSource = *l.Device, fromDevice
	}
	if s.Elapsed > 0 {
		s.AvgPPS = float64(s.TxPackets) / s.Elapsed.Seconds()
	}
	if n := len(s.Epochs); n > 0 && s.Epochs[n-1].Timed > 1 {
		s.StdDevNS = s.Epochs[n-1].StdDevNS
	}
	s.Result = meter.ResultOf(s.Elapsed, s.Waited, s.TxPackets, sent.Frames, sent.Bytes, s.Errors)
	return s
}
