package engine

import (
	"encoding/binary"
	"errors"
	"net"

	"github.com/mdlayher/packet"
	"golang.org/x/sys/unix"

	"wirespeed/engine/frame"
)

// cutsSuperFrames asks the kernel whether it takes super-frames of spec's kind from packet sockets, without sending any: one of two frames is offered on the
// bypass, which drops what software must cut (ENOBUFS, and one tx_dropped on the device) once it has understood it, while a kernel before 6.2
// does not understand it (EINVAL, virtio_net_hdr_to_skb). The device must not cut frames itself, or it would send these two.
func cutsSuperFrames(dev Device, spec frame.Spec) bool {
	spec.Size, spec.VLAN = frame.MinSize(spec)+2, 0
	t, err := frame.Build(spec)
	if err != nil {
		return false
	}
	u := frame.NewSuper(spec, t)
	conn, err := packet.Listen(&net.Interface{Index: dev.Index, Name: dev.Name}, packet.Raw, 0, nil)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	fd, err := descriptor(conn)
	if err != nil ||
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1) != nil ||
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1) != nil {
		return false
	}
	b := make([]byte, 10+u.Size(2)) // struct virtio_net_hdr and the super-frame
	b[0], b[1] = 1, gsoType(&u)
	for i, v := range [...]int{u.Headers, u.Payload, u.L4, u.Sum} {
		binary.NativeEndian.PutUint16(b[2+2*i:], uint16(v))
	}
	u.Fill(b[10:], 2)
	_, err = conn.WriteTo(b, &packet.Addr{HardwareAddr: spec.DstMAC[:]})
	return errors.Is(err, unix.ENOBUFS)
}
