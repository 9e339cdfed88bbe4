package nic

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Rtnetlink by hand: the counters are read several times a second next to threads that must not be disturbed, so one socket stays open,
// and an exchange allocates nothing.

var native = binary.NativeEndian

// maxReply is the longest datagram read. The kernel's dumps use at most 32 KiB.
const maxReply = 64 << 10

var errShort = errors.New("netlink: message too short")

// conn is an rtnetlink socket for requests, one at a time.
type conn struct {
	mu   sync.Mutex
	fd   int // -1 once closed
	seq  uint32
	buf  []byte
	said string // the kernel's own words for the last error
}

func dial() (*conn, error) { return dialProtocol(unix.NETLINK_ROUTE) }

func dialProtocol(protocol int) (*conn, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return nil, fmt.Errorf("netlink socket: %w", err)
	}
	// The kernel answers inside send, so a read never waits; the time-out is for a kernel that breaks this.
	timeout := unix.NsecToTimeval(int64(2 * time.Second))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("netlink socket: SO_RCVTIMEO: %w", err)
	}
	// With these the kernel explains its errors in words; one that cannot is no worse than before.
	_ = unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_EXT_ACK, 1)
	_ = unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_CAP_ACK, 1)
	return &conn{fd: fd, buf: make([]byte, maxReply)}, nil
}

func (c *conn) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fd >= 0 {
		unix.Close(c.fd)
		c.fd = -1
	}
}

// request starts a message: header, then the fixed part that the type demands. Attributes may be appended.
func request(typ uint16, flags uint16, fixed ...byte) []byte {
	b := make([]byte, unix.SizeofNlMsghdr, unix.SizeofNlMsghdr+len(fixed)+32)
	native.PutUint16(b[4:], typ)
	native.PutUint16(b[6:], flags|unix.NLM_F_REQUEST)
	return append(b, fixed...)
}

// appendAttr adds an attribute to a message.
func appendAttr(b []byte, typ uint16, value []byte) []byte {
	b = native.AppendUint16(b, uint16(unix.SizeofRtAttr+len(value)))
	b = native.AppendUint16(b, typ)
	b = append(b, value...)
	for len(b)%unix.NLMSG_ALIGNTO != 0 {
		b = append(b, 0)
	}
	return b
}

// talk sends a request and calls f for each message of the answer; body is valid during the call only. An error of the kernel is returned
// as a unix.Errno. It holds c.mu.
func (c *conn) talk(req []byte, f func(typ uint16, body []byte) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exchange(req, f)
}

// talkSaid is talk for those who want the kernel's own words for an error.
func (c *conn) talkSaid(req []byte, f func(typ uint16, body []byte) error) (said string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = ""
	err = c.exchange(req, f)
	return c.said, err
}

// exchange is talk for those who hold c.mu.
func (c *conn) exchange(req []byte, f func(typ uint16, body []byte) error) error {
	if c.fd < 0 {
		return unix.EBADF
	}
	c.seq++
	native.PutUint32(req[0:], uint32(len(req)))
	native.PutUint32(req[8:], c.seq)
	ack := native.Uint16(req[6:])&unix.NLM_F_ACK != 0 // then that is the last message of the answer
	if err := retry(func() (err error) { _, err = unix.Write(c.fd, req); return }); err != nil {
		return err
	}
	for {
		var n int
		if err := retry(func() (err error) { n, err = unix.Read(c.fd, c.buf); return }); err != nil {
			return err
		}
		for m := range messages(c.buf[:n]) {
			if m.seq != c.seq { // the late answer to a request that failed half-way
				continue
			}
			switch m.typ {
			case unix.NLMSG_DONE, unix.NLMSG_ERROR: // both carry an error, 0 for success
				if len(m.body) < 4 {
					return errShort
				}
				if errno := -int32(native.Uint32(m.body)); errno > 0 {
					c.said = errorText(m.flags, m.body)
					return unix.Errno(errno)
				}
				return nil
			}
			if err := f(m.typ, m.body); err != nil {
				return err
			}
			if m.flags&unix.NLM_F_MULTI == 0 && !ack {
				return nil
			}
		}
	}
}

// retry repeats a system call that a signal interrupted: Go's own preemption sends some.
func retry(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

type message struct {
	typ, flags uint16
	seq        uint32
	body       []byte
}

// messages walks over the messages of a datagram and ends at the first that is malformed.
func messages(b []byte) iter.Seq[message] {
	return func(yield func(message) bool) {
		for len(b) >= unix.SizeofNlMsghdr {
			n := int(native.Uint32(b))
			if n < unix.SizeofNlMsghdr || n > len(b) {
				return
			}
			m := message{typ: native.Uint16(b[4:]), flags: native.Uint16(b[6:]), seq: native.Uint32(b[8:]), body: b[unix.SizeofNlMsghdr:n]}
			if !yield(m) {
				return
			}
			b = b[min(align(n), len(b)):]
		}
	}
}

// attrs walks over attributes, type without flags and value, and ends at the first that is malformed.
func attrs(b []byte) iter.Seq2[uint16, []byte] {
	return func(yield func(uint16, []byte) bool) {
		for len(b) >= unix.SizeofRtAttr {
			n := int(native.Uint16(b))
			if n < unix.SizeofRtAttr || n > len(b) {
				return
			}
			if !yield(native.Uint16(b[2:])&^(unix.NLA_F_NESTED|unix.NLA_F_NET_BYTEORDER), b[unix.SizeofRtAttr:n]) {
				return
			}
			b = b[min(align(n), len(b)):]
		}
	}
}

func align(n int) int { return (n + unix.NLMSG_ALIGNTO - 1) &^ (unix.NLMSG_ALIGNTO - 1) }

// u32 reads an attribute's value; 0 where it is too short.
func u32(b []byte) uint32 {
	if len(b) < 4 {
		return 0
	}
	return native.Uint32(b)
}
