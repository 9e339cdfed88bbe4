package knob

import (
	"fmt"
	"math/big"

	"wirespeed/engine"
	"wirespeed/nic"
)

// link is what the stream has before it. In the lab it is made: the sending end is shaped. Elsewhere it is stated, where the device does not know its
// speed or one wants percent of another.
var link = []Knob{{
	Name: "link", Group: Way, Numeric: true, Local: true, words: []string{"none"},
	Help:    "speed of the link: the lab is shaped to it, for any other device it is what percent and wirespeed refer to",
	Default: "`none`: as the device says", Values: "`none`, or a speed: `300Mbit`, `10Gbit`",
	get: func(b *Bench) string {
		if b.Link == 0 {
			return "none"
		}
		return SpeedText(b.Link)
	},
	set: func(b *Bench, text string) error {
		var speed uint64
		if text != "none" {
			var err error
			if speed, err = engine.ParseSpeed(text); err != nil {
				return refused(err)
			}
			if speed < slowestLink {
				return usage("link %s: use none, or %s and more", text, SpeedText(slowestLink))
			}
		}
		if b.Lab && speed > nic.FastestShaper {
			return usage("link %s: the kernel shapes up to %s: ask for less", text, SpeedText(nic.FastestShaper))
		}
		if speed == b.Link {
			return nil
		}
		b.Link = speed
		b.Device.Speed, b.Device.SpeedWhy = speed, ""
		if speed == 0 {
			b.Device.Speed, b.Device.SpeedWhy = b.OwnSpeed, b.OwnSpeedWhy
		}
		if b.Shaped() { // who asks for one of the others is told why not, in misfit
			b.Config.Path, b.Config.Segment = engine.QdiscPath, engine.SegmentOff
		}
		return nil
	},
	turn: func(b *Bench, steps int, coarse bool) string {
		if b.Link == 0 {
			return "none" // where to begin is typed
		}
		v := new(big.Rat).SetUint64(b.Link)
		least, most := big.NewRat(slowestLink, 1), big.NewRat(nic.FastestShaper, 1)
		for ; steps < 0 && v.Cmp(least) > 0 || steps > 0 && v.Cmp(most) < 0; steps -= sign(steps) {
			v = grid(v, coarse, sign(steps), false)
		}
		f, _ := v.Float64()
		return SpeedText(max(uint64(f)/slowestLink, 1) * slowestLink)
	},
	detail: func(b *Bench) string {
		switch {
		case b.Shaped():
			most, _ := b.Config.Lengths(b.Device).MaxPPS(b.Link).Float64()
			return "SHAPED: " + thousands(most) + " pps"
		case b.Link != 0:
			return "stated"
		case b.Device.Speed != 0:
			return "the device's " + bits(float64(b.Device.Speed))
		}
		return b.Device.SpeedWhy
	},
}}

// slowestLink is the least that anyone may want, in bit/s.
const slowestLink = 1000

// Shaped says whether the link is one that frames wait for.
func (b *Bench) Shaped() bool { return b.Lab && b.Link != 0 }

// misfit says why the bench cannot be brought about from another of the same device, nil if it can.
func (b *Bench) misfit(now *Bench) error {
	if !b.Lab {
		return nil
	}
	if b.Link != 0 || now.Link != 0 {
		was, _ := now.setting("qdisc")
		to, _ := b.setting("qdisc")
		if was.Now != to.Now {
			return lineError{fmt.Sprintf("qdisc %s: link %s is a tbf at the root: link none first", to.Now, SpeedText(max(b.Link, now.Link))), ErrUnavailable}
		}
	}
	switch {
	case b.Link == 0:
	case b.Config.Path == engine.Bypass:
		return lineError{fmt.Sprintf("path bypass: link %s is shaped by the qdisc, and the bypass would pass it by: link none first", SpeedText(b.Link)), ErrUnavailable}
	case b.Config.Segment != engine.SegmentOff:
		return lineError{fmt.Sprintf("segment %s: link %s is shaped by the qdisc, which charges a super-frame as one frame: link none first",
			b.Config.Segment, SpeedText(b.Link)), ErrUnavailable}
	}
	return nil
}

// SpeedText prints a speed as ParseSpeed reads it, without loss.
func SpeedText(speed uint64) string {
	for _, u := range []struct {
		name string
		bits uint64
	}{{"Gbit", 1e9}, {"Mbit", 1e6}, {"kbit", 1e3}} {
		if speed >= u.bits && speed%u.bits == 0 {
			return fmt.Sprint(speed/u.bits) + u.name
		}
	}
	return fmt.Sprint(speed) + "bit"
}
