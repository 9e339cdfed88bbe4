package receive

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"wirespeed/engine/meter"
	"wirespeed/engine/tpacket"
	"wirespeed/engine/verify"
)

// Geometry of the rings: together 32 MiB, which is 200,000 frames of 60 bytes, and blocks that are full in a millisecond at full speed.
const (
	blockSize = 256 << 10
	allBlocks = 128
	retireMS  = 10 // how old a frame is at most when a block that is not full is handed over
	pollMS    = 50 // between two looks at whether to stop
)

// reader reads one ring.
type reader struct {
	fd    int
	ring  *tpacket.ReceiveRing
	clock *Clock
	stop  *atomic.Bool
	every uint32
	cpus  atomic.Pointer[[]int] // where it may run; a new value is taken soon
	read  atomic.Uint64         // frames read from the ring
	done  chan struct{}

	mu       sync.Mutex // held by the reader for a block at a time; guards what follows
	table    verify.Table
	times    *meter.Recorder // nil without a clock
	skew     skew
	coarse   bool // a frame was known to the microsecond only
	negative uint64
	untimed  uint64
	err      error // why it reads no more
}

func openReader(o *Options, blocks int) (*reader, error) {
	fd, err := openSocket()
	if err != nil {
		return nil, err
	}
	ring, err := tpacket.OpenReceive(uintptr(fd), blocks, blockSize, retireMS)
	if err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	r := &reader{fd: fd, ring: ring, clock: o.Clock, every: max(1, o.Every), done: make(chan struct{}), table: verify.Table{FromOne: o.FromOne, BySource: o.BySource}}
	if o.Clock != nil {
		r.times, r.skew = meter.NewRecorder(), o.Clock.measure(64)
	}
	return r, nil
}

func (r *reader) close() error { return errors.Join(r.ring.Close(), unix.Close(r.fd)) }

// run is the life of a reader, on a thread of its own that ends with it.
func (r *reader) run() {
	defer close(r.done)
	runtime.LockOSThread()
	err := r.loop()
	r.mu.Lock()
	r.err = err
	r.mu.Unlock()
}

func (r *reader) loop() error {
	var at *[]int
	for !r.stop.Load() {
		if cpus := r.cpus.Load(); cpus != at {
			at = cpus
			if err := pin(*cpus); err != nil {
				return err
			}
		}
		for r.ring.Ready() && !r.stop.Load() {
			r.take()
		}
		fds := []unix.PollFd{{Fd: int32(r.fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, pollMS); err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("poll: %w", err)
		}
		if fds[0].Revents&unix.POLLERR != 0 { // ENETDOWN: it hears again when the device is up (packet_notifier in net/packet/af_packet.c)
			_, _ = unix.GetsockoptInt(r.fd, unix.SOL_SOCKET, unix.SO_ERROR)
			if !r.ring.Ready() {
				pause()
			}
		}
	}
	return nil
}

// pause keeps a socket that is in error from being asked all the time.
func pause() { _, _ = unix.Poll(nil, retireMS) }

// pin keeps the thread on some CPUs; none of them: it may run everywhere it might before.
func pin(cpus []int) error {
	if len(cpus) == 0 {
		return nil
	}
	var set unix.CPUSet
	for _, c := range cpus {
		set.Set(c)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("keep the receiver on CPUs %v: %w", cpus, err)
	}
	return nil
}

// take reads one block and gives it back.
func (r *reader) take() {
	r.mu.Lock()
	timed := r.clock != nil && r.steady()
	b := r.ring.Block()
	n := b.Left()
	var in tpacket.Received
	var f verify.Frame
	for b.Next(&in) {
		fault := verify.Parse(in.Data, in.Partial(), &f)
		if r.every > 1 && fault == verify.Good {
			if f.Seq%r.every != 0 {
				continue // from before the sink was on
			}
			f.Seq /= r.every
		}
		flow := r.table.Take(&f, fault)
		if flow == nil || r.clock == nil {
			continue
		}
		if !timed {
			r.untimed++
			continue
		}
		sent, exact := r.clock.at(f.Worker, f.Micros)
		if !exact {
			sent, r.coarse = int64(f.Micros)*1e3, true
		}
		ns := in.Stamp - r.skew.ns - sent
		if ns < 0 {
			r.negative++
			continue
		}
		r.times.Record(ns)
		flow.Transit(ns)
	}
	r.read.Add(uint64(n))
	r.mu.Unlock()
	r.ring.Release()
}

// steady says whether the clocks are as far apart as they were. Where they are not, somebody set the time: the frames of this block may have been
// stamped before or after.
func (r *reader) steady() bool {
	s := r.clock.measure(1)
	if s.err > step/2 {
		return true // another thread ran meanwhile: it says nothing
	}
	if d := s.ns - r.skew.ns; d > step || d < -step {
		r.skew = r.clock.measure(64)
		return false
	}
	return true
}
