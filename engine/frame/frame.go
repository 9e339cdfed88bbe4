package frame

import (
	"fmt"
	"net/netip"
	"strings"
)

// Magic is the first word of the pktgen header (net/core/pktgen.c, PKTGEN_MAGIC).
const Magic = 0xbe9be955

// What every frame carries. RFC 2544 wants a TTL that survives a few hops; the rest are lengths in bytes.
const (
	ttl = 32

	ethernetLen = 14
	vlanLen     = 4
	ipv4Len     = 20
	ipv6Len     = 40
	udpLen      = 8
	tcpLen      = 20
	icmpLen     = 8
	arpLen      = 28
	mplsLen     = 4
	headerLen   = 16 // of the pktgen header: magic, sequence, seconds, microseconds
	workerLen   = 2

	maxVLAN   = 4094  // 4095 is reserved by IEEE 802.1Q
	maxLength = 65535 // of the 16-bit length fields of IPv4, IPv6 and UDP
)

// Spec is what a stream's frames look like, before any byte of them exists. It is a value: change a copy.
//
// Comparable: two specs that are equal make the same frames.
type Spec struct {
	Size             int  // bytes of the frame without FCS; with Sizes, the largest of them
	Sizes            *Mix // nil: all frames have Size
	SrcMAC, DstMAC   MAC
	SrcIP, DstIP     netip.Addr // both IPv4 or both IPv6
	SrcPort, DstPort uint16
	VLAN             uint16 // 802.1Q identifier, 0 for an untagged frame
	Outer            uint16 // identifier of an 802.1ad tag in front of the other (QinQ), 0 for none
	MPLS             Labels
	Proto            Proto
	TTL              uint8  // hop limit on IPv6; 0 is 32
	TOS              uint8  // traffic class on IPv6
	Payload          string // what follows the headers, see ParsePayload; "" is zeros
	Hex              string // the frame's first bytes in lower-case hexadecimal instead of all the headers above, "" for those
	Vary             Vary
	Flows            int // flows that the frames are spread over, in turn; 0 and 1 are one

	Pattern *Pattern // set where the frames are not made of this Spec at all: what a receiver knows them by
}

// Template is a Spec turned into bytes, with the places that a worker rewrites per frame. A place that the frame does not have is -1.
// The checksums in Bytes are right for the bytes as they stand (sequence, time stamp and IP ID all zero).
type Template struct {
	Bytes []byte

	IPID   int // offset of the IPv4 identification (be16), -1 on IPv6
	IPSum  int // offset of the IPv4 header checksum, -1 on IPv6
	UDPSum int // offset of the checksum of UDP, TCP or ICMP, -1 without one
	Header int // offset of the pktgen header (be32 magic, sequence, seconds, microseconds), -1 where the frame is too short for it
	Worker int // offset of two bytes (be16) after the pktgen header for the number of the worker, -1 where they do not fit
}

// Validate says in one line why no frame can be built of s, nil if one can. It does not know a device: MaxSize is the caller's to check,
// and so is MinSize, since a frame of fewer than 60 bytes can be built but not sent as it is.
func (s Spec) Validate() error {
	if err := s.validateLayers(); err != nil {
		return err
	}
	switch {
	case s.Least() < s.headers():
		return fmt.Errorf("size %d: %s takes %d bytes of headers", s.Least(), s.kind(), s.headers())
	case s.Size > s.headers()-s.l4Len()+maxLength:
		return fmt.Errorf("size %d: the length fields of %s end at %d bytes", s.Size, s.kind(), s.headers()-s.l4Len()+maxLength)
	}
	return s.Vary.validate(s)
}

// validateLayers is Validate without the size.
func (s Spec) validateLayers() error {
	if s.Hex != "" {
		return nil // whatever the operator wrote
	}
	switch {
	case !s.SrcIP.IsValid() || !s.DstIP.IsValid():
		return fmt.Errorf("source IP %v, destination IP %v: both must be given", s.SrcIP, s.DstIP)
	case s.SrcIP.Is4In6() || s.DstIP.Is4In6():
		return fmt.Errorf("source IP %v, destination IP %v: write an IPv4 address as 198.18.0.1, not as mapped to IPv6", s.SrcIP, s.DstIP)
	case s.SrcIP.Is4() != s.DstIP.Is4():
		return fmt.Errorf("source IP %v, destination IP %v: one is IPv4, the other IPv6: change both", s.SrcIP, s.DstIP)
	case s.SrcIP.Zone() != "" || s.DstIP.Zone() != "":
		return fmt.Errorf("source IP %v, destination IP %v: a frame cannot carry a zone: leave out what follows the %%", s.SrcIP, s.DstIP)
	case !s.SrcMAC.Unicast():
		return fmt.Errorf("source MAC %v is not a unicast address: the lowest bit of its first byte must be 0, and not all of it", s.SrcMAC)
	case max(s.VLAN, s.Outer) > maxVLAN:
		return fmt.Errorf("VLAN %d: the highest is %d", max(s.VLAN, s.Outer), maxVLAN)
	case s.Outer != 0 && s.VLAN == 0:
		return fmt.Errorf("VLAN: an outer tag %d needs an inner one", s.Outer)
	case s.Proto == ARP && s.v6():
		return fmt.Errorf("proto arp with IPv6 addresses: ARP is for IPv4: set dst-ip to an IPv4 address")
	case s.Proto == ARP && s.MPLS.Depth() > 0:
		return fmt.Errorf("proto arp with MPLS labels: ARP is not for MPLS: set mpls none")
	}
	return nil
}

// kind names the layers for an operator.
func (s Spec) kind() string {
	if s.Hex != "" {
		return "hex"
	}
	k := strings.ToUpper(s.Proto.String())
	switch {
	case s.Proto == ARP:
	case s.v6():
		k += " over IPv6"
	default:
		k += " over IPv4"
	}
	if s.MPLS.Depth() > 0 {
		k += " over MPLS"
	}
	switch {
	case s.Outer != 0:
		k += " with two VLAN tags"
	case s.VLAN != 0:
		k += " with a VLAN tag"
	}
	return k
}

func (s Spec) v6() bool { return s.DstIP.Is6() }

// tags is the length of the VLAN tags.
func (s Spec) tags() int {
	n := 0
	for _, id := range []uint16{s.VLAN, s.Outer} {
		if id != 0 {
			n += vlanLen
		}
	}
	return n
}

// l3 is the offset of the IP header, or of ARP's.
func (s Spec) l3() int { return ethernetLen + s.tags() + mplsLen*s.MPLS.Depth() }

// l4 is the offset of the header behind that of IP.
func (s Spec) l4() int {
	if s.v6() {
		return s.l3() + ipv6Len
	}
	return s.l3() + ipv4Len
}

// l4Len is what headers count towards the length field of the IP header: IPv6 leaves its own header out.
func (s Spec) l4Len() int {
	switch {
	case s.Hex != "" || s.Proto == ARP:
		return 0 // no length field bounds these
	case s.v6():
		return s.Proto.header()
	}
	return ipv4Len + s.Proto.header()
}

// headers is the length of all headers, and the offset of the payload.
func (s Spec) headers() int {
	switch {
	case s.Hex != "":
		return len(s.Hex) / 2
	case s.Proto == ARP:
		return s.l3() + arpLen
	}
	return s.l4() + s.Proto.header()
}

// HasHeader says whether frames of s have room for the pktgen header, all of them; ARP and raw bytes never have it.
func (s Spec) HasHeader() bool {
	return s.Proto != ARP && s.Hex == "" && s.Pattern == nil && s.Least() >= s.headers()+headerLen
}

// Plain says whether all frames of s are the same but for payload and IP ID: what can be cut from one super-frame.
func (s Spec) Plain() bool { return s.Why() == "" }

// Why says in words what keeps frames of s from being cut from one super-frame, "" where nothing does.
func (s Spec) Why() string {
	switch {
	case s.Pattern != nil:
		return "frames of a file"
	case s.Hex != "":
		return "raw bytes"
	case !s.Proto.Ports():
		return "neither UDP nor TCP"
	case s.MPLS.Depth() > 0:
		return "MPLS"
	case s.Sizes != nil:
		return "sizes differ"
	case s.Vary != Vary{} || s.Flows > 1:
		return "headers differ"
	}
	return ""
}
