package engine

import (
	"wirespeed/engine/frame"
)

// plan is a Config made ready for one worker: all that its hot loop needs, never changed once published.
type plan struct {
	serial   uint64 // of all plans of an engine; slots remember which one filled them
	template frame.Template
	number   uint16 // of the worker, as frames carry it
	cpu      int
	path     Path
	burst    uint64

	paced    bool
	schedule schedule // only when paced
	bucket   bucket   // as it starts; the worker copies it
	end      int64    // of the run, MaxInt64 without one
}

// compile makes the plan of one worker. origin is when the first burst of the stream is due.
func compile(cfg Config, dev Device, worker int, origin, end int64) (*plan, error) {
	t, err := frame.Build(cfg.flow(worker))
	if err != nil {
		return nil, err
	}
	p := &plan{
		template: t,
		number:   uint16(worker),
		cpu:      cfg.cpu(worker),
		path:     cfg.Path,
		burst:    uint64(cfg.Burst),
		end:      end,
	}
	pps, err := cfg.Rate.PPS(cfg.Frame.Size, dev)
	if err != nil {
		return nil, err
	}
	if pps != nil {
		pc := newPace(pps)
		p.paced = true
		p.schedule = newSchedule(pc, cfg.Burst, cfg.Queues, worker, origin, end)
		p.bucket = newBucket(pc, cfg.Burst, cfg.Queues, origin)
	}
	return p, nil
}
