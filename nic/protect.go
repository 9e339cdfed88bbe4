package nic

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Protected says in words why sending on the device would be dangerous: it carries the default route (of the main table, IPv4 or IPv6), or
// the operator's own ssh session, itself or as a part of what does: a bridge's or bond's port, the parent of a VLAN or macvlan, or one that
// sends through the same parent. "" if it does not. errors.Is(err, ErrNotFound) holds once the interface is gone.
//
// The ssh session is known from SSH_CONNECTION, in the environment of the process or of a parent that may be read (sudo clears it), and its
// device is the one by which the kernel would reach the client now.
func (d *Device) Protected() (why string, err error) { return d.protected(sshClients()) }

// protected is Protected for an operator who may be logged in from any of the clients.
func (d *Device) protected(clients []netip.Addr) (why string, err error) {
	links, err := d.links()
	if err != nil {
		return "", err
	}
	if _, ok := links[d.index]; !ok {
		return "", fmt.Errorf("%s: %w", d.Name(), ErrNotFound)
	}
	uses, err := defaultRoutes()
	if err != nil {
		return "", fmt.Errorf("is %s in use: %w", d.Name(), err)
	}
	for _, client := range clients {
		if index, ok := towards(client, links); ok {
			uses = append(uses, use{index, "your ssh session from " + client.String()})
		}
	}
	return protection(links, d.index, uses), nil
}

// use is what a device is needed for.
type use struct {
	index int
	what  string
}

// links lists all interfaces by index.
func (d *Device) links() (map[int]linkMsg, error) {
	links := map[int]linkMsg{}
	err := d.nl.talk(request(unix.RTM_GETLINK, unix.NLM_F_DUMP, ifinfo(0)...), func(_ uint16, body []byte) error {
		m, err := parseLink(body)
		links[m.index] = m
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list interfaces: %w", err)
	}
	return links, nil
}

// protection is the sentence for a device, given what all the others are needed for.
func protection(links map[int]linkMsg, index int, uses []use) string {
	var why []string
	mine, name := through(links, index), links[index].name
	for _, u := range uses {
		theirs, user := through(links, u.index), links[u.index].name
		shared := slices.IndexFunc(mine, func(i int) bool { return slices.Contains(theirs, i) })
		var s string
		switch {
		case u.index == index:
			s = fmt.Sprintf("%s carries %s", name, u.what)
		case slices.Contains(theirs, index):
			s = fmt.Sprintf("%s, which carries %s, sends through %s", user, u.what, name)
		case slices.Contains(mine, u.index):
			s = fmt.Sprintf("%s sends through %s, which carries %s", name, user, u.what)
		case shared >= 0:
			s = fmt.Sprintf("%s sends through %s, and so does %s, which carries %s", name, links[mine[shared]].name, user, u.what)
		default:
			continue
		}
		if !slices.Contains(why, s) { // IPv4 and IPv6
			why = append(why, s)
		}
	}
	return strings.Join(why, "; ")
}

// through lists a device and all devices that its frames may leave by: the ports of a bridge or bond, and what a VLAN lies on.
func through(links map[int]linkMsg, index int) []int {
	found := []int{index}
	for i := 0; i < len(found); i++ { // grows while it is walked
		below := func(j int) {
			if j != 0 && !slices.Contains(found, j) {
				found = append(found, j)
			}
		}
		if m := links[found[i]]; !m.peers() {
			below(m.lower)
		}
		for j, m := range links {
			if m.master == found[i] {
				below(j)
			}
		}
	}
	return found
}

// defaultRoutes lists the devices of the default routes in the main table.
func defaultRoutes() (uses []use, err error) {
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		routes, err := mainTable(family)
		if err != nil {
			return nil, fmt.Errorf("list routes: %w", err)
		}
		for _, r := range routes {
			if r.Type != unix.RTN_UNICAST || !isDefault(r) {
				continue
			}
			uses = append(uses, use{r.LinkIndex, "the default route"})
			for _, hop := range r.MultiPath {
				uses = append(uses, use{hop.LinkIndex, "the default route"})
			}
		}
	}
	return slices.DeleteFunc(uses, func(u use) bool { return u.index == 0 }), nil
}

func mainTable(family int) ([]netlink.Route, error) {
	for range 10 {
		routes, err := netlink.RouteListFiltered(family, &netlink.Route{Table: unix.RT_TABLE_MAIN}, netlink.RT_FILTER_TABLE)
		switch {
		case errors.Is(err, netlink.ErrDumpInterrupted): // the table changed meanwhile
			continue
		case errors.Is(err, unix.EAFNOSUPPORT), errors.Is(err, unix.EOPNOTSUPP): // a kernel without IPv6
			return nil, nil
		}
		return routes, err
	}
	return nil, errors.New("the table changes all the time")
}

func isDefault(r netlink.Route) bool {
	if r.Dst == nil {
		return true
	}
	ones, _ := r.Dst.Mask.Size()
	return ones == 0
}

// towards finds the device by which the kernel would send to an address.
func towards(to netip.Addr, links map[int]linkMsg) (index int, ok bool) {
	if zone := to.Zone(); zone != "" {
		for i, m := range links {
			if m.name == zone {
				return i, true
			}
		}
		return 0, false
	}
	routes, err := netlink.RouteGet(to.AsSlice())
	if err != nil || len(routes) == 0 { // unreachable from this network namespace: then nothing here carries the session
		return 0, false
	}
	return routes[0].LinkIndex, true
}
