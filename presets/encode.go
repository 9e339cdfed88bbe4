package presets

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Marshal writes a preset as its file. It is the same for the same preset, and what it writes decodes to that preset again.
func Marshal(p Preset) []byte {
	var b strings.Builder
	if p.Title != "" {
		fmt.Fprintf(&b, "title = %s\n", quote(p.Title))
	}
	if text := strings.TrimSpace(p.Text); text != "" {
		fmt.Fprintf(&b, "text = \"\"\"\n%s\n\"\"\"\n", escape(text, true))
	}
	if len(p.Needs) > 0 {
		var words []string
		for _, n := range p.Needs {
			words = append(words, quote(string(n)))
		}
		b.WriteString("needs = [" + strings.Join(words, ", ") + "]\n")
	}
	if len(p.Steps) > 0 {
		b.WriteString("steps = [\n")
		for _, s := range p.Steps {
			fmt.Fprintf(&b, "  %s,\n", quote(s.Line))
		}
		b.WriteString("]\n")
	}
	if len(p.Knobs) > 0 {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("[knobs]\n")
		for _, k := range p.Knobs {
			fmt.Fprintf(&b, "%s = %s\n", key(k.Knob), quote(k.Value))
		}
	}
	return []byte(b.String())
}

// key is a knob's name as a key: bare, or in quotes where it is not letters, digits and hyphens alone.
func key(name string) string {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == "" {
		return name
	}
	return quote(name)
}

// quote is a TOML basic string.
func quote(s string) string { return `"` + escape(s, false) + `"` }

// escape writes what a TOML basic string may hold (toml.io/en/v1.0.0#string); with lines, newlines stay.
func escape(s string, lines bool) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && strings.IndexByte(s[i:], 0xef) != 0:
			b.WriteByte(s[i]) // no UTF-8: left for decode to refuse
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n' && lines:
			b.WriteRune(r)
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
