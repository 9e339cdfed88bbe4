package receive

import (
	"errors"
	"fmt"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Counter counts frames where they arrive and looks at none: a packet socket with a filter and the smallest buffer, that nobody ever
// reads. The kernel counts what passes the filter (PACKET_STATISTICS, drops included) and drops it before anything is copied. Cost: the
// filter and one atomic increment per frame, on the CPU that receives. It belongs to one goroutine at a time.
type Counter struct {
	fd    int
	total uint64
}

// OpenCounter counts what passes filter on the device of an index from now on. errors.Is(err, ErrNotPermitted) holds without CAP_NET_RAW.
func OpenCounter(device int, filter []bpf.RawInstruction) (*Counter, error) {
	fd, err := openSocket()
	if err != nil {
		return nil, err
	}
	c := &Counter{fd: fd}
	// The kernel raises this to its minimum, two or three frames.
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 1)
	if err == nil {
		err = setFilter(fd, filter)
	}
	if err == nil {
		err = bind(fd, device)
	}
	if err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return c, nil
}

// SetFilter replaces the filter.
func (c *Counter) SetFilter(filter []bpf.RawInstruction) error { return setFilter(c.fd, filter) }

// Read returns the frames so far. The kernel's own counter has 32 bits and starts over at each reading; at 100 Mpps it must be read every 40 s.
func (c *Counter) Read() (uint64, error) {
	s, err := unix.GetsockoptTpacketStats(c.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return c.total, fmt.Errorf("PACKET_STATISTICS: %w", err)
	}
	c.total += uint64(s.Packets)
	return c.total, nil
}

// Close closes the socket.
func (c *Counter) Close() error { return unix.Close(c.fd) }
