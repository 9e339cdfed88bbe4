package knob

import (
	"fmt"
	"strconv"
	"strings"

	"wirespeed/engine"
)

// Receiving is what knobs know of the receiving device. The zero value is none.
type Receiving struct {
	Driver string
	MAC    [6]byte // its own, which frames need not go to
	NoXDP  string  // why there can be no XDP sink, "" where one can be
	Denied bool    // that is for want of rights
}

// maxSample bounds how few frames a sink lets up: one in so many.
const maxSample = 1_000_000

// sinks are the knobs of what drops the frames in the end.
var sinks = []Knob{{
	Name: "sink", Group: Way, Local: true,
	Help:    "what drops our frames at the receiving device: its stack (off), or a program in its driver that counts them (xdp; root only)",
	Default: "`off`", Values: "`off`, `xdp`, or `xdp/N`: every Nth frame, by its number, goes up to the receiver",
	words: []string{"off", "xdp"},
	get:   func(b *Bench) string { return sinkText(b.Config.Sink) },
	set: func(b *Bench, text string) error {
		sink, err := ParseSink(text)
		if err == nil {
			b.Config.Sink = sink
		}
		return err
	},
	turn: func(b *Bench, steps int, _ bool) string {
		return cycle([]string{"off", "xdp"}, strings.SplitN(sinkText(b.Config.Sink), "/", 2)[0], steps)
	},
	detail: func(b *Bench) string {
		switch {
		case !b.Config.Sink.XDP:
			return ""
		case SinkSlows(b):
			return "slower here"
		case b.Config.Sink.Every > 0:
			return fmt.Sprintf("1 of %d goes up", b.Config.Sink.Every)
		}
		return "in the driver"
	},
	means: func(b *Bench) string {
		switch {
		case !b.Config.Sink.XDP:
			return "the receiver's stack drops them"
		case SinkSlows(b):
			return "slower here: veth drops frames to a foreign MAC sooner"
		}
		return "counted and dropped in the driver: the least cost"
	},
	reason: func(b *Bench) string {
		switch {
		case !b.Lab && b.RxMAC == nil:
			return "there is no receiving device: name one with --rx DEV"
		case b.Config.Sink.XDP:
			return "" // it can be had, and switched off
		}
		return b.Rx.NoXDP
	},
	denied: func(b *Bench) bool { return b.Rx.Denied && (b.Lab || b.RxMAC != nil) },
}}

// ParseSink reads a value of the knob. errors.Is(err, ErrUsage).
func ParseSink(text string) (engine.Sink, error) {
	name, every, sampled := strings.Cut(text, "/")
	switch {
	case text == "off":
		return engine.Sink{}, nil
	case name != "xdp":
		return engine.Sink{}, usage("sink %q: use off, xdp or xdp/N%s", text, didYouMean(text, []string{"off", "xdp"}))
	case !sampled:
		return engine.Sink{XDP: true}, nil
	}
	n, err := number("sink xdp/", every, 1, maxSample)
	if err != nil {
		return engine.Sink{}, err
	}
	return engine.Sink{XDP: true, Every: uint32(n)}, nil
}

func sinkText(s engine.Sink) string {
	switch {
	case !s.XDP:
		return "off"
	case s.Every > 0:
		return "xdp/" + strconv.FormatUint(uint64(s.Every), 10)
	}
	return "xdp"
}

// SinkSlows says whether an XDP sink costs more than it saves: a veth pair hands frames for somebody else's address to a stack that drops
// them at once, on the sender's own CPU, while XDP puts a ring and a poll between the two ends.
func SinkSlows(b *Bench) bool {
	return b.Rx.Driver == "veth" && b.Config.Frame.DstMAC != b.Rx.MAC
}
