package pcap

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/big"
)

// The file format of pcapng: draft-ietf-opsawg-pcapng.
const (
	blockSection   = 0x0a0d0d0a
	blockInterface = 1
	blockPacket    = 2 // obsolete
	blockSimple    = 3
	blockEnhanced  = 6

	orderMagic = 0x1a2b3c4d
	maxBlock   = 1 << 27 // a block longer than this is no block

	optEnd        = 0
	optResolution = 9
	optOffset     = 14
)

// port is an interface of a section.
type port struct {
	ethernet bool
	link     uint16
	snaplen  uint32
	num, den uint64 // ns of a tick
	offset   int64  // ns
}

// section is what a section header and its interfaces say.
type section struct {
	order binary.ByteOrder
	ports []port
	wrong string // link type of a frame that is not Ethernet
}

// readNG reads a pcapng file to its end.
func (f *File) readNG(in *input) error {
	s := section{order: binary.LittleEndian}
	for {
		var head [8]byte
		start := in.at
		if err := in.take(head[:]); err != nil {
			if len(f.index) == 0 && f.Foreign > 0 {
				return fmt.Errorf("%s: only captures of Ethernet (1) can be sent", s.wrong)
			}
			return f.ended(err)
		}
		damaged := func(what string, n uint32) error {
			return fmt.Errorf("byte %d: %s %d: the file is damaged", start, what, n)
		}
		kind, length := s.order.Uint32(head[:]), s.order.Uint32(head[4:])
		if kind == blockSection {
			magic, err := in.r.Peek(4)
			if err != nil {
				return f.ended(io.ErrUnexpectedEOF)
			}
			if s.order = binary.ByteOrder(binary.LittleEndian); s.order.Uint32(magic) != orderMagic {
				s.order = binary.BigEndian
			}
			if s.order.Uint32(magic) != orderMagic {
				return damaged("byte order", s.order.Uint32(magic))
			}
			length, s.ports = s.order.Uint32(head[4:]), nil
		}
		if length < 12 || length%4 != 0 || length > maxBlock {
			return damaged("a block of length", length)
		}
		rest := int(length) - 12 // body, without the length that follows it
		var err error
		switch kind {
		case blockInterface:
			err = s.addPort(in, rest)
		case blockEnhanced, blockPacket:
			err = f.addEnhanced(in, &s, kind, rest)
		case blockSimple:
			err = f.addSimple(in, &s, rest)
		default:
			err = in.skip(rest)
		}
		if err != nil {
			return f.ended(err)
		}
		var tail [4]byte
		if err := in.take(tail[:]); err != nil {
			return f.ended(unexpected(err))
		}
		if end := s.order.Uint32(tail[:]); end != length {
			return damaged("a block ends with length", end)
		}
	}
}

// addPort reads an interface description.
func (s *section) addPort(in *input, rest int) error {
	if rest < 8 || rest > 1<<20 {
		return fmt.Errorf("byte %d: an interface description of %d bytes: the file is damaged", in.at, rest)
	}
	b := make([]byte, rest)
	if err := in.take(b); err != nil {
		return unexpected(err)
	}
	p := port{link: s.order.Uint16(b), snaplen: s.order.Uint32(b[4:]), num: 1000, den: 1}
	p.ethernet = p.link == linkEthernet
	for b = b[8:]; len(b) >= 4; {
		code, n := s.order.Uint16(b), int(s.order.Uint16(b[2:]))
		padded := 4 + (n+3)/4*4
		if code == optEnd || padded > len(b) {
			break
		}
		switch v := b[4 : 4+n]; {
		case code == optResolution && n == 1:
			p.resolve(v[0])
		case code == optOffset && n == 8:
			if sec := int64(s.order.Uint64(v)); sec > -math.MaxInt32 && sec < 1<<33 {
				p.offset = sec * 1e9
			}
		}
		b = b[padded:]
	}
	s.ports = append(s.ports, p)
	return nil
}

// resolve takes if_tsresol: a negative power of 10, or of 2 where the highest bit is set.
func (p *port) resolve(v byte) {
	base, n := int64(10), v&0x7f
	if v&0x80 != 0 {
		base = 2
	}
	if n > 63 {
		return
	}
	tick := new(big.Rat).SetFrac(big.NewInt(1e9), new(big.Int).Exp(big.NewInt(base), big.NewInt(int64(n)), nil))
	if tick.Num().IsUint64() && tick.Denom().IsUint64() {
		p.num, p.den = tick.Num().Uint64(), tick.Denom().Uint64()
	}
}

// time is a time stamp in ns.
func (p *port) time(ticks uint64) int64 {
	v := new(big.Int).SetUint64(ticks)
	if p.den == 1 && ticks < math.MaxInt64/max(p.num, 1) {
		return int64(ticks*p.num) + p.offset
	}
	v.Mul(v, new(big.Int).SetUint64(p.num)).Quo(v, new(big.Int).SetUint64(p.den))
	if !v.IsInt64() {
		return 0
	}
	return v.Int64() + p.offset
}

// addEnhanced reads a block with a frame and its time.
func (f *File) addEnhanced(in *input, s *section, kind uint32, rest int) error {
	var b [20]byte
	if rest < len(b) {
		return fmt.Errorf("byte %d: a packet block of %d bytes: the file is damaged", in.at, rest)
	}
	if err := in.take(b[:]); err != nil {
		return unexpected(err)
	}
	number := s.order.Uint32(b[:])
	if kind == blockPacket {
		number = uint32(s.order.Uint16(b[:]))
	}
	if int64(number) >= int64(len(s.ports)) {
		return fmt.Errorf("byte %d: a packet of interface %d, of which there is no description: the file is damaged", in.at, number)
	}
	p := &s.ports[number]
	ticks := uint64(s.order.Uint32(b[4:]))<<32 | uint64(s.order.Uint32(b[8:]))
	caplen, origlen := s.order.Uint32(b[12:]), s.order.Uint32(b[16:])
	return f.addFrame(in, s, p, caplen, origlen, p.time(ticks), rest-len(b))
}

// addSimple reads a block with a frame alone: it was captured on the first interface, when the one before was.
func (f *File) addSimple(in *input, s *section, rest int) error {
	var b [4]byte
	if rest < len(b) || len(s.ports) == 0 {
		return fmt.Errorf("byte %d: a simple packet block of %d bytes without an interface: the file is damaged", in.at, rest)
	}
	if err := in.take(b[:]); err != nil {
		return unexpected(err)
	}
	origlen := s.order.Uint32(b[:])
	caplen := min(origlen, uint32(rest-len(b)))
	if snap := s.ports[0].snaplen; snap > 0 {
		caplen = min(caplen, snap)
	}
	last := int64(0)
	if n := len(f.times); n > 0 {
		last = f.times[n-1]
	}
	return f.addFrame(in, s, &s.ports[0], caplen, origlen, last, rest-len(b))
}

// addFrame reads a frame of caplen bytes and what follows it, rest bytes in all.
func (f *File) addFrame(in *input, s *section, p *port, caplen, origlen uint32, ns int64, rest int) error {
	if int64(caplen) > int64(rest) {
		return fmt.Errorf("byte %d: a packet of %d bytes in a block with room for %d: the file is damaged", in.at, caplen, rest)
	}
	if !p.ethernet {
		s.wrong = fmt.Sprintf("link type %d", p.link)
		f.Foreign++
		return in.skip(rest)
	}
	if err := f.add(in, caplen, origlen, ns); err != nil {
		return err
	}
	return in.skip(rest - int(caplen))
}
