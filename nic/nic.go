package nic

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/safchain/ethtool"
	"golang.org/x/sys/unix"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrNotFound     = errors.New("no such device")
	ErrNotSupported = errors.New("not supported by the device")
	ErrNotPermitted = errors.New("not permitted")
)

// Device is a handle to one interface of the present network namespace. It follows the interface through a change of its name. Its
// methods may be called from any goroutine; after Close they return errors.
type Device struct {
	index  int
	driver string
	name   atomic.Pointer[string] // the last one seen
	nl     *conn
	stats  []byte // the request for the counters, guarded by nl
	eth    *ethtool.Ethtool
	sys    *os.Root // /sys/class/net/NAME, which stays right when the interface is renamed; nil if /sys does not show it
	sysErr error    // why sys is nil

	closing  context.Context // ends the watchers
	close    context.CancelFunc
	watchers sync.WaitGroup
	closed   sync.Once
}

// Open finds an interface by its name or by an alternative name. errors.Is(err, ErrNotFound) holds where there is none.
func Open(name string) (*Device, error) {
	nl, err := dial()
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	d := &Device{nl: nl}
	m, err := d.linkByName(name)
	if err != nil {
		nl.close()
		return nil, err
	}
	d.index = m.index
	d.stats = statsRequest(m.index)
	d.name.Store(&m.name)
	if d.eth, err = ethtool.NewEthtool(); err != nil {
		nl.close()
		return nil, fmt.Errorf("open %s: socket for ethtool: %w", name, err)
	}
	// The kind is the better name for a software device (a VLAN's driver is called "802.1Q VLAN Support"); hardware has none.
	d.driver = m.kind
	if d.driver == "" {
		d.driver, _ = d.eth.DriverName(m.name) // "" unknown
	}
	d.sys, d.sysErr = openSys(m)
	d.closing, d.close = context.WithCancel(context.Background())
	return d, nil
}

// Close ends all watchers, waits for them, and frees the handle's sockets; a second call does nothing. It must not be called from a function
// given to Watch.
func (d *Device) Close() (err error) {
	d.closed.Do(func() {
		d.close()
		d.watchers.Wait()
		d.nl.close()
		d.eth.Close()
		if d.sys != nil {
			err = d.sys.Close()
		}
	})
	return err
}

// Name is the interface's name as last seen.
func (d *Device) Name() string { return *d.name.Load() }

// Index is the interface's index in its network namespace; it never changes.
func (d *Device) Index() int { return d.index }

// openSys opens the interface's directory in /sys. Which interfaces /sys shows depends on the network namespace in which it was
// mounted, not on the reader's: index and address must be those that netlink reports.
func openSys(m linkMsg) (*os.Root, error) {
	sys, err := os.OpenRoot("/sys/class/net/" + m.name)
	if err != nil {
		return nil, &reason{text: "/sys does not show " + m.name + " (a device of another network namespace than the mount's?)", is: ErrNotSupported}
	}
	index, _ := sys.ReadFile("ifindex")
	address, _ := sys.ReadFile("address")
	if trim(index) != strconv.Itoa(m.index) || (len(m.mac) == 6 && trim(address) != m.mac.String()) {
		sys.Close()
		return nil, &reason{text: "/sys shows another network namespace's " + m.name + ": run in one with a /sys of its own (ip netns exec)", is: ErrNotSupported}
	}
	return sys, nil
}

// readSys reads one file below the interface's directory in /sys, without the newline.
func (d *Device) readSys(path ...string) (string, error) {
	if d.sys == nil {
		return "", d.sysErr
	}
	b, err := d.sys.ReadFile(filepath.Join(path...))
	return trim(b), d.sysError(err)
}

// writeSys writes one file below the interface's directory in /sys.
func (d *Device) writeSys(text string, path ...string) error {
	if d.sys == nil {
		return d.sysErr
	}
	f, err := d.sys.OpenFile(filepath.Join(path...), os.O_WRONLY, 0)
	if err != nil {
		return d.sysError(err)
	}
	_, err = f.WriteString(text)
	return d.sysError(errors.Join(err, f.Close()))
}

// sysError gives an error of a file in /sys the package's own meaning. A file that is not there is "not supported" while the interface
// is there.
func (d *Device) sysError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrPermission): // EPERM and EACCES
		return fmt.Errorf("%w: %w", ErrNotPermitted, err)
	case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ENODEV):
		if _, gone := d.linkMsg(d.index); gone != nil {
			return gone
		}
		return fmt.Errorf("%w: %w", ErrNotSupported, err)
	case errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Errorf("%w: %w", ErrNotSupported, err)
	}
	return err
}

func trim(b []byte) string { return strings.TrimSpace(string(b)) }
