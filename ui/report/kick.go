package report

import "wirespeed/ui/control"

// kickJSON is a moment of load from another CPU. Times are ns per packet.
type kickJSON struct {
	Kick      int       `json:"kick"`
	DurationS float64   `json:"duration_s"`
	CPU       int       `json:"cpu"`
	Frames    uint64    `json:"frames"` // of the helper; they are in no other figure
	PPS       float64   `json:"pps"`
	Before    epochJSON `json:"before"`
	During    epochJSON `json:"during"`
	After     epochJSON `json:"after"`
	Left      *diffJSON `json:"left"`   // after against before
	Stayed    *bool     `json:"stayed"` // null where it cannot be told
	Text      string    `json:"text"`
}

func newKicks(list []control.Kick) []kickJSON {
	out := make([]kickJSON, len(list))
	for i, k := range list {
		out[i] = kickJSON{
			Kick: k.Number, DurationS: k.Duration.Seconds(), CPU: k.CPU, Frames: k.Frames, PPS: k.PPS,
			Before: newEpoch(k.Before), During: newEpoch(k.During), After: newEpoch(k.After),
			Left: newDiff(k.Left), Stayed: k.Stayed, Text: k.Text,
		}
	}
	return out
}
