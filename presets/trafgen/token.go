package trafgen

import (
	"encoding/hex"
	"net/netip"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// token is a word of the packet language.
type token struct {
	kind   tokenKind
	text   string // as it is written; of a word in lower case, for trafgen knows no other
	number int64
	data   []byte // of a string, a MAC or an IP address
	pos    Pos
	apart  bool // blanks stand before it
}

type tokenKind uint8

const (
	ending tokenKind = iota
	word
	number
	text
	mac
	ipv4
	ipv6
	sign // one character
)

// lexer makes tokens of preprocessed text.
type lexer struct {
	src   string
	at    int
	begin []int // where each piece of the text begins
	from  []Pos // and in which file it stands
	end   Pos
}

func newLexer(pieces []piece, file string) *lexer {
	l := &lexer{end: Pos{file, 1, 1}}
	var b strings.Builder
	for _, p := range pieces {
		l.begin = append(l.begin, b.Len())
		l.from = append(l.from, p.pos)
		b.WriteString(p.text)
		l.end = p.pos
	}
	l.src = b.String()
	return l
}

// pos is where a byte of the text stands in its file.
func (l *lexer) pos(at int) Pos {
	i := sort.SearchInts(l.begin, at+1) - 1
	if at >= len(l.src) || i < 0 {
		return l.end
	}
	return l.from[i]
}

// The addresses; what they begin with may also be a number or a word.
var (
	macForm  = regexp.MustCompile(`^[0-9A-Fa-f]+(:[0-9A-Fa-f]+){5}`)
	ip4Form  = regexp.MustCompile(`^[0-9]+(\.[0-9]+){3}`)
	ip6Chars = regexp.MustCompile(`^[0-9A-Fa-f:]+`)
)

// longest bounds what is held against the forms of addresses.
const longest = 64

func (l *lexer) next() (token, error) {
	apart := false
	for l.at < len(l.src) && (isBlank(l.src[l.at]) || l.src[l.at] == '\n') {
		l.at++
		apart = true
	}
	t := token{pos: l.pos(l.at), apart: apart}
	if l.at >= len(l.src) {
		return t, nil
	}
	start := l.at
	rest := l.src[start:]
	switch b := rest[0]; {
	case b == '"':
		n := strings.IndexByte(rest[1:], '"') + 2
		l.at += n
		t.kind, t.text = text, rest[:n]
		return t, l.str(&t, rest[1:n-1])
	case b == '\'' && charLen([]byte(rest[:min(6, len(rest))])) > 0:
		n := charLen([]byte(rest[:min(6, len(rest))]))
		l.at += n
		t.kind, t.text, t.number = number, rest[:n], int64(rest[1])
		if n == 6 {
			v, _ := strconv.ParseUint(rest[3:5], 16, 8)
			t.number = int64(v)
		}
		return t, nil
	case isLetter(b), isDigit(b), b == ':':
		if l.address(&t, rest[:min(len(rest), longest)]) {
			return t, nil
		}
		if b != ':' {
			return l.word(t, rest)
		}
	}
	if strings.IndexByte("-+*/%&|<>^{}()[],:=", rest[0]) < 0 {
		return t, t.pos.errorf("%q does not belong here", show(rest[:1]))
	}
	l.at++
	t.kind, t.text = sign, rest[:1]
	return t, nil
}

// address takes a MAC or IP address.
func (l *lexer) address(t *token, rest string) bool {
	if m := macForm.FindString(rest); m != "" && !strings.HasPrefix(rest[len(m):], ":") {
		for _, part := range strings.Split(m, ":") {
			v, err := strconv.ParseUint(part, 16, 8)
			if err != nil {
				return false
			}
			t.data = append(t.data, byte(v))
		}
		t.kind, t.text = mac, m
		l.at += len(m)
		return true
	}
	if m := ip4Form.FindString(rest); m != "" {
		if a, err := netip.ParseAddr(m); err == nil {
			t.kind, t.text, t.data = ipv4, m, a.AsSlice()
			l.at += len(m)
			return true
		}
	}
	for m := ip6Chars.FindString(rest); strings.Count(m, ":") >= 2; m = m[:len(m)-1] {
		if a, err := netip.ParseAddr(m); err == nil {
			t.kind, t.text, t.data = ipv6, m, a.AsSlice()
			l.at += len(m)
			return true
		}
	}
	return false
}

// word takes a number, a letter that is one, or a word.
func (l *lexer) word(t token, rest string) (token, error) {
	n := 0
	for n < len(rest) && (isLetter(rest[n]) || isDigit(rest[n])) {
		n++
	}
	l.at += n
	w := rest[:n]
	t.text = strings.ToLower(w)
	if len(w) == 1 && isLetter(w[0]) && w != "_" {
		t.kind, t.number = number, int64(w[0])
		return t, nil
	}
	short := strings.TrimPrefix(t.text, "0")
	var err error
	switch {
	case len(short) > 1 && short[0] == 'x' && consists(short[1:], isHex):
		t.number, err = parseNumber(short[1:], 16)
	case len(short) > 1 && short[0] == 'b' && consists(short[1:], func(b byte) bool { return b == '0' || b == '1' }):
		t.number, err = parseNumber(short[1:], 2)
	case len(w) > 1 && w[0] == '0' && consists(w, isDigit):
		if t.number, err = parseNumber(w, 8); err != nil {
			return t, t.pos.errorf("%s: a number that begins with 0 is octal, and %[1]s is none", show(w))
		}
	case consists(w, isDigit):
		t.number, err = parseNumber(w, 10)
	case isDigit(w[0]) && t.text != "1q" && t.text != "1ad":
		return t, t.pos.errorf("%s is no number", show(w))
	default:
		t.kind = word
		return t, nil
	}
	t.kind = number
	if err != nil {
		return t, t.pos.errorf("%s: more than 64 bits", show(w))
	}
	return t, nil
}

func consists(s string, of func(byte) bool) bool {
	for i := range len(s) {
		if !of(s[i]) {
			return false
		}
	}
	return true
}

func parseNumber(s string, base int) (int64, error) {
	v, err := strconv.ParseUint(s, base, 64)
	return int64(v), err
}

// str makes the bytes of a string: all of it may be \x41 and so on; otherwise it stands for itself, backslashes too.
func (l *lexer) str(t *token, inside string) error {
	if inside == "" {
		return t.pos.errorf(`"": a string of nothing`)
	}
	t.data = []byte(inside)
	codes := strings.Count(inside, `\x`)
	if codes == 0 || 4*codes != len(inside) {
		return nil
	}
	t.data = t.data[:0]
	for ; inside != ""; inside = inside[4:] {
		v, err := hex.DecodeString(inside[2:4])
		if err != nil || inside[:2] != `\x` {
			return t.pos.errorf("%s: write each byte as two hex digits: \\x0f", show(inside))
		}
		t.data = append(t.data, v...)
	}
	return nil
}
