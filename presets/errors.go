package presets

import (
	"fmt"

	"wirespeed/presets/knob"
)

// problemError is a whole line for the user about something in the user's reach: always knob.ErrUsage, and its cause where there is one.
type problemError struct {
	text  string
	cause error
}

func (e *problemError) Error() string        { return e.text }
func (e *problemError) Unwrap() error        { return e.cause }
func (e *problemError) Is(target error) bool { return target == knob.ErrUsage }

func problem(cause error, format string, args ...any) error {
	return &problemError{fmt.Sprintf(format, args...), cause}
}

const maxName = 40

// CheckName says why a name cannot be one, nil if it can: it becomes a file's name and a word of the command language.
func CheckName(name string) error {
	bad := name == "" || len(name) > maxName || !alnum(name[0])
	for i := 0; i < len(name) && !bad; i++ {
		bad = !alnum(name[i]) && name[i] != '-' && name[i] != '_'
	}
	if bad {
		return problem(nil, "preset %q: a name is letters, digits, - and _, at most %d, and begins with a letter or digit", name, maxName)
	}
	return nil
}

func alnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
