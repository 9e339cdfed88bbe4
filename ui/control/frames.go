package control

import (
	"fmt"
	"time"

	"wirespeed/engine"
	"wirespeed/engine/frame"
	"wirespeed/presets/knob"
)

// FrameView is one frame as it is sent.
type FrameView struct {
	What   string // which frame: "frame 12 of the stream"
	Bytes  []byte
	Size   int // bytes without FCS, with it, and on the wire
	FCS    int
	Wire   int
	Layers []frame.Layer // what another's decoders make of it
}

// NextFrame is frame n, from 0, of what a bench sends, as it would leave at a time: of several streams or packets in turn, of one worker. Its
// checksums are those of the frame on the wire.
func NextFrame(b *knob.Bench, n uint64, at time.Time) (FrameView, error) {
	out, what, err := frameOf(b.Config, n, at)
	if err != nil {
		return FrameView{}, err
	}
	return FrameView{
		What: what, Bytes: out, Size: len(out), FCS: frame.L(len(out)), Wire: frame.Wire(len(out)), Layers: frame.Decode(out),
	}, nil
}

func frameOf(cfg engine.Config, n uint64, at time.Time) (out []byte, what string, err error) {
	spec, seq := cfg.Frame, n
	what = fmt.Sprintf("frame %d", n+1)
	switch load := cfg.Load; {
	case load != nil && load.Capture != nil && load.Capture.Len() > 0:
		i := n % uint64(load.Capture.Len())
		return load.Capture.Frame(int(i)), fmt.Sprintf("record %d of %d", i+1, load.Capture.Len()), nil
	case load != nil && len(load.Packets) > 0:
		k := uint64(len(load.Packets))
		p := &load.Packets[n%k]
		out = make([]byte, len(p.Bytes))
		p.Next(out, n/k)
		return out, fmt.Sprintf("packet %d of %d, its frame %d", n%k+1, k, n/k+1), nil
	case len(cfg.Streams) > 0:
		k := uint64(len(cfg.Streams))
		spec, seq = cfg.Streams[n%k].Frame, n/k
		what = fmt.Sprintf("stream %s, its frame %d", cfg.Streams[n%k].Name, seq+1)
	}
	m, err := frame.NewMill(spec, 0, 1)
	if err != nil {
		return nil, "", err
	}
	m.Seek(seq)
	out = make([]byte, m.Size())
	moment := frame.NewMoment(uint32(at.Unix()), uint32(at.Nanosecond()/1000), 0)
	m.Put(out, 0, &moment, uint32(seq+1), uint32(seq+1))
	return out, what, nil
}
