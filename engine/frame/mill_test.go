package frame

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// varied are streams in which something changes in the headers.
func varied() map[string]Spec {
	up := func(from, to uint64) Range { return Range{On: true, From: from, To: to, Step: 1} }
	mix := func(text string) *Mix {
		m, _, err := ParseMix(text)
		if err != nil {
			panic(err)
		}
		return m
	}
	sized := func(s Spec, text string) Spec {
		s.Sizes = mix(text)
		s.Size = s.Sizes.Most()
		return s
	}
	four := with(v4(60), func(s *Spec) {
		s.Vary.SrcIP, s.Vary.DstIP = up(Low(s.SrcIP), Low(s.SrcIP)+250), Range{On: true, Op: Random, From: Low(s.DstIP), To: Low(s.DstIP) + 5000}
		s.Vary.SrcPort = Range{On: true, Op: Decrement, From: 1000, To: 2000, Step: 7}
		s.Vary.DstPort = up(1, 3)
	})
	return map[string]Spec{
		"four fields":    four,
		"four fields v6": with(v6(90), func(s *Spec) { s.Vary, s.Vary.SrcIP, s.Vary.DstIP = four.Vary, up(1, 1<<40), up(7, 9) }),
		"macs and vlan": with(tagged(v4(64), 5), func(s *Spec) {
			s.Outer = 7
			s.Size = 68
			s.Vary.SrcMAC, s.Vary.DstMAC = up(0x020000000001, 0x0200000000ff), Range{On: true, Op: Random, From: 0x02_0000_0000_00, To: 0x02_ffff_ffff_ff}
			s.Vary.VLAN = up(5, 20)
		}),
		"ttl and tos":        with(v4(60), func(s *Spec) { s.Vary.TTL, s.Vary.TOS = up(1, 64), up(0, 255) }),
		"traffic class":      with(v6(80), func(s *Spec) { s.Vary.TOS = up(0, 255) }),
		"flows":              with(v4(60), func(s *Spec) { s.Flows, s.SrcPort = 1000, 20_000 }),
		"flows, tcp":         with(v4(60), func(s *Spec) { s.Flows, s.Proto = 1000, TCP }),
		"flows, icmp":        with(v4(60), func(s *Spec) { s.Flows, s.Proto = 1000, ICMP }),
		"tcp with a header":  with(v4(80), func(s *Spec) { s.Proto, s.Payload = TCP, "pattern" }),
		"icmp with a header": with(v4(81), func(s *Spec) { s.Proto, s.Payload = ICMP, "random" }),
		"flows, icmpv6":      with(v6(80), func(s *Spec) { s.Flows, s.Proto = 1000, ICMP }),
		"flows, arp":         with(v4(60), func(s *Spec) { s.Flows, s.Proto, s.Vary.SrcMAC = 1000, ARP, up(0x020000000001, 0x020000000007) }),
		"per flow": with(v4(60), func(s *Spec) {
			s.Flows, s.Vary.DstIP = 12, Range{On: true, Op: Random, From: 5, To: 5_000_000, PerFlow: true}
		}),
		"mpls, odd size":  with(v4(101), func(s *Spec) { s.MPLS, s.Payload, s.Vary.DstPort = Labels{17, 1}, "random", up(1, 9) }),
		"imix":            sized(v4(60), "imix"),
		"range":           sized(with(v4(60), func(s *Spec) { s.Payload, s.Vary = "pattern", four.Vary }), "60..131"),
		"random sizes v6": sized(v6(80), "random 80..90"),
		"around pktgen":   sized(v4(60), "random 60..63"),
		"v6 around it":    sized(v6(80), "76,77,78,79,80,81"),
		"plain":           v4(60),
		"hex":             with(v4(60), func(s *Spec) { s.Hex = "020000000001020000000002fffe00" }),
	}
}

// reference makes frames in the long way: everything anew, each checksum over all its bytes.
type reference struct {
	spec      Spec
	templates map[int]Template
}

func (r *reference) frame(t *testing.T, n uint64, seq uint32, sec, usec uint32, worker uint16) []byte {
	t.Helper()
	s := r.spec
	if s.Sizes != nil {
		s = s.At(s.Sizes.sizes[s.Sizes.index(n, Mix64(sizeSeed, 0))])
	}
	tmpl, ok := r.templates[s.Size]
	if !ok {
		var err error
		if tmpl, err = Build(s); err != nil {
			t.Fatal(err)
		}
		r.templates[s.Size] = tmpl
	}
	p := Packet{Bytes: bytes.Clone(tmpl.Bytes), Fields: s.fields(), Sums: s.sums()}
	if tmpl.IPID >= 0 {
		binary.BigEndian.PutUint16(p.Bytes[tmpl.IPID:], uint16(seq))
	}
	if s.Proto == TCP {
		binary.BigEndian.PutUint32(p.Bytes[s.l4()+4:], (seq-1)*uint32(s.Size-s.headers()))
	}
	if h := tmpl.Header; h >= 0 {
		binary.BigEndian.PutUint32(p.Bytes[h+4:], seq)
		binary.BigEndian.PutUint32(p.Bytes[h+8:], sec)
		binary.BigEndian.PutUint32(p.Bytes[h+12:], usec)
	}
	if tmpl.Worker >= 0 {
		binary.BigEndian.PutUint16(p.Bytes[tmpl.Worker:], worker)
	}
	b := make([]byte, len(p.Bytes))
	p.Next(b, n)
	return b
}

func TestMillMakesTheSameAsNext(t *testing.T) {
	for name, s := range varied() {
		for _, workers := range []int{1, 3} {
			t.Run(name, func(t *testing.T) {
				worker := workers - 1
				m, err := NewMill(s, worker, workers)
				if err != nil {
					t.Fatal(err)
				}
				long := &reference{s, map[int]Template{}}
				slot := make([]byte, 2000)
				have := 0
				for i := range 1500 {
					n := uint64(worker + i*workers)
					if i == 1000 {
						m.Seek(n)
					}
					seq := uint32(65000 + i)
					at := NewMoment(uint32(i), 999_999, uint16(worker))
					size := m.Size()
					have = m.Put(slot[:size], have, &at, seq, seq)
					if want := long.frame(t, n, seq, uint32(i), 999_999, uint16(worker)); !bytes.Equal(slot[:size], want) {
						t.Fatalf("frame %d:\n%x, want\n%x", n, slot[:size], want)
					}
				}
			})
		}
	}
}

var layerOf = [...]gopacket.LayerType{layers.LayerTypeUDP, layers.LayerTypeTCP, layers.LayerTypeICMPv4, layers.LayerTypeARP}

func TestFramesOfEveryKindDecode(t *testing.T) {
	for name, s := range varied() {
		if s.Hex != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			m, err := NewMill(s, 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			at := NewMoment(1, 2, 3)
			for i := range uint32(100) {
				b := make([]byte, m.Size())
				m.Put(b, 0, &at, i, i)
				p := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.DecodeOptions{})
				if e := p.ErrorLayer(); e != nil {
					t.Fatalf("frame %d: %v: %x", i, e.Error(), b)
				}
				for _, l := range p.Layers() {
					if l, ok := l.(interface {
						SetNetworkLayerForChecksum(gopacket.NetworkLayer) error
					}); ok {
						if err := l.SetNetworkLayerForChecksum(p.NetworkLayer()); err != nil {
							t.Fatal(err)
						}
					}
				}
				err, wrong := p.VerifyChecksums()
				if err != nil || len(wrong) > 0 {
					t.Fatalf("frame %d: checksums %v, %v: %x", i, wrong, err, b)
				}
				if want := layerOf[s.Proto]; p.Layer(want) == nil && !(s.Proto == ICMP && p.Layer(layers.LayerTypeICMPv6) != nil) {
					t.Fatalf("frame %d: no %v in %v", i, want, p)
				}
			}
		})
	}
}

func TestPacketMillMakesTheSameAsNext(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	fast := 0
	for range 400 {
		p := anyPacket(r)
		if err := p.Validate(); err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
		workers := 1 + r.IntN(3)
		worker := r.IntN(workers)
		m := NewPacketMill(&p, worker, workers)
		if m.packet == nil {
			fast++
		}
		slot, want := make([]byte, len(p.Bytes)), make([]byte, len(p.Bytes))
		have := 0
		for i := range 300 {
			n := uint64(worker + i*workers)
			have = m.Put(slot, have, &Moment{}, 1, 1)
			if p.Next(want, n); !bytes.Equal(slot, want) {
				t.Fatalf("frame %d of %+v (fast %v):\n%x, want\n%x", n, p, m.packet == nil, slot, want)
			}
		}
	}
	if fast < 100 || fast > 390 {
		t.Errorf("%d of 400 went the fast way: the test wants both", fast)
	}
}

// anyPacket is a packet with some fields and checksums anywhere.
func anyPacket(r *rand.Rand) Packet {
	p := Packet{Bytes: make([]byte, 60+r.IntN(40))}
	for i := range p.Bytes {
		p.Bytes[i] = byte(r.Uint32())
	}
	for range r.IntN(4) {
		f := Field{Len: 1 + r.IntN(8), Op: Op(r.IntN(4)), Step: r.Uint64(), Seed: r.Uint64(), Every: uint64(r.IntN(3))}
		if f.Op == Random && r.IntN(3) == 0 {
			f.Len = 9 + r.IntN(12)
		}
		f.Offset = r.IntN(len(p.Bytes) - f.Len)
		if f.Len == 2 && r.IntN(2) == 0 {
			f.Mask = 0x0ff0
		}
		if f.Len <= 8 {
			f.From, f.To = r.Uint64()&f.most(), r.Uint64()&f.most()
			f.From, f.To = min(f.From, f.To), max(f.From, f.To)
			if r.IntN(5) == 0 {
				f.From, f.To = 0, f.most()
			}
			if f.To > f.From {
				f.Start = r.Uint64() % (f.To - f.From)
			}
		}
		if f.Op == List {
			for range 1 + r.IntN(9) {
				f.Values = append(f.Values, r.Uint64()&f.most())
			}
			f.Again = r.IntN(len(f.Values))
		}
		p.Fields = append(p.Fields, f)
	}
	for range r.IntN(3) {
		s := Checksum{At: r.IntN(len(p.Bytes) - 2), From: r.IntN(40), Pseudo: -1, NonZero: r.IntN(2) == 0, Proto: 17}
		s.To = s.From + r.IntN(len(p.Bytes)-s.From)
		if r.IntN(3) == 0 {
			s.Pseudo, s.V6 = r.IntN(20), r.IntN(2) == 0
		}
		p.Sums = append(p.Sums, s)
	}
	return p
}

func TestMillAllocatesNothing(t *testing.T) {
	for name, s := range varied() {
		m, err := NewMill(s, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		slot := make([]byte, 2000)
		at := NewMoment(1, 2, 3)
		have := 0
		if n := testing.AllocsPerRun(1000, func() { have = m.Put(slot[:m.Size()], have, &at, 7, 7) }); n != 0 {
			t.Errorf("%s: %v allocations per frame", name, n)
		}
	}
}

func TestFirstFrameHasTheFirstValues(t *testing.T) {
	s := with(v4(60), func(s *Spec) {
		s.Vary.DstIP = Range{On: true, Op: Decrement, From: Low(netip.MustParseAddr("10.0.0.1")), To: Low(netip.MustParseAddr("10.0.0.9")), Step: 1}
	})
	tmpl, err := Build(s)
	if err != nil {
		t.Fatal(err)
	}
	if got := netip.AddrFrom4([4]byte(tmpl.Bytes[30:34])); got != netip.MustParseAddr("10.0.0.9") {
		t.Errorf("destination %v, want 10.0.0.9", got)
	}
	checksums(t, tmpl.Bytes)
}

func BenchmarkMill(b *testing.B) {
	for _, name := range []string{"plain", "four fields", "imix", "flows"} {
		b.Run(name, func(b *testing.B) {
			m, err := NewMill(varied()[name], 0, 1)
			if err != nil {
				b.Fatal(err)
			}
			slot := make([]byte, 2000)
			at := NewMoment(1, 2, 3)
			have := 0
			for i := range b.N {
				have = m.Put(slot[:m.Size()], have, &at, uint32(i), uint32(i))
			}
		})
	}
}
