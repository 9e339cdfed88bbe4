package knob

import (
	"fmt"
	"strconv"
	"strings"

	"wirespeed/engine"
	"wirespeed/engine/frame"
)

// content are the knobs that say what the frames are, before their addresses.
var content = []Knob{
	choice(Knob{
		Name: "proto", Group: Headers,
		Help:    "what the frames carry: UDP, TCP (SYN), ICMP (echo request) or ARP (request)",
		Default: "`udp`",
		words:   frame.Protos,
		reason:  ofHeaders,
	},
		func(c engine.Config) int { return int(c.Frame.Proto) },
		func(c *engine.Config, i int) {
			c.Frame.Proto = frame.Proto(i)
			if !c.Frame.Proto.Ports() { // it has none to change
				c.Frame.Vary.SrcPort, c.Frame.Vary.DstPort = frame.Range{}, frame.Range{}
			}
		}),
	{
		Name: "flows", Group: Headers, Numeric: true,
		Help:    "flows that the frames are spread over, in turn: source IP and source port (from 49152, or src-port if that is 1024 or more) count up, which is what RSS and qdiscs hash",
		Default: "1", Values: "1 to " + strconv.Itoa(frame.MaxFlows),
		reason: func(b *Bench) string {
			if b.Config.Frame.Hex != "" {
				return "raw bytes have no flows"
			}
			return ofFile(b)
		},
		get: func(b *Bench) string { return strconv.Itoa(max(1, b.Config.Frame.Flows)) },
		set: func(b *Bench, text string) error {
			n, err := number("flows", text, 1, frame.MaxFlows)
			if err != nil {
				return err
			}
			if n == 1 { // kept as 0, so that equal streams are equal
				n = 0
			}
			b.Config.Frame.Flows = n
			return nil
		},
		turn: func(b *Bench, steps int, coarse bool) string {
			n := max(1, b.Config.Frame.Flows)
			if !coarse {
				return strconv.Itoa(between(1, add(n, steps), frame.MaxFlows))
			}
			for ; steps > 0 && n < frame.MaxFlows; steps-- {
				n = powerAbove(n)
			}
			for ; steps < 0 && n > 1; steps++ {
				n = powerBelow(n)
			}
			return strconv.Itoa(min(n, frame.MaxFlows))
		},
	},
	{
		Name: "mpls", Group: Headers,
		Help:    "labels of an MPLS stack in front of the IP header, the outermost first",
		Default: "`none`", Values: "`none`, or labels: `100`, `100,200`",
		words:  []string{"none"},
		reason: ofHeaders,
		get:    func(b *Bench) string { return b.Config.Frame.MPLS.String() },
		set: func(b *Bench, text string) error {
			l, err := frame.ParseLabels(text)
			if err != nil {
				return refused(err)
			}
			b.Config.Frame.MPLS = l
			return nil
		},
	},
	octet("ttl", "time to live; the hop limit of IPv6", "32", 1,
		func(c *engine.Config) (*uint8, *frame.Range) { return &c.Frame.TTL, &c.Frame.Vary.TTL }),
	octet("tos", "type of service, four times the DSCP; the traffic class of IPv6", "0", 0,
		func(c *engine.Config) (*uint8, *frame.Range) { return &c.Frame.TOS, &c.Frame.Vary.TOS }),
	{
		Name: "payload", Group: Headers,
		Help:    "what follows the headers; a pktgen header stands at its beginning where it fits",
		Default: "`zero`", Values: "`zero`, `pattern` (0, 1, 2 ...), `random` (the same in all frames), `hex:DIGITS` (repeated)",
		words:  []string{"zero", "pattern", "random"},
		reason: ofFile,
		get: func(b *Bench) string {
			if b.Config.Frame.Payload == "" {
				return "zero"
			}
			return b.Config.Frame.Payload
		},
		set: func(b *Bench, text string) error {
			p, err := frame.ParsePayload(text)
			if err != nil {
				return refused(err)
			}
			b.Config.Frame.Payload = p
			return nil
		},
	},
	{
		Name: "hex", Group: Headers,
		Help:    "raw bytes in the place of all headers, from the destination MAC on; the payload follows up to the size",
		Default: "`none`", Values: "`none`, or digits, with blanks or colons between bytes",
		words:  []string{"none"},
		reason: ofFile,
		get: func(b *Bench) string {
			if b.Config.Frame.Hex == "" {
				return "none"
			}
			return b.Config.Frame.Hex
		},
		set: func(b *Bench, text string) error {
			f := &b.Config.Frame
			if text == "none" {
				f.Hex = ""
				return nil
			}
			digits, err := frame.ParseHex(text)
			if err != nil {
				return refused(err)
			}
			if len(digits) < 2*14 {
				return usage("hex: %d bytes: an Ethernet header alone has 14", len(digits)/2)
			}
			f.Hex = digits
			if f.Sizes == nil {
				f.Size = max(f.Size, frame.MinSize(*f))
			}
			f.Vary, f.Flows = frame.Vary{}, 0 // there are no fields
			return nil
		},
		detail: func(b *Bench) string {
			if b.Config.Frame.Hex == "" {
				return ""
			}
			return fmt.Sprintf("%d bytes", len(b.Config.Frame.Hex)/2)
		},
	},
}

// ofFile is the reason why a knob of the frames has no effect where they come from a file.
func ofFile(b *Bench) string {
	if l := b.Config.Load; l != nil {
		return "the frames are those of " + l.Name
	}
	return ""
}

// ofHeaders is likewise for a knob of the headers, which raw bytes replace too.
func ofHeaders(b *Bench) string {
	if why := ofFile(b); why != "" || b.Config.Frame.Hex == "" {
		return why
	}
	return "the headers are what hex says"
}

// octet declares a header field of one byte. 0 in the Spec stands for the default.
func octet(name, help, dflt string, lo int, at func(*engine.Config) (*uint8, *frame.Range)) Knob {
	return Knob{
		Name: name, Group: Headers, Numeric: true, Help: help, Default: dflt, Values: fmt.Sprintf("%d to 255%s", lo, orRange),
		reason: func(b *Bench) string {
			if why := ofHeaders(b); why != "" || b.Config.Frame.Proto != frame.ARP {
				return why
			}
			return "arp has none"
		},
		get: func(b *Bench) string {
			v, r := at(&b.Config)
			one := dflt
			if *v != 0 {
				one = strconv.Itoa(int(*v))
			}
			return printRange(*r, one, decimalText)
		},
		set: func(b *Bench, text string) error {
			first, r, err := parseRange(name, text, func(s string) (uint64, error) {
				n, err := number(name, s, lo, 255)
				return uint64(n), err
			})
			if err != nil {
				return err
			}
			v, vary := at(&b.Config)
			*v, *vary = uint8(first), r
			if !r.On && strconv.Itoa(int(*v)) == dflt {
				*v = 0
			}
			return nil
		},
		turn: func(b *Bench, steps int, coarse bool) string {
			v, r := at(&b.Config)
			now := int(*v)
			if now == 0 {
				now, _ = strconv.Atoi(dflt)
			}
			if r.On {
				return printRange(*r, "", decimalText)
			}
			return strconv.Itoa(between(lo, add(now, stride(steps, coarse)), 255))
		},
		detail: func(b *Bench) string {
			_, r := at(&b.Config)
			return rangeDetail(*r)
		},
	}
}

// vlanKnob is one VLAN tag or two.
var vlanKnob = Knob{
	Name: "vlan", Group: Headers, Numeric: true,
	Help:    "identifier of an 802.1Q tag, or of two: an 802.1ad tag in front of it (QinQ)",
	Default: "`none`", Values: "`none`, 1 to 4094, or `OUTER,INNER`" + orRange,
	words:  []string{"none"},
	reason: ofHeaders,
	get:    func(b *Bench) string { return vlanText(b.Config.Frame) },
	set: func(b *Bench, text string) error {
		f := &b.Config.Frame
		if text == "none" {
			f.VLAN, f.Outer, f.Vary.VLAN = 0, 0, frame.Range{}
			return nil
		}
		id := func(s string) (uint64, error) {
			n, err := number("vlan", strings.TrimSpace(s), 1, engine.MaxVLAN)
			if err != nil {
				err = usage("%v, or none", err)
			}
			return uint64(n), err
		}
		outer, inner, two := strings.Cut(text, ",")
		if !two {
			outer, inner = "", text
		}
		first, r, err := parseRange("vlan", inner, id)
		if err != nil {
			return err
		}
		f.Outer = 0
		if two {
			n, err := id(outer)
			if err != nil {
				return err
			}
			f.Outer = uint16(n)
		}
		f.VLAN, f.Vary.VLAN = uint16(first), r
		return nil
	},
	turn: func(b *Bench, steps int, coarse bool) string {
		f := b.Config.Frame
		if f.Vary.VLAN.On || f.Outer != 0 {
			return vlanText(f) // typed, not turned
		}
		n := between(0, add(int(f.VLAN), stride(steps, coarse)), engine.MaxVLAN)
		if n == 0 {
			return "none"
		}
		return strconv.Itoa(n)
	},
}

// vlanText prints the tags.
func vlanText(f frame.Spec) string {
	switch s := printRange(f.Vary.VLAN, strconv.Itoa(int(f.VLAN)), decimalText); {
	case f.VLAN == 0:
		return "none"
	case f.Outer != 0:
		return fmt.Sprintf("%d,%s", f.Outer, s)
	default:
		return s
	}
}
