// Package tpacket is the mmap rings of AF_PACKET (TPACKET_V3), for transmitting and for receiving, and the one room of the program that uses unsafe.
//
// It knows slots, their status words and the virtio_net_hdr in front of each frame; it knows nothing of frames, rates or workers.
// A Ring belongs to one goroutine, which alone fills and posts slots; the kernel is the only other party, and the status word
// (read and written atomically) says which of the two owns a slot. The socket stays the caller's: close it after the ring.
//
// Facts used here are those of packet(7), Documentation/networking/packet_mmap.rst and net/packet/af_packet.c.
package tpacket
