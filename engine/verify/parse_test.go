package verify

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"wirespeed/engine/frame"
)

func spec(size int, v6 bool, vlan uint16) frame.Spec {
	s := frame.Spec{
		Size: size, SrcMAC: frame.MAC{2, 0, 0, 0, 0, 1}, DstMAC: frame.MAC{2, 0, 0, 0, 0, 0xfe}, VLAN: vlan, SrcPort: 9, DstPort: 9,
		SrcIP: netip.MustParseAddr("198.18.0.1"), DstIP: netip.MustParseAddr("198.18.0.2"),
	}
	if v6 {
		s.SrcIP, s.DstIP = netip.MustParseAddr("2001:2::1"), netip.MustParseAddr("2001:2::2")
	}
	return s
}

// made is a frame as a worker sends it.
func made(t testing.TB, s frame.Spec, seq uint32, worker uint16) []byte {
	t.Helper()
	tp, err := frame.Build(s)
	if err != nil {
		t.Fatal(err)
	}
	tp.Patch(tp.Bytes, uint16(seq), seq, 1_700_000_000, 123_456, worker)
	return tp.Bytes
}

const madeMicros = 1_700_000_000_123_456

func TestOurFramesOfEverySizeAreReadRight(t *testing.T) {
	for _, c := range []struct {
		name string
		v6   bool
		vlan uint16
		from int // smallest frame with a pktgen header
	}{{"IPv4", false, 0, 58}, {"IPv4 with a tag", false, 5, 62}, {"IPv6", true, 0, 78}, {"IPv6 with a tag", true, 5, 82}} {
		t.Run(c.name, func(t *testing.T) {
			for size := c.from; size <= 1600; size++ {
				b := made(t, spec(size, c.v6, c.vlan), 0x8000_0000+uint32(size), 3)
				want := Frame{Source: 0x0200_0000_0001, Micros: madeMicros, Seq: 0x8000_0000 + uint32(size), Worker: 3}
				if size < c.from+2 {
					want.Worker = 0 // no room
				}
				var f Frame
				if fault := Parse(b, false, &f); fault != Good || f != want {
					t.Fatalf("%d bytes: fault %d, %+v, want %+v", size, fault, f, want)
				}
				if c.vlan == 0 {
					continue
				}
				bare := append(append([]byte(nil), b[:12]...), b[16:]...) // the kernel has moved the tag away
				if fault := Parse(bare, false, &f); fault != Good || f != want {
					t.Fatalf("%d bytes without the tag: fault %d, %+v, want %+v", size, fault, f, want)
				}
			}
		})
	}
}

func TestAFrameWithoutRoomForTheHeaderIsUnnumbered(t *testing.T) {
	var f Frame
	if fault := Parse(made(t, spec(60, false, 5), 1, 0), false, &f); fault != Unnumbered {
		t.Errorf("fault %d", fault)
	}
}

// Every bit behind the Ethernet addresses, of frames without a tag. One that turns the type or the version makes another protocol of the frame.
func TestNoFlippedBitIsTakenForGood(t *testing.T) {
	for _, size := range []int{60, 61, 64, 127, 128, 1514} {
		for _, v6 := range []bool{false, true} {
			if v6 && size < 78 {
				continue
			}
			b := made(t, spec(size, v6, 0), 77, 1)
			for bit := 12 * 8; bit < len(b)*8; bit++ {
				if at := bit / 8; v6 && (at >= 14 && at < 18 || at == 21) {
					continue // class, flow label and hop limit: IPv6 has no sum over them
				}
				b[bit/8] ^= 1 << (bit % 8)
				var f Frame
				switch fault := Parse(b, false, &f); {
				case fault == Good:
					t.Errorf("%d bytes, IPv6 %v: bit %d flipped is good", size, v6, bit)
				case fault == Unnumbered && bit >= 8*15 && !v6:
					t.Errorf("%d bytes: bit %d flipped is unnumbered, not corrupt", size, bit)
				}
				b[bit/8] ^= 1 << (bit % 8)
			}
		}
	}
}

func TestChecksumsThatTheKernelLeftPartial(t *testing.T) {
	s := spec(100, false, 0)
	tp, err := frame.Build(s)
	if err != nil {
		t.Fatal(err)
	}
	super := frame.NewSuper(s, tp)
	b := make([]byte, super.Size(1)) // a super-frame of one has the sum of the pseudo-header
	super.Fill(b, 1)
	stamp := tp.Stamp(1_700_000_000, 123_456, 2)
	super.Patch(b, 1, &stamp, 1, 9)
	var f Frame
	if fault := Parse(b, true, &f); fault != Good || f.Sum != Partial || f.Seq != 9 || f.Worker != 2 {
		t.Errorf("fault %d, %+v", fault, f)
	}
	if fault := Parse(b, false, &f); fault != BadL4Sum {
		t.Errorf("taken for a whole sum: fault %d", fault)
	}
	b[tp.UDPSum]++
	if fault := Parse(b, true, &f); fault != BadL4Sum {
		t.Errorf("a wrong pseudo-header: fault %d", fault)
	}
}

// kernel is what the kernel's pktgen makes (pkt_size 60, UDP, no UDPCSUM) by net/core/pktgen.c; .ci/vmlab-receiver has the real ones.
const kernel = "0200000000fe" + "525400000001" + "0800" + "4500002e000000002011" + "0000" + "c6120001c6120002" + "00090009001a0000" +
	"be9be955" + "00000007" + "69000000" + "0000002a" + "0000"

func TestTheKernelsFramesAreRead(t *testing.T) {
	b, err := hex.DecodeString(kernel)
	if err != nil {
		t.Fatal(err)
	}
	binary.BigEndian.PutUint16(b[24:], ^frame.Fold(frame.Sum(b[14:34])))
	var f Frame
	fault := Parse(b, false, &f)
	want := Frame{Source: 0x5254_0000_0001, Micros: 0x69000000*1_000_000 + 0x2a, Seq: 7, Sum: None}
	if fault != Good || f != want {
		t.Errorf("fault %d, %+v, want %+v", fault, f, want)
	}
}

func TestOtherLayersAreRead(t *testing.T) {
	eth := &layers.Ethernet{SrcMAC: []byte{2, 0, 0, 0, 0, 1}, DstMAC: []byte{2, 0, 0, 0, 0, 2}, EthernetType: layers.EthernetTypeIPv4}
	ip4 := func(p layers.IPProtocol) *layers.IPv4 {
		return &layers.IPv4{Version: 4, TTL: 9, Protocol: p, SrcIP: []byte{198, 18, 0, 1}, DstIP: []byte{198, 18, 0, 2}}
	}
	ip6 := &layers.IPv6{Version: 6, HopLimit: 9, NextHeader: layers.IPProtocolICMPv6, SrcIP: bytes.Repeat([]byte{1}, 16), DstIP: bytes.Repeat([]byte{2}, 16)}
	head := binary.BigEndian.AppendUint32(nil, magic)
	for _, v := range []uint32{5, 1_700_000_000, 123_456, 4 << 16} {
		head = binary.BigEndian.AppendUint32(head, v)
	}
	for name, stack := range map[string][]gopacket.SerializableLayer{
		"TCP":    {eth, ip4(layers.IPProtocolTCP), &layers.TCP{SrcPort: 1, DstPort: 2, ACK: true, Options: []layers.TCPOption{{OptionType: 1}}}},
		"ICMP":   {eth, ip4(layers.IPProtocolICMPv4), &layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(8, 0), Id: 1}},
		"ICMPv6": {with(eth, layers.EthernetTypeIPv6), ip6, &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(128, 0)}, gopacket.Payload{0, 0, 0, 0}},
		"QinQ, MPLS": {
			with(eth, layers.EthernetTypeQinQ), &layers.Dot1Q{VLANIdentifier: 1, Type: layers.EthernetTypeDot1Q},
			&layers.Dot1Q{VLANIdentifier: 2, Type: layers.EthernetTypeMPLSUnicast},
			&layers.MPLS{Label: 3}, &layers.MPLS{Label: 4, StackBottom: true}, ip4(layers.IPProtocolUDP), &layers.UDP{SrcPort: 1, DstPort: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, l := range stack {
				var n gopacket.NetworkLayer
				switch v := stack[len(stack)-2].(type) {
				case *layers.IPv4:
					n = v
				default:
					n = ip6
				}
				if c, ok := l.(interface {
					SetNetworkLayerForChecksum(gopacket.NetworkLayer) error
				}); ok {
					if err := c.SetNetworkLayerForChecksum(n); err != nil {
						t.Fatal(err)
					}
				}
			}
			buf := gopacket.NewSerializeBuffer()
			opt := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
			if err := gopacket.SerializeLayers(buf, opt, append(stack, gopacket.Payload(head))...); err != nil {
				t.Fatal(err)
			}
			var f Frame
			fault := Parse(buf.Bytes(), false, &f)
			if diff := cmp.Diff(Frame{Source: 0x0200_0000_0001, Micros: madeMicros, Seq: 5, Worker: 4}, f); fault != Good || diff != "" {
				t.Errorf("fault %d (-want +got):\n%s\n%x", fault, diff, buf.Bytes())
			}
		})
	}
}

func with(e *layers.Ethernet, t layers.EthernetType) *layers.Ethernet {
	c := *e
	c.EthernetType = t
	return &c
}

func TestPaddingOfTheSmallestFrameIsNoFault(t *testing.T) {
	s := spec(58, false, 0)
	var f Frame
	b := append(made(t, s, 1, 0), 0xff, 0xff)
	if fault := Parse(b, false, &f); fault != Good || f.Worker != 0 {
		t.Errorf("58 bytes padded to 60: fault %d, %+v", fault, f)
	}
	if fault := Parse(append(b, 0), false, &f); fault != BadLength {
		t.Errorf("61 bytes that say 58: fault %d", fault)
	}
	if fault := Parse(b[:57], false, &f); fault != BadLength {
		t.Errorf("57 bytes that say 58: fault %d", fault)
	}
}

// The sum by eights against the plain one, at all lengths and alignments.
func TestSum(t *testing.T) {
	b := make([]byte, 300)
	for i := range b {
		b[i] = byte(i*i + 251*i)
	}
	b = append(b, bytes.Repeat([]byte{0xff}, 300)...)
	for from := 0; from < len(b); from += 7 {
		for to := from; to <= len(b); to++ {
			if got, want := fold(sum(b[from:to])), frame.Fold(frame.Sum(b[from:to])); got != want {
				t.Fatalf("bytes %d to %d: %x, want %x", from, to, got, want)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(made(f, spec(60, false, 0), 1, 0), false)
	f.Add(made(f, spec(78, true, 0), 1, 0), true)
	f.Add(made(f, spec(90, false, 7), 1, 0), false)
	f.Fuzz(func(t *testing.T, b []byte, partial bool) {
		var got Frame
		if fault := Parse(b, partial, &got); fault > Unnumbered {
			t.Errorf("fault %d", fault)
		}
	})
}

func TestTable(t *testing.T) {
	take := func(tb *Table, source uint64, worker uint16, seq uint32) {
		tb.Take(&Frame{Source: source, Worker: worker, Seq: seq, Micros: 5}, Good)
	}
	t.Run("workers apart", func(t *testing.T) {
		tb := Table{FromOne: true}
		for seq := uint32(1); seq <= 10; seq++ {
			take(&tb, 1, 0, seq)
			take(&tb, 2, 1, seq) // of another source: a stream may have several
		}
		tb.Take(&Frame{}, BadIPSum)
		tb.Take(&Frame{}, Unnumbered)
		want := Counts{Right: 20, Received: 20, Corrupt: 1, BadIPSum: 1, Unnumbered: 1}
		if diff := cmp.Diff(want, tb.Counts()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if n := len(tb.Flows(nil)); n != 2 {
			t.Errorf("%d flows", n)
		}
	})
	t.Run("senders apart", func(t *testing.T) {
		tb := Table{BySource: true}
		for seq := uint32(1); seq <= 10; seq++ {
			take(&tb, 1, 0, seq)
			take(&tb, 2, 0, 100+seq)
		}
		if c := tb.Counts(); c.Received != 20 || c.Missing != 0 || c.Restarts != 0 {
			t.Errorf("%+v", c)
		}
	})
	t.Run("a flood of senders", func(t *testing.T) {
		tb := Table{BySource: true}
		for n := range uint64(1000) {
			take(&tb, n, 0, 1)
		}
		if c := tb.Counts(); c.Right != 1000 || c.Homeless != 1000-MaxFlows || len(tb.flows) != MaxFlows {
			t.Errorf("%+v", c)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for _, size := range []int{60, 1514} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			bytes := made(b, spec(size, false, 0), 1, 0)
			var f Frame
			for b.Loop() {
				if Parse(bytes, false, &f) != Good {
					b.Fatal("not good")
				}
			}
		})
	}
}
