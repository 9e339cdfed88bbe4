package knob

import (
	"slices"
	"strings"
	"time"
)

// Sweep is what the line "sweep KNOB FROM..TO ..." asks for. The ends are texts until there is a device to hold them against (Knob.Axis).
type Sweep struct {
	Knob, From, To, Step string        // Step "": chosen
	Dwell                time.Duration // at each value
	Direction            string        // one of Directions
	Bisect               bool          // look for the edge of a regime instead of at every value
	Stop                 bool          // "sweep stop": end the one under way
}

// Directions are the ways through the values of a sweep.
var Directions = []string{"up", "down", "updown"}

// Bounds of a dwell.
const (
	DefaultDwell = time.Second
	LeastDwell   = 100 * time.Millisecond
	maxDwell     = time.Hour
)

// parseSweep reads the words after sweep.
func parseSweep(c Command, args []string) (Command, error) {
	if len(args) == 1 && args[0] == "stop" {
		c.Sweep.Stop = true
		return c, nil
	}
	if len(args) < 2 {
		return Command{}, usage("sweep needs a knob and its ends: %s", form(DoSweep))
	}
	s := Sweep{Knob: args[0], Dwell: DefaultDwell}
	var ok bool
	if s.From, s.To, ok = strings.Cut(args[1], ".."); !ok || s.From == "" || s.To == "" {
		return Command{}, usage("sweep %s %s: write the ends as FROM..TO: sweep size 60..128", s.Knob, args[1])
	}
	for rest := args[2:]; len(rest) > 0; rest = rest[1:] {
		word := rest[0]
		switch {
		case slices.Contains(Directions, word):
			s.Direction = word
			continue
		case word == "bisect":
			s.Bisect = true
			continue
		case word != "step" && word != "dwell":
			return Command{}, usage("sweep: %q is no word of it: %s", word, form(DoSweep))
		case len(rest) == 1:
			return Command{}, usage("sweep: %s needs a value: %s", word, form(DoSweep))
		}
		rest = rest[1:]
		if word == "step" {
			s.Step = rest[0]
			continue
		}
		d, err := parseTime("sweep: dwell", rest[0])
		if err != nil {
			return Command{}, err
		}
		s.Dwell = d
	}
	if err := s.Complete(); err != nil {
		return Command{}, err
	}
	c.Sweep = s
	return c, nil
}

// Complete checks what can be without a device and fills in the direction: down where the ends were written so.
func (s *Sweep) Complete() error {
	k, err := Find(s.Knob)
	switch {
	case err != nil:
		return err
	case !k.Numeric:
		_, err := k.Axis(nil, s.From, s.To, s.Step)
		return err
	case s.Dwell < LeastDwell || s.Dwell > maxDwell:
		return usage("sweep: dwell %s: %s to %s", s.Dwell, LeastDwell, maxDwell)
	case s.Direction != "" && !slices.Contains(Directions, s.Direction):
		return usage("sweep: direction %q: use %s%s", s.Direction, strings.Join(Directions, ", "), didYouMean(s.Direction, Directions))
	}
	lo, u, err := k.quantity(s.From)
	if err != nil {
		return err
	}
	hi, v, err := k.quantity(s.To)
	switch {
	case err != nil:
		return err
	case u.name != v.name:
		return usage("sweep %s %s..%s: write both ends in one unit", k.Name, s.From, s.To)
	case s.Direction != "":
	case lo.Cmp(hi) > 0:
		s.Direction = "down"
	default:
		s.Direction = "up"
	}
	return nil
}

// parseTime reads a time for a word.
func parseTime(what, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil && strings.Trim(text, "0123456789.") == "":
		return 0, usage("%s %s: the unit is missing: did you mean %ss?", what, text, text)
	case err != nil:
		return 0, usage("%s %q: not a time: use 5s, 500ms or 1m30s", what, text)
	}
	return d, nil
}

// Bounds of a kick.
const (
	defaultKick = 500 * time.Millisecond
	leastKick   = 50 * time.Millisecond
	maxKick     = time.Minute
)

// parseKick reads the time after kick.
func parseKick(c Command, args []string) (Command, error) {
	c.Wait = defaultKick
	if len(args) > 0 {
		d, err := parseTime("kick", args[0])
		switch {
		case err != nil:
			return Command{}, err
		case d < leastKick || d > maxKick:
			return Command{}, usage("kick %s: %s to %s", args[0], leastKick, maxKick)
		}
		c.Wait = d
	}
	return c, only(c, args, 1)
}

// parseDiff reads the two names after diff: two words, or names with blanks and a comma between them.
func parseDiff(c Command, args []string) (Command, error) {
	a, b, comma := strings.Cut(strings.Join(args, " "), ",")
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	switch {
	case len(args) == 0:
		return c, nil
	case comma && a != "" && b != "":
		c.Name, c.Other = a, b
		return c, nil
	case !comma && len(args) == 2:
		c.Name, c.Other = args[0], args[1]
		return c, nil
	}
	return Command{}, usage("diff needs two marks or numbers of epochs: diff A B, or with a comma where a name has blanks: diff burst 1, burst 8")
}
