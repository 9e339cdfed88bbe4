package engine

import (
	"slices"

	"wirespeed/engine/frame"
)

// flows are the frames of all workers, as a receiver has to know them; none where they cannot be told from those of others.
func (cfg Config) flows() []frame.Spec {
	if cfg.Load != nil {
		return cfg.Load.marks()
	}
	streams := cfg.Streams
	if len(streams) == 0 {
		streams = []Stream{{Frame: cfg.Frame}}
	}
	specs := make([]frame.Spec, 0, cfg.Queues)
	for _, s := range streams {
		for i := range cfg.Queues {
			if f := cfg.offset(s.Frame, i); !slices.Contains(specs, f) {
				specs = append(specs, f)
			}
		}
	}
	return specs
}

// Uncounted says in words why a receiver cannot count what cfg sends, "" where it can.
func (cfg Config) Uncounted() string {
	flows := cfg.flows()
	if len(flows) == 0 {
		return frame.ErrNoMarks.Error()
	}
	if _, err := frame.Filter(flows); err != nil {
		return err.Error()
	}
	return ""
}

// Counts says whether what arrives is counted, given a receiving device.
func (cfg Config) Counts() bool { return cfg.Receive && cfg.Uncounted() == "" }

// maxMarks bounds what a receiver looks for: its filter compares each frame with one after the other.
const maxMarks = 64

// marks is what a receiver knows the frames of a file by: of packets, what does not change in them; of a capture, the addresses of its Ethernet headers.
// There are none where that is too much or too little.
func (l *Load) marks() []frame.Spec {
	l.once.Do(func() {
		seen := map[[12]byte]bool{}
		add := func(p *frame.Pattern) bool {
			if p == nil || len(l.known) == maxMarks {
				l.known = nil
				return false
			}
			l.known = append(l.known, frame.Spec{Pattern: p})
			return true
		}
		for i := range l.Packets {
			if !add(l.Packets[i].Pattern()) {
				return
			}
		}
		if l.Capture == nil {
			return
		}
		all := make([]byte, 12)
		for i := range all {
			all[i] = 0xff
		}
		for i := range l.Capture.Len() {
			pair := [12]byte(l.Capture.Frame(i))
			if seen[pair] {
				continue
			}
			seen[pair] = true
			if !add(frame.NewPattern(pair[:], all)) {
				return
			}
		}
	})
	return l.known
}
