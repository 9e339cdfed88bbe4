package report

import (
	"fmt"
	"io"
	"time"

	"wirespeed/ui/control"
)

// lineWriter prints the classic lines.
type lineWriter struct{ out, log io.Writer }

func (w *lineWriter) sample(v *control.View) error {
	if v.Sample.Epoch == 0 {
		return nil // it mixes two regimes, or is invalid: the line would lie
	}
	text := v.Line.String() + "\n"
	if warning := v.Line.Warning(); warning != "" {
		text += warning + "\n"
	}
	_, err := io.WriteString(w.out, text)
	return err
}

func (w *lineWriter) event(e control.Event) error {
	logEvent(w.log, e)
	return nil
}

func (w *lineWriter) summary(s control.Summary, _ time.Time) error {
	if _, err := io.WriteString(w.out, s.Result+"\n"); err != nil {
		return err
	}
	if w.log == nil {
		return nil
	}
	for _, line := range s.Kept() { // no part of the format
		fmt.Fprintln(w.log, "wirespeed:", line)
	}
	return nil
}
