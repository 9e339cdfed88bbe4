package pcap

import (
	"encoding/binary"
	"fmt"
)

// The file format of pcap: draft-ietf-opsawg-pcap.
const (
	magicMicro = 0xa1b2c3d4
	magicNano  = 0xa1b23c4d

	linkEthernet = 1
	maxCaplen    = 1 << 26 // a record longer than this is no record
)

// readClassic reads a pcap file to its end.
func (f *File) readClassic(in *input, magic []byte) error {
	var order binary.ByteOrder = binary.LittleEndian
	m := order.Uint32(magic)
	if m != magicMicro && m != magicNano {
		order = binary.BigEndian
		m = order.Uint32(magic)
	}
	unit := int64(1000)
	switch m {
	case magicMicro:
	case magicNano:
		unit = 1
	default:
		return fmt.Errorf("%w: begins with % x, neither pcap nor pcapng", ErrNotCapture, magic)
	}
	var head [24]byte
	if err := in.take(head[:]); err != nil {
		return fmt.Errorf("%w: %d bytes", ErrNotCapture, in.at)
	}
	if link := order.Uint32(head[20:]) & 0xffff; link != linkEthernet {
		return fmt.Errorf("link type %d: only captures of Ethernet (1) can be sent", link)
	}
	for {
		var rec [16]byte
		start := in.at
		if err := in.take(rec[:]); err != nil {
			return f.ended(err)
		}
		caplen, origlen := order.Uint32(rec[8:]), order.Uint32(rec[12:])
		if caplen > maxCaplen {
			return fmt.Errorf("byte %d: a record of %d bytes: the file is damaged", start, caplen)
		}
		ns := int64(order.Uint32(rec[0:]))*1e9 + int64(order.Uint32(rec[4:]))*unit
		if err := f.add(in, caplen, origlen, ns); err != nil {
			return f.ended(err)
		}
	}
}
