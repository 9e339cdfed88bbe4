package trafgen

import (
	"strconv"
	"strings"
)

// evaluate says whether the expression of an #if is not zero. Here operators have the precedence of C; names that are no macros are 0.
func (c *cpp) evaluate(at Pos, rest []piece) (bool, error) {
	known, err := c.resolveDefined(at, rest)
	if err != nil {
		return false, err
	}
	if known, err = c.expand(known); err != nil {
		return false, err
	}
	e := &condExpr{at: at}
	for _, p := range known {
		if p.kind > newline {
			e.pieces = append(e.pieces, p)
		}
	}
	v, err := e.ternary(0)
	switch {
	case err != nil:
		return false, err
	case len(e.pieces) > 0:
		return false, e.fail()
	}
	return v != 0, nil
}

// resolveDefined replaces "defined NAME" and "defined(NAME)".
func (c *cpp) resolveDefined(at Pos, rest []piece) (out []piece, err error) {
	var words []piece
	for _, p := range rest {
		if p.kind > newline {
			words = append(words, p)
		}
	}
	for i := 0; i < len(words); i++ {
		if words[i].kind != name || words[i].text != "defined" {
			out = append(out, words[i])
			continue
		}
		switch {
		case i+1 < len(words) && words[i+1].kind == name:
			i++
		case i+3 < len(words) && words[i+1].text == "(" && words[i+2].kind == name && words[i+3].text == ")":
			i += 3
			words[i].text = words[i-1].text
		default:
			return nil, at.errorf("#if: defined needs a name: defined(NAME)")
		}
		v := "0"
		if c.macros[words[i].text] != nil {
			v = "1"
		}
		out = append(out, piece{kind: digits, text: v, pos: at})
	}
	return out, nil
}

// condExpr is an expression of an #if, of which pieces is what is left.
type condExpr struct {
	at     Pos
	pieces []piece
}

func (e *condExpr) fail() error {
	left := "its end"
	if len(e.pieces) > 0 {
		left = strconv.Quote(show(e.pieces[0].text))
	}
	return e.at.errorf("#if: not understood at %s (write # if, with a blank, for a comment)", left)
}

// take passes over an operator, if it comes next.
func (e *condExpr) take(op string) bool {
	if len(e.pieces) < len(op) {
		return false
	}
	for i := range op {
		if p := e.pieces[i]; p.kind != other || p.text != op[i:i+1] {
			return false
		}
	}
	e.pieces = e.pieces[len(op):]
	return true
}

func (e *condExpr) ternary(depth int) (int64, error) {
	if depth > maxNesting {
		return 0, e.at.errorf("#if: parentheses are too deep")
	}
	v, err := e.binary(0, depth+1)
	if err != nil || !e.take("?") {
		return v, err
	}
	yes, err := e.ternary(depth + 1)
	if err != nil {
		return 0, err
	}
	if !e.take(":") {
		return 0, e.fail()
	}
	no, err := e.ternary(depth + 1)
	if v != 0 {
		return yes, err
	}
	return no, err
}

// levels are C's binary operators, the weakest first; of two with the same beginning the longer one comes first.
var levels = [][]string{{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

func (e *condExpr) binary(level, depth int) (int64, error) {
	if level == len(levels) {
		return e.unary(depth)
	}
	a, err := e.binary(level+1, depth)
	for err == nil {
		op := e.operator(levels[level])
		if op == "" {
			return a, nil
		}
		var b int64
		if b, err = e.binary(level+1, depth); err == nil {
			a, err = condOp(e.at, op, a, b)
		}
	}
	return 0, err
}

// operator passes over one of the operators, "" if none comes next. The first half of a longer one is not taken.
func (e *condExpr) operator(ops []string) string {
	for _, op := range ops {
		whole := e.pieces
		if !e.take(op) {
			continue
		}
		if len(op) == 1 && strings.Contains("|&<>", op) && len(e.pieces) > 0 && e.pieces[0].text == op {
			e.pieces = whole
			continue
		}
		return op
	}
	return ""
}

func (e *condExpr) unary(depth int) (int64, error) {
	if depth > maxNesting {
		return 0, e.at.errorf("#if: parentheses are too deep")
	}
	for _, op := range []string{"!", "-", "+", "~"} {
		if !e.take(op) {
			continue
		}
		v, err := e.unary(depth + 1)
		switch op {
		case "!":
			return truth(v == 0), err
		case "-":
			return -v, err
		case "~":
			return ^v, err
		}
		return v, err
	}
	if e.take("(") {
		v, err := e.ternary(depth + 1)
		if err == nil && !e.take(")") {
			err = e.fail()
		}
		return v, err
	}
	if len(e.pieces) == 0 {
		return 0, e.fail()
	}
	p := e.pieces[0]
	switch p.kind {
	case name:
		e.pieces = e.pieces[1:]
		return 0, nil
	case digits:
		v, err := strconv.ParseUint(strings.TrimRight(p.text, "uUlL"), 0, 64)
		if err != nil || strings.Contains(p.text, "_") {
			return 0, e.fail()
		}
		e.pieces = e.pieces[1:]
		return int64(v), nil
	case quoted:
		if p.text[0] == '\'' && len(p.text) == 3 {
			e.pieces = e.pieces[1:]
			return int64(p.text[1]), nil
		}
	}
	return 0, e.fail()
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// condOp computes one operation of an #if.
func condOp(at Pos, op string, a, b int64) (int64, error) {
	switch op {
	case "||":
		return truth(a != 0 || b != 0), nil
	case "&&":
		return truth(a != 0 && b != 0), nil
	case "==":
		return truth(a == b), nil
	case "!=":
		return truth(a != b), nil
	case "<=":
		return truth(a <= b), nil
	case ">=":
		return truth(a >= b), nil
	case "<":
		return truth(a < b), nil
	case ">":
		return truth(a > b), nil
	}
	return operate(at, op, a, b)
}

// operate computes what #if and a packet's expressions have in common.
func operate(at Pos, op string, a, b int64) (int64, error) {
	switch op {
	case "+":
		return a + b, nil
	case "-":
		return a - b, nil
	case "*":
		return a * b, nil
	case "&":
		return a & b, nil
	case "|":
		return a | b, nil
	case "^":
		return a ^ b, nil
	case "/", "%":
		if b == 0 {
			return 0, at.errorf("division by zero")
		}
		if op == "/" {
			return a / b, nil
		}
		return a % b, nil
	}
	if b < 0 || b > 63 {
		return 0, at.errorf("a shift by %d bits: 0 to 63", b)
	}
	if op == "<<" {
		return a << b, nil
	}
	return a >> b, nil
}
