package report

import (
	"wirespeed/engine"
	"wirespeed/engine/meter"
	"wirespeed/engine/receive"
	"wirespeed/engine/verify"
	"wirespeed/ui/control"
)

// heard is what a verifying receiver tells that has seen everything go wrong.
func heard() *control.Arrivals {
	return &control.Arrivals{
		Received: engine.Received{Snapshot: receive.Snapshot{
			Arrived: 996, NotSeen: 1, Read: 995,
			Counts: verify.Counts{
				Right: 990, Received: 980, Missing: 12, Duplicates: 6, Reordered: 4, ExtentMax: 3, ExtentSum: 6, Late: 4, Restarts: 1,
				Corrupt: 5, BadLength: 1, BadIPSum: 2, BadL4Sum: 2, Partial: 7, Unsummed: 8,
			},
			Flows: []verify.FlowCounts{{Key: verify.Key{Worker: 1}, Counts: verify.Counts{Received: 980, Missing: 12, Duplicates: 6, Reordered: 4, ExtentMax: 3}, Highest: 992, JitterNS: ptr(33.5)}},
		}},
		Verified: ptr(uint64(980)), Lost: ptr(uint64(6)), Foreign: ptr(uint64(9)),
		Recent: &control.Delay{
			Quantiles:    meter.Quantiles{N: 900, Min: 1000, Median: 1500, P99: 2500, P999: 7000, Max: 9000, Mean: 1600.5},
			Bars:         []meter.Bar{{From: 1000, To: 2000, N: 800}, {From: 2000, To: 5000, N: 100}},
			ResolutionNS: 1, ClockErrNS: 40, JitterNS: ptr(33.5),
		},
		NoDelay: "the clocks do not agree",
	}
}
