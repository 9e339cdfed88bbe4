package nic

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"wirespeed/nic/lab/labtest"
)

// TestProtection: eth0 with VLANs eth0.5 and eth0.6, bridge br0 with ports eth1 and eth2, veth pair v0 and v1.
func TestProtection(t *testing.T) {
	links := map[int]linkMsg{}
	for _, m := range []linkMsg{
		{index: 1, name: "lo", kind: ""},
		{index: 2, name: "eth0"},
		{index: 3, name: "eth0.5", kind: "vlan", lower: 2},
		{index: 4, name: "eth0.6", kind: "vlan", lower: 2},
		{index: 5, name: "br0", kind: "bridge"},
		{index: 6, name: "eth1", master: 5},
		{index: 7, name: "eth2", master: 5},
		{index: 8, name: "v0", kind: "veth", lower: 9},
		{index: 9, name: "v1", kind: "veth", lower: 8},
		{index: 10, name: "br0.7", kind: "vlan", lower: 5},
	} {
		links[m.index] = m
	}
	const route, ssh = "the default route", "your ssh session from 192.0.2.7"
	for _, c := range []struct {
		name string
		dev  int
		uses []use
		want string
	}{
		{"nothing is used", 2, nil, ""},
		{"itself", 2, []use{{2, route}}, "eth0 carries the default route"},
		{"both families", 2, []use{{2, route}, {2, route}}, "eth0 carries the default route"},
		{"route and ssh", 2, []use{{2, route}, {2, ssh}}, "eth0 carries the default route; eth0 carries your ssh session from 192.0.2.7"},
		{"another device", 6, []use{{2, route}, {2, ssh}}, ""},
		{"a VLAN's parent", 2, []use{{3, route}}, "eth0.5, which carries the default route, sends through eth0"},
		{"a VLAN", 3, []use{{2, ssh}}, "eth0.5 sends through eth0, which carries your ssh session from 192.0.2.7"},
		{"a VLAN's sibling", 4, []use{{3, route}}, "eth0.6 sends through eth0, and so does eth0.5, which carries the default route"},
		{"a bridge's port", 7, []use{{5, route}}, "br0, which carries the default route, sends through eth2"},
		{"a bridge by its port", 5, []use{{6, route}}, "br0 sends through eth1, which carries the default route"},
		{"a port beside the one in use", 7, []use{{6, route}}, ""},
		{"a port of a VLAN's bridge", 6, []use{{10, route}}, "br0.7, which carries the default route, sends through eth1"},
		{"a veth's peer is not below it", 9, []use{{8, route}}, ""},
		{"a device that is gone since", 2, []use{{77, route}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, protection(links, c.dev, c.uses)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestProtected plants routes in the kernel.
func TestProtected(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	labtest.Pair(t, "w0", "w1", 1)
	v0, w0 := handle(t, "v0"), handle(t, "w0")
	all := func(s string) *net.IPNet {
		_, n, err := net.ParseCIDR(s)
		must(t, err)
		return n
	}
	route := func(r netlink.Route) func(*testing.T) {
		return func(t *testing.T) {
			err := netlink.RouteAdd(&r)
			if r.Dst.IP.To4() == nil && (errors.Is(err, unix.EACCES) || errors.Is(err, unix.EOPNOTSUPP)) {
				t.Skipf("no IPv6 here: %v", err)
			}
			must(t, err)
			t.Cleanup(func() { must(t, netlink.RouteDel(&r)) })
		}
	}
	address := func(l netlink.Link, a string) func(*testing.T) {
		return func(t *testing.T) {
			addr, err := netlink.ParseAddr(a)
			must(t, err)
			must(t, netlink.AddrAdd(l, addr))
			t.Cleanup(func() { must(t, netlink.AddrDel(l, addr)) })
		}
	}
	hop := func(l netlink.Link) *netlink.NexthopInfo {
		return &netlink.NexthopInfo{LinkIndex: l.Attrs().Index}
	}
	for _, c := range []struct {
		name   string
		plant  []func(*testing.T)
		client string // ssh
		want   string // for v0; nothing is ever planted on w0 alone
		other  string
	}{
		{name: "nothing"},
		{
			name: "IPv4 default", want: "v0 carries the default route",
			plant: []func(*testing.T){route(netlink.Route{LinkIndex: v0.Attrs().Index, Dst: all("0.0.0.0/0"), Scope: netlink.SCOPE_LINK})},
		},
		{
			name: "IPv6 default", want: "v0 carries the default route",
			plant: []func(*testing.T){ipv6On("v0"), route(netlink.Route{LinkIndex: v0.Attrs().Index, Dst: all("::/0")})},
		},
		{
			name: "one of two next hops", want: "v0 carries the default route", other: "w0 carries the default route",
			plant: []func(*testing.T){route(netlink.Route{Dst: all("0.0.0.0/0"), MultiPath: []*netlink.NexthopInfo{hop(w0), hop(v0)}})},
		},
		{
			name:  "another route",
			plant: []func(*testing.T){route(netlink.Route{LinkIndex: v0.Attrs().Index, Dst: all("10.0.0.0/8"), Scope: netlink.SCOPE_LINK})},
		},
		{
			name:  "default of another table",
			plant: []func(*testing.T){route(netlink.Route{LinkIndex: v0.Attrs().Index, Dst: all("0.0.0.0/0"), Scope: netlink.SCOPE_LINK, Table: 100})},
		},
		{
			name:  "default that leads nowhere",
			plant: []func(*testing.T){route(netlink.Route{Dst: all("0.0.0.0/0"), Type: unix.RTN_BLACKHOLE})},
		},
		{
			name: "ssh client on the device's own network", want: "v0 carries your ssh session from 192.0.2.7",
			plant: []func(*testing.T){address(v0, "192.0.2.1/24")}, client: "192.0.2.7",
		},
		{
			name: "ssh client behind the default route", want: "v0 carries the default route; v0 carries your ssh session from 203.0.113.9",
			plant: []func(*testing.T){
				address(v0, "192.0.2.1/24"),
				route(netlink.Route{LinkIndex: v0.Attrs().Index, Dst: all("0.0.0.0/0"), Gw: net.IPv4(192, 0, 2, 254)}),
			},
			client: "203.0.113.9",
		},
		{
			name: "ssh client with a zone", want: "v0 carries your ssh session from fe80::1%v0",
			client: "fe80::1%v0",
		},
		{name: "ssh client out of reach", client: "203.0.113.9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, plant := range c.plant {
				plant(t)
			}
			var clients []netip.Addr
			if c.client != "" {
				clients = append(clients, netip.MustParseAddr(c.client))
			}
			for dev, want := range map[string]string{"v0": c.want, "w0": c.other} {
				if got, err := open(t, dev).protected(clients); err != nil || got != want {
					t.Errorf("%s: %q, %v; want %q", dev, got, err, want)
				}
			}
		})
	}
	t.Run("gone", func(t *testing.T) {
		d := open(t, "v0")
		must(t, netlink.LinkDel(v0))
		if why, err := d.Protected(); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q, %v; want ErrNotFound", why, err)
		}
	})
}

// ipv6On allows IPv6, which labs switch off, on one device.
func ipv6On(dev string) func(*testing.T) {
	return func(t *testing.T) {
		if err := os.WriteFile("/proc/sys/net/ipv6/conf/"+dev+"/disable_ipv6", []byte("0"), 0); err != nil {
			t.Skip(err)
		}
	}
}

// TestSSHClientsOfParents: sudo clears the environment, the shell that called it has it still.
func TestSSHClientsOfParents(t *testing.T) {
	if os.Getenv("TEST_SSH_CLIENTS") != "" {
		for _, a := range sshClients() {
			os.Stdout.WriteString("client " + a.String() + "\n")
		}
		return
	}
	exe, err := os.Readlink("/proc/self/exe")
	must(t, err)
	// "true" keeps the shell from giving its place to the last command.
	cmd := exec.Command("bash", "-c", `env -u SSH_CONNECTION "$0" -test.run='^TestSSHClientsOfParents$'; true`, exe)
	cmd.Env = append(os.Environ(), "TEST_SSH_CLIENTS=1", "SSH_CONNECTION=2001:db8::7 50000 2001:db8::1 22")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "client 2001:db8::7\n") {
		t.Errorf("%v, output:\n%s", err, out)
	}
}

func TestParseSSH(t *testing.T) {
	for _, c := range []struct {
		in   string
		want string
	}{
		{"192.0.2.7 50000 192.0.2.1 22", "192.0.2.7"},
		{"::ffff:192.0.2.7 50000 ::ffff:192.0.2.1 22", "192.0.2.7"},
		{"fe80::1%eth0 50000 fe80::2%eth0 22", "fe80::1%eth0"},
		{"192.0.2.7 50000", ""},
		{"UNKNOWN 65535 UNKNOWN 65535", ""}, // what sshd writes when it does not know
		{"", ""},
	} {
		a, ok := parseSSH(c.in)
		if ok != (c.want != "") || ok && a != netip.MustParseAddr(c.want) {
			t.Errorf("%q: %v, %v; want %q", c.in, a, ok, c.want)
		}
	}
}

func TestParentOf(t *testing.T) {
	for stat, want := range map[string]int{
		"12 (bash) S 7 12 12 0":           7,
		"12 (a) R 9 (b) (c)) S 7 12 12 0": 7,
		"1 (init) S 0 1 1":                0,
		"12 (bash) S":                     0,
		"12 (bash) S x":                   0,
		"":                                0,
	} {
		if got := parentOf(stat); got != want {
			t.Errorf("%q: %d, want %d", stat, got, want)
		}
	}
}

func FuzzParentOf(f *testing.F) {
	f.Add("12 (a) R 9 (b) (c)) S 7 12 12 0")
	f.Fuzz(func(t *testing.T, s string) {
		parentOf(s)
		if a, ok := parseSSH(s); ok != a.IsValid() {
			t.Errorf("%q: %v, %v", s, a, ok)
		}
	})
}
