package control

import (
	"math"
	"slices"
	"strings"
	"time"

	"wirespeed/engine/meter"
)

const (
	oneChange  = 500 * time.Millisecond // turns that follow within it are one change
	keepEpochs = 50
)

// epochs are the times between changes of one run. The zero value has none. It is guarded by its owner.
type epochs struct {
	number int
	label  string
	turned time.Time // of the last change
	turn   bool      // it was the turn of a knob
	stats  *meter.EpochBuilder
	line   meter.Line
	shown  meter.Line    // as of the last sample that belonged to an epoch
	past   []meter.Epoch // closed ones with samples, oldest first
	marks  []meter.Epoch
	diff   *Comparison // of the last two marks

	around   map[int]circumstance    // of the epochs, by number
	markedIn map[string]circumstance // of the marks, by name
}

// begin closes the present epoch and begins another, named by what began it. A turn soon after another belongs to it, and any change to
// one that has no sample yet.
func (e *epochs) begin(label string, turn bool) {
	now := time.Now()
	if !e.turned.IsZero() && now.Sub(e.turned) < oneChange && (e.turn && turn || e.present().N == 0) {
		if !slices.Contains(strings.Split(e.label, ", "), label) {
			e.label += ", " + label
		}
	} else {
		e.close()
		e.number++
		e.label = label
	}
	e.turned, e.turn = now, turn
	e.stats = meter.NewEpoch(e.number, e.label)
	e.line = meter.Line{}
}

// close keeps the present epoch if it has samples.
func (e *epochs) close() {
	p := e.present()
	if p.N == 0 {
		return
	}
	if len(e.past) == keepEpochs {
		e.past = slices.Clone(e.past[1:])
	}
	e.past = append(e.past, p)
}

// take gives a number to an epoch that is made apart from the present one. The caller inserts it, or forgets it.
func (e *epochs) take() int {
	e.number++
	return e.number
}

// insert keeps an epoch that was made apart, as a mark too.
func (e *epochs) insert(p meter.Epoch, around circumstance) {
	if p.N == 0 {
		return
	}
	if e.around == nil {
		e.around = map[int]circumstance{}
	}
	e.around[p.Number] = around
	plain := p
	plain.Mark = ""
	if len(e.past) == keepEpochs {
		e.past = slices.Clone(e.past[1:])
	}
	e.past = append(e.past, plain)
	e.keep(p)
}

// restart forgets all epochs but the marks and begins anew, with the number after last.
func (e *epochs) restart(label string, last int) {
	*e = epochs{number: last, marks: e.marks, diff: e.diff, markedIn: e.markedIn}
	e.begin(label, false)
}

// add takes one sample of the present epoch and completes it with the epoch's figures.
func (e *epochs) add(s *Sample) {
	e.stats.Add(s.TX.PPS, s.Interval.Seconds())
	rx := s.RX.PPS
	if !s.RX.OK {
		rx = math.NaN() // not known
	}
	e.line.Add(rx, s.TX.PPS)
	e.shown = e.line
	s.Epoch, s.N = e.number, e.line.N
	s.TX.Avg, s.TX.VarNS = e.line.AvgTX, e.line.VarTX
	s.TX.VarMin, s.TX.VarMax = e.line.MinTX, e.line.MaxTX
	if s.RX.OK {
		s.RX.Avg, s.RX.VarNS = e.line.AvgRX, e.line.VarRX
	}
}

// present is the epoch under way.
func (e *epochs) present() meter.Epoch {
	if e.stats == nil {
		return meter.Epoch{}
	}
	return e.stats.Epoch()
}

// all are the epochs with samples, oldest first, the present one included.
func (e *epochs) all() []meter.Epoch {
	list := slices.Clone(e.past)
	if p := e.present(); p.N > 0 {
		list = append(list, p)
	}
	return list
}

// mark keeps the present epoch under a name, "" for the next letter; a name that was given before moves here. Without a sample there is
// nothing to keep: N is 0.
func (e *epochs) mark(name string) meter.Epoch {
	p := e.present()
	if p.N == 0 {
		return p
	}
	if name == "" {
		name = e.letter()
	}
	p.Mark = name
	e.keep(p)
	return p
}

// keep makes a mark of an epoch that has a name for it.
func (e *epochs) keep(p meter.Epoch) {
	name := p.Mark
	marks := slices.DeleteFunc(slices.Clone(e.marks), func(m meter.Epoch) bool { return m.Mark == name })
	e.marks = append(marks, p)
	e.keepAround(p)
	if n := len(e.marks); n >= 2 {
		d := e.compare(e.marks[n-2], e.marks[n-1])
		e.diff = &d
	}
}

// letter is the first of A to Z that no mark has, then AA and so on.
func (e *epochs) letter() string {
	for n := 1; ; n++ {
		for c := 'A'; c <= 'Z'; c++ {
			name := strings.Repeat(string(c), n)
			if !slices.ContainsFunc(e.marks, func(m meter.Epoch) bool { return m.Mark == name }) {
				return name
			}
		}
	}
}

// mix is called before something changes: the samples under way will mix two regimes. The caller holds mu.
func (r *Run) mix() {
	r.fast.mixed = true
	r.line.mixed = r.line.mixed || !r.young()
}

// young says whether the line's sample has only just begun: then it can as well begin after a change.
func (r *Run) young() bool { return time.Since(r.line.from.at) < r.lateness() }

// change ends the epoch of a run under way, after something has changed; turn says whether it was a knob. The caller holds mu.
func (r *Run) change(label string, turn bool) {
	r.mix()
	if !r.running() {
		return // nothing flows that could change
	}
	if r.young() && !r.line.broken {
		// A script turns its knobs where one sample ends and the next begins: that one is whole.
		r.line.next(r.take(r.o.Interval))
	}
	r.epochs.begin(label, turn)
	r.turned = label
}

// restart begins all statistics anew; the epoch's number follows last. The caller holds mu.
func (r *Run) restart(label string, last int) {
	l := r.take(r.o.Interval)
	r.base, r.qdiscBase = l, r.qdisc
	r.baseLive = r.running()
	if r.baseLive {
		r.base.tx.Count = r.loss.consistent(l)
	}
	r.maxed, r.deaf = !r.eng.Config().Scheduled(), false
	r.loss.rebase(r.base)
	r.hear()
	r.hearing.rebase()
	r.outage = 0
	if !r.link.Carrier && !r.downSince.IsZero() {
		r.outage = -time.Since(r.downSince) // the loss goes on, and what was before does not count
	}
	r.fast.next(l)
	r.line.next(l)
	r.rows.restart(l)
	r.inst.restart()
	r.epochs.restart(label, last)
	r.turned = label
}
