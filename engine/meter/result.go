package meter

import (
	"fmt"
	"math/big"
	"time"
)

// Result is the end of a run in the classic form of the kernel's generator, two lines without the last line's end:
//
//	Result: OK: 70408581(c70405979+d2602) usec, 100000000 (60byte,0frags)
//	  1420281pps 681Mb/sec (681734880bps) errors: 0
//
// d is the part of total that was spent waiting for the schedule, c the rest. All is truncated, and bits are those of the frames without
// FCS, as the classic counts. size is in bytes without FCS.
func Result(total, waited time.Duration, packets uint64, size int, errors uint64) string {
	return ResultOf(total, waited, packets, 1, uint64(max(0, size)), errors)
}

// ResultOf is Result for frames that are not all of one size: frames of them had so many bytes. The size printed is their mean, rounded, and bits are
// those of the bytes.
func ResultOf(total, waited time.Duration, packets, frames, bytes, errors uint64) string {
	total = max(0, total)
	waited = min(max(0, waited), total)
	t, d := total.Microseconds(), waited.Microseconds()

	// Integers of any size: 1e13 packets times 1e9 is far beyond 64 bits.
	pps := new(big.Int)
	if total > 0 {
		pps.SetUint64(packets)
		pps.Mul(pps, big.NewInt(int64(time.Second)))
		pps.Quo(pps, big.NewInt(int64(total)))
	}
	frames = max(1, frames)
	size := (bytes + frames/2) / frames
	bps := new(big.Int).Mul(pps, new(big.Int).SetUint64(bytes))
	bps.Mul(bps, big.NewInt(8)).Quo(bps, new(big.Int).SetUint64(frames))
	mbps := new(big.Int).Quo(bps, big.NewInt(1e6))
	return fmt.Sprintf("Result: OK: %d(c%d+d%d) usec, %d (%dbyte,0frags)\n  %dpps %dMb/sec (%dbps) errors: %d",
		t, t-d, d, packets, size, pps, mbps, bps, errors)
}
