package control

import (
	"time"

	"wirespeed/engine/meter"
)

// Summary is the end of a run.
type Summary struct {
	Elapsed       time.Duration
	Waited        time.Duration // of it, waiting for the schedule (the d of the Result)
	TxPackets     uint64
	TxSource      string
	RxPackets     *uint64
	Ladder        Ladder
	Missed        uint64
	LostNoCarrier *uint64
	AvgPPS        float64
	StdDevNS      float64 // of the last epoch; NaN with fewer than two samples
	Errors        uint64
	Epochs        []meter.Epoch
	Marks         []meter.Epoch
	Diff          *meter.Diff
	Result        string // two lines, "\n" between
	Err           error  // why it failed
}
