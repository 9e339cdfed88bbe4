package engine

import (
	"errors"

	"wirespeed/engine/frame"
)

// openQueues sees to it that n queues are open for new workers.
func (e *Engine) openQueues(n int) error {
	for len(e.queues) < n {
		q, err := openQueue(e.dev, len(e.queues))
		if err != nil {
			return errors.Join(err, e.closeQueues())
		}
		e.queues = append(e.queues, q)
	}
	return nil
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
