package frame

import "encoding/binary"

// Sum adds up b as big-endian 16-bit words, an odd last byte padded with a zero: the sum that RFC 1071 folds and complements.
// It cannot overflow for what fits in a frame (128 KiB and less).
func Sum(b []byte) uint32 {
	var sum uint32
	for len(b) >= 2 {
		sum += uint32(b[0])<<8 | uint32(b[1])
		b = b[2:]
	}
	if len(b) == 1 {
		sum += uint32(b[0]) << 8
	}
	return sum
}

// Halves is what a 32-bit field at an even offset adds to a Sum.
func Halves(v uint32) uint32 { return v>>16 + v&0xffff }

// Fold brings a sum down to 16 bits, carries added in. Its complement is the checksum.
func Fold(sum uint32) uint16 {
	sum = sum>>16 + sum&0xffff
	return uint16(sum>>16 + sum)
}

// UDPChecksum is the checksum of a UDP sum as it is sent: zero would mean "no checksum" and is sent as 0xffff (RFC 768).
func UDPChecksum(sum uint32) uint16 {
	c := ^Fold(sum)
	if c == 0 {
		return 0xffff
	}
	return c
}

// Where a field stands to another in every kind of frame; known to the compiler, they save bounds checks per frame.
const (
	ipidToIPSum    = 6
	udpSumToHeader = 2
	udpSumToWorker = udpSumToHeader + headerLen
)

// Stamp is all that the frames of one batch have in common: where a template's changing places are, and the checksums' partial sums
// with time and worker added in. It is a value for the stack of one worker, made once per batch by Template.Stamp.
type Stamp struct {
	ipid    int // -1 on IPv6
	udpSum  int // -1 where nothing that the UDP checksum covers changes
	ipBase  uint32
	udpBase uint32
	time    uint64 // seconds, microseconds
	worker  uint16
	numbers bool // frames carry the worker's number
}

// Stamp prepares the frames of a batch: sec and usec are the time they carry (pktgen uses the Unix time, cut to 32 bits), worker is the
// number of the sender. Only frames of UDP are made so, and frames without a pktgen header; others are for a Mill.
//
// The template's checksums are those of its bytes with all changing fields zero. RFC 1624 (equation 3) takes HC' = ~(~HC + ~m + m'),
// and with m = 0 that is ~(~HC + m'): the old sum need only be complemented once, and the new fields added.
func (t *Template) Stamp(sec, usec uint32, worker uint16) Stamp {
	s := Stamp{ipid: t.IPID, udpSum: -1, time: uint64(sec)<<32 | uint64(usec), worker: worker}
	if t.IPSum >= 0 {
		s.ipBase = uint32(^binary.BigEndian.Uint16(t.Bytes[t.IPSum:]))
	}
	if t.Header >= 0 {
		s.udpSum = t.UDPSum
		s.udpBase = uint32(^binary.BigEndian.Uint16(t.Bytes[t.UDPSum:])) + Halves(sec) + Halves(usec)
	}
	if t.Worker >= 0 {
		s.numbers = true
		s.udpBase += uint32(worker)
	}
	return s
}

// Patch makes the next frame of b, which holds a copy of the template or an earlier frame made of it. It writes the changing fields and
// the checksums, in place and without reading b; no other byte is touched. The frame must begin at b[0].
func (s *Stamp) Patch(b []byte, id uint16, seq uint32) {
	if s.ipid >= 0 {
		ip := b[s.ipid : s.ipid+ipidToIPSum+2]
		binary.BigEndian.PutUint16(ip, id)
		binary.BigEndian.PutUint16(ip[ipidToIPSum:], ^Fold(s.ipBase+uint32(id)))
	}
	if s.udpSum < 0 {
		return
	}
	udp := b[s.udpSum : s.udpSum+udpSumToWorker]
	binary.BigEndian.PutUint16(udp, UDPChecksum(s.udpBase+Halves(seq)))
	binary.BigEndian.PutUint32(udp[udpSumToHeader+4:], seq)
	binary.BigEndian.PutUint64(udp[udpSumToHeader+8:], s.time)
	if s.numbers {
		binary.BigEndian.PutUint16(b[s.udpSum+udpSumToWorker:], s.worker)
	}
}

// Patch makes one frame of b as Stamp.Patch does, for who sends one frame at a time; it takes several times as long.
func (t *Template) Patch(b []byte, id uint16, seq, sec, usec uint32, worker uint16) {
	s := t.Stamp(sec, usec, worker)
	s.Patch(b, id, seq)
}
