package control

import (
	"context"
	"math"
	"slices"
	"time"

	"wirespeed/engine"
	"wirespeed/engine/meter"
)

// SweepPoint is what was measured at one value of a knob.
type SweepPoint struct {
	Text string  // the knob's value
	X    float64 // the same as a number
	Leg  string
	At   time.Duration // its end, since the sweep began

	OK       bool // there is a rate
	Measured time.Duration
	Samples  int
	Asked    *float64 // pps, nil for max
	PPS      float64  // all frames over all time
	NS       *float64 // ns per packet by it, nil at 0 pps
	MedianNS *float64 // of the samples, which a stall does not move
	ErrNS    float64  // standard error of the samples' mean; 0 with fewer than two
	RxPPS    *float64
	Percent  *float64 // of wirespeed

	Behind  bool     // fewer leave than asked
	Backlog *float64 // packets in the qdisc, on the average; nil where it has no figures
	Waiting *float64 // share of looks that found some
	Regime  string   // "" where it is not known
}

// Standing says whether frames wait in the qdisc nearly all the time.
func (p SweepPoint) Standing() bool { return p.Waiting != nil && *p.Waiting >= 0.9 }

// What a dwell is made of.
const (
	dwellLooks  = 10
	leastSettle = 50 * time.Millisecond
	mostSettle  = 300 * time.Millisecond
	settleLook  = 5 * time.Millisecond
	linkBack    = 6 * time.Second // a changed ring may take the link away that long
	behindBy    = 0.005           // of the asked rate
)

// dwell measures at the present settings for a time that begins now. Its first part is left out until the last change has taken effect: a tenth of
// it (50 to 300 ms), until all frames have left that were in the kernel when it began, and until the link is back where the change took it away.
func (r *Run) dwell(ctx context.Context, d time.Duration) (p SweepPoint, err error) {
	end, err := r.settle(ctx, d)
	if err != nil {
		return p, err
	}
	first := r.lookAt(d)
	w := window{from: first}
	slice := max(time.Until(end)/dwellLooks, settleLook)
	due := time.Now()
	var times []float64
	packets, waiting, looks := 0.0, 0, 0
	for time.Until(end) > slice/2 {
		due = due.Add(slice)
		if !sleep(ctx, time.Until(due)) {
			return p, ctx.Err()
		}
		now := r.lookAt(slice)
		r.mu.Lock()
		s := r.sample(w, now)
		r.mu.Unlock()
		w.next(now)
		if s.Valid && s.TX.NS != nil {
			times = append(times, *s.TX.NS)
		}
		if q, err := r.dev.Qdisc(); err == nil && hasBacklog(q.Kind) {
			looks++
			packets += float64(q.BacklogPackets)
			if q.BacklogPackets > 0 {
				waiting++
			}
		}
	}
	r.mu.Lock()
	whole := r.sample(window{from: first}, w.from)
	p.Asked = target(r.eng.Config(), r.engDev)
	p.Regime = r.regimeOf(first, w.from, whole.TX.Percent)
	r.mu.Unlock()
	p.Measured, p.Samples = whole.Interval, len(times)
	p.OK, p.PPS, p.NS, p.Percent = whole.Valid, whole.TX.PPS, whole.TX.NS, whole.TX.Percent
	if whole.RX.OK {
		p.RxPPS = &whole.RX.PPS
	}
	p.MedianNS, p.ErrNS = middle(times)
	if p.MedianNS == nil {
		p.MedianNS = p.NS
	}
	p.Behind = p.OK && p.Asked != nil && p.PPS < *p.Asked*(1-behindBy)
	if looks > 0 {
		mean, share := packets/float64(looks), float64(waiting)/float64(looks)
		p.Backlog, p.Waiting = &mean, &share
	}
	return p, nil
}

// hasBacklog says whether a qdisc of a kind can hold frames.
func hasBacklog(kind string) bool { return kind != "" && kind != "noqueue" && kind != "noop" }

// lookAt takes a look that will be compared over an interval.
func (r *Run) lookAt(interval time.Duration) look {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.take(interval)
}

// settle waits until a change has taken effect, and returns when a dwell that began now ends.
func (r *Run) settle(ctx context.Context, d time.Duration) (end time.Time, err error) {
	begun := time.Now()
	end = begun.Add(d)
	before := r.lookAt(d).engine
	if !sleep(ctx, max(leastSettle, min(d/10, mostSettle))) {
		return end, ctx.Err()
	}
	for {
		now := r.lookAt(d).engine
		switch {
		case now.State == engine.NoCarrier && time.Since(begun) < linkBack:
			end = time.Now().Add(d) // it begins when the link is back
			before = now
		case now.Taken.Count >= before.Taken.Count+uint64(before.InKernel), time.Until(end) < d/2:
			return end, nil
		}
		if !sleep(ctx, settleLook) {
			return end, ctx.Err()
		}
	}
}

// middle is the median of some times and the standard error of their mean; nil and 0 of none.
func middle(times []float64) (median *float64, stderr float64) {
	n := len(times)
	if n == 0 {
		return nil, 0
	}
	e := meter.NewEpoch(0, "")
	for _, ns := range times {
		e.Add(1e9/ns, 1)
	}
	if n > 1 {
		stderr = e.Epoch().StdDevNS / math.Sqrt(float64(n))
	}
	list := slices.Sorted(slices.Values(times))
	m := (list[(n-1)/2] + list[n/2]) / 2
	return &m, stderr
}
