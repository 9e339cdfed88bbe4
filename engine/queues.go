package engine

import (
	"errors"
	"fmt"

	"wirespeed/engine/frame"
)

// openQueues sees to it that n queues are open for new workers, with room for the longest frames of the device as it is now.
func (e *Engine) openQueues(n int) error {
	if len(e.queues) > 0 && e.queues[0].frames.ring.MaxFrame() < frame.MaxSize(e.dev.MTU, 1) {
		if err := e.closeQueues(); err != nil {
			return err
		}
	}
	for len(e.queues) < n {
		q, err := openQueue(e.dev, len(e.queues))
		if err != nil {
			return errors.Join(err, e.closeQueues())
		}
		e.queues = append(e.queues, q)
	}
	return nil
}

// fits says why the rings of the run under way do not take the longest frames of cfg: the MTU may have grown since they were made.
func (e *Engine) fits(cfg Config) error {
	for _, q := range e.run.queues() {
		if longest, most := cfg.longest(e.dev), q.frames.ring.MaxFrame(); longest > most {
			return fmt.Errorf("size %d: the rings of this run were made for frames of up to %d bytes, when the MTU was smaller: stop and start again", longest, most)
		}
	}
	return nil
}

// longest is how long a frame of cfg can be, in bytes.
func (cfg Config) longest(dev Device) int {
	longest := cfg.Frame.Size
	switch {
	case cfg.Load != nil:
		return frame.MaxSize(dev.MTU, 1)
	case len(cfg.Streams) > 0:
		longest = 0
	}
	for _, s := range cfg.Streams {
		longest = max(longest, s.Frame.Size)
	}
	return longest
}

// openSuper opens the rings for super-frames where cfg wants them and the kernel can cut them.
func (e *Engine) openSuper(cfg Config, queues []*queue) error {
	if !cfg.Segmentable() {
		return nil
	}
	c := e.cutting(cfg)
	if !c.probed {
		// A device that cuts frames itself would send the probe: take its word.
		c.can = cfg.Segment == SegmentDevice || cutsSuperFrames(e.dev, cfg.Frame)
		c.probed = cfg.Segment != SegmentDevice
	}
	if !c.can {
		return nil
	}
	for i, q := range queues {
		if err := q.openSuper(e.dev, i); err != nil {
			return err
		}
	}
	return nil
}

// cuts is whether the kernel can cut super-frames of one protocol on this device, once that is known.
type cuts struct{ probed, can bool }

// cutting is what is known of the frames of cfg.
func (e *Engine) cutting(cfg Config) *cuts {
	if cfg.Frame.Proto == frame.TCP {
		return &e.cuts[1]
	}
	return &e.cuts[0]
}

func (r *run) queues() []*queue {
	queues := make([]*queue, len(r.workers))
	for i, w := range r.workers {
		queues[i] = w.queue
	}
	return queues
}

func (e *Engine) closeQueues() error {
	var err error
	for _, q := range e.queues {
		err = errors.Join(err, q.close())
	}
	e.queues = nil
	return err
}
