package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"wirespeed/presets/knob"
	"wirespeed/ui/control"
)

// Options say how a run is reported.
type Options struct {
	Format string    // line, json or csv
	Out    io.Writer // the format and nothing else; each line is one Write
	Log    io.Writer // events that the format does not carry; nil drops them
}

// Formats are the values of Options.Format.
var Formats = []string{"line", "json", "csv"}

// run is what a report needs of a control.Run.
type run interface {
	Start() error
	Stop() error
	Tick() *control.View
	Last() *control.View
	Due() time.Time
	Done() <-chan struct{}
	News() <-chan struct{}
	Events() []control.Event
	Result() control.Summary
}

var _ run = (*control.Run)(nil)

// writer prints a run in one format. Its errors are the stream's.
type writer interface {
	sample(v *control.View) error
	event(e control.Event) error
	summary(s control.Summary, at time.Time) error
}

// Run starts the run, reports it until it has ended, and returns why it failed, nil if it did not. It ends the run in order when ctx is
// cancelled, and when nobody reads any more (EPIPE): neither is a failure. errors.Is(err, knob.ErrUsage) holds for an unknown format.
func Run(ctx context.Context, r *control.Run, o Options) error { return serve(ctx, r, o) }

func serve(ctx context.Context, r run, o Options) error {
	w, err := newWriter(o)
	if err != nil {
		return err
	}
	if err := r.Start(); err != nil {
		return err
	}
	var seen int
	err = follow(ctx, r, w, &seen)
	stopErr := r.Stop() // no error of its own: the run's failure is in the summary
	if err != nil {
		return quietly(err)
	}
	s, err := finish(r, w, &seen)
	switch {
	case err != nil:
		return quietly(err)
	case s.Err != nil:
		return s.Err
	}
	return stopErr
}

// quietly makes an order of the end of a run whose reader has gone.
func quietly(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return fmt.Errorf("write the report: %w", err)
}

// follow reports until the run has ended or is to end.
func follow(ctx context.Context, r run, w writer, seen *int) error {
	timer := time.NewTimer(time.Until(r.Due()))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.Done():
			return nil
		case <-r.News():
			if err := events(r, w, seen); err != nil {
				return err
			}
		case <-timer.C:
			if v := r.Tick(); v.Fresh {
				if err := w.sample(v); err != nil {
					return err
				}
			}
			timer.Reset(time.Until(r.Due()))
		}
	}
}

// events prints what is newer than the last one seen.
func events(r run, w writer, seen *int) error {
	for _, e := range r.Events() {
		if e.Seq <= *seen {
			continue
		}
		if err := w.event(e); err != nil {
			return err
		}
		*seen = e.Seq
	}
	return nil
}

// finish prints what is left of a run that has ended: the last events, the sample under way and the summary.
func finish(r run, w writer, seen *int) (control.Summary, error) {
	if err := events(r, w, seen); err != nil {
		return control.Summary{}, err
	}
	v := r.Last()
	if v.Fresh {
		if err := w.sample(v); err != nil {
			return control.Summary{}, err
		}
	}
	s := r.Result()
	return s, w.summary(s, v.At)
}

func newWriter(o Options) (writer, error) {
	switch o.Format {
	case "", "line":
		return &lineWriter{out: o.Out, log: o.Log}, nil
	case "json":
		return &jsonWriter{out: o.Out}, nil
	case "csv":
		return &csvWriter{out: o.Out, log: o.Log}, nil
	}
	return nil, unknownFormat(o.Format)
}

// unknownFormat is a usage error of one line.
type unknownFormat string

func (f unknownFormat) Error() string {
	return fmt.Sprintf("format %q: use line, json or csv", string(f))
}

func (f unknownFormat) Is(target error) bool { return target == knob.ErrUsage }

// clock is how events are stamped on the log.
const clock = "15:04:05"

// logEvent prints an event for people. What ends the run is left to the error that Run returns.
func logEvent(log io.Writer, e control.Event) {
	if log == nil || e.Fatal {
		return
	}
	fmt.Fprintf(log, "%s %s\n", e.At.Format(clock), e.Text) // a closed log is nobody's loss
}
