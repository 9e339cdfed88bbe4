package control

import (
	"fmt"

	"wirespeed/engine"
	"wirespeed/nic"
	"wirespeed/presets/knob"
)

// The knob link. In the lab it makes the link: the root qdisc of the sending end lets as much through as would fit on a wire of that speed, and the rest
// waits. Elsewhere it states what the device does not know, or what the operator wants to hold its rate against.

// qdiscSetting is the device's setting that the lab's link is made of.
const qdiscSetting = "qdisc"

// setLink is what the knob link calls. The caller holds cmd.
func (r *Run) setLink(speed uint64) error {
	r.mu.Lock()
	r.mix()
	mtu := r.link.MTU
	r.mu.Unlock()
	if r.o.Lab {
		if err := r.shape(speed, mtu); err != nil {
			return err
		}
	}
	r.mu.Lock()
	r.stated = speed
	r.mu.Unlock()
	r.reread()
	return nil
}

// shape gives the lab a link of a speed, or takes it away where that is 0. The caller holds cmd, or is New.
func (r *Run) shape(speed uint64, mtu int) error {
	if speed == 0 {
		if r.unshape == nil {
			return nil
		}
		err := r.unshape()
		r.unshape = nil
		return err
	}
	_, undo, err := r.guard.Set(qdiscSetting, nic.Shaper(speed, mtu))
	if err != nil {
		return fmt.Errorf("link: %w", err)
	}
	if r.unshape == nil { // the way back is to what was before the first
		r.unshape = undo
	}
	return nil
}

// shapeFirst makes the lab's link of the command line, and says what it has forced.
func (r *Run) shapeFirst() error {
	if !r.o.Lab {
		return nil
	}
	if r.o.DryRun {
		r.plan = append(r.plan, "link none -> "+knob.SpeedText(r.stated))
		return nil
	}
	l, err := r.dev.Link()
	if err == nil {
		err = r.shape(r.stated, l.MTU)
	}
	if err != nil {
		return knob.RefusedByNIC(err)
	}
	r.values = r.readSettings()
	r.log.add("link", fmt.Sprintf("the lab is shaped to %s: path qdisc (the bypass would pass the shaper by), segment off (it charges a super-frame as one frame)",
		knob.SpeedText(r.stated)))
	return nil
}

// reshape follows a changed MTU: the shaper drops what is larger than its bucket. The caller holds cmd.
func (r *Run) reshape() error {
	r.mu.Lock()
	speed := r.stated
	r.mu.Unlock()
	if !r.o.Lab || speed == 0 {
		return nil
	}
	l, err := r.dev.Link()
	if err != nil {
		return err
	}
	return r.shape(speed, l.MTU)
}

// forced says what else the knob link has turned.
func forced(was, now engine.Config) string {
	text := ""
	if was.Path != now.Path {
		text += fmt.Sprintf("; path %s -> %s: the bypass would pass the shaper by", was.Path, now.Path)
	}
	if was.Segment != now.Segment {
		text += fmt.Sprintf("; segment %s -> %s: the shaper charges a super-frame as one frame", was.Segment, now.Segment)
	}
	return text
}
