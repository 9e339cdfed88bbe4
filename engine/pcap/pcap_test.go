package pcap

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// record is one frame as a capture holds it.
type record struct {
	at   time.Time
	data []byte
	full int // bytes on the wire; 0: all that is in data
}

func frames() (list []record) {
	begin := time.Unix(1_700_000_000, 123_456_000)
	for i := range 50 {
		list = append(list, record{begin.Add(time.Duration(i) * 1234 * time.Microsecond), bytes.Repeat([]byte{byte(i)}, 14+i*29), 0})
	}
	return list
}

// written are captures of the same records in all forms, made by others.
func written(t testing.TB, list []record) map[string][]byte {
	t.Helper()
	info := func(r record) gopacket.CaptureInfo {
		return gopacket.CaptureInfo{Timestamp: r.at, CaptureLength: len(r.data), Length: max(len(r.data), r.full)}
	}
	out := map[string][]byte{}
	for name, make := range map[string]func(io.Writer) *pcapgo.Writer{"pcap": pcapgo.NewWriter, "pcap in ns": pcapgo.NewWriterNanos} {
		var b bytes.Buffer
		w := make(&b)
		if err := w.WriteFileHeader(262144, layers.LinkTypeEthernet); err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			if err := w.WritePacket(info(r), r.data); err != nil {
				t.Fatal(err)
			}
		}
		out[name] = b.Bytes()
	}
	for name, resolution := range map[string]pcapgo.NgResolution{"pcapng": 9, "pcapng in us": 6, "pcapng in 2^-20 s": 0x94} {
		var b bytes.Buffer
		w, err := pcapgo.NewNgWriterInterface(&b, pcapgo.NgInterface{LinkType: layers.LinkTypeEthernet, TimestampResolution: resolution}, pcapgo.DefaultNgWriterOptions)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			if err := w.WritePacket(info(r), r.data); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		out[name] = b.Bytes()
	}
	out["pcap, big-endian"] = bigEndian(list)
	return out
}

func bigEndian(list []record) []byte {
	var b bytes.Buffer
	put := func(v ...uint32) { _ = binary.Write(&b, binary.BigEndian, v) }
	put(0xa1b2c3d4, 2<<16|4, 0, 0, 262144, 1)
	for _, r := range list {
		put(uint32(r.at.Unix()), uint32(r.at.Nanosecond()/1000), uint32(len(r.data)), uint32(max(len(r.data), r.full)))
		b.Write(r.data)
	}
	return b.Bytes()
}

func TestReadsWhatOthersWrite(t *testing.T) {
	list := frames()
	for name, data := range written(t, list) {
		t.Run(name, func(t *testing.T) {
			f, err := Read(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			if f.Len() != len(list) || len(f.Left()) != 0 || f.Backward != 0 {
				t.Fatalf("%d frames, left out %q, %d backward: want %d", f.Len(), f.Left(), f.Backward, len(list))
			}
			for i, r := range list {
				if !bytes.Equal(r.data, f.Frame(i)) || f.Size(i) != len(r.data) {
					t.Fatalf("frame %d: %x, want %x", i, f.Frame(i), r.data)
				}
				if want := r.at.Sub(list[0].at); f.Time(i) < int64(want)-2000 || f.Time(i) > int64(want)+2000 {
					t.Fatalf("frame %d at %d ns, want %d", i, f.Time(i), want)
				}
			}
			n := uint64(0)
			for size, k := range f.Lengths {
				if size < 14 || k != 1 {
					t.Errorf("%d frames of %d bytes", k, size)
				}
				n += k
			}
			if n != uint64(len(list)) {
				t.Errorf("lengths of %d frames", n)
			}
		})
	}
}

func TestLeavesOutWhatCannotBeSent(t *testing.T) {
	at := time.Unix(1000, 0)
	list := []record{
		{at, bytes.Repeat([]byte{1}, 60), 0},
		{at.Add(2 * time.Second), bytes.Repeat([]byte{2}, 60), 100}, // snapped
		{at.Add(3 * time.Second), bytes.Repeat([]byte{3}, 13), 0},   // a runt
		{at.Add(4 * time.Second), bytes.Repeat([]byte{4}, 70_000), 0},
		{at.Add(5 * time.Second), bytes.Repeat([]byte{5}, 60), 0},
		{at.Add(4 * time.Second), bytes.Repeat([]byte{6}, 60), 0}, // back in time
	}
	for name, data := range written(t, list) {
		t.Run(name, func(t *testing.T) {
			f, err := Read(bytes.NewReader(data), 0)
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"1 cut when captured", "1 shorter than an Ethernet header", "1 longer than any frame"}
			if d := cmp.Diff(want, f.Left()); d != "" {
				t.Errorf("left out (-want +got):\n%s", d)
			}
			if f.Len() != 3 || f.Backward != 1 || f.Frame(1)[0] != 5 || f.Time(2) != f.Time(1) {
				t.Errorf("%d frames, %d backward, times %d and %d", f.Len(), f.Backward, f.Time(1), f.Time(2))
			}
		})
	}
}

// A file that is still being written, or was cut off, gives all whole records, at whatever byte it ends.
func TestBrokenOffAnywhere(t *testing.T) {
	list := frames()[:3]
	for name, data := range written(t, list) {
		whole := map[int]bool{}
		for n := range len(data) {
			f, err := Read(bytes.NewReader(data[:n]), int64(n))
			if err != nil {
				if strings.Contains(err.Error(), "\n") {
					t.Fatalf("%s at %d: %q is not one line", name, n, err)
				}
				continue
			}
			for i := range f.Len() {
				if !bytes.Equal(f.Frame(i), list[i].data) {
					t.Fatalf("%s at %d: frame %d is %x", name, n, i, f.Frame(i))
				}
			}
			if !f.Broken {
				whole[f.Len()] = true
			}
		}
		if !whole[1] || !whole[2] {
			t.Errorf("%s: whole files of %v frames", name, whole)
		}
	}
}

// ng builds a pcapng file by hand.
type ng struct{ b []byte }

func (n *ng) block(kind uint32, body ...uint32) *ng {
	length := uint32(12 + 4*len(body))
	n.b = binary.LittleEndian.AppendUint32(n.b, kind)
	n.b = binary.LittleEndian.AppendUint32(n.b, length)
	for _, v := range body {
		n.b = binary.LittleEndian.AppendUint32(n.b, v)
	}
	n.b = binary.LittleEndian.AppendUint32(n.b, length)
	return n
}

func (n *ng) section() *ng { return n.block(0x0a0d0d0a, 0x1a2b3c4d, 1, 0xffffffff, 0xffffffff) }

func (n *ng) port(link uint32) *ng { return n.block(1, link, 0) }

func (n *ng) packet(port uint32) *ng { return n.block(6, port, 0, 1000, 16, 16, 1, 2, 3, 4) }

func TestBroken(t *testing.T) {
	classic := written(t, frames()[:1])["pcap"]
	change := func(at int, v byte) []byte {
		b := bytes.Clone(classic)
		b[at] = v
		return b
	}
	good := (&ng{}).section().port(1).packet(0).b
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"a good pcapng", good, ""},
		{"two sections", append(bytes.Clone(good), good...), ""},
		{"a simple packet", (&ng{}).section().port(1).block(3, 16, 1, 2, 3, 4).b, ""},
		{"an obsolete packet", (&ng{}).section().port(1).block(2, 0, 0, 1000, 16, 16, 1, 2, 3, 4).b, ""},
		{"an unknown block", (&ng{}).section().block(77, 1, 2).port(1).packet(0).b, ""},
		{"some other link", (&ng{}).section().port(1).port(113).packet(1).packet(0).b, ""},
		{"nothing", nil, "not a capture: 0 bytes"},
		{"two bytes", []byte{1, 2}, "not a capture: 2 bytes"},
		{"text", []byte("hello world"), "not a capture: begins with 68 65 6c 6c, neither pcap nor pcapng"},
		{"gzip", []byte{0x1f, 0x8b, 8, 0}, "not a capture: it is packed with gzip: gunzip it first"},
		{"half a header", classic[:20], "not a capture: 20 bytes"},
		{"no records", classic[:24], "no frame that can be sent"},
		{"half a record", classic[:30], "no frame that can be sent, the last one broken off"},
		{"another link", change(20, 113), "link type 113: only captures of Ethernet (1) can be sent"},
		{"an absurd record", change(24+11, 0x7f), "byte 24: a record of 2130706446 bytes: the file is damaged"},
		{"no interface", (&ng{}).section().packet(0).b, "byte 56: a packet of interface 0, of which there is no description: the file is damaged"},
		{"no such interface", (&ng{}).section().port(1).packet(7).b, "byte 76: a packet of interface 7, of which there is no description: the file is damaged"},
		{"another link only", (&ng{}).section().port(113).packet(0).b, "link type 113: only captures of Ethernet (1) can be sent"},
		{"a short packet block", (&ng{}).section().port(1).block(6, 0, 0).b, "byte 56: a packet block of 8 bytes: the file is damaged"},
		{"a packet longer than its block", (&ng{}).section().port(1).block(6, 0, 0, 1, 99, 99, 1).b, "byte 76: a packet of 99 bytes in a block with room for 4: the file is damaged"},
		{"a short interface", (&ng{}).section().block(1, 1).b, "byte 36: an interface description of 4 bytes: the file is damaged"},
		{"a simple packet without an interface", (&ng{}).section().block(3, 16, 1, 2, 3, 4).b, "byte 36: a simple packet block of 20 bytes without an interface: the file is damaged"},
		{"byte order", (&ng{}).block(0x0a0d0d0a, 0x11111111, 1).b, "byte 0: byte order 286331153: the file is damaged"},
		{"a block of three bytes", append((&ng{}).section().b, 1, 0, 0, 0, 3, 0, 0, 0), "byte 28: a block of length 3: the file is damaged"},
		{"a block without an end", append((&ng{}).section().b, 77, 0, 0, 0, 12, 0, 0, 0, 16, 0, 0, 0), "byte 28: a block ends with length 16: the file is damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Read(bytes.NewReader(c.data), int64(len(c.data)))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if err == nil && f.Size(0) != 16 {
				t.Errorf("a frame of %d bytes", f.Size(0))
			}
		})
	}
}

func TestOpen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.pcap")
	if _, err := Open(name); err == nil || err.Error() != "no such file or directory" {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := Open(filepath.Dir(name)); err == nil || err.Error() != "is a directory" {
		t.Errorf("a directory: %v", err)
	}
	if err := os.WriteFile(name, written(t, frames())["pcap"], 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := Open(name); err != nil || f.Len() != 50 {
		t.Errorf("%v", err)
	}
}

func FuzzRead(f *testing.F) {
	for _, data := range written(f, frames()[:3]) {
		f.Add(data)
	}
	f.Add((&ng{}).section().port(1).block(3, 16, 1, 2, 3, 4).block(2, 0, 0, 1000, 16, 16, 1, 2, 3, 4).b)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is not one line", err)
			}
			return
		}
		last := int64(0)
		for i := range c.Len() {
			if n := len(c.Frame(i)); n < 14 || n > len(data) || c.Time(i) < last {
				t.Errorf("frame %d: %d bytes at %d ns", i, n, c.Time(i))
			}
			last = c.Time(i)
		}
	})
}
