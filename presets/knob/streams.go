package knob

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"wirespeed/engine"
)

// Several streams in one run are knobs of a family: stream[NAME] says in what a stream differs from the frame that the other knobs describe, as a
// line of knobs with semicolons between. It is kept as text, and made anew when another knob is turned.

const (
	streamForm   = "stream[NAME]"
	streamValues = "knobs of the frame, `weight N` or `rate RATE`, with `;` between: `size 594; dst-port 5060; weight 4`; or `off`"
	streamHelp   = "one of several streams in the run: in what it differs from the other knobs; all have weights, or all have rates"
)

var streamName = regexp.MustCompile(`^stream\[([A-Za-z0-9_-]{1,20})\]$`)

// streamKnob is the knob of one stream.
func streamKnob(knobName string) (Knob, bool) {
	m := streamName.FindStringSubmatch(knobName)
	if m == nil {
		return Knob{}, false
	}
	name := m[1]
	return Knob{
		Name: knobName, Group: Stream, Help: streamHelp, Default: "none", Values: streamValues, Family: true, words: []string{"off"},
		reason: ofFile,
		get: func(b *Bench) string {
			if i := indexOf(b.Config.Streams, name); i >= 0 {
				return b.Config.Streams[i].Set
			}
			return "off"
		},
		set: func(b *Bench, text string) error {
			list := slices.Clone(b.Config.Streams)
			i := indexOf(list, name)
			if text == "off" {
				if i >= 0 {
					list = slices.Delete(list, i, i+1)
				}
				if len(list) == 0 {
					list = nil
				}
				b.Config.Streams = list
				return nil
			}
			s, err := makeStream(b, name, text)
			if err != nil {
				return err
			}
			if i >= 0 {
				list[i] = s
			} else { // by name, so that what is saved is the same again
				i, _ = slices.BinarySearchFunc(list, name, func(s engine.Stream, name string) int { return strings.Compare(s.Name, name) })
				list = slices.Insert(list, i, s)
			}
			b.Config.Streams = list
			return nil
		},
		detail: func(b *Bench) string {
			i := indexOf(b.Config.Streams, name)
			if i < 0 {
				return ""
			}
			own := *b
			own.Config = alone(b.Config, b.Config.Streams[i])
			return sizeDetail(&own)
		},
	}, true
}

func indexOf(list []engine.Stream, name string) int {
	return slices.IndexFunc(list, func(s engine.Stream) bool { return s.Name == name })
}

// alone is a configuration that sends one of its streams only.
func alone(c engine.Config, s engine.Stream) engine.Config {
	c.Frame, c.Streams, c.Load = s.Frame, nil, nil
	return c
}

// makeStream reads what makes a stream differ.
func makeStream(b *Bench, name, text string) (engine.Stream, error) {
	s := engine.Stream{Name: name, Weight: 1}
	own := *b
	own.Config.Streams, own.Config.Load = nil, nil
	var set []string
	for part := range strings.SplitSeq(text, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		word, value, _ := strings.Cut(part, " ")
		value = strings.TrimSpace(value)
		now, err := turnStream(&s, &own, word, value)
		if err != nil {
			return s, At("stream["+name+"]", err)
		}
		set = append(set, word+" "+now)
	}
	if len(set) == 0 {
		set = []string{"weight 1"}
	}
	s.Set, s.Frame = strings.Join(set, "; "), own.Config.Frame
	return s, nil
}

// turnStream turns one knob of a stream and returns the value as it is printed.
func turnStream(s *engine.Stream, own *Bench, word, value string) (string, error) {
	switch word {
	case "weight":
		n, err := number("weight", value, 1, 1<<16)
		s.Weight = uint64(n)
		return strconv.Itoa(n), err
	case "rate":
		r, err := engine.ParseRate(value)
		if err != nil {
			return "", refused(err)
		}
		s.Rate = &r
		return r.String(), nil
	}
	k, err := Find(word)
	if err != nil {
		return "", err
	}
	if k.Group != Headers && k.Name != "size" {
		return "", usage("%s is not for one stream: size, the knobs of the headers, weight and rate are", word)
	}
	if value == "" {
		return "", usage("%s needs a value: %s", k.Name, strings.ReplaceAll(k.Values, "`", ""))
	}
	if err := k.try(own, value); err != nil {
		return "", err
	}
	return k.get(own), nil
}

// restream makes the streams of b anew, after another knob was turned.
func restream(b *Bench) error {
	if len(b.Config.Streams) == 0 {
		return nil
	}
	list := slices.Clone(b.Config.Streams)
	for i, s := range list {
		var err error
		if list[i], err = makeStream(b, s.Name, s.Set); err != nil {
			return err
		}
	}
	b.Config.Streams = list
	return nil
}
