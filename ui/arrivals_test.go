package ui

import (
	"wirespeed/engine"
	"wirespeed/engine/meter"
	"wirespeed/engine/receive"
	"wirespeed/engine/verify"
	"wirespeed/ui/control"
)

// arrivals lets the view have what a verifying receiver tells, and opens its pane.
func arrivals(m *model) {
	n := func(v uint64) *uint64 { return &v }
	jitter := 812.4
	delay := func(scale int64) *control.Delay {
		return &control.Delay{
			Quantiles: meter.Quantiles{N: uint64(1_000_000 * scale), Min: 1480, Median: 2310, P99: 9820 * scale, P999: 48_700 * scale, Max: 1_250_000 * scale, Mean: 2500},
			Bars: []meter.Bar{
				{From: 1000, To: 2000, N: uint64(260_000 * scale)},
				{From: 2000, To: 5000, N: uint64(690_000 * scale)},
				{From: 5000, To: 10_000, N: uint64(41_000 * scale)},
				{From: 10_000, To: 20_000, N: uint64(7_000 * scale)},
				{From: 20_000, To: 50_000, N: uint64(1_000 * scale)},
				{From: 50_000, To: 100_000},
				{From: 100_000, To: 2_000_000, N: uint64(1_000 * scale)},
			},
			JitterNS: &jitter, ResolutionNS: 1, ClockErrNS: 38,
		}
	}
	v := *m.view
	v.Ladder.Arrived, v.Ladder.Verified = n(v.Ladder.Taken), n(v.Ladder.Taken-17)
	v.Arrivals = &control.Arrivals{
		Received: engine.Received{Snapshot: receive.Snapshot{NotSeen: 0, Counts: verify.Counts{
			Duplicates: 4, Reordered: 12, ExtentMax: 3, Corrupt: 13, BadIPSum: 1, BadL4Sum: 12,
		}}},
		Verified: v.Ladder.Verified, Lost: n(2), Foreign: n(31), Whole: delay(20), Recent: delay(1),
	}
	m.view = &v
	drive(m, "a")
}
