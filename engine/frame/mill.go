package frame

import (
	"encoding/binary"
	"slices"
)

// Mill makes the frames of one stream in turn, at full speed and without allocation: where a Packet makes everything of a frame anew, a Mill only
// writes what changes and adds it to checksums that were summed up once without it (RFC 1624). What comes out is the same, to the byte.
//
// A Mill belongs to the one worker that sends its frames. Its stream may be shared out over several workers: worker i of k makes frames i, i+k,
// i+2k ...
type Mill struct {
	n, stride uint64 // number of the next frame in the stream, and to the one after it
	sizes     *Mix   // nil: one size
	seed      uint64

	shapes []shape // one for each size
	body   []byte  // the longest frame: what follows the head of all others
	cogs   []cog   // of fields that count up or down in two or four bytes
	gears  []gear  // of all others
	sums   []dial
	packet *Packet // where checksums and fields hang together in a way that only Next can follow; nil otherwise

	ipid, ipSum int // offset of the IPv4 ID and index of its checksum in sums, -1 without one
	header      int // offset of the pktgen header, in shapes that have it
	tcp         int // offset of the TCP sequence number, -1 without one
	l4Sum       int // index of the checksum that covers it

	now   *shape   // of the next frame
	total []uint32 // one for each of sums, while a frame is made
}

// shape is the frames of one size.
type shape struct {
	size    int
	head    []byte   // all that depends on the size; what follows is the Mill's body
	base    []uint32 // of each checksum: all that does not change, not yet folded
	stamped bool     // it has the pktgen header
	worker  bool     // and after it the worker's number
	payload uint32   // bytes: what the TCP sequence number counts
}

// dial is a checksum to be written.
type dial struct {
	at      int
	nonZero bool
}

// Moment is what all frames of a batch have in common.
type Moment struct {
	time   uint64
	worker uint16
	sum    uint32 // of the time
}

// NewMoment prepares the frames of a batch; see Template.Stamp.
func NewMoment(sec, usec uint32, worker uint16) Moment {
	return Moment{uint64(sec)<<32 | uint64(usec), worker, Halves(sec) + Halves(usec)}
}

// NewMill makes the mill of worker of workers for the frames of s.
func NewMill(s Spec, worker, workers int) (*Mill, error) {
	m := &Mill{sizes: s.Sizes, seed: Mix64(sizeSeed, 0), ipid: -1, ipSum: -1, l4Sum: -1, header: s.headers(), tcp: -1}
	if s.Proto == TCP && s.Hex == "" {
		m.tcp = s.l4() + tcpToSeq
	}
	sizes := []int{s.Size}
	if s.Sizes != nil {
		sizes = s.Sizes.sizes
		s.Size = s.Sizes.Most()
	}
	big, err := Build(s)
	if err != nil {
		return nil, err
	}
	m.body = big.Bytes
	fields, sums := s.fields(), s.sums()
	for _, size := range sizes {
		one := s.At(size)
		t := big
		if size != s.Size {
			if t, err = Build(one); err != nil {
				return nil, err
			}
		}
		head := 0
		if len(sizes) > 1 {
			head = min(size, s.headers()+headerLen+workerLen)
		}
		m.add(t, fields, one.sums(), head)
	}
	if big.IPID >= 0 {
		m.ipid, m.ipSum = big.IPID, 0
	}
	m.l4Sum = len(sums) - 1
	m.finish(fields, sums, worker, workers)
	return m, nil
}

// NewPacketMill makes the mill of worker of workers for the frames of p, which must be valid and must not change any more. IP ID and payload are p's own.
func NewPacketMill(p *Packet, worker, workers int) *Mill {
	m := &Mill{ipid: -1, ipSum: -1, l4Sum: -1, tcp: -1, body: p.Bytes}
	if !independent(p) {
		m.packet = p
		m.shapes = []shape{{size: len(p.Bytes)}}
		m.finish(nil, nil, worker, workers)
		return m
	}
	m.add(Template{Bytes: slices.Clone(p.Bytes), IPID: -1, Header: -1, Worker: -1}, p.Fields, p.Sums, 0)
	m.finish(p.Fields, p.Sums, worker, workers)
	return m
}

// sizeSeed is any number: random sizes are to be the same in every run.
const sizeSeed = 6985

// add makes the shape of one template. head is how many bytes of it depend on the size.
func (m *Mill) add(t Template, fields []Field, sums []Checksum, head int) {
	still := slices.Clone(t.Bytes)
	for i := range fields {
		fields[i].clear(still)
	}
	for _, s := range sums {
		still[s.At], still[s.At+1] = 0, 0
	}
	sh := shape{size: len(t.Bytes), head: t.Bytes[:head:head], stamped: t.Header >= 0, worker: t.Worker >= 0, payload: uint32(max(0, len(t.Bytes)-m.header))}
	for _, s := range sums {
		s.NonZero = false
		sh.base = append(sh.base, uint32(^s.of(still)))
	}
	m.shapes = append(m.shapes, sh)
}

func (m *Mill) finish(fields []Field, sums []Checksum, worker, workers int) {
	for _, g := range gearsOf(fields, sums) {
		if c, ok := g.cog(len(sums)); ok {
			m.cogs = append(m.cogs, c)
		} else {
			m.gears = append(m.gears, g)
		}
	}
	for _, s := range sums {
		m.sums = append(m.sums, dial{s.At, s.NonZero})
	}
	m.total = make([]uint32, len(sums)+1) // the last is of no checksum
	m.stride = uint64(workers)
	m.Seek(uint64(worker))
}

// Seek makes n, of the whole stream, the next frame.
func (m *Mill) Seek(n uint64) {
	m.n = n
	for i := range m.gears {
		m.gears[i].seek(n, m.stride)
	}
	for i := range m.cogs {
		m.cogs[i].seek(n, m.stride)
	}
	m.choose()
}

// At is the number of the next frame in the stream.
func (m *Mill) At() uint64 { return m.n }

// choose finds the shape of the next frame.
func (m *Mill) choose() {
	m.now = &m.shapes[0]
	if m.sizes != nil {
		m.now = &m.shapes[m.sizes.index(m.n, m.seed)]
	}
}

// Size is the length in bytes of the next frame, without FCS.
func (m *Mill) Size() int { return m.now.size }

// Sizes is how many sizes the mill's frames have.
func (m *Mill) Sizes() int { return len(m.shapes) }

// Numbered says whether the next frame carries a sequence number.
func (m *Mill) Numbered() bool { return m.now.stamped }

// Put makes the next frame in b, of Size bytes. have says how many bytes in b are of an earlier frame of this mill, 0 for none; it returns how many are
// now. at is the batch's; id counts a worker's frames from 1 for the IP ID and the TCP sequence number, and seq is the number that the frame carries,
// where it has these.
func (m *Mill) Put(b []byte, have int, at *Moment, id, seq uint32) int {
	s := m.now
	if m.packet != nil {
		m.packet.Next(b, m.n)
		m.n += m.stride
		return len(b)
	}
	if have < s.size {
		from := max(have, len(s.head))
		copy(b[from:], m.body[from:s.size])
		have = s.size
	}
	copy(b, s.head)
	total := m.total
	copy(total, s.base)
	for i := range m.cogs {
		m.cogs[i].turn(b, total)
	}
	for i := range m.gears {
		m.gears[i].turn(b, m.n, total)
	}
	if m.ipid >= 0 {
		binary.BigEndian.PutUint16(b[m.ipid:], uint16(id))
		total[m.ipSum] += id & 0xffff
	}
	if m.tcp >= 0 {
		v := (id - 1) * s.payload
		binary.BigEndian.PutUint32(b[m.tcp:], v)
		total[m.l4Sum] += Halves(v)
	}
	if s.stamped {
		h := b[m.header : m.header+headerLen]
		binary.BigEndian.PutUint32(h[4:8], seq)
		binary.BigEndian.PutUint64(h[8:16], at.time)
		sum := Halves(seq) + at.sum
		if s.worker {
			binary.BigEndian.PutUint16(b[m.header+headerLen:], at.worker)
			sum += uint32(at.worker)
		}
		total[m.l4Sum] += sum
	}
	for i := range m.sums {
		d := &m.sums[i]
		c := ^Fold(total[i])
		if c == 0 && d.nonZero {
			c = 0xffff
		}
		binary.BigEndian.PutUint16(b[d.at:], c)
	}
	m.n += m.stride
	if m.sizes != nil {
		m.choose()
	}
	return have
}
