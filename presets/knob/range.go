package knob

import (
	"fmt"
	"strconv"
	"strings"

	"wirespeed/engine/frame"
)

// orRange is how the README's table ends where a value may change from frame to frame.
const orRange = "; or changing: `A..B`, with `down`, `random`, `step N`, `per flow`"

// parseRange reads the value of a header field, which may be a range that the frames go through:
//
//	A                  one value
//	A..B               A, A+1 ... B, and from A again, a value for each frame
//	A..B step N        every Nth
//	A..B down          from B to A
//	A..B random        any of them, as often
//	A..B ... per flow  a value for each flow instead of each frame
//
// first is the value of the first frame, r the zero value where there is one only.
func parseRange(name, text string, value func(string) (uint64, error)) (first uint64, r frame.Range, err error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return 0, r, usage("%s needs a value", name)
	}
	from, to, ranged := strings.Cut(words[0], "..")
	if r.From, err = value(from); err != nil {
		return 0, frame.Range{}, err
	}
	if !ranged {
		if len(words) > 1 {
			return 0, frame.Range{}, usage("%s %s: %q is too much: a range is A..B, then down, random, step N, per flow", name, text, words[1])
		}
		return r.From, frame.Range{}, nil
	}
	if r.To, err = value(to); err != nil {
		return 0, frame.Range{}, err
	}
	if r.From >= r.To {
		return 0, frame.Range{}, usage("%s %s: a range goes from the smaller value to the larger: for the other way add down", name, text)
	}
	r.On, r.Step = true, 1
	for rest := words[1:]; len(rest) > 0; {
		switch {
		case rest[0] == "down" && r.Op == frame.Increment:
			r.Op = frame.Decrement
		case rest[0] == "random" && r.Op == frame.Increment && r.Step == 1:
			r.Op = frame.Random
		case rest[0] == "step" && len(rest) > 1 && r.Op != frame.Random:
			if r.Step, err = strconv.ParseUint(rest[1], 10, 32); err != nil || r.Step == 0 {
				return 0, frame.Range{}, usage("%s %s: step %q: a whole number from 1", name, text, rest[1])
			}
			rest = rest[1:]
		case rest[0] == "per" && len(rest) > 1 && rest[1] == "flow":
			r.PerFlow = true
			rest = rest[1:]
		default:
			return 0, frame.Range{}, usage("%s %s: %q: a range is A..B, then down or random, step N, per flow", name, text, rest[0])
		}
		rest = rest[1:]
	}
	if r.Op == frame.Decrement {
		return r.To, r, nil
	}
	return r.From, r, nil
}

// printRange writes a range as parseRange reads it; one is the text where there is none.
func printRange(r frame.Range, one string, value func(uint64) string) string {
	if !r.On {
		return one
	}
	s := value(r.From) + ".." + value(r.To)
	switch r.Op {
	case frame.Decrement:
		s += " down"
	case frame.Random:
		s += " random"
	}
	if r.Step > 1 {
		s += fmt.Sprintf(" step %d", r.Step)
	}
	if r.PerFlow {
		s += " per flow"
	}
	return s
}

// rangeDetail says how many values there are, "" where there is no range.
func rangeDetail(r frame.Range) string {
	if !r.On {
		return ""
	}
	unit := "each frame another"
	if r.PerFlow {
		unit = "each flow its own"
	}
	n := r.To - r.From
	if r.Op != frame.Random && r.Step > 0 {
		n /= r.Step
	}
	return fmt.Sprintf("%s of %s", unit, thousands(float64(n)+1))
}

func decimalText(n uint64) string { return strconv.FormatUint(n, 10) }
