package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Enter finishes the namespaces inside the child: its own mount tree with its own /sys, IPv6 off for all devices to come, lo left down.
// ErrRefused where a security module refuses what the new user namespace should allow.
func Enter() error {
	// Without this, mounts would show up in the parent's tree where that is shared (systemd makes it so).
	if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return refused("make the mounts private", err)
	}
	// AppArmor lets an unprivileged process make the namespace and then takes its rights away: asking for something harmless that needs
	// them is the only way to know. lo is down in a new namespace, and stays so.
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return refused("look at lo", err)
	}
	if err := netlink.LinkSetDown(lo); err != nil {
		return refused("set lo down", err)
	}
	if err := mountSys(); err != nil {
		return err
	}
	return ipv6Off()
}

// mountSys gives the process a /sys that shows its own network namespace: /sys/class/net shows that of the mount, not of the reader.
func mountSys() error {
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	err := unix.Mount("sysfs", "/sys", "sysfs", flags, "")
	if err == nil {
		return nil
	}
	// In a container whose /sys is read-only a writable one would say more than the container may see (mount_too_revealing), and where
	// parts are masked none can be mounted at all. Then an empty directory is better than the devices of the host.
	if err = unix.Mount("sysfs", "/sys", "sysfs", flags|unix.MS_RDONLY, ""); err == nil {
		return nil
	}
	if err = unix.Mount("tmpfs", "/sys/class/net", "tmpfs", flags, "mode=755"); err != nil {
		return fmt.Errorf("give the lab a /sys of its own: %w", err)
	}
	return nil
}

// ipv6Off keeps the devices to come free of addresses, router solicitations and listener reports: no frame but ours.
func ipv6Off() error {
	for _, scope := range []string{"default", "all"} {
		err := os.WriteFile("/proc/sys/net/ipv6/conf/"+scope+"/disable_ipv6", []byte("1\n"), 0)
		switch {
		case err == nil, errors.Is(err, fs.ErrNotExist): // a kernel without IPv6
		case errors.Is(err, unix.EROFS): // a container: Pair has another way
		default:
			return fmt.Errorf("switch IPv6 off: %w", err)
		}
	}
	return nil
}
