package control

import (
	"fmt"
	"net/netip"
	"strings"

	"wirespeed/engine"
	"wirespeed/engine/frame"
)

// sent is how long the frames were that went into the ring between two looks; where there were none, as long as they are to be. Rates in bit/s are
// made of it: in a mix, frames of an interval are not the mix as a whole. The caller holds mu.
func (r *Run) sent(a, b look) frame.Lengths {
	from, to := a.engine.Sent, b.engine.Sent
	if to.Frames > from.Frames && to.Bytes >= from.Bytes && to.L >= from.L {
		return frame.Lengths{Frames: to.Frames - from.Frames, Bytes: to.Bytes - from.Bytes, L: to.L - from.L}
	}
	return r.eng.Config().Lengths(r.engDev)
}

// destination says where the frames go: "02:00:00:00:00:fe 198.18.0.2:9".
func destination(cfg engine.Config) string {
	f := cfg.Frame
	switch {
	case cfg.Load != nil:
		return "where " + cfg.Load.Name + " says"
	case f.Hex != "":
		return "where hex says"
	case !f.Proto.Ports():
		return fmt.Sprintf("%s %s %s", f.DstMAC, f.Proto, f.DstIP)
	}
	return fmt.Sprintf("%s %s", f.DstMAC, netip.AddrPortFrom(f.DstIP, f.DstPort))
}

// sayContent says what an operator would not see from the knobs alone: what of a file is not sent, what a receiver cannot count, what segments
// cannot carry.
func (r *Run) sayContent(was, cfg engine.Config) {
	r.mu.Lock()
	dev := r.engDev
	r.mu.Unlock()
	if l := cfg.Load; l != nil && l != was.Load {
		r.log.add("", l.Name+": "+l.About())
		if left := l.Left(dev); len(left) > 0 {
			r.log.add("", l.Name+": not sent: "+strings.Join(left, ", "))
		}
		for i, n := range l.Notes {
			if i == maxNotes {
				r.log.add("", fmt.Sprintf("%s: %d notes more", l.Name, len(l.Notes)-i))
				break
			}
			r.log.add("", n)
		}
	}
	if why := cfg.Uncounted(); cfg.Receive && why != "" && (!was.Receive || was.Uncounted() != why) {
		r.log.add("", "what arrives is not counted: "+why)
	}
	if why := cut(cfg); why != "" && why != cut(was) {
		r.log.add("", "bursts leave as single frames: "+why+", which segments cannot carry")
	}
}

// maxNotes bounds what is said of one file.
const maxNotes = 5

// cut is why bursts that would be super-frames are none, "" where they are, or were never to be.
func cut(cfg engine.Config) string {
	if cfg.Burst < 2 || cfg.Path != engine.QdiscPath || cfg.Segment == engine.SegmentOff {
		return ""
	}
	return cfg.Uncut()
}
