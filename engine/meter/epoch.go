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
	Memory   float64 // how far a sample's time resembles the one before, 0 to 0.95: its correlation, leaning to the safe side where samples are few
}

// EpochBuilder adds up the samples of one epoch.
type EpochBuilder struct {
	e               Epoch
	frames, seconds float64
	squares         float64 // sum of squared differences from the mean
	last            float64 // time of the sample before
	moves           float64 // sum of squared differences from the sample before
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
	move := ns - b.last
	b.last = ns
	if e.Timed == 1 {
		e.MinNS, e.MaxNS = ns, ns
		return
	}
	e.StdDevNS = math.Sqrt(b.squares / float64(e.Timed-1))
	e.MinNS = min(e.MinNS, ns)
	e.MaxNS = max(e.MaxNS, ns)
	b.moves += move * move
	e.Memory = memory(b.moves, b.squares, e.Timed)
}

// memory is the correlation of neighbours from the ratio of mean square successive difference to variance (J. von Neumann, Distribution of the Ratio
// of the Mean Square Successive Difference to the Variance, Annals of Mathematical Statistics 12, 1941), which in n samples comes out too small by
// about (1 + 3 r)/n (M. G. Kendall, Note on Bias in the Estimation of Autocorrelation, Biometrika 41, 1954). Eight tenths of that are put back: with
// all of it the interval of five independent samples would be four times as wide as it need be.
func memory(moves, squares float64, n int) float64 {
	if n < 3 || !(squares > 0) {
		return 0 // two say nothing
	}
	r := 1 - moves/(2*squares)
	r += 0.8 * (1 + 3*r) / float64(n)
	return max(0, min(r, 0.95))
}

// Epoch returns what the samples so far say.
func (b *EpochBuilder) Epoch() Epoch { return b.e }
