package trafgen

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"wirespeed/engine/frame"
)

// maxLayers is how many headers trafgen takes.
const maxLayers = 16

// header adds a header, and below it what it needs.
func (b *builder) header(e *elem) error {
	h, err := b.push(e.proto, e.pos)
	if err != nil {
		return err
	}
	var parts []*part
	for i := range e.settings {
		s := &e.settings[i]
		if s.part != nil {
			parts = append(parts, s.part)
			continue
		}
		if err := b.set(h, s); err != nil {
			return err
		}
	}
	if e.proto.id == pDNS {
		return b.records(h, parts)
	}
	return nil
}

// push puts a header on top of those before.
func (b *builder) push(p *proto, pos Pos) (*placed, error) {
	var below *placed
	if len(b.headers) > 0 {
		below = b.headers[len(b.headers)-1]
	}
	if p.below != none {
		if need := byID[p.below]; below == nil || below.layer < need.layer && below.id != need.id {
			var err error
			if below, err = b.push(need, pos); err != nil {
				return nil, err
			}
		}
		if err := b.announce(below, p, pos); err != nil {
			return nil, err
		}
	}
	h := &placed{proto: p, pos: pos, set: make([]bool, len(p.fields))}
	if below != nil {
		h.at = below.at + below.len
	}
	for _, f := range p.fields {
		h.len = max(h.len, f.at+f.len)
	}
	switch {
	case len(b.headers) >= maxLayers:
		return nil, pos.errorf("%s: more than %d headers", p.name, maxLayers)
	case len(b.bytes) > h.at:
		return nil, pos.errorf("%s: bytes stand where this header begins: put header functions before all other content, one behind the other", p.name)
	}
	b.bytes = append(b.bytes, make([]byte, h.len)...)
	b.headers = append(b.headers, h)
	b.defaults(h, below)
	return h, nil
}

// byID are the protocols that others stand on.
var byID = map[protoID]*proto{pEth: &eth, pIP4: &ip4, pIP6: &ip6, pUDP: &udp}

// announce tells a header what comes after it.
func (b *builder) announce(below *placed, p *proto, pos Pos) error {
	wrong := pos.errorf("%s() cannot follow %s()", p.name, below.name)
	switch below.id {
	case pEth:
		b.preset(below, ethType, etherTypes[p.id])
	case pVLAN:
		if p.id != pVLAN {
			b.put(below, vlanEtherType, etherTypes[p.id])
		}
	case pMPLS:
		if p.id == pMPLS {
			b.preset(below, mplsLast, 0)
		}
	case pIP4:
		v, ok := ipProtos[p.id]
		if !ok {
			return wrong
		}
		b.preset(below, ip4Proto, v)
	case pIP6:
		v, ok := ip6Protos[p.id]
		if !ok {
			return wrong
		}
		b.preset(below, ip6Next, v)
	case pUDP, pTCP:
		if p.id != pDNS {
			return wrong
		}
		b.preset(below, udpDst, 53) // tcp's is the same
	case pICMP4, pICMP6, pDNS:
		return wrong
	}
	return nil
}

// defaults fills in what a header has before the file sets its fields.
func (b *builder) defaults(h, below *placed) {
	switch h.id {
	case pEth:
		b.address(h, ethSrc, b.dev.MAC[:])
	case pPause, pPFC:
		opcode := int64(1)
		if h.id == pPFC {
			opcode = 0x0101
		}
		b.put(h, 0, opcode)
		if below.id == pEth {
			b.address(below, ethDst, []byte{1, 0x80, 0xc2, 0, 0, 1})
		}
	case pVLAN:
		var lower int64
		switch below.id {
		case pEth:
			lower = b.get(below, ethType)
		case pVLAN:
			lower = b.get(below, vlanEtherType)
		}
		b.put(h, vlanEtherType, lower)
		b.put(h, vlanTPID, etherTypes[pVLAN])
	case pMPLS:
		b.put(h, mplsLast, 1)
	case pARP:
		if below.id == pEth {
			b.address(below, ethDst, []byte{255, 255, 255, 255, 255, 255})
		}
		for field, v := range map[int]int64{arpHType: 1, arpPType: 0x0800, arpHLen: 6, arpPLen: 4, arpOp: 1} {
			b.put(h, field, v)
		}
		b.address(h, arpSHA, b.dev.MAC[:])
		b.address(h, arpSPA, b.dev.IPv4[:])
		b.address(h, arpTPA, b.dev.IPv4[:])
	case pIP4:
		b.put(h, ip4Ver, 4)
		b.put(h, ip4IHL, 5)
		b.address(h, ip4Src, b.dev.IPv4[:])
	case pIP6:
		b.put(h, ip6Ver, 6)
		b.address(h, ip6Src, b.dev.IPv6[:])
	case pTCP:
		b.put(h, tcpDoff, 5)
	}
}

// place is where a field stands in the packet.
func (h *placed) place(i int) int { return h.at + h.fields[i].at }

// put writes a number to a field.
func (b *builder) put(h *placed, i int, v int64) {
	f := h.fields[i]
	write(b.bytes[h.place(i):h.place(i)+f.len], v, f.shift, f.mask)
}

// preset writes a number to a field that the file has not set.
func (b *builder) preset(h *placed, i int, v int64) {
	if !h.set[i] {
		b.put(h, i, v)
	}
}

// address writes an address to a field that the file has not set.
func (b *builder) address(h *placed, i int, address []byte) {
	if !h.set[i] {
		copy(b.bytes[h.place(i):h.place(i)+h.fields[i].len], address)
	}
}

func (b *builder) get(h *placed, i int) int64 {
	f := h.fields[i]
	return read(b.bytes[h.place(i):h.place(i)+f.len], f.shift, f.mask)
}

// write puts the lowest bits of a number into all of b, or into the bits of a mask.
func write(b []byte, v int64, shift int, mask uint32) {
	m := uint64(mask)
	if mask == 0 {
		m = math.MaxUint64
	}
	v = v << shift & int64(m)
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = b[i]&^byte(m) | byte(v)
		m >>= 8
		v >>= 8
	}
}

func read(b []byte, shift int, mask uint32) int64 {
	var v uint64
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	if mask != 0 {
		v &= uint64(mask)
	}
	return int64(v >> shift)
}

// set carries out what the file says of a field.
func (b *builder) set(h *placed, s *setting) error {
	f := h.fields[s.field]
	at := h.place(s.field)
	switch s.value.what {
	case isDinc, isDrnd:
		return b.change(h, s)
	case isNumber:
		b.put(h, s.field, s.value.num)
	default:
		copy(b.bytes[at:at+f.len], s.value.data)
	}
	h.set[s.field] = true
	return nil
}

// change adds a field that is not the same in every frame.
func (b *builder) change(h *placed, s *setting) error {
	f := h.fields[s.field]
	at, n := h.place(s.field), f.len
	if s.len > 0 {
		at, n = at+s.index, s.len
	}
	if at+n > len(b.bytes) {
		return s.pos.errorf("the part reaches beyond the packet as it is here")
	}
	var list []frame.Field
	var err error
	if s.value.what == isDrnd {
		list = randomField(at, n, f.mask, &s.value)
	} else {
		if n > 4 { // the last four bytes count
			at, n = at+n-4, 4
		}
		start := uint32(read(b.bytes[at:at+n], f.shift, f.mask))
		list, err = counterField(at, n, f.mask, start, &s.value)
	}
	for _, field := range list {
		b.fields = append(b.fields, dynamic{h, field})
	}
	return err
}

// randomField is drnd() of a field.
func randomField(at, n int, mask uint32, v *value) []frame.Field {
	bitsOf := 8 * n
	if mask != 0 {
		bitsOf = bits.OnesCount32(mask)
	}
	if n > 4 {
		if !v.ruled {
			return noise(at, n)
		}
		var out []frame.Field
		for i := range n { // each byte by itself
			out = append(out, randomField(at+i, 1, 0, v)...)
		}
		return out
	}
	most := uint64(1)<<bitsOf - 1
	f := frame.Field{Offset: at, Len: n, Mask: uint64(mask), Op: frame.Random, To: most}
	if v.ruled && v.max != 0 && uint64(v.max) <= most {
		f.From, f.To = uint64(v.min), uint64(v.max)
	}
	return []frame.Field{f}
}

// finish fills in what the whole packet decides: lengths and checksums, from the top down.
func (b *builder) finish(h *placed) {
	end := len(b.bytes)
	changes := func(of ...*placed) bool {
		return slices.ContainsFunc(b.fields, func(d dynamic) bool { return slices.Contains(of, d.of) })
	}
	switch h.id {
	case pIP4:
		b.preset(h, ip4Len, int64(end-h.at))
		if !h.set[ip4Sum] {
			b.cover(h, ip4Sum, frame.Checksum{From: h.at, To: h.at + h.len, Pseudo: -1}, changes(h))
		}
	case pIP6:
		b.preset(h, ip6Len, int64(end-h.at-h.len))
	case pICMP4:
		if !h.set[icmpSum] {
			b.cover(h, icmpSum, frame.Checksum{From: h.at, To: h.at + (end-h.at)&^1, Pseudo: -1}, changes(h))
		}
	case pUDP, pTCP, pICMP6:
		sum, proto := udpSum, uint8(frame.ProtoUDP)
		switch h.id {
		case pUDP:
			b.preset(h, udpLen, int64(end-h.at))
		case pTCP:
			sum, proto = tcpSum, frame.ProtoTCP
		default:
			sum, proto = icmpSum, frame.ProtoICMPv6
		}
		lower := b.lower(h)
		if h.set[sum] || lower == nil {
			return
		}
		// icmpv6's is computed once: the fields that change do not change it.
		again := h.id != pICMP6 && (changes(h) || slices.ContainsFunc(b.fields, func(d dynamic) bool {
			return d.of == lower && lower.id == pIP4 && d.field.Offset >= lower.at+12 || d.of == lower && lower.id == pIP6 && d.field.Offset >= lower.at+8
		}))
		b.cover(h, sum, frame.Checksum{From: h.at, To: end, Pseudo: lower.at, V6: lower.id == pIP6, Proto: proto}, again)
	}
}

// lower is the IP header that a header stands on.
func (b *builder) lower(h *placed) *placed {
	i := slices.Index(b.headers, h)
	if i > 0 && (b.headers[i-1].id == pIP4 || b.headers[i-1].id == pIP6) {
		return b.headers[i-1]
	}
	return nil
}

// cover computes a header's checksum as the packet stands, and in every frame where trafgen does.
func (b *builder) cover(h *placed, field int, s frame.Checksum, again bool) {
	s.At = h.place(field)
	once := frame.Packet{Bytes: slices.Clone(b.bytes), Sums: []frame.Checksum{s}}
	out := make([]byte, len(b.bytes))
	once.Next(out, 0)
	copy(b.bytes[s.At:s.At+2], out[s.At:s.At+2])
	if again {
		b.sums = append(b.sums, s)
	}
}

// records adds the records of dns(), sorted by section, and their numbers.
func (b *builder) records(h *placed, parts []*part) error {
	slices.SortStableFunc(parts, func(x, y *part) int { return int(x.section) - int(y.section) })
	var counts [4]int64
	for _, p := range parts {
		counts[p.section]++
		if err := b.record(h, p); err != nil {
			return err
		}
	}
	for i, n := range counts {
		b.preset(h, dnsCount+i, n)
	}
	if counts[dnsAnswer] > 0 {
		b.preset(h, dnsQR, 1)
	}
	return nil
}

// record adds one record.
func (b *builder) record(h *placed, p *part) error {
	var name, data []byte
	numbers := map[int]int64{recClass: 1, recTTL: 1}
	if p.section == dnsQuery {
		numbers[recType] = 1
		name = []byte("www.netsniff-ng.com\x00") // trafgen forgets the lengths of the parts
	}
	lenSet := false
	for _, s := range p.settings {
		switch v := s.value; {
		case v.what == isDinc || v.what == isDrnd:
			return s.pos.errorf("a record of dns() cannot change from frame to frame")
		case s.field == recName:
			var err error
			if name, err = domainName(v.pos, v.data); err != nil {
				return err
			}
		case s.field == recData && v.what == isText:
			data = append(slices.Clip(v.data), 0) // as C has strings
		case s.field == recData:
			data = v.data
		default:
			numbers[s.field] = v.num
			lenSet = lenSet || s.field == recLen
		}
	}
	if !lenSet {
		numbers[recLen] = int64(len(data))
	}
	b.bytes = append(b.bytes, name...)
	b.bytes = binary.BigEndian.AppendUint16(b.bytes, uint16(numbers[recType]))
	b.bytes = binary.BigEndian.AppendUint16(b.bytes, uint16(numbers[recClass]))
	if p.section != dnsQuery {
		b.bytes = binary.BigEndian.AppendUint32(b.bytes, uint32(numbers[recTTL]))
		b.bytes = binary.BigEndian.AppendUint16(b.bytes, uint16(numbers[recLen]))
		b.bytes = append(b.bytes, data...)
	}
	return nil
}
