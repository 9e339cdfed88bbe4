package trafgen

import (
	"bytes"
	"strings"
)

// piece is a preprocessing token. Blanks are pieces too: they separate what a packet holds.
type piece struct {
	kind pieceKind
	text string
	pos  Pos
	hide *hidden // macros that this piece came from: they are not replaced in it again
}

type pieceKind uint8

const (
	blank   pieceKind = iota // blanks and comments; text is " "
	newline                  // text is "\n"
	name                     // an identifier
	digits                   // a C preprocessing number: 0x41, 1ad
	quoted                   // a string or a character, quotes included
	other                    // one character, or ## in a macro
)

// cutter cuts a file into pieces.
type cutter struct {
	src       []byte
	at        int
	file      string
	line      int
	lineStart int // index of the line's first byte
}

func newCutter(file string, src []byte) *cutter {
	return &cutter{src: bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n")), file: file, line: 1}
}

func (c *cutter) pos() Pos { return Pos{c.file, c.line, c.at - c.lineStart + 1} }

func (c *cutter) peek(n int) byte {
	if c.at+n < len(c.src) {
		return c.src[c.at+n]
	}
	return 0
}

func (c *cutter) broken() bool { c.at++; c.line++; c.lineStart = c.at; return true }

// next returns the next piece; ok is false at the end. In a directive a # is no comment and a string ends with its line.
func (c *cutter) next(directive bool) (p piece, ok bool, err error) {
	if c.at >= len(c.src) {
		return piece{}, false, nil
	}
	p.pos = c.pos()
	start := c.at
	take := func(kind pieceKind) (piece, bool, error) {
		p.kind, p.text = kind, string(c.src[start:c.at])
		return p, true, nil
	}
	switch b := c.src[c.at]; {
	case b == '\n':
		c.broken()
		return take(newline)
	case isBlank(b), b == '\\' && c.peek(1) == '\n', b == '/' && c.peek(1) == '*', !directive && (b == '#' || b == ';'), b == '/' && c.peek(1) == '/' && directive:
		if err := c.blanks(directive); err != nil {
			return p, false, err
		}
		p.kind, p.text = blank, " "
		return p, true, nil
	case isLetter(b):
		for c.at < len(c.src) && (isLetter(c.src[c.at]) || isDigit(c.src[c.at])) {
			c.at++
		}
		return take(name)
	case isDigit(b):
		for c.at < len(c.src) && (isLetter(c.src[c.at]) || isDigit(c.src[c.at])) {
			c.at++
		}
		return take(digits)
	case b == '"':
		if err := c.str(directive); err != nil {
			return p, false, err
		}
		return take(quoted)
	case b == '\'':
		if n := charLen(c.src[c.at:]); n > 0 {
			c.at += n
			return take(quoted)
		}
	case b == '#' && c.peek(1) == '#':
		c.at += 2
		return take(other)
	}
	c.at++
	return take(other)
}

// blanks passes over blanks and comments, but not over the end of a line.
func (c *cutter) blanks(directive bool) error {
	for c.at < len(c.src) {
		switch b := c.src[c.at]; {
		case isBlank(b):
			c.at++
		case b == '\\' && c.peek(1) == '\n':
			c.at++
			c.broken()
		case b == '/' && c.peek(1) == '*':
			begin := c.pos()
			end := bytes.Index(c.src[c.at+2:], []byte("*/"))
			if end < 0 {
				return begin.errorf("the comment does not end: */ is missing")
			}
			for stop := c.at + 2 + end + 2; c.at < stop; {
				if c.src[c.at] == '\n' {
					c.broken()
				} else {
					c.at++
				}
			}
		case !directive && (b == '#' || b == ';'), directive && b == '/' && c.peek(1) == '/':
			for c.at < len(c.src) && c.src[c.at] != '\n' {
				c.at++
			}
		default:
			return nil
		}
	}
	return nil
}

// str passes over a string. Nothing escapes its closing quote, and in a packet it may hold ends of lines.
func (c *cutter) str(directive bool) error {
	begin := c.pos()
	for c.at++; c.at < len(c.src); {
		switch c.src[c.at] {
		case '"':
			c.at++
			return nil
		case '\n':
			if directive {
				return begin.errorf(`the string does not end: " is missing`)
			}
			c.broken()
		default:
			c.at++
		}
	}
	return begin.errorf(`the string does not end: " is missing`)
}

// charLen is the length of a character with its quotes at the start of b ('a', ”', '\x41'), 0 if there is none.
func charLen(b []byte) int {
	switch {
	case len(b) >= 6 && b[1] == '\\' && (b[2] == 'x' || b[2] == 'X') && isHex(b[3]) && isHex(b[4]) && b[5] == '\'':
		return 6
	case len(b) >= 3 && b[1] != '\n' && b[2] == '\'':
		return 3
	}
	return 0
}

func isBlank(b byte) bool  { return b == ' ' || b == '\t' || b == '\r' || b == '\f' || b == '\v' }
func isDigit(b byte) bool  { return b >= '0' && b <= '9' }
func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' || b == '_' }
func isHex(b byte) bool    { return isDigit(b) || b|0x20 >= 'a' && b|0x20 <= 'f' }

// show is a word of a file as an error prints it.
func show(s string) string {
	if len(s) > 24 {
		s = s[:21] + "..."
	}
	return strings.ToValidUTF8(s, "?")
}
