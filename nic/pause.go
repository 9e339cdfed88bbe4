package nic

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Pause is Ethernet flow control as `ethtool -a` shows it.
type Pause struct{ Autoneg, RX, TX bool }

// Pause reads it; errors.Is(err, ErrNotSupported) where the driver has none: "veth has no pause frames". With Autoneg on, RX and TX are
// what is offered to the other side, not what was agreed.
func (d *Device) Pause() (Pause, error) {
	m, err := d.linkMsg(d.index) // ethtool goes by the name, which may have changed
	if err != nil {
		return Pause{}, fmt.Errorf("pause of %w", err)
	}
	p, err := d.eth.GetPause(m.name)
	switch {
	case err == nil:
		return Pause{Autoneg: p.Autoneg != 0, RX: p.RxPause != 0, TX: p.TxPause != 0}, nil
	case errors.Is(err, unix.EOPNOTSUPP):
		return Pause{}, &reason{text: d.kind() + " has no pause frames", is: ErrNotSupported}
	case errors.Is(err, unix.ENODEV):
		err = ErrNotFound
	}
	return Pause{}, fmt.Errorf("pause of %s: %w", m.name, err)
}

// kind is the driver for use in a sentence.
func (d *Device) kind() string {
	if d.driver == "" {
		return d.Name()
	}
	return d.driver
}

// reason is an error that is a whole sentence for the operator, and still one of the package's sentinels.
type reason struct {
	text string
	is   error
}

func (r *reason) Error() string { return r.text }
func (r *reason) Unwrap() error { return r.is }
