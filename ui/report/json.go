package report

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"time"

	"wirespeed/engine/meter"
	"wirespeed/nic"
	"wirespeed/ui/control"
)

// The objects of DESIGN.md section 6. A pointer is null where the figure is not known. Fields may be added, never renamed.
type (
	sampleJSON struct {
		Type          string             `json:"type"`
		T             string             `json:"t"`
		ElapsedS      float64            `json:"elapsed_s"`
		IntervalS     float64            `json:"interval_s"`
		Epoch         *int               `json:"epoch"` // null, and n with it, in a sample that mixes two regimes
		N             *int               `json:"n"`
		Valid         bool               `json:"valid"`
		ErrNS         *float64           `json:"err_ns"`
		State         string             `json:"state"`
		Link          linkJSON           `json:"link"`
		TargetPPS     *float64           `json:"target_pps"`
		TX            txJSON             `json:"tx"`
		RX            rxJSON             `json:"rx"`
		Ladder        ladderJSON         `json:"ladder"`
		Receiver      *receiverJSON      `json:"receiver"` // null unless it verifies
		Latency       *latencyJSON       `json:"latency"`  // of this interval; likewise
		Missed        uint64             `json:"missed"`
		LostNoCarrier *uint64            `json:"lost_no_carrier"`
		Errors        uint64             `json:"errors"`
		Queues        []queueJSON        `json:"queues"`
		Placement     *string            `json:"placement"` // null where each worker has its own queue
		Qdisc         *qdiscJSON         `json:"qdisc"`
		Instruments   *instrumentsJSON   `json:"instruments"`
		Sink          *sinkJSON          `json:"sink"`  // null while none is on
		Far           *farJSON           `json:"far"`   // null without --far
		Knobs         map[string]*string `json:"knobs"` // null where the device does not tell
	}

	// linkJSON is what percent and wirespeed refer to.
	linkJSON struct {
		BPS    *uint64 `json:"bps"`    // null is unknown
		Source *string `json:"source"` // device, stated, or shaped: frames wait for a link of that speed
	}

	txJSON struct {
		PPS      *float64 `json:"pps"`
		AvgPPS   *float64 `json:"avg_pps"`
		BpsL1    *float64 `json:"bps_l1"`
		BpsL2    *float64 `json:"bps_l2"`
		Percent  *float64 `json:"percent"`
		NS       *float64 `json:"ns"`
		VarNS    *float64 `json:"var_ns"`
		VarMinNS *float64 `json:"var_min_ns"`
		VarMaxNS *float64 `json:"var_max_ns"`
		Source   string   `json:"source"`
	}

	rxJSON struct {
		Dev    string   `json:"dev"`
		PPS    *float64 `json:"pps"`
		AvgPPS *float64 `json:"avg_pps"`
		VarNS  *float64 `json:"var_ns"`
	}

	ladderJSON struct {
		Asked    *uint64  `json:"asked"`
		Ring     uint64   `json:"ring"`
		Taken    uint64   `json:"taken"`
		Device   *uint64  `json:"device"`
		Arrived  *uint64  `json:"arrived"`
		Verified *uint64  `json:"verified"` // numbers that arrived right; null unless the receiver verifies
		Gaps     []string `json:"gaps"`
	}

	queueJSON struct {
		Queue    *int     `json:"queue"`
		CPU      int      `json:"cpu"`
		PPS      float64  `json:"pps"`
		InKernel int      `json:"in_kernel"`
		InDevice *float64 `json:"in_device"`
		IRQPerS  *float64 `json:"irq_per_s"` // interrupts of the transmit queue
		RingFull uint64   `json:"ring_full"`
		Retries  uint64   `json:"retries"`
		Errors   uint64   `json:"errors"`
		Slot     string   `json:"slot"` // linear, plain or segmented
		User     float64  `json:"user"` // shares of a CPU, 0 to 1
		Kernel   float64  `json:"kernel"`
		Spin     float64  `json:"spin"`
		Wait     float64  `json:"wait"`
		Away     *float64 `json:"away"` // within these four: it was ready, and others ran on its CPU
		State    string   `json:"state"`
		Error    *string  `json:"error"`
	}

	qdiscJSON struct {
		Kind           string `json:"kind"`
		BacklogPackets uint64 `json:"backlog_packets"`
		BacklogBytes   uint64 `json:"backlog_bytes"`
		Drops          uint64 `json:"drops"`
		Requeues       uint64 `json:"requeues"`
	}

	// farJSON is what the far end of two machines says, since the start or the last reset.
	farJSON struct {
		Address    string   `json:"address"`
		Device     *string  `json:"device"`
		How        *string  `json:"how"`
		AgeS       *float64 `json:"age_s"` // of what was last heard
		Error      *string  `json:"error"` // why nothing is known now
		PPS        *float64 `json:"pps"`
		Arrived    *uint64  `json:"arrived"`
		Verified   *uint64  `json:"verified"`
		Lost       *uint64  `json:"lost"`
		Duplicates *uint64  `json:"duplicates"`
		Reordered  *uint64  `json:"reordered"`
		Corrupt    *uint64  `json:"corrupt"`
		NotSeen    *uint64  `json:"not_seen"`
		Received   *uint64  `json:"received"`
		Dropped    *uint64  `json:"dropped"`
	}

	sinkJSON struct {
		Mode    string `json:"mode"` // native or generic
		Ours    uint64 `json:"ours"` // since it was switched on
		Passed  uint64 `json:"passed"`
		Foreign uint64 `json:"foreign"`
	}

	eventJSON struct {
		Type string  `json:"type"`
		T    string  `json:"t"`
		Text string  `json:"text"`
		Knob *string `json:"knob"`
	}

	summaryJSON struct {
		Type          string        `json:"type"`
		T             string        `json:"t"`
		ElapsedS      float64       `json:"elapsed_s"`
		TxPackets     uint64        `json:"tx_packets"`
		TxSource      string        `json:"tx_source"`
		RxPackets     *uint64       `json:"rx_packets"`
		Ladder        ladderJSON    `json:"ladder"`
		Receiver      *receiverJSON `json:"receiver"`
		Latency       *latencyJSON  `json:"latency"` // of the whole
		Far           *farJSON      `json:"far"`
		Missed        uint64        `json:"missed"`
		LostNoCarrier *uint64       `json:"lost_no_carrier"`
		AvgPPS        float64       `json:"avg_pps"`
		StdDevNS      *float64      `json:"stddev_ns"`
		Errors        uint64        `json:"errors"`
		Epochs        []epochJSON   `json:"epochs"`
		Marks         []epochJSON   `json:"marks"`
		Diff          *diffJSON     `json:"diff"`
		Error         *string       `json:"error"`
		Trace         *traceJSON    `json:"trace"` // null while the knob trace is off
		Result        string        `json:"result"`

		Kicks []kickJSON   `json:"kicks"`
		Sweep *sweepObject `json:"sweep"` // the last one, null without one
	}

	epochJSON struct {
		Epoch    int      `json:"epoch"`
		Label    string   `json:"label"`
		Mark     *string  `json:"mark"`
		N        int      `json:"n"`
		AvgPPS   float64  `json:"avg_pps"`
		MeanNS   *float64 `json:"mean_ns"`
		StdDevNS *float64 `json:"stddev_ns"`
		MinNS    *float64 `json:"min_ns"`
		MaxNS    *float64 `json:"max_ns"`
	}

	diffJSON struct {
		A      string   `json:"a"`
		B      string   `json:"b"`
		NS     *float64 `json:"ns"` // positive: b is faster
		CI95NS *float64 `json:"ci95_ns"`
		Real   bool     `json:"real"`
		Text   string   `json:"text"`

		Knobs   []knobDiffJSON `json:"knobs"`    // that differ
		RegimeA *string        `json:"regime_a"` // that ruled most of the samples
		RegimeB *string        `json:"regime_b"`
	}

	knobDiffJSON struct {
		Knob string `json:"knob"`
		A    string `json:"a"`
		B    string `json:"b"`
	}
)

// jsonWriter prints one object per line.
type jsonWriter struct {
	out  io.Writer
	told map[string]string // members of families, as they were printed last
}

// sample prints a sample. Of the families (irq[0], xps[0] ...), which a device of many queues has hundreds of, it holds those that are not as
// they were printed last: all in the first sample, later what has changed.
func (w *jsonWriter) sample(v *control.View) error {
	o := newSample(v)
	if w.told == nil {
		w.told = make(map[string]string)
	}
	for _, k := range v.Knobs {
		if !k.Family {
			continue
		}
		if last, told := w.told[k.Name]; told && last == k.Value {
			delete(o.Knobs, k.Name)
		}
		w.told[k.Name] = k.Value
	}
	return w.put(o)
}

func (w *jsonWriter) event(e control.Event) error {
	return w.put(eventJSON{Type: "event", T: stamp(e.At), Text: e.Text, Knob: word(e.Knob)})
}

func (w *jsonWriter) summary(s control.Summary, at time.Time) error { return w.put(newSummary(s, at)) }

func (w *jsonWriter) put(object any) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false) // "burst 1 -> 8" is for people too
	if err := e.Encode(object); err != nil {
		return err
	}
	_, err := w.out.Write(line.Bytes())
	return err
}

// newSample is the sample of a view as an object.
func newSample(v *control.View) sampleJSON {
	s := v.Sample
	in := s.Epoch != 0 // figures of an epoch exist
	o := sampleJSON{
		Type: "sample", T: stamp(s.At), ElapsedS: s.Elapsed.Seconds(), IntervalS: s.Interval.Seconds(),
		Valid: s.Valid, ErrNS: known(s.ErrNS, s.TX.OK), State: v.State.String(), Link: newLink(v.Device), TargetPPS: v.Target,
		TX: txJSON{
			PPS: known(s.TX.PPS, s.TX.OK), BpsL1: known(s.TX.BpsL1, s.TX.OK), BpsL2: known(s.TX.BpsL2, s.TX.OK),
			Percent: s.TX.Percent, NS: s.TX.NS, AvgPPS: known(s.TX.Avg, in), VarNS: known(s.TX.VarNS, in),
			VarMinNS: known(s.TX.VarMin, in), VarMaxNS: known(s.TX.VarMax, in), Source: s.TxSource,
		},
		RX: rxJSON{
			Dev: s.RxDev, PPS: known(s.RX.PPS, s.RX.OK), AvgPPS: known(s.RX.Avg, in && s.RX.OK), VarNS: known(s.RX.VarNS, in && s.RX.OK),
		},
		Ladder: newLadder(v.Ladder), Receiver: newReceiver(v.Arrivals), Latency: newRecent(v.Arrivals), Missed: v.Missed, LostNoCarrier: v.LostNoCarrier, Errors: v.Errors,
		Queues: make([]queueJSON, len(v.Queues)), Placement: word(v.Placement), Qdisc: newQdisc(v.Qdisc), Instruments: newInstruments(v.Instruments),
		Sink: newSink(v.Sink), Far: newFar(v.Far), Knobs: map[string]*string{},
	}
	if in {
		o.Epoch, o.N = &s.Epoch, &s.N
	}
	for i, q := range v.Queues {
		o.Queues[i] = queueJSON{
			CPU: q.CPU, PPS: q.PPS, InKernel: q.InKernel, InDevice: q.InDevice, IRQPerS: q.IRQs, RingFull: q.RingFull, Retries: q.Retries, Errors: q.Errors, Slot: q.Slot,
			User: q.User, Kernel: q.Kernel, Spin: q.Spin, Wait: q.Wait, Away: q.Away, State: q.State.String(), Error: word(q.Err),
		}
		if q.Queue >= 0 {
			o.Queues[i].Queue = &q.Queue
		}
	}
	for _, k := range v.Knobs {
		o.Knobs[k.Name] = nil
		if k.Known || k.Value != "-" {
			o.Knobs[k.Name] = &k.Value
		}
	}
	return o
}

func newLink(d control.DeviceView) (l linkJSON) {
	if d.Speed == 0 {
		return l
	}
	l.BPS = &d.Speed
	switch {
	case d.Shaped:
		l.Source = word("shaped")
	case d.Stated:
		l.Source = word("stated")
	default:
		l.Source = word("device")
	}
	return l
}

func newLadder(l control.Ladder) ladderJSON {
	gaps := l.Gaps
	if gaps == nil {
		gaps = []string{} // none is not unknown
	}
	return ladderJSON{Asked: l.Asked, Ring: l.Ring, Taken: l.Taken, Device: l.Device, Arrived: l.Arrived, Verified: l.Verified, Gaps: gaps}
}

func newQdisc(q *nic.Qdisc) *qdiscJSON {
	if q == nil {
		return nil
	}
	return &qdiscJSON{q.Kind, q.BacklogPackets, q.BacklogBytes, q.Drops, q.Requeues}
}

func newFar(s *control.FarSide) *farJSON {
	if s == nil {
		return nil
	}
	o := &farJSON{
		Address: s.Address, Device: word(s.Device), How: word(s.How), Error: word(s.Err), PPS: s.PPS, Arrived: s.Arrived, Verified: s.Verified,
		Lost: s.Lost, Duplicates: s.Duplicates, Reordered: s.Reordered, Corrupt: s.Corrupt, NotSeen: s.NotSeen, Received: s.Received, Dropped: s.Dropped,
	}
	if s.Age != nil {
		age := s.Age.Seconds()
		o.AgeS = &age
	}
	return o
}

func newSink(s *control.SinkView) *sinkJSON {
	if s == nil {
		return nil
	}
	return &sinkJSON{s.Mode, s.Ours, s.Passed, s.Foreign}
}

func newSummary(s control.Summary, at time.Time) summaryJSON {
	o := summaryJSON{
		Type: "summary", T: stamp(at), ElapsedS: s.Elapsed.Seconds(), TxPackets: s.TxPackets, TxSource: s.TxSource, RxPackets: s.RxPackets,
		Ladder: newLadder(s.Ladder), Receiver: newReceiver(s.Arrivals), Latency: newWhole(s.Arrivals), Far: newFar(s.Far), Missed: s.Missed, LostNoCarrier: s.LostNoCarrier, AvgPPS: s.AvgPPS,
		StdDevNS: known(s.StdDevNS, true), Errors: s.Errors, Epochs: newEpochs(s.Epochs), Marks: newEpochs(s.Marks), Result: s.Result, Trace: newTrace(s.Trace),
	}
	o.Kicks = newKicks(s.Kicks)
	if s.Sweep != nil {
		sweep := newSweep(s.Sweep, at)
		o.Sweep = &sweep
	}
	if s.Diff != nil {
		o.Diff = newDiff(*s.Diff)
	}
	if s.Err != nil {
		o.Error = word(s.Err.Error())
	}
	return o
}

// newDiff is a comparison as an object.
func newDiff(d control.Comparison) *diffJSON {
	o := &diffJSON{
		A: d.A.Mark, B: d.B.Mark, NS: known(d.NS, d.OK), CI95NS: known(d.CI95, d.CIOK), Real: d.Real, Text: d.String(),
		Knobs: []knobDiffJSON{}, RegimeA: word(d.RegimeA), RegimeB: word(d.RegimeB),
	}
	for _, k := range d.Knobs {
		o.Knobs = append(o.Knobs, knobDiffJSON{k.Name, k.A, k.B})
	}
	return o
}

func newEpochs(list []meter.Epoch) []epochJSON {
	out := make([]epochJSON, len(list))
	for i, e := range list {
		out[i] = newEpoch(e)
	}
	return out
}

func newEpoch(e meter.Epoch) epochJSON {
	return epochJSON{
		Epoch: e.Number, Label: e.Label, Mark: word(e.Mark), N: e.N, AvgPPS: e.PPS, MeanNS: known(e.MeanNS, e.Timed > 0),
		StdDevNS: known(e.StdDevNS, e.Timed > 1), MinNS: known(e.MinNS, e.Timed > 0), MaxNS: known(e.MaxNS, e.Timed > 0),
	}
}

// stamp prints a time as JSON has it, in UTC with milliseconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// known is a figure, null where it is not known or no number.
func known(v float64, ok bool) *float64 {
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// word is a text, null where there is none.
func word(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
