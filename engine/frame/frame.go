package frame

import "net/netip"

// MAC is an Ethernet address; comparable, unlike net.HardwareAddr.
type MAC [6]byte

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
