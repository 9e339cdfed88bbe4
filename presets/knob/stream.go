package knob

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"wirespeed/engine"
	"wirespeed/engine/frame"
)

// stream are the knobs that say how much is sent.
var stream = []Knob{
	{
		Name: "rate", Group: Stream, Numeric: true,
		Help:    "how fast the stream is asked to be; a rate keeps its unit, so 40% stays 40 % when the size changes",
		Default: "`max` (the lab's console: `100kpps`)",
		Values:  "`max`, or NUMBER UNIT: `pps kpps Mpps Gpps`, `bit kbit Mbit Gbit` (L1, or with `L2`), `%` of wirespeed, `ns us ms s` from frame to frame",
		words:   []string{"max"},
		get:     func(b *Bench) string { return b.Config.Rate.String() },
		set: func(b *Bench, text string) error {
			r, err := engine.ParseRate(text)
			if err != nil {
				return refused(err)
			}
			b.Config.Rate = r
			return nil
		},
		turn: turnRate,
		reason: func(b *Bench) string {
			c := b.Config
			switch {
			case c.Load != nil && c.Load.Capture != nil && c.Replay.Timing != 0:
				return "the capture's own times rule: timing rate gives it back"
			case c.Load == nil && len(c.Streams) > 0 && c.Streams[0].Rate != nil:
				return "each stream has a rate of its own"
			}
			return ""
		},
		detail: rateDetail,
		means:  rateMeans,
	},
	{
		Name: "size", Group: Stream, Numeric: true,
		Help:    "bytes of a frame as the kernel counts them, without FCS",
		Default: "60",
		Values: "60 to MTU + 14 (4 more with a VLAN tag), or with FCS: `64fcs`; a list `60,128,1514`; `60..1514`, `60..1514 step 64`, `random 60..1514`; " +
			"`imix`, `imix-570`, `tolly`, or weights of sizes with FCS: `64:7,594:4,1518:1`",
		words: mixNames(),
		get: func(b *Bench) string {
			if m := b.Config.Frame.Sizes; m != nil {
				return m.String()
			}
			return strconv.Itoa(b.Config.Frame.Size)
		},
		set: func(b *Bench, text string) error {
			f := &b.Config.Frame
			if m, ok, err := frame.ParseMix(text); ok {
				if err != nil {
					return refused(err)
				}
				f.Sizes, f.Size = m, m.Most()
				return nil
			}
			n, err := frame.ParseSize(text)
			if err != nil {
				return refused(err)
			}
			f.Sizes, f.Size = nil, n
			return nil
		},
		reason: ofFile,
		turn: func(b *Bench, steps int, coarse bool) string {
			f := b.Config.Frame
			if f.Sizes != nil {
				return f.Sizes.String() // a mix is typed, not turned
			}
			lo, hi := frame.MinSize(f), frame.MaxSize(b.Device.MTU, f.VLAN)
			if coarse {
				steps *= 64
			}
			return strconv.Itoa(between(lo, add(f.Size, steps), hi))
		},
		detail: sizeDetail,
		means: func(b *Bench) string {
			if b.Device.Speed == 0 {
				return sizeDetail(b)
			}
			most, _ := b.Config.Lengths(b.Device).MaxPPS(b.Device.Speed).Float64()
			return sizeDetail(b) + ", at most " + thousands(most) + " pps"
		},
	},
	{
		Name: "burst", Group: Stream, Numeric: true,
		Help:    "frames that leave back to back on the schedule; the mean rate stays the same",
		Default: "1", Values: "1 to 1024",
		get: func(b *Bench) string { return strconv.Itoa(b.Config.Burst) },
		set: func(b *Bench, text string) error {
			n, err := number("burst", text, 1, engine.MaxBurst)
			if err != nil {
				return err
			}
			b.Config.Burst = n
			return nil
		},
		turn: func(b *Bench, steps int, coarse bool) string {
			n := b.Config.Burst
			if !coarse {
				return strconv.Itoa(between(1, add(n, steps), engine.MaxBurst))
			}
			for ; steps > 0 && n < engine.MaxBurst; steps-- {
				n = powerAbove(n)
			}
			for ; steps < 0 && n > 1; steps++ {
				n = powerBelow(n)
			}
			return strconv.Itoa(n)
		},
		detail: burstDetail,
	},
}

// mixNames are the mixes that have a name.
func mixNames() (names []string) {
	for _, n := range frame.Names {
		names = append(names, n.Name)
	}
	return names
}

// sizeDetail is the size, or the mean of the sizes of all that is sent, as the three numbers that people mean by it.
func sizeDetail(b *Bench) string {
	c := b.Config
	if c.Frame.Sizes == nil && len(c.Streams) == 0 && c.Load == nil {
		return sizes(c.Frame.Size)
	}
	l := c.Lengths(b.Device)
	fcs := float64(l.L) / float64(l.Frames)
	return fmt.Sprintf("mean %.1f B (%.1f with FCS, %.1f on the wire)", l.Size(), fcs, fcs+frame.Preamble+frame.Gap)
}

// sizes is one size as the three numbers that people mean by it.
func sizes(n int) string {
	return fmt.Sprintf("%d B (%d with FCS, %d on the wire)", n, frame.L(n), frame.Wire(n))
}

// burstDetail says when bursts leave: what a burst is depends on the rate and the path.
func burstDetail(b *Bench) string {
	var parts []string
	n := b.Config.Burst
	switch pps, err := b.Config.PPS(b.Device); {
	case err != nil || n == 1:
	case pps == nil:
		parts = append(parts, "no schedule at rate max")
	default:
		f, _ := pps.Float64()
		parts = append(parts, fmt.Sprintf("%d frames every %s", n, short(time.Duration(float64(n)/f*1e9))))
	}
	switch why := b.Config.Uncut(); {
	case n > 1 && b.Config.Path == engine.Bypass:
		parts = append(parts, "no doorbell batching on the bypass")
	case n > 1 && why != "" && b.Config.Segment != engine.SegmentOff:
		parts = append(parts, "single frames: "+why)
	}
	return strings.Join(parts, ", ")
}

// powerAbove and powerBelow are the next powers of two.
func powerAbove(n int) int {
	p := 1
	for p <= n {
		p *= 2
	}
	return p
}

func powerBelow(n int) int {
	p := 1
	for p*2 < n {
		p *= 2
	}
	return p
}
