package nic

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// Ethtool's netlink family, by hand on the same socket code as rtnetlink: it goes by the interface's index, tells which parameters a driver
// has (the ioctl says 0 for those that it has not), and gives the driver's own words when it refuses. Kernels from 5.6 have it.

// ethtoolConn is a generic netlink socket, and the number that the kernel gave the family.
type ethtoolConn struct {
	*conn
	family uint16
}

const genlVersion = 1

// firstHeader is ETHTOOL_A_..._HEADER: the first attribute of every message of the family.
const firstHeader = 1

// sizeofGenl is struct genlmsghdr: command, version, reserved.
const sizeofGenl = 4

func dialEthtool() (*ethtoolConn, error) {
	c, err := dialProtocol(unix.NETLINK_GENERIC)
	if err != nil {
		return nil, err
	}
	e := &ethtoolConn{conn: c}
	req := appendAttr(request(unix.GENL_ID_CTRL, 0, unix.CTRL_CMD_GETFAMILY, genlVersion, 0, 0), unix.CTRL_ATTR_FAMILY_NAME, []byte(unix.ETHTOOL_GENL_NAME+"\x00"))
	err = c.talk(req, func(_ uint16, body []byte) error {
		for typ, v := range attrs(body[min(sizeofGenl, len(body)):]) {
			if typ == unix.CTRL_ATTR_FAMILY_ID && len(v) >= 2 {
				e.family = native.Uint16(v)
			}
		}
		return nil
	})
	if err != nil || e.family == 0 {
		c.close()
		return nil, &reason{text: "this kernel has no ethtool over netlink (5.6 and later have)", is: ErrNotSupported}
	}
	return e, nil
}

// ethRequest starts a message of ethtool's family about the device; flags are ETHTOOL_FLAG_...
func (d *Device) ethRequest(cmd uint8, flags uint32) []byte {
	h := appendAttr(nil, unix.ETHTOOL_A_HEADER_DEV_INDEX, u32Bytes(uint32(d.index)))
	if flags != 0 {
		h = appendAttr(h, unix.ETHTOOL_A_HEADER_FLAGS, u32Bytes(flags))
	}
	return appendAttr(request(d.ethnl.family, 0, cmd, genlVersion, 0, 0), firstHeader|unix.NLA_F_NESTED, h)
}

// ethGet asks one question and calls f for each attribute of the answer. what is for the sentence if the driver has nothing like it.
func (d *Device) ethGet(cmd uint8, flags uint32, what string, f func(typ uint16, value []byte)) error {
	if d.ethnl == nil {
		return d.ethnlErr
	}
	said, err := d.ethnl.talkSaid(d.ethRequest(cmd, flags), func(_ uint16, body []byte) error {
		for typ, v := range attrs(body[min(sizeofGenl, len(body)):]) {
			f(typ, v)
		}
		return nil
	})
	return d.ethError(what, said, err)
}

// ethSet changes something: attributes are those after the header.
func (d *Device) ethSet(cmd uint8, what string, attributes []byte) error {
	if d.ethnl == nil {
		return d.ethnlErr
	}
	req := d.ethRequest(cmd, 0)
	native.PutUint16(req[6:], native.Uint16(req[6:])|unix.NLM_F_ACK)
	said, err := d.ethnl.talkSaid(append(req, attributes...), func(uint16, []byte) error { return nil })
	if err == unix.EOPNOTSUPP { // it can be read
		return &reason{text: d.kind() + " does not let " + what + " be changed" + inBrackets(said), is: ErrNotSupported}
	}
	return d.ethError(what, said, err)
}

// inBrackets is what the kernel or a driver said of an error, to be added to ours; "" where it said nothing.
func inBrackets(said string) string {
	if said == "" {
		return ""
	}
	return " (" + said + ")"
}

// needsAdmin is the error of a change that only CAP_NET_ADMIN may make.
func needsAdmin(what string) error {
	return &reason{text: "changing " + what + " needs CAP_NET_ADMIN", is: ErrNotPermitted}
}

// ethError gives an error of ethtool the package's own meaning, with the driver's words if it had any.
func (d *Device) ethError(what, said string, err error) error {
	tail := inBrackets(said)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EOPNOTSUPP):
		return &reason{text: fmt.Sprintf("%s has no %s%s", d.kind(), what, tail), is: ErrNotSupported}
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return needsAdmin(what)
	case errors.Is(err, unix.ENODEV):
		return fmt.Errorf("%s: %w", d.Name(), ErrNotFound)
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ERANGE):
		return &reason{text: fmt.Sprintf("%s refuses it%s: %v", d.kind(), tail, err), is: ErrValue}
	}
	return fmt.Errorf("%s%s: %w", what, tail, err)
}

func u32Bytes(n uint32) []byte { return native.AppendUint32(nil, n) }

// appendU32 and appendU8 add numbers; ethtool's switches are one byte.
func appendU32(b []byte, typ uint16, n uint32) []byte { return appendAttr(b, typ, u32Bytes(n)) }

func appendU8(b []byte, typ uint16, on bool) []byte {
	v := []byte{0}
	if on {
		v[0] = 1
	}
	return appendAttr(b, typ, v)
}

// appendBit adds a bitset that changes one named bit.
func appendBit(b []byte, typ uint16, name string, on bool) []byte {
	bit := appendAttr(nil, unix.ETHTOOL_A_BITSET_BIT_NAME, append([]byte(name), 0))
	if on {
		bit = appendAttr(bit, unix.ETHTOOL_A_BITSET_BIT_VALUE, nil)
	}
	bits := appendAttr(nil, unix.ETHTOOL_A_BITSET_BITS_BIT|unix.NLA_F_NESTED, bit)
	return appendAttr(b, typ|unix.NLA_F_NESTED, appendAttr(nil, unix.ETHTOOL_A_BITSET_BITS|unix.NLA_F_NESTED, bits))
}

// namedBit is one bit of a bitset.
type namedBit struct {
	name string
	on   bool
}

// parseBits reads a bitset with names. Without a mask (NOMASK) the bits that are listed are those that are on.
func parseBits(b []byte) []namedBit {
	var list []namedBit
	noMask := false
	for typ, v := range attrs(b) {
		switch typ {
		case unix.ETHTOOL_A_BITSET_NOMASK:
			noMask = true
		case unix.ETHTOOL_A_BITSET_BITS:
			for typ, v := range attrs(v) {
				if typ != unix.ETHTOOL_A_BITSET_BITS_BIT {
					continue
				}
				bit := namedBit{on: noMask}
				for typ, v := range attrs(v) {
					switch typ {
					case unix.ETHTOOL_A_BITSET_BIT_NAME:
						bit.name = text(v)
					case unix.ETHTOOL_A_BITSET_BIT_VALUE:
						bit.on = true
					}
				}
				if bit.name != "" {
					list = append(list, bit)
				}
			}
		}
	}
	return list
}

// errorText is the kernel's own sentence in an NLMSG_ERROR, "" if there is none.
func errorText(flags uint16, body []byte) string {
	const capped, tlvs = 0x100, 0x200 // NLM_F_CAPPED, NLM_F_ACK_TLVS
	if flags&tlvs == 0 || len(body) < 4+unix.SizeofNlMsghdr {
		return ""
	}
	skip := 4 + unix.SizeofNlMsghdr
	if flags&capped == 0 { // the whole request comes first
		skip = 4 + align(int(native.Uint32(body[4:])))
	}
	if skip < 4 || skip > len(body) {
		return ""
	}
	for typ, v := range attrs(body[skip:]) {
		if typ == unix.NLMSGERR_ATTR_MSG {
			return strings.TrimSpace(text(v))
		}
	}
	return ""
}
