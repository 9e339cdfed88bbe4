package nic

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The plain numbers and switches of ethtool: rings (-g, -G) and interrupt coalescing (-c, -C). One row each.

// number is a parameter that one attribute of an ethtool message carries.
type number struct {
	name, help string
	attr       uint16
	max        uint16 // the attribute with its greatest value, 0 none
	least      uint64 // that the kernel takes; a driver may round up
	onOff      bool   // a switch
}

// numbers are those of one pair of messages.
type numbers struct {
	group    string
	what     string // "no ... " for a driver that has none at all
	get, set uint8
	flaps    bool
	list     []number
}

var ethNumbers = []numbers{
	{
		group: GroupRings, what: "rings to set", get: unix.ETHTOOL_MSG_RINGS_GET, set: unix.ETHTOOL_MSG_RINGS_SET, flaps: true,
		list: []number{
			{name: "rings.tx", help: "descriptors of each transmit queue's ring", attr: unix.ETHTOOL_A_RINGS_TX, max: unix.ETHTOOL_A_RINGS_TX_MAX, least: 1},
			{name: "rings.rx", help: "descriptors of each receive queue's ring", attr: unix.ETHTOOL_A_RINGS_RX, max: unix.ETHTOOL_A_RINGS_RX_MAX, least: 1},
		},
	},
	{
		group: GroupCoalesce, what: "interrupt coalescing", get: unix.ETHTOOL_MSG_COALESCE_GET, set: unix.ETHTOOL_MSG_COALESCE_SET,
		list: []number{
			{name: "coalesce.tx-usecs", help: "microseconds a transmit interrupt may wait", attr: unix.ETHTOOL_A_COALESCE_TX_USECS},
			{name: "coalesce.tx-frames", help: "frames a transmit interrupt may wait for", attr: unix.ETHTOOL_A_COALESCE_TX_MAX_FRAMES},
			{name: "coalesce.rx-usecs", help: "microseconds a receive interrupt may wait", attr: unix.ETHTOOL_A_COALESCE_RX_USECS},
			{name: "coalesce.rx-frames", help: "frames a receive interrupt may wait for", attr: unix.ETHTOOL_A_COALESCE_RX_MAX_FRAMES},
			{name: "coalesce.adaptive-tx", help: "whether the driver chooses the transmit times itself", attr: unix.ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX, onOff: true},
			{name: "coalesce.adaptive-rx", help: "whether the driver chooses the receive times itself", attr: unix.ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX, onOff: true},
		},
	},
}

// values asks for all numbers of one message, by attribute; one that is not there is one that the driver has not.
func (n numbers) values(v *view) (map[uint16]uint64, error) {
	return once(v, n.group, func() (map[uint16]uint64, error) {
		m := make(map[uint16]uint64)
		err := v.d.ethGet(n.get, 0, n.what, func(typ uint16, b []byte) {
			switch len(b) {
			case 1:
				m[typ] = uint64(b[0])
			case 4:
				m[typ] = uint64(u32(b))
			}
		})
		return m, err
	})
}

func (v *view) numberSettings() (list []Setting) {
	for _, group := range ethNumbers {
		values, err := group.values(v)
		for _, n := range group.list {
			if err != nil {
				list = append(list, unsupported(n.name, group.group, n.help, why(err)))
				continue
			}
			max := values[n.max]
			if _, ok := values[n.attr]; !ok || n.max != 0 && max == 0 {
				list = append(list, unsupported(n.name, group.group, n.help, v.d.kind()+" has no "+n.name))
				continue
			}
			list = append(list, v.number(group, n, max))
		}
	}
	return list
}

func (v *view) number(group numbers, n number, max uint64) Setting {
	s := Setting{
		Name: n.name, Group: group.group, Help: n.help, Range: numberRange(n.least, max), Min: n.least, Max: max,
		Why: netAdmin(), Flaps: group.flaps,
	}
	if n.onOff {
		s.Range, s.Values = "on or off", []string{"on", "off"}
	}
	s.read = func(v *view) (string, error) {
		values, err := group.values(v)
		if err != nil {
			return "", err
		}
		if n.onOff {
			return onOff(values[n.attr] != 0), nil
		}
		return strconv.FormatUint(values[n.attr], 10), nil
	}
	set := func(text string, least, max uint64) error {
		if n.onOff {
			on, err := parseSwitch(text)
			if err != nil {
				return err
			}
			return v.d.ethSet(group.set, n.name, appendU8(nil, n.attr, on))
		}
		x, err := parseNumber(text, least, max)
		if err != nil {
			return err
		}
		return v.d.ethSet(group.set, n.name, appendU32(nil, n.attr, uint32(x)))
	}
	if !n.onOff {
		s.check = func(text string) error { _, err := parseNumber(text, n.least, max); return err }
	}
	s.write = func(text string) error { return set(text, n.least, max) }
	s.load = func(saved string) error { return set(saved, 0, 0) } // what was there is right, also 0 (netdevsim)
	s.resets = true
	return s
}

// channels are a device's queues as `ethtool -l` shows them, now and at most.
type channels struct{ now, max [3]uint32 }

// The kinds of channels, in the order of the arrays and of the text.
var channelKinds = [3]struct {
	name       string
	count, max uint16
}{
	{"combined", unix.ETHTOOL_A_CHANNELS_COMBINED_COUNT, unix.ETHTOOL_A_CHANNELS_COMBINED_MAX},
	{"rx", unix.ETHTOOL_A_CHANNELS_RX_COUNT, unix.ETHTOOL_A_CHANNELS_RX_MAX},
	{"tx", unix.ETHTOOL_A_CHANNELS_TX_COUNT, unix.ETHTOOL_A_CHANNELS_TX_MAX},
}

// String prints "combined 2" or "rx 1 tx 2": what parse reads.
func (c channels) String() string {
	var words []string
	for i, kind := range channelKinds {
		if c.now[i] > 0 {
			words = append(words, fmt.Sprintf("%s %d", kind.name, c.now[i]))
		}
	}
	return strings.Join(words, " ")
}

// limits is the range in words.
func (c channels) limits() string {
	var words []string
	for i, kind := range channelKinds {
		if c.max[i] > 0 {
			words = append(words, fmt.Sprintf("%s 1 .. %d", kind.name, c.max[i]))
		}
	}
	return strings.Join(words, ", ")
}

// parse reads a text into the counts; a bare number is as many as that of the kind that the device has.
func (c channels) parse(s string) (channels, error) {
	words := strings.Fields(s)
	if len(words) == 1 {
		if c.max[0] > 0 {
			words = []string{"combined", words[0]}
		} else {
			words = []string{"rx", words[0], "tx", words[0]}
		}
	}
	bad := badValue(s, c.limits())
	if len(words)%2 != 0 || len(words) == 0 {
		return c, bad
	}
	for ; len(words) > 0; words = words[2:] {
		known := false
		for i, kind := range channelKinds {
			if kind.name != words[0] {
				continue
			}
			n, err := strconv.ParseUint(words[1], 10, 32)
			if err != nil || n == 0 || n > uint64(c.max[i]) {
				return c, bad
			}
			known, c.now[i] = true, uint32(n)
		}
		if !known {
			return c, bad
		}
	}
	return c, nil
}

func (v *view) channels() (channels, error) {
	return once(v, "channels", func() (c channels, err error) {
		err = v.d.ethGet(unix.ETHTOOL_MSG_CHANNELS_GET, 0, "channels to set", func(typ uint16, b []byte) {
			for i, kind := range channelKinds {
				switch typ {
				case kind.count:
					c.now[i] = u32(b)
				case kind.max:
					c.max[i] = u32(b)
				}
			}
		})
		return c, err
	})
}

func (v *view) channelSettings() []Setting {
	const name, help = "channels", "transmit and receive queues in use"
	d := v.d
	c, err := v.channels()
	switch {
	case err != nil:
		return []Setting{unsupported(name, GroupQueues, help, why(err))}
	case c.max[0]+c.max[1]+c.max[2] == 0:
		return []Setting{unsupported(name, GroupQueues, help, d.kind()+" has no channels to set")}
	}
	s := Setting{Name: name, Group: GroupQueues, Help: help, Range: c.limits(), Why: netAdmin(), Flaps: true, ops: ops{
		read: func(v *view) (string, error) {
			c, err := v.channels()
			return c.String(), err
		},
		check:  func(text string) error { _, err := c.parse(text); return err },
		write:  d.setChannels,
		resets: true,
	}}
	for n := uint32(1); n <= c.max[0] && len(s.Values) < 64; n++ {
		s.Values = append(s.Values, fmt.Sprintf("combined %d", n))
	}
	return []Setting{s}
}

func (d *Device) setChannels(text string) error {
	now, err := d.view().channels()
	if err != nil {
		return err
	}
	to, err := now.parse(text)
	if err != nil {
		return err
	}
	var a []byte
	for i, kind := range channelKinds {
		if to.now[i] != now.now[i] {
			a = appendU32(a, kind.count, to.now[i])
		}
	}
	if len(a) == 0 {
		return nil
	}
	return d.ethSet(unix.ETHTOOL_MSG_CHANNELS_SET, "channels to set", a)
}
