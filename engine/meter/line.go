package meter

import (
	"fmt"
	"math"
)

// The rules of the classic line.
const (
	quietSamples = 10 // smallest and largest variation stay 0 so long
	minAverage   = 10 // pps; below it a variation says nothing
	highNS       = 2  // a TX variation above it is warned of
)

// Line is the classic line of one epoch: it takes one sample a second and prints "instant rx:... tx:... pps n:...".
// The formulas are those of DESIGN.md section 5, The line. The zero value is an epoch without samples.
type Line struct {
	N            int
	RX, TX       float64 // instant pps
	AvgRX, AvgTX float64
	VarRX, VarTX float64
	MinTX, MaxTX float64
	sumRX, sumTX float64
	nRX          int  // samples with a known RX
	noRX         bool // RX of the present sample is not known
}

// Add takes one sample, in pps. A negative or infinite number, or NaN, says that it is not known: without rx the line prints "-" in its
// place and averages over the samples that have one; without tx there is no sample, and nothing changes.
func (l *Line) Add(rx, tx float64) {
	if !known(tx) {
		return
	}
	l.N++
	l.TX = tx
	l.sumTX += tx
	l.AvgTX = l.sumTX / float64(l.N)
	l.VarTX = variation(l.AvgTX, tx)
	if l.N > quietSamples {
		l.MinTX = min(l.MinTX, l.VarTX)
		l.MaxTX = max(l.MaxTX, l.VarTX)
	}

	l.noRX = !known(rx)
	if l.noRX {
		l.RX, l.VarRX = 0, 0
		return
	}
	l.nRX++
	l.RX = rx
	l.sumRX += rx
	l.AvgRX = l.sumRX / float64(l.nRX)
	l.VarRX = variation(l.AvgRX, rx)
}

// known says whether a rate is one. The bound is far above any link and keeps sums finite.
func known(pps float64) bool { return pps >= 0 && pps < 1e30 }

// variation is how much less time than on average the packets of a sample took, in ns per packet.
func variation(average, instant float64) float64 {
	if average <= minAverage || instant <= 0 {
		return 0
	}
	return 1e9/average - 1e9/instant
}

// String prints the line without its end, pps truncated.
func (l Line) String() string {
	rx, avg, vari := "-", "-", "-"
	if !l.noRX {
		rx, vari = whole(l.RX), fmt.Sprintf("%.3f", l.VarRX)
	}
	if l.nRX > 0 || l.N == 0 {
		avg = whole(l.AvgRX)
	}
	return fmt.Sprintf("instant rx:%s tx:%s pps n:%d average: rx:%s tx:%s pps (instant variation TX %.3f ns (min:%.3f max:%.3f) RX %s ns)",
		rx, whole(l.TX), l.N, avg, whole(l.AvgTX), l.VarTX, l.MinTX, l.MaxTX, vari)
}

func whole(v float64) string { return fmt.Sprintf("%.0f", math.Trunc(v)) }

// Warning returns "WARNING instant variation high" where the line calls for it, else "".
func (l Line) Warning() string {
	if l.VarTX > highNS {
		return "WARNING instant variation high"
	}
	return ""
}
