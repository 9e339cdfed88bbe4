package control

import (
	"errors"

	"wirespeed/engine"
	"wirespeed/engine/frame"
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
		var errs []error
		for _, name := range segmentation(cfg) {
			undo, err := r.guard.SetFeature(name, false)
			r.offloads.keep(undo)
			if errors.Is(err, nic.ErrNotSupported) && !r.takesWhole(name) {
				err = nil
			}
			errs = append(errs, err)
		}
		err = errors.Join(errs...)
	}
	if err != nil { // the engine finds out that it cannot segment, and sends frame by frame
		r.log.add("", "segments: "+err.Error())
	}
}

// segmentation are the offloads that take super-frames of cfg whole.
func segmentation(cfg engine.Config) []string {
	if cfg.Frame.Proto == frame.TCP {
		return nic.TCPSegmentation
	}
	return nic.UDPSegmentation
}

// takesWhole says whether the device takes super-frames whole as it is.
func (r *Run) takesWhole(feature string) bool {
	f, err := r.dev.Feature(feature)
	return err == nil && f.On
}
