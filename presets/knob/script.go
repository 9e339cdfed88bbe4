package knob

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Step is one command of a script or a preset and where it stands.
type Step struct {
	Command
	Where string // "lab.txt:3", "" typed
}

// maxLine is the longest line of a script, in bytes.
const maxLine = 4096

// ParseScript reads a script, one command a line, to its end. The first line that is not understood is an error that names file and line;
// blank lines and comments are no steps.
func ParseScript(name string, r io.Reader) ([]Step, error) {
	var steps []Step
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		where := fmt.Sprintf("%s:%d", name, n)
		c, err := ParseLine(lines.Text())
		if err != nil {
			return nil, At(where, err)
		}
		if c.Verb != DoNothing {
			steps = append(steps, Step{c, where})
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, usage("%s:%d: longer than %d bytes: this is no script", name, n+1, maxLine)
	case err != nil:
		return nil, fmt.Errorf("read script %s: %w", name, err)
	}
	return steps, nil
}

// At says where an error stands. An empty where leaves it as it is.
func At(where string, err error) error {
	if where == "" {
		return err
	}
	return fmt.Errorf("%s: %w", where, err)
}

// Check says why a command cannot be carried out on a bench, nil if it can. Nothing changes.
func (c Command) Check(b *Bench) error {
	try := *b
	return c.rehearse(&try)
}

// Rehearse tries all steps in order on a copy of the bench, so that a script is refused before its first frame: the error names the step's
// place. load gives the knobs and steps of a preset that a step names; nil refuses such steps.
func Rehearse(b *Bench, steps []Step, load func(name string) ([]Setting, []Step, error)) error {
	try := *b
	for _, s := range steps {
		if s.Verb != DoPreset {
			if err := s.rehearse(&try); err != nil {
				return At(s.Where, err)
			}
			continue
		}
		if load == nil {
			return At(s.Where, usage("a preset cannot call another"))
		}
		settings, more, err := load(s.Name)
		if err != nil {
			return At(s.Where, err)
		}
		try.Apply, try.SetNIC = nil, nil
		if _, err := SetAll(&try, settings); err != nil {
			return At(s.Where, err)
		}
		if err := Rehearse(&try, more, nil); err != nil {
			return At(s.Where, err)
		}
		// The steps of the preset go on while later lines of the script run: what they turn is not known then.
	}
	return nil
}

// rehearse turns the knob of a command on a bench that nobody else has.
func (c Command) rehearse(try *Bench) error {
	if c.Verb == DoSweep && !c.Sweep.Stop {
		k, err := Find(c.Sweep.Knob)
		if err != nil {
			return err
		}
		_, err = k.Axis(try, c.Sweep.From, c.Sweep.To, c.Sweep.Step)
		return err
	}
	if c.Verb != DoSet {
		return nil
	}
	k, err := Find(c.Knob)
	if err != nil {
		return err
	}
	try.Apply, try.SetNIC = nil, nil
	_, err = k.Set(try, c.Value)
	return err
}
