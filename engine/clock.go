package engine

import (
	"time"

	"golang.org/x/sys/unix"

	"wirespeed/engine/tpacket"
)

// clock is the time of the engine: nanoseconds of CLOCK_MONOTONIC since an origin. Reading it makes no system call (time.Since of a
// time with a monotonic reading goes through the vDSO).
type clock struct {
	base time.Time
	abs  int64 // CLOCK_MONOTONIC of base, for sleeping to an absolute time
	wall int64 // Unix time of base in ns, for the time stamps in frames
}

func newClock() clock {
	best := clock{}
	narrow := time.Duration(1 << 62)
	for range 16 { // the narrowest bracket wins: another process may run between the two reads
		base := time.Now()
		var ts unix.Timespec
		if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
			panic("engine: no CLOCK_MONOTONIC")
		}
		if took := time.Since(base); took < narrow {
			narrow = took
			best = clock{base: base, abs: ts.Nano() - int64(took/2), wall: base.UnixNano()}
		}
	}
	return best
}

// now is the time in ns.
func (c *clock) now() int64 { return int64(time.Since(c.base)) }

// rawSleep is the longest sleep of which the scheduler of Go is not told: so long a garbage collection may have to wait.
const rawSleep = 1e6

// sleep returns at time t (or before, on a signal); now is the present time. It is late by the kernel's timer slack, which workers set to 1 ns.
func (c *clock) sleep(now, t int64) {
	if t-now <= rawSleep {
		tpacket.SleepUntil(c.abs + t)
		return
	}
	ts := unix.NsecToTimespec(c.abs + t)
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil)
}
