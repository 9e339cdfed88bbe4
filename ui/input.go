package ui

import (
	"unicode"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// input is a line that is typed. (The textinput of bubbles would bring a clipboard that starts programs, and the console
// often runs as root.)
type input struct {
	text []rune
	at   int
	// whole is set while the given text stands untouched: the first character typed replaces it.
	whole bool
}

const longestInput = 1000

// given begins with a text that typing replaces.
func given(s string) input {
	t := []rune(clean(s))
	return input{text: t, at: len(t), whole: len(t) > 0}
}

func (in *input) String() string { return string(in.text) }

func (in *input) set(s string) {
	in.text = []rune(clean(s))
	in.at, in.whole = len(in.text), false
}

// update takes a key and says whether the text has changed.
func (in *input) update(msg tea.KeyMsg, k KeyMap) bool {
	n := len(in.text)
	switch {
	case key.Matches(msg, k.Left):
		in.at = max(in.at-1, 0)
	case key.Matches(msg, k.Right):
		in.at = min(in.at+1, n)
	case key.Matches(msg, k.LineStart):
		in.at = 0
	case key.Matches(msg, k.LineEnd):
		in.at = n
	case key.Matches(msg, k.Backspace):
		in.cut(max(in.at-1, 0), in.at)
	case key.Matches(msg, k.Delete):
		in.cut(in.at, min(in.at+1, n))
	case key.Matches(msg, k.DeleteWord):
		from := in.at
		for from > 0 && unicode.IsSpace(in.text[from-1]) {
			from--
		}
		for from > 0 && !unicode.IsSpace(in.text[from-1]) {
			from--
		}
		in.cut(from, in.at)
	case key.Matches(msg, k.DeleteBefore):
		in.cut(0, in.at)
	case key.Matches(msg, k.DeleteEnd):
		in.cut(in.at, n)
	case msg.Type == tea.KeyRunes && !msg.Alt, msg.Type == tea.KeySpace:
		if in.whole {
			in.text, in.at = nil, 0
		}
		in.insert([]rune(clean(string(msg.Runes))))
	default:
		return false
	}
	in.whole = false
	return true
}

func (in *input) insert(t []rune) {
	t = t[:min(len(t), max(longestInput-len(in.text), 0))]
	in.text = append(in.text[:in.at], append(t, in.text[in.at:]...)...)
	in.at += len(t)
}

func (in *input) cut(from, to int) {
	in.text = append(in.text[:from], in.text[to:]...)
	in.at = from
}

// draw writes the line into what is left of r, the cursor always in sight.
func (in *input) draw(r *row, th *Theme) {
	room := r.max - r.w - 1
	if room < 1 {
		return
	}
	if in.whole {
		r.clip(th.Cursor, in.String(), room, th.Glyphs.Cut)
		return
	}
	from := 0
	for from < in.at && cells(string(in.text[from:in.at])) >= room {
		from++
	}
	under := " "
	rest := ""
	if in.at < len(in.text) {
		under, rest = string(in.text[in.at]), string(in.text[in.at+1:])
	}
	if th.Cursor.on == "" && under == " " {
		under = "_" // no reverse video here
	}
	r.put(th.Strong, string(in.text[from:in.at])).put(th.Cursor, under).put(th.Strong, rest)
}
