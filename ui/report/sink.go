package report

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"wirespeed/engine/receive"
	"wirespeed/ui/control"
)

// A sample of the receiving end. The names are those of a sender's sample; what only a sender knows is null.
type (
	endJSON struct {
		Type      string       `json:"type"`
		T         string       `json:"t"`
		ElapsedS  float64      `json:"elapsed_s"`
		IntervalS float64      `json:"interval_s"`
		Epoch     *int         `json:"epoch"` // null, and n with it, in a sample in which frames begin or cease to arrive
		N         *int         `json:"n"`
		Valid     bool         `json:"valid"`
		ErrNS     *float64     `json:"err_ns"`
		State     string       `json:"state"`
		TX        endTxJSON    `json:"tx"`
		RX        endRxJSON    `json:"rx"`
		Ladder    endSteps     `json:"ladder"`
		Receiver  *verdictJSON `json:"receiver"` // null unless each frame is verified
		Sink      *sinkJSON    `json:"sink"`
		Far       *visitsJSON  `json:"far"` // null without --listen
	}

	endTxJSON struct {
		PPS    *float64 `json:"pps"` // of the device itself
		Source string   `json:"source"`
	}

	endRxJSON struct {
		Dev    string   `json:"dev"`
		PPS    *float64 `json:"pps"` // frames of ours
		AvgPPS *float64 `json:"avg_pps"`
		NS     *float64 `json:"ns"`
		VarNS  *float64 `json:"var_ns"`
		Source string   `json:"source"` // receiver or xdp
	}

	endSteps struct {
		Asked    *uint64  `json:"asked"`
		Ring     *uint64  `json:"ring"`
		Taken    *uint64  `json:"taken"`
		Device   *uint64  `json:"device"`
		Received *uint64  `json:"received"` // all frames, by the receiving device's counter
		Dropped  *uint64  `json:"dropped"`  // by it
		Arrived  *uint64  `json:"arrived"`
		Gaps     []string `json:"gaps"`
	}

	// verdictJSON is the account of a verifying receiver.
	verdictJSON struct {
		Every      uint32  `json:"every"` // all of it is of one in so many frames, 1 is all
		Verified   uint64  `json:"verified"`
		Lost       uint64  `json:"lost"`
		Duplicates uint64  `json:"duplicates"`
		Reordered  uint64  `json:"reordered"`
		Extent     uint64  `json:"extent"` // the largest
		Corrupt    uint64  `json:"corrupt"`
		NotSeen    uint64  `json:"not_seen"` // they arrived, and the receiver could not keep up
		Foreign    *uint64 `json:"foreign"`
		Restarts   uint64  `json:"restarts"`
	}

	visitsJSON struct {
		Listen   string `json:"listen"`
		Now      int    `json:"now"`
		Welcomed uint64 `json:"welcomed"`
		WrongKey uint64 `json:"wrong_key"`
		Refused  uint64 `json:"refused"`
	}

	endSummaryJSON struct {
		Type      string       `json:"type"`
		T         string       `json:"t"`
		ElapsedS  float64      `json:"elapsed_s"`
		RxPackets *uint64      `json:"rx_packets"`
		AvgPPS    *float64     `json:"avg_pps"` // of the last epoch
		Ladder    endSteps     `json:"ladder"`
		Receiver  *verdictJSON `json:"receiver"`
		Sink      *sinkJSON    `json:"sink"`
		Error     *string      `json:"error"`
		Result    string       `json:"result"`
	}
)

// farEnd is what a report needs of a control.FarEnd.
type farEnd interface {
	Due() time.Time
	Over() bool
	Tick() *control.FarView
	Notes() []string
	Err() error
}

var _ farEnd = (*control.FarEnd)(nil)

// Sink reports the receiving end until its time is over, ctx is cancelled or nobody reads any more: none of them is a failure.
// errors.Is(err, knob.ErrUsage) holds for an unknown format.
func Sink(ctx context.Context, f *control.FarEnd, o Options) error { return sink(ctx, f, o) }

func sink(ctx context.Context, f farEnd, o Options) error {
	switch o.Format {
	case "", "line", "json", "csv":
	default:
		return unknownFormat(o.Format)
	}
	for _, n := range f.Notes() {
		if o.Log != nil {
			fmt.Fprintln(o.Log, "wirespeed:", n)
		}
	}
	w := endWriter{o: o}
	timer := time.NewTimer(time.Until(f.Due()))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return w.end(f.Tick(), false, nil)
		case <-timer.C:
		}
		v := f.Tick()
		if err := f.Err(); err != nil || f.Over() {
			return w.end(v, err == nil, err)
		}
		if err := w.sample(v); err != nil {
			return quietly(err)
		}
		timer.Reset(time.Until(f.Due()))
	}
}

// endWriter prints a FarEnd in one format.
type endWriter struct {
	o      Options
	table  csvWriter
	header bool
	avg    *float64
	warned string
}

// sample prints one sample.
func (w *endWriter) sample(v *control.FarView) error {
	w.warn(v)
	if v.Sample.Epoch != 0 {
		avg := v.Line.AvgRX
		w.avg = &avg
	}
	switch w.o.Format {
	case "json":
		return (&jsonWriter{out: w.o.Out}).put(newEnd(v))
	case "csv":
		var text strings.Builder
		rows := csv.NewWriter(&text)
		s := newEnd(v)
		if !w.header {
			w.header = true
			rows.Write(w.table.columns(reflect.TypeOf(s), "")) // to memory: no error
		}
		rows.Write(w.table.cells(reflect.ValueOf(s), nil))
		rows.Flush()
		_, err := io.WriteString(w.o.Out, text.String())
		return err
	}
	if v.Sample.Epoch == 0 {
		return nil // frames began or ceased in it: the line would lie
	}
	_, err := io.WriteString(w.o.Out, v.Line.String()+"\n")
	return err
}

// warn says on the log what has newly gone wrong, and who was refused: never more than a line a sample, whatever a peer does.
func (w *endWriter) warn(v *control.FarView) {
	if w.o.Log == nil {
		return
	}
	text := ""
	if n := v.Visits.WrongKey + v.Visits.Refused; n > 0 {
		text = fmt.Sprintf("far: connections refused so far: %d, of them for another key: %d", n, v.Visits.WrongKey)
	}
	if text != "" && text != w.warned {
		w.warned = text
		fmt.Fprintf(w.o.Log, "%s %s\n", v.Sample.At.Format(clock), text)
	}
}

// end prints the last sample if it is a whole one, and the summary, and returns why it is the end where that is a failure.
func (w *endWriter) end(v *control.FarView, whole bool, failure error) error {
	if whole {
		if err := w.sample(v); err != nil {
			return quietly(err)
		}
	}
	s := newEnd(v)
	result := endResult(v, failure)
	var err error
	switch w.o.Format {
	case "json":
		err = (&jsonWriter{out: w.o.Out}).put(endSummaryJSON{
			Type: "summary", T: s.T, ElapsedS: s.ElapsedS, RxPackets: v.Arrived, AvgPPS: w.avg, Ladder: s.Ladder, Receiver: s.Receiver, Sink: s.Sink,
			Error: word(textOf(failure)), Result: result,
		})
	case "csv":
		if w.o.Log != nil {
			fmt.Fprintln(w.o.Log, result)
		}
	default:
		_, err = io.WriteString(w.o.Out, result+"\n")
	}
	if err != nil {
		return quietly(err)
	}
	return failure
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// endResult is the end in words: what arrived, and each fault.
func endResult(v *control.FarView, failure error) string {
	arrived := "an unknown number of"
	if v.Arrived != nil {
		arrived = fmt.Sprint(*v.Arrived)
	}
	how := "OK"
	if failure != nil {
		how = "FAILED"
	}
	text := fmt.Sprintf("Sink: %s: %d usec, %s frames arrived", how, v.Sample.Elapsed.Microseconds(), arrived)
	if j := newVerdict(v.Verified, v.Every); j != nil {
		of := ""
		if j.Every > 1 {
			of = fmt.Sprintf(" (of one in %d)", j.Every)
		}
		text += fmt.Sprintf(", %d verified%s, %d lost, %d twice, %d out of order, %d corrupt", j.Verified, of, j.Lost, j.Duplicates, j.Reordered, j.Corrupt)
	}
	for _, g := range v.Gaps {
		text += "\n  " + g
	}
	return text
}

// newEnd is a look at the receiving end as an object.
func newEnd(v *control.FarView) endJSON {
	s := v.Sample
	in := s.Epoch != 0
	gaps := v.Gaps
	if gaps == nil {
		gaps = []string{}
	}
	o := endJSON{
		Type: "sample", T: stamp(s.At), ElapsedS: s.Elapsed.Seconds(), IntervalS: s.Interval.Seconds(), Valid: s.Valid, ErrNS: known(s.ErrNS, s.RX.OK),
		State: "running", TX: endTxJSON{PPS: known(s.TX.PPS, s.TX.OK), Source: s.TxSource},
		RX: endRxJSON{
			Dev: s.RxDev, PPS: known(s.RX.PPS, s.RX.OK), AvgPPS: known(s.RX.Avg, in), NS: s.RX.NS, VarNS: known(s.RX.VarNS, in), Source: v.Source,
		},
		Ladder:   endSteps{Received: v.Received, Dropped: v.Dropped, Arrived: v.Arrived, Gaps: gaps},
		Receiver: newVerdict(v.Verified, v.Every), Sink: newSink(v.Sink),
	}
	if in {
		o.Epoch, o.N = &s.Epoch, &s.N
	}
	if v.Listen != "" {
		o.Far = &visitsJSON{v.Listen, v.Visits.Now, v.Visits.Welcomed, v.Visits.WrongKey, v.Visits.Refused}
	}
	return o
}

func newVerdict(s *receive.Snapshot, every uint32) *verdictJSON {
	if s == nil {
		return nil
	}
	v := &verdictJSON{
		Every: every, Verified: s.Received, Lost: s.Lost(), Duplicates: s.Duplicates, Reordered: s.Reordered, Extent: s.ExtentMax, Corrupt: s.Corrupt, NotSeen: s.NotSeen, Restarts: s.Restarts,
	}
	if s.ForeignOK {
		v.Foreign = &s.Foreign
	}
	return v
}
