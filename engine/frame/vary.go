package frame

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// Vary is what changes in the headers of a stream, besides IP ID, sequence and time. Comparable; the zero value changes nothing.
type Vary struct {
	SrcMAC, DstMAC   Range
	SrcIP, DstIP     Range // of IPv6 the lower 64 bits
	SrcPort, DstPort Range
	VLAN             Range
	TTL, TOS         Range
}

// Range is how one field of the headers changes from frame to frame; the zero value is a field that does not.
type Range struct {
	On             bool
	Op             Op // Increment, Decrement or Random
	From, To, Step uint64
	PerFlow        bool // each flow keeps its own value, instead of one for each frame
}

// ephemeral is the first port that is nobody's (RFC 6335).
const ephemeral = 49152

// MaxFlows bounds Flows, so that a source port and a lower half of an IPv4 address can hold them.
const MaxFlows = 65_000

// Low is the number that a Range of IP addresses counts in: all of an IPv4 address, the lower 64 bits of an IPv6 one.
func Low(a netip.Addr) uint64 {
	if a.Is4() {
		b := a.As4()
		return uint64(binary.BigEndian.Uint32(b[:]))
	}
	b := a.As16()
	return binary.BigEndian.Uint64(b[8:])
}

// WithLow is a with another number in the place of Low's.
func WithLow(a netip.Addr, low uint64) netip.Addr {
	if a.Is4() {
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], uint32(low))
		return netip.AddrFrom4(b)
	}
	b := a.As16()
	binary.BigEndian.PutUint64(b[8:], low)
	return netip.AddrFrom16(b)
}

// Low is the number that a Range of MAC addresses counts in.
func (m MAC) Low() uint64 {
	var b [8]byte
	copy(b[2:], m[:])
	return binary.BigEndian.Uint64(b[:])
}

// MACOf is the address of a number.
func MACOf(n uint64) MAC {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	return MAC(b[2:])
}

// validate says what of v the layers of s do not have.
func (v Vary) validate(s Spec) error {
	switch {
	case s.Flows > MaxFlows:
		return fmt.Errorf("flows %d: 1 to %d", s.Flows, MaxFlows)
	case s.Hex != "" && (v != Vary{} || s.Flows > 1):
		return fmt.Errorf("hex: raw bytes have no header fields that could change: set those knobs to one value, and flows 1")
	case !s.Proto.Ports() && (v.SrcPort.On || v.DstPort.On):
		return fmt.Errorf("proto %s has no ports to change: set src-port and dst-port to one value", s.Proto)
	case v.VLAN.On && s.VLAN == 0:
		return fmt.Errorf("vlan: there is no tag whose identifier could change")
	}
	for _, r := range []Range{v.SrcMAC, v.DstMAC, v.SrcIP, v.DstIP, v.SrcPort, v.DstPort, v.VLAN, v.TTL, v.TOS} {
		if r.On && r.PerFlow && s.Flows <= 1 {
			return fmt.Errorf("per flow: there is one flow: set flows to 2 or more")
		}
	}
	return nil
}

// fields are the places in the headers of s that change.
func (s Spec) fields() []Field {
	if s.Hex != "" {
		return nil
	}
	v := s.Vary
	if s.Flows > 1 {
		// Both the addresses and the ports: many NICs hash UDP by addresses alone, and the kernel by all of them.
		if !v.SrcIP.On {
			v.SrcIP = flowRange(Low(s.SrcIP), s.Flows, Low(s.SrcIP)|0xffff)
		}
		if !v.SrcPort.On && s.Proto.Ports() {
			first := uint64(s.SrcPort)
			if first < 1024 {
				first = ephemeral // the ports below mean something, also to those who take the frames apart
			}
			v.SrcPort = flowRange(first, s.Flows, 65535)
		}
	}
	var out []Field
	add := func(r Range, offset, length int, mask uint64) {
		if r.On {
			out = append(out, s.field(r, offset, length, mask))
		}
	}
	l3 := s.l3()
	add(v.DstMAC, 0, 6, 0)
	add(v.SrcMAC, 6, 6, 0)
	if s.VLAN != 0 {
		add(v.VLAN, ethernetLen+s.tags()-vlanLen, 2, 0xfff)
	}
	switch {
	case s.Proto == ARP:
		add(v.SrcMAC, l3+8, 6, 0) // the sender says who it is a second time
		add(v.SrcIP, l3+14, 4, 0)
		add(v.DstIP, l3+24, 4, 0)
		return out
	case s.v6():
		add(v.TOS, l3, 2, 0x0ff0)
		add(v.TTL, l3+7, 1, 0)
		add(v.SrcIP, l3+16, 8, 0)
		add(v.DstIP, l3+32, 8, 0)
	default:
		add(v.TOS, l3+1, 1, 0)
		add(v.TTL, l3+8, 1, 0)
		add(v.SrcIP, l3+12, 4, 0)
		add(v.DstIP, l3+16, 4, 0)
	}
	if s.Proto.Ports() {
		add(v.SrcPort, s.l4(), 2, 0)
		add(v.DstPort, s.l4()+2, 2, 0)
	}
	return out
}

// flowRange is n values in turn from a first one, moved down where they would pass the last that there is.
func flowRange(first uint64, n int, last uint64) Range {
	first = min(first, last-uint64(n-1))
	return Range{On: true, From: first, To: first + uint64(n-1), Step: 1}
}

// field makes a Field of a range. Random ones of different limits are independent.
func (s Spec) field(r Range, offset, length int, mask uint64) Field {
	f := Field{Offset: offset, Len: length, Mask: mask, Op: r.Op, From: r.From, To: r.To, Step: max(r.Step, 1)}
	f.Seed = Mix64(fieldSeed, Mix64(r.From, r.To)+uint64(length))
	if r.PerFlow {
		values := make([]uint64, s.Flows)
		for i := range values {
			values[i] = f.Value(uint64(i))
		}
		f.Op, f.Values = List, values
	}
	return f
}

// fieldSeed is any number: random fields are to be the same in every run.
const fieldSeed = 1624
