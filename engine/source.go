package engine

import (
	"math/big"
	"reflect"

	"wirespeed/engine/frame"
)

// source is where one worker's frames come from when they are not all alike. The worker alone uses it, through all plans that send the same: what
// counts up in the frames goes on where the rate changes.
type source struct {
	mills   []*frame.Mill
	content []uint64 // of each mill: what stands in a slot that holds a frame of it

	// Which mill is next: in order, around, where there is one; else the one furthest behind its share.
	order  []uint16
	at     int
	shares []int64
	credit []int64
	whole  int64 // of the shares

	capture *cursor // frames of a capture, in the place of mills; nil otherwise

	id uint32 // of the last frame: its IP ID, and what its TCP sequence number is counted from
}

// next is the mill of the next frame.
func (s *source) next() int {
	switch {
	case len(s.mills) == 1:
		return 0
	case s.order != nil:
		i := s.order[s.at]
		if s.at++; s.at == len(s.order) {
			s.at = 0
		}
		return int(i)
	}
	best := 0
	for i := range s.credit {
		s.credit[i] += s.shares[i]
		if s.credit[i] > s.credit[best] {
			best = i
		}
	}
	s.credit[best] -= s.whole
	return best
}

// newSource makes the source of a worker, nil where one template says it all. serial gives numbers that no other plan or source of the engine has.
func newSource(cfg Config, dev Device, worker int, serial func() uint64) (*source, error) {
	if !cfg.mixed() {
		return nil, nil
	}
	s := &source{}
	add := func(m *frame.Mill) {
		s.mills = append(s.mills, m)
		s.content = append(s.content, serial())
	}
	if cfg.Load != nil {
		if cfg.Load.Capture != nil {
			s.capture = newCursor(cfg.Load.Capture, frame.MaxSize(dev.MTU, 1))
			s.content = []uint64{serial()}
			return s, nil
		}
		var weights []uint64
		for i := range cfg.Load.Packets {
			if p := &cfg.Load.Packets[i]; p.SentBy(worker) {
				add(frame.NewPacketMill(p, worker, cfg.Queues))
				weights = append(weights, 1)
			}
		}
		s.order = frame.Interleave(weights)
		return s, nil
	}
	streams := cfg.Streams
	if len(streams) == 0 {
		streams = []Stream{{Frame: cfg.Frame, Weight: 1}}
	}
	var weights []uint64
	for _, st := range streams {
		m, err := frame.NewMill(cfg.offset(st.Frame, worker), worker, cfg.Queues)
		if err != nil {
			return nil, err
		}
		add(m)
		weights = append(weights, st.Weight)
	}
	if streams[0].Rate == nil {
		s.order = frame.Interleave(weights)
		return s, nil
	}
	// The sum of the shares of a frame each, exact to one in 2^40.
	const one = 1 << 40
	sum := new(big.Rat)
	rates := cfg.rates(dev)
	for _, r := range rates {
		sum.Add(sum, r)
	}
	for _, r := range rates {
		f, _ := new(big.Rat).Quo(r, sum).Float64()
		s.shares = append(s.shares, max(1, int64(f*one+0.5)))
		s.whole += s.shares[len(s.shares)-1]
	}
	s.credit = make([]int64, len(s.shares))
	return s, nil
}

// sources are those of all workers of a run.
type sources struct {
	run  *run
	cfg  Config
	mtu  int
	list []*source // nil entries where one template says it all
	id   uint64    // 0 for these, else another one for each content
}

// source sees to it that e.sources are those of cfg. Sources of workers that go on sending the same are kept, with all they count up.
func (e *Engine) source(r *run, cfg Config) error {
	if e.sources.run == r && e.sources.mtu == e.dev.MTU && sameContent(e.sources.cfg, cfg) {
		return nil
	}
	next := sources{run: r, cfg: cfg, mtu: e.dev.MTU, list: make([]*source, cfg.Queues)}
	serial := func() uint64 { e.serial++; return e.serial }
	for i := range next.list {
		var err error
		if next.list[i], err = newSource(cfg, e.dev, i, serial); err != nil {
			return err
		}
	}
	if cfg.mixed() {
		next.id = serial()
	}
	e.sources = next
	return nil
}

// sameContent says whether the workers of two configurations send the same frames.
func sameContent(a, b Config) bool {
	return a.Queues == b.Queues && a.Load == b.Load && reflect.DeepEqual(a.FlowOffsets, b.FlowOffsets) &&
		(a.Load != nil || a.Frame == b.Frame && reflect.DeepEqual(a.Streams, b.Streams))
}

// fillMixed is fill for frames that are not all alike.
func (w *worker) fillMixed(n int, now int64) int {
	p, l, s := w.cur, w.lane, w.cur.source
	if free := l.free(); free < n {
		w.shared.unclaim(n - free)
		n = free
	}
	if s.capture != nil {
		return w.fillCaptured(n)
	}
	wall := w.shared.clock.wall + now
	if p.times != nil {
		p.times.Note(wall)
	}
	at := frame.NewMoment(uint32(wall/1e9), uint32(wall%1e9/1e3), p.number)
	first, bytes, fcs := l.headSlot, 0, 0
	for range n {
		i := s.next()
		m := s.mills[i]
		size := m.Size()
		if m.Numbered() {
			w.seq++
		}
		s.id++
		slot := l.headSlot
		b := l.ring.Frame(slot, size)
		want := key(s.content[i], w.kind, 1)
		if l.content[slot] != want {
			l.content[slot], l.have[slot] = want, 0
		}
		have := int(l.have[slot])
		if now := m.Put(b, have, &at, s.id, w.seq); now != have {
			l.have[slot] = int32(now)
		}
		if have != size || m.Sizes() > 1 {
			l.describe(slot, size, w.kind)
		}
		bytes += size
		fcs += frame.L(size)
		l.stage(first)
	}
	w.tally.bytes += uint64(bytes)
	w.tally.fcs += uint64(fcs)
	if n > 0 {
		l.post(first)
	}
	w.sent(n)
	return n
}

// describe tells the kernel of one frame in a slot.
func (l *lane) describe(slot, size int, k kind) {
	if k == plain {
		l.ring.SetPlain(slot, size)
	} else {
		l.ring.SetLinear(slot, size)
	}
}
