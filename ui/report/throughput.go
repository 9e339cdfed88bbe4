package report

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"wirespeed/engine/meter"
	"wirespeed/presets/knob"
	"wirespeed/ui/control"
	"wirespeed/ui/plot"
)

// The objects of a throughput test. A pointer is null where the figure is not known. Sizes are with FCS, as RFC 2544 has them.
type (
	trialJSON struct {
		Type     string   `json:"type"`
		Size     int      `json:"size_fcs"`
		AskedPPS *float64 `json:"asked_pps"` // null is as fast as it goes
		TookS    float64  `json:"took_s"`
		Offered  uint64   `json:"offered"` // frames that left
		PPS      float64  `json:"pps"`     // at which they left
		Arrived  *uint64  `json:"arrived"`
		Lost     *uint64  `json:"lost"`
		LossPct  *float64 `json:"loss_percent"`
		Receiver uint64   `json:"receiver_dropped"` // by the receiver's own machine: no loss of what is tested
		Verdict  string   `json:"verdict"`
	}

	resultJSON struct {
		Size     int         `json:"size_fcs"`
		LinePPS  *float64    `json:"line_pps"`
		MostPPS  *float64    `json:"most_pps"` // as fast as the sender goes
		PPS      *float64    `json:"pps"`      // the highest rate without loss
		BpsL1    *float64    `json:"bps_l1"`
		BpsL2    *float64    `json:"bps_l2"`
		Percent  *float64    `json:"percent"` // of the line rate
		Limit    *string     `json:"limit"`   // what keeps it from more
		Longest  *uint64     `json:"back_to_back"`
		AtLeast  bool        `json:"back_to_back_at_least"`
		Curve    []trialJSON `json:"loss_curve"`
		Skipped  *string     `json:"skipped"`
		Complete bool        `json:"complete"`
		Text     string      `json:"text"`
	}

	throughputJSON struct {
		Type       string       `json:"type"`
		T          string       `json:"t"`
		Sender     string       `json:"sender"`
		Receiver   string       `json:"receiver"`
		TrialS     float64      `json:"trial_s"`
		Tolerance  float64      `json:"tolerance_percent"`
		Resolution float64      `json:"resolution_percent"`
		Results    []resultJSON `json:"results"`
		Ended      *string      `json:"ended"` // why before its time
	}
)

// throughputs is what a report of a throughput test needs of a control.Run.
type throughputs interface {
	Throughput(ctx context.Context, spec control.ThroughputSpec, tell func(control.Trial)) (*control.Throughput, error)
	Events() []control.Event
}

var _ throughputs = (*control.Run)(nil)

// Throughput makes the test and reports it: CSV and JSON a line per trial as it goes, table and SVG at the end. Cancelling ctx ends it in order: what
// is known by then is reported, and that is no failure. errors.Is(err, knob.ErrUsage) for an unknown format and for a test that cannot be made.
func Throughput(ctx context.Context, r *control.Run, spec control.ThroughputSpec, o Options) error {
	return throughput(ctx, r, spec, o)
}

func throughput(ctx context.Context, r throughputs, spec control.ThroughputSpec, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var writeErr error
	var w func(control.Trial) error
	switch o.Format {
	case "", "table", "svg":
		w = func(control.Trial) error { return nil }
	case "csv":
		w = trialRows(o.Out)
	case "json":
		w = func(t control.Trial) error { return (&jsonWriter{out: o.Out}).put(newTrial(t)) }
	default:
		return unknownThroughputFormat(o.Format)
	}
	result, err := r.Throughput(ctx, spec, func(t control.Trial) {
		if o.Log != nil {
			fmt.Fprintln(o.Log, trialWords(t)) // a closed log is nobody's loss
		}
		if writeErr == nil {
			if writeErr = w(t); writeErr != nil {
				cancel() // nobody reads: it ends in order
			}
		}
	})
	if writeErr == nil && result != nil && len(result.Sizes) > 0 {
		switch o.Format {
		case "", "table":
			_, writeErr = io.WriteString(o.Out, table(result))
		case "json":
			writeErr = (&jsonWriter{out: o.Out}).put(newThroughput(result, time.Now()))
		case "svg":
			writeErr = plot.SVG(o.Out, picture(result))
		}
	}
	if writeErr != nil {
		return quietly(writeErr)
	}
	return err
}

type unknownThroughputFormat string

func (f unknownThroughputFormat) Error() string {
	return fmt.Sprintf("format %q: throughput has table, csv, json and svg", string(f))
}

func (f unknownThroughputFormat) Is(target error) bool { return target == knob.ErrUsage }

// trialRows prints a row per trial; the columns are those of the JSON object.
func trialRows(out io.Writer) func(control.Trial) error {
	var w csvWriter
	header := false
	return func(t control.Trial) error {
		var text strings.Builder
		rows := csv.NewWriter(&text)
		o := newTrial(t)
		if !header {
			header = true
			rows.Write(w.columns(reflect.TypeOf(o), "")) // to memory: no error
		}
		rows.Write(w.cells(reflect.ValueOf(o), nil))
		rows.Flush()
		_, err := io.WriteString(out, text.String())
		return err
	}
}

func newTrial(t control.Trial) trialJSON {
	o := trialJSON{
		Type: "trial", Size: t.Size, AskedPPS: known(t.Asked, t.Asked > 0), TookS: t.Took.Seconds(), Offered: t.Offered, PPS: t.PPS, Arrived: t.Arrived,
		Receiver: t.Receiver, Verdict: t.Verdict(0),
	}
	if t.Arrived != nil {
		lost := t.Lost
		share := 100 * t.LossShare()
		o.Lost, o.LossPct = &lost, &share
	}
	return o
}

func newThroughput(t *control.Throughput, at time.Time) throughputJSON {
	o := throughputJSON{
		Type: "throughput", T: stamp(at), Sender: t.Sender, Receiver: t.Receiver, TrialS: t.Trial.Seconds(), Tolerance: 100 * t.Tolerance,
		Resolution: 100 * t.Resolution, Results: []resultJSON{}, Ended: word(t.Ended),
	}
	for _, s := range t.Sizes {
		r := resultJSON{
			Size: s.Size, LinePPS: known(s.Line, s.Line > 0), MostPPS: known(s.Most.PPS, s.Most.Offered > 0), Limit: word(s.Limit), AtLeast: s.AtLeast,
			Curve: []trialJSON{}, Skipped: word(s.Skipped), Complete: s.Complete(), Text: s.Words(),
		}
		if s.Best != nil {
			pps := s.Best.PPS
			l1, l2 := bits(s)
			r.PPS, r.BpsL1, r.BpsL2 = &pps, &l1, &l2
			r.Percent = known(100*pps/s.Line, s.Line > 0)
		}
		if s.Complete() && s.Skipped == "" {
			r.Longest = &s.Longest
		}
		for _, c := range s.Curve {
			r.Curve = append(r.Curve, newTrial(c))
		}
		o.Results = append(o.Results, r)
	}
	return o
}

// bits is the rate of the best trial in bit/s, with preamble and gap, and without.
func bits(s *control.SizeResult) (l1, l2 float64) {
	return s.Best.PPS * 8 * float64(s.Size+20), s.Best.PPS * 8 * float64(s.Size)
}

// trialWords is a trial in a line, for the log.
func trialWords(t control.Trial) string {
	asked := "max"
	if t.Asked > 0 {
		asked = meter.Number(t.Asked, 0) + " pps"
	}
	text := fmt.Sprintf("%4d B  asked %s: %s pps left, %s lost of %s: %s", t.Size, asked, meter.Number(t.PPS, 0), meter.Thousands(t.Lost),
		meter.Thousands(t.Offered), t.Verdict(0))
	if t.Receiver > 0 {
		text += fmt.Sprintf(" (%s dropped by the receiver's own machine)", meter.Thousands(t.Receiver))
	}
	if t.Why != "" {
		text += "; " + t.Why
	}
	return text
}

const throughputRow = "%8s %14s %14s %10s %10s %16s  %s\n"

// table is the result for people.
func table(t *control.Throughput) string {
	var b strings.Builder
	fmt.Fprintf(&b, "throughput %s -> %s, RFC 2544: trials of %v, up to %s %% of the frames may be lost, rates to %s %% of the highest\n",
		t.Sender, t.Receiver, t.Trial, meter.Number(100*t.Tolerance, 3), meter.Number(100*t.Resolution, 1))
	fmt.Fprintf(&b, throughputRow, "size fcs", "sent pps", "loss-free pps", "Mbit/s L1", "% of line", "back-to-back", "")
	for _, s := range t.Sizes {
		cells := [5]string{meter.Unknown, meter.Unknown, meter.Unknown, meter.Unknown, meter.Unknown}
		if s.Most.Offered > 0 {
			cells[0] = meter.Number(s.Most.PPS, 0)
		}
		if s.Best != nil {
			l1, _ := bits(s)
			cells[1], cells[2] = meter.Number(s.Best.PPS, 0), meter.Number(l1/1e6, 1)
			if s.Line > 0 {
				cells[3] = meter.Number(100*s.Best.PPS/s.Line, 1)
			}
		}
		if s.Complete() && s.Skipped == "" {
			cells[4] = meter.Thousands(s.Longest)
			if s.AtLeast {
				cells[4] = ">= " + cells[4]
			}
		}
		fmt.Fprintf(&b, throughputRow, fmt.Sprint(s.Size), cells[0], cells[1], cells[2], cells[3], cells[4], s.Words())
	}
	b.WriteString("frame loss, % of what left, by share of the highest rate\n")
	for _, s := range t.Sizes {
		if len(s.Curve) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%8d", s.Size)
		for i, c := range s.Curve {
			fmt.Fprintf(&b, "  %d%%: %s", 100-10*i, meter.Number(100*c.LossShare(), 3))
		}
		b.WriteString("\n")
	}
	if t.Ended != "" {
		fmt.Fprintf(&b, "ended before its time: %s\n", t.Ended)
	}
	return b.String()
}

// picture draws the result over the sizes.
func picture(t *control.Throughput) plot.Chart {
	free := plot.Series{Name: "without loss"}
	most := plot.Series{Name: "sent at most", Dots: true}
	line := plot.Series{Name: "line rate"}
	rate := plot.Series{Name: "without loss"}
	loss := plot.Series{Name: "lost at the highest rate"}
	notes := []string{fmt.Sprintf("trials of %v, RFC 2544 sections 26.1, 26.3 and 26.4", t.Trial)}
	for _, s := range t.Sizes {
		x := float64(s.Size)
		if s.Line > 0 {
			line.Points = append(line.Points, plot.Point{X: x, Y: s.Line})
		}
		if s.Most.Offered > 0 {
			most.Points = append(most.Points, plot.Point{X: x, Y: s.Most.PPS})
			loss.Points = append(loss.Points, plot.Point{X: x, Y: 100 * s.Most.LossShare()})
		}
		if s.Best != nil {
			l1, _ := bits(s)
			free.Points = append(free.Points, plot.Point{X: x, Y: s.Best.PPS})
			rate.Points = append(rate.Points, plot.Point{X: x, Y: l1 / 1e6})
		}
		notes = append(notes, fmt.Sprintf("%d B: %s", s.Size, s.Words()))
	}
	if t.Ended != "" {
		notes = append(notes, "ended before its time: "+t.Ended)
	}
	pps := plot.Panel{Y: "pps", FromZero: true, Series: []plot.Series{free, most}}
	if len(line.Points) > 0 {
		pps.Series = append(pps.Series, line)
	}
	return plot.Chart{
		Title: fmt.Sprintf("throughput %s -> %s", t.Sender, t.Receiver), X: "bytes of a frame with FCS",
		Panels: []plot.Panel{
			pps,
			{Y: "Mbit/s L1", FromZero: true, Series: []plot.Series{rate}},
			{Y: "% lost", FromZero: true, Series: []plot.Series{loss}},
		},
		Notes: notes,
	}
}
