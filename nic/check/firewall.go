package check

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"wirespeed/nic"
	"wirespeed/nic/host"
)

// Chain is a chain of nftables that is hooked into the way of packets.
type Chain struct {
	Family  string // netdev, inet, ip, ip6, arp, bridge
	Table   string
	Name    string
	Hook    uint32
	Devices []string // of family netdev
}

// Hooks of family netdev (include/uapi/linux/netfilter.h).
const (
	hookIngress = 0
	hookEgress  = 1
)

// readFirewall lists nftables' chains and iptables' tables. It asks only a kernel that has the module in: asking would load it.
func readFirewall(root host.Root) (chains Known[[]Chain], tables Known[[]string]) {
	there, err := root.Exists("sys/module/nf_tables")
	switch {
	case err != nil:
		chains.Err = err
	case there:
		chains = know(readChains())
	}
	for _, name := range []string{"ip_tables_names", "ip6_tables_names"} {
		s, err := root.Text("proc/net/" + name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			tables.Err = err
		}
		for _, table := range strings.Fields(s) {
			tables.V = append(tables.V, strings.TrimSuffix(name, "_tables_names")+" "+table)
		}
	}
	return chains, tables
}

func readChains() ([]Chain, error) {
	req := nl.NewNetlinkRequest(unix.NFNL_SUBSYS_NFTABLES<<8|unix.NFT_MSG_GETCHAIN, unix.NLM_F_DUMP)
	req.AddRawData([]byte{unix.AF_UNSPEC, unix.NFNETLINK_V0, 0, 0}) // struct nfgenmsg
	messages, err := req.Execute(unix.NETLINK_NETFILTER, 0)
	switch {
	case errors.Is(err, unix.EPERM):
		return nil, fmt.Errorf("nftables: %w: needs CAP_NET_ADMIN", nic.ErrNotPermitted)
	case err != nil:
		return nil, fmt.Errorf("nftables: %w", err)
	}
	var list []Chain
	for _, m := range messages {
		if c, hooked := parseChain(m); hooked {
			list = append(list, c)
		}
	}
	return list, nil
}

var families = map[byte]string{1: "inet", 2: "ip", 3: "arp", 5: "netdev", 7: "bridge", 10: "ip6"}

// parseChain reads a struct nfgenmsg and the attributes of a chain; hooked is false for one that other chains jump to.
func parseChain(b []byte) (c Chain, hooked bool) {
	if len(b) < 4 {
		return c, false
	}
	c.Family = families[b[0]]
	for typ, v := range netlinkAttrs(b[4:]) {
		switch typ {
		case unix.NFTA_CHAIN_TABLE:
			c.Table = cString(v)
		case unix.NFTA_CHAIN_NAME:
			c.Name = cString(v)
		case unix.NFTA_CHAIN_HOOK:
			hooked = true
			for typ, v := range netlinkAttrs(v) {
				switch {
				case typ == unix.NFTA_HOOK_HOOKNUM && len(v) >= 4:
					c.Hook = binary.BigEndian.Uint32(v)
				case typ == unix.NFTA_HOOK_DEV:
					c.Devices = append(c.Devices, cString(v))
				case typ == nftaHookDevs:
					for _, v := range netlinkAttrs(v) {
						if dev := cString(v); !slices.Contains(c.Devices, dev) {
							c.Devices = append(c.Devices, dev)
						}
					}
				}
			}
		}
	}
	return c, hooked
}

const nftaHookDevs = 4 // NFTA_HOOK_DEVS

// netlinkAttrs walks over attributes and ends at the first that is malformed.
func netlinkAttrs(b []byte) iter.Seq2[uint16, []byte] {
	return func(yield func(uint16, []byte) bool) {
		for len(b) >= 4 {
			n := int(binary.NativeEndian.Uint16(b))
			if n < 4 || n > len(b) {
				return
			}
			if !yield(binary.NativeEndian.Uint16(b[2:])&^(unix.NLA_F_NESTED|unix.NLA_F_NET_BYTEORDER), b[4:n]) {
				return
			}
			b = b[min((n+3)&^3, len(b)):]
		}
	}
}

func cString(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}
