package frame

import "math/big"

// Lengths is how long the frames of a stream are, on the weighted mean: the sums over one round of it, or over an interval that was measured. All rates
// in bit/s and percent are of it (DESIGN.md section 5: mixes use the weighted mean L).
type Lengths struct {
	Frames uint64
	Bytes  uint64 // of these frames, without FCS
	L      uint64 // of these frames, with FCS and padding
}

// OneSize is the lengths of frames that all have size bytes without FCS.
func OneSize(size int) Lengths { return Lengths{1, uint64(size), uint64(L(size))} }

// Plus adds up, weighted by frames.
func (l Lengths) Plus(o Lengths) Lengths {
	return Lengths{l.Frames + o.Frames, l.Bytes + o.Bytes, l.L + o.L}
}

// Times are the lengths of n rounds.
func (l Lengths) Times(n uint64) Lengths { return Lengths{l.Frames * n, l.Bytes * n, l.L * n} }

// wire is what a round takes on the wire, in byte times.
func (l Lengths) wire() uint64 { return l.L + l.Frames*(Preamble+Gap) }

// WireBits is what a frame takes on the wire on the mean, in bit times, exactly. There must be a frame.
func (l Lengths) WireBits() *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(8*l.wire()), new(big.Int).SetUint64(l.Frames))
}

// FrameBits is a frame with its FCS on the mean, in bits, exactly. There must be a frame.
func (l Lengths) FrameBits() *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(8*l.L), new(big.Int).SetUint64(l.Frames))
}

// MaxPPS is the most frames per second on a link of speed bit/s, exactly; it is the caller's own to change.
func (l Lengths) MaxPPS(speed uint64) *big.Rat {
	r := new(big.Rat).SetUint64(speed)
	return r.Quo(r, l.WireBits())
}

// BpsL1 is what pps frames take of a link, in bit/s, preamble and gap included.
func (l Lengths) BpsL1(pps float64) float64 { return pps * 8 * float64(l.wire()) / float64(l.Frames) }

// BpsL2 is the same in bit/s of frames with their FCS.
func (l Lengths) BpsL2(pps float64) float64 { return pps * 8 * float64(l.L) / float64(l.Frames) }

// Size is the mean size in bytes without FCS.
func (l Lengths) Size() float64 { return float64(l.Bytes) / float64(l.Frames) }

// Lengths are those of the frames of s.
func (s Spec) Lengths() Lengths {
	if s.Sizes != nil {
		return s.Sizes.lengths
	}
	return OneSize(s.Size)
}

// At is s with frames of one size.
func (s Spec) At(size int) Spec {
	s.Size, s.Sizes = size, nil
	return s
}
