// Package frame turns the description of a stream into the bytes of its frames, and holds the arithmetic of frame sizes.
//
// A Spec is a value that says what frames look like: size, addresses, ports, VLAN. Build makes a Template of it, once, when a plan is
// compiled: Ethernet, 802.1Q if asked, IPv4 or IPv6, UDP, and, where it fits, the header of the kernel's pktgen at the start of the
// UDP payload, so that Wireshark and other tools can read sequence number and time of every frame. A worker copies the template into
// its slots and then rewrites only what differs per frame with a Stamp: IP ID, sequence number, time, its own number and, by RFC
// 1624 arithmetic, the two checksums. Filter makes the receiver's counterpart, a classic BPF program that lets exactly the frames of
// a set of Specs through.
//
// The package sends nothing, opens nothing, and knows neither rings nor rates. All but Stamp.Patch and what it calls is for set-up
// time and may allocate.
//
// Nothing here has state: a Template belongs to who built it, and any number of goroutines may read it. A Stamp is a small value
// that one worker makes per batch and keeps on its stack.
//
// A size is the length of a frame as the kernel counts it, in bytes without FCS; L and Wire give the other two.
package frame
