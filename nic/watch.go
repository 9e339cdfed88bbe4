package nic

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Change is what Watch reports: the link as it is now, Gone when the interface was removed.
type Change struct {
	Link Link
	Gone bool
}

// Watch calls f, from one goroutine, for each netlink event about the interface until ctx ends, the interface is removed or moved to
// another network namespace (reported as Gone), or the Device is closed. It returns once it listens; f is first called at once with the
// present state, so that no change between is missed. Every event is reported in order, also a loss of carrier that is over by now;
// only when the kernel had to throw events away (f was too slow) are those still waiting replaced by one call with the present state.
// errors.Is(err, ErrNotFound) holds where the interface is gone already.
//
// How late is a loss of carrier? The kernel tells it right after it has taken the qdisc away: on a veth within a millisecond. A NIC whose
// carrier changed twice in a second may be a second late, frames are queued until then.
func (d *Device) Watch(ctx context.Context, f func(Change)) error {
	s, err := listen()
	if err != nil {
		return fmt.Errorf("watch %s: %w", d.Name(), err)
	}
	first, err := d.Link()
	if err != nil {
		s.Close()
		return fmt.Errorf("watch %w", err)
	}
	d.watchers.Go(func() {
		defer s.Close()
		past := func() { s.SetReadDeadline(time.Unix(1, 0)) } // wakes the reader
		defer context.AfterFunc(ctx, past)()
		defer context.AfterFunc(d.closing, past)()
		f(Change{Link: first})
		d.follow(s, func(c Change) {
			if ctx.Err() == nil && d.closing.Err() == nil {
				f(c)
			}
		})
	})
	return nil
}

// listen opens a socket for link events.
func listen() (*os.File, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("netlink socket: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: 1 << (unix.RTNLGRP_LINK - 1)}); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("netlink socket: bind: %w", err)
	}
	return os.NewFile(uintptr(fd), "netlink"), nil
}

// follow reads events until the read fails (deadline) or the interface is gone.
func (d *Device) follow(s *os.File, f func(Change)) {
	buf := make([]byte, maxReply)
	for {
		n, err := s.Read(buf)
		if errors.Is(err, unix.ENOBUFS) {
			// Events were lost; those still queued are older than the present state.
			drain(s, buf)
			link, err := d.Link()
			if gone := errors.Is(err, ErrNotFound); err == nil || gone {
				f(Change{Link: link, Gone: gone})
				if gone {
					return
				}
			}
			continue
		}
		if err != nil {
			return
		}
		for msg := range messages(buf[:n]) {
			m, err := parseLink(msg.body)
			// Other families tell of bridge ports: an RTM_DELLINK of AF_BRIDGE only means that the device left its bridge.
			if err != nil || m.index != d.index || m.family != unix.AF_UNSPEC {
				continue
			}
			switch msg.typ {
			case unix.RTM_NEWLINK:
				f(Change{Link: d.fill(m)})
			case unix.RTM_DELLINK:
				f(Change{Link: d.fill(m), Gone: true})
				return
			}
		}
	}
}

// drain throws away what is queued.
func drain(s *os.File, buf []byte) {
	rc, err := s.SyscallConn()
	if err != nil {
		return
	}
	rc.Read(func(fd uintptr) bool {
		for {
			if _, err := unix.Read(int(fd), buf); err != nil && err != unix.EINTR && err != unix.ENOBUFS {
				return true
			}
		}
	})
}
