package control

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"wirespeed/engine"
	"wirespeed/engine/frame"
	"wirespeed/nic"
	"wirespeed/presets/knob"
)

// panel keeps the knobs' rows: some ask the device, which not every tick should.
type panel struct {
	list []Knob
	at   time.Time
	cfg  engine.Config
	dev  engine.Device
	slot string
	read int // of the device's settings
}

// none is what a knob without a detail says.
const none = "-"

// panelPeriod is how long a row may be older than the device.
const panelPeriod = time.Second

// rows returns the knobs as they stand. The caller holds r.mu and must not write to them.
func (p *panel) rows(r *Run, cfg engine.Config) []Knob {
	slots := r.rows.slots()
	if time.Since(p.at) < panelPeriod && p.list != nil && sameConfig(p.cfg, cfg) && sameDevice(p.dev, r.engDev) && p.slot == slots && p.read == r.readings {
		return p.list
	}
	b := r.bench()
	all := knob.On(b)
	list := make([]Knob, 0, len(all))
	for _, k := range all {
		list = append(list, Knob{
			Name: k.Name, Group: string(k.Group), Value: k.Get(b), Detail: k.Detail(b), Help: k.Help, Reason: k.Unavailable(b),
			Family: k.Family, Known: k.Known(b),
		})
		row := &list[len(list)-1]
		switch { // what the workers do about it is not known to the knobs
		case k.Name == "pause" && row.Reason == "":
			row.Detail = pauseRates(r.shown)
		case slots == "" || row.Detail != none:
		case k.Name == "slot":
			row.Detail = slots
		case k.Name == "burst" && cfg.Burst > 1:
			row.Detail = "segmented"
			if slots != "segmented" {
				row.Detail = "back to back"
			}
		}
	}
	*p = panel{list: list, at: time.Now(), cfg: cfg, dev: r.engDev, slot: slots, read: r.readings}
	return list
}

// pauseRates says how many pause frames came and went in the last second.
func pauseRates(f *Facts) string {
	if f == nil || f.PauseTx == nil && f.PauseRx == nil {
		return "frames/s unknown"
	}
	rate := func(side string, n *float64) string {
		if n == nil {
			return side + " -"
		}
		return fmt.Sprintf("%s %.0f", side, *n)
	}
	return "frames/s " + rate("rx", f.PauseRx) + ", " + rate("tx", f.PauseTx)
}

// sameConfig says whether two configurations ask for the same, also in fields that this package does not know.
func sameConfig(a, b engine.Config) bool { return reflect.DeepEqual(a, b) }

// sameDevice says whether two devices have the same limits.
func sameDevice(a, b engine.Device) bool {
	return a.MTU == b.MTU && a.Speed == b.Speed && a.Queues == b.Queues && a.MAC == b.MAC
}

// rows are the workers' lines. Guarded by the run's mu.
type rows struct {
	base []engine.WorkerSnapshot
	list []Queue
	noBQ bool // the device has no byte queue limits: it is not asked again
	away absences
}

// absences are how long others have kept workers from their CPUs, by TID: as read last, and where the statistics begin.
type absences struct{ now, base map[int]time.Duration }

// note takes a worker's, and returns what came to it since the last time, ok false where that is not known.
func (a *absences) note(tid int, total time.Duration) (more time.Duration, ok bool) {
	if a.now == nil {
		a.now, a.base = map[int]time.Duration{}, map[int]time.Duration{}
	}
	last, ok := a.now[tid]
	a.now[tid] = total
	return total - last, ok
}

// sum is all of it since the statistics began, of workers that are gone too.
func (a *absences) sum() (sum time.Duration) {
	for tid, t := range a.now {
		sum += t - a.base[tid]
	}
	return sum
}

// restart begins the cumulative counts anew.
func (w *rows) restart(l look) {
	w.base = slices.Clone(l.engine.Workers)
	w.away.base = maps.Clone(w.away.now)
}

// update makes the rows of the last look.
func (w *rows) update(r *Run, prev, now look) {
	interval := now.engine.Taken.At - prev.engine.Taken.At
	size := max(frame.Smallest, r.sent(prev, now).Size())
	list := make([]Queue, len(now.engine.Workers))
	for i, n := range now.engine.Workers {
		b, p := at(w.base, i, n), at(prev.engine.Workers, i, n)
		q := Queue{
			Queue: r.steering.queue(i), CPU: n.CPU, InKernel: n.InKernel, State: n.State, Slot: n.Kind,
			RingFull: n.RingFull - b.RingFull, Retries: n.Retries - b.Retries, Errors: n.Errors - b.Errors,
		}
		if n.Err != nil {
			q.Err = n.Err.Error()
		}
		if interval > 0 {
			q.PPS = float64(n.Taken-p.Taken) / interval.Seconds()
			share := func(now, before time.Duration) float64 {
				return min(1, max(0, (now-before).Seconds()/interval.Seconds()))
			}
			q.User, q.Kernel = share(n.User, p.User), share(n.Kernel, p.Kernel)
			q.Spin, q.Wait = share(n.Spin, p.Spin), share(n.Wait, p.Wait)
			if total, err := r.parts.threadWait(n.TID); err == nil && n.TID != 0 {
				if more, ok := w.away.note(n.TID, total); ok {
					away := share(more, 0)
					q.Away = &away
				}
			}
		}
		if q.PPS > 0 {
			ns := 1e9 / q.PPS
			q.NS = &ns
		}
		if q.Queue >= 0 && !w.noBQ {
			bytes, err := r.dev.InFlight(q.Queue)
			w.noBQ = errors.Is(err, nic.ErrNotSupported)
			if err == nil {
				f := float64(bytes) / size
				q.InDevice = &f
			}
		}
		list[i] = q
	}
	w.list = list
}

// slots is the kind of slots that all running workers fill, "" where there is none or more than one.
func (w *rows) slots() string {
	var kind string
	for _, q := range w.list {
		if q.State != engine.Running || kind != "" && q.Slot != kind {
			return ""
		}
		kind = q.Slot
	}
	return kind
}

// at is the earlier state of worker i, zero if another worker had its place: a count never runs backwards.
func at(list []engine.WorkerSnapshot, i int, now engine.WorkerSnapshot) engine.WorkerSnapshot {
	if i >= len(list) {
		return engine.WorkerSnapshot{}
	}
	w := list[i]
	if w.Ring > now.Ring || w.Taken > now.Taken || w.Kernel > now.Kernel || w.User > now.User {
		return engine.WorkerSnapshot{}
	}
	return w
}
