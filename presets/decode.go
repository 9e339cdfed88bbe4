package presets

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"wirespeed/presets/knob"
)

// decode reads a preset strictly. Errors are one line that begins with the file's line and column; of several, the first in the file.
func decode(where string, data []byte) (Preset, error) {
	doc := map[string]any{}
	if err := toml.Unmarshal(data, &doc); err != nil {
		var at *toml.DecodeError
		if !errors.As(err, &at) {
			return Preset{}, problem(nil, "%s: %s", where, oneLine(err))
		}
		line, column := at.Position()
		return Preset{}, problem(nil, "%s:%d:%d: %s", where, line, column, oneLine(err))
	}
	d := decoder{where: where, at: places(data)}
	var p Preset
	var streams []knob.Setting
	for key, value := range doc {
		switch key {
		case "title":
			p.Title = d.title(value)
		case "text":
			p.Text = strings.TrimSpace(d.text(key, value))
		case "needs":
			p.Needs = d.needs(value)
		case "knobs":
			p.Knobs = d.knobs(value)
		case "steps":
			p.Steps = d.steps(value)
		case "stream":
			streams = d.streams(value)
		default:
			d.fail(key, "unknown key %q: use title, text, needs, knobs, stream and steps", key)
		}
	}
	p.Knobs = append(p.Knobs, streams...)
	if len(d.errs) > 0 {
		first := slices.MinFunc(d.errs, func(a, b found) int {
			return cmp.Or(cmp.Compare(a.place.Line, b.place.Line), cmp.Compare(a.place.Column, b.place.Column), cmp.Compare(a.text, b.text))
		})
		return Preset{}, problem(nil, "%s: %s", d.say(first.place), first.text)
	}
	return p, nil
}

// decoder turns values into parts of a preset and gathers what is wrong.
type decoder struct {
	where string
	at    map[string]unstable.Position
	errs  []found
}

// found is something wrong and its place.
type found struct {
	place unstable.Position
	text  string
}

func (d *decoder) say(p unstable.Position) string {
	return fmt.Sprintf("%s:%d:%d", d.where, p.Line, p.Column)
}

func (d *decoder) fail(key, format string, args ...any) {
	d.errs = append(d.errs, found{d.at[key], fmt.Sprintf(format, args...)})
}

func (d *decoder) text(key string, value any) string {
	s, ok := value.(string)
	if !ok {
		d.fail(key, "%s must be text in quotes", key)
	}
	return s
}

func (d *decoder) title(value any) string {
	s := strings.TrimSpace(d.text("title", value))
	if strings.ContainsFunc(s, unicode.IsControl) {
		d.fail("title", "title must be one line of plain text")
	}
	return s
}

func (d *decoder) knobs(value any) []knob.Setting {
	table, ok := value.(map[string]any)
	if !ok {
		d.fail("knobs", "knobs must be a table: [knobs] and a line such as rate = \"10kpps\" for each")
		return nil
	}
	table = dotted(table)
	all := knob.All()
	for _, name := range slices.Sorted(maps.Keys(table)) {
		k, err := knob.Find(name)
		if err != nil {
			d.fail("knobs."+name, "%v", err)
		}
		if k.Family {
			all = append(all, k)
		}
	}
	var out []knob.Setting
	for _, k := range all {
		key := "knobs." + k.Name
		switch v := table[k.Name].(type) {
		case nil:
		case string:
			if v = strings.TrimSpace(v); v == "" || strings.ContainsFunc(v, unicode.IsControl) {
				d.fail(key, "%s must have a value on one line", k.Name)
			}
			out = append(out, knob.Setting{Knob: k.Name, Value: v})
		case int64:
			out = append(out, knob.Setting{Knob: k.Name, Value: strconv.FormatInt(v, 10)})
		default:
			d.fail(key, "%s must be text in quotes or a whole number", k.Name)
		}
	}
	return out
}

// dotted brings tables within back to the knobs that they are: TOML reads rings.tx = 256 as a table rings with a key tx.
func dotted(table map[string]any) map[string]any {
	flat := map[string]any{}
	for name, value := range table {
		within, ok := value.(map[string]any)
		if _, err := knob.Find(name); !ok || err == nil {
			flat[name] = value
			continue
		}
		for key, v := range dotted(within) {
			flat[name+"."+key] = v
		}
	}
	return flat
}

func (d *decoder) needs(value any) []knob.Need {
	list, ok := value.([]any)
	if !ok {
		d.fail("needs", "needs must be a list: [\"speed\", \"receiver\", \"queues 2\", or the name of a knob]")
		return nil
	}
	var out []knob.Need
	for i, v := range list {
		key := "needs." + strconv.Itoa(i)
		s, ok := v.(string)
		if !ok {
			d.fail(key, "a need must be text in quotes")
			continue
		}
		if err := knob.Need(s).Check(); err != nil {
			d.fail(key, "%v: a need is speed, receiver, queues N, cpus N or the name of a knob", err)
		}
		out = append(out, knob.Need(s))
	}
	return out
}

func (d *decoder) steps(value any) []knob.Step {
	lines, ok := value.([]any)
	if !ok {
		d.fail("steps", "steps must be a list: [\"wait 5s\", \"burst 8\"]")
		return nil
	}
	var out []knob.Step
	for i, v := range lines {
		key := "steps." + strconv.Itoa(i)
		line, ok := v.(string)
		if !ok {
			d.fail(key, "a step must be text in quotes")
			continue
		}
		c, err := knob.ParseLine(line)
		if err == nil {
			err = allowed(c)
		}
		switch {
		case err != nil:
			d.fail(key, "%v", err)
		case c.Verb != knob.DoNothing:
			out = append(out, knob.Step{Command: c, Where: d.say(d.at[key])})
		}
	}
	return out
}

// allowed says why a command is no step of a preset.
func allowed(c knob.Command) error {
	switch c.Verb {
	case knob.DoPreset, knob.DoSave, knob.DoHelp, knob.DoQuit:
		return fmt.Errorf("%s is no step of a preset: use knobs, mark, wait, reset, start and stop", c.Verb)
	}
	return nil
}

// oneLine is a TOML error's message alone.
func oneLine(err error) string {
	return strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "toml: ")), " ")
}

// places finds where the keys of a valid document stand: "title", "knobs.rate", and "steps.0" for the elements of a list.
func places(data []byte) map[string]unstable.Position {
	at := map[string]unstable.Position{}
	elements := map[string]int{} // of arrays of tables
	var p unstable.Parser
	p.Reset(data)
	var table []string
	for p.NextExpression() {
		n := p.Expression()
		switch n.Kind {
		case unstable.Table:
			table = note(at, &p, nil, n.Key())
		case unstable.ArrayTable: // each element has a place of its own
			list := note(at, &p, nil, n.Key())
			number := strconv.Itoa(elements[strings.Join(list, ".")])
			elements[strings.Join(list, ".")]++
			table = append(list, number)
			key := n.Key()
			for key.Next() {
				at[strings.Join(table, ".")] = p.Shape(key.Node().Raw).Start
			}
		case unstable.KeyValue:
			noteValue(at, &p, table, n)
		}
	}
	return at
}

// note adds the place of each part of a dotted key and returns the whole.
func note(at map[string]unstable.Position, p *unstable.Parser, path []string, key unstable.Iterator) []string {
	path = slices.Clone(path)
	for key.Next() {
		path = append(path, string(key.Node().Data))
		if name := strings.Join(path, "."); at[name] == (unstable.Position{}) {
			at[name] = p.Shape(key.Node().Raw).Start
		}
	}
	return path
}

func noteValue(at map[string]unstable.Position, p *unstable.Parser, table []string, kv *unstable.Node) {
	path := note(at, p, table, kv.Key())
	value := kv.Value()
	switch value.Kind {
	case unstable.InlineTable:
		for it := value.Children(); it.Next(); {
			noteValue(at, p, path, it.Node())
		}
	case unstable.Array:
		i := 0
		for it := value.Children(); it.Next(); i++ {
			place := at[strings.Join(path, ".")] // a list or table within has no place of its own
			if it.Node().Raw.Length > 0 {
				place = p.Shape(it.Node().Raw).Start
			}
			at[strings.Join(path, ".")+"."+strconv.Itoa(i)] = place
		}
	}
}
