package frame

import (
	"fmt"
	"math/bits"
	"slices"
)

// Packet is a frame as bytes, and what changes in it from one frame to the next: what a stream of knobs, a packet of a trafgen file, and raw bytes
// all become before they are sent. It is immutable once made; any number of goroutines may read it.
//
// Frame n of a packet (from 0) is Bytes with every Field at its value of frame n, in order, and then every Checksum, in order, over what stands
// there. Next says so in code. Everything is a function of n alone, so that several workers can share out the frames of one stream without
// sending one twice.
type Packet struct {
	Bytes  []byte // without FCS; what fields and checksums cover is overwritten
	Fields []Field
	Sums   []Checksum
	CPUs   []int // the only workers that send it, by number (trafgen's cpu()); nil: all
}

// Op says how a Field changes.
type Op uint8

// The ways a field changes: up or down by Step, around at the end of From..To; evenly distributed in From..To; through Values in turn.
const (
	Increment Op = iota
	Decrement
	Random
	List
)

// String returns the word for an operator.
func (o Op) String() string { return [...]string{"increment", "decrement", "random", "list"}[o] }

// Field is a big-endian number in a frame that is not the same in every frame.
type Field struct {
	Offset int    // of its first byte
	Len    int    // bytes, 1 to 8; Random alone may have more, all of them random
	Mask   uint64 // bits of the field that are written, contiguous; the value's lowest bit is the mask's lowest. 0: all
	Op     Op

	From, To uint64 // limits of the value, both included (not for List)
	Step     uint64 // Increment, Decrement
	Start    uint64 // how far the first frame's value is on its way: Increment begins at From + Start, Decrement at To - Start
	Every    uint64 // frames before the value changes; 0 is 1
	Seed     uint64 // Random: another seed, other numbers

	Values []uint64 // List: in turn; never written to
	Again  int      // List: index in Values where it goes on after the last one
}

// Checksum is an Internet checksum (RFC 1071) in a frame: two bytes at At, over the bytes from From up to To (not included), themselves taken as zero.
type Checksum struct {
	At       int
	From, To int
	Pseudo   int   // offset of the IP header whose pseudo-header is summed too, with the length To-From; -1 for none
	V6       bool  // that header is IPv6
	Proto    uint8 // protocol number in the pseudo-header
	NonZero  bool  // 0 is sent as 0xffff: UDP, where 0 means that there is none (RFC 768)
}

// The protocol numbers of the checksums with a pseudo-header.
const (
	ProtoTCP    = 6
	ProtoUDP    = 17
	ProtoICMPv6 = 58
)

// Validate says in one line why p cannot be sent, nil if it can. Sizes that a device refuses are not its business.
func (p *Packet) Validate() error {
	for i := range p.Fields {
		f := &p.Fields[i]
		switch {
		case f.Len < 1 || f.Len > 8 && f.Op != Random:
			return fmt.Errorf("field at byte %d: %d bytes: 1 to 8", f.Offset, f.Len)
		case f.Offset < 0 || f.Offset+f.Len > len(p.Bytes):
			return fmt.Errorf("field at byte %d of %d bytes: the frame has %d", f.Offset, f.Len, len(p.Bytes))
		case f.Op == List && (len(f.Values) == 0 || f.Again < 0 || f.Again >= len(f.Values)):
			return fmt.Errorf("field at byte %d: no values to go through", f.Offset)
		case f.Len > 8:
			continue
		case f.Mask&^f.all() != 0 || !contiguous(f.mask()):
			return fmt.Errorf("field at byte %d: mask %#x is not a run of bits in %d bytes", f.Offset, f.Mask, f.Len)
		case f.Op != List && (f.From > f.To || f.To > f.most()):
			return fmt.Errorf("field at byte %d: %d to %d: 0 to %d, the lower first", f.Offset, f.From, f.To, f.most())
		case f.Op != List && f.Op != Random && f.To-f.From != ^uint64(0) && f.Start > f.To-f.From:
			return fmt.Errorf("field at byte %d: it begins outside of %d to %d", f.Offset, f.From, f.To)
		}
		for _, v := range f.Values {
			if v > f.most() {
				return fmt.Errorf("field at byte %d: %d: at most %d", f.Offset, v, f.most())
			}
		}
	}
	for _, s := range p.Sums {
		least := ipv4Len
		if s.V6 {
			least = ipv6Len
		}
		switch {
		case s.At < 0 || s.At+2 > len(p.Bytes):
			return fmt.Errorf("checksum at byte %d: the frame has %d", s.At, len(p.Bytes))
		case s.From < 0 || s.To < s.From || s.To > len(p.Bytes):
			return fmt.Errorf("checksum at byte %d over bytes %d to %d: the frame has %d", s.At, s.From, s.To, len(p.Bytes))
		case s.Pseudo >= 0 && s.Pseudo+least > len(p.Bytes):
			return fmt.Errorf("checksum at byte %d: no IP header at byte %d: the frame has %d bytes", s.At, s.Pseudo, len(p.Bytes))
		}
	}
	return nil
}

// SentBy says whether a worker sends the packet.
func (p *Packet) SentBy(worker int) bool { return p.CPUs == nil || slices.Contains(p.CPUs, worker) }

// all are the bits of the field's bytes.
func (f *Field) all() uint64 { return ^uint64(0) >> (64 - 8*min(f.Len, 8)) }

// mask are the bits that are written.
func (f *Field) mask() uint64 {
	if f.Mask == 0 {
		return f.all()
	}
	return f.Mask
}

// most is the largest value that the bits hold.
func (f *Field) most() uint64 { return f.mask() >> bits.TrailingZeros64(f.mask()) }

func contiguous(mask uint64) bool {
	m := mask >> bits.TrailingZeros64(mask)
	return m != 0 && m&(m+1) == 0
}
