package trafgen

import (
	"slices"
	"strings"
)

// macro is one #define.
type macro struct {
	name   string
	args   []string // names of the parameters
	call   bool     // it takes parameters, if only ()
	rest   bool     // the last one takes all that is left (...)
	body   []piece
	joints bool // there is a # or ## in it
}

// hidden is a set of names of macros, as a list that is never changed.
type hidden struct {
	name string
	next *hidden
}

func (h *hidden) has(name string) bool {
	for ; h != nil; h = h.next {
		if h.name == name {
			return true
		}
	}
	return false
}

// with is the set and one more.
func (h *hidden) with(name string) *hidden {
	if h.has(name) {
		return h
	}
	return &hidden{name, h}
}

// common are the names in both.
func (h *hidden) common(g *hidden) *hidden {
	if h == g {
		return h
	}
	var both *hidden
	for ; h != nil; h = h.next {
		if g.has(h.name) {
			both = &hidden{h.name, both}
		}
	}
	return both
}

// and are the names in either.
func (h *hidden) and(g *hidden) *hidden {
	if h == nil || h == g {
		return g
	}
	for ; g != nil; g = g.next {
		h = h.with(g.name)
	}
	return h
}

// define takes NAME TEXT or NAME(A, B) TEXT.
func (c *cpp) define(at Pos, rest []piece) error {
	if len(rest) == 0 || rest[0].kind != name {
		return at.errorf("#define needs a name (write # define, with a blank, for a comment)")
	}
	m := &macro{name: rest[0].text}
	if m.name == "defined" {
		return at.errorf("#define defined: that word is taken")
	}
	rest = rest[1:]
	if len(rest) > 0 && rest[0].text == "(" { // directly behind the name
		end := slices.IndexFunc(rest, func(p piece) bool { return p.text == ")" && p.kind == other })
		if end < 0 {
			return at.errorf("#define %s: the parameters do not end: ) is missing", show(m.name))
		}
		m.call = true
		var err error
		if m.args, m.rest, err = parameters(at, m.name, rest[1:end]); err != nil {
			return err
		}
		rest = rest[end+1:]
	}
	m.body = trim(rest)
	m.joints = m.call && slices.ContainsFunc(m.body, func(p piece) bool { return p.text == "#" })
	for i, p := range m.body {
		if p.text == "##" {
			m.joints = true
			if i == 0 || i == len(m.body)-1 {
				return at.errorf("#define %s: ## joins what stands on both sides of it", show(m.name))
			}
		}
	}
	if len(c.macros) >= maxMacros {
		return at.errorf("more than %d macros", maxMacros)
	}
	c.macros[m.name] = m
	return nil
}

// parameters reads the names between parentheses.
func parameters(at Pos, of string, pieces []piece) (names []string, rest bool, err error) {
	words := strings.Split(strings.ReplaceAll(join(pieces), " ", ""), ",")
	if len(words) == 1 && words[0] == "" {
		return nil, false, nil
	}
	for i, w := range words {
		if w == "..." && i == len(words)-1 {
			w, rest = "__VA_ARGS__", true
		}
		if w == "" || !isLetter(w[0]) || strings.ContainsFunc(w, func(r rune) bool { return r > 127 || !isLetter(byte(r)) && !isDigit(byte(r)) }) || slices.Contains(names, w) {
			return nil, false, at.errorf("#define %s: %q is no name of a parameter", show(of), show(w))
		}
		names = append(names, w)
	}
	return names, rest, nil
}

// flush replaces the macros of the text so far.
func (c *cpp) flush() error {
	out, err := c.expand(c.pending)
	c.out = append(c.out, out...)
	c.pending = c.pending[:0]
	return err
}

// expand replaces all macros in pieces (Prosser's algorithm, of which ISO C's wording was made: each piece remembers the macros it came from).
func (c *cpp) expand(in []piece) (out []piece, err error) {
	// What is yet to be looked at, the next piece last: a macro's text is put on top.
	todo := slices.Clone(in)
	slices.Reverse(todo)
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if err := c.look(1, p.pos); err != nil {
			return nil, err
		}
		m := c.macros[p.text]
		if p.kind != name || m == nil || p.hide.has(p.text) {
			out = append(out, p)
			continue
		}
		hide := p.hide
		var args [][]piece
		if m.call {
			i := len(todo) - 1
			for i >= 0 && todo[i].kind <= newline {
				i--
			}
			if i < 0 || todo[i].text != "(" || todo[i].kind != other {
				out = append(out, p)
				continue
			}
			var closing piece
			before := i
			if args, closing, todo, err = arguments(todo[:i], p); err != nil {
				return nil, err
			}
			if err := c.look(before-len(todo), p.pos); err != nil {
				return nil, err
			}
			if args, err = m.fit(args, p); err != nil {
				return nil, err
			}
			hide = hide.common(closing.hide)
		}
		text, err := c.substitute(m, args, p, hide.with(m.name))
		if err != nil {
			return nil, err
		}
		if err := c.count(len(text)+1, p.pos); err != nil {
			return nil, err
		}
		slices.Reverse(text)
		todo = append(todo, text...)
	}
	return out, nil
}

// arguments takes what stands between parentheses; todo is in reverse order.
func arguments(todo []piece, of piece) (args [][]piece, closing piece, rest []piece, err error) {
	depth := 1
	var arg []piece
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if p.kind == other {
			switch p.text {
			case "(":
				depth++
			case ")":
				depth--
			}
			if depth == 0 {
				return append(args, trim(arg)), p, todo, nil
			}
			if p.text == "," && depth == 1 {
				args, arg = append(args, trim(arg)), nil
				continue
			}
		}
		arg = append(arg, p)
	}
	return nil, closing, nil, of.pos.errorf("%s(: the parentheses do not close", show(of.text))
}

// fit holds arguments against parameters.
func (m *macro) fit(args [][]piece, of piece) ([][]piece, error) {
	if len(m.args) == 0 && len(args) == 1 && len(args[0]) == 0 {
		return nil, nil
	}
	if m.rest && len(args) >= len(m.args) {
		last := args[len(m.args)-1]
		for _, a := range args[len(m.args):] {
			last = append(append(slices.Clip(last), piece{kind: other, text: ",", pos: of.pos}), a...)
		}
		args = append(args[:len(m.args)-1:len(m.args)-1], last)
	}
	if m.rest && len(args) == len(m.args)-1 {
		args = append(args, nil)
	}
	if len(args) != len(m.args) {
		return nil, of.pos.errorf("macro %s takes %d arguments, not %d", show(m.name), len(m.args), len(args))
	}
	return args, nil
}

// substitute is the text of a macro with its arguments, at the place where it is used.
func (c *cpp) substitute(m *macro, args [][]piece, of piece, hide *hidden) (text []piece, err error) {
	index := func(p piece) int {
		if p.kind != name {
			return -1
		}
		return slices.Index(m.args, p.text)
	}
	full := make([][]piece, len(args)) // arguments with their own macros replaced
	done := make([]bool, len(args))
	size := 0
	for i := 0; i < len(m.body); i++ {
		p := m.body[i]
		var add []piece
		switch k := index(p); {
		case m.call && p.text == "#" && i+1 < len(m.body) && index(m.body[i+1]) >= 0:
			i++
			add = []piece{{kind: quoted, text: `"` + strings.ReplaceAll(join(args[index(m.body[i])]), `"`, "'") + `"`}}
		case p.text == "##":
			text = trimRight(text)
			for i++; m.body[i].kind <= newline; i++ {
			}
			right := []piece{m.body[i]}
			if k := index(m.body[i]); k >= 0 {
				right = args[k]
			}
			if len(text) > 0 && len(right) > 0 {
				glued := &text[len(text)-1]
				glued.text += right[0].text
				if glued.kind == other {
					glued.kind = right[0].kind
				}
				right = right[1:]
			}
			add = right
		case k >= 0 && !m.glued(i):
			if !done[k] {
				if full[k], err = c.expand(args[k]); err != nil {
					return nil, err
				}
				done[k] = true
			}
			add = full[k]
		case k >= 0:
			add = args[k]
		default:
			add = []piece{p}
		}
		if size += len(add); size > maxTokens {
			return nil, c.count(size, of.pos)
		}
		text = append(text, add...)
	}
	for i := range text {
		text[i].pos = of.pos
		text[i].hide = text[i].hide.and(hide)
	}
	return text, nil
}

// glued says whether a ## stands beside piece i of the body.
func (m *macro) glued(i int) bool {
	if !m.joints {
		return false
	}
	for j := i + 1; j < len(m.body); j++ {
		if m.body[j].kind > newline {
			return m.body[j].text == "##"
		}
	}
	return false
}

func trimRight(p []piece) []piece {
	for len(p) > 0 && p[len(p)-1].kind <= newline {
		p = p[:len(p)-1]
	}
	return p
}
