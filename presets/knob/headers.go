package knob

import (
	"net/netip"
	"strconv"
	"strings"

	"wirespeed/engine"
	"wirespeed/engine/frame"
)

// Addresses and ports before anyone has set any. IPv4 is RFC 2544's benchmarking network, IPv6 that of RFC 5180; port 9 is discard.
var (
	defaultSrc4 = netip.MustParseAddr("198.18.0.1")
	defaultDst4 = netip.MustParseAddr("198.18.0.2")
	defaultSrc6 = netip.MustParseAddr("2001:2::1")
	defaultDst6 = netip.MustParseAddr("2001:2::2")
)

const defaultPort = 9

// headers are the knobs that say what is in the frames.
var headers = []Knob{
	mac("dst-mac", "destination MAC", "the `--rx` device's; without one it must be given", func(c *engine.Config) *frame.MAC { return &c.Frame.DstMAC }),
	mac("src-mac", "source MAC", "the device's", func(c *engine.Config) *frame.MAC { return &c.Frame.SrcMAC }),
	ip("dst-ip", "destination IP", "198.18.0.2", func(c *engine.Config) (mine, other *netip.Addr) { return &c.Frame.DstIP, &c.Frame.SrcIP },
		"src-ip", defaultSrc4, defaultSrc6),
	ip("src-ip", "source IP", "198.18.0.1", func(c *engine.Config) (mine, other *netip.Addr) { return &c.Frame.SrcIP, &c.Frame.DstIP },
		"dst-ip", defaultDst4, defaultDst6),
	port("dst-port", "destination UDP port", func(c *engine.Config) *uint16 { return &c.Frame.DstPort }),
	port("src-port", "source UDP port", func(c *engine.Config) *uint16 { return &c.Frame.SrcPort }),
	{
		Name: "vlan", Group: Headers, Numeric: true,
		Help:    "identifier of an 802.1Q tag",
		Default: "`none`", Values: "`none`, or 1 to 4094",
		words: []string{"none"},
		get: func(b *Bench) string {
			if b.Config.Frame.VLAN == 0 {
				return "none"
			}
			return strconv.Itoa(int(b.Config.Frame.VLAN))
		},
		set: func(b *Bench, text string) error {
			if text == "none" {
				b.Config.Frame.VLAN = 0
				return nil
			}
			n, err := number("vlan", text, 1, engine.MaxVLAN)
			if err != nil {
				return usage("%v, or none", err)
			}
			b.Config.Frame.VLAN = uint16(n)
			return nil
		},
		turn: func(b *Bench, steps int, coarse bool) string {
			n := between(0, add(int(b.Config.Frame.VLAN), stride(steps, coarse)), engine.MaxVLAN)
			if n == 0 {
				return "none"
			}
			return strconv.Itoa(n)
		},
	},
}

// mac declares an Ethernet address, in any notation in use.
func mac(name, help, dflt string, at func(*engine.Config) *frame.MAC) Knob {
	return Knob{
		Name: name, Group: Headers, Help: help, Default: dflt, Local: true,
		Values: "`02:00:00:00:00:01`, with `-` or dots, or bare",
		get:    func(b *Bench) string { return at(&b.Config).String() },
		set: func(b *Bench, text string) error {
			colons := text
			if len(text) == 12 && !strings.ContainsAny(text, ":-.") {
				colons = text[:4] + "." + text[4:8] + "." + text[8:]
			}
			m, err := frame.ParseMAC(colons)
			if err != nil {
				return usage("%s %q: not six bytes in hexadecimal, as in 02:00:00:00:00:01", name, text)
			}
			*at(&b.Config) = m
			return nil
		},
		detail: func(b *Bench) string {
			switch m := *at(&b.Config); {
			case m == frame.Broadcast:
				return "broadcast"
			case m.Multicast():
				return "multicast"
			case b.RxMAC != nil && m == frame.MAC(*b.RxMAC) && b.Lab:
				return "nobody's: the peer drops such frames at once"
			case b.RxMAC != nil && m == frame.MAC(*b.RxMAC):
				return "the receiving device"
			case m == b.Device.MAC:
				return b.Device.Name
			}
			return ""
		},
	}
}

// ip declares an IP address. Both addresses are of one family, and people type them one after the other: where the other address is of
// the wrong family it takes that family's default, until it is typed too.
func ip(name, help, dflt string, at func(*engine.Config) (mine, other *netip.Addr), otherName string, other4, other6 netip.Addr) Knob {
	return Knob{
		Name: name, Group: Headers, Help: help + "; both addresses are IPv4 or both IPv6", Default: dflt,
		Values: "an IPv4 or IPv6 address",
		get: func(b *Bench) string {
			mine, _ := at(&b.Config)
			return mine.String()
		},
		set: func(b *Bench, text string) error {
			addr, err := netip.ParseAddr(text)
			if err != nil || addr.Zone() != "" {
				return usage("%s %q: not an IP address, as in 198.18.0.1 or 2001:2::1", name, text)
			}
			addr = addr.Unmap()
			mine, other := at(&b.Config)
			*mine = addr
			if addr.Is4() != other.Is4() {
				*other = other6
				if addr.Is4() {
					*other = other4
				}
			}
			return nil
		},
		means: func(b *Bench) string {
			mine, other := at(&b.Config)
			family := "IPv6"
			if mine.Is4() {
				family = "IPv4"
			}
			return family + ", " + otherName + " " + other.String()
		},
	}
}

// port declares a UDP port.
func port(name, help string, at func(*engine.Config) *uint16) Knob {
	return Knob{
		Name: name, Group: Headers, Numeric: true, Help: help, Default: strconv.Itoa(defaultPort), Values: "0 to 65535",
		get: func(b *Bench) string { return strconv.Itoa(int(*at(&b.Config))) },
		set: func(b *Bench, text string) error {
			n, err := number(name, text, 0, 65535)
			if err != nil {
				return err
			}
			*at(&b.Config) = uint16(n)
			return nil
		},
		turn: func(b *Bench, steps int, coarse bool) string {
			return strconv.Itoa(between(0, add(int(*at(&b.Config)), stride(steps, coarse)), 65535))
		},
	}
}

// stride is the step of numbers that have no scale: 1, coarse 10.
func stride(steps int, coarse bool) int {
	if coarse {
		return steps * 10
	}
	return steps
}
