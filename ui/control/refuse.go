package control

import (
	"fmt"

	"wirespeed/nic"
	"wirespeed/presets/knob"
)

// refusal is a whole sentence for the operator that callers tell apart with errors.Is.
type refusal struct {
	text string
	kind error
}

func (e *refusal) Error() string        { return e.text }
func (e *refusal) Is(target error) bool { return target == e.kind }

// usage makes an error of kind knob.ErrUsage: exit code 2.
func usage(format string, args ...any) error {
	return &refusal{fmt.Sprintf(format, args...), knob.ErrUsage}
}

// notPermitted makes an error of kind nic.ErrNotPermitted: exit code 3.
func notPermitted(format string, args ...any) error {
	return &refusal{fmt.Sprintf(format, args...), nic.ErrNotPermitted}
}

// atUsage keeps another room's sentence and makes it one of usage.
func atUsage(err error) error { return &located{err: err} }

// located is an error and where the line stands that caused it; it is one of usage, as every wrong line is.
type located struct {
	where string // "file:3", "" nowhere
	err   error
}

func (e *located) Error() string {
	if e.where == "" {
		return e.err.Error()
	}
	return e.where + ": " + e.err.Error()
}
func (e *located) Is(target error) bool { return target == knob.ErrUsage }
func (e *located) Unwrap() error        { return e.err }
