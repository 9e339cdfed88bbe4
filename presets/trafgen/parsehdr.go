package trafgen

import (
	"fmt"
	"math"
	"strings"
)

// header reads NAME(FIELD=VALUE, ...).
func (p *parser) header(e *elem) (err error) {
	if err := p.advance(); err != nil {
		return err
	}
	e.settings, err = p.settings(e.proto)
	for _, s := range e.settings {
		if s.part != nil {
			for _, s := range s.part.settings {
				e.n += len(s.value.data) + 16 // as a bound
			}
			e.n += 16
		}
	}
	e.n += 64
	return err
}

// settings reads (FIELD=VALUE, FLAG ...).
func (p *parser) settings(of *proto) (list []setting, err error) {
	if err := p.expect("(", of.name+" needs parentheses: "+of.name+"()"); err != nil {
		return nil, err
	}
	for parted := true; !p.is(")"); {
		if p.tok.kind == ending {
			return nil, p.unexpected(of.name + "(...) does not end: ) is expected")
		}
		if !parted && !p.tok.apart {
			return nil, p.unexpected("a comma, a blank or ) is expected")
		}
		more, err := p.setting(of)
		if err != nil {
			return nil, err
		}
		if list = append(list, more...); len(list) > maxChanging {
			return nil, p.tok.pos.errorf("%s: more than %d fields", of.name, maxChanging)
		}
		if parted = p.is(","); parted {
			if err := p.advance(); err != nil {
				return nil, err
			}
			if p.is(",") {
				return nil, p.unexpected("a field is expected")
			}
		}
	}
	return list, p.advance()
}

// setting reads one; a flag may be several.
func (p *parser) setting(of *proto) ([]setting, error) {
	t := p.tok
	if t.kind != word {
		return nil, p.unexpected("a field of " + of.name + " is expected: " + strings.Join(of.words(), " "))
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if of.id == pDNS {
		if s, ok := sections[t.text]; ok {
			part := &part{section: s, proto: &record}
			if s == dnsQuery {
				part.proto = &query
			}
			var err error
			part.settings, err = p.settings(part.proto)
			return []setting{{pos: t.pos, part: part}}, err
		}
	}
	if of.id == pRecord && p.is("(") {
		return p.recordData(t)
	}
	if f := of.flag(t.text); f != nil && !p.is("=") && !p.is("[") {
		var out []setting
		for i, field := range f.fields {
			out = append(out, setting{pos: t.pos, field: field, value: value{pos: t.pos, num: f.values[i]}})
		}
		return out, nil
	}
	s := setting{pos: t.pos, field: of.find(t.text)}
	if of.id == pPFC && p.is("(") {
		if err := p.onePrio(&s, t.text); err != nil {
			return nil, err
		}
	}
	if s.field < 0 {
		return nil, t.pos.errorf("%s has no field %q: it has %s", of.name, show(t.text), strings.Join(of.words(), " "))
	}
	f := of.fields[s.field]
	if p.is("[") {
		if err := p.partOf(&s, f, t.text); err != nil {
			return nil, err
		}
	}
	if err := p.expect("=", t.text+" needs a value: "+t.text+"=..."); err != nil {
		return nil, err
	}
	if w := of.flag(p.tok.text); p.tok.kind == word && w != nil && len(w.fields) > 0 && w.fields[0] == s.field && s.len == 0 {
		s.value = value{pos: p.tok.pos, num: w.values[0]} // op=reply, type=echorequest
		return []setting{s}, p.advance()
	}
	if err := p.value(&s.value); err != nil {
		return nil, err
	}
	return []setting{s}, fits(&s, f, of.name+"("+t.text+")")
}

// onePrio reads (N) of prio(N) and time(N).
func (p *parser) onePrio(s *setting, name string) error {
	if err := p.advance(); err != nil {
		return err
	}
	pos := p.tok.pos
	n, err := p.number()
	if err != nil {
		return err
	}
	switch {
	case n < 0 || n > 7:
		return pos.errorf("%s(%d): 0 to 7", name, n)
	case name == "prio" || name == "pri":
		s.field = pfcPrio0 + int(n)
	case name == "time":
		s.field = pfcTime0 + int(n)
	}
	return p.expect(")", ") is expected")
}

// partOf reads [INDEX] or [INDEX:LENGTH] of a field.
func (p *parser) partOf(s *setting, f field, name string) error {
	pos := p.tok.pos
	if err := p.advance(); err != nil {
		return err
	}
	index, err := p.number()
	if err != nil {
		return err
	}
	length := int64(1)
	if p.is(":") {
		if err := p.advance(); err != nil {
			return err
		}
		if length, err = p.number(); err != nil {
			return err
		}
	}
	if err := p.expect("]", "] is expected"); err != nil {
		return err
	}
	switch {
	case f.mask != 0 || f.len == 0:
		return pos.errorf("%s[...]: %[1]s is no field of whole bytes", name)
	case index < 0 || index >= int64(f.len):
		return pos.errorf("%s[%d]: the field has %d bytes, from 0 on", name, index, f.len)
	case length != 1 && length != 2 && length != 4:
		return pos.errorf("%s[%d:%d]: the length is 1, 2 or 4", name, index, length)
	}
	s.index, s.len = int(index), int(length)
	return nil
}

// value reads what a field is set to.
func (p *parser) value(v *value) error {
	t := p.tok
	v.pos = t.pos
	switch t.kind {
	case mac, ipv4, ipv6, text:
		v.what = map[tokenKind]valueKind{mac: isMAC, ipv4: isIPv4, ipv6: isIPv6, text: isText}[t.kind]
		v.data = t.data
		return p.advance()
	case word:
		if t.text == "dinc" || t.text == "drnd" {
			if err := p.advance(); err != nil {
				return err
			}
			return p.runtime(v, t.text)
		}
	case number, sign:
		if t.kind == number || t.text == "(" || t.text == "-" {
			var err error
			v.num, err = p.expression()
			return err
		}
	}
	return p.unexpected("a value is expected")
}

// runtime reads the arguments of dinc or drnd as a field's value.
func (p *parser) runtime(v *value, name string) error {
	v.what, v.step = isDinc, 1
	form, most := "dinc(), dinc(STEP), dinc(MIN, MAX) or dinc(MIN, MAX, STEP)", 3
	if name == "drnd" {
		v.what, form, most = isDrnd, "drnd() or drnd(MIN, MAX)", 2
	}
	args, err := p.arguments(name, form, 0, most)
	if err != nil {
		return err
	}
	for _, a := range args {
		if a < 0 || a > math.MaxUint32 {
			return v.pos.errorf("%s: %d: 0 to %d", name, a, uint32(math.MaxUint32))
		}
	}
	switch len(args) {
	case 1:
		if name == "drnd" {
			return v.pos.errorf("a field takes %s", form)
		}
		v.step = uint32(args[0])
	case 3:
		v.step = uint32(args[2])
		fallthrough
	case 2:
		v.ruled, v.min, v.max = true, uint32(args[0]), uint32(args[1])
		if v.min != 0 && v.min >= v.max {
			return v.pos.errorf("%s(%d, %d): the first must be less than the second", name, v.min, v.max)
		}
	}
	return nil
}

// fits says why a field cannot have such a value.
func fits(s *setting, f field, name string) error {
	v := &s.value
	dynamic := v.what == isDinc || v.what == isDrnd
	wants := map[valueKind]string{isMAC: "a MAC address", isIPv4: "an IPv4 address", isIPv6: "an IPv6 address", isText: "a string"}[f.kind]
	switch {
	case s.len > 0 && !dynamic:
		return v.pos.errorf("%s[...] takes only dinc() and drnd()", strings.TrimSuffix(name, ")"))
	case dynamic && f.len == 0:
		return v.pos.errorf("%s cannot change from frame to frame: it takes a string", name)
	case dynamic, v.what == f.kind:
		return nil
	case v.what == isNumber && (f.len == 4 || f.len == 0 && f.kind == isNumber):
		return nil // an address as a number
	case f.len == 0 && (v.what == isIPv4 || v.what == isIPv6 || v.what == isMAC) && f.at > 0:
		return nil // bytes as data of DNS
	case wants == "":
		wants = fmt.Sprintf("a number of %d bits", 8*f.len)
	}
	return v.pos.errorf("%s takes %s", name, wants)
}

// recordData reads addr(...), ns(...), cname(...) or ptr(...) of a DNS record: its type and its data.
func (p *parser) recordData(t token) ([]setting, error) {
	types := map[string]int64{"addr": 1, "ns": 2, "cname": 5, "ptr": 12}
	typ, ok := types[t.text]
	if !ok {
		return nil, t.pos.errorf("a record's data is addr(1.2.3.4), ns(\"name\"), cname(\"name\") or ptr(\"name\"), not %s(...)", show(t.text))
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	v := value{pos: p.tok.pos, what: isIPv4, data: p.tok.data}
	switch {
	case t.text == "addr" && p.tok.kind == ipv4:
	case t.text == "addr" && p.tok.kind == ipv6:
		v.what, typ = isIPv6, 28
	case t.text != "addr" && p.tok.kind == text:
		domain, err := domainName(p.tok.pos, p.tok.data)
		if err != nil {
			return nil, err
		}
		v.what, v.data = isBytes, domain
	default:
		return nil, p.unexpected(t.text + "() takes an address (addr) or a name in quotes")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	out := []setting{{pos: t.pos, field: recData, value: v}, {pos: t.pos, field: recType, value: value{pos: t.pos, num: typ}}}
	return out, p.expect(")", ") is expected")
}

// domainName is a name as DNS has it: each label behind its length.
func domainName(pos Pos, name []byte) ([]byte, error) {
	var out []byte
	for _, label := range strings.Split(string(name), ".") {
		if len(label) == 0 || len(label) > 63 || len(out) > 255 {
			return nil, pos.errorf("%q: the parts of a DNS name have 1 to 63 characters, and all of it at most 255", show(string(name)))
		}
		out = append(append(out, byte(len(label))), label...)
	}
	return append(out, 0), nil
}
