package trace

import (
	"context"
	"strings"
	"time"
)

// Owned is what a device owned: the metrics of "packets in the device" (SOURCES.md, S4). The time is that to the release of a frame, which may be after the
// device is through with it: a driver lets frames go in a softirq, and those that wait for it pass the ring's size. It is not clamped.
type Owned struct {
	Frames   uint64        // handed to the driver
	Heads    uint64        // of them super-frames that the device cuts itself
	Released uint64        // of them
	Again    uint64        // handed over once more: the driver was busy
	Lost     uint64        // events that found no room: the figures miss them
	LapMean  time.Duration // to the release
	LapMax   time.Duration
	InMean   float64 // frames in the device, on the average of the time
	InMax    int
	Stuck    int           // frames that did not leave within Patience; where events were lost, or their release was not seen
	Oldest   time.Duration // of those
	Window   time.Duration
}

// Patience is how long a frame may stay in the device before it is called stuck.
const Patience = time.Second

// owner follows frames by the address of their buffers, which is theirs from the start of transmit to the release.
type owner struct {
	Owned
	since    map[uint64]int64
	lapSum   int64
	area     float64 // frames times ns
	last     int64   // time of the last event, 0 before the first
	from, to int64   // frames are taken up between these times
}

func newOwner() *owner { return &owner{since: make(map[uint64]int64)} }

// pass lets time pass.
func (o *owner) pass(now int64) {
	if o.last != 0 && now > o.last && (o.to == 0 || o.last < o.to) {
		o.area += float64(len(o.since)) * float64(now-o.last)
	}
	if o.from == 0 {
		o.from = now
	}
	o.last = max(o.last, now)
}

// start is a frame handed to the driver.
func (o *owner) start(skb uint64, now int64, segments uint64) {
	o.pass(now)
	if _, again := o.since[skb]; again {
		o.Again++
		o.since[skb] = now
		return
	}
	o.Frames++
	if segments > 0 {
		o.Heads++
	}
	o.since[skb] = now
	o.InMax = max(o.InMax, len(o.since))
}

// release is the end of any buffer in the machine; of frames that were not seen to start nothing is known.
func (o *owner) release(skb uint64, now int64) {
	began, ours := o.since[skb]
	if !ours {
		return
	}
	o.pass(now)
	delete(o.since, skb)
	lap := max(0, now-began)
	o.Released++
	o.lapSum += lap
	o.LapMax = max(o.LapMax, time.Duration(lap))
}

// stop ends the time over which frames in the device are averaged; those in it are still followed.
func (o *owner) stop(now int64) {
	o.pass(now)
	o.to = now
}

// result is what was seen up to now.
func (o *owner) result(now int64) Owned {
	out := o.Owned
	end := o.last
	if o.to != 0 {
		end = o.to
	}
	if o.from != 0 && end > o.from {
		out.Window = time.Duration(end - o.from)
		out.InMean = o.area / float64(end-o.from)
	}
	if out.Released > 0 {
		out.LapMean = time.Duration(o.lapSum / int64(out.Released))
	}
	for _, began := range o.since {
		if age := time.Duration(now - began); age >= Patience {
			out.Stuck++
			out.Oldest = max(out.Oldest, age)
		}
	}
	return out
}

// The events of OpenDevice.
const (
	starts = iota
	consumed
	freed
)

// OpenDevice opens the trace points that tell what a device owns, by its name. errors.Is: ErrNotPermitted but for the machine's root, ErrNotSupported.
// Frames that bypass the queueing disciplines fire no such events.
func OpenDevice(name string) (*Tracer, error) {
	quoted := `"` + strings.NewReplacer(`"`, "", `\`, "").Replace(name) + `"`
	return open(
		point{name: "net/net_dev_start_xmit", filter: "name == " + quoted, value: "gso_segs", queue: "queue_mapping"},
		point{name: "skb/consume_skb"},
		point{name: "skb/kfree_skb"},
	)
}

// Device traces for a time, or until ctx ends, and then until the frames that it has seen are released, Patience at most.
func (t *Tracer) Device(ctx context.Context, window time.Duration) (Owned, error) {
	o, lost := newOwner(), t.lost
	see := func(r record) {
		if r.event == starts {
			o.start(r.skb, r.at, r.value)
		} else {
			o.release(r.skb, r.at)
		}
	}
	// Releases first: a frame that starts is not to leave unseen.
	for _, e := range []int{freed, consumed, starts} {
		if err := t.enable(e, true); err != nil {
			return Owned{}, err
		}
	}
	err := t.during(ctx, window, see, func() {
		now := o.result(monotonic())
		now.Lost = t.lost - lost
		t.live.Owned.Store(&now)
	})
	if off := t.enable(starts, false); err == nil {
		err = off
	}
	stopped := monotonic()
	patience := Patience + Patience/10
	if ctx.Err() != nil {
		patience /= 10 // somebody waits
	}
	for end := time.Now().Add(patience); err == nil; {
		if err = t.poll(false, see); err != nil || len(o.since) == 0 && monotonic()-stopped > 2*settled || time.Now().After(end) {
			break
		}
		if o.to == 0 && monotonic()-stopped > 2*settled { // all starts have been read
			o.stop(stopped)
		}
		time.Sleep(pollPeriod)
	}
	for _, e := range []int{consumed, freed} {
		if off := t.enable(e, false); err == nil {
			err = off
		}
	}
	if err == nil {
		err = t.poll(true, see)
	}
	o.Lost = t.lost - lost
	return o.result(monotonic()), err
}
