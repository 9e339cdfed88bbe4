package engine

import (
	"wirespeed/engine/frame"
	"wirespeed/engine/receive"
)

// plan is a Config made ready for one worker: all that its hot loop needs, never changed once published.
type plan struct {
	serial   uint64 // of all plans of an engine; slots remember which one filled them
	template frame.Template
	source   *source // where frames come from when they are not all alike, in the place of template; nil otherwise
	number   uint16  // of the worker, as frames carry it
	cpu      int
	path     Path
	burst    uint64
	shape    shape
	kinds    []kind          // of slots that may be used, in order of preference
	super    frame.Super     // where kinds has segmented
	segments int             // frames in a super-frame, at most
	times    *receive.Stamps // where a receiver finds the times of batches; nil without one that asks

	timing   float64 // a capture's own times, so many times as fast; 0 for a rate
	paced    bool
	schedule schedule // only when paced
	bucket   bucket   // as it starts; the worker copies it
	end      int64    // of the run, MaxInt64 without one
}

// shape is what decides the fastest kind of slot; while it stays, so does the choice.
type shape struct {
	size, burst int
	path        Path
	slot        Slot
	fast        bool // there is enough to send for a trial
	cut         bool // bursts may be super-frames
	content     uint64
}

// trialPPS is the slowest rate at which a trial is worth its time and cost of a few milliseconds of frames.
const trialPPS = 100e3

// breakEven is the burst from which on super-frames win everywhere they were measured (KERNEL.md: 2 segments are about even, 4 are 1.3 to 1.5
// times as fast), so that a slow stream, which cannot be tried, knows what to do; between 2 and twice this a fast one is tried.
const breakEven = 4

// compile makes the plan of one worker. origin is when the first burst of the stream is due; usable says whether the kernel can cut super-frames.
func compile(cfg Config, dev Device, worker int, origin, end int64, usable bool) (*plan, error) {
	p := &plan{
		number: uint16(worker),
		cpu:    cfg.cpu(worker),
		path:   cfg.Path,
		burst:  uint64(cfg.Burst),
		end:    end,
	}
	pps, err := cfg.PPS(dev)
	if err != nil {
		return nil, err
	}
	fast := true
	if cfg.timed() {
		p.timing, pps = cfg.Replay.Timing, nil
	}
	if pps != nil {
		pc := newPace(pps)
		p.paced = true
		p.schedule = newSchedule(pc, cfg.Burst, cfg.Queues, worker, origin, end)
		p.bucket = newBucket(pc, cfg.Burst, cfg.Queues, origin)
		f, _ := pps.Float64()
		fast = f/float64(cfg.Queues) >= trialPPS
	}
	cuttable := cfg.Uncut() == ""
	if cuttable || !cfg.mixed() {
		spec := cfg.flow(worker)
		if p.template, err = frame.Build(spec); err != nil {
			return nil, err
		}
		if cuttable {
			p.super = frame.NewSuper(spec, p.template)
			p.segments = segmentsOf(cfg.Burst, p.super.Most)
		}
	}
	p.shape = shape{cfg.Frame.Size, cfg.Burst, cfg.Path, cfg.Slot, fast, usable && cfg.Segmentable() && p.segments > 1, 0}
	p.kinds = p.shape.kinds()
	return p, nil
}

// segmentsOf is how many frames a super-frame takes so that a burst is cut into as few super-frames as possible, of about equal length.
func segmentsOf(burst, most int) int {
	n := (burst + most - 1) / most
	return (burst + n - 1) / n
}

// kinds are the kinds of slots to choose from.
func (s shape) kinds() []kind {
	switch s.slot {
	case SlotLinear:
		return []kind{linear}
	case SlotPlain:
		return []kind{plain}
	case SlotSegmented:
		if s.cut {
			return []kind{segmented}
		}
		return []kind{linear}
	}
	switch {
	case s.cut && (s.burst >= 2*breakEven || !s.fast && s.burst >= breakEven):
		return []kind{segmented}
	case !s.fast:
		return []kind{linear}
	case s.cut:
		return []kind{linear, plain, segmented}
	}
	return []kind{linear, plain}
}

// stamp prepares the frames of a batch.
func (p *plan) stamp(c *clock, now int64) frame.Stamp {
	wall := c.wall + now
	if p.times != nil {
		p.times.Note(wall)
	}
	return p.template.Stamp(uint32(wall/1e9), uint32(wall%1e9/1e3), p.number)
}
