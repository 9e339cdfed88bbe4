package lab

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// addrGenNone is IN6_ADDR_GEN_MODE_NONE of linux/if_link.h: no link-local address is made.
const addrGenNone = 1

// carrierWait bounds the wait for both ends; the kernel's own link watch needs milliseconds.
const carrierWait = 2 * time.Second

// Pair makes a veth pair named a, b with queues transmit and receive queues each: no addresses, IPv6 off before the links go up, both up.
// It returns when both can carry frames. What went wrong leaves no device behind.
func Pair(a, b string, queues int) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = a
	attrs.NumTxQueues, attrs.NumRxQueues = queues, queues
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: b, PeerTxQLen: -1}); err != nil {
		return refused(fmt.Sprintf("make the veth pair %s, %s with %d queues", a, b, queues), err)
	}
	if err := raise(a, b); err != nil {
		return errors.Join(err, Delete(a))
	}
	return nil
}

// Delete removes a device made by Pair, and with it its other end. A device that is gone already is no error.
func Delete(name string) error {
	link, err := netlink.LinkByName(name)
	if errors.As(err, &netlink.LinkNotFoundError{}) {
		return nil
	}
	if err == nil {
		err = netlink.LinkDel(link)
	}
	if err != nil && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("delete %s: %w", name, err)
	}
	return nil
}

// raise sets the ends up, each without IPv6, and waits until both carry.
func raise(ends ...string) error {
	for _, name := range ends {
		if err := quiet(name); err != nil {
			return err
		}
	}
	for _, name := range ends {
		link, err := netlink.LinkByName(name)
		if err == nil {
			err = netlink.LinkSetUp(link)
		}
		if err != nil {
			return fmt.Errorf("set %s up: %w", name, err)
		}
	}
	for _, name := range ends {
		if err := waitCarrier(name); err != nil {
			return err
		}
	}
	return nil
}

// quiet makes sure that the end sends nothing of its own once it is up.
func quiet(name string) error {
	file := "/proc/sys/net/ipv6/conf/" + name + "/disable_ipv6"
	now, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) || (err == nil && bytes.Equal(bytes.TrimSpace(now), []byte("1"))) {
		return nil
	}
	if err = os.WriteFile(file, []byte("1\n"), 0); err == nil {
		return nil
	}
	// Where sysctls are read-only: without a link-local address there is no discovery either.
	link, err := netlink.LinkByName(name)
	if err == nil {
		err = netlink.LinkSetIP6AddrGenMode(link, addrGenNone)
	}
	if err != nil {
		return fmt.Errorf("switch IPv6 off on %s: %w", name, err)
	}
	return nil
}

// waitCarrier polls: a subscription would have to be made before the link goes up, for a wait of a millisecond or two.
func waitCarrier(name string) error {
	for end := time.Now().Add(carrierWait); ; time.Sleep(time.Millisecond) {
		link, err := netlink.LinkByName(name)
		if err != nil {
			return fmt.Errorf("wait for %s: %w", name, err)
		}
		if link.Attrs().OperState == netlink.OperUp {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s does not come up: it is %s after %v", name, link.Attrs().OperState, carrierWait)
		}
	}
}
