package verify

import (
	"encoding/binary"
	"math/bits"
)

// Fault says what is wrong with a frame.
type Fault uint8

// The faults. Unnumbered is none of the frame's own: it carries no pktgen header, or is of a kind that Parse does not read.
const (
	Good Fault = iota
	BadLength
	BadIPSum
	BadL4Sum
	Unnumbered
)

// Sum says how much of a frame's checksum could be checked.
type Sum uint8

// The kinds of checks: Full, the pseudo-header's alone (the kernel left the sum to a device that never saw the frame), or none because the sender
// computed none.
const (
	Full Sum = iota
	Partial
	None
)

// Frame is what a numbered frame says of itself.
type Frame struct {
	Source uint64 // source MAC, as a number
	Micros uint64 // when it was made: Unix time in µs, seconds cut to 32 bits; 0 where its sender stamps no time
	Seq    uint32
	Worker uint16 // of the sender; 0 where the frame has no room for it
	Sum    Sum
}

// The pktgen header (net/core/pktgen.c, struct pktgen_hdr): magic, sequence, seconds, microseconds, all be32; ours is followed by the worker.
const (
	magic     = 0xbe9be955
	headerLen = 16
)

// maxTags bounds the VLAN tags, and the MPLS labels, that are looked through.
const maxTags = 8

// Parse reads a frame from its Ethernet header on and checks it: lengths, IP header checksum, and the checksum of UDP, TCP or ICMP. partial
// says that the kernel has left the transport checksum to a device (TP_STATUS_CSUMNOTREADY): then the field holds the sum of the
// pseudo-header. What f holds means something only where the fault is Good.
//
// It never reads beyond b, and takes anything for b.
func Parse(b []byte, partial bool, f *Frame) Fault {
	l3, v6, ok := network(b)
	if !ok {
		return Unnumbered
	}
	ip := b[l3:]
	var proto byte
	var l4 []byte // of the IP packet: what follows its header
	var pseudo uint64
	if v6 {
		const header = 40
		if len(ip) < header {
			return BadLength
		}
		length := header + int(binary.BigEndian.Uint16(ip[4:]))
		if !fits(length, len(ip), len(b)) {
			return BadLength
		}
		proto, l4 = ip[6], ip[header:length]
		pseudo = sum(ip[8:header]) + uint64(len(l4))
	} else {
		if len(ip) < 20 {
			return BadLength
		}
		header, length := int(ip[0]&15)*4, int(binary.BigEndian.Uint16(ip[2:]))
		if header < 20 || length < header || !fits(length, len(ip), len(b)) {
			return BadLength
		}
		if fold(sum(ip[:header])) != 0xffff {
			return BadIPSum
		}
		if binary.BigEndian.Uint16(ip[6:])&0x3fff != 0 {
			return Unnumbered // a fragment
		}
		proto, l4 = ip[9], ip[header:length]
		pseudo = sum(ip[12:20]) + uint64(len(l4))
	}
	var payload []byte
	var check uint16
	switch proto {
	case 17: // UDP
		if len(l4) < 8 || int(binary.BigEndian.Uint16(l4[4:])) != len(l4) {
			return BadLength
		}
		check, payload = binary.BigEndian.Uint16(l4[6:]), l4[8:]
		f.Sum = Full
		if check == 0 {
			f.Sum = None // RFC 768; over IPv6 RFC 6935
		}
	case 6: // TCP
		if len(l4) < 20 {
			return BadLength
		}
		header := int(l4[12]>>4) * 4
		if header < 20 || header > len(l4) {
			return BadLength
		}
		check, payload = binary.BigEndian.Uint16(l4[16:]), l4[header:]
		f.Sum = Full
	case 1, 58: // ICMP, of IPv6
		if len(l4) < 8 {
			return BadLength
		}
		check, payload = binary.BigEndian.Uint16(l4[2:]), l4[8:]
		f.Sum, partial = Full, false
		if proto == 1 {
			pseudo = 0
		}
	default:
		return Unnumbered
	}
	if pseudo != 0 {
		pseudo += uint64(proto)
	}
	switch {
	case f.Sum == None:
	case partial:
		if check != fold(pseudo) {
			return BadL4Sum
		}
		f.Sum = Partial
	case fold(pseudo+sum(l4)) != 0xffff:
		return BadL4Sum
	}
	if len(payload) < headerLen || binary.BigEndian.Uint32(payload) != magic {
		return Unnumbered
	}
	f.Seq = binary.BigEndian.Uint32(payload[4:])
	f.Micros = uint64(binary.BigEndian.Uint32(payload[8:]))*1e6 + uint64(binary.BigEndian.Uint32(payload[12:]))
	f.Worker = 0
	if len(payload) >= headerLen+2 {
		f.Worker = binary.BigEndian.Uint16(payload[headerLen:])
	}
	f.Source = binary.BigEndian.Uint64(b[4:]) & 0xffff_ffff_ffff // bytes 6 to 11
	return Good
}

// network finds the IP header behind Ethernet, VLAN tags and MPLS labels.
func network(b []byte) (at int, v6, ok bool) {
	at = 12
	for range maxTags {
		if len(b) < at+2 {
			return 0, false, false
		}
		kind := binary.BigEndian.Uint16(b[at:])
		at += 2
		switch kind {
		case 0x0800:
			return at, false, len(b) > at && b[at]>>4 == 4
		case 0x86dd:
			return at, true, len(b) > at && b[at]>>4 == 6
		case 0x8100, 0x88a8, 0x9100:
			at += 2
		case 0x8847, 0x8848:
			return label(b, at)
		default:
			return 0, false, false
		}
	}
	return 0, false, false
}

// label finds the IP header behind MPLS labels: only its version tells what it is.
func label(b []byte, at int) (_ int, v6, ok bool) {
	for range maxTags {
		if len(b) < at+5 {
			return 0, false, false
		}
		bottom := b[at+2]&1 != 0
		at += 4
		if bottom {
			version := b[at] >> 4
			return at, version == 6, version == 4 || version == 6
		}
	}
	return 0, false, false
}

// fits says whether an IP packet of length bytes is what the frame holds: all of it, or with padding up to the smallest frame.
func fits(length, held, frame int) bool { return length == held || length < held && frame <= 60 }

// sum adds up b as big-endian 16-bit words, modulo 2^16-1: what RFC 1071 folds. It takes eight bytes at a time (RFC 1071 section 2(C): the
// sum may be deferred, in words of any length).
func sum(b []byte) uint64 {
	var s, carry uint64
	for len(b) >= 32 {
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b), carry)
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b[8:]), carry)
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b[16:]), carry)
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b[24:]), carry)
		b = b[32:]
	}
	for len(b) >= 8 {
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b), carry)
		b = b[8:]
	}
	var rest [8]byte
	copy(rest[:], b)
	s, carry = bits.Add64(s, binary.BigEndian.Uint64(rest[:]), carry)
	// As 32-bit halves, so that what callers add does not overflow.
	return s>>32 + s&0xffff_ffff + carry
}

// fold brings a sum down to 16 bits.
func fold(s uint64) uint16 {
	s = s>>32 + s&0xffff_ffff
	s = s>>16 + s&0xffff
	s = s>>16 + s&0xffff
	return uint16(s>>16 + s)
}
