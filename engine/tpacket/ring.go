package tpacket

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Layout of a slot: struct tpacket3_hdr (48 bytes), on a transmit ring at once followed by the data (TPACKET3_HDRLEN minus
// sizeof(struct sockaddr_ll), af_packet.c tpacket_parse_header), which starts with struct virtio_net_hdr under PACKET_VNET_HDR.
const (
	offLen    = 16 // tp_len
	offStatus = 20 // tp_status
	offVnet   = 48
	vnetLen   = 10
	offFrame  = offVnet + vnetLen

	offHdrLen = offVnet + 2 // virtio_net_hdr.hdr_len

	slotAlign = 64 // a cache line: neighbours share none, and 64 slots fill whole pages
	blockMul  = 64 // slots per block; slot size * 64 is a multiple of 4096 for every slot size that is a multiple of 64
)

// statusOwned are the bits that say the kernel has, or is about to take, a slot. Time stamp bits may stay behind in a free one.
const statusOwned = unix.TP_STATUS_SEND_REQUEST | unix.TP_STATUS_SENDING

// Ring is a transmit ring of equal slots in memory shared with the kernel. Slots are numbered from 0 and must be posted in that
// order, around and around: the kernel stops at the first one that is not posted.
type Ring struct {
	base     unsafe.Pointer
	slots    uintptr
	slotSize uintptr
	maxFrame int
	fd       uintptr
	mem      []byte
}

// Open sets up PACKET_VNET_HDR and a transmit ring of at least slots slots on the packet socket fd, each with room for a frame of
// maxFrame bytes. The socket must be bound to its device with protocol 0. Errors wrap the errno: ENOMEM, EPERM, EINVAL.
func Open(fd uintptr, slots, maxFrame int) (*Ring, error) {
	// Packet sockets copy nothing of a frame they cannot account for: the send buffer bounds the frames in flight. Without
	// CAP_NET_ADMIN in the host's namespace only net.core.wmem_max can be had; that slows, and breaks nothing.
	const sndbuf = 1 << 28
	if unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, sndbuf) != nil {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF, sndbuf)
	}
	if err := unix.SetsockoptInt(int(fd), unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V3); err != nil {
		return nil, fmt.Errorf("PACKET_VERSION 3: %w", err)
	}
	if err := unix.SetsockoptInt(int(fd), unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1); err != nil {
		return nil, fmt.Errorf("PACKET_VNET_HDR: %w", err)
	}
	size := (offFrame + maxFrame + slotAlign - 1) / slotAlign * slotAlign
	// An odd number of cache lines spreads the slots over all sets of the caches; a power of two would pile them up in a few.
	if size/slotAlign%2 == 0 {
		size += slotAlign
	}
	blocks := (slots + blockMul - 1) / blockMul
	req := unix.TpacketReq3{
		Block_size: uint32(size * blockMul),
		Block_nr:   uint32(blocks),
		Frame_size: uint32(size),
		Frame_nr:   uint32(blocks * blockMul),
	}
	if err := unix.SetsockoptTpacketReq3(int(fd), unix.SOL_PACKET, unix.PACKET_TX_RING, &req); err != nil {
		return nil, fmt.Errorf("PACKET_TX_RING: %w", err)
	}
	mem, err := unix.Mmap(int(fd), 0, size*blockMul*blocks, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mmap: %w", err)
	}
	return &Ring{
		base:     unsafe.Pointer(unsafe.SliceData(mem)),
		slots:    uintptr(blocks * blockMul),
		slotSize: uintptr(size),
		maxFrame: size - offFrame,
		fd:       fd,
		mem:      mem,
	}, nil
}

// Close unmaps the ring. No slot may be used afterwards.
func (r *Ring) Close() error { return unix.Munmap(r.mem) }

// Slots returns how many slots there are.
func (r *Ring) Slots() int { return int(r.slots) }

// MaxFrame returns the longest frame, in bytes without FCS, that a slot holds.
func (r *Ring) MaxFrame() int { return r.maxFrame }

func (r *Ring) at(slot int, off uintptr) unsafe.Pointer {
	if uintptr(slot) >= r.slots { // also keeps a wrong index from ever leaving the mapping
		panic("tpacket: slot out of range")
	}
	return unsafe.Add(r.base, uintptr(slot)*r.slotSize+off)
}

func (r *Ring) status(slot int) *uint32 { return (*uint32)(r.at(slot, offStatus)) }

// Look says whether the kernel has let go of a slot, which only then may be written, and whether it stopped there because it could not make a frame
// of it (TP_STATUS_WRONG_FORMAT).
func (r *Ring) Look(slot int) (free, refused bool) {
	s := atomic.LoadUint32(r.status(slot))
	return s&statusOwned == 0, s&unix.TP_STATUS_WRONG_FORMAT != 0
}

// Free is the first half of Look.
func (r *Ring) Free(slot int) bool {
	free, _ := r.Look(slot)
	return free
}

// Refused is the other half.
func (r *Ring) Refused(slot int) bool {
	_, refused := r.Look(slot)
	return refused
}

// Frame returns the n bytes of a free slot's frame, to be written.
func (r *Ring) Frame(slot, n int) []byte {
	if uint(n) > uint(r.maxFrame) {
		panic("tpacket: frame longer than the slot")
	}
	return unsafe.Slice((*byte)(r.at(slot, offFrame)), n)
}

// SetLinear describes a free slot as one frame of n bytes that the kernel shall copy into the linear part of its buffer: hdr_len = n,
// no offload (include/linux/virtio_net.h). It has to be called again only when the length changes.
func (r *Ring) SetLinear(slot, n int) {
	h := unsafe.Slice((*byte)(r.at(slot, offVnet)), vnetLen)
	clear(h)
	*(*uint16)(r.at(slot, offHdrLen)) = uint16(n)
	*(*uint32)(r.at(slot, offLen)) = uint32(n + vnetLen)
}

// Post gives a filled slot to the kernel, which looks at it on the next Kick. The atomic store orders all writes of the slot before it.
func (r *Ring) Post(slot int) { atomic.StoreUint32(r.status(slot), unix.TP_STATUS_SEND_REQUEST) }

// Stage is Post for all slots of a batch but its first, which is posted last. The kernel walks in order and stops at the first slot that is not
// requested, so the one atomic store of Post publishes all that was staged behind it; one for each slot would cost as much as all other work on it.
func (r *Ring) Stage(slot int) { *r.status(slot) = unix.TP_STATUS_SEND_REQUEST }

// Kick has the kernel send what is posted, without waiting for it. 0 is success; ENOBUFS and EAGAIN may come after some frames
// left, so nothing but the slots themselves tells what did.
//
// It is a raw system call, of which the scheduler of Go is not told. An ordinary one gives the processor of a goroutine that has run for 10 ms away each time
// (retake in runtime/proc.go), which keeps the runtime's monitor awake at 20 us: 3 to 5 % of a CPU. The price is that the garbage collector waits for
// the kick to return: a batch, some hundred microseconds at most.
func (r *Ring) Kick() syscall.Errno {
	_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, r.fd, 0, 0, unix.MSG_DONTWAIT, 0, 0)
	return errno
}

// Requested says whether a posted slot still waits to be looked at: it needs another Kick.
func (r *Ring) Requested(slot int) bool {
	return atomic.LoadUint32(r.status(slot))&unix.TP_STATUS_SEND_REQUEST != 0
}

// Segments describes a super-frame to the kernel: how it is cut and where the checksum belongs (include/linux/virtio_net.h).
type Segments struct {
	GSOType   uint8 // GSOUDP, GSOTCP4 or GSOTCP6
	GSOSize   int   // payload bytes of each frame
	SumStart  int   // where the checksummed part begins, from the start of the frame
	SumOffset int   // where the checksum stands in it
}

// The kinds of super-frames (VIRTIO_NET_HDR_GSO_...); packet sockets know UDP_L4 since kernel 6.2.
const (
	GSOTCP4 = 1
	GSOTCP6 = 4
	GSOUDP  = 5
)

// SetSegmented describes a free slot as a super-frame of n bytes. hdr_len = n has the kernel copy all of it into the linear part, which is
// faster than referring to the ring's pages (KERNEL.md).
func (r *Ring) SetSegmented(slot, n int, s Segments) {
	const needsSum = 1 // VIRTIO_NET_HDR_F_NEEDS_CSUM
	h := unsafe.Slice((*byte)(r.at(slot, offVnet)), vnetLen)
	h[0], h[1] = needsSum, s.GSOType
	for i, v := range [...]int{n, s.GSOSize, s.SumStart, s.SumOffset} {
		binary.NativeEndian.PutUint16(h[2+2*i:], uint16(v))
	}
	*(*uint32)(r.at(slot, offLen)) = uint32(n + vnetLen)
}

// SetPlain describes a free slot as one frame of n bytes of which the kernel copies the Ethernet header only and refers to the ring's pages
// for the rest.
func (r *Ring) SetPlain(slot, n int) {
	clear(unsafe.Slice((*byte)(r.at(slot, offVnet)), vnetLen))
	*(*uint32)(r.at(slot, offLen)) = uint32(n + vnetLen)
}
