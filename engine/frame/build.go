package frame

import (
	"encoding/binary"
	"fmt"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// Build makes the frame that s describes: exactly s.Size bytes, the UDP payload zeros but for the pktgen magic, both checksums right.
// IPv4 frames have TTL 32, ID 0 and no DF; IPv6 frames have hop limit 32 and flow label 0. The error is that of Validate.
func Build(s Spec) (Template, error) {
	if err := s.Validate(); err != nil {
		return Template{}, err
	}
	payload := make([]byte, s.Size-s.headers())
	if s.HasHeader() {
		binary.BigEndian.PutUint32(payload, Magic)
	}
	buf := gopacket.NewSerializeBuffer()
	opt := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	if err := gopacket.SerializeLayers(buf, opt, append(s.layers(), gopacket.Payload(payload))...); err != nil {
		return Template{}, fmt.Errorf("build %s frame of %d bytes: %w", s.kind(), s.Size, err)
	}
	// The Ethernet layer pads to 60 bytes; the slice takes that back where a shorter frame was asked for.
	t := Template{
		Bytes:  buf.Bytes()[:s.Size:s.Size],
		IPID:   -1,
		IPSum:  -1,
		UDPSum: s.l4() + 6,
		Header: -1,
		Worker: -1,
	}
	if !s.v6() {
		t.IPID, t.IPSum = s.l3()+4, s.l3()+10
	}
	if s.HasHeader() {
		t.Header = s.headers()
		if s.Size >= t.Header+headerLen+workerLen {
			t.Worker = t.Header + headerLen
		}
	}
	return t, nil
}

// layers returns the headers of a frame, outermost first.
func (s Spec) layers() []gopacket.SerializableLayer {
	eth := &layers.Ethernet{SrcMAC: s.SrcMAC[:], DstMAC: s.DstMAC[:]}
	udp := &layers.UDP{SrcPort: layers.UDPPort(s.SrcPort), DstPort: layers.UDPPort(s.DstPort)}

	var ip interface {
		gopacket.NetworkLayer
		gopacket.SerializableLayer
	}
	etherType := layers.EthernetTypeIPv4
	if s.v6() {
		etherType = layers.EthernetTypeIPv6
		ip = &layers.IPv6{
			Version: 6, HopLimit: ttl, NextHeader: layers.IPProtocolUDP,
			SrcIP: s.SrcIP.AsSlice(), DstIP: s.DstIP.AsSlice(),
		}
	} else {
		ip = &layers.IPv4{
			Version: 4, TTL: ttl, Protocol: layers.IPProtocolUDP,
			SrcIP: s.SrcIP.AsSlice(), DstIP: s.DstIP.AsSlice(),
		}
	}
	// It only fails for a layer that is not IP.
	_ = udp.SetNetworkLayerForChecksum(ip)

	eth.EthernetType = etherType
	if s.VLAN == 0 {
		return []gopacket.SerializableLayer{eth, ip, udp}
	}
	eth.EthernetType = layers.EthernetTypeDot1Q
	return []gopacket.SerializableLayer{eth, &layers.Dot1Q{VLANIdentifier: s.VLAN, Type: etherType}, ip, udp}
}
