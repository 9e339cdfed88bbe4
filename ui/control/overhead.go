package control

import (
	"time"

	"wirespeed/engine"
)

// overhead is the CPU share of the process apart from its workers. It is guarded by its owner; share is -1 while unknown.
type overhead struct {
	share   float64
	at      time.Time
	process time.Duration
	threads map[int]time.Duration // by TID
}

// overheadPeriod is the shortest time it is measured over: the kernel's own counts move in ticks.
const overheadPeriod = time.Second

// measure takes the process's time and its workers'. A worker that came or went in between makes the share unknown.
func (o *overhead) measure(p parts, workers []engine.WorkerSnapshot) {
	now := time.Now()
	if !o.at.IsZero() && now.Sub(o.at) < overheadPeriod {
		return
	}
	process, err := p.processTime()
	if err != nil {
		*o = overhead{share: -1}
		return
	}
	threads := make(map[int]time.Duration, len(workers))
	for _, w := range workers {
		if w.TID == 0 {
			continue // not started
		}
		if t, err := p.threadTime(w.TID); err == nil {
			threads[w.TID] = t
		}
	}
	share := -1.0
	if !o.at.IsZero() && len(threads) == len(o.threads) {
		spent := process - o.process
		known := true
		for tid, t := range threads {
			before, ok := o.threads[tid]
			known = known && ok
			spent -= t - before
		}
		if known {
			share = max(0, spent.Seconds()/now.Sub(o.at).Seconds())
		}
	}
	*o = overhead{share: share, at: now, process: process, threads: threads}
}
