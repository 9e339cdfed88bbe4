// Package pcap reads pcap and pcapng files whole, to be sent again: the frames' bytes in one piece of memory, and 16 bytes of index and time for
// each record, so that millions of them are no slower to send than one.
//
// What cannot be sent as it was is left out and counted: records that were cut when they were captured, that are too short for an Ethernet
// header, and a last record that the file breaks off in. A file that is no capture, or not one of Ethernet, or too large for memory, is refused with one line.
//
// A File is immutable; any number of goroutines may read it. The file itself is not needed any more once it has been read.
package pcap
