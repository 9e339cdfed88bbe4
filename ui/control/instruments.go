package control

import (
	"slices"
	"sync"
	"time"

	"wirespeed/engine"
	"wirespeed/engine/meter"
	"wirespeed/nic"
)

// Instruments are what the queues on the way of the frames showed over a while: an immutable value.
type Instruments struct {
	Window    time.Duration // that they cover, a second where there is one
	PerSecond float64       // looks
	looks     int
	unread    bool          // the qdiscs cannot be
	Cost      float64       // share of a CPU that the looking takes
	Qdiscs    []QdiscGauge  // one for each transmit queue under an mq, else one at most
	Devices   []DeviceGauge // transmit queues with byte queue limits
	Why       string        // why there are no Qdiscs, "" where there are
	DeviceWhy string        // likewise
	InKernel  int           // frames in slots that have not come back: queue, device and completions together

	RingFull string // that the driver's ring is, "" where it is not, or not known
	Trace    *Trace // nil while the knob trace is off

	Regime    meter.Regime
	RegimeWhy string
	Since     time.Time      // when the regime began; zero before it is known
	Changes   []RegimeChange // the last ones, newest last
}

// QdiscGauge is one qdisc. Packets are computed from bytes where super-frames wait: the kernel counts such a one as one (KERNEL.md).
type QdiscGauge struct {
	Queue                          int // -1: it feeds all of them
	Kind                           string
	Mean, Max                      float64 // frames waiting
	MeanBytes, MaxBytes            float64
	Waiting                        float64 // share of the looks that found any
	Computed                       bool    // frames are bytes by the size of a frame
	Drops, Requeues, Overlimits    float64 // a second
	AllDrops, AllReqs, AllOverlims uint64  // since the start or the last reset
	oneQueue                       bool
}

// DeviceGauge is what a device owns of one transmit queue, by its byte queue limits.
type DeviceGauge struct {
	Queue                           int
	Mean, Max, Limit                float64 // frames: bytes by the size of a frame
	MeanBytes, MaxBytes, LimitBytes float64
	Most                            float64 // frames, the largest since the start or the last reset
}

// RegimeChange is one regime following another.
type RegimeChange struct {
	At       time.Time
	From, To meter.Regime
	Why      string // of the new one
	After    string // the change of a knob right before it, "" if there was none
}

// waiting is what instruments are read from.
type waiting interface {
	Qdiscs(into []nic.QueueQdisc) ([]nic.QueueQdisc, error)
	Limits(queue int) (nic.Limits, error)
}

const (
	lookPeriod  = 15 * time.Millisecond // more than 50 a second, also when a few come late
	gaugeWindow = time.Second
	gaugeQueues = 16 // with byte queue limits: what more there are is not looked at so often
	keepChanges = 8
)

// glance is one look at all queues.
type glance struct {
	at     time.Time
	qdiscs []nic.QueueQdisc
	limits []queueLimits
}

type queueLimits struct {
	queue int
	nic.Limits
}

// instruments are the looks of the last second. watch is for one goroutine, the rest for any.
type instruments struct {
	mu        sync.Mutex
	ring      []glance // oldest first
	spare     []glance // their slices are used again
	err       error    // of the last look at the qdiscs
	devErr    error    // likewise at the limits
	begun     time.Time
	busy      time.Duration
	most      map[int]uint64 // bytes in flight, by queue
	askAgain  time.Time      // for limits that are not there
	baseline  map[int]nic.Qdisc
	last      map[int]nic.Qdisc
	regime    meter.Regime
	candidate meter.Regime // seen once: it must be seen twice
	since     time.Time
	changes   []RegimeChange
}

// keepInstruments looks at the queues while frames flow, until Close.
func (r *Run) keepInstruments() {
	for sleep(r.life, lookPeriod) {
		if r.isRunning() {
			r.inst.watch(r.dev, r.engDevice().Queues)
		}
	}
}

// watch takes one look.
func (i *instruments) watch(d waiting, queues int) {
	begun := time.Now()
	g := i.fresh()
	var err, devErr error
	g.qdiscs, err = d.Qdiscs(g.qdiscs)
	g.limits = g.limits[:0]
	if begun.After(i.askAgain) {
		for q := range min(queues, gaugeQueues) {
			l, err := d.Limits(q)
			if err != nil {
				devErr = err
				i.askAgain = begun.Add(time.Second)
				break
			}
			g.limits = append(g.limits, queueLimits{q, l})
		}
	} else {
		devErr = i.devErr
	}
	g.at = time.Now()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.err, i.devErr = err, devErr
	if i.begun.IsZero() {
		i.begun = begun
	}
	i.busy += time.Since(begun)
	if err != nil {
		g.qdiscs = g.qdiscs[:0]
	}
	for _, q := range g.qdiscs {
		i.count(q)
	}
	for _, l := range g.limits {
		i.most[l.queue] = max(i.most[l.queue], l.InFlight)
	}
	i.ring = append(i.ring, g)
	for len(i.ring) > 2 && g.at.Sub(i.ring[0].at) > gaugeWindow+lookPeriod {
		i.spare = append(i.spare, i.ring[0])
		i.ring = slices.Delete(i.ring, 0, 1)
	}
}

// fresh is a glance whose slices may be written to.
func (i *instruments) fresh() (g glance) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.most == nil {
		i.most, i.baseline, i.last = map[int]uint64{}, map[int]nic.Qdisc{}, map[int]nic.Qdisc{}
	}
	if n := len(i.spare); n > 0 {
		g = i.spare[n-1]
		i.spare = i.spare[:n-1]
	}
	return g
}

// count keeps totals over wraps of the kernel's 32 bits, and begins anew with a qdisc that took another's place. The caller holds mu.
func (i *instruments) count(q nic.QueueQdisc) {
	was, seen := i.last[q.Queue]
	i.last[q.Queue] = q.Qdisc
	if !seen || was.Kind != q.Kind {
		i.baseline[q.Queue] = nic.Qdisc{}
		return
	}
	sum := i.baseline[q.Queue]
	sum.Drops += uint64(uint32(q.Drops - was.Drops))
	sum.Requeues += uint64(uint32(q.Requeues - was.Requeues))
	sum.Overlimits += uint64(uint32(q.Overlimits - was.Overlimits))
	i.baseline[q.Queue] = sum
}

// restart begins totals and maxima anew, and with a new run the looks.
func (i *instruments) restart() {
	i.mu.Lock()
	defer i.mu.Unlock()
	clear(i.most)
	clear(i.baseline)
	clear(i.last)
	i.ring = nil
}

// setting is what the readings are held against.
type frameSetting struct {
	bytes     float64 // of a frame, as the kernel counts them
	segmented bool
}

// figures are the instruments of the last second, but not of before a change, regime left out.
func (i *instruments) figures(now, change time.Time, f frameSetting) Instruments {
	i.mu.Lock()
	defer i.mu.Unlock()
	out := Instruments{Why: text(i.err), DeviceWhy: text(i.devErr), unread: i.err != nil}
	if i.err == nil && len(i.last) == 0 {
		out.Why = "not looked at yet: frames must flow"
	}
	for len(i.ring) > 0 && now.Sub(i.ring[0].at) > 2*gaugeWindow { // a run that is over
		i.ring = i.ring[1:]
	}
	ring := i.ring
	for len(ring) > 0 && ring[0].at.Before(change) {
		ring = ring[1:]
	}
	n := len(ring)
	if n < 2 {
		return out
	}
	first, last := ring[0], ring[n-1]
	out.Window = last.at.Sub(first.at)
	seconds := out.Window.Seconds()
	if seconds <= 0 {
		return out
	}
	out.looks = n
	out.PerSecond = float64(n-1) / seconds
	if lived := now.Sub(i.begun).Seconds(); lived > 0 {
		out.Cost = i.busy.Seconds() / lived
	}
	if i.err == nil {
		out.Why = ""
		if len(last.qdiscs) == 0 {
			out.Why = "no queue: frames wait nowhere between ring and driver (noqueue)"
		}
	}
	for _, q := range last.qdiscs {
		g := QdiscGauge{Queue: q.Queue, Kind: q.Kind, Computed: f.segmented, oneQueue: q.OneQueue}
		looks := 0.0
		var oldest *nic.QueueQdisc
		for _, l := range ring {
			at := slices.IndexFunc(l.qdiscs, func(o nic.QueueQdisc) bool { return o.Queue == q.Queue && o.Kind == q.Kind })
			if at < 0 {
				continue // another sat there
			}
			o := &l.qdiscs[at]
			if oldest == nil {
				oldest = o
			}
			looks++
			frames := float64(o.BacklogPackets)
			if f.segmented {
				frames = float64(o.BacklogBytes) / f.bytes
			}
			g.Mean += frames
			g.Max = max(g.Max, frames)
			g.MeanBytes += float64(o.BacklogBytes)
			g.MaxBytes = max(g.MaxBytes, float64(o.BacklogBytes))
			if o.BacklogBytes > 0 || o.BacklogPackets > 0 {
				g.Waiting++
			}
		}
		g.Mean, g.MeanBytes, g.Waiting = g.Mean/looks, g.MeanBytes/looks, g.Waiting/looks
		g.Drops = float64(uint32(q.Drops-oldest.Drops)) / seconds
		g.Requeues = float64(uint32(q.Requeues-oldest.Requeues)) / seconds
		g.Overlimits = float64(uint32(q.Overlimits-oldest.Overlimits)) / seconds
		sum := i.baseline[q.Queue]
		g.AllDrops, g.AllReqs, g.AllOverlims = sum.Drops, sum.Requeues, sum.Overlimits
		out.Qdiscs = append(out.Qdiscs, g)
	}
	for _, q := range last.limits {
		g := DeviceGauge{Queue: q.queue, Most: float64(i.most[q.queue]) / f.bytes}
		looks := 0.0
		for _, l := range ring {
			for _, o := range l.limits {
				if o.queue != q.queue {
					continue
				}
				looks++
				g.MeanBytes += float64(o.InFlight)
				g.MaxBytes = max(g.MaxBytes, float64(o.InFlight))
				g.LimitBytes += float64(o.Limit)
			}
		}
		g.MeanBytes, g.LimitBytes = g.MeanBytes/looks, g.LimitBytes/looks
		g.Mean, g.Max, g.Limit = g.MeanBytes/f.bytes, g.MaxBytes/f.bytes, g.LimitBytes/f.bytes
		out.Devices = append(out.Devices, g)
	}
	return out
}

// settle keeps a regime that was seen twice in a row, and says since when it rules. A regime that is not known any more ends the one before without
// a change: nothing was sent.
func (i *instruments) settle(now time.Time, to meter.Regime, why, after string) (since time.Time, changes []RegimeChange) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if to != i.regime && to == i.candidate || i.regime == "" {
		if i.regime != "" && i.regime != meter.RegimeUnknown && to != meter.RegimeUnknown {
			if len(i.changes) == keepChanges {
				i.changes = slices.Clone(i.changes[1:])
			}
			i.changes = append(i.changes, RegimeChange{At: now, From: i.regime, To: to, Why: why, After: after})
		}
		i.regime, i.since = to, now
	}
	i.candidate = to
	return i.since, slices.Clip(i.changes)
}

// instrumentsOf makes the instruments of a look. The caller holds mu.
func (r *Run) instrumentsOf(prev, now look) *Instruments {
	f := frameSetting{bytes: r.sent(prev, now).Size(), segmented: r.rows.slots() == "segmented"}
	out := r.inst.figures(now.at, r.epochs.turned, f)
	out.InKernel = now.engine.InKernel
	out.Trace = r.traceView()
	s := r.signs(&out, f, prev, now)
	out.RingFull = out.ringFull(ringTx(r.values), s.Waiting)
	if r.engDev.Speed > 0 && r.last.Valid && r.last.TX.Percent != nil {
		s.Percent, s.Link = r.last.TX.Percent, speedWords(r.engDev.Speed)
		if !r.steady() { // the last whole sample is of before the change
			s.Percent = r.instant.TX.Percent
		}
	}
	out.rule(s)
	after := ""
	if r.epochs.turn && now.at.Sub(r.epochs.turned) < 3*time.Second {
		after = r.epochs.label
	}
	out.Since, out.Changes = r.inst.settle(now.at, out.Regime, out.RegimeWhy, after)
	return &out
}

// ringFull looks at what byte queue limits count, or at what the trace points do.
func (i *Instruments) ringFull(descriptors int, waiting float64) string {
	for _, d := range i.Devices {
		if text := meter.RingFull(descriptors, d.Most, d.Limit, waiting); text != "" {
			return text
		}
	}
	return ""
}

// rule decides on the regime.
func (i *Instruments) rule(s meter.Signs) {
	i.Regime, i.RegimeWhy = meter.RegimeOf(s)
	if s.Queue == "" && !s.Bypass && s.Sending && !noQueue(*i) {
		i.Regime, i.RegimeWhy = meter.RegimeUnknown, i.Why
	}
}

// signs are what the regime is read from between two looks, but for the share of the link. The caller holds mu.
func (r *Run) signs(out *Instruments, f frameSetting, prev, now look) meter.Signs {
	s := meter.Signs{
		Sending: now.engine.State == engine.Running,
		Bypass:  r.eng.Config().Path == engine.Bypass, Looks: out.looks, FrameBytes: f.bytes,
	}
	if busiest := busiest(out.Qdiscs); busiest != nil {
		s.Queue, s.Waiting, s.Backlog, s.OneQueue = busiest.Kind, busiest.Waiting, busiest.Mean, busiest.oneQueue
		for _, q := range out.Qdiscs {
			s.Requeues += q.Requeues
			s.Overlimits += q.Overlimits
		}
		if d := slices.IndexFunc(out.Devices, func(d DeviceGauge) bool { return d.Queue == busiest.Queue }); d >= 0 {
			s.InFlight, s.Limit = &out.Devices[d].MeanBytes, &out.Devices[d].LimitBytes
		}
	}
	if t := out.Trace; t != nil && t.Bulks != nil && t.Bulks.Dequeues > 0 && t.Blind == "" && t.At.After(r.epochs.turned) {
		mean := t.Bulks.Mean()
		s.Bulk = &mean
	}
	if since := now.at.Sub(prev.at).Seconds(); since > 0 {
		for i, w := range now.engine.Workers {
			p := at(prev.engine.Workers, i, w)
			s.NotTaken += float64(w.Retries-p.Retries) / since
		}
	}
	return s
}

// steady says whether the last whole sample is of the present epoch. The caller holds mu.
func (r *Run) steady() bool { return r.last.Epoch == r.epochs.number }

// noQueue says whether the instruments saw that there is no queue.
func noQueue(i Instruments) bool { return i.Window > 0 && len(i.Qdiscs) == 0 && !i.unread }

// busiest is the qdisc in which most frames waited, nil where there is none.
func busiest(list []QdiscGauge) (most *QdiscGauge) {
	for i := range list {
		if q := &list[i]; most == nil || q.Waiting > most.Waiting || q.Waiting == most.Waiting && q.Mean > most.Mean {
			most = q
		}
	}
	return most
}

var _ waiting = (*nic.Device)(nil)
