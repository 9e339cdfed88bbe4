package nic

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// sendingFeatures are the offloads that decide how frames are sent (and, at the other end, received), as `ethtool -k` names the bits.
var sendingFeatures = []string{
	"tx-checksum-ipv4", "tx-checksum-ip-generic", "tx-checksum-ipv6", "tx-scatter-gather", "tx-generic-segmentation",
	"tx-udp-segmentation", "tx-tcp-segmentation", "tx-tcp6-segmentation", "tx-tcp-ecn-segmentation", "tx-tcp-mangleid-segmentation",
	"tx-nocache-copy", "tx-vlan-hw-insert", "tx-vlan-stag-hw-insert", "rx-gro", "rx-lro", "rx-checksum",
}

// features asks for all offloads by their kernel names.
func (v *view) features() (map[string]Feature, error) {
	return once(v, "features", func() (map[string]Feature, error) {
		all := make(map[string]Feature)
		change := make(map[string]bool) // that the driver lets be changed
		never := make(map[string]bool)
		err := v.d.ethGet(unix.ETHTOOL_MSG_FEATURES_GET, 0, "features", func(typ uint16, b []byte) {
			for _, bit := range parseBits(b) {
				f := all[bit.name]
				switch typ {
				case unix.ETHTOOL_A_FEATURES_HW:
					change[bit.name] = bit.on
				case unix.ETHTOOL_A_FEATURES_WANTED:
					f.Requested = bit.on
				case unix.ETHTOOL_A_FEATURES_ACTIVE:
					f.On = bit.on
				case unix.ETHTOOL_A_FEATURES_NOCHANGE:
					never[bit.name] = bit.on
				}
				all[bit.name] = f
			}
		})
		for name, f := range all {
			f.Fixed = !change[name] || never[name]
			all[name] = f
		}
		return all, err
	})
}

func (v *view) featureSettings() (list []Setting) {
	all, err := v.features()
	if err != nil {
		return nil
	}
	names := slices.Clone(sendingFeatures)
	var others []string
	for name := range all {
		if !slices.Contains(names, name) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	for _, name := range append(names, others...) {
		f, _ := v.featureOf(name) // all of them are known
		if f.Fixed && slices.Contains(others, name) {
			continue
		}
		list = append(list, v.feature(name, f))
	}
	return list
}

func (v *view) feature(name string, f Feature) Setting {
	d := v.d
	s := Setting{
		Name: "feature." + name, Group: GroupFeatures, Help: "offload, as ethtool -k names it", Range: "on or off", Values: []string{"on", "off"},
		Why: netAdmin(), ops: ops{
			read: func(v *view) (string, error) {
				all, err := v.features()
				f := all[name]
				return onOff(f.On), err
			},
			write: func(text string) error {
				on, err := parseSwitch(text)
				if err != nil {
					return err
				}
				return d.changeFeature(name, on)
			},
			// What was asked for comes back, also where it is not in effect because another bit is missing.
			save: func(v *view) (string, error) {
				all, err := v.features()
				return onOff(all[name].Requested), err
			},
			resets: true,
		},
	}
	if f.Fixed {
		s.Why = d.kind() + " does not let " + name + " be changed"
		s.write = func(string) error { return &reason{text: s.Why, is: ErrNotSupported} }
	}
	return s
}

// flags asks for the driver's private flags.
func (v *view) flags() (list []namedBit, err error) {
	return once(v, "flags", func() (list []namedBit, err error) {
		err = v.d.ethGet(unix.ETHTOOL_MSG_PRIVFLAGS_GET, 0, "private flags", func(typ uint16, b []byte) {
			if typ == unix.ETHTOOL_A_PRIVFLAGS_FLAGS {
				list = parseBits(b)
			}
		})
		return list, err
	})
}

func (v *view) flagSettings() (list []Setting) {
	flags, _ := v.flags() // a driver without any is nothing to tell
	d := v.d
	for _, flag := range flags {
		name := flag.name
		list = append(list, Setting{
			Name: "priv." + strings.ReplaceAll(name, " ", "_"), Group: GroupFlags, Help: "the driver's own switch " + name, Range: "on or off",
			Values: []string{"on", "off"}, Why: netAdmin(), Flaps: true, ops: ops{
				read: func(v *view) (string, error) {
					flags, err := v.flags()
					for _, f := range flags {
						if f.name == name {
							return onOff(f.on), nil
						}
					}
					return "", err
				},
				write: func(text string) error {
					on, err := parseSwitch(text)
					if err != nil {
						return err
					}
					return d.ethSet(unix.ETHTOOL_MSG_PRIVFLAGS_SET, "private flag "+name, appendBit(nil, unix.ETHTOOL_A_PRIVFLAGS_FLAGS, name, on))
				},
				resets: true,
			},
		})
	}
	return list
}
