package report

import (
	"time"

	"wirespeed/engine/meter"
	"wirespeed/ui/control"
)

// The instruments of a sample: what the queues showed in the second before it. Fields may be added, never renamed.
type (
	instrumentsJSON struct {
		Regime    *string           `json:"regime"` // direct, queued, bulking or limited; null is unknown
		Why       *string           `json:"why"`
		Since     *string           `json:"since"` // when the regime began
		WindowS   float64           `json:"window_s"`
		LooksPerS float64           `json:"looks_per_s"`
		Cost      float64           `json:"cost"` // share of a CPU
		Qdiscs    []qdiscGaugeJSON  `json:"qdiscs"`
		QdiscWhy  *string           `json:"qdisc_why"` // why there are none
		Devices   []deviceGaugeJSON `json:"devices"`
		DeviceWhy *string           `json:"device_why"`
		RingFull  *string           `json:"ring_full"` // that the driver's ring is, in words
		Trace     *traceJSON        `json:"trace"`     // null while the knob trace is off
		Changes   []changeJSON      `json:"changes"`
	}

	// traceJSON is what the trace points showed: of the last window, or with -all since it was switched on.
	traceJSON struct {
		What      string      `json:"what"`
		WindowS   float64     `json:"window_s"` // of each second
		Windows   int         `json:"windows"`
		Bulks     *bulksJSON  `json:"bulks"`
		Device    *deviceJSON `json:"device"`
		CostShare *float64    `json:"cost_share"` // of the rate
		CostPPS   *float64    `json:"cost_pps"`
		CostWhy   *string     `json:"cost_why"`
		Blind     *string     `json:"blind"` // why nothing is to be seen
		Error     *string     `json:"error"`
	}

	bulksJSON struct {
		Dequeues  uint64       `json:"dequeues"`
		Frames    uint64       `json:"frames"`
		Mean      *float64     `json:"mean"`
		Max       uint64       `json:"max"`
		Histogram []bucketJSON `json:"histogram"`
		Lost      uint64       `json:"lost_events"`
	}

	bucketJSON struct {
		UpTo     *uint64 `json:"up_to"` // null: any number
		Dequeues uint64  `json:"dequeues"`
	}

	deviceJSON struct {
		Frames   uint64   `json:"frames"`
		Heads    uint64   `json:"heads"` // of them super-frames that the device cuts itself
		Released uint64   `json:"released"`
		Again    uint64   `json:"again"`
		Lost     uint64   `json:"lost_events"`
		LapMean  *float64 `json:"lap_mean_us"` // to the release
		LapMax   *float64 `json:"lap_max_us"`
		InMean   float64  `json:"in_mean"`
		InMax    int      `json:"in_max"`
		Stuck    *int     `json:"stuck"` // null where events were lost: a release may be among them
		OldestS  *float64 `json:"oldest_s"`
		WindowS  float64  `json:"window_s"`
	}

	qdiscGaugeJSON struct {
		Queue          *int    `json:"queue"` // null: it feeds all
		Kind           string  `json:"kind"`
		BacklogPackets float64 `json:"backlog_packets"` // on the average
		BacklogMax     float64 `json:"backlog_packets_max"`
		BacklogBytes   float64 `json:"backlog_bytes"`
		BytesMax       float64 `json:"backlog_bytes_max"`
		Waiting        float64 `json:"waiting"`  // share of the looks that found frames
		Computed       bool    `json:"computed"` // packets are bytes by the size of a frame
		DropsPerS      float64 `json:"drops_per_s"`
		RequeuesPerS   float64 `json:"requeues_per_s"`
		OverlimitsPerS float64 `json:"overlimits_per_s"`
		Drops          uint64  `json:"drops"` // since the start or the last reset
		Requeues       uint64  `json:"requeues"`
		Overlimits     uint64  `json:"overlimits"`
	}

	deviceGaugeJSON struct {
		Queue      int     `json:"queue"`
		Frames     float64 `json:"frames"` // bytes by the size of a frame
		FramesMax  float64 `json:"frames_max"`
		FramesMost float64 `json:"frames_most"` // since the start or the last reset
		Limit      float64 `json:"limit"`
		Bytes      float64 `json:"bytes"`
		BytesMax   float64 `json:"bytes_max"`
		LimitBytes float64 `json:"limit_bytes"`
	}

	changeJSON struct {
		T     string  `json:"t"`
		From  string  `json:"from"`
		To    string  `json:"to"`
		Why   string  `json:"why"`
		After *string `json:"after"` // the turn of a knob right before it
	}
)

func newInstruments(i *control.Instruments) *instrumentsJSON {
	if i == nil {
		return nil
	}
	o := &instrumentsJSON{
		Why: word(i.RegimeWhy), WindowS: i.Window.Seconds(), LooksPerS: i.PerSecond, Cost: i.Cost, QdiscWhy: word(i.Why), DeviceWhy: word(i.DeviceWhy),
		RingFull: word(i.RingFull), Trace: newTrace(i.Trace),
		Qdiscs: []qdiscGaugeJSON{}, Devices: []deviceGaugeJSON{}, Changes: []changeJSON{},
	}
	if i.Regime != meter.RegimeUnknown {
		o.Regime = word(string(i.Regime))
	}
	if i.Since != (time.Time{}) {
		o.Since = word(stamp(i.Since))
	}
	for _, q := range i.Qdiscs {
		g := qdiscGaugeJSON{
			Kind: q.Kind, BacklogPackets: q.Mean, BacklogMax: q.Max, BacklogBytes: q.MeanBytes, BytesMax: q.MaxBytes, Waiting: q.Waiting, Computed: q.Computed,
			DropsPerS: q.Drops, RequeuesPerS: q.Requeues, OverlimitsPerS: q.Overlimits, Drops: q.AllDrops, Requeues: q.AllReqs, Overlimits: q.AllOverlims,
		}
		if q.Queue >= 0 {
			g.Queue = &q.Queue
		}
		o.Qdiscs = append(o.Qdiscs, g)
	}
	for _, d := range i.Devices {
		o.Devices = append(o.Devices, deviceGaugeJSON{
			Queue: d.Queue, Frames: d.Mean, FramesMax: d.Max, FramesMost: d.Most, Limit: d.Limit, Bytes: d.MeanBytes, BytesMax: d.MaxBytes, LimitBytes: d.LimitBytes,
		})
	}
	for _, c := range i.Changes {
		o.Changes = append(o.Changes, changeJSON{stamp(c.At), string(c.From), string(c.To), c.Why, word(c.After)})
	}
	return o
}
