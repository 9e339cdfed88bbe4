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

// ringSlots is a ring's length. It is a few times the longest batch, so that a driver which completes late does not starve, and short
// enough that all slots of 60-byte frames stay in the second-level cache.
const ringSlots = 512

// queue is one packet socket with its transmit ring.
type queue struct {
	conn *packet.Conn
	ring *tpacket.Ring
	fd   int
}

// openQueue opens a transmit-only packet socket on dev (protocol 0: it hears nothing) with a ring for the longest frame of dev's MTU.
func openQueue(dev Device, number int) (*queue, error) {
	conn, err := packet.Listen(&net.Interface{Index: dev.Index, Name: dev.Name}, packet.Raw, 0, nil)
	if err != nil {
		return nil, socketError(fmt.Sprintf("open packet socket on %s", dev.Name), err)
	}
	fd, err := descriptor(conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	ring, err := tpacket.Open(uintptr(fd), ringSlots, frame.MaxSize(dev.MTU, 1))
	if err != nil {
		return nil, errors.Join(socketError(fmt.Sprintf("open ring on %s queue %d", dev.Name, number), err), conn.Close())
	}
	return &queue{conn: conn, ring: ring, fd: fd}, nil
}

func (q *queue) close() error { return errors.Join(q.ring.Close(), q.conn.Close()) }

// setPath switches between driver and queueing discipline; frames already posted go the new way.
func (q *queue) setPath(p Path) error {
	on := 0
	if p == Bypass {
		on = 1
	}
	if err := unix.SetsockoptInt(q.fd, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, on); err != nil {
		return fmt.Errorf("path %s: PACKET_QDISC_BYPASS: %w", p, err)
	}
	return nil
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
