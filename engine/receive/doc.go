// Package receive takes in the frames that arrive at a device and says what became of them: a Counter counts them at no cost worth speaking of,
// a Receiver reads each one from an AF_PACKET mmap ring, checks it (package verify) and measures how long it was on its way.
//
// It sends nothing and changes nothing of the device. Sockets are opened with protocol 0 and get ring, filter and fanout before they hear a
// frame; what the device itself sends is never counted (PACKET_IGNORE_OUTGOING, and the filter).
//
// # Loss is not what we did not see
//
// The kernel counts the frames that pass the filter, those included that find the ring full. The latter arrived: they are Snapshot.NotSeen, and a
// number that is missing for their sake is never Lost.
//
// # Threading
//
// Each ring has a reader, a goroutine on a thread of its own that is kept off the CPUs of the sender where there are others. Frames are dealt out
// to the rings by the number of the sending worker, so that each sequence is read by one reader, in the order in which the kernel took
// it: with a deal by CPU or hash two readers would have to agree on what came first. A reader holds its lock for the time of one block of
// the ring; whoever takes a Snapshot waits for that, about a millisecond at most.
//
// # Latency
//
// From the time that the sender noted when it began the frame's batch, to the kernel's time stamp at the packet tap. Both are read from one
// machine's clocks; between two machines there is no latency without knowing the difference of their clocks, and none is shown.
package receive
