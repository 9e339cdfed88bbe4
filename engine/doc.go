// Package engine sends frames through AF_PACKET mmap transmit rings, one pinned worker per queue, and counts what arrives.
//
// It does not know interfaces beyond the values in Device, reads no device counters, changes no setting of a NIC, and draws nothing.
//
// # Data flow
//
// Down: a Config (an immutable value) is compiled into a plan for each worker and published through one atomic pointer, which the worker
// reads once per batch. Up: a worker keeps its figures in fields that it alone touches and publishes them once per batch as atomics in
// cache lines of its own; Snapshot reads those. On the way of a frame there is no allocation, lock, log, defer, interface call or clock
// read; the clock is read twice per batch.
//
// # Threading
//
// Each worker is a goroutine on a thread of its own, pinned to one CPU. It alone touches its ring. Engine's methods may be called from
// any goroutine; they take a mutex that no worker ever waits for.
//
// # Counts
//
// ring: frames put into slots. taken: slots that came back, which says only that the kernel let go of the frame. What left is the device's
// counter, what arrived only a receiver knows (DESIGN.md section 4).
package engine
