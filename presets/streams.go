package presets

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"wirespeed/presets/knob"
)

// streams reads the tables [[stream]], each of them a stream of its own in the run: a name, weight or rate, and the knobs in which it differs. They are
// the knobs stream[NAME] in another form, and kept as these.
func (d *decoder) streams(value any) []knob.Setting {
	tables, ok := value.([]any)
	if !ok {
		d.fail("stream", "stream must be tables: [[stream]], then name = \"voice\" and the knobs of the stream")
		return nil
	}
	var out []knob.Setting
	for i, v := range tables {
		at := "stream." + strconv.Itoa(i)
		table, ok := v.(map[string]any)
		if !ok {
			d.fail(at, "a stream must be a table: [[stream]]")
			continue
		}
		name, ok := table["name"].(string)
		full := "stream[" + name + "]"
		if _, err := knob.Find(full); !ok || err != nil {
			d.fail(at, "a stream needs a name of letters, digits and hyphens: name = \"voice\"")
			continue
		}
		if slices.ContainsFunc(out, func(s knob.Setting) bool { return s.Knob == full }) {
			d.fail(at, "there are two streams named %s", name)
		}
		out = append(out, knob.Setting{Knob: full, Value: d.parts(at, table)})
	}
	slices.SortFunc(out, func(a, b knob.Setting) int { return strings.Compare(a.Knob, b.Knob) }) // as they are kept
	return out
}

// parts are the knobs of one stream as a line.
func (d *decoder) parts(at string, table map[string]any) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if key == "name" {
			continue
		}
		where := at + "." + key
		if _, err := knob.Find(key); err != nil && key != "weight" {
			d.fail(where, "%v", err)
		}
		var text string
		switch v := table[key].(type) {
		case string:
			text = strings.TrimSpace(v)
		case int64:
			text = strconv.FormatInt(v, 10)
		}
		if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r == ';' || unicode.IsControl(r) }) {
			d.fail(where, "%s must be text in quotes on one line, without a semicolon, or a whole number", key)
		}
		parts = append(parts, fmt.Sprintf("%s %s", key, text))
	}
	if len(parts) == 0 {
		return "weight 1"
	}
	return strings.Join(parts, "; ")
}
