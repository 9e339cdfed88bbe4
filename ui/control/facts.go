package control

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"wirespeed/nic"
)

// Facts are what the device and the kernel counted lately, a second's worth: an immutable value. Nil where nothing is known yet.
type Facts struct {
	Interval       time.Duration
	PauseTx        *float64 // pause frames a second; nil unknown
	PauseRx        *float64
	PauseWhy       string         // why they are not known, "" where they are or may be
	Counters       []nic.StatRate // the driver's own that moved
	CountersWhy    string         // why there are none, "" where there are
	IRQs           []nic.IRQRate
	SoftIRQs       []SoftIRQ
	CarrierChanges *uint64 // since the interface was made
}

// SoftIRQ is how often a CPU ran a kind of softirq, of those that have to do with the network.
type SoftIRQ struct {
	Kind      string
	CPU       int
	PerSecond float64
}

// factual is what facts are read from.
type factual interface {
	Stats() ([]nic.Stat, error)
	PauseFrames() (nic.PauseFrames, error)
	Interrupts() ([]nic.QueueIRQ, error)
	CarrierChanges() (uint64, error)
}

// facts are the last readings. Only keepWatch uses them.
type facts struct {
	at    time.Time
	stats []nic.Stat
	pause nic.PauseFrames
	irqs  []nic.QueueIRQ
	soft  nic.SoftIRQs
	quiet struct{ stats, pause bool } // the driver has none: it is not asked again
	why   struct{ stats, pause string }
}

// look reads everything and compares it with the look before; nil the first time.
func (f *facts) look(d factual, now time.Time) *Facts {
	was := *f
	f.at = now
	if !f.quiet.stats {
		var err error
		f.stats, err = d.Stats()
		f.quiet.stats, f.why.stats = errors.Is(err, nic.ErrNotSupported), text(err)
	}
	if !f.quiet.pause {
		var err error
		f.pause, err = d.PauseFrames()
		f.quiet.pause, f.why.pause = errors.Is(err, nic.ErrNotSupported), text(err)
	}
	f.irqs, _ = d.Interrupts() // none of its own: nothing to show
	f.soft, _ = nic.ReadSoftIRQs()
	if was.at.IsZero() {
		return nil
	}
	out := &Facts{
		Interval: now.Sub(was.at), PauseWhy: f.why.pause, CountersWhy: f.why.stats,
		Counters: nic.Moved(was.stats, f.stats, now.Sub(was.at)), IRQs: nic.IRQRates(was.irqs, f.irqs, now.Sub(was.at)),
	}
	out.PauseTx = perSecond(was.pause.Tx, f.pause.Tx, out.Interval)
	out.PauseRx = perSecond(was.pause.Rx, f.pause.Rx, out.Interval)
	for _, kind := range []string{"NET_TX", "NET_RX"} {
		for cpu, n := range f.soft[kind] {
			if before, ok := was.soft[kind][cpu]; ok && n > before {
				out.SoftIRQs = append(out.SoftIRQs, SoftIRQ{kind, cpu, float64(n-before) / out.Interval.Seconds()})
			}
		}
	}
	slices.SortFunc(out.SoftIRQs, func(a, b SoftIRQ) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), a.CPU-b.CPU) })
	if n, err := d.CarrierChanges(); err == nil {
		out.CarrierChanges = &n
	}
	return out
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// perSecond is the rate between two counts, nil where one is not known or it was reset.
func perSecond(was, now *uint64, interval time.Duration) *float64 {
	if was == nil || now == nil || *now < *was || interval <= 0 {
		return nil
	}
	rate := float64(*now-*was) / interval.Seconds()
	return &rate
}

// addIRQs gives each queue the rate of its interrupts. One that has several, or shares one with receiving, has their sum.
func addIRQs(queues []Queue, f *Facts) {
	if f == nil {
		return
	}
	for _, irq := range f.IRQs {
		if !irq.Tx || irq.Queue < 0 {
			continue
		}
		for i := range queues {
			q := &queues[i]
			if q.Queue != irq.Queue {
				continue
			}
			sum := irq.PerSecond
			if q.IRQs != nil {
				sum += *q.IRQs
			}
			q.IRQs = &sum
		}
	}
}
