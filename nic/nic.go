package nic

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/safchain/ethtool"
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
	index       int
	driver      string
	name        atomic.Pointer[string] // the last one seen
	nl          *conn
	stats       []byte // the request for the counters, guarded by nl
	eth         *ethtool.Ethtool
	ethnl       *ethtoolConn // nil if the kernel has none
	ethnlErr    error        // why ethnl is nil
	statBuffers statBuffers
	sys         *sysDir // nil if /sys does not show the interface
	sysErr      error   // why sys is nil

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
	return d.open(m)
}

// openIndex finds an interface by its index.
func openIndex(index int) (*Device, error) {
	nl, err := dial()
	if err != nil {
		return nil, fmt.Errorf("open interface %d: %w", index, err)
	}
	d := &Device{nl: nl}
	name := fmt.Sprintf("interface %d", index)
	d.name.Store(&name)
	m, err := d.linkMsg(index)
	if err != nil {
		nl.close()
		return nil, err
	}
	return d.open(m)
}

// open makes the rest of a handle that has its first socket; on an error it closes that.
func (d *Device) open(m linkMsg) (_ *Device, err error) {
	d.index = m.index
	d.stats = statsRequest(m.index)
	d.name.Store(&m.name)
	if d.eth, err = ethtool.NewEthtool(); err != nil {
		d.nl.close()
		return nil, fmt.Errorf("open %s: socket for ethtool: %w", m.name, err)
	}
	d.ethnl, d.ethnlErr = dialEthtool()
	// The kind is the better name for a software device (a VLAN's driver is called "802.1Q VLAN Support"); hardware has none.
	d.driver = m.kind
	if d.driver == "" {
		withStack(func() { d.driver, _ = d.eth.DriverName(m.name) }) // "" unknown
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
		if d.ethnl != nil {
			d.ethnl.close()
		}
		if d.sys != nil {
			err = d.sys.dir.Close()
		}
	})
	return err
}

// Name is the interface's name as last seen.
func (d *Device) Name() string { return *d.name.Load() }

// Index is the interface's index in its network namespace; it never changes.
func (d *Device) Index() int { return d.index }
