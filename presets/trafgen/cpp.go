package trafgen

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// directives are the words after a # that begin one. A blank between makes a comment of it, as does any other word: files that were written
// for trafgen without --cpp are full of "# --- ip header ---".
var directives = []string{
	"define", "undef", "include", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "warning", "pragma", "line",
}

// cpp is the preprocessor.
type cpp struct {
	read    func(path string) ([]byte, error)
	macros  map[string]*macro
	files   int
	made    int // pieces so far
	looks   int // at pieces, while macros are replaced
	out     []piece
	pending []piece // text that macros are yet to be replaced in
}

// preprocess carries out the directives of a file and replaces its macros.
func preprocess(file string, src []byte, read func(string) ([]byte, error)) (*cpp, error) {
	c := &cpp{read: read, macros: map[string]*macro{}}
	if err := c.file(file, src, 0); err != nil {
		return nil, err
	}
	return c, c.flush()
}

// condition is an #if under way.
type condition struct {
	pos    Pos
	live   bool // this part is taken
	taken  bool // one of its parts was
	outer  bool // what is around it is taken
	inElse bool
}

// file takes one file.
func (c *cpp) file(file string, src []byte, depth int) error {
	if c.files++; c.files > maxIncludes {
		return Pos{file, 1, 1}.errorf("more than %d files are included", maxIncludes)
	}
	cut := newCutter(file, src)
	var ifs []condition
	live := func() bool { return len(ifs) == 0 || ifs[len(ifs)-1].live }
	lineBegins := true
	for {
		if lineBegins {
			word, at, err := cut.directive()
			switch {
			case err != nil:
				return err
			case word != "":
				rest, err := cut.restOfLine()
				if err != nil {
					return err
				}
				if err := c.count(len(rest), at); err != nil {
					return err
				}
				if ifs, err = c.conditional(word, at, rest, ifs); err != nil {
					return err
				}
				if live() && !strings.HasPrefix(word, "if") && word != "elif" && word != "else" && word != "endif" {
					if err := c.carryOut(word, at, rest, file, depth); err != nil {
						return err
					}
				}
				continue
			}
		}
		p, ok, err := cut.next(false)
		switch {
		case err != nil && live():
			return err
		case err != nil: // what is left out need not make sense
			cut.at++
			continue
		case !ok:
			if len(ifs) > 0 {
				return ifs[len(ifs)-1].pos.errorf("the condition does not end: #endif is missing")
			}
			return nil
		}
		lineBegins = p.kind == newline
		if !live() {
			continue
		}
		if err := c.count(1, p.pos); err != nil {
			return err
		}
		c.pending = append(c.pending, p)
	}
}

// directive says which directive a line begins with, "" if with none, and passes over its word.
func (c *cutter) directive() (word string, at Pos, err error) {
	i := c.at
	for i < len(c.src) && isBlank(c.src[i]) {
		i++
	}
	if i >= len(c.src) || c.src[i] != '#' {
		return "", Pos{}, nil
	}
	j := i + 1
	for j < len(c.src) && isLetter(c.src[j]) {
		j++
	}
	if word = string(c.src[i+1 : j]); !slices.Contains(directives, word) {
		return "", Pos{}, nil
	}
	c.at = i
	at = c.pos()
	c.at = j
	return word, at, nil
}

// restOfLine are the pieces up to the end of the line, which is passed over.
func (c *cutter) restOfLine() (rest []piece, err error) {
	for {
		p, ok, err := c.next(true)
		if err != nil || !ok || p.kind == newline {
			return trim(rest), err
		}
		rest = append(rest, p)
	}
}

// trim leaves out blanks at both ends.
func trim(p []piece) []piece {
	for len(p) > 0 && p[0].kind <= newline {
		p = p[1:]
	}
	for len(p) > 0 && p[len(p)-1].kind <= newline {
		p = p[:len(p)-1]
	}
	return p
}

// conditional keeps the conditions.
func (c *cpp) conditional(word string, at Pos, rest []piece, ifs []condition) ([]condition, error) {
	outer := len(ifs) == 0 || ifs[len(ifs)-1].live
	switch word {
	case "if", "ifdef", "ifndef":
		if len(ifs) > maxMacros {
			return nil, at.errorf("conditions are too deep")
		}
		live := false
		if outer {
			var err error
			if live, err = c.holds(word, at, rest); err != nil {
				return nil, err
			}
		}
		return append(ifs, condition{pos: at, live: live, taken: live, outer: outer}), nil
	case "elif", "else", "endif":
	default:
		return ifs, nil
	}
	if len(ifs) == 0 {
		return nil, at.errorf("#%s without an #if", word)
	}
	top := &ifs[len(ifs)-1]
	switch {
	case word == "endif":
		return ifs[:len(ifs)-1], nil
	case top.inElse:
		return nil, at.errorf("#%s after #else", word)
	case word == "else":
		top.inElse = true
		top.live = top.outer && !top.taken
	case !top.outer || top.taken:
		top.live = false
	default:
		live, err := c.holds(word, at, rest)
		if err != nil {
			return nil, err
		}
		top.live, top.taken = live, live
	}
	return ifs, nil
}

// holds says whether a condition does.
func (c *cpp) holds(word string, at Pos, rest []piece) (bool, error) {
	if word == "if" || word == "elif" {
		return c.evaluate(at, rest)
	}
	if len(rest) != 1 || rest[0].kind != name {
		return false, at.errorf("#%s needs one name (write # %[1]s, with a blank, for a comment)", word)
	}
	return (c.macros[rest[0].text] != nil) == (word == "ifdef"), nil
}

// carryOut does what any other directive says.
func (c *cpp) carryOut(word string, at Pos, rest []piece, file string, depth int) error {
	if err := c.flush(); err != nil { // what stands before is not touched by it
		return err
	}
	switch word {
	case "define":
		return c.define(at, rest)
	case "undef":
		if len(rest) != 1 || rest[0].kind != name {
			return at.errorf("#undef needs one name")
		}
		delete(c.macros, rest[0].text)
	case "include":
		return c.include(at, rest, file, depth)
	case "error":
		return at.errorf("#error %s", show(join(rest)))
	}
	return nil
}

// join is the text of pieces.
func join(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

// include takes the file that a directive names: "FILE" is beside the one that says so, <stddef.h> is trafgen's own and built in.
func (c *cpp) include(at Pos, rest []piece, file string, depth int) error {
	text := join(rest)
	if len(rest) > 0 && rest[0].kind == name { // a macro may name it
		expanded, err := c.expand(rest)
		if err != nil {
			return err
		}
		text = strings.TrimSpace(join(expanded))
	}
	if len(text) < 3 || !(text[0] == '"' && text[len(text)-1] == '"' || text[0] == '<' && text[len(text)-1] == '>') {
		return at.errorf(`#include needs "FILE" or <stddef.h> (write # include, with a blank, for a comment)`)
	}
	name := text[1 : len(text)-1]
	if depth >= maxDepth {
		return at.errorf("#include %s: more than %d files deep: does it include itself?", show(text), maxDepth)
	}
	if text[0] == '<' {
		if name == "stddef.h" {
			return c.file("<stddef.h>", []byte(stddef), depth+1)
		}
		return at.errorf(`#include %s: only <stddef.h> is built in: write "FILE" for a file beside this one`, show(text))
	}
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(filepath.Dir(file), name)
	}
	src, err := c.read(path)
	if err != nil {
		return at.errorf("#include %s: %s", show(text), why(err))
	}
	return c.file(path, src, depth+1)
}

// why is what is wrong with a file, without its name.
func why(err error) string {
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file"
	case errors.As(err, &at):
		return at.Err.Error()
	}
	return err.Error()
}

// count bounds what is made.
func (c *cpp) count(n int, at Pos) error {
	if c.made += n; c.made > maxTokens {
		return at.errorf("the text with all its files and macros becomes too long")
	}
	return nil
}

// look bounds the work.
func (c *cpp) look(n int, at Pos) error {
	if c.looks += n; c.looks > maxLooks {
		return at.errorf("these macros take too much work")
	}
	return nil
}
