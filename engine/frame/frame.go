package frame

import (
	"fmt"
	"net/netip"
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
	headerLen   = 16 // of the pktgen header: magic, sequence, seconds, microseconds
	workerLen   = 2

	maxVLAN   = 4094  // 4095 is reserved by IEEE 802.1Q
	maxLength = 65535 // of the 16-bit length fields of IPv4, IPv6 and UDP
)

// Spec is what a stream's frames look like, before any byte of them exists. It is a value: change a copy.
type Spec struct {
	Size             int // bytes of the frame without FCS
	SrcMAC, DstMAC   MAC
	SrcIP, DstIP     netip.Addr // both IPv4 or both IPv6
	SrcPort, DstPort uint16
	VLAN             uint16 // 802.1Q identifier, 0 for an untagged frame
}

// Template is a Spec turned into bytes, with the places that a worker rewrites per frame. A place that the frame does not have is -1.
// The checksums in Bytes are right for the bytes as they stand (sequence, time stamp and IP ID all zero).
type Template struct {
	Bytes []byte

	IPID   int // offset of the IPv4 identification (be16), -1 on IPv6
	IPSum  int // offset of the IPv4 header checksum, -1 on IPv6
	UDPSum int // offset of the UDP checksum
	Header int // offset of the pktgen header (be32 magic, sequence, seconds, microseconds), -1 where the frame is too short for it
	Worker int // offset of two bytes (be16) after the pktgen header for the number of the worker, -1 where they do not fit
}

// Validate says in one line why no frame can be built of s, nil if one can. It does not know a device: MaxSize is the caller's to check,
// and so is MinSize, since a frame of fewer than 60 bytes can be built but not sent as it is.
func (s Spec) Validate() error {
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
	case s.VLAN > maxVLAN:
		return fmt.Errorf("VLAN %d: the highest is %d", s.VLAN, maxVLAN)
	case s.Size < s.headers():
		return fmt.Errorf("size %d: %s takes %d bytes of headers", s.Size, s.kind(), s.headers())
	case s.Size > s.headers()-s.l4Len()+maxLength:
		return fmt.Errorf("size %d: the length fields of %s end at %d bytes", s.Size, s.kind(), s.headers()-s.l4Len()+maxLength)
	}
	return nil
}

// kind names the layers for an operator.
func (s Spec) kind() string {
	k := "UDP over IPv4"
	if s.v6() {
		k = "UDP over IPv6"
	}
	if s.VLAN != 0 {
		k += " with a VLAN tag"
	}
	return k
}

func (s Spec) v6() bool { return s.DstIP.Is6() }

// l3 is the offset of the IP header.
func (s Spec) l3() int {
	if s.VLAN != 0 {
		return ethernetLen + vlanLen
	}
	return ethernetLen
}

// l4 is the offset of the UDP header.
func (s Spec) l4() int {
	if s.v6() {
		return s.l3() + ipv6Len
	}
	return s.l3() + ipv4Len
}

// l4Len is what counts towards the length field of the IP header: IPv6 leaves its own header out.
func (s Spec) l4Len() int {
	if s.v6() {
		return udpLen
	}
	return ipv4Len + udpLen
}

// headers is the length of all headers, and the offset of the UDP payload.
func (s Spec) headers() int { return s.l4() + udpLen }

// HasHeader says whether frames of s have room for the pktgen header.
func (s Spec) HasHeader() bool { return s.Size >= s.headers()+headerLen }
