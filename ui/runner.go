package ui

import (
	"strings"

	"wirespeed/nic/check"
	"wirespeed/presets"
	"wirespeed/presets/knob"
	"wirespeed/ui/control"
)

// runner is what the console needs of a run. Its methods may be called from any goroutine, Tick by one at a time.
type runner interface {
	Start() error
	Stop() error
	Tick() *control.View
	Do(line string) (said string, err error)
	Reset()
	Mark(name string) (said string, err error)
	Bench() *knob.Bench
	Check() ([]check.Finding, error) // takes a second
}

var _ runner = (*control.Run)(nil)

// meaning says what a line of the command language would do, or why it is refused. A line that is not whole yet is no
// mistake: it says how it could go on.
func meaning(r runner, line string) (string, error) {
	line = strings.TrimSpace(line)
	if line == "" {
		return "a knob and its value, or " + strings.Join(verbs(), ", "), nil
	}
	if !strings.ContainsAny(line, " \t") {
		if help, err := knob.Help(line); err == nil {
			return help, nil
		}
		if could := knob.Complete(line); len(could) > 0 {
			return strings.Join(could, "  "), nil
		}
	}
	c, err := knob.ParseLine(line)
	if err != nil {
		return "", err
	}
	if c.Verb != knob.DoSet {
		return knob.Help(string(c.Verb))
	}
	k, err := knob.Find(c.Knob)
	if err != nil {
		return "", err
	}
	return k.Check(r.Bench(), c.Value)
}

// verbs are the words of the command language that are not knobs.
func verbs() []string {
	var out []string
	for _, u := range knob.Usages() {
		if u.Verb != knob.DoSet {
			out = append(out, string(u.Verb))
		}
	}
	return out
}

// completions are the lines that a line can become by one more word. Names of presets are read from their files.
func completions(line string) []string { return presets.Complete(line) }

// turned is the value that so many steps further is.
func turned(r runner, name string, steps int, coarse bool) (string, error) {
	k, err := knob.Find(name)
	if err != nil {
		return "", err
	}
	return k.Turn(r.Bench(), steps, coarse), nil
}

// grammar is what a knob takes, in words.
func grammar(name string) string {
	k, err := knob.Find(name)
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(k.Values, "`", "")
}
