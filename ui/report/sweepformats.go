package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"wirespeed/engine/meter"
	"wirespeed/ui/control"
	"wirespeed/ui/plot"
)

// The objects of a sweep. A pointer is null where the figure is not known. Fields may be added, never renamed.
type (
	pointJSON struct {
		Type           string   `json:"type"`
		ElapsedS       float64  `json:"elapsed_s"` // since the sweep began, at the end of this dwell
		Leg            string   `json:"leg"`       // up, down, or again: looking once more for what was found
		Knob           string   `json:"knob"`
		Value          string   `json:"value"`
		X              float64  `json:"x"` // the value as a number, in the sweep's unit
		AskedPPS       *float64 `json:"asked_pps"`
		PPS            *float64 `json:"pps"`
		NS             *float64 `json:"ns"`
		MedianNS       *float64 `json:"median_ns"`
		ErrNS          *float64 `json:"err_ns"` // standard error
		Samples        int      `json:"samples"`
		MeasuredS      float64  `json:"measured_s"`
		RxPPS          *float64 `json:"rx_pps"`
		Percent        *float64 `json:"percent"`
		Behind         bool     `json:"behind"` // fewer leave than asked
		BacklogPackets *float64 `json:"backlog_packets"`
		BacklogShare   *float64 `json:"backlog_share"` // of looks that found frames waiting
		Regime         *string  `json:"regime"`
	}

	findingJSON struct {
		Kind      string   `json:"kind"`
		Leg       *string  `json:"leg"`
		Before    string   `json:"before"`
		After     string   `json:"after"`
		X         float64  `json:"x"`
		PPSBefore *float64 `json:"pps_before"`
		PPSAfter  *float64 `json:"pps_after"`
		NS        float64  `json:"ns"` // after minus before, per packet: positive costs more
		CI95NS    *float64 `json:"ci95_ns"`
		Percent   float64  `json:"percent"`
		Confirmed *bool    `json:"confirmed"` // null where nobody looked again
		Text      string   `json:"text"`
	}

	sweepObject struct {
		Type      string        `json:"type"`
		T         string        `json:"t"`
		Knob      string        `json:"knob"`
		From      string        `json:"from"`
		To        string        `json:"to"`
		Step      *string       `json:"step"` // null where it was chosen
		Unit      string        `json:"unit"`
		Direction string        `json:"direction"`
		DwellS    float64       `json:"dwell_s"`
		Bisect    bool          `json:"bisect"`
		Criterion *string       `json:"criterion"`
		Points    []pointJSON   `json:"points"`
		Findings  []findingJSON `json:"findings"`
		Restored  string        `json:"restored"` // what the knob was put back to
		Ended     *string       `json:"ended"`    // why it ended before its time
	}
)

func newPoint(s *control.Sweep, p control.SweepPoint) pointJSON {
	return pointJSON{
		Type: "point", ElapsedS: p.At.Seconds(), Leg: p.Leg, Knob: s.Knob, Value: p.Text, X: p.X, AskedPPS: p.Asked,
		PPS: known(p.PPS, p.OK), NS: p.NS, MedianNS: p.MedianNS, ErrNS: known(p.ErrNS, p.Samples > 1), Samples: p.Samples,
		MeasuredS: p.Measured.Seconds(), RxPPS: p.RxPPS, Percent: p.Percent, Behind: p.Behind, BacklogPackets: p.Backlog, BacklogShare: p.Waiting,
		Regime: word(p.Regime),
	}
}

// newSweep is a sweep as an object.
func newSweep(s *control.Sweep, at time.Time) sweepObject {
	o := sweepObject{
		Type: "sweep", T: stamp(at), Knob: s.Knob, From: s.From, To: s.To, Step: word(s.Step), Unit: s.Unit, Direction: s.Direction,
		DwellS: s.Dwell.Seconds(), Bisect: s.Bisect, Criterion: word(s.Criterion), Points: []pointJSON{}, Findings: []findingJSON{},
		Restored: s.Restored, Ended: word(s.Ended),
	}
	for _, p := range s.Points {
		o.Points = append(o.Points, newPoint(s, p))
	}
	for _, f := range s.Findings {
		o.Findings = append(o.Findings, findingJSON{
			Kind: f.Kind, Leg: word(f.Leg), Before: f.Before, After: f.After, X: f.X, PPSBefore: known(f.PPSBefore, f.PPSBefore > 0),
			PPSAfter: known(f.PPSAfter, f.PPSAfter > 0), NS: f.NS, CI95NS: f.CI95, Percent: f.Percent, Confirmed: f.Confirmed, Text: f.Text,
		})
	}
	return o
}

// sweepJSON prints a point a line, and the whole at the end.
type sweepJSON struct{ jsonWriter }

func (w *sweepJSON) begin(*control.Sweep) error { return nil }
func (w *sweepJSON) point(s *control.Sweep, p control.SweepPoint) error {
	return w.put(newPoint(s, p))
}
func (w *sweepJSON) end(s *control.Sweep, at time.Time) error { return w.put(newSweep(s, at)) }

// sweepCSV prints a row per point; its columns are those of the JSON object. What was found is in no column: the log has it.
type sweepCSV struct{ out io.Writer }

func (w *sweepCSV) begin(*control.Sweep) error {
	var names []string
	t := reflect.TypeFor[pointJSON]()
	for i := 1; i < t.NumField(); i++ { // all but the type
		names = append(names, t.Field(i).Tag.Get("json"))
	}
	return w.row(names)
}

func (w *sweepCSV) point(s *control.Sweep, p control.SweepPoint) error {
	v := reflect.ValueOf(newPoint(s, p))
	var cells []string
	for i := 1; i < v.NumField(); i++ {
		cells = append(cells, cell(v.Field(i)))
	}
	return w.row(cells)
}

func (w *sweepCSV) end(*control.Sweep, time.Time) error { return nil }

func (w *sweepCSV) row(cells []string) error {
	var text strings.Builder
	c := csv.NewWriter(&text)
	c.Write(cells) // to memory: no error
	c.Flush()
	_, err := io.WriteString(w.out, text.String())
	return err
}

// cell prints a scalar, a null as nothing.
func cell(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	if v.Kind() == reflect.Float64 {
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	}
	return fmt.Sprint(v.Interface())
}

// sweepTable prints lines for people: a row per point, and what was found.
type sweepTable struct{ out io.Writer }

const tableRow = "%-6s %14s %14s %14s %12s %8s %10s %7s %9s\n"

func (w *sweepTable) begin(s *control.Sweep) error {
	_, err := fmt.Fprintf(w.out, tableRow, "", s.Knob, "asked pps", "pps", "ns/packet", "+-", "backlog", "% wire", "regime")
	return err
}

func (w *sweepTable) point(_ *control.Sweep, p control.SweepPoint) error {
	asked, pps := "max", meter.Unknown
	if p.Asked != nil {
		asked = meter.Number(*p.Asked, 0)
	}
	if p.OK {
		pps = meter.Number(p.PPS, 0)
	}
	backlog := figure(p.Backlog, 0)
	if p.Waiting != nil && *p.Waiting > 0 && !p.Standing() {
		backlog += "~" // comes and goes
	}
	_, err := fmt.Fprintf(w.out, tableRow, p.Leg, p.Text, asked, pps, figure(p.NS, 2), meter.Number(p.ErrNS, 2), backlog, figure(p.Percent, 1), orDash(p.Regime))
	return err
}

func orDash(s string) string {
	if s == "" {
		return meter.Unknown
	}
	return s
}

// figure prints what may not be known.
func figure(v *float64, decimals int) string {
	if v == nil {
		return meter.Unknown
	}
	return meter.Number(*v, decimals)
}

func (w *sweepTable) end(s *control.Sweep, _ time.Time) error {
	var b strings.Builder
	if s.Criterion != "" {
		fmt.Fprintf(&b, "criterion: %s\n", s.Criterion)
	}
	for _, f := range s.Findings {
		fmt.Fprintf(&b, "%s\n", f.Text)
	}
	if s.Ended != "" {
		fmt.Fprintf(&b, "ended before its time: %s\n", s.Ended)
	}
	fmt.Fprintf(&b, "%s is %s again\n", s.Knob, s.Restored)
	_, err := io.WriteString(w.out, b.String())
	return err
}

// sweepSVG draws the whole at the end.
type sweepSVG struct{ out io.Writer }

func (w *sweepSVG) begin(*control.Sweep) error                     { return nil }
func (w *sweepSVG) point(*control.Sweep, control.SweepPoint) error { return nil }
func (w *sweepSVG) end(s *control.Sweep, _ time.Time) error        { return plot.SVG(w.out, sweepChart(s)) }

// sweepChart is pps and ns per packet over the knob.
func sweepChart(s *control.Sweep) plot.Chart {
	axis := s.Knob
	if s.Unit != "" {
		axis += ", " + s.Unit
	}
	if s.Unit == "" && s.Knob == "size" {
		axis += ", bytes"
	}
	c := plot.Chart{
		Title: fmt.Sprintf("sweep of %s from %s to %s", s.Knob, s.From, s.To), X: axis,
		Panels: []plot.Panel{{Y: "pps"}, {Y: "ns/packet"}},
	}
	asked := plot.Series{Name: "asked"}
	for _, leg := range []string{control.LegUp, control.LegDown, control.LegAgain} {
		pps, ns := plot.Series{Name: leg, Dots: leg == control.LegAgain || s.Bisect}, plot.Series{Name: leg, Dots: leg == control.LegAgain || s.Bisect}
		for _, p := range s.Points {
			if p.Leg != leg || !p.OK || p.NS == nil {
				continue
			}
			pps.Points = append(pps.Points, plot.Point{X: p.X, Y: p.PPS})
			ns.Points = append(ns.Points, plot.Point{X: p.X, Y: *p.NS, Err: 2 * p.ErrNS})
			if p.Asked != nil && leg != control.LegAgain && s.Knob == "rate" && len(asked.Points) < len(s.Points) {
				asked.Points = append(asked.Points, plot.Point{X: p.X, Y: *p.Asked})
			}
		}
		if len(pps.Points) > 0 {
			c.Panels[0].Series = append(c.Panels[0].Series, pps)
			c.Panels[1].Series = append(c.Panels[1].Series, ns)
		}
	}
	if len(asked.Points) > 0 && !s.Bisect {
		c.Panels[0].Series = append(c.Panels[0].Series, asked)
	}
	for _, f := range s.Findings {
		c.Notes = append(c.Notes, f.Text)
		if f.Kind != control.FindNone && f.Kind != control.FindHysteresis && (f.Confirmed == nil || *f.Confirmed) {
			c.Marks = append(c.Marks, plot.Mark{X: f.X, Text: f.Kind + " " + f.Before + " | " + f.After})
		}
	}
	if s.Ended != "" {
		c.Notes = append(c.Notes, "ended before its time: "+s.Ended)
	}
	return c
}
