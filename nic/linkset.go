package nic

import (
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// Settings of the link itself, over rtnetlink.

func (v *view) linkMsg() (linkMsg, error) {
	return once(v, "linkMsg", func() (linkMsg, error) { return v.d.linkMsg(v.d.index) })
}

func (v *view) linkSettings() []Setting {
	m, err := v.linkMsg()
	if err != nil {
		return nil
	}
	d := v.d
	number := func(name, help string, attr uint16, min, max int, now func(linkMsg) int) Setting {
		return Setting{
			Name: name, Group: GroupLink, Help: help, Range: numberRange(uint64(min), uint64(max)), Min: uint64(min), Max: uint64(max), Why: netAdmin(),
			ops: ops{
				read: func(v *view) (string, error) {
					m, err := v.linkMsg()
					return strconv.Itoa(now(m)), err
				},
				check: func(text string) error { _, err := parseNumber(text, uint64(min), uint64(max)); return err },
				write: func(text string) error {
					n, err := parseNumber(text, uint64(min), uint64(max))
					if err != nil {
						return err
					}
					return d.setLink(name, attr, uint32(n))
				},
			},
		}
	}
	mtu := number("mtu", "longest payload of a frame, in bytes", unix.IFLA_MTU, max(m.minMTU, 1), m.maxMTU, func(m linkMsg) int { return m.mtu })
	mtu.Flaps, mtu.resets = true, true
	txq := number("txqueuelen", "frames that a qdisc without a limit of its own holds", unix.IFLA_TXQLEN, 0, 0, func(m linkMsg) int { return m.txQueueLen })
	return []Setting{mtu, txq}
}

// setLink changes one number of the link.
func (d *Device) setLink(what string, attr uint16, n uint32) error {
	req := appendAttr(request(unix.RTM_SETLINK, unix.NLM_F_ACK, ifinfo(d.index)...), attr, u32Bytes(n))
	said, err := d.nl.talkSaid(req, func(uint16, []byte) error { return nil })
	return d.routeError(what, said, err)
}

// routeError gives an error of rtnetlink the package's own meaning, with the kernel's words if it had any.
func (d *Device) routeError(what, said string, err error) error {
	tail := inBrackets(said)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return needsAdmin(what)
	case errors.Is(err, unix.ENODEV):
		return fmt.Errorf("%s: %w", d.Name(), ErrNotFound)
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ERANGE):
		return &reason{text: fmt.Sprintf("the kernel refuses it%s: %v", tail, err), is: ErrValue}
	case errors.Is(err, unix.EOPNOTSUPP):
		return &reason{text: fmt.Sprintf("%s does not let it be changed%s", d.kind(), tail), is: ErrNotSupported}
	}
	return fmt.Errorf("%s%s: %w", what, tail, err)
}
