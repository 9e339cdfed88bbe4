package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"wirespeed/engine"
	"wirespeed/presets/knob"
	"wirespeed/ui/control"
)

// SweepFormats are the values of Options.Format for a sweep.
var SweepFormats = []string{"table", "csv", "json", "svg"}

// sweeping is what a report of a sweep needs of a control.Run.
type sweeping interface {
	run
	Sweep(ctx context.Context, spec knob.Sweep) (*control.Sweep, error)
}

var _ sweeping = (*control.Run)(nil)

// sweepWriter prints a sweep in one format. Its errors are the stream's.
type sweepWriter interface {
	begin(s *control.Sweep) error
	point(s *control.Sweep, p control.SweepPoint) error
	end(s *control.Sweep, at time.Time) error
}

// Sweep starts the run, goes through a sweep and reports it: table, CSV and JSON as it goes, with what was found at the end, SVG at the end. It ends in
// order when ctx is cancelled (the knob is put back, what there is by then is reported, and that is no failure), and when nobody reads any more. The
// error is why the sweep or the run failed. errors.Is(err, knob.ErrUsage) for an unknown format, and for a sweep that cannot be.
func Sweep(ctx context.Context, r *control.Run, spec knob.Sweep, o Options) error {
	return serveSweep(ctx, r, spec, o)
}

const sweepLook = 100 * time.Millisecond

func serveSweep(ctx context.Context, r sweeping, spec knob.Sweep, o Options) error {
	w, err := newSweepWriter(o)
	if err != nil {
		return err
	}
	if err := r.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		sweep *control.Sweep
		err   error
	}
	over := make(chan outcome, 1)
	engine.Spawn(func() {
		s, err := r.Sweep(ctx, spec)
		over <- outcome{s, err}
	})
	var writeErr error
	seen, points, begun := 0, 0, false
	show := func(s *control.Sweep) {
		if s == nil || writeErr != nil {
			return
		}
		if !begun {
			begun = true
			writeErr = w.begin(s)
		}
		for ; points < len(s.Points) && writeErr == nil; points++ {
			writeErr = w.point(s, s.Points[points])
		}
		if writeErr != nil {
			cancel() // nobody reads: it ends in order
		}
	}
	ticks := time.NewTicker(sweepLook)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			show(r.Tick().Sweep)
			logNew(r, o.Log, &seen)
			continue
		case end := <-over:
			show(end.sweep)
			stopErr := r.Stop()
			logNew(r, o.Log, &seen)
			if end.sweep != nil && writeErr == nil {
				writeErr = w.end(end.sweep, time.Now())
			}
			if _, table := w.(*sweepTable); !table && end.sweep != nil && o.Log != nil {
				for _, f := range end.sweep.Findings {
					fmt.Fprintln(o.Log, f.Text) // a closed log is nobody's loss
				}
			}
			failure := r.Result().Err
			switch {
			case writeErr != nil:
				return quietly(writeErr)
			case failure != nil:
				return failure
			case end.err != nil && !errors.Is(end.err, context.Canceled):
				return end.err
			}
			return stopErr
		}
	}
}

// logNew prints on the log what is new there.
func logNew(r run, log io.Writer, seen *int) {
	for _, e := range r.Events() {
		if e.Seq > *seen {
			logEvent(log, e)
			*seen = e.Seq
		}
	}
}

func newSweepWriter(o Options) (sweepWriter, error) {
	switch o.Format {
	case "", "table":
		return &sweepTable{out: o.Out}, nil
	case "csv":
		return &sweepCSV{out: o.Out}, nil
	case "json":
		return &sweepJSON{jsonWriter{out: o.Out}}, nil
	case "svg":
		return &sweepSVG{out: o.Out}, nil
	}
	return nil, unknownSweepFormat(o.Format)
}

// unknownSweepFormat is a usage error of one line.
type unknownSweepFormat string

func (f unknownSweepFormat) Error() string {
	return fmt.Sprintf("format %q: a sweep has table, csv, json and svg", string(f))
}

func (f unknownSweepFormat) Is(target error) bool { return target == knob.ErrUsage }
