package control

import (
	"time"

	"wirespeed/engine"
	"wirespeed/engine/frame"
	"wirespeed/engine/meter"
)

// window is a sample under way: where it began and what fell in it.
type window struct {
	from   look
	mixed  bool // a change fell in it: it belongs to no epoch
	broken bool // the process was stopped in it: it is invalid
}

// next begins the sample after one that ended with a look.
func (w *window) next(from look) { *w = window{from: from} }

// sample is what two looks say. The caller holds mu.
func (r *Run) sample(w window, to look) Sample {
	a, b := w.from, to
	s := Sample{At: b.at, RxDev: r.o.Rx, TxSource: r.gauge.source()}
	if s.RxDev == "" {
		s.RxDev = r.o.Device
	}
	if !r.started.IsZero() {
		s.Elapsed = b.at.Sub(r.started)
	}
	sent := r.sent(a, b)
	from, till := a.tx, b.tx
	if s.TxSource == fromEngine {
		from, till = a.engine.Taken, b.engine.Taken
	}
	s.Interval = max(0, till.At-from.At)
	s.TX, s.ErrNS = r.flow(from, till, sent)
	s.RX, _ = r.flow(a.rx, b.rx, sent)
	s.Valid = s.TX.OK && !w.broken
	return s
}

// flow is one direction of a sample, and how far the brackets of the clock may have put it wrong, in ns per packet.
func (r *Run) flow(a, b meter.Reading, sent frame.Lengths) (f Flow, errNS float64) {
	f.PPS, errNS, f.OK = meter.Delta(a, b)
	if !f.OK {
		return Flow{}, 0
	}
	f.BpsL1, f.BpsL2 = sent.BpsL1(f.PPS), sent.BpsL2(f.PPS)
	if r.engDev.Speed != 0 {
		p := 100 * f.BpsL1 / float64(r.engDev.Speed)
		f.Percent = &p
	}
	if f.PPS > 0 {
		ns := 1e9 / f.PPS
		f.NS = &ns
	}
	return f, errNS
}

// The words of Sample.TxSource.
const (
	fromDevice = "device"
	fromEngine = "engine"
)

// gauge judges from what a run shows whether the device's transmit counter can be shown as the rate. The zero value trusts it.
type gauge struct {
	blind  bool // counts nothing as transmitted: ifb
	coarse bool // refreshes only every second or two

	moved bool
	stood int  // looks that found it standing before it ever moved
	gap   bool // the last look found it standing
	gaps  int  // times it stood between two moves
}

// What it takes to judge. Below them a slow stream looks the same as a counter that stands.
const (
	gaugeFrames = 100 // taken in one look while the counter stood
	gaugeBlind  = 2   // such looks, and never a move
	gaugeGaps   = 2
)

// source names the count that is shown as transmitted.
func (g *gauge) source() string {
	if g.blind || g.coarse {
		return fromEngine
	}
	return fromDevice
}

// observe takes the frames of one look, all of it with carrier and without drops, and says in words when the judgement changes.
func (g *gauge) observe(taken, device uint64) (verdict string) {
	before := g.source()
	switch {
	case device > 0:
		if g.gap {
			g.gaps++
		}
		g.moved, g.gap, g.blind = true, false, false
		g.coarse = g.gaps >= gaugeGaps
	case taken < gaugeFrames:
		g.gap = false // too slow to tell
	case g.moved:
		g.gap = true
	default:
		g.stood++
		g.blind = g.blind || g.stood >= gaugeBlind
	}
	if after := g.source(); after == before {
		return ""
	} else if after == fromDevice {
		return "the device counts what it transmits after all: its count is shown"
	}
	if g.coarse {
		return "the device refreshes its counters only now and then: the engine's count is shown as the rate"
	}
	return "the device counts nothing as transmitted: the engine's count is shown"
}

// judge lets the gauge see the last look, and begins an epoch where the count that is shown changes. The caller holds mu.
func (r *Run) judge(a, b look) {
	clean := a.engine.State == engine.Running && b.engine.State == engine.Running && a.tx.OK && b.tx.OK &&
		b.tx.Count >= a.tx.Count && b.engine.Taken.Count >= a.engine.Taken.Count
	if !clean {
		return
	}
	if r.dropping {
		return // what the qdisc drops never reaches the device: its 0 is the truth
	}
	if verdict := r.gauge.observe(b.engine.Taken.Count-a.engine.Taken.Count, b.tx.Count-a.tx.Count); verdict != "" {
		r.change("source "+r.gauge.source(), false)
		r.log.add("", r.o.Device+": "+verdict)
	}
}

// remember keeps a fast sample for the charts. The caller holds mu.
func (r *Run) remember(s Sample) {
	p := Point{At: s.Elapsed, PPS: s.TX.PPS, RxPPS: s.RX.PPS, Epoch: r.epochs.number, Valid: s.Valid, Mark: r.turned}
	if s.TX.NS != nil {
		p.NS = *s.TX.NS
	}
	r.turned = ""
	if len(r.history) >= keepPoints {
		// Views hold parts of the old array: it is left alone.
		r.history = append(make([]Point, 0, 2*keepPoints), r.history[len(r.history)-keepPoints+1:]...)
	}
	r.history = append(r.history, p)
}

// keepPoints bounds the charts: five minutes at 4 Hz.
const keepPoints = 1200

// interval is the time since a look, for the choice of a bracket; never less than a millisecond.
func (l look) interval() time.Duration { return max(time.Millisecond, time.Since(l.at)) }
