package engine

import (
	"errors"
	"fmt"
	"math"

	"wirespeed/engine/frame"
	"wirespeed/engine/pcap"
)

// Capture is a capture in memory.
type Capture = pcap.File

// Replay is how a capture is sent.
type Replay struct {
	Loops  uint64  // times that it is sent; 0: without an end
	Timing float64 // its own times, so many times as fast; 0: at Config.Rate
}

// MaxTiming bounds Replay.Timing, both ways.
const MaxTiming = 1e6

// OpenCapture reads a capture, to be sent. Errors are one line that begins with the file's name.
func OpenCapture(path string) (*Load, error) {
	f, err := pcap.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Load{Name: path, Capture: f}, nil
}

// validate says why cfg's file cannot be sent on dev.
func (l *Load) validate(cfg Config, dev Device) error {
	limit := frame.MaxSize(dev.MTU, 1)
	if l.Capture == nil {
		return l.validatePackets(cfg, dev, limit)
	}
	switch n, over := l.sendable(limit); {
	case n == 0:
		return fmt.Errorf("%s: all %d frames are longer than %d bytes, the limit on %s (MTU %d): raise the MTU", l.Name, over, limit, dev.Name, dev.MTU)
	case cfg.Queues > 1:
		return fmt.Errorf("%s: a capture is sent in its order, by one worker: set queues 1", l.Name)
	}
	return nil
}

func (l *Load) validatePackets(cfg Config, dev Device, limit int) error {
	if len(l.Packets) == 0 || len(l.Packets) > maxWeights {
		return fmt.Errorf("%s: %d packets: 1 to %d", l.Name, len(l.Packets), maxWeights)
	}
	for i := range l.Packets {
		p := &l.Packets[i]
		switch n := len(p.Bytes); {
		case n < 14:
			return fmt.Errorf("%s: packet %d has %d bytes: an Ethernet header alone has 14", l.Name, i+1, n)
		case n > limit:
			return fmt.Errorf("%s: packet %d has %d bytes: the limit on %s is %d (MTU %d): raise the MTU", l.Name, i+1, n, dev.Name, limit, dev.MTU)
		}
		if err := p.Validate(); err != nil {
			return fmt.Errorf("%s: packet %d: %w", l.Name, i+1, err)
		}
	}
	for worker := range cfg.Queues {
		found := false
		for i := range l.Packets {
			found = found || l.Packets[i].SentBy(worker)
		}
		switch {
		case !found && worker == 0:
			return fmt.Errorf("%s: no packet is for cpu(0), which is the first worker: leave out cpu() of one", l.Name)
		case !found:
			return fmt.Errorf("%s: no packet is for cpu(%d): set queues %d or less", l.Name, worker, worker)
		}
	}
	return nil
}

// sendable is how many frames of a capture fit within limit bytes, and how many do not.
func (l *Load) sendable(limit int) (n, over uint64) {
	for size, frames := range l.Capture.Lengths {
		if size <= limit {
			n += frames
		} else {
			over += frames
		}
	}
	return n, over
}

// lengths are those of the frames of a file that fit on dev, each once.
func (l *Load) lengths(dev Device) frame.Lengths {
	var sum frame.Lengths
	if l.Capture == nil {
		for i := range l.Packets {
			sum = sum.Plus(frame.OneSize(len(l.Packets[i].Bytes)))
		}
		return sum
	}
	for size, frames := range l.Capture.Lengths {
		if size <= frame.MaxSize(dev.MTU, 1) {
			sum = sum.Plus(frame.OneSize(size).Times(frames))
		}
	}
	return sum
}

// Left says in words what of the file is not sent on dev, nil for nothing.
func (l *Load) Left(dev Device) []string {
	if l.Capture == nil {
		return nil
	}
	left := l.Capture.Left()
	if _, over := l.sendable(frame.MaxSize(dev.MTU, 1)); over > 0 {
		left = append(left, fmt.Sprintf("%d longer than the MTU of %s allows", over, dev.Name))
	}
	return left
}

// About says in one line what the file holds.
func (l *Load) About() string {
	if l.Capture == nil {
		return plural(len(l.Packets), "packet")
	}
	span := float64(l.Capture.Time(l.Capture.Len()-1)) / 1e9
	return fmt.Sprintf("%s over %.3g s, %.4g bytes on the mean", plural(l.Capture.Len(), "frame"), span, l.lengths(Device{MTU: math.MaxInt32}).Size())
}

// count is how many frames a run of cfg has because of its capture, 0 without an end.
func (cfg Config) count(dev Device) uint64 {
	if cfg.Load == nil || cfg.Load.Capture == nil || cfg.Replay.Loops == 0 {
		return 0
	}
	n, _ := cfg.Load.sendable(frame.MaxSize(dev.MTU, 1))
	if n > math.MaxInt64/cfg.Replay.Loops {
		return 0
	}
	return n * cfg.Replay.Loops
}

// timed says whether a capture's own times rule, and not the rate.
func (cfg Config) timed() bool {
	return cfg.Load != nil && cfg.Load.Capture != nil && cfg.Replay.Timing != 0
}

// validateReplay says what is wrong with how a capture is to be sent.
func (cfg Config) validateReplay() error {
	t := cfg.Replay.Timing
	if t != 0 && (t < 1/MaxTiming || t > MaxTiming) {
		return errors.New("timing: a factor from 0.000001 to 1000000")
	}
	return nil
}

// cursor is where a worker stands in a capture.
type cursor struct {
	capture *Capture
	limit   int // longer frames are passed over
	at      int // the next frame
	round   int64
	origin  int64 // when the first frame of this round was due, by the engine's clock; 0 before it was
	period  int64 // of a round, in ns of the capture
}

func newCursor(c *Capture, limit int) *cursor {
	k := &cursor{capture: c, limit: limit}
	// The mean gap stands between the last frame and the first of the next round.
	if n := int64(c.Len()); n > 1 {
		k.period = c.Time(c.Len()-1) + c.Time(c.Len()-1)/(n-1)
	}
	k.pass()
	return k
}

// pass goes on to a frame that fits, which there is.
func (k *cursor) pass() {
	for {
		if k.at == k.capture.Len() {
			k.at = 0
			k.round++
		}
		if k.capture.Size(k.at) <= k.limit {
			return
		}
		k.at++
	}
}

// due is when the next frame is, at so many times the capture's own speed.
func (k *cursor) due(timing float64) int64 {
	t := float64(k.round)*float64(k.period) + float64(k.capture.Time(k.at))
	return k.origin + int64(min(t/timing, math.MaxInt64/4))
}

// wantTimed is want for a capture at its own times. A worker that is more than debtMax late goes on from there: what it missed is sent later, not dropped.
func (w *worker) wantTimed(now int64) (n int, until int64) {
	k, timing := w.cur.source.capture, w.cur.timing
	if now >= w.cur.end {
		w.ended = true
		return 0, now
	}
	if k.origin == 0 || w.timing != timing {
		// It begins, or goes on at another speed, with the next frame.
		k.origin, w.timing = 0, timing
		k.origin = now - k.due(timing)
	}
	if late := now - k.due(timing); late > debtMax {
		k.origin += late
	}
	next := *k
	for n < w.batch && next.due(timing) <= now {
		n++
		next.at++
		next.pass()
	}
	w.tally.asked = w.asked + w.done + uint64(n)
	if n == 0 {
		return 0, min(k.due(timing), w.cur.end)
	}
	return n, now
}

// fillCaptured is fill for a capture: n slots are free.
func (w *worker) fillCaptured(n int) int {
	l, s := w.lane, w.cur.source
	k, first, want := s.capture, l.headSlot, key(s.content[0], w.kind, 1)
	for range n {
		data := k.capture.Frame(k.at)
		slot := l.headSlot
		copy(l.ring.Frame(slot, len(data)), data)
		l.content[slot] = want
		l.describe(slot, len(data), w.kind)
		w.tally.measure(1, len(data))
		l.stage(first)
		k.at++
		k.pass()
	}
	if n > 0 {
		l.post(first)
	}
	w.sent(n)
	return n
}
