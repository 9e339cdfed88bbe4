package trafgen

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"

	"wirespeed/engine/frame"
)

// Device is what a file's defaults come from. A zero address leaves the field zero, as trafgen does.
type Device struct {
	MAC  [6]byte
	IPv4 [4]byte
	IPv6 [16]byte
}

// Warning is something that an operator will wonder about: trafgen does so, and so do these frames.
type Warning struct {
	Pos
	Text string
}

// String returns place and text.
func (w Warning) String() string { return w.Pos.String() + ": " + w.Text }

// File is a file that was understood.
type File struct {
	packets []packet
}

// Read reads a file and those that it includes. Errors that the file is to blame for are *Error.
func Read(path string) (*File, error) {
	src, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, src, readFile)
}

// readFile reads an ordinary file of reasonable length.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(src) > maxFile {
		return nil, fmt.Errorf("%s: longer than %d MiB", path, maxFile>>20)
	}
	return src, nil
}

// Parse reads a file's text; read opens those that it includes. Errors are *Error.
func Parse(file string, src []byte, read func(path string) ([]byte, error)) (*File, error) {
	if len(src) > maxFile {
		return nil, Pos{file, 1, 1}.errorf("longer than %d MiB", maxFile>>20)
	}
	c, err := preprocess(file, src, read)
	if err != nil {
		return nil, err
	}
	packets, err := parse(c.out, file)
	if err != nil {
		return nil, err
	}
	f := &File{packets}
	// What no device changes is refused here.
	_, _, err = f.Compile(Device{}, 0)
	return f, err
}

// Compile makes the packets for a device, in the order of the file. The seed decides what rnd() and drnd() come to.
func (f *File) Compile(dev Device, seed uint64) ([]frame.Packet, []Warning, error) {
	var out []frame.Packet
	var warnings []Warning
	random := rand.New(rand.NewPCG(seed, 0))
	values := 0
	for i := range f.packets {
		b := builder{dev: dev, random: random, pos: f.packets[i].pos}
		p, err := b.build(&f.packets[i])
		if err != nil {
			return nil, nil, err
		}
		for _, f := range p.Fields {
			values += len(f.Values)
		}
		if values > maxValues {
			return nil, nil, b.pos.errorf("the counters of this file go through more than %d values before they repeat", maxValues)
		}
		out = append(out, p)
		warnings = append(warnings, b.warnings...)
	}
	return out, warnings, nil
}

// builder makes one packet.
type builder struct {
	dev      Device
	random   *rand.Rand
	pos      Pos // of the packet
	bytes    []byte
	headers  []*placed
	counters []frame.Field    // in the order in which trafgen carries them out: these,
	noise    []frame.Field    // these,
	sums     []frame.Checksum // these, the file's own first,
	sumElems []*elem          // which these are
	fields   []dynamic        // and these
	warnings []Warning
}

// placed is a header in the packet.
type placed struct {
	*proto
	pos Pos
	at  int
	len int
	set []bool // fields that the file sets
}

// dynamic is a field of a header that changes.
type dynamic struct {
	of    *placed
	field frame.Field
}

func (b *builder) warn(pos Pos, format string, args ...any) {
	b.warnings = append(b.warnings, Warning{pos, fmt.Sprintf(format, args...)})
}

func (b *builder) build(p *packet) (frame.Packet, error) {
	for i := range p.elems {
		if err := b.add(&p.elems[i]); err != nil {
			return frame.Packet{}, err
		}
		if len(b.bytes) > maxFrame {
			return frame.Packet{}, p.elems[i].pos.errorf("the packet becomes longer than %d bytes", maxFrame)
		}
		if len(b.counters)+len(b.noise)+len(b.fields) > maxChanging {
			return frame.Packet{}, p.elems[i].pos.errorf("more than %d bytes of the packet change", maxChanging)
		}
	}
	for _, f := range b.fields {
		if f.field.Offset+f.field.Len > len(b.bytes) {
			return frame.Packet{}, f.of.pos.errorf("%s: a field that changes reaches beyond the packet", f.of.name)
		}
	}
	if err := b.endSums(); err != nil {
		return frame.Packet{}, err
	}
	for _, h := range slices.Backward(b.headers) {
		b.finish(h)
	}
	out := frame.Packet{Bytes: b.bytes, Fields: slices.Concat(b.counters, b.noise), Sums: b.sums}
	for _, f := range b.fields {
		out.Fields = append(out.Fields, f.field)
	}
	for i := range out.Fields {
		out.Fields[i].Seed = b.random.Uint64()
	}
	if p.cpus != nil {
		for c := p.cpus[0]; c <= p.cpus[1]; c++ {
			out.CPUs = append(out.CPUs, int(c))
		}
	}
	settle(&out)
	if err := out.Validate(); err != nil {
		return out, b.pos.errorf("%v", err)
	}
	return out, nil
}

// add adds one thing.
func (b *builder) add(e *elem) error {
	at := len(b.bytes)
	switch e.what {
	case literal:
		b.bytes = append(b.bytes, e.data...)
	case fill:
		for range e.n {
			b.bytes = append(b.bytes, e.data[0])
		}
	case compileRandom:
		for range e.n {
			b.bytes = append(b.bytes, byte(b.random.Uint32()))
		}
	case runRandom:
		b.bytes = append(b.bytes, make([]byte, e.n)...)
		if e.n > 0 {
			b.noise = append(b.noise, noise(at, e.n)...)
		}
	case countUp, countDown:
		b.bytes = append(b.bytes, 0)
		b.counters = append(b.counters, byteCounter(at, e))
	case checksum:
		b.bytes = append(b.bytes, 0, 0)
		b.sum(at, e)
	case header:
		return b.header(e)
	}
	return nil
}

// noise are n random bytes, in fields that the engine's arithmetic takes at once.
func noise(at, n int) (out []frame.Field) {
	if n > 8 {
		return []frame.Field{{Offset: at, Len: n, Op: frame.Random}}
	}
	return []frame.Field{{Offset: at, Len: n, Op: frame.Random, To: ^uint64(0) >> (64 - 8*n)}}
}

// sum adds a checksum. One over bytes that all stand before it and do not change is computed by trafgen once, when it reads the file, and in a
// way of its own: without the last byte, and with its two bytes swapped.
func (b *builder) sum(at int, e *elem) {
	changing := len(b.counters)+len(b.noise)+len(b.sums) > 0
	if e.sum == sumIP && !changing && e.to < int64(at) {
		n := (e.to - e.from) &^ 1
		binary.LittleEndian.PutUint16(b.bytes[at:], ^frame.Fold(frame.Sum(b.bytes[e.from:e.from+n])))
		b.warn(e.pos, "trafgen leaves out byte %d here and swaps the two bytes of the sum, and so do these frames: a checksum before the end of its range comes out right", e.to)
		return
	}
	b.sums = append(b.sums, frame.Checksum{At: at, Pseudo: -1})
	b.sumElems = append(b.sumElems, e)
}

// endSums gives the checksums of the file their ends, which only the whole packet has.
func (b *builder) endSums() error {
	end := len(b.bytes)
	for i, e := range b.sumElems {
		s := &b.sums[i]
		from, to := int(e.from), int(e.to)
		if e.sum == sumIP {
			if from >= end {
				return e.pos.errorf("the checksum begins at byte %d: the packet has %d", from, end)
			}
			n := min(to, end-1) + 1 - from
			s.From, s.To = from, from+n&^1 // an odd byte at the end does not count
			continue
		}
		least := 20
		if s.V6 = e.sum >= sumUDP6; s.V6 {
			least = 40
		}
		switch {
		case to >= end:
			return e.pos.errorf("the checksum begins at byte %d: the packet has %d", to, end)
		case from+least > end:
			return e.pos.errorf("an IP header at byte %d does not fit: the packet has %d bytes", from, end)
		}
		s.Pseudo, s.From, s.To, s.Proto = from, to, end, sumProtos[e.sum]
	}
	return nil
}

// sumProtos are the protocol numbers in the pseudo-headers.
var sumProtos = map[sumKind]uint8{
	sumUDP: frame.ProtoUDP, sumUDP6: frame.ProtoUDP, sumTCP: frame.ProtoTCP, sumTCP6: frame.ProtoTCP, sumICMP6: frame.ProtoICMPv6,
}

// settle computes the checksums that no field changes, once and for all.
func settle(p *frame.Packet) {
	first := make([]byte, len(p.Bytes))
	p.Next(first, 0)
	touched := func(from, to int) bool {
		return slices.ContainsFunc(p.Fields, func(f frame.Field) bool { return f.Offset < to && from < f.Offset+f.Len })
	}
	var left []frame.Checksum
	for _, s := range p.Sums {
		addresses := 0
		if s.Pseudo >= 0 {
			if addresses = 8; s.V6 {
				addresses = 32
			}
		}
		// A field over the sum's own place is overwritten by it, in each frame.
		again := touched(s.From, s.To) || touched(s.At, s.At+2) ||
			addresses == 8 && touched(s.Pseudo+12, s.Pseudo+20) || addresses == 32 && touched(s.Pseudo+8, s.Pseudo+40) ||
			slices.ContainsFunc(left, func(o frame.Checksum) bool { return o.At < s.To && s.From < o.At+2 && o.At != s.At })
		if again {
			left = append(left, s)
			continue
		}
		copy(p.Bytes[s.At:s.At+2], first[s.At:s.At+2])
	}
	p.Sums = left
}
