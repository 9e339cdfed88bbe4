package engine

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/mdlayher/packet"
	"golang.org/x/sys/unix"

	"wirespeed/engine/frame"
	"wirespeed/engine/meter"
)

// receiver counts our frames where they arrive, independently of sender and device: a packet socket with a filter and the smallest
// buffer, that nobody ever reads. The kernel counts what passes the filter (PACKET_STATISTICS, drops included) and drops it before
// anything is copied. Cost: the filter and one atomic increment per frame, on the CPU that receives.
type receiver struct {
	clock *clock
	conn  *packet.Conn

	mu    sync.Mutex
	specs []frame.Spec // whose frames pass; newest last
	total uint64
}

// receiverSpecs bounds the filter: frames of older configurations than these are long gone.
const receiverSpecs = 8

func openReceiver(rx Device, c *clock, specs []frame.Spec) (*receiver, error) {
	r := &receiver{clock: c, specs: specs}
	filter, err := frame.Filter(specs)
	if err != nil {
		return nil, err
	}
	r.conn, err = packet.Listen(&net.Interface{Index: rx.Index, Name: rx.Name}, packet.Raw, unix.ETH_P_ALL, &packet.Config{Filter: filter})
	if err != nil {
		return nil, socketError(fmt.Sprintf("open receiver on %s", rx.Name), err)
	}
	fd, err := descriptor(r.conn)
	if err == nil {
		// The kernel raises this to its minimum, two or three frames.
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 1)
	}
	if err == nil { // what we send from rx itself (kernel 4.20 and later) has not arrived
		err = unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1)
	}
	if err == nil {
		_, err = r.conn.Stats() // begin at zero
	}
	if err != nil {
		return nil, errors.Join(socketError(fmt.Sprintf("open receiver on %s", rx.Name), err), r.conn.Close())
	}
	return r, nil
}

// accept lets frames of specs pass from now on, besides those that passed before.
func (r *receiver) accept(specs []frame.Spec) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Clone(r.specs)
	for _, s := range specs {
		all = slices.DeleteFunc(all, func(o frame.Spec) bool { return alike(o, s) })
		all = append(all, s)
	}
	if slices.EqualFunc(all, r.specs, alike) {
		return nil
	}
	if over := len(all) - max(receiverSpecs, len(specs)); over > 0 {
		all = all[over:]
	}
	filter, err := frame.Filter(all)
	if err != nil {
		return err
	}
	if err := r.conn.SetBPF(filter); err != nil {
		return fmt.Errorf("receiver's filter: %w", err)
	}
	r.specs = all
	return nil
}

// alike says whether the filter cannot tell frames of a and b apart.
func alike(a, b frame.Spec) bool {
	if a.HasHeader() != b.HasHeader() {
		return false
	}
	a.Size, a.Sizes, a.DstMAC = b.Size, b.Sizes, b.DstMAC
	return a == b
}

// read is the count so far. The kernel's own counter has 32 bits and starts over at each reading; at 100 Mpps it must be read every 40 s.
func (r *receiver) read() meter.Reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.clock.now()
	s, err := r.conn.Stats()
	after := r.clock.now()
	if err != nil {
		return meter.Reading{}
	}
	r.total += uint64(s.Packets)
	return meter.Reading{Count: r.total, At: time.Duration(before+after) / 2, Err: time.Duration(after-before) / 2, OK: true}
}

func (r *receiver) close() error { return r.conn.Close() }
