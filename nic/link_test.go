package nic

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"wirespeed/nic/lab/labtest"
)

func TestLink(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 3)
	v0, v1 := handle(t, "v0"), handle(t, "v1")
	must(t, netlink.LinkSetMTU(v0, 1400))
	d := open(t, "v0")

	want := Link{
		Name: "v0", Index: v0.Attrs().Index, Software: true, Driver: "veth", MTU: 1400, Up: true, Carrier: true,
		SpeedWhy: "veth has no speed of its own (it reports a constant 10 Gbit/s)",
		TxQueues: 3, RxQueues: 3, Qdisc: "noqueue", Peer: v1.Attrs().Index,
	}
	copy(want.MAC[:], v0.Attrs().HardwareAddr)
	check := func(what string) {
		t.Helper()
		got, err := d.Link()
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("as made")

	must(t, netlink.LinkSetDown(v1))
	want.Carrier = false
	check("peer down")

	must(t, netlink.LinkSetDown(v0))
	want.Up = false
	check("down")

	must(t, netlink.LinkSetName(v0, "v0new"))
	want.Name = "v0new"
	check("renamed")
	if _, err := d.readSys("mtu"); err != nil {
		t.Errorf("/sys after the new name: %v", err)
	}
	if d.Name() != "v0new" {
		t.Errorf("Name() = %s", d.Name())
	}

	must(t, netlink.LinkDel(v0))
	if _, err := d.Link(); !errors.Is(err, ErrNotFound) || err.Error() != "v0new: no such device" {
		t.Errorf("removed: %v, want ErrNotFound", err)
	}
}

// TestLinkRealQueues: what was allocated is not what is used.
func TestLinkRealQueues(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 4)
	if out := run(t, "ethtool", "-L", "v0", "tx", "2"); out != "" {
		t.Log(out)
	}
	l, err := open(t, "v0").Link()
	must(t, err)
	allocated := handle(t, "v0").Attrs().NumTxQueues
	if l.TxQueues != 2 || l.RxQueues != 4 || allocated != 4 {
		t.Errorf("%d transmit and %d receive queues, %d allocated; want 2, 4, 4", l.TxQueues, l.RxQueues, allocated)
	}
}

func TestLinkPeerInOtherNamespace(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	elsewhere := otherNamespace(t)
	must(t, netlink.LinkSetNsFd(handle(t, "v1"), elsewhere))
	if l, err := open(t, "v0").Link(); err != nil || l.Peer != 0 {
		t.Errorf("peer %d, %v; want 0: the index means nothing here", l.Peer, err)
	}
}

// TestSpeedIsUnknown: whatever these devices report, it is no speed.
func TestSpeedIsUnknown(t *testing.T) {
	attrs := func(name string) netlink.LinkAttrs {
		a := netlink.NewLinkAttrs()
		a.Name = name
		return a
	}
	for _, c := range []struct {
		name string
		link func(*testing.T) netlink.Link
		why  string
	}{
		{"ifb", func(*testing.T) netlink.Link { return &netlink.Ifb{LinkAttrs: attrs("d0")} }, "ifb has no speed of its own"},
		{"dummy", func(*testing.T) netlink.Link { return &netlink.Dummy{LinkAttrs: attrs("d0")} }, "dummy has no speed of its own"},
		{"bridge", func(*testing.T) netlink.Link { return &netlink.Bridge{LinkAttrs: attrs("d0")} }, "a bridge has no speed of its own"},
		{"tun", func(*testing.T) netlink.Link {
			return &netlink.Tuntap{LinkAttrs: attrs("d0"), Mode: netlink.TUNTAP_MODE_TAP}
		}, "a tun or tap device has no speed of its own"},
		{"macvlan on veth", func(t *testing.T) netlink.Link {
			labtest.Pair(t, "v0", "v1", 1)
			a := attrs("d0")
			a.ParentIndex = handle(t, "v0").Attrs().Index
			return &netlink.Macvlan{LinkAttrs: a, Mode: netlink.MACVLAN_MODE_BRIDGE}
		}, "veth has no speed of its own"},
		{"vlan on veth", func(t *testing.T) netlink.Link {
			labtest.Pair(t, "v0", "v1", 1)
			a := attrs("d0")
			a.ParentIndex = handle(t, "v0").Attrs().Index
			return &netlink.Vlan{LinkAttrs: a, VlanId: 5, VlanProtocol: netlink.VLAN_PROTOCOL_8021Q}
		}, "veth has no speed of its own"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "tun" {
				f, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0)
				if err != nil {
					t.Skip(err)
				}
				f.Close()
			}
			link := c.link(t)
			add(t, link)
			must(t, netlink.LinkSetUp(link))
			l, err := open(t, "d0").Link()
			must(t, err)
			if l.Speed != 0 || !strings.HasPrefix(l.SpeedWhy, c.why) || l.Duplex != "" {
				t.Errorf("speed %d (%s) duplex %q, want unknown because %s", l.Speed, l.SpeedWhy, l.Duplex, c.why)
			}
			if l.Driver != link.Type() && !strings.HasPrefix(l.Driver, "tun") {
				t.Errorf("driver %q, want %q", l.Driver, link.Type())
			}
		})
	}
}

func TestParseLink(t *testing.T) {
	attr := func(typ uint16, v string) []byte { return appendAttr(nil, typ, []byte(v)) }
	msg := func(flags uint32, attrs ...[]byte) []byte {
		b := make([]byte, unix.SizeofIfInfomsg)
		native.PutUint32(b[4:], 7)
		native.PutUint32(b[8:], flags)
		for _, a := range attrs {
			b = append(b, a...)
		}
		return b
	}
	for _, c := range []struct {
		name string
		in   []byte
		want linkMsg
		err  error
	}{
		{name: "empty", err: errShort},
		{name: "header only", in: msg(unix.IFF_UP), want: linkMsg{index: 7, flags: unix.IFF_UP}},
		{
			name: "veth", in: msg(0, attr(unix.IFLA_IFNAME, "v0\x00"), attr(unix.IFLA_LINK, "\x08\x00\x00\x00"),
				attr(unix.IFLA_LINKINFO|unix.NLA_F_NESTED, string(attr(unix.IFLA_INFO_KIND, "veth\x00")))),
			want: linkMsg{index: 7, name: "v0", lower: 8, kind: "veth"},
		},
		{
			name: "peer in another namespace", in: msg(0, attr(unix.IFLA_LINK, "\x08\x00\x00\x00"), attr(unix.IFLA_LINK_NETNSID, "\x00\x00\x00\x00")),
			want: linkMsg{index: 7},
		},
		{name: "value cut short", in: msg(0, attr(unix.IFLA_MTU, "\x08")), want: linkMsg{index: 7}},
		{name: "attribute longer than the message", in: msg(0, []byte{255, 0, 4, 0, 1}), want: linkMsg{index: 7}},
		{name: "attribute of length 0", in: msg(0, []byte{0, 0, 4, 0}), want: linkMsg{index: 7}},
		{name: "address", in: msg(0, attr(unix.IFLA_ADDRESS, "\x02\x00\x00\x00\x00\x01")), want: linkMsg{index: 7, mac: net.HardwareAddr{2, 0, 0, 0, 0, 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseLink(c.in)
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(linkMsg{})); diff != "" || err != c.err {
				t.Errorf("error %v, want %v (-want +got):\n%s", err, c.err, diff)
			}
		})
	}
}

func FuzzParseLink(f *testing.F) {
	nl, err := dial()
	if err != nil {
		f.Fatal(err)
	}
	defer nl.close()
	if err := nl.talk(request(unix.RTM_GETLINK, 0, ifinfo(1)...), func(_ uint16, b []byte) error { f.Add(b); return nil }); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := parseLink(b); (err != nil) != (len(b) < unix.SizeofIfInfomsg) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
		n := 0
		for m := range messages(b) {
			n += unix.SizeofNlMsghdr + len(m.body)
		}
		if n > len(b) {
			t.Errorf("%d bytes of messages in %d", n, len(b))
		}
		parseStats(b, &Counters{})
	})
}
