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
		turn:   turnRate,
		detail: rateDetail,
		means:  rateMeans,
	},
	{
		Name: "size", Group: Stream, Numeric: true,
		Help:    "bytes of a frame as the kernel counts them, without FCS",
		Default: "60",
		Values:  "60 to MTU + 14 (4 more with a VLAN tag), or with FCS: `64fcs`",
		get:     func(b *Bench) string { return strconv.Itoa(b.Config.Frame.Size) },
		set: func(b *Bench, text string) error {
			n, err := frame.ParseSize(text)
			if err != nil {
				return refused(err)
			}
			b.Config.Frame.Size = n
			return nil
		},
		turn: func(b *Bench, steps int, coarse bool) string {
			f := b.Config.Frame
			lo, hi := frame.MinSize(f), frame.MaxSize(b.Device.MTU, f.VLAN)
			if coarse {
				steps *= 64
			}
			return strconv.Itoa(between(lo, add(f.Size, steps), hi))
		},
		detail: func(b *Bench) string { return sizes(b.Config.Frame.Size) },
		means: func(b *Bench) string {
			n := b.Config.Frame.Size
			if b.Device.Speed == 0 {
				return sizes(n)
			}
			most, _ := frame.MaxPPS(b.Device.Speed, n).Float64()
			return sizes(n) + ", at most " + thousands(most) + " pps"
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

// sizes is one size as the three numbers that people mean by it.
func sizes(n int) string {
	return fmt.Sprintf("%d B (%d with FCS, %d on the wire)", n, frame.L(n), frame.Wire(n))
}

// burstDetail says when bursts leave: what a burst is depends on the rate and the path.
func burstDetail(b *Bench) string {
	var parts []string
	n := b.Config.Burst
	switch pps, err := b.Config.Rate.PPS(b.Config.Frame.Size, b.Device); {
	case err != nil || n == 1:
	case pps == nil:
		parts = append(parts, "no schedule at rate max")
	default:
		f, _ := pps.Float64()
		parts = append(parts, fmt.Sprintf("%d frames every %s", n, short(time.Duration(float64(n)/f*1e9))))
	}
	if n > 1 && b.Config.Path == engine.Bypass {
		parts = append(parts, "no doorbell batching on the bypass")
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
