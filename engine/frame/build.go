package frame

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// Build makes the frame that s describes: exactly s.Size bytes, all checksums right, the payload as s.Payload says but for the pktgen magic where
// HasHeader. IPv4 frames have ID 0 and no DF; IPv6 frames have flow label 0. What varies has its first value. The error is that of Validate.
func Build(s Spec) (Template, error) {
	if err := s.Validate(); err != nil {
		return Template{}, err
	}
	s = s.At(s.Size)
	body := payload(s.Payload, s.Size-s.headers())
	if s.HasHeader() {
		clear(body[:min(len(body), headerLen+workerLen)])
		binary.BigEndian.PutUint32(body, Magic)
	}
	t := Template{IPID: -1, IPSum: -1, UDPSum: -1, Header: -1, Worker: -1}
	if s.Hex != "" {
		head, err := hex.DecodeString(s.Hex)
		if err != nil {
			return Template{}, fmt.Errorf("hex: %w", err)
		}
		t.Bytes = append(head, body...)
		return t, nil
	}
	buf := gopacket.NewSerializeBuffer()
	opt := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	if err := gopacket.SerializeLayers(buf, opt, append(s.layers(), gopacket.Payload(body))...); err != nil {
		return Template{}, fmt.Errorf("build %s frame of %d bytes: %w", s.kind(), s.Size, err)
	}
	// The Ethernet layer pads to 60 bytes; the slice takes that back where a shorter frame was asked for.
	t.Bytes = buf.Bytes()[:s.Size:s.Size]
	if s.Proto == ARP {
		return t, nil
	}
	sums := s.sums()
	t.UDPSum = sums[len(sums)-1].At
	if !s.v6() {
		t.IPID, t.IPSum = s.l3()+4, s.l3()+10
	}
	if s.HasHeader() {
		t.Header = s.headers()
		if s.Size >= t.Header+headerLen+workerLen {
			t.Worker = t.Header + headerLen
		}
	}
	// What varies begins with its first value, and the checksums with it.
	first := Packet{Bytes: t.Bytes, Fields: s.fields(), Sums: sums}
	if len(first.Fields) > 0 {
		first.Next(t.Bytes, 0)
	}
	return t, nil
}

// sums are the checksums in frames of s, of its own Size.
func (s Spec) sums() []Checksum {
	if s.Hex != "" || s.Proto == ARP {
		return nil
	}
	var out []Checksum
	if !s.v6() {
		out = append(out, Checksum{At: s.l3() + 10, From: s.l3(), To: s.l3() + ipv4Len, Pseudo: -1})
	}
	l4 := Checksum{At: s.l4() + 6, From: s.l4(), To: s.Size, Pseudo: s.l3(), V6: s.v6(), Proto: ProtoUDP, NonZero: true}
	switch s.Proto {
	case TCP:
		l4.At, l4.Proto, l4.NonZero = s.l4()+16, ProtoTCP, false
	case ICMP:
		l4.At, l4.Proto, l4.NonZero = s.l4()+2, ProtoICMPv6, false
		if !s.v6() {
			l4.Pseudo = -1
		}
	}
	return append(out, l4)
}

// Packet is the frames of s, of one size, with all that changes in them but IP ID, sequence number, time and worker.
func (s Spec) Packet() (Packet, error) {
	t, err := Build(s)
	if err != nil {
		return Packet{}, err
	}
	s = s.At(s.Size)
	return Packet{Bytes: t.Bytes, Fields: s.fields(), Sums: s.sums()}, nil
}

// layers returns the headers of a frame, outermost first.
func (s Spec) layers() []gopacket.SerializableLayer {
	eth := &layers.Ethernet{SrcMAC: s.SrcMAC[:], DstMAC: s.DstMAC[:]}
	inner := layers.EthernetTypeIPv4
	switch {
	case s.Proto == ARP:
		inner = layers.EthernetTypeARP
	case s.v6():
		inner = layers.EthernetTypeIPv6
	}
	if s.MPLS.Depth() > 0 {
		inner = layers.EthernetTypeMPLSUnicast
	}
	out := []gopacket.SerializableLayer{eth}
	next := &eth.EthernetType
	for i, id := range []uint16{s.Outer, s.VLAN} {
		if id != 0 {
			tag := &layers.Dot1Q{VLANIdentifier: id}
			*next = [...]layers.EthernetType{layers.EthernetTypeQinQ, layers.EthernetTypeDot1Q}[i]
			next = &tag.Type
			out = append(out, tag)
		}
	}
	*next = inner
	for i := range s.MPLS.Depth() {
		out = append(out, &layers.MPLS{Label: s.MPLS[i] - 1, StackBottom: i == s.MPLS.Depth()-1, TTL: s.ttl()})
	}
	if s.Proto == ARP {
		return append(out, &layers.ARP{
			AddrType: layers.LinkTypeEthernet, Protocol: layers.EthernetTypeIPv4, HwAddressSize: 6, ProtAddressSize: 4, Operation: layers.ARPRequest,
			SourceHwAddress: s.SrcMAC[:], SourceProtAddress: s.SrcIP.AsSlice(), DstHwAddress: make([]byte, 6), DstProtAddress: s.DstIP.AsSlice(),
		})
	}
	ip := s.ip()
	return append(append(out, ip), s.inner(ip)...)
}

// ipLayer is either IP header.
type ipLayer interface {
	gopacket.NetworkLayer
	gopacket.SerializableLayer
}

func (s Spec) ip() ipLayer {
	proto := [...]layers.IPProtocol{layers.IPProtocolUDP, layers.IPProtocolTCP, layers.IPProtocolICMPv4}[s.Proto]
	if !s.v6() {
		return &layers.IPv4{
			Version: 4, TTL: s.ttl(), TOS: s.TOS, Protocol: proto,
			SrcIP: s.SrcIP.AsSlice(), DstIP: s.DstIP.AsSlice(),
		}
	}
	if s.Proto == ICMP {
		proto = layers.IPProtocolICMPv6
	}
	return &layers.IPv6{
		Version: 6, HopLimit: s.ttl(), TrafficClass: s.TOS, NextHeader: proto,
		SrcIP: s.SrcIP.AsSlice(), DstIP: s.DstIP.AsSlice(),
	}
}

// inner is what follows the IP header.
func (s Spec) inner(ip gopacket.NetworkLayer) []gopacket.SerializableLayer {
	// SetNetworkLayerForChecksum only fails for a layer that is not IP.
	switch {
	case s.Proto == TCP:
		tcp := &layers.TCP{SrcPort: layers.TCPPort(s.SrcPort), DstPort: layers.TCPPort(s.DstPort), SYN: true, Window: 65535}
		_ = tcp.SetNetworkLayerForChecksum(ip)
		return []gopacket.SerializableLayer{tcp}
	case s.Proto == ICMP && s.v6():
		icmp := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(layers.ICMPv6TypeEchoRequest, 0)}
		_ = icmp.SetNetworkLayerForChecksum(ip)
		return []gopacket.SerializableLayer{icmp, &layers.ICMPv6Echo{Identifier: 1, SeqNumber: 1}}
	case s.Proto == ICMP:
		return []gopacket.SerializableLayer{&layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(layers.ICMPv4TypeEchoRequest, 0), Id: 1, Seq: 1}}
	}
	udp := &layers.UDP{SrcPort: layers.UDPPort(s.SrcPort), DstPort: layers.UDPPort(s.DstPort)}
	_ = udp.SetNetworkLayerForChecksum(ip)
	return []gopacket.SerializableLayer{udp}
}

func (s Spec) ttl() uint8 {
	if s.TTL == 0 {
		return ttl
	}
	return s.TTL
}
