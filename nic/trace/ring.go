package trace

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ring is the memory of one CPU's events: the kernel writes at head, we read at tail (struct perf_event_mmap_page, perf_event_open(2)). Only the
// goroutine of its Tracer reads.
type ring struct {
	page *unix.PerfEventMmapPage
	mem  []byte // the page, then data
	data []byte
	buf  []byte // for a record that goes over the end
}

// ringPages is the length of the data, a power of two: 4 MiB hold some 50,000 events, a fiftieth of a second of what one CPU does at most.
const ringPages = 1024

func openRing(fd int) (*ring, error) {
	size := unix.Getpagesize()
	mem, err := unix.Mmap(fd, 0, (1+ringPages)*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, refused("memory for trace points", err)
	}
	return &ring{page: (*unix.PerfEventMmapPage)(unsafe.Pointer(&mem[0])), mem: mem, data: mem[size:]}, nil
}

func (r *ring) close() error { return unix.Munmap(r.mem) }

// read calls f for every record that is there. What it is given is valid during the call only.
func (r *ring) read(f func(kind uint32, body []byte)) error {
	head := atomic.LoadUint64(&r.page.Data_head) // pairs with the kernel's barrier before it moves head
	tail := r.page.Data_tail
	defer func() { atomic.StoreUint64(&r.page.Data_tail, tail) }()
	for tail < head {
		rec, err := r.record(tail, head)
		if err != nil {
			tail = head
			return err
		}
		f(native.Uint32(rec), rec[sizeofHeader:])
		tail += uint64(len(rec))
	}
	return nil
}

const sizeofHeader = 8 // struct perf_event_header

// record is the record at a place, whole.
func (r *ring) record(tail, head uint64) ([]byte, error) {
	n := uint64(len(r.data))
	at := tail % n
	size := uint64(native.Uint16(r.data[at+6:])) // records are aligned to 8 bytes: the header is never divided
	if size < sizeofHeader || tail+size > head {
		return nil, fmt.Errorf("trace: a record of %d bytes where %d are", size, head-tail)
	}
	if at+size <= n {
		return r.data[at : at+size], nil
	}
	r.buf = append(append(r.buf[:0], r.data[at:]...), r.data[:at+size-n]...)
	return r.buf, nil
}

// setFilter has the kernel drop the events of others.
func setFilter(fd int, filter string) error {
	b, err := unix.ByteSliceFromString(filter)
	if err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.PERF_EVENT_IOC_SET_FILTER, uintptr(unsafe.Pointer(&b[0]))); errno != 0 {
		return refused("filter of a trace point", errno)
	}
	return nil
}

// perfOpen opens one trace point on one CPU, switched off.
func perfOpen(id uint64, cpu int) (int, error) {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_TRACEPOINT, Config: id, Sample: 1, Sample_type: unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_RAW,
		Bits: unix.PerfBitDisabled | unix.PerfBitUseClockID, Clockid: unix.CLOCK_MONOTONIC,
	}
	attr.Size = uint32(unsafe.Sizeof(attr))
	fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return -1, refused("trace points", err)
	}
	return fd, nil
}
