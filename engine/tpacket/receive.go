package tpacket

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Layout of a block of a receive ring (struct tpacket_block_desc with tpacket_hdr_v1, include/uapi/linux/if_packet.h).
const (
	offBlockStatus = 8
	offBlockFrames = 12
	offBlockFirst  = 16

	frameHead = 48 // of struct tpacket3_hdr
)

// ReceiveRing is a receive ring of blocks in memory shared with the kernel, which fills one block after the other. It belongs to one goroutine.
type ReceiveRing struct {
	mem       []byte
	base      unsafe.Pointer
	blockSize uintptr
	blocks    int
	now       int // the block that is ours next
}

// OpenReceive sets up a receive ring (TPACKET_V3) of blocks blocks of blockSize bytes, a multiple of the page size, on the packet socket fd. The
// kernel hands over a block that is full, or retireMS milliseconds after its first frame. The socket must not be bound to a protocol yet:
// nothing may come in before filter and fanout are set.
func OpenReceive(fd uintptr, blocks, blockSize, retireMS int) (*ReceiveRing, error) {
	if err := unix.SetsockoptInt(int(fd), unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V3); err != nil {
		return nil, fmt.Errorf("PACKET_VERSION 3: %w", err)
	}
	const frameSize = 2048 // V3 does not divide blocks by it, but wants a sum that is right
	req := unix.TpacketReq3{
		Block_size: uint32(blockSize), Block_nr: uint32(blocks),
		Frame_size: frameSize, Frame_nr: uint32(blockSize / frameSize * blocks),
		Retire_blk_tov: uint32(retireMS),
	}
	if err := unix.SetsockoptTpacketReq3(int(fd), unix.SOL_PACKET, unix.PACKET_RX_RING, &req); err != nil {
		return nil, fmt.Errorf("PACKET_RX_RING of %d KiB: %w", blocks*blockSize>>10, err)
	}
	mem, err := unix.Mmap(int(fd), 0, blocks*blockSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mmap: %w", err)
	}
	return &ReceiveRing{mem: mem, base: unsafe.Pointer(unsafe.SliceData(mem)), blockSize: uintptr(blockSize), blocks: blocks}, nil
}

// Close unmaps the ring. No block may be used afterwards.
func (r *ReceiveRing) Close() error { return unix.Munmap(r.mem) }

func (r *ReceiveRing) word(off uintptr) *uint32 {
	return (*uint32)(unsafe.Add(r.base, uintptr(r.now)*r.blockSize+off))
}

// Ready says whether the kernel has handed over the next block.
func (r *ReceiveRing) Ready() bool {
	return atomic.LoadUint32(r.word(offBlockStatus))&unix.TP_STATUS_USER != 0
}

// Block returns the next block, which must be ready.
func (r *ReceiveRing) Block() Block {
	from := uintptr(r.now) * r.blockSize
	return Block{
		mem:  r.mem[from : from+r.blockSize : from+r.blockSize],
		left: int(*r.word(offBlockFrames)), at: int(*r.word(offBlockFirst)),
	}
}

// Release gives the block back to the kernel; its frames are gone. The atomic store comes after all reads of the block.
func (r *ReceiveRing) Release() {
	atomic.StoreUint32(r.word(offBlockStatus), unix.TP_STATUS_KERNEL)
	r.now++
	if r.now == r.blocks {
		r.now = 0
	}
}

// Block is a run of received frames.
type Block struct {
	mem  []byte
	left int
	at   int // of the next frame
}

// Left is how many frames have not been read yet.
func (b *Block) Left() int { return b.left }

// Received is one frame. Data is valid until the block is released, and lacks a VLAN tag that the kernel has moved to TCI and TPID.
type Received struct {
	Data   []byte
	Length int    // in bytes, as it arrived; more than Data where it was cut
	Stamp  int64  // when, CLOCK_REALTIME in ns
	Status uint32 // TP_STATUS_*
	TCI    uint32
	TPID   uint16
}

// Partial says whether the frame's transport checksum was left to a device.
func (f *Received) Partial() bool { return f.Status&unix.TP_STATUS_CSUMNOTREADY != 0 }

// Tagged says whether a VLAN tag was moved to TCI and TPID.
func (f *Received) Tagged() bool { return f.Status&unix.TP_STATUS_VLAN_VALID != 0 }

// Next reads the next frame; false after the last one.
func (b *Block) Next(f *Received) bool {
	if b.left <= 0 {
		return false
	}
	b.left--
	h := (*header)(unsafe.Pointer(unsafe.SliceData(b.mem[b.at : b.at+frameHead])))
	from := b.at + int(h.mac)
	f.Data = b.mem[from : from+int(h.snap) : from+int(h.snap)] // a wrong offset is a panic, never a look beyond the block
	f.Length = int(h.length)
	f.Stamp = int64(h.sec)*1e9 + int64(h.nsec)
	f.Status, f.TCI, f.TPID = h.status, h.tci, h.tpid
	b.at += int(h.next)
	return true
}

// header is struct tpacket3_hdr.
type header struct {
	next, sec, nsec      uint32
	snap, length, status uint32
	mac, net             uint16
	rxhash               uint32
	tci                  uint32
	tpid                 uint16
	_                    [10]byte
}

// Statistics reads and clears the counts of a receiving socket with a V3 ring: frames that passed its filter, dropped ones included, and those
// that found no room in the ring.
func Statistics(fd uintptr) (passed, dropped uint32, err error) {
	s, err := unix.GetsockoptTpacketStatsV3(int(fd), unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return 0, 0, fmt.Errorf("PACKET_STATISTICS: %w", err)
	}
	return s.Packets, s.Drops, nil
}
