package nic

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// Pause is Ethernet flow control as `ethtool -a` shows it.
type Pause struct{ Autoneg, RX, TX bool }

// Pause reads it; errors.Is(err, ErrNotSupported) where the driver has none: "veth has no pause frames". With Autoneg on, RX and TX are
// what is offered to the other side, not what was agreed.
func (d *Device) Pause() (Pause, error) {
	var p Pause
	err := d.ethGet(unix.ETHTOOL_MSG_PAUSE_GET, 0, "pause frames", func(typ uint16, v []byte) {
		on := len(v) > 0 && v[0] != 0
		switch typ {
		case unix.ETHTOOL_A_PAUSE_AUTONEG:
			p.Autoneg = on
		case unix.ETHTOOL_A_PAUSE_RX:
			p.RX = on
		case unix.ETHTOOL_A_PAUSE_TX:
			p.TX = on
		}
	})
	var r *reason
	if err != nil && !errors.As(err, &r) {
		err = fmt.Errorf("pause of %w", err)
	}
	return p, err
}

// pauseValues are what the key for flow control walks through.
var pauseValues = []string{"off", "rx", "tx", "rx+tx", "autoneg"}

// String prints the setting as `pause` takes it: off, rx, tx, rx+tx, or with autonegotiation autoneg, followed by what is less than both.
func (p Pause) String() string {
	sides := "off"
	switch {
	case p.RX && p.TX:
		sides = "rx+tx"
	case p.RX:
		sides = "rx"
	case p.TX:
		sides = "tx"
	}
	switch {
	case !p.Autoneg:
		return sides
	case p.RX && p.TX:
		return "autoneg"
	}
	return "autoneg " + sides
}

// parsePause reads what String prints.
func parsePause(s string) (Pause, error) {
	words := strings.Fields(s)
	var p Pause
	if len(words) > 0 && words[0] == "autoneg" {
		p.Autoneg = true
		if words = words[1:]; len(words) == 0 {
			words = []string{"rx+tx"}
		}
	}
	if len(words) == 1 {
		switch words[0] {
		case "off":
			return p, nil
		case "rx":
			p.RX = true
			return p, nil
		case "tx":
			p.TX = true
			return p, nil
		case "rx+tx", "tx+rx":
			p.RX, p.TX = true, true
			return p, nil
		}
	}
	return Pause{}, badValue(s, "off, rx, tx, rx+tx or autoneg")
}

// samePause tells whether two texts are one setting: with autonegotiation many drivers tell for rx and tx what was agreed, which changes with
// the other side.
func samePause(a, b string) bool {
	p, errA := parsePause(a)
	q, errB := parsePause(b)
	return errA == nil && errB == nil && (p == q || p.Autoneg && q.Autoneg)
}

func (v *view) pauseSettings() []Setting {
	const name, help = "pause", "Ethernet flow control: whether pause frames are obeyed (rx) and sent (tx)"
	d := v.d
	read := func(v *view) (string, error) {
		p, err := once(v, "pause", d.Pause)
		return p.String(), err
	}
	if _, err := read(v); err != nil {
		return []Setting{unsupported(name, GroupPause, help, why(err))}
	}
	return []Setting{{
		Name: name, Group: GroupPause, Help: help, Range: "off, rx, tx, rx+tx or autoneg", Values: pauseValues, Why: netAdmin(), Flaps: true,
		ops: ops{read: read, check: func(text string) error { _, err := parsePause(text); return err }, write: d.setPause, same: samePause, resets: true},
	}}
}

func (d *Device) setPause(text string) error {
	p, err := parsePause(text)
	if err != nil {
		return err
	}
	var a []byte
	a = appendU8(a, unix.ETHTOOL_A_PAUSE_AUTONEG, p.Autoneg)
	a = appendU8(a, unix.ETHTOOL_A_PAUSE_RX, p.RX)
	a = appendU8(a, unix.ETHTOOL_A_PAUSE_TX, p.TX)
	return d.ethSet(unix.ETHTOOL_MSG_PAUSE_SET, "pause frames", a)
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
