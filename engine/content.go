package engine

import (
	"errors"
	"fmt"
	"math/big"
	"sync"

	"wirespeed/engine/frame"
)

// Stream is one of several streams in a run.
type Stream struct {
	Name   string
	Set    string // what makes it differ from the other streams, as it was entered; the engine only keeps it
	Frame  frame.Spec
	Weight uint64 // its frames for each round of all streams, at least 1; without meaning where it has a Rate
	Rate   *Rate  // its own rate; either all streams have one, or none has. Not max
}

// MaxStreams bounds the streams of a run.
const MaxStreams = 16

// maxWeights bounds the weights of all streams together: it is a round, frame by frame.
const maxWeights = 1 << 16

// Load is what a file holds, to be sent as it is in the place of what the knobs of the frame say. It is immutable and compared by its address.
type Load struct {
	Name    string         // of the file, as the operator wrote it
	Packets []frame.Packet // of a trafgen file, in turn
	Capture *Capture       // nil where there are Packets
	Notes   []string       // what an operator will wonder about, a line each

	once  sync.Once
	known []frame.Spec // see marks
}

// validateContent says in one line why what is to be sent does not fit on dev.
func (cfg Config) validateContent(dev Device) error {
	if err := cfg.validateReplay(); err != nil {
		return err
	}
	if cfg.Load != nil {
		return cfg.Load.validate(cfg, dev)
	}
	if len(cfg.Streams) == 0 {
		return validateSpec(cfg.Frame, dev)
	}
	if len(cfg.Streams) > MaxStreams {
		return fmt.Errorf("%d streams: at most %d", len(cfg.Streams), MaxStreams)
	}
	weights := uint64(0)
	for _, s := range cfg.Streams {
		if err := validateSpec(s.Frame, dev); err != nil {
			return fmt.Errorf("stream[%s]: %w", s.Name, err)
		}
		if (s.Rate == nil) != (cfg.Streams[0].Rate == nil) {
			return fmt.Errorf("stream[%s]: either all streams have a rate of their own, or none has: give each a rate, or weights", s.Name)
		}
		if s.Rate != nil {
			pps, err := s.Rate.PPSOf(s.Frame.Lengths(), dev)
			if err != nil {
				return fmt.Errorf("stream[%s]: %w", s.Name, err)
			}
			if pps == nil {
				return fmt.Errorf("stream[%s]: rate max is not for one of several streams: give it a rate, or all of them weights", s.Name)
			}
		}
		if weights += s.Weight; s.Weight < 1 || weights > maxWeights {
			return fmt.Errorf("stream[%s]: weight %d: from 1, and at most %d in all", s.Name, s.Weight, maxWeights)
		}
	}
	return nil
}

// validateSpec says in one line why frames of f cannot be sent on dev.
func validateSpec(f frame.Spec, dev Device) error {
	if limit := frame.MaxSize(dev.MTU, f.VLAN); f.Size > limit {
		return sizeError(f, dev, limit)
	}
	least := frame.MinSize(f)
	if f.Sizes != nil && f.Least() < least {
		return fmt.Errorf("size %s: the smallest of them has %d bytes, and frames with these headers have %d at least (%d with FCS): choose other sizes", f.Sizes, f.Least(), least, frame.L(least))
	}
	if f.Least() < least {
		return fmt.Errorf("size %d: the smallest frame with these headers has %d bytes (%d with FCS): set size %[2]d first", f.Least(), least, frame.L(least))
	}
	if f.DstMAC == (frame.MAC{}) && f.Hex == "" {
		return errors.New("dst-mac is not set: give --dst-mac 02:00:00:00:00:01, or --rx DEV to send to that device")
	}
	if f.VLAN > MaxVLAN {
		return fmt.Errorf("vlan %d: 1 to %d, or none", f.VLAN, MaxVLAN)
	}
	return f.Validate()
}

func sizeError(f frame.Spec, dev Device, limit int) error {
	tag := ""
	if f.VLAN == 0 {
		tag = fmt.Sprintf("; %d with a VLAN tag", frame.MaxSize(dev.MTU, 1))
	}
	return fmt.Errorf("size %d: the limit on %s is %d (MTU %d%s): ask for less, or raise the MTU", f.Size, dev.Name, limit, dev.MTU, tag)
}

// Uncut says in words why bursts of cfg are not cut from super-frames whatever the path, "" where they can be.
func (cfg Config) Uncut() string {
	switch {
	case cfg.Load != nil:
		return "frames of a file"
	case len(cfg.Streams) > 0:
		return "several streams"
	}
	return cfg.Frame.Why()
}

// mixed says whether frames differ in more than a plan's template can say.
func (cfg Config) mixed() bool {
	f := cfg.Frame
	return cfg.Load != nil || len(cfg.Streams) > 0 || f.Sizes != nil || f.Vary != frame.Vary{} || f.Flows > 1 || f.Proto != frame.UDP && f.Hex == ""
}

// Lengths are those of the frames of cfg, weighted as they are sent.
func (cfg Config) Lengths(dev Device) frame.Lengths {
	switch {
	case cfg.Load != nil:
		return cfg.Load.lengths(dev)
	case len(cfg.Streams) == 0:
		return cfg.Frame.Lengths()
	}
	// Streams have rounds of different lengths: all are brought to one, which is exact where it is small and one in a million off where it is not.
	const round = 1 << 20
	var sum frame.Lengths
	for i, w := range cfg.weights(dev) {
		l := cfg.Streams[i].Frame.Lengths()
		if cfg.Streams[i].Frame.Sizes == nil {
			sum = sum.Plus(l.Times(round * w))
			continue
		}
		sum = sum.Plus(frame.Lengths{Frames: round, Bytes: mulDiv(l.Bytes, round, l.Frames), L: mulDiv(l.L, round, l.Frames)}.Times(w))
	}
	return sum
}

// weights are how many frames each stream sends of those of all.
func (cfg Config) weights(dev Device) []uint64 {
	weights := make([]uint64, len(cfg.Streams))
	if cfg.Streams[0].Rate == nil {
		for i, s := range cfg.Streams {
			weights[i] = s.Weight
		}
		return weights
	}
	// In parts of the fastest, so that the product with a length cannot overflow.
	const parts = 1 << 24
	rates, top := cfg.rates(dev), new(big.Rat)
	for _, r := range rates {
		if r.Cmp(top) > 0 {
			top = r
		}
	}
	for i, r := range rates {
		f, _ := new(big.Rat).Quo(r, top).Float64()
		weights[i] = max(1, uint64(f*parts+0.5))
	}
	return weights
}

// rates are those of streams that have their own, in pps. cfg is valid.
func (cfg Config) rates(dev Device) []*big.Rat {
	rates := make([]*big.Rat, len(cfg.Streams))
	for i, s := range cfg.Streams {
		var err error
		if rates[i], err = s.Rate.PPSOf(s.Frame.Lengths(), dev); err != nil || rates[i] == nil {
			rates[i] = big.NewRat(1, 1) // refused by Validate
		}
	}
	return rates
}

// Scheduled says whether there is a time for each frame.
func (cfg Config) Scheduled() bool {
	own := cfg.Load == nil && len(cfg.Streams) > 0 && cfg.Streams[0].Rate != nil
	return own || cfg.timed() || !cfg.Rate.IsMax()
}

// PPS is how many frames cfg asks for a second, over all streams and workers, exactly; nil where it asks for as many as can be, or
// a capture's own times rule. The error is that of
// Rate.PPS.
func (cfg Config) PPS(dev Device) (*big.Rat, error) {
	if cfg.timed() {
		return nil, nil
	}
	if cfg.Load == nil && len(cfg.Streams) > 0 && cfg.Streams[0].Rate != nil {
		sum := new(big.Rat)
		for _, r := range cfg.rates(dev) {
			sum.Add(sum, r)
		}
		return sum, nil
	}
	return cfg.Rate.PPSOf(cfg.Lengths(dev), dev)
}
