package report

import (
	"wirespeed/engine/meter"
	"wirespeed/ui/control"
)

// The objects of a verifying receiver.
type (
	receiverJSON struct {
		Verified    *uint64    `json:"verified"` // numbers that arrived right
		Lost        *uint64    `json:"lost"`
		Duplicates  *uint64    `json:"duplicates"`
		Reordered   *uint64    `json:"reordered"`
		ExtentMax   *uint64    `json:"extent_max"` // RFC 4737, frames
		ExtentMean  *float64   `json:"extent_mean"`
		Corrupt     uint64     `json:"corrupt"`
		BadLength   uint64     `json:"bad_length"`
		BadIPSum    uint64     `json:"bad_ip_sum"`
		BadL4Sum    uint64     `json:"bad_l4_sum"`
		Foreign     *uint64    `json:"foreign"`
		NotSeen     uint64     `json:"not_seen"` // arrived, and found our ring full
		Late        uint64     `json:"late"`     // too late to tell whether again
		Restarts    uint64     `json:"restarts"`
		PartialSums uint64     `json:"partial_sums"` // only the pseudo-header's could be checked
		NoSums      uint64     `json:"no_sums"`      // the sender computed none
		Every       uint32     `json:"every"`        // one of so many frames comes up, a sink drops the others
		Unclear     *string    `json:"unclear"`      // why the numbers tell nothing
		Flows       []flowJSON `json:"flows"`
	}

	flowJSON struct {
		Worker     uint16   `json:"worker"`
		Received   uint64   `json:"received"` // these since the receiver was opened
		Missing    uint64   `json:"missing"`  // not seen and corrupt ones among them
		Duplicates uint64   `json:"duplicates"`
		Reordered  uint64   `json:"reordered"`
		ExtentMax  uint64   `json:"extent_max"`
		Highest    uint64   `json:"highest"`
		JitterNS   *float64 `json:"jitter_ns"`
	}

	latencyJSON struct {
		N            uint64    `json:"n"`
		MinNS        *int64    `json:"min_ns"`
		MedianNS     *int64    `json:"median_ns"`
		MeanNS       *float64  `json:"mean_ns"`
		P99NS        *int64    `json:"p99_ns"`
		P999NS       *int64    `json:"p999_ns"`
		MaxNS        *int64    `json:"max_ns"`
		JitterNS     *float64  `json:"jitter_ns"`     // RFC 3550
		ResolutionNS *int64    `json:"resolution_ns"` // of the coarser time stamp
		ClockErrNS   *int64    `json:"clock_err_ns"`  // how far the two clocks' distance may be wrong
		Source       *string   `json:"source"`
		Unknown      *string   `json:"unknown"` // why there is none
		Bars         []barJSON `json:"bars"`
	}

	barJSON struct {
		FromNS int64  `json:"from_ns"`
		ToNS   int64  `json:"to_ns"`
		N      uint64 `json:"n"`
	}
)

// newReceiver is null without a verifying receiver.
func newReceiver(a *control.Arrivals) *receiverJSON {
	if a == nil {
		return nil
	}
	o := &receiverJSON{
		Verified: a.Verified, Lost: a.Lost, Corrupt: a.Corrupt, BadLength: a.BadLength, BadIPSum: a.BadIPSum, BadL4Sum: a.BadL4Sum,
		Foreign: a.Foreign, NotSeen: a.NotSeen, Late: a.Late, Restarts: a.Restarts, PartialSums: a.Partial, NoSums: a.Unsummed,
		Every: max(1, a.Every), Unclear: word(a.Unclear), Flows: []flowJSON{},
	}
	if a.Unclear == "" {
		o.Duplicates, o.Reordered, o.ExtentMax = &a.Duplicates, &a.Reordered, &a.ExtentMax
		if a.Reordered > 0 {
			mean := float64(a.ExtentSum) / float64(a.Reordered)
			o.ExtentMean = &mean
		}
		for _, f := range a.Flows {
			o.Flows = append(o.Flows, flowJSON{f.Worker, f.Received, f.Missing, f.Duplicates, f.Reordered, f.ExtentMax, f.Highest, f.JitterNS})
		}
	}
	return o
}

// newLatency is a distribution's figures, or why there are none.
func newLatency(a *control.Arrivals, d *control.Delay) *latencyJSON {
	if d == nil {
		why := a.NoDelay
		if why == "" {
			why = "no frame was timed"
		}
		return &latencyJSON{Unknown: &why, Bars: []barJSON{}}
	}
	source := control.DelaySource
	return &latencyJSON{
		N: d.N, MinNS: &d.Min, MedianNS: &d.Median, MeanNS: known(d.Mean, true), P99NS: &d.P99, P999NS: &d.P999, MaxNS: &d.Max, JitterNS: d.JitterNS,
		ResolutionNS: &d.ResolutionNS, ClockErrNS: &d.ClockErrNS, Source: &source, Bars: newBars(d.Bars),
	}
}

func newRecent(a *control.Arrivals) *latencyJSON {
	if a == nil {
		return nil
	}
	return newLatency(a, a.Recent)
}

func newWhole(a *control.Arrivals) *latencyJSON {
	if a == nil {
		return nil
	}
	return newLatency(a, a.Whole)
}

func newBars(bars []meter.Bar) []barJSON {
	out := make([]barJSON, len(bars))
	for i, b := range bars {
		out[i] = barJSON{b.From, b.To, b.N}
	}
	return out
}
