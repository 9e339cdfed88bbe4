package control

import (
	"fmt"
	"time"

	"wirespeed/engine"
	"wirespeed/engine/meter"
)

// Arrivals are what a verifying receiver knows since the start or the last reset.
type Arrivals struct {
	engine.Received         // growth; what is unclear in it has its reason in Unclear
	Verified        *uint64 // numbers that arrived right; nil where they tell nothing
	Lost            *uint64 // numbers that never arrived, and that neither our own ring nor a fault accounts for
	Foreign         *uint64 // frames of others at the receiver
	Whole, Recent   *Delay  // latency since the start or the last reset, and of the last interval; nil where nothing was timed
	NoDelay         string  // why not, in words
}

// Delay is a distribution of latencies.
type Delay struct {
	meter.Quantiles
	Bars         []meter.Bar
	JitterNS     *float64 // RFC 3550, of the flow where it is largest
	ResolutionNS int64
	ClockErrNS   int64
}

// DelaySource says what the two ends of a latency are.
const DelaySource = "from the start of a frame's batch, by the sender's clock, to the kernel's software time stamp at the receiving packet socket"

// delayBars is in how many ranges latencies are shown at most.
const delayBars = 12

// hearing is what the receiver told, and since when it counts. The zero value counts from the receiver's opening. Guarded by its owner.
type hearing struct {
	ok         bool // there is a verifying receiver
	base, now  engine.Received
	err        error
	line       meter.Distribution // where the present interval of the line began
	recent     meter.Distribution // of the last whole one
	limitSaid  uint64             // frames not seen, when it was last told
	confessing time.Time          // when that was
}

// hear asks the receiver. The caller holds mu.
func (r *Run) hear() {
	h := &r.hearing
	h.now, h.ok, h.err = r.eng.Received()
	if !h.ok {
		*h = hearing{}
		return
	}
	// The log says it at once, and then every few seconds how many there are by now.
	if n := less(h.now.NotSeen, h.base.NotSeen); n > h.limitSaid && time.Since(h.confessing) > confessEvery {
		h.limitSaid, h.confessing = n, time.Now()
		r.log.add("", fmt.Sprintf("receiver limited: %s not seen by us so far", frames(n)))
	}
}

const confessEvery = 5 * time.Second

// rebase counts from now on.
func (h *hearing) rebase() {
	h.base, h.line, h.recent = h.now, h.distribution(), meter.Distribution{}
	h.limitSaid, h.confessing = 0, time.Time{}
}

// turnLine ends an interval of the line.
func (h *hearing) turnLine() {
	now := h.distribution()
	h.recent, h.line = now.Minus(h.line), now
}

func (h *hearing) distribution() meter.Distribution {
	if h.now.Latency == nil {
		return meter.Distribution{}
	}
	return h.now.Latency.Distribution
}

// arrivals is what is shown of it; nil without a verifying receiver. Where nothing moves any more and the receiver heard all of it, every
// number that was sent is accounted for, those after the highest that came included. The caller holds mu.
func (r *Run) arrivals(l Ladder, over bool) *Arrivals {
	h := &r.hearing
	if !h.ok {
		return nil
	}
	a := &Arrivals{Received: engine.Received{Snapshot: h.now.Since(&h.base.Snapshot), Unclear: h.now.Unclear, AllNumbered: h.now.AllNumbered, Every: h.now.Every}}
	switch {
	case h.err != nil:
		a.Unclear = h.err.Error()
	case a.Unclear == "":
		verified, lost := a.Received.Received, a.Snapshot.Lost()
		whole := verified + a.NotSeen + a.Corrupt
		if !a.AllNumbered {
			whole += a.Unnumbered
		}
		if over && a.Every <= 1 && l.Taken > whole && !r.baseLive && l.Arrived != nil && a.Late == 0 && a.Homeless == 0 {
			lost = max(lost, l.Taken-whole)
		}
		a.Verified, a.Lost = &verified, &lost
	}
	if a.ForeignOK {
		n := a.Snapshot.Foreign
		if a.AllNumbered {
			n += a.Unnumbered // from our address, and not ours
		}
		a.Foreign = &n
	}
	a.Whole, a.NoDelay = h.delay(h.distribution().Minus(h.baseDistribution()))
	a.Recent, _ = h.delay(h.recent)
	return a
}

func (h *hearing) baseDistribution() meter.Distribution {
	if h.base.Latency == nil {
		return meter.Distribution{}
	}
	return h.base.Latency.Distribution
}

// delay is a distribution's figures, or why there are none.
func (h *hearing) delay(d meter.Distribution) (*Delay, string) {
	lat := h.now.Latency
	switch {
	case lat == nil:
		return nil, h.now.Why
	case lat.Negative > 0:
		return nil, fmt.Sprintf("%s seem to have arrived before they were sent: the clocks do not agree", frames(lat.Negative))
	}
	q := d.Quantiles()
	if q.N == 0 {
		return nil, "no frame was timed"
	}
	return &Delay{Quantiles: q, Bars: d.Bars(delayBars), JitterNS: lat.JitterNS, ResolutionNS: lat.ResolutionNS, ClockErrNS: lat.ClockErrNS}, ""
}

// sayArrivals explains what lies between the frames that arrived and those that are verified.
func sayArrivals(say func(string, ...any), a *Arrivals, moving bool, slack uint64) {
	if a.Unclear != "" {
		say("not verified: %s", a.Unclear)
		return
	}
	if n := a.NotSeen; n > 0 {
		say("receiver limited: %s not seen by us (its ring was full; they arrived)", frames(n))
	}
	if a.Every > 1 {
		say("verified: one of %d frames, the sink drops the others", a.Every)
	}
	if n := less(a.Arrived, a.Read+a.NotSeen); n > slack {
		say("arrived, not verified: %s not read yet", frames(n))
	}
	if a.Corrupt > 0 {
		say("arrived corrupt: %s (%s)", frames(a.Corrupt), faults(a))
	}
	if a.Duplicates > 0 {
		say("arrived again: %s (duplicates)", frames(a.Duplicates))
	}
	if a.Received.Late > 0 {
		say("arrived too late to tell duplicates from late ones: %s", frames(a.Received.Late))
	}
	if n := *a.Lost; n > 0 {
		words := "lost, by their numbers"
		if moving {
			words = "lost or on the way, by their numbers"
		}
		say("%s: %s", words, frames(n))
	}
	if a.Reordered > 0 {
		say("reordered: %s, by up to %s", frames(a.Reordered), frames(a.ExtentMax))
	}
}

// faults says what is wrong with the corrupt ones.
func faults(a *Arrivals) string {
	text := ""
	for _, f := range []struct {
		n    uint64
		what string
	}{{a.BadLength, "length"}, {a.BadIPSum, "IP checksum"}, {a.BadL4Sum, "UDP or TCP checksum"}} {
		if f.n == 0 {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += f.what + " " + meter.Thousands(f.n)
	}
	return text
}

// Lines are what was found, for people, in one line or two.
func (a *Arrivals) Lines() []string {
	if a.Unclear != "" {
		return []string{"receiver: " + a.Unclear}
	}
	first := fmt.Sprintf("receiver: verified %s, lost %s, duplicates %s, reordered %s", meter.Thousands(*a.Verified), meter.Thousands(*a.Lost),
		meter.Thousands(a.Duplicates), meter.Thousands(a.Reordered))
	if a.Reordered > 0 {
		first += " (by up to " + frames(a.ExtentMax) + ")"
	}
	first += ", corrupt " + meter.Thousands(a.Corrupt)
	if a.Foreign != nil {
		first += ", foreign " + meter.Thousands(*a.Foreign)
	}
	if a.NotSeen > 0 {
		first += "; receiver limited: " + meter.Thousands(a.NotSeen) + " not seen by us"
	}
	second := "latency: unknown: " + a.NoDelay
	if d := a.Whole; d != nil {
		second = "latency: " + d.String()
	}
	return []string{first, second}
}

// String prints the figures with the resolution that they have.
func (d *Delay) String() string {
	us := func(ns int64) string { return DelayText(ns, d.ResolutionNS) }
	text := fmt.Sprintf("min %s, median %s, p99 %s, p99.9 %s, max %s", us(d.Min), us(d.Median), us(d.P99), us(d.P999), us(d.Max))
	if d.JitterNS != nil {
		text += ", jitter " + us(int64(*d.JitterNS))
	}
	return text + fmt.Sprintf(" of %s (%s; resolution %s, clocks within %d ns)", frames(d.N), DelaySource, DelayText(d.ResolutionNS, 1), d.ClockErrNS)
}

// DelayText prints a time with three digits and no more than its resolution: "7.42 us", "812 ns".
func DelayText(ns, resolution int64) string {
	for _, u := range []struct {
		of   int64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}} {
		if ns < u.of {
			continue
		}
		v := float64(ns) / float64(u.of)
		decimals := 2
		switch {
		case v >= 100:
			decimals = 0
		case v >= 10:
			decimals = 1
		}
		if resolution >= u.of {
			decimals = 0
		}
		return fmt.Sprintf("%.*f %s", decimals, v, u.name)
	}
	return fmt.Sprintf("%d ns", ns)
}

func less(a, b uint64) uint64 {
	if a < b {
		return 0
	}
	return a - b
}
