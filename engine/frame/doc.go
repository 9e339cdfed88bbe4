// Package frame turns the description of a stream into the bytes of its frames, and holds the arithmetic of frame sizes.
//
// A Spec is a value that says what frames look like: size, addresses, ports, VLAN. Build makes a Template of it, once, when a plan is
// compiled: Ethernet, VLAN tags and MPLS labels if asked, IPv4, IPv6 or ARP, UDP, TCP or ICMP, and, where it fits, the header of the kernel's
// pktgen at the start of the payload, so that Wireshark and other tools can read sequence number and time of every frame. A worker copies the template into
// its slots and then rewrites only what differs per frame with a Stamp: IP ID, sequence number, time, its own number and, by RFC
// 1624 arithmetic, the two checksums. Filter makes the receiver's counterpart, a classic BPF program that lets exactly the frames of
// a set of Specs through.
//
// Where frames are not all alike, a Packet says what changes: fields and the checksums that follow; its Next is the definition. A Mill makes the
// same frames at full speed, for one worker, of several sizes if there is a Mix.
//
// The package sends nothing, opens nothing, and knows neither rings nor rates. All but Stamp.Patch, Mill.Put
// and what they call is for set-up time and may allocate.
//
// But for a Mill, which belongs to its worker, nothing here has state: a Template belongs to who built it, and any number of goroutines may read it. A Stamp is a small value
// that one worker makes per batch and keeps on its stack.
//
// A size is the length of a frame as the kernel counts it, in bytes without FCS; L and Wire give the other two.
package frame
