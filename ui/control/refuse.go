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
