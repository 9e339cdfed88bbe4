package trafgen

import (
	"math"
	"strings"
)

// parser reads packets from tokens.
type parser struct {
	lex   *lexer
	tok   token // the next one
	depth int   // of parentheses
	size  int   // bytes of the packet so far
	total int   // bytes of all packets
}

// parse reads a preprocessed file.
func parse(pieces []piece, file string) ([]packet, error) {
	p := &parser{lex: newLexer(pieces, file)}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var out []packet
	for p.tok.kind != ending {
		one, err := p.packet()
		if err != nil {
			return nil, err
		}
		if out = append(out, one); len(out) > maxPackets {
			return nil, one.pos.errorf("more than %d packets", maxPackets)
		}
	}
	if len(out) == 0 {
		return nil, p.tok.pos.errorf("no packet: a packet is { ... }")
	}
	return out, nil
}

func (p *parser) advance() (err error) {
	p.tok, err = p.lex.next()
	return err
}

func (p *parser) is(s string) bool { return p.tok.kind == sign && p.tok.text == s }

// unexpected is an error at the next token.
func (p *parser) unexpected(wanted string) error {
	found := `"` + show(p.tok.text) + `"`
	if p.tok.kind == ending {
		found = "the end of the file"
	}
	return p.tok.pos.errorf("%s, not %s", wanted, strings.ReplaceAll(found, "\n", " "))
}

// expect passes over a character.
func (p *parser) expect(s, wanted string) error {
	if !p.is(s) {
		return p.unexpected(wanted)
	}
	return p.advance()
}

// packet reads { ... }, with cpu(...): before it or not.
func (p *parser) packet() (out packet, err error) {
	if p.tok.kind == word && p.tok.text == "cpu" {
		if out.cpus, err = p.cpu(); err != nil {
			return out, err
		}
	}
	out.pos = p.tok.pos
	if err := p.expect("{", "a packet is expected: { or cpu(N): {"); err != nil {
		return out, err
	}
	p.size = 0
	if p.is(",") {
		if err := p.advance(); err != nil {
			return out, err
		}
	}
	for parted := true; !p.is("}"); {
		if p.tok.kind == ending {
			return out, out.pos.errorf("the packet does not end: } is missing")
		}
		if !parted && !p.tok.apart {
			return out, p.unexpected("a comma or a blank is expected")
		}
		e, err := p.elem()
		if err != nil {
			return out, err
		}
		if p.size += e.n; p.size > maxFrame {
			return out, e.pos.errorf("the packet becomes longer than %d bytes", maxFrame)
		}
		if e.n > 0 || e.what == header {
			out.elems = append(out.elems, e)
		}
		if parted = p.is(","); parted {
			if err := p.advance(); err != nil {
				return out, err
			}
		}
	}
	if p.total += p.size; p.total > maxTotal {
		return out, out.pos.errorf("the packets of this file are more than %d MiB together", maxTotal>>20)
	}
	if len(out.elems) == 0 {
		return out, out.pos.errorf("a packet of nothing")
	}
	return out, p.advance()
}

// cpu reads cpu(N): or cpu(N-M): or cpu(N:M):.
func (p *parser) cpu() (*[2]int64, error) {
	pos := p.tok.pos
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect("(", "cpu needs a number: cpu(0): or cpu(0-3):"); err != nil {
		return nil, err
	}
	first, err := p.number()
	if err != nil {
		return nil, err
	}
	last := first
	if p.is("-") || p.is(":") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		if last, err = p.number(); err != nil {
			return nil, err
		}
	}
	if err := p.expect(")", "cpu takes one number or a range: cpu(0-3):"); err != nil {
		return nil, err
	}
	if err := p.expect(":", "a colon is expected after cpu(...)"); err != nil {
		return nil, err
	}
	if first > last {
		first, last = last, first
	}
	if first < 0 || last > 4095 {
		return nil, pos.errorf("cpu(%d-%d): CPUs are 0 to 4095", first, last)
	}
	return &[2]int64{first, last}, nil
}

// number takes a number without operators.
func (p *parser) number() (int64, error) {
	if p.tok.kind != number {
		return 0, p.unexpected("a number is expected")
	}
	v := p.tok.number
	return v, p.advance()
}

// operators are those of expressions; << and >> are two characters.
const operators = "+-*/%&|^<>"

// expression reads an expression. As in trafgen all operators are equal: what stands first is done first, but for a minus before a number.
func (p *parser) expression() (int64, error) {
	v, err := p.operand()
	for err == nil && p.tok.kind == sign && strings.Contains(operators, p.tok.text) {
		op, pos := p.tok.text, p.tok.pos
		if err = p.advance(); err != nil {
			break
		}
		if op == "<" || op == ">" {
			if err = p.expect(op, "the operator is "+op+op); err != nil {
				break
			}
			op += op
		}
		var b int64
		if b, err = p.operand(); err == nil {
			v, err = operate(pos, op, v, b)
		}
	}
	return v, err
}

func (p *parser) operand() (int64, error) {
	switch {
	case p.is("-"), p.is("("):
		if p.depth++; p.depth > maxNesting {
			return 0, p.tok.pos.errorf("parentheses are too deep")
		}
		defer func() { p.depth-- }()
		minus := p.is("-")
		if err := p.advance(); err != nil {
			return 0, err
		}
		if minus {
			v, err := p.operand()
			return -v, err
		}
		v, err := p.expression()
		if err != nil {
			return 0, err
		}
		return v, p.expect(")", ") is expected")
	}
	return p.number()
}

// arguments reads (A, B ...), least to most of them, each an expression.
func (p *parser) arguments(of, form string, least, most int) (args []int64, err error) {
	if err := p.expect("(", of+" needs arguments: "+form); err != nil {
		return nil, err
	}
	for !p.is(")") {
		if len(args) == most || p.tok.kind != number && !p.is("(") && !p.is("-") {
			return nil, p.unexpected(form + " is expected")
		}
		v, err := p.expression()
		if err != nil {
			return nil, err
		}
		args = append(args, v)
		if p.is(",") {
			if err := p.advance(); err != nil {
				return nil, err
			}
			if p.is(")") {
				return nil, p.unexpected(form + " is expected")
			}
		}
	}
	if len(args) < least {
		return nil, p.unexpected(form + " is expected")
	}
	return args, p.advance()
}

// elem reads one thing in a packet.
func (p *parser) elem() (elem, error) {
	t := p.tok
	e := elem{pos: t.pos}
	switch t.kind {
	case number:
		e.data, e.n = []byte{byte(t.number)}, 1
		return e, p.advance()
	case text:
		e.data, e.n = t.data, len(t.data)
		return e, p.advance()
	case word:
		if proto := protos[t.text]; proto != nil {
			e.what, e.proto = header, proto
			return e, p.header(&e)
		}
		if f, ok := functions[t.text]; ok {
			if err := p.advance(); err != nil {
				return e, err
			}
			args, err := p.arguments(t.text, f.form, f.least, f.most)
			if err != nil {
				return e, err
			}
			return e, f.make(&e, args)
		}
		return e, t.pos.errorf("%q is no byte and no function: a file without #include <stddef.h> has no names", show(t.text))
	case mac, ipv4, ipv6:
		return e, t.pos.errorf("%s: an address is a field's value: eth(da=...), ipv4(da=...)", show(t.text))
	}
	return e, p.unexpected("a byte, a string or a function is expected")
}

// function is one that makes bytes.
type function struct {
	form        string
	least, most int
	make        func(e *elem, args []int64) error
}

var functions = map[string]function{
	"fill":   {"fill(BYTE, TIMES)", 2, 2, makeFill},
	"rnd":    {"rnd(TIMES)", 0, 1, func(e *elem, a []int64) error { e.what = compileRandom; return e.times(append(a, 1)[0]) }},
	"drnd":   {"drnd(TIMES)", 0, 1, func(e *elem, a []int64) error { e.what = runRandom; return e.changing(append(a, 1)[0]) }},
	"seqinc": {"seqinc(START, TIMES, STEP)", 2, 3, func(e *elem, a []int64) error { return makeSequence(e, a, 1) }},
	"seqdec": {"seqdec(START, TIMES, STEP)", 2, 3, func(e *elem, a []int64) error { return makeSequence(e, a, -1) }},
	"dinc":   {"dinc(MIN, MAX, STEP)", 2, 3, func(e *elem, a []int64) error { return makeCounter(e, a, countUp) }},
	"ddec":   {"ddec(MIN, MAX, STEP)", 2, 3, func(e *elem, a []int64) error { return makeCounter(e, a, countDown) }},
}

func init() {
	for bytes, words := range map[int][]string{1: {"const8", "c8"}, 2: {"const16", "c16"}, 4: {"const32", "c32"}, 8: {"const64", "c64"}} {
		for _, w := range words {
			functions[w] = function{w + "(NUMBER)", 1, 1, func(e *elem, a []int64) error { return makeConst(e, a[0], bytes) }}
		}
	}
	for sum, words := range map[sumKind][]string{
		sumIP: {"csumip", "csumip4", "csumicmp", "csumicmp4", "csum16"}, sumUDP: {"csumudp"}, sumTCP: {"csumtcp"},
		sumUDP6: {"csumudp6"}, sumTCP6: {"csumtcp6"}, sumICMP6: {"csumicmp6"},
	} {
		for _, w := range words {
			functions[w] = function{w + "(FROM, TO)", 2, 2, func(e *elem, a []int64) error { return makeSum(e, a, sum) }}
		}
	}
}

// times sets how many bytes there are.
func (e *elem) times(n int64) error {
	if n < 0 || n > maxFrame {
		return e.pos.errorf("%d bytes: a packet has at most %d", n, maxFrame)
	}
	e.n = int(n)
	return nil
}

// changing sets how many bytes there are that change from frame to frame.
func (e *elem) changing(n int64) error {
	if n > maxChanging {
		return e.pos.errorf("%d bytes that change: a packet has at most %d", n, maxChanging)
	}
	return e.times(n)
}

func makeFill(e *elem, a []int64) error {
	e.what, e.data = fill, []byte{byte(a[0])}
	return e.times(a[1])
}

func makeConst(e *elem, v int64, bytes int) error {
	for i := bytes - 1; i >= 0; i-- {
		e.data = append(e.data, byte(v>>(8*i)))
	}
	e.n = bytes
	return nil
}

func makeSequence(e *elem, a []int64, sign int64) error {
	if err := e.times(a[1]); err != nil {
		return err
	}
	step := append(a, 1)[2] * sign
	for i := range e.n {
		e.data = append(e.data, byte(a[0]+int64(i)*step))
	}
	return nil
}

// makeCounter makes a counter of one byte; all its numbers are bytes.
func makeCounter(e *elem, a []int64, what kind) error {
	e.what, e.n = what, 1
	e.from, e.to, e.step = a[0]&0xff, a[1]&0xff, append(a, 1)[2]&0xff
	if e.from == e.to+1 {
		return e.pos.errorf("%d to %d: the lower one comes first", e.from, e.to)
	}
	return nil
}

func makeSum(e *elem, a []int64, sum sumKind) error {
	e.what, e.n, e.sum = checksum, 2, sum
	e.from, e.to = min(a[0], a[1]), max(a[0], a[1])
	if e.from < 0 || e.to > math.MaxInt32 || e.from == e.to {
		return e.pos.errorf("a checksum from byte %d to byte %d: offsets count from 0, the lower one first", a[0], a[1])
	}
	return nil
}
