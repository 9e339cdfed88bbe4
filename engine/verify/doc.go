// Package verify says what became of numbered frames: received, missing, duplicated, reordered, corrupt. It is arithmetic on bytes and
// numbers that others read from a wire; it opens nothing, knows no clock and no thread.
//
// # What is counted
//
// Every sender numbers its frames from 1 on, in the pktgen header (ours, or the kernel's net/core/pktgen.c). Parse reads and checks one
// frame; a Flow keeps the account of one sequence; a Table holds the flows of a receiver.
//
//   - Received: numbers that arrived right, each once.
//   - Missing: numbers below the highest one that have not arrived. A frame that is on the way longer than its successors is missing until it
//     comes, and reordered from then on.
//   - Duplicates: right frames whose number had arrived before.
//   - Reordered: first arrivals with a number below one that came before (RFC 4737 section 3.3), and how far: the extent (section 4.2.2) is how
//     many frames, each counted once, came since the first one with a higher number.
//   - Corrupt: frames whose length, IP header checksum or transport checksum is wrong. Their numbers are not believed, so each leaves one
//     missing: who says what was lost subtracts them.
//   - Late: right frames more than Window numbers behind the highest, or older than the sender's last start: whether they are duplicates or
//     came very late is no longer known.
//
// Numbers have 32 bits and wrap; differences are taken modulo 2^32, so a gap of up to 2^31 frames is counted right.
//
// A sender that starts again begins at 1, with a time stamp later than any before: a lower number with a later time can be nothing else, for
// a frame that was held up or copied carries the time at which it was made. Where a sender stamps no time, numbers that fall behind
// the window are taken for a restart, and a restart within it looks like duplicates.
//
// # Threading
//
// Nothing here is locked. A Table belongs to one goroutine at a time, and after the first frame of a flow it allocates nothing.
package verify
