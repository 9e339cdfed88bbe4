package nic

import (
	"bytes"
	"fmt"
	"net"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Link is what an interface says of itself now.
type Link struct {
	Name     string
	Index    int
	Software bool   // no hardware: a veth, ifb, bridge, tap ...
	Driver   string // a software device's kind or else the driver: veth, vlan, igb, virtio_net, ...; "" unknown
	MAC      [6]byte
	MTU      int
	Up       bool   // administratively
	Carrier  bool   // can carry frames: running and lower up
	Speed    uint64 // bit/s; 0 unknown
	SpeedWhy string // why the speed is unknown, e.g. "veth has no speed of its own (it reports a constant 10 Gbit/s)"
	Duplex   string // full, half or ""
	TxQueues int    // real transmit queues
	RxQueues int
	Qdisc    string // root qdisc's kind: noqueue, fq_codel, mq, ..., noop before it was ever up; "" unknown
	Peer     int    // index of a veth's other end; 0 if it is no veth, or the end is in another network namespace
}

// Link reads the interface. errors.Is(err, ErrNotFound) holds once it is gone, also to another network namespace.
func (d *Device) Link() (Link, error) {
	m, err := d.linkMsg(d.index)
	if err != nil {
		return Link{}, err
	}
	return d.fill(m), nil
}

// linkMsg is the part of an RTM_NEWLINK or RTM_DELLINK that we use.
type linkMsg struct {
	family       uint8
	index        int
	flags        uint32
	name         string
	mac          net.HardwareAddr
	mtu          int
	kind         string // of a software device: veth, vlan, bridge, ...
	qdisc        string
	lower        int // IFLA_LINK: what it lies on, or a veth's peer; 0 none, or in another namespace
	master       int // the bridge or bond that it is a port of
	maxTx, maxRx int // queues allocated: 64 on some NICs that have four

	txQueueLen     int
	minMTU, maxMTU int // 0 unknown
}

// linkMsg asks for an interface by index.
func (d *Device) linkMsg(index int) (linkMsg, error) {
	m, err := d.getLink(request(unix.RTM_GETLINK, 0, ifinfo(index)...))
	if err != nil {
		return m, fmt.Errorf("%s: %w", d.Name(), err)
	}
	return m, nil
}

func (d *Device) linkByName(name string) (linkMsg, error) {
	attr := uint16(unix.IFLA_IFNAME) // finds alternative names too
	if len(name) >= unix.IFNAMSIZ {
		attr = unix.IFLA_ALT_IFNAME
	}
	req := appendAttr(request(unix.RTM_GETLINK, 0, ifinfo(0)...), attr, append([]byte(name), 0))
	m, err := d.getLink(req)
	switch err {
	case nil:
		return m, nil
	case unix.EINVAL, unix.ERANGE: // no name that an interface can have
		err = ErrNotFound
	}
	return m, fmt.Errorf("%s: %w", name, err)
}

func (d *Device) getLink(req []byte) (m linkMsg, err error) {
	err = d.nl.talk(req, func(typ uint16, body []byte) (err error) {
		m, err = parseLink(body)
		return err
	})
	if err == unix.ENODEV {
		err = ErrNotFound
	}
	return m, err
}

// ifinfo is a struct ifinfomsg that names an interface.
func ifinfo(index int) []byte {
	b := make([]byte, unix.SizeofIfInfomsg)
	native.PutUint32(b[4:], uint32(index))
	return b
}

// parseLink reads a struct ifinfomsg and its attributes.
func parseLink(b []byte) (linkMsg, error) {
	if len(b) < unix.SizeofIfInfomsg {
		return linkMsg{}, errShort
	}
	m := linkMsg{family: b[0], index: int(int32(native.Uint32(b[4:]))), flags: native.Uint32(b[8:])}
	elsewhere := false
	for typ, v := range attrs(b[unix.SizeofIfInfomsg:]) {
		switch typ {
		case unix.IFLA_IFNAME:
			m.name = text(v)
		case unix.IFLA_ADDRESS:
			m.mac = bytes.Clone(v)
		case unix.IFLA_MTU:
			m.mtu = int(u32(v))
		case unix.IFLA_QDISC:
			m.qdisc = text(v)
		case unix.IFLA_LINK:
			m.lower = int(u32(v))
		case unix.IFLA_LINK_NETNSID:
			elsewhere = true
		case unix.IFLA_MASTER:
			m.master = int(u32(v))
		case unix.IFLA_TXQLEN:
			m.txQueueLen = int(u32(v))
		case unix.IFLA_MIN_MTU:
			m.minMTU = int(u32(v))
		case unix.IFLA_MAX_MTU:
			m.maxMTU = int(u32(v))
		case unix.IFLA_NUM_TX_QUEUES:
			m.maxTx = int(u32(v))
		case unix.IFLA_NUM_RX_QUEUES:
			m.maxRx = int(u32(v))
		case unix.IFLA_LINKINFO:
			for typ, v := range attrs(v) {
				if typ == unix.IFLA_INFO_KIND {
					m.kind = text(v)
				}
			}
		}
	}
	if elsewhere { // an index of another namespace means nothing here
		m.lower = 0
	}
	return m, nil
}

// text is a NUL-terminated attribute.
func text(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(b)
}

func (m linkMsg) carrier() bool {
	const running = unix.IFF_UP | unix.IFF_RUNNING | unix.IFF_LOWER_UP
	return m.flags&running == running
}

// peers reports whether IFLA_LINK is the other end of a pair, not a device below.
func (m linkMsg) peers() bool { return m.kind == "veth" || m.kind == "netkit" || m.kind == "vxcan" }

// fill makes a Link of a message and of what only /sys knows.
func (d *Device) fill(m linkMsg) Link {
	d.name.Store(&m.name)
	l := Link{
		Name: m.name, Index: m.index, Software: m.kind != "", Driver: d.driver, MTU: m.mtu, Qdisc: m.qdisc,
		Up: m.flags&unix.IFF_UP != 0, Carrier: m.carrier(),
		TxQueues: m.maxTx, RxQueues: m.maxRx,
	}
	copy(l.MAC[:], m.mac)
	if m.peers() {
		l.Peer = m.lower
	}
	if tx, rx, ok := d.realQueues(); ok {
		l.TxQueues, l.RxQueues = tx, rx
	}
	l.Speed, l.SpeedWhy, l.Duplex = d.speed(m)
	return l
}

// realQueues counts the queues in use. Netlink's IFLA_NUM_TX_QUEUES is what was allocated: an igb with two channels says 8.
func (d *Device) realQueues() (tx, rx int, ok bool) {
	if d.sys == nil {
		return 0, 0, false
	}
	names, err := d.sys.list("queues")
	if err != nil {
		return 0, 0, false
	}
	for _, name := range names {
		if strings.HasPrefix(name, "tx-") {
			tx++
		} else if strings.HasPrefix(name, "rx-") {
			rx++
		}
	}
	return tx, rx, tx > 0
}

// fiction names the software devices whose driver reports a speed that means nothing, or none.
var fiction = map[string]string{
	"veth":   "veth has no speed of its own (it reports a constant 10 Gbit/s)",
	"netkit": "netkit has no speed of its own",
	"tun":    "a tun or tap device has no speed of its own (it reports a made-up one)",
	"ifb":    "ifb has no speed of its own: frames only pass through the kernel",
	"dummy":  "dummy has no speed of its own: it throws frames away",
	"bridge": "a bridge has no speed of its own (it reports its fastest port's)",
}

// speed reads bit/s and duplex, or says why there is no speed to speak of.
func (d *Device) speed(m linkMsg) (speed uint64, why, duplex string) {
	if why := d.fictional(m); why != "" {
		return 0, why, ""
	}
	if !m.carrier() { // nor would the kernel's answer mean anything; and a read might wait for whoever is taking the link down
		return 0, "no carrier, so no speed", ""
	}
	mbit, err := d.readSys("speed")
	n, bad := strconv.ParseInt(mbit, 10, 64)
	switch {
	case err == nil && bad == nil && n > 0: // -1 is unknown
		speed = uint64(n) * 1e6
	case d.driver == "virtio_net":
		why = "the host of this virtual machine has set no speed"
	case d.sys == nil:
		why = "speed is unknown: " + d.sysErr.Error()
	default:
		why = "the driver reports no speed"
		if d.driver != "" {
			why = d.driver + " reports no speed"
		}
	}
	if s, err := d.readSys("duplex"); err == nil && s != "unknown" {
		duplex = s
	}
	return speed, why, duplex
}

// fictional says why the device's speed is made up; a VLAN or macvlan passes on the speed of what it lies on.
func (d *Device) fictional(m linkMsg) string {
	for range 8 { // VLANs can be stacked, but not for ever
		if why := fiction[m.kind]; why != "" {
			return why
		}
		if m.kind == "" || m.lower == 0 || m.lower == m.index {
			return ""
		}
		var err error
		if m, err = d.linkMsg(m.lower); err != nil {
			return ""
		}
	}
	return ""
}
