package nic

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// The offloads that take a super-frame whole, as `ethtool -k` names them: of UDP, and of TCP with all that a super-frame of it may be.
var (
	UDPSegmentation = []string{"tx-udp-segmentation"}
	TCPSegmentation = []string{"tx-tcp-segmentation", "tx-tcp-ecn-segmentation", "tx-tcp-mangleid-segmentation", "tx-tcp6-segmentation"}
)

// Feature is one offload of a device.
type Feature struct {
	On        bool // in effect
	Requested bool // what was asked for; the same but where another feature is missing
	Fixed     bool // the driver does not let it be changed
}

// Feature reads one offload by its kernel name; errors.Is(err, ErrNotSupported) where the device has none of this name.
func (d *Device) Feature(name string) (Feature, error) {
	return d.view().featureOf(name)
}

func (v *view) featureOf(name string) (Feature, error) {
	all, err := v.features()
	if err != nil {
		return Feature{}, fmt.Errorf("feature %s of %s: %w", name, v.d.Name(), err)
	}
	f, ok := all[name]
	switch {
	case !ok && slices.Contains(sendingFeatures, name): // off, and not to be changed: such are not listed
		return Feature{Fixed: true}, nil
	case !ok:
		return Feature{}, &reason{text: v.d.Name() + " has no feature " + name, is: ErrNotSupported}
	}
	return f, nil
}

// SetFeature switches one offload, this bit only (never one of ethtool's groups, which leave more changed than they say), reads back what became of
// it, and returns the way back. restore is nil where nothing had to be changed. ErrNotSupported where the driver does not allow it, ErrNotPermitted without
// CAP_NET_ADMIN.
func (d *Device) SetFeature(name string, on bool) (restore func() error, err error) {
	was, err := d.Feature(name)
	if err != nil {
		return nil, err
	}
	if was.On == on && (was.Requested == on || was.Fixed) {
		return nil, nil
	}
	if was.Fixed {
		return nil, &reason{text: fmt.Sprintf("%s: %s cannot be changed", d.Name(), name), is: ErrNotSupported}
	}
	if err := d.changeFeature(name, on); err != nil {
		return nil, err
	}
	restore = func() error { return d.changeFeature(name, was.Requested) }
	now, err := d.Feature(name)
	if err == nil && now.On != on {
		err = &reason{text: fmt.Sprintf("%s: %s did not change", d.Name(), name), is: ErrNotSupported}
	}
	if err != nil {
		return nil, errors.Join(err, restore())
	}
	return restore, nil
}

// changeFeature asks for one bit.
func (d *Device) changeFeature(name string, on bool) error {
	err := d.ethSet(unix.ETHTOOL_MSG_FEATURES_SET, "feature "+name, appendBit(nil, unix.ETHTOOL_A_FEATURES_WANTED, name, on))
	if err != nil {
		return fmt.Errorf("feature %s of %s: %w", name, d.Name(), err)
	}
	return nil
}
