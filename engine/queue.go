package engine

import (
	"errors"
	"fmt"
	"net"

	"github.com/mdlayher/packet"
	"golang.org/x/sys/unix"

	"wirespeed/engine/frame"
	"wirespeed/engine/tpacket"
)

// ErrNotPermitted is wrapped by what fails for want of CAP_NET_RAW.
var ErrNotPermitted = errors.New("needs CAP_NET_RAW: run as root, or setcap cap_net_raw,cap_net_admin+ep ./wirespeed")

// Lengths of the rings. That for frames is a few times the longest batch, so that a driver which completes late does not starve, and short
// enough that all slots of 60-byte frames stay in the second-level cache. That for super-frames holds as many frames many times over.
const (
	ringSlots  = 512
	superSlots = 64
)

// queue is what a worker sends through: a packet socket with a ring for frames, and another for super-frames once they are wanted.
type queue struct {
	frames, super *endpoint
}

// endpoint is one packet socket with its transmit ring.
type endpoint struct {
	ring *tpacket.Ring
	fd   int
}

// openQueue opens the queue's ring for frames of dev's MTU.
func openQueue(dev Device, number int) (*queue, error) {
	f, err := openEndpoint(dev, number, ringSlots, frame.MaxSize(dev.MTU, 1))
	return &queue{frames: f}, err
}

// openSuper opens the ring for super-frames, if it is not open.
func (q *queue) openSuper(dev Device, number int) (err error) {
	if q.super == nil {
		q.super, err = openEndpoint(dev, number, superSlots, frame.MaxSuper)
	}
	return err
}

// openEndpoint opens a transmit-only packet socket on dev (protocol 0: it hears nothing) with a ring of slots for frames of up to maxFrame bytes.
func openEndpoint(dev Device, number, slots, maxFrame int) (*endpoint, error) {
	conn, err := packet.Listen(&net.Interface{Index: dev.Index, Name: dev.Name}, packet.Raw, 0, nil)
	if err != nil {
		return nil, socketError(fmt.Sprintf("open packet socket on %s", dev.Name), err)
	}
	fd, err := detach(conn)
	if err != nil {
		return nil, err
	}
	ring, err := tpacket.Open(uintptr(fd), slots, maxFrame)
	if err != nil {
		return nil, errors.Join(socketError(fmt.Sprintf("open ring on %s queue %d", dev.Name, number), err), unix.Close(fd))
	}
	return &endpoint{ring: ring, fd: fd}, nil
}

func (e *endpoint) close() error { return errors.Join(e.ring.Close(), unix.Close(e.fd)) }

func (q *queue) close() error {
	err := q.frames.close()
	if q.super != nil {
		err = errors.Join(err, q.super.close())
	}
	return err
}

// setPath switches between driver and queueing discipline; frames already posted go the new way. Super-frames always go through the queueing
// discipline.
func (q *queue) setPath(p Path) error {
	if err := q.frames.setBypass(p == Bypass); err != nil {
		return fmt.Errorf("path %s: %w", p, err)
	}
	return nil
}

func (e *endpoint) setBypass(on bool) error {
	v := 0
	if on {
		v = 1
	}
	if err := unix.SetsockoptInt(e.fd, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, v); err != nil {
		return fmt.Errorf("PACKET_QDISC_BYPASS: %w", err)
	}
	return nil
}

// detach takes the socket out of conn, which is closed. A packet.Conn is registered with the runtime's poller, and every buffer that the kernel frees
// makes the socket writable: at a million frames a second that alone kept a thread busy.
func detach(conn *packet.Conn) (fd int, err error) {
	fd, err = descriptor(conn)
	if err == nil {
		fd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	}
	if err = errors.Join(err, conn.Close()); err != nil {
		return -1, fmt.Errorf("packet socket: %w", err)
	}
	return fd, nil
}

// descriptor is the socket's number. It stays valid while conn is open; its owner closes conn only when nobody uses the number any more.
func descriptor(conn *packet.Conn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	fd := -1
	if err := raw.Control(func(n uintptr) { fd = int(n) }); err != nil {
		return 0, err
	}
	return fd, nil
}

func socketError(what string, err error) error {
	if errors.Is(err, unix.EPERM) {
		return fmt.Errorf("%s: %w", what, ErrNotPermitted)
	}
	return fmt.Errorf("%s: %w", what, err)
}
