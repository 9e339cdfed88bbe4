package meter

// Line is the classic line of one epoch: it takes one sample a second and prints "instant rx:... tx:... pps n:...".
// The formulas are those of DESIGN.md section 5, The line. The zero value is an epoch without samples.
type Line struct {
	N            int
	RX, TX       float64 // instant pps
	AvgRX, AvgTX float64
	VarRX, VarTX float64
	MinTX, MaxTX float64
	sumRX, sumTX float64
}

// Add takes one sample, in pps.
func (l *Line) Add(rx, tx float64) { panic("todo") }

// String prints the line without its end, pps truncated.
func (l Line) String() string { panic("todo") }

// Warning returns "WARNING instant variation high" where the line calls for it, else "".
func (l Line) Warning() string { panic("todo") }

// Diff is the difference of two epochs, b against a.
type Diff struct {
	A, B Epoch
	NS   float64 // (1/ppsA - 1/ppsB) * 1e9: positive = B is faster
	CI95 float64 // half width
	Real bool    // the interval leaves out 0
}
