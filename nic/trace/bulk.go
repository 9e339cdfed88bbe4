package trace

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Buckets are the upper ends of the classes of Bulks.Histogram; more go into the last.
var Buckets = [...]uint64{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 1 << 32}

// Bulks are how many frames a device's queueing disciplines handed over at once. A super-frame counts as one.
type Bulks struct {
	Dequeues, Frames, Max uint64
	Histogram             [len(Buckets)]uint64 // dequeues by size
	Lost                  uint64               // events that found no room: the figures miss them
}

// Mean is frames of a dequeue, 0 without one.
func (b Bulks) Mean() float64 {
	if b.Dequeues == 0 {
		return 0
	}
	return float64(b.Frames) / float64(b.Dequeues)
}

// Ends are the upper ends of the histogram's classes; the last takes any number.
func (Bulks) Ends() []uint64 { return slices.Clone(Buckets[:]) }

func (b *Bulks) add(packets uint64) {
	b.Dequeues++
	b.Frames += packets
	b.Max = max(b.Max, packets)
	for i, most := range Buckets {
		if packets <= most {
			b.Histogram[i]++
			return
		}
	}
}

// OpenBulks opens the trace point that tells bulks, of a device by its index. errors.Is: ErrNotPermitted but for the machine's root, ErrNotSupported.
func OpenBulks(index int) (*Tracer, error) {
	return open(point{name: "qdisc/qdisc_dequeue", filter: fmt.Sprintf("ifindex == %d && skbaddr != 0", index), value: "packets"})
}

// pollPeriod is how often rings are emptied.
const pollPeriod = 2 * time.Millisecond

// Bulks traces for a time, or until ctx ends.
func (t *Tracer) Bulks(ctx context.Context, window time.Duration) (b Bulks, err error) {
	lost := t.lost
	if err := t.enable(0, true); err != nil {
		return b, err
	}
	see := func(r record) { b.add(r.value) }
	err = t.during(ctx, window, see, func() {
		now := b
		now.Lost = t.lost - lost
		t.live.Bulks.Store(&now)
	})
	if off := t.enable(0, false); err == nil {
		err = off
	}
	if err == nil {
		err = t.poll(true, see)
	}
	b.Lost = t.lost - lost
	return b, err
}

// showPeriod is how often a live trace shows its figures.
const showPeriod = 100 * time.Millisecond

// during polls for a time; show shows the figures of a live trace.
func (t *Tracer) during(ctx context.Context, window time.Duration, see func(record), show func()) error {
	tick := time.NewTicker(pollPeriod)
	defer tick.Stop()
	var ask chan chan struct{}
	if t.live != nil {
		close(t.live.Ready)
		ask = t.live.Ask
	}
	shown := time.Now()
	for end := time.Now().Add(window); time.Now().Before(end); {
		var asked chan struct{}
		select {
		case <-ctx.Done():
			return nil
		case asked = <-ask:
			time.Sleep(2 * time.Duration(settled))
		case <-tick.C:
		}
		if err := t.poll(false, see); err != nil {
			return err
		}
		if t.live != nil && (asked != nil || time.Since(shown) >= showPeriod) {
			show()
			shown = time.Now()
		}
		if asked != nil {
			close(asked)
		}
	}
	return nil
}
