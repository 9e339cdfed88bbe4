package frame

import (
	"encoding/binary"
	"errors"

	"golang.org/x/net/bpf"
)

// ErrNoMarks is wrapped by Filter where frames have too little in common to be told from those of others.
var ErrNoMarks = errors.New("the frames have too little in common to be told from those of others")

// Pattern is what a receiver knows frames by: bytes that they all have, as they stand on the wire. It is immutable.
type Pattern struct {
	value, mask []byte // of the first bytes of the frame; mask bits are 1 where value counts
}

const (
	patternLen = 96 // bytes of a frame that are looked at
	fewMarks   = 8  // bytes that must be known, or anything could be ours
)

// NewPattern makes a pattern of the bytes of value whose bits in mask are 1; both have the same length. nil is returned where so few bytes are known
// that foreign frames would pass.
func NewPattern(value, mask []byte) *Pattern {
	n := min(len(value), patternLen)
	p := &Pattern{make([]byte, n), make([]byte, n)}
	known := 0
	for i := range n {
		p.mask[i] = mask[i]
		p.value[i] = value[i] & mask[i]
		if mask[i] == 0xff {
			known++
		}
	}
	if known < fewMarks {
		return nil
	}
	return p
}

// Pattern is what all frames of p have in common, but for the destination MAC; nil where that is too little.
func (p *Packet) Pattern() *Pattern {
	mask := make([]byte, len(p.Bytes))
	for i := 6; i < len(mask); i++ {
		mask[i] = 0xff
	}
	p.unmask(mask)
	return NewPattern(p.Bytes, mask)
}

// unmask takes away the bits that differ from frame to frame.
func (p *Packet) unmask(mask []byte) {
	for i := range p.Fields {
		f := &p.Fields[i]
		b := mask[f.Offset : f.Offset+f.Len]
		if f.Len > 8 {
			clear(b)
			continue
		}
		f.write(b, 0)
	}
	for _, s := range p.Sums {
		mask[s.At], mask[s.At+1] = 0, 0
	}
}

// simple says whether the frames of s are of the kind that match knows.
func (s Spec) simple() bool {
	return s.Pattern == nil && s.Hex == "" && s.Proto == UDP && s.MPLS.Depth() == 0 && s.Outer == 0 && s.Vary == Vary{} && s.Flows <= 1 && s.ttl() == ttl && s.TOS == 0
}

// pattern is what all frames of s have in common.
func (s Spec) pattern() *Pattern {
	s = s.At(s.Least())
	p, err := s.Packet()
	if err != nil {
		return nil
	}
	mask := make([]byte, len(p.Bytes))
	for i := 6; i < len(mask); i++ {
		mask[i] = 0xff
	}
	p.unmask(mask)
	forget := func(from, n int) { clear(mask[from : from+n]) }
	if s.Proto == TCP && s.Hex == "" {
		forget(s.l4()+tcpToSeq, 4)
	}
	switch l3 := s.l3(); {
	case s.Hex != "" || s.Proto == ARP:
	case s.v6():
		forget(l3+4, 2) // length
	default:
		forget(l3+2, 4) // length and ID
	}
	if s.Hex == "" && s.Proto != ARP {
		if s.Proto == UDP {
			forget(s.l4()+4, 2) // length
		}
		if s.HasHeader() {
			forget(s.headers()+4, min(headerLen+workerLen, s.Size-s.headers())-4)
		} else {
			forget(s.headers(), min(headerLen+workerLen, s.Size-s.headers())) // longer frames have one
		}
	}
	return NewPattern(p.Bytes, mask)
}

// block compares a frame to the pattern and accepts it, or falls off its end. An outer VLAN tag is not among the bytes that a packet socket is given
// (see Filter).
func (p *Pattern) block() []bpf.Instruction {
	value, mask := p.value, p.mask
	var b block
	if t := binary.BigEndian.Uint16(append(append([]byte{}, value[min(12, len(value)):]...), 0, 0)); len(value) >= 16 && (t == 0x8100 || t == 0x88a8) {
		b.add(bpf.LoadExtension{Num: bpf.ExtVLANTagPresent})
		b.equal(1)
		tag, bits := uint32(binary.BigEndian.Uint16(value[14:])), uint32(binary.BigEndian.Uint16(mask[14:]))
		b.add(bpf.LoadExtension{Num: bpf.ExtVLANTag}, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: bits})
		b.equal(tag)
		value = append(append([]byte{}, value[:12]...), value[16:]...)
		mask = append(append([]byte{}, mask[:12]...), mask[16:]...)
	} else if len(value) > 12 { // shorter ones say nothing of what follows the addresses
		b.add(bpf.LoadExtension{Num: bpf.ExtVLANTagPresent})
		b.equal(0)
	}
	for i := 0; i < len(value); {
		size := 4
		if i+4 > len(value) {
			size = 1
		}
		v, m := number(value[i:i+size]), number(mask[i:i+size])
		if m != 0 {
			b.add(bpf.LoadAbsolute{Off: uint32(i), Size: size})
			if m != number([]byte{0xff, 0xff, 0xff, 0xff}[:size]) {
				b.add(bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: m})
			}
			b.equal(v)
		}
		i += size
	}
	b.add(bpf.RetConstant{Val: accept})
	return b.finish()
}

func number(b []byte) uint32 {
	var n uint32
	for _, c := range b {
		n = n<<8 | uint32(c)
	}
	return n
}
