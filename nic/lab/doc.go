// Package lab makes the embedded lab: a veth pair in network, mount and (where the rights are missing) user namespaces of its own, so
// that real frames go through real kernel rings without root and without touching the host.
//
// A program cannot move into a user namespace once it has threads, and a Go program always has: so it starts itself again. The parent
// prepares the child with Command, the child calls Enter before anything else that looks at the network or at /sys, then Pair. Nothing is
// left to clean up: the namespaces, with the devices and mounts in them, end with the last process inside, however it ends.
//
// The package does not start, supervise or signal processes, and it sends nothing. It keeps no state; Command belongs to the goroutine
// that starts the child, Enter to the child's start (mounts and sysctls are of the whole process, so any thread will do), Pair may be
// called from any goroutine.
package lab
