// Package host reads what the machine, not the interface, adds to a measurement: which CPUs the process may use, how much of them it and
// its threads have used, and what else ran there.
//
// It changes nothing and keeps nothing: every function is one read of the kernel's present figures, cumulative since the thread, process or
// machine started, so callers take differences. All functions may be called from any goroutine.
package host
