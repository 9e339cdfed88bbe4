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
	mac("dst-mac", "destination MAC", "the `--rx` device's; without one it must be given",
		func(c *engine.Config) (*frame.MAC, *frame.Range) { return &c.Frame.DstMAC, &c.Frame.Vary.DstMAC }),
	mac("src-mac", "source MAC", "the device's", func(c *engine.Config) (*frame.MAC, *frame.Range) { return &c.Frame.SrcMAC, &c.Frame.Vary.SrcMAC }),
	ip("dst-ip", "destination IP", "198.18.0.2", func(c *engine.Config) (mine, other address) {
		f := &c.Frame
		return address{&f.DstIP, &f.Vary.DstIP}, address{&f.SrcIP, &f.Vary.SrcIP}
	}, "src-ip", defaultSrc4, defaultSrc6),
	ip("src-ip", "source IP", "198.18.0.1", func(c *engine.Config) (mine, other address) {
		f := &c.Frame
		return address{&f.SrcIP, &f.Vary.SrcIP}, address{&f.DstIP, &f.Vary.DstIP}
	}, "dst-ip", defaultDst4, defaultDst6),
	port("dst-port", "destination port", func(c *engine.Config) (*uint16, *frame.Range) { return &c.Frame.DstPort, &c.Frame.Vary.DstPort }),
	port("src-port", "source port", func(c *engine.Config) (*uint16, *frame.Range) { return &c.Frame.SrcPort, &c.Frame.Vary.SrcPort }),
	vlanKnob,
}

// mac declares an Ethernet address, in any notation in use.
func mac(name, help, dflt string, at func(*engine.Config) (*frame.MAC, *frame.Range)) Knob {
	show := func(n uint64) string { return frame.MACOf(n).String() }
	return Knob{
		Name: name, Group: Headers, Help: help, Default: dflt, Local: true,
		Values: "`02:00:00:00:00:01`, with `-` or dots, or bare" + orRange,
		reason: ofHeaders,
		get: func(b *Bench) string {
			m, r := at(&b.Config)
			return printRange(*r, m.String(), show)
		},
		set: func(b *Bench, text string) error {
			first, r, err := parseRange(name, text, func(s string) (uint64, error) {
				m, err := parseMAC(s)
				if err != nil {
					return 0, usage("%s %q: not six bytes in hexadecimal, as in 02:00:00:00:00:01", name, text)
				}
				return m.Low(), nil
			})
			if err != nil {
				return err
			}
			m, vary := at(&b.Config)
			*m, *vary = frame.MACOf(first), r
			return nil
		},
		detail: func(b *Bench) string {
			at, r := at(&b.Config)
			if r.On {
				return rangeDetail(*r)
			}
			switch m := *at; {
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

func parseMAC(text string) (frame.MAC, error) {
	if len(text) == 12 && !strings.ContainsAny(text, ":-.") {
		text = text[:4] + "." + text[4:8] + "." + text[8:]
	}
	return frame.ParseMAC(text)
}

// address is an IP address of the stream, and how it varies.
type address struct {
	ip   *netip.Addr
	vary *frame.Range
}

// ip declares an IP address. Both addresses are of one family, and people type them one after the other: where the other address is of
// the wrong family it takes that family's default, until it is typed too.
func ip(name, help, dflt string, at func(*engine.Config) (mine, other address), otherName string, other4, other6 netip.Addr) Knob {
	return Knob{
		Name: name, Group: Headers, Help: help + "; both addresses are IPv4 or both IPv6", Default: dflt,
		Values: "an IPv4 or IPv6 address" + orRange,
		reason: ofHeaders,
		get: func(b *Bench) string {
			mine, _ := at(&b.Config)
			return printRange(*mine.vary, mine.ip.String(), func(n uint64) string { return frame.WithLow(*mine.ip, n).String() })
		},
		set: func(b *Bench, text string) error {
			var one netip.Addr
			first, r, err := parseRange(name, text, func(s string) (uint64, error) {
				addr, err := netip.ParseAddr(s)
				if err != nil || addr.Zone() != "" {
					return 0, usage("%s %q: not an IP address, as in 198.18.0.1 or 2001:2::1", name, s)
				}
				addr = addr.Unmap()
				if one.IsValid() && (one.Is4() != addr.Is4() || frame.WithLow(one, 0) != frame.WithLow(addr, 0)) {
					return 0, usage("%s %s: both ends are IPv4, or IPv6 addresses with the same first 64 bits", name, text)
				}
				one = addr
				return frame.Low(addr), nil
			})
			if err != nil {
				return err
			}
			mine, other := at(&b.Config)
			*mine.ip, *mine.vary = frame.WithLow(one, first), r
			if one.Is4() != other.ip.Is4() {
				*other.ip, *other.vary = other6, frame.Range{}
				if one.Is4() {
					*other.ip = other4
				}
			}
			return nil
		},
		detail: func(b *Bench) string {
			mine, _ := at(&b.Config)
			return rangeDetail(*mine.vary)
		},
		means: func(b *Bench) string {
			mine, other := at(&b.Config)
			family := "IPv6"
			if mine.ip.Is4() {
				family = "IPv4"
			}
			if mine.vary.On {
				family += ", " + rangeDetail(*mine.vary)
			}
			return family + ", " + otherName + " " + other.ip.String()
		},
	}
}

// port declares a port.
func port(name, help string, at func(*engine.Config) (*uint16, *frame.Range)) Knob {
	return Knob{
		Name: name, Group: Headers, Numeric: true, Help: help, Default: strconv.Itoa(defaultPort), Values: "0 to 65535" + orRange,
		reason: func(b *Bench) string {
			if why := ofHeaders(b); why != "" || b.Config.Frame.Proto.Ports() {
				return why
			}
			return b.Config.Frame.Proto.String() + " has no ports"
		},
		get: func(b *Bench) string {
			p, r := at(&b.Config)
			return printRange(*r, strconv.Itoa(int(*p)), decimalText)
		},
		set: func(b *Bench, text string) error {
			first, r, err := parseRange(name, text, func(s string) (uint64, error) {
				n, err := number(name, s, 0, 65535)
				return uint64(n), err
			})
			if err != nil {
				return err
			}
			p, vary := at(&b.Config)
			*p, *vary = uint16(first), r
			return nil
		},
		turn: func(b *Bench, steps int, coarse bool) string {
			p, r := at(&b.Config)
			if r.On {
				return printRange(*r, "", decimalText)
			}
			return strconv.Itoa(between(0, add(int(*p), stride(steps, coarse)), 65535))
		},
		detail: func(b *Bench) string {
			_, r := at(&b.Config)
			return rangeDetail(*r)
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
