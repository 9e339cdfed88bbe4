package tpacket

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// SleepUntil blocks the calling thread until a time of CLOCK_MONOTONIC in ns, or a signal. It is here because it needs unsafe, and for the same
// reason as Kick it does not tell the scheduler of Go: it is for waits of a millisecond at most.
func SleepUntil(ns int64) {
	ts := unix.NsecToTimespec(ns)
	_, _, _ = unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
}
