package meter

import "math"

// Epoch is the time between two changes: what its valid samples say. Times are ns per packet.
type Epoch struct {
	Number int
	Label  string // what began it: "start", "burst 8", "link up"
	Mark   string // the name it is kept by, "" if it is not

	N        int     // valid samples
	PPS      float64 // mean: all frames over all time
	Timed    int     // samples with any frames; only they have a time per packet, and the times below are theirs
	MeanNS   float64 // of the samples' times; 0 without any
	StdDevNS float64 // of one sample (n-1); 0 with fewer than two
	MinNS    float64
	MaxNS    float64
}

// EpochBuilder adds up the samples of one epoch.
type EpochBuilder struct {
	e               Epoch
	frames, seconds float64
	squares         float64 // sum of squared differences from the mean
}

// NewEpoch begins an epoch without samples.
func NewEpoch(number int, label string) *EpochBuilder {
	return &EpochBuilder{e: Epoch{Number: number, Label: label}}
}

// Add takes one sample: its rate, and the interval it was measured over, in seconds. A sample that cannot be true (a negative or infinite
// rate, NaN, no time) is left out. One without frames counts for the mean rate and for no time per packet, which it does not have.
func (b *EpochBuilder) Add(pps, seconds float64) {
	if !known(pps) || !(seconds > 0) || math.IsInf(seconds, 0) {
		return
	}
	e := &b.e
	e.N++
	b.frames += pps * seconds
	b.seconds += seconds
	e.PPS = b.frames / b.seconds

	ns := 1e9 / pps
	if math.IsInf(ns, 0) {
		return
	}
	// Welford: the plain sum of squares would lose what counts, fractions of a ns in hundreds of them
	// (B. P. Welford, Note on a Method for Calculating Corrected Sums of Squares and Products, Technometrics 4, 1962).
	e.Timed++
	d := ns - e.MeanNS
	e.MeanNS += d / float64(e.Timed)
	b.squares += d * (ns - e.MeanNS)
	if e.Timed == 1 {
		e.MinNS, e.MaxNS = ns, ns
		return
	}
	e.StdDevNS = math.Sqrt(b.squares / float64(e.Timed-1))
	e.MinNS = min(e.MinNS, ns)
	e.MaxNS = max(e.MaxNS, ns)
}

// Epoch returns what the samples so far say.
func (b *EpochBuilder) Epoch() Epoch { return b.e }
