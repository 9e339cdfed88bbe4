package frame

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket/layers"
)

func TestBuild(t *testing.T) {
	for name, spec := range specs() {
		t.Run(name, func(t *testing.T) {
			tmpl, err := Build(spec)
			if err != nil {
				t.Fatal(err)
			}
			if len(tmpl.Bytes) != spec.Size {
				t.Fatalf("%d bytes, want %d", len(tmpl.Bytes), spec.Size)
			}
			checksums(t, tmpl.Bytes)
			p := decoded(t, tmpl.Bytes)

			eth := p.Layer(layers.LayerTypeEthernet).(*layers.Ethernet)
			if MAC(eth.SrcMAC) != spec.SrcMAC || MAC(eth.DstMAC) != spec.DstMAC {
				t.Errorf("MACs %v to %v, want %v to %v", eth.SrcMAC, eth.DstMAC, spec.SrcMAC, spec.DstMAC)
			}
			tag, _ := p.Layer(layers.LayerTypeDot1Q).(*layers.Dot1Q)
			if (tag != nil) != (spec.VLAN != 0) || (tag != nil && (tag.VLANIdentifier != spec.VLAN || tag.Priority != 0)) {
				t.Errorf("VLAN tag %+v, want %d", tag, spec.VLAN)
			}
			var src, dst []byte
			if spec.v6() {
				ip := p.Layer(layers.LayerTypeIPv6).(*layers.IPv6)
				src, dst = ip.SrcIP, ip.DstIP
				if ip.HopLimit != 32 || ip.FlowLabel != 0 || ip.TrafficClass != 0 {
					t.Errorf("hop limit %d, flow label %d, class %d, want 32, 0, 0", ip.HopLimit, ip.FlowLabel, ip.TrafficClass)
				}
			} else {
				ip := p.Layer(layers.LayerTypeIPv4).(*layers.IPv4)
				src, dst = ip.SrcIP.To4(), ip.DstIP.To4()
				if ip.TTL != 32 || ip.Id != 0 || ip.Flags != 0 || ip.TOS != 0 || ip.FragOffset != 0 {
					t.Errorf("TTL %d, ID %d, flags %v, TOS %d, offset %d, want 32 and zeros", ip.TTL, ip.Id, ip.Flags, ip.TOS, ip.FragOffset)
				}
			}
			if diff := cmp.Diff([][]byte{spec.SrcIP.AsSlice(), spec.DstIP.AsSlice()}, [][]byte{src, dst}); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
			udp := p.Layer(layers.LayerTypeUDP).(*layers.UDP)
			if uint16(udp.SrcPort) != spec.SrcPort || uint16(udp.DstPort) != spec.DstPort {
				t.Errorf("ports %d to %d, want %d to %d", udp.SrcPort, udp.DstPort, spec.SrcPort, spec.DstPort)
			}
			want := make([]byte, spec.Size-spec.headers())
			if len(want) >= 16 {
				binary.BigEndian.PutUint32(want, 0xbe9be955)
			}
			got := tmpl.Bytes[len(tmpl.Bytes)-len(want):]
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("payload (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlaces(t *testing.T) {
	type places struct{ IPID, IPSum, UDPSum, Header, Worker int }
	for _, c := range []struct {
		name string
		spec Spec
		want places
	}{
		{"60 has all", v4(60), places{18, 24, 40, 42, 58}},
		{"59 has no worker", v4(59), places{18, 24, 40, 42, -1}},
		{"58 has no worker", v4(58), places{18, 24, 40, 42, -1}},
		{"57 has no header", v4(57), places{18, 24, 40, -1, -1}},
		{"VLAN 64 has all", tagged(v4(64), 1), places{22, 28, 44, 46, 62}},
		{"VLAN 62 has no worker", tagged(v4(62), 1), places{22, 28, 44, 46, -1}},
		{"VLAN 61 has no header", tagged(v4(61), 1), places{22, 28, 44, -1, -1}},
		{"IPv6 80 has all", v6(80), places{-1, -1, 60, 62, 78}},
		{"IPv6 78 has no worker", v6(78), places{-1, -1, 60, 62, -1}},
		{"IPv6 77 has no header", v6(77), places{-1, -1, 60, -1, -1}},
		{"IPv6 VLAN 82 has no worker", tagged(v6(82), 1), places{-1, -1, 64, 66, -1}},
		{"IPv6 VLAN 81 has no header", tagged(v6(81), 1), places{-1, -1, 64, -1, -1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tmpl, err := Build(c.spec)
			if err != nil {
				t.Fatal(err)
			}
			got := places{tmpl.IPID, tmpl.IPSum, tmpl.UDPSum, tmpl.Header, tmpl.Worker}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBuildRefuses(t *testing.T) {
	change := func(f func(*Spec)) Spec {
		s := v4(60)
		f(&s)
		return s
	}
	for _, c := range []struct {
		name string
		spec Spec
		want string // in the error
	}{
		{"headers do not fit", v4(41), "takes 42 bytes of headers"},
		{"IPv6 headers do not fit", v6(60), "UDP over IPv6 takes 62 bytes of headers"},
		{"VLAN headers do not fit", tagged(v6(65), 7), "with a VLAN tag takes 66 bytes"},
		{"length field overflows", v4(14 + 65536), "end at 65549 bytes"},
		{"no addresses", change(func(s *Spec) { s.DstIP = netip.Addr{} }), "both must be given"},
		{"mixed families", change(func(s *Spec) { s.DstIP = netip.MustParseAddr("::1") }), "one is IPv4, the other IPv6"},
		{"mapped address", change(func(s *Spec) { s.SrcIP = netip.MustParseAddr("::ffff:1.2.3.4") }), "mapped"},
		{"zone", func() Spec {
			s := v6(100)
			s.DstIP = netip.MustParseAddr("fe80::1%eth0")
			return s
		}(), "zone"},
		{"multicast source", change(func(s *Spec) { s.SrcMAC[0] = 1 }), "not a unicast address"},
		{"no source", change(func(s *Spec) { s.SrcMAC = MAC{} }), "not a unicast address"},
		{"VLAN too high", tagged(v4(64), 4095), "highest is 4094"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Build(c.spec)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, c.want)
			}
		})
	}
}

func TestBuildLargest(t *testing.T) {
	for _, s := range []Spec{v4(14 + 65535), tagged(v4(18+65535), 1), v6(14 + 40 + 65535)} {
		tmpl, err := Build(s)
		if err != nil {
			t.Fatal(err)
		}
		checksums(t, tmpl.Bytes)
	}
}
