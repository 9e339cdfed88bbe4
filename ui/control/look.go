package control

import (
	"time"

	"wirespeed/engine"
	"wirespeed/engine/meter"
	"wirespeed/nic"
)

// look is one reading of everything that counts. The engine is read first and the device after it, so that taken minus device never
// claims more than was true: frames that leave between the two reads make it smaller.
type look struct {
	at      time.Time
	took    time.Duration // from the first count to the last
	engine  engine.Snapshot
	dev     nic.Counters
	backlog uint64        // frames that the kernel's backlog dropped, on all of the machine
	tx      meter.Reading // the device's transmit counter
	rx      meter.Reading // the counter shown as received: of --rx, of the device itself, or the lab's receiver
}

// reads is how often a counter is read at most for a narrow bracket.
const reads = 5

// take reads the counters. The interval is the time since the look that this one will be compared with.
func (r *Run) take(interval time.Duration) look {
	var l look
	begun := time.Now()
	for range reads {
		r.eng.Snapshot(&l.engine)
		if !meter.Wide(2*max(l.engine.Taken.Err, l.engine.Arrived.Err), interval) {
			break
		}
	}
	var ok bool
	l.dev, ok = readCounters(r.dev, interval)
	l.tx = r.reading(l.dev, since(min(r.helpersCount(), l.dev.TxPackets), l.dev.TxPackets), ok)
	switch {
	case r.o.Lab:
		l.rx = l.engine.Arrived
	case r.rxDev != nil:
		c, ok := readCounters(r.rxDev, interval)
		l.rx = r.reading(c, c.RxPackets, ok)
	default:
		l.rx = r.reading(l.dev, l.dev.RxPackets, ok)
	}
	if r.parts.backlog != nil {
		l.backlog, _ = r.parts.backlog() // without it nothing is said of it
	}
	l.at = time.Now()
	l.took = l.at.Sub(begun)
	return l
}

// readCounters reads a device's counters until the bracket is narrow enough for the interval, and returns the narrowest.
func readCounters(d counter, interval time.Duration) (best nic.Counters, ok bool) {
	for range reads {
		c, err := d.Counters()
		if err != nil {
			continue
		}
		width := c.After.Sub(c.Before)
		if !ok || width < best.After.Sub(best.Before) {
			best, ok = c, true
		}
		if !meter.Wide(width, interval) {
			break
		}
	}
	return best, ok
}

// reading places one count of c on the run's own axis of time.
func (r *Run) reading(c nic.Counters, count uint64, ok bool) meter.Reading {
	m := meter.Between(c.Before.Sub(r.origin), c.After.Sub(r.origin), count)
	m.OK = ok
	return m
}
