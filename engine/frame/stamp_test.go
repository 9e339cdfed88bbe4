package frame

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// v4 and v6 are streams that the tests change.
func v4(size int) Spec {
	return Spec{
		Size:   size,
		SrcMAC: MAC{2, 0, 0, 0, 0, 1}, DstMAC: MAC{2, 0, 0, 0, 0, 0xfe},
		SrcIP: netip.MustParseAddr("198.18.0.1"), DstIP: netip.MustParseAddr("198.18.0.2"),
		SrcPort: 9, DstPort: 9,
	}
}

func v6(size int) Spec {
	s := v4(size)
	s.SrcIP, s.DstIP = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8:ffff:ffff:ffff:ffff:ffff:2")
	return s
}

func tagged(s Spec, vlan uint16) Spec {
	s.VLAN = vlan
	return s
}

// specs are all kinds of frames in all sizes where something changes, odd ones included.
func specs() map[string]Spec {
	m := make(map[string]Spec)
	for kind, s := range map[string]Spec{"ipv4": v4(0), "ipv4 vlan": tagged(v4(0), 100), "ipv6": v6(0), "ipv6 vlan": tagged(v6(0), 4094)} {
		h := s.headers()
		for _, size := range []int{h, h + 1, h + 15, h + 16, h + 17, h + 18, h + 19, 60, 61, 64, 65, 104, 105, 512, 1023, 1514, 1518, 9014, 9015, 65000} {
			if size >= h {
				s.Size = size
				m[fmt.Sprintf("%s %d", kind, size)] = s
			}
		}
	}
	return m
}

// onesSum is RFC 1071 to the letter: 16-bit ones' complement addition, the carry added in after every word.
func onesSum(sum uint16, b []byte) uint16 {
	for i := 0; i < len(b); i += 2 {
		w := uint32(b[i]) << 8
		if i+1 < len(b) {
			w |= uint32(b[i+1])
		}
		s := uint32(sum) + w
		if s > 0xffff {
			s -= 0xffff
		}
		sum = uint16(s)
	}
	return sum
}

// checksums recomputes both checksums from nothing but the bytes, by the RFCs' offsets and not by the template's.
func checksums(t *testing.T, b []byte) {
	t.Helper()
	l3 := 14
	etherType := binary.BigEndian.Uint16(b[12:])
	if etherType == 0x8100 {
		l3, etherType = 18, binary.BigEndian.Uint16(b[16:])
	}
	var l4 int
	var sum uint16
	switch etherType {
	case 0x0800:
		l4 = l3 + 20
		if got := onesSum(0, b[l3:l4]); got != 0xffff {
			t.Fatalf("IPv4 header %x sums up to %#04x, want 0xffff", b[l3:l4], got)
		}
		sum = onesSum(0, b[l3+12:l3+20]) // both addresses
	case 0x86dd:
		l4 = l3 + 40
		sum = onesSum(0, b[l3+8:l3+40])
	default:
		t.Fatalf("Ethernet type %#04x", etherType)
	}
	udp := b[l4:]
	if int(binary.BigEndian.Uint16(udp[4:])) != len(udp) {
		t.Fatalf("UDP length %d of %d bytes", binary.BigEndian.Uint16(udp[4:]), len(udp))
	}
	sum = onesSum(sum, []byte{0, 17, udp[4], udp[5]}) // the rest of the pseudo header
	if got := onesSum(sum, udp); got != 0xffff {
		t.Fatalf("UDP sums up to %#04x, want 0xffff; first bytes %x", got, udp[:min(len(udp), 32)])
	}
	if udp[6] == 0 && udp[7] == 0 {
		t.Fatal("UDP checksum 0: that says there is none")
	}
}

// decoded has gopacket take a frame apart and check it.
func decoded(t *testing.T, b []byte) gopacket.Packet {
	t.Helper()
	p := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.DecodeOptions{NoCopy: true})
	if e := p.ErrorLayer(); e != nil {
		t.Fatalf("gopacket: %v", e.Error())
	}
	if udp, ok := p.TransportLayer().(*layers.UDP); ok {
		if err := udp.SetNetworkLayerForChecksum(p.NetworkLayer()); err != nil {
			t.Fatal(err)
		}
	}
	err, wrong := p.VerifyChecksums()
	if err != nil || len(wrong) != 0 {
		t.Fatalf("gopacket: checksums: %v %+v", err, wrong)
	}
	return p
}

func TestPatchedFramesAreRight(t *testing.T) {
	all := specs()
	n := max(100, 100_000/len(all))
	for name, spec := range all {
		t.Run(name, func(t *testing.T) {
			tmpl, err := Build(spec)
			if err != nil {
				t.Fatal(err)
			}
			rnd := rand.New(rand.NewPCG(uint64(spec.Size), uint64(spec.VLAN)))
			b := append([]byte(nil), tmpl.Bytes...)
			count := n
			if spec.Size > 5000 {
				count = n / 10 // the naive sum is slow
			}
			for i := range count {
				id, seq, sec, usec, worker := uint16(rnd.Uint32()), rnd.Uint32(), rnd.Uint32(), rnd.Uint32(), uint16(rnd.Uint32())
				switch i { // what random numbers do not hit
				case 0:
					id, seq, sec, usec, worker = 0, 0, 0, 0, 0
				case 1:
					id, seq, sec, usec, worker = 0xffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffff
				}
				tmpl.Patch(b, id, seq, sec, usec, worker)
				checksums(t, b)
				if i < 50 {
					decoded(t, b)
				}
				if want := wanted(tmpl, id, seq, sec, usec, worker); !bytes.Equal(want, b) {
					t.Fatalf("frame (-want +got):\n%s", cmp.Diff(want, b))
				}
			}
		})
	}
}

// wanted writes the fields where the standards say they are. The checksums are taken from their own computation.
func wanted(tmpl Template, id uint16, seq, sec, usec uint32, worker uint16) []byte {
	w := append([]byte(nil), tmpl.Bytes...)
	if tmpl.IPID >= 0 {
		ip := w[tmpl.IPID-4:][:20]
		binary.BigEndian.PutUint16(ip[4:], id)
		binary.BigEndian.PutUint16(ip[10:], 0)
		binary.BigEndian.PutUint16(ip[10:], ^onesSum(0, ip))
	}
	if tmpl.Header < 0 {
		return w
	}
	udp := w[tmpl.Header-8:]
	for i, v := range []uint32{Magic, seq, sec, usec} {
		binary.BigEndian.PutUint32(udp[8+4*i:], v)
	}
	if len(udp) >= 8+18 {
		binary.BigEndian.PutUint16(udp[24:], worker)
	}
	addresses := w[tmpl.Header-8-8 : tmpl.Header-8]
	if tmpl.IPID < 0 {
		addresses = w[tmpl.Header-8-32 : tmpl.Header-8]
	}
	binary.BigEndian.PutUint16(udp[6:], 0)
	sum := ^onesSum(onesSum(onesSum(0, addresses), []byte{0, 17, udp[4], udp[5]}), udp)
	if sum == 0 {
		sum = 0xffff
	}
	binary.BigEndian.PutUint16(udp[6:], sum)
	return w
}

// A UDP checksum that comes out as zero is one frame in 65536: look for them all over one stream.
func TestChecksumZeroIsSentAsOnes(t *testing.T) {
	tmpl, err := Build(v4(60))
	if err != nil {
		t.Fatal(err)
	}
	b := append([]byte(nil), tmpl.Bytes...)
	ones := 0
	for seq := range uint32(1 << 16) {
		tmpl.Patch(b, 0, seq, 0, 0, 0)
		switch binary.BigEndian.Uint16(b[tmpl.UDPSum:]) {
		case 0:
			t.Fatalf("sequence %d: checksum 0", seq)
		case 0xffff:
			checksums(t, b)
			ones++
		}
	}
	if ones != 1 {
		t.Fatalf("%d of 65536 consecutive frames have checksum 0xffff, want 1", ones)
	}
}

func TestSumAndFold(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 1<<17)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	for _, n := range []int{0, 1, 2, 3, 20, 59, 60, 1514, 9014, 65535, 1 << 17} {
		if got, want := Fold(Sum(b[:n])), onesSum(0, b[:n]); got != want {
			t.Errorf("%d bytes: %#04x, want %#04x", n, got, want)
		}
	}
	all := make([]byte, 1<<17)
	for i := range all {
		all[i] = 0xff
	}
	if got := Fold(Sum(all)); got != 0xffff {
		t.Errorf("128 KiB of ones: %#04x, want 0xffff", got)
	}
}

func TestPatchAllocatesNothing(t *testing.T) {
	tmpl, err := Build(v4(60))
	if err != nil {
		t.Fatal(err)
	}
	b := append([]byte(nil), tmpl.Bytes...)
	if n := testing.AllocsPerRun(100, func() { tmpl.Patch(b, 1, 2, 3, 4, 5) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func BenchmarkPatch(b *testing.B) {
	for name, spec := range map[string]Spec{"ipv4/60": v4(60), "ipv4/1514": v4(1514), "ipv6/80": v6(80)} {
		tmpl, err := Build(spec)
		if err != nil {
			b.Fatal(err)
		}
		// As in a ring: a batch of slots, one after the other.
		slots := make([]byte, 64*2048)
		for i := range 64 {
			copy(slots[i*2048:], tmpl.Bytes)
		}
		b.Run(name+"/stamp", func(b *testing.B) {
			s := tmpl.Stamp(1, 2, 3)
			var seq uint32
			for b.Loop() {
				at := int(seq%64) * 2048
				s.Patch(slots[at:at+spec.Size], uint16(seq), seq)
				seq++
			}
		})
		b.Run(name+"/single", func(b *testing.B) {
			var seq uint32
			for b.Loop() {
				at := int(seq%64) * 2048
				tmpl.Patch(slots[at:at+spec.Size], uint16(seq), seq, seq, seq, 3)
				seq++
			}
		})
	}
}
