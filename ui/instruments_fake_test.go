package ui

import (
	"time"

	"wirespeed/engine/meter"
	"wirespeed/ui/control"
)

// fakeInstruments are of a gigabit NIC at wirespeed with a backlog since a burst of 8, and before it, or of a lab without a queue.
func fakeInstruments(lab, full bool, now time.Time) *control.Instruments {
	i := &control.Instruments{Window: time.Second, PerSecond: 66.4, Cost: 0.0042, InKernel: 118, Since: now.Add(-31 * time.Second)}
	if lab {
		i.Why, i.DeviceWhy = "no queue: frames wait nowhere between ring and driver (noqueue)", "veth does not use byte queue limits"
		i.Regime, i.RegimeWhy = meter.Direct, "no queue to wait in (noqueue): each frame goes straight to the driver"
		return i
	}
	i.Qdiscs = []control.QdiscGauge{
		{Queue: 0, Kind: "pfifo_fast", Mean: 0.02, Max: 1, MeanBytes: 1.2, MaxBytes: 60, Waiting: 0.02, AllReqs: 3},
		{Queue: 1, Kind: "pfifo_fast"},
		{Queue: 2, Kind: "pfifo_fast"},
		{Queue: 3, Kind: "pfifo_fast"},
	}
	i.Devices = []control.DeviceGauge{{Queue: 0, Mean: 102.4, Max: 117, Most: 118, Limit: 118, MeanBytes: 6144, MaxBytes: 7020, LimitBytes: 7080}}
	i.Regime, i.RegimeWhy = meter.Direct, "the queue was empty in 98 % of the looks: frames go straight to the driver"
	if full {
		i.Qdiscs[0] = control.QdiscGauge{
			Queue: 0, Kind: "pfifo_fast", Mean: 38.2, Max: 51, MeanBytes: 2292, MaxBytes: 3060, Waiting: 1, Computed: true, Requeues: 1204, AllReqs: 38211,
		}
		i.Regime, i.RegimeWhy = meter.Limited, "the link is the limit: 100.0 % of 1 Gbit/s; backlog 38.2"
		i.Since = now.Add(-4 * time.Second)
		i.Changes = []control.RegimeChange{
			{At: now.Add(-31 * time.Second), From: meter.Direct, To: meter.Queued, After: "burst 8"},
			{At: now.Add(-4 * time.Second), From: meter.Queued, To: meter.Limited},
		}
	}
	return i
}
