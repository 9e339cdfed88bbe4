package engine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirespeed/engine/frame"
)

// mix reads a mix that is right.
func mix(t testing.TB, text string) *frame.Mix {
	t.Helper()
	m, ok, err := frame.ParseMix(text)
	if err != nil || !ok {
		t.Fatal(text, ok, err)
	}
	return m
}

func sized(t testing.TB, cfg Config, text string) Config {
	t.Helper()
	cfg.Frame.Sizes = mix(t, text)
	cfg.Frame.Size = cfg.Frame.Sizes.Most()
	return cfg
}

// fourFields are frames of which four header fields change, checksums with them.
func fourFields(cfg Config) Config {
	f := &cfg.Frame
	up := func(from, n uint64) frame.Range { return frame.Range{On: true, From: from, To: from + n - 1, Step: 1} }
	f.Vary = frame.Vary{SrcIP: up(frame.Low(f.SrcIP), 250), DstIP: up(frame.Low(f.DstIP), 5000), SrcPort: up(21_000, 1000), DstPort: up(20_001, 3)}
	return cfg
}

func TestMixedFramesArrive(t *testing.T) {
	tx, rx := pair(t, 1)
	simple := base(t, tx, "20kpps")
	named := func(name string, weight uint64, f func(*frame.Spec)) Stream {
		s := Stream{Name: name, Weight: weight, Frame: simple.Frame}
		f(&s.Frame)
		return s
	}
	streams := simple
	streams.Streams = []Stream{
		named("small", 3, func(s *frame.Spec) { s.DstPort = 1 }),
		named("large", 1, func(s *frame.Spec) { s.DstPort, s.Size = 2, 1000 }),
	}
	own := simple
	fast, slow := base(t, tx, "15kpps").Rate, base(t, tx, "5kpps").Rate
	own.Streams = []Stream{streams.Streams[0], streams.Streams[1]}
	own.Streams[0].Rate, own.Streams[1].Rate = &fast, &slow
	for name, cfg := range map[string]Config{"imix": sized(t, simple, "imix"), "four fields": fourFields(simple), "streams": streams, "streams with rates": own} {
		for _, path := range []Path{Bypass, QdiscPath} {
			t.Run(fmt.Sprintf("%s %s", name, path), func(t *testing.T) {
				const n = 1200
				c := openCapture(t, rx)
				cfg.Path = path
				e := started(t, tx, rx, cfg, Limit{Count: n})
				got := c.read(n)
				if len(got) != n || c.dropped() != 0 {
					t.Fatalf("%d frames captured, %d lost by the capture, want %d", len(got), c.dropped(), n)
				}
				sizes, ports := map[int]int{}, map[uint16]int{}
				var sum frame.Lengths
				for i, f := range got {
					ip, udp := decode(t, f.data)
					if seq := binary.BigEndian.Uint32(udp.Payload[4:]); seq != uint32(i+1) || ip.Id != uint16(i+1) {
						t.Fatalf("frame %d has sequence %d and IP ID %d", i, seq, ip.Id)
					}
					sizes[len(f.data)]++
					ports[uint16(udp.DstPort)]++
					sum = sum.Plus(frame.OneSize(len(f.data)))
				}
				switch name {
				case "imix":
					if d := cmp.Diff(map[int]int{60: 700, 590: 400, 1514: 100}, sizes); d != "" {
						t.Errorf("sizes (-want +got):\n%s", d)
					}
				case "four fields":
					if d := cmp.Diff(map[uint16]int{20_001: 400, 20_002: 400, 20_003: 400}, ports); d != "" {
						t.Errorf("ports (-want +got):\n%s", d)
					}
				default:
					if d := cmp.Diff(map[uint16]int{1: 900, 2: 300}, ports); d != "" {
						t.Errorf("streams (-want +got):\n%s", d)
					}
				}
				<-e.Done()
				var s Snapshot
				e.Snapshot(&s)
				if s.Arrived.Count != n || s.Taken.Count != n {
					t.Errorf("%d taken, %d arrived, want %d", s.Taken.Count, s.Arrived.Count, n)
				}
				if d := cmp.Diff(sum, s.Sent); d != "" {
					t.Errorf("lengths as they arrived and as they were counted:\n%s", d)
				}
			})
		}
	}
}

// What counts up in the headers goes on where the rate is turned, and begins anew with a new run.
func TestModifiersOutliveAChangeOfRate(t *testing.T) {
	tx, rx := pair(t, 1)
	c := openCapture(t, rx)
	cfg := base(t, tx, "2kpps")
	cfg.Frame.Vary.DstPort = frame.Range{On: true, From: 20_000, To: 60_000, Step: 1}
	e := started(t, tx, rx, cfg, Limit{Count: 900})
	ports := c.read(300)
	faster := cfg
	faster.Rate = base(t, tx, "4kpps").Rate
	if err := e.Apply(faster); err != nil {
		t.Fatal(err)
	}
	ports = append(ports, c.read(600)...)
	for i, f := range ports {
		if _, udp := decode(t, f.data); int(udp.DstPort) != 20_000+i {
			t.Fatalf("frame %d goes to port %d", i, udp.DstPort)
		}
	}
	if len(ports) != 900 {
		t.Fatalf("%d frames", len(ports))
	}
	<-e.Done()
	if err := e.Start(Limit{Count: 1}); err != nil {
		t.Fatal(err)
	}
	if _, udp := decode(t, c.read(1)[0].data); udp.DstPort != 20_000 {
		t.Errorf("the next run begins with port %d", udp.DstPort)
	}
}

// Workers share a range out between them: no value twice, none left out.
func TestWorkersShareARange(t *testing.T) {
	tx, rx := pair(t, 2)
	c := openCapture(t, rx)
	cfg := base(t, tx, "4kpps")
	cfg.Queues = 2
	cfg.Frame.Vary.DstPort = frame.Range{On: true, From: 20_000, To: 60_000, Step: 1}
	started(t, tx, rx, cfg, Limit{Count: 800})
	ports := map[uint16]int{}
	for _, f := range c.read(800) {
		_, udp := decode(t, f.data)
		ports[uint16(udp.DstPort)]++
	}
	twice := 0
	for p, n := range ports {
		if n > 1 || p > 20_900 { // the workers may end a little apart
			twice++
		}
	}
	if twice > 0 || len(ports) != 800 {
		t.Errorf("%d values, %d of them twice or far off: %v", len(ports), twice, ports)
	}
}

func TestPacketsOfAFileArriveAsTheyAre(t *testing.T) {
	tx, rx := pair(t, 1)
	packet := func(last byte) frame.Packet {
		b := make([]byte, 60)
		copy(b, "\x02\x00\x00\x00\x00\xfe\x02\x00\x00\x00\x00\x09\xff\xfe")
		b[59] = last
		return frame.Packet{Bytes: b, Fields: []frame.Field{{Offset: 20, Len: 2, To: 9, Step: 1}}, Sums: []frame.Checksum{{At: 30, From: 14, To: 60, Pseudo: -1}}}
	}
	cfg := base(t, tx, "20kpps")
	cfg.Load = &Load{Name: "test.cfg", Packets: []frame.Packet{packet(1), packet(2), packet(3)}}
	c := openCapture(t, rx)
	e := started(t, tx, rx, cfg, Limit{Count: 600})
	for i, f := range c.read(600) {
		want := make([]byte, 60)
		cfg.Load.Packets[i%3].Next(want, uint64(i/3))
		if !bytes.Equal(want, f.data) {
			t.Fatalf("frame %d:\n%x, want\n%x", i, f.data, want)
		}
	}
	<-e.Done()
	var s Snapshot
	if e.Snapshot(&s); s.Arrived.Count != 600 || !s.Arrived.OK {
		t.Errorf("arrived %+v, want 600", s.Arrived)
	}
}

func TestUnknownFramesAreNotCounted(t *testing.T) {
	tx, rx := pair(t, 1)
	cfg := base(t, tx, "20kpps")
	cfg.Load = &Load{Name: "noise.cfg", Packets: []frame.Packet{{Bytes: make([]byte, 60), Fields: []frame.Field{{Offset: 0, Len: 60, Op: frame.Random}}}}}
	if why := cfg.Uncounted(); why == "" {
		t.Error("noise can be told from noise")
	}
	e := started(t, tx, rx, cfg, Limit{Count: 100})
	<-e.Done()
	var s Snapshot
	if e.Snapshot(&s); s.Arrived.OK || s.Taken.Count != 100 {
		t.Errorf("arrived %+v of %d taken, want unknown of 100", s.Arrived, s.Taken.Count)
	}
}

func TestStreamsRefused(t *testing.T) {
	tx := Device{Name: "v0", MTU: 1500, Queues: 1, CPUs: allowedCPUs, SpeedWhy: "veth has no speed of its own"}
	simple := base(t, tx, "max")
	simple.Frame.SrcMAC = foreign
	rate, percent, fastest := base(t, tx, "5kpps").Rate, base(t, tx, "10%").Rate, Rate{}
	stream := func(name string, weight uint64, r *Rate) Stream {
		return Stream{Name: name, Frame: simple.Frame, Weight: weight, Rate: r}
	}
	large := stream("b", 1, nil)
	large.Frame.Size = 1600
	many := make([]Stream, 17)
	for i := range many {
		many[i] = stream("x", 1, nil)
	}
	for _, c := range []struct {
		name    string
		streams []Stream
		want    string
	}{
		{"two weights", []Stream{stream("a", 1, nil), stream("b", 7, nil)}, ""},
		{"two rates", []Stream{stream("a", 1, &rate), stream("b", 1, &rate)}, ""},
		{"a rate and a weight", []Stream{stream("a", 1, &rate), stream("b", 1, nil)}, "stream[b]: either all streams have a rate of their own, or none has: give each a rate, or weights"},
		{"max", []Stream{stream("a", 1, &fastest)}, "stream[a]: rate max is not for one of several streams: give it a rate, or all of them weights"},
		{"percent of nothing", []Stream{stream("a", 1, &percent)}, "stream[a]: rate 10%: no wirespeed to take a percentage of: veth has no speed of its own: state it with --link 10Gbit, or use pps"},
		{"too large", []Stream{stream("a", 1, nil), large}, "stream[b]: size 1600: the limit on v0 is 1514 (MTU 1500; 1518 with a VLAN tag): ask for less, or raise the MTU"},
		{"no weight", []Stream{stream("a", 0, nil)}, "stream[a]: weight 0: from 1, and at most 65536 in all"},
		{"too many", many, "17 streams: at most 16"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := simple
			cfg.Streams = c.streams
			got := ""
			if err := cfg.Validate(tx); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
