package control

import (
	"errors"

	"wirespeed/engine"
	"wirespeed/nic"
)

// prepareSegments sees to it, before super-frames are sent, that they are cut by whom the operator chose: a device that takes them whole is told
// not to, for as long as the run lasts. (Not only for as long as bursts are segmented: one still on its way would be taken whole.) The caller
// holds cmd.
func (r *Run) prepareSegments(cfg engine.Config) {
	var err error
	switch {
	case cfg.Segment == engine.SegmentDevice:
		err = r.offloads.restore()
	case cfg.Segmentable():
		var undo func() error
		undo, err = r.guard.SetFeature(nic.FeatureUDPSegmentation, false)
		r.offloads.keep(undo)
		if errors.Is(err, nic.ErrNotSupported) && !r.takesWhole() {
			err = nil
		}
	}
	if err != nil { // the engine finds out that it cannot segment, and sends frame by frame
		r.log.add("", "segments: "+err.Error())
	}
}

// takesWhole says whether the device takes super-frames whole as it is.
func (r *Run) takesWhole() bool {
	f, err := r.dev.Feature(nic.FeatureUDPSegmentation)
	return err == nil && f.On
}
