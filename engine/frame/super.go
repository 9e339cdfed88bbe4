package frame

import "encoding/binary"

// MaxSegments is how many frames a super-frame holds at most: what the kernel cuts of UDP (UDP_MAX_SEGMENTS, include/linux/udp.h), and TCP likewise.
const MaxSegments = 128

// The longest IP packet, and the longest super-frame: a packet like others until it is cut, with its Ethernet header and two VLAN tags.
const (
	maxPacket = 65535
	MaxSuper  = maxPacket + ethernetLen + 2*vlanLen
)

// Super is a Template's frames as one super-frame: the headers once, then the payloads of n frames, each with a pktgen header of its own. Whoever
// cuts it (the kernel's __udp_gso_segment and tcp_gso_segment, or a NIC) repeats the headers, sets the lengths, counts the IP ID and the TCP sequence
// number up and completes the checksums. What comes out is what Build and Patch, or a Mill, make of one frame at a time, to the byte.
type Super struct {
	Headers int  // bytes of headers, in front of the first payload
	Payload int  // bytes of payload of each frame: gso_size
	L4      int  // offset of the UDP or TCP header: csum_start
	Sum     int  // where the checksum stands in it: csum_offset
	TCP, V6 bool // what is cut: UDP or TCP, over IPv4 or IPv6
	Most    int  // frames that fit into one super-frame

	template []byte
	length   int      // offset of the IP header's length field
	overhead int      // what that length counts besides the payloads
	stamp    int      // offset of the pktgen header in a payload, -1 without one
	ipid     int      // offset of the IPv4 ID, -1 on IPv6
	ipSum    int      // offset of the IPv4 header checksum
	ipBase   []uint32 // of n frames: complement of the header checksum with ID 0
	pseudo   uint32   // sum of the pseudo-header without the length
}

// Offsets in the headers of UDP and TCP.
const (
	udpToLen = 4
	udpToSum = 6
	tcpToSeq = 4
	tcpToSum = 16
)

// NewSuper makes the super-frames of t, which must be Build(s), of UDP or TCP.
func NewSuper(s Spec, t Template) Super {
	u := Super{
		Headers: s.headers(), L4: s.l4(), Payload: s.Size - s.headers(), Sum: udpToSum, TCP: s.Proto == TCP, V6: s.v6(),
		template: t.Bytes, length: s.l3() + 2, overhead: s.l4Len(), stamp: -1, ipid: t.IPID, ipSum: t.IPSum,
	}
	if t.Header >= 0 {
		u.stamp = t.Header - u.Headers
	}
	addresses := t.Bytes[s.l3()+12 : s.l3()+20]
	if u.V6 {
		u.length = s.l3() + 4
		addresses = t.Bytes[s.l3()+8 : s.l3()+40]
	}
	u.pseudo = Sum(addresses) + ProtoUDP
	if u.TCP {
		u.Sum, u.pseudo = tcpToSum, Sum(addresses)+ProtoTCP
	}
	u.Most = 1
	if u.Payload > 0 {
		u.Most = min(MaxSegments, max(1, (maxPacket-u.overhead)/u.Payload))
	}
	u.ipBase = make([]uint32, u.Most+1)
	if u.ipid >= 0 {
		head := append([]byte(nil), t.Bytes[s.l3():s.l3()+ipv4Len]...)
		for n := range u.ipBase {
			binary.BigEndian.PutUint16(head[2:], uint16(u.overhead+n*u.Payload))
			binary.BigEndian.PutUint16(head[10:], 0)
			u.ipBase[n] = uint32(Fold(Sum(head)))
		}
	}
	return u
}

// Size is the length in bytes of a super-frame of n frames.
func (u *Super) Size(n int) int { return u.Headers + n*u.Payload }

// Fill writes a super-frame of n frames, 1 to Most, that Patch has yet to number. b must have Size(n) bytes. The checksum is the sum of the
// pseudo-header, as VIRTIO_NET_HDR_F_NEEDS_CSUM wants it.
func (u *Super) Fill(b []byte, n int) {
	copy(b, u.template)
	payload := u.template[u.Headers:]
	for i := 1; i < n; i++ {
		copy(b[u.Headers+i*u.Payload:], payload)
	}
	l4 := u.Headers - u.L4 + n*u.Payload
	binary.BigEndian.PutUint16(b[u.length:], uint16(u.overhead+n*u.Payload))
	if !u.TCP {
		binary.BigEndian.PutUint16(b[u.L4+udpToLen:], uint16(l4))
	}
	binary.BigEndian.PutUint16(b[u.L4+u.Sum:], Fold(u.pseudo+uint32(l4)))
}

// Patch numbers the n frames of a filled super-frame: IP IDs and TCP sequence numbers from id as a Mill does, sequence numbers from seq. s must be a
// Stamp of the same template.
func (u *Super) Patch(b []byte, n int, s *Stamp, id, seq uint32) {
	if u.ipid >= 0 {
		binary.BigEndian.PutUint16(b[u.ipid:], uint16(id))
		binary.BigEndian.PutUint16(b[u.ipSum:], ^Fold(u.ipBase[n]+id&0xffff))
	}
	if u.TCP {
		binary.BigEndian.PutUint32(b[u.L4+tcpToSeq:], (id-1)*uint32(u.Payload))
	}
	if u.stamp < 0 {
		return
	}
	at := u.Headers + u.stamp
	for ; n > 0; n-- {
		h := b[at : at+headerLen]
		binary.BigEndian.PutUint32(h[4:8], seq)
		binary.BigEndian.PutUint64(h[8:16], s.time)
		if s.numbers {
			binary.BigEndian.PutUint16(b[at+headerLen:], s.worker)
		}
		seq++
		at += u.Payload
	}
}
