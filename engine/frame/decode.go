package frame

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// Layer is one header of a frame in words, or what follows the headers.
type Layer struct {
	Name   string // "IPv4"
	Text   string // "198.18.0.1 > 198.18.0.2, TTL 32 ..."
	At     int    // its first byte in the frame
	Len    int    // its bytes
	Faults string // what is wrong with it, "" nothing: a checksum, a length, a header cut off
}

// Decode says in words what a frame holds, header by header, with gopacket's decoders: not by what built it. It never fails; what cannot be
// understood is a layer of data, with the reason as its fault where there is one.
func Decode(b []byte) []Layer {
	var out []Layer
	packet := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.DecodeOptions{NoCopy: true})
	at := 0
	var network []byte // the IP header that a checksum is over, too
	for _, l := range packet.Layers() {
		d := Layer{Name: l.LayerType().String(), At: at, Len: len(l.LayerContents())}
		rest := b[min(at+d.Len, len(b)):]
		switch l := l.(type) {
		case *layers.Ethernet:
			d.Text = fmt.Sprintf("%v > %v, %s", l.SrcMAC, l.DstMAC, typeWords(l.EthernetType))
			if l.Length > 0 {
				d.Text = fmt.Sprintf("%v > %v, length %d (802.3)", l.SrcMAC, l.DstMAC, l.Length)
			}
		case *layers.Dot1Q:
			d.Name, d.Text = "VLAN", fmt.Sprintf("id %d, priority %d, %s", l.VLANIdentifier, l.Priority, typeWords(l.Type))
		case *layers.MPLS:
			d.Text = fmt.Sprintf("label %d, class %d, TTL %d", l.Label, l.TrafficClass, l.TTL)
			if l.StackBottom {
				d.Text += ", last"
			}
		case *layers.ARP:
			d.Text = fmt.Sprintf("operation %d, %x %s > %x %s", l.Operation, l.SourceHwAddress, dotted(l.SourceProtAddress), l.DstHwAddress, dotted(l.DstProtAddress))
		case *layers.IPv4:
			d.Text = fmt.Sprintf("%v > %v, %v, TTL %d, id %d, length %d", l.SrcIP, l.DstIP, l.Protocol, l.TTL, l.Id, l.Length)
			if l.TOS != 0 {
				d.Text += fmt.Sprintf(", TOS 0x%02x", l.TOS)
			}
			if l.Flags != 0 || l.FragOffset != 0 {
				d.Text += fmt.Sprintf(", flags %v offset %d", l.Flags, 8*int(l.FragOffset))
			}
			d.Text += fmt.Sprintf(", checksum 0x%04x", l.Checksum)
			if Fold(Sum(l.Contents)) != 0xffff {
				d.Faults = fmt.Sprintf("the checksum should be 0x%04x", ^Fold(Sum(l.Contents)-uint32(l.Checksum)))
			}
			network = l.Contents
			if l.FragOffset > 0 || l.Flags&layers.IPv4MoreFragments != 0 {
				network = nil // a part has no checksum of its own
			}
			d.lengthIs(int(l.Length), len(l.Contents)+len(rest), len(b) <= minFrame)
		case *layers.IPv6:
			d.Text = fmt.Sprintf("%v > %v, %v, hop limit %d, length %d", l.SrcIP, l.DstIP, l.NextHeader, l.HopLimit, l.Length)
			if l.TrafficClass != 0 || l.FlowLabel != 0 {
				d.Text += fmt.Sprintf(", class 0x%02x flow 0x%05x", l.TrafficClass, l.FlowLabel)
			}
			network = l.Contents
			d.lengthIs(int(l.Length), len(rest), len(b) <= minFrame)
		case *layers.UDP:
			d.Text = fmt.Sprintf("port %d > %d, length %d, checksum 0x%04x", l.SrcPort, l.DstPort, l.Length, l.Checksum)
			if l.Checksum != 0 {
				d.Faults = sumFault(network, l.Contents, l.Payload, ProtoUDP)
			}
		case *layers.TCP:
			d.Text = fmt.Sprintf("port %d > %d, seq %d, ack %d, %s, window %d, checksum 0x%04x", l.SrcPort, l.DstPort, l.Seq, l.Ack, flags(l), l.Window, l.Checksum)
			d.Faults = sumFault(network, l.Contents, l.Payload, ProtoTCP)
		case *layers.ICMPv4:
			d.Text = fmt.Sprintf("%v, id %d, seq %d, checksum 0x%04x", l.TypeCode, l.Id, l.Seq, l.Checksum)
			if network != nil && Fold(Sum(l.Contents)+Sum(l.Payload)) != 0xffff {
				d.Faults = "the checksum is wrong"
			}
		case *layers.ICMPv6:
			d.Text = fmt.Sprintf("%v, checksum 0x%04x", l.TypeCode, l.Checksum)
			d.Faults = sumFault(network, l.Contents, l.Payload, ProtoICMPv6)
		case *gopacket.DecodeFailure:
			d.Name, d.Text, d.Faults = "data", size(len(b)-at), l.Error().Error()
			d.Len = len(b) - at
		default:
			d.Name, d.Text = contents(l.LayerContents(), d.Name)
		}
		out = append(out, d)
		at += d.Len
	}
	if at < len(b) {
		name := "data"
		if network != nil && len(b) <= minFrame {
			name = "padding"
		}
		out = append(out, Layer{Name: name, Text: size(len(b) - at), At: at, Len: len(b) - at})
	}
	return out
}

// minFrame is the shortest frame on a wire, without FCS: what is shorter is padded.
const minFrame = 60

// typeWords is an EtherType with its name, where it has one.
func typeWords(t layers.EthernetType) string {
	name := t.String()
	switch {
	case t == 0x8808:
		name = "flow control"
	case strings.HasPrefix(name, "Unknown"):
		name = ""
	}
	return strings.TrimSpace(fmt.Sprintf("type 0x%04x %s", uint16(t), name))
}

// lengthIs holds a length field against what is there; a short frame may be padded.
func (d *Layer) lengthIs(said, there int, padded bool) {
	if d.Faults == "" && (said > there || said < there && !padded) {
		d.Faults = fmt.Sprintf("the length should be %d", there)
	}
}

// sumFault says what is wrong with a checksum over a pseudo-header, a header and what follows.
func sumFault(network, header, rest []byte, proto uint32) string {
	var sum uint32
	switch len(network) {
	case 0:
		return ""
	case 40:
		sum = Sum(network[8:40])
	default:
		sum = Sum(network[12:20])
	}
	n := uint32(len(header) + len(rest))
	whole := append(append(make([]byte, 0, n), header...), rest...)
	if Fold(sum+proto+n+Sum(whole)) != 0xffff {
		return "the checksum is wrong"
	}
	return ""
}

// flags are the flags of a TCP header.
func flags(t *layers.TCP) string {
	var out []string
	for _, f := range []struct {
		set  bool
		name string
	}{{t.SYN, "SYN"}, {t.ACK, "ACK"}, {t.PSH, "PSH"}, {t.FIN, "FIN"}, {t.RST, "RST"}, {t.URG, "URG"}, {t.ECE, "ECE"}, {t.CWR, "CWR"}} {
		if f.set {
			out = append(out, f.name)
		}
	}
	if out == nil {
		return "no flags"
	}
	return strings.Join(out, " ")
}

// contents are what is left in words: the pktgen header where there is one.
func contents(b []byte, kind string) (name, text string) {
	if len(b) >= headerLen && binary.BigEndian.Uint32(b) == Magic {
		sec, usec := binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])
		text = fmt.Sprintf("sequence %d", binary.BigEndian.Uint32(b[4:]))
		if sec != 0 {
			text += ", sent " + time.Unix(int64(sec), int64(usec)*1000).UTC().Format("15:04:05.000000")
		}
		if len(b) > headerLen {
			text += ", and " + size(len(b)-headerLen)
		}
		return "pktgen", text
	}
	if kind == "Payload" || kind == "Unknown" {
		kind = "data"
	}
	return kind, size(len(b))
}

func size(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

func dotted(b []byte) string {
	if len(b) != 4 {
		return fmt.Sprintf("%x", b)
	}
	return fmt.Sprintf("%d.%d.%d.%d", b[0], b[1], b[2], b[3])
}
