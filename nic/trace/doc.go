// Package trace sees frames at the kernel's trace points, through perf events read from memory that is shared with the kernel: how many a queueing
// discipline hands over at once (Bulk), and how long and how many a device owns (Device).
//
// It needs the rights of the machine's root (CAP_PERFMON in the first user namespace) and changes nothing: what it opens ends with it. Tracing costs the
// traced frames time; whoever uses this package says how much. It knows no engine and draws nothing.
//
// Trace points know no namespaces: a device of the same name (Device) or number (Bulk) in another one is seen as well.
//
// A Tracer belongs to one goroutine. This package is one of the two homes of unsafe: ring.go.
package trace
