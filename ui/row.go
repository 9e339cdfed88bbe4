package ui

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// row is one line of the screen while it is written. It never grows wider than its limit: what does not fit is cut, so
// no text, however long, can break the layout.
type row struct {
	b      strings.Builder
	w, max int
}

// newRow begins a line of at most limit cells.
func newRow(limit int) *row {
	r := &row{max: max(limit, 0)}
	r.b.Grow(2 * r.max)
	return r
}

// put writes s.
func (r *row) put(k ink, s string) *row {
	n := cells(s)
	if n > r.max-r.w {
		if s = dropPart(s, ansi.Truncate(s, r.max-r.w, "")); s == "" {
			return r
		}
		n = cells(s)
	}
	r.raw(k, s)
	r.w += n
	return r
}

// raw writes s without counting it.
func (r *row) raw(k ink, s string) {
	r.b.WriteString(k.on)
	r.b.WriteString(s)
	r.b.WriteString(k.off)
}

// dropPart takes off the end of cut, the beginning of whole, what is only a part of a number: it would read as another number.
func dropPart(whole, cut string) string {
	const digits = "0123456789.,"
	if rest := whole[len(cut):]; rest == "" || !strings.ContainsAny(rest[:1], digits) {
		return cut
	}
	return strings.TrimRight(cut, digits)
}

// clip writes s in at most n cells and shows with the cut sign where something is missing.
func (r *row) clip(k ink, s string, n int, cut string) *row {
	return r.put(k, ansi.Truncate(s, max(min(n, r.max-r.w), 0), cut))
}

// right writes s at the right of a field of n cells.
func (r *row) right(k ink, s string, n int) *row {
	return r.pad(r.w+n-cells(s)).put(k, s)
}

// pad fills with blanks up to column col.
func (r *row) pad(col int) *row {
	if n := min(col, r.max) - r.w; n > 0 {
		r.b.WriteString(blanks(n))
		r.w += n
	}
	return r
}

// String returns the line as far as it was written.
func (r *row) String() string { return r.b.String() }

// full returns the line filled with blanks to its limit, for what stands left of something else.
func (r *row) full() string { return r.pad(r.max).String() }

const manyBlanks = "                                                                                                                                "

func blanks(n int) string {
	if n <= len(manyBlanks) {
		return manyBlanks[:max(n, 0)]
	}
	return strings.Repeat(" ", n)
}

// cells is the width of a text; escape sequences have none. Letters and the signs we draw with are counted here, all else
// is left to the tables of x/ansi.
func cells(s string) int {
	n := 0
	for _, c := range s {
		switch {
		case c >= ' ' && c < 0x7f, c >= 0x2500 && c <= 0x259f, c > 0x2800 && c <= 0x28ff:
			n++
		default:
			return ansi.StringWidth(s)
		}
	}
	return n
}

// clean takes everything out of a foreign text that could move the cursor or hide what it says: control characters,
// escape sequences, direction marks. What is not UTF-8 becomes "?".
func clean(s string) string {
	plain := true
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	s = ansi.Strip(strings.ToValidUTF8(s, "?"))
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\t' || c == '\n' || c == '\r':
			return ' '
		case unicode.IsControl(c), unicode.Is(unicode.Cf, c), c == '\u2028', c == '\u2029':
			return -1
		}
		return c
	}, s)
}

// beside puts two blocks next to each other. The rows of left are filled to its width w.
func beside(left []string, w int, right []string) []string {
	out := make([]string, max(len(left), len(right)))
	for i := range out {
		l, r := blanks(w), ""
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		out[i] = l + r
	}
	return out
}
