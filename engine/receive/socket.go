package receive

import (
	"errors"
	"fmt"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// ErrNotPermitted is wrapped by what fails for want of CAP_NET_RAW.
var ErrNotPermitted = errors.New("needs CAP_NET_RAW")

// openSocket opens a packet socket that hears nothing yet.
func openSocket() (int, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if errors.Is(err, unix.EPERM) {
		return -1, fmt.Errorf("packet socket: %w", ErrNotPermitted)
	}
	if err != nil {
		return -1, fmt.Errorf("packet socket: %w", err)
	}
	// What we send from the device itself (kernel 4.20 and later) has not arrived.
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1); err != nil {
		return -1, errors.Join(fmt.Errorf("PACKET_IGNORE_OUTGOING: %w", err), unix.Close(fd))
	}
	return fd, nil
}

// setFilter replaces a socket's filter.
func setFilter(fd int, prog []bpf.RawInstruction) error {
	if err := setProgram(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, prog); err != nil {
		return fmt.Errorf("filter of %d instructions: %w", len(prog), err)
	}
	return nil
}

func setProgram(fd, level, option int, prog []bpf.RawInstruction) error {
	list := make([]unix.SockFilter, len(prog))
	for i, in := range prog {
		list[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	return unix.SetsockoptSockFprog(fd, level, option, &unix.SockFprog{Len: uint16(len(list)), Filter: &list[0]})
}

// bind lets a socket hear everything that passes its filter on a device.
func bind(fd, device int) error {
	const all = unix.ETH_P_ALL>>8 | unix.ETH_P_ALL&0xff<<8 // network byte order
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: device}); err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	return nil
}
