package engine

import (
	"fmt"
	"math/big"
	"strings"

	"wirespeed/engine/frame"
)

// rateUnit is what the number of a Rate counts.
type rateUnit uint8

const (
	unitMax rateUnit = iota
	unitPPS
	unitBitL1
	unitBitL2
	unitPercent
	unitGap // seconds from one frame of the stream to the next
)

// Rate is how fast the stream is asked to be. It keeps its unit: 40% stays 40 % when size, VLAN or speed change. The zero value is max.
type Rate struct {
	unit   rateUnit
	number string // decimal as entered
	suffix string // unit as entered
}

// rateUnits are the units of the grammar (DESIGN.md section 5). Case matters: m is not M. k, M and G are decimal.
var rateUnits = map[string]struct {
	unit  rateUnit
	scale string // one of the unit in pps, bit/s, percent or seconds
}{
	"pps": {unitPPS, "1"}, "kpps": {unitPPS, "1e3"}, "Mpps": {unitPPS, "1e6"}, "Gpps": {unitPPS, "1e9"},
	"bit": {unitBitL1, "1"}, "kbit": {unitBitL1, "1e3"}, "Mbit": {unitBitL1, "1e6"}, "Gbit": {unitBitL1, "1e9"},
	"%":  {unitPercent, "1"},
	"ns": {unitGap, "1e-9"}, "us": {unitGap, "1e-6"}, "ms": {unitGap, "1e-3"}, "s": {unitGap, "1"},
}

const rateHint = "use max, or a number with pps kpps Mpps Gpps, bit kbit Mbit Gbit (L1, or L2 added), %, ns us ms s"

// ParseRate reads the rate grammar of DESIGN.md section 5: "max", or NUMBER UNIT, with or without a space between. The error says what is
// wrong and what would be right.
func ParseRate(s string) (Rate, error) {
	t := strings.TrimSpace(s)
	if t == "max" {
		return Rate{}, nil
	}
	digits := len(t) - len(strings.TrimLeft(t, "0123456789."))
	number, suffix := t[:digits], strings.TrimSpace(t[digits:])
	switch {
	case strings.HasPrefix(t, "-"), strings.HasPrefix(t, "+"):
		return Rate{}, fmt.Errorf("rate %q: no sign, please: %s", s, rateHint)
	case number == "":
		return Rate{}, fmt.Errorf("rate %q is not a rate: %s", s, rateHint)
	case strings.Count(number, ".") > 1, strings.HasPrefix(number, "."), strings.HasSuffix(number, "."):
		return Rate{}, fmt.Errorf("rate %q: %q is not a decimal number such as 1000 or 1.2", s, number)
	case len(number) > 20:
		return Rate{}, fmt.Errorf("rate %q: more than 20 digits", s)
	case strings.Trim(number, "0.") == "":
		return Rate{}, fmt.Errorf("rate %q: 0 is no rate: press space or use the command stop to stop sending", s)
	case suffix == "":
		return Rate{}, fmt.Errorf("rate %q: the unit is missing: did you mean %spps or %sMbit?", s, number, number)
	}
	base, layer := suffix, ""
	for _, l := range []string{"L1", "L2"} {
		if b, ok := strings.CutSuffix(suffix, l); ok {
			base, layer = strings.TrimSpace(b), l
		}
	}
	bits := base
	for _, alias := range []string{"bit/s", "bps"} {
		if b, ok := strings.CutSuffix(base, alias); ok {
			bits = b + "bit"
		}
	}
	u, ok := rateUnits[bits]
	if !ok || layer != "" && u.unit != unitBitL1 {
		return Rate{}, fmt.Errorf("rate %q: no unit %q: %s", s, suffix, rateHint)
	}
	if layer == "L2" {
		u.unit = unitBitL2
	}
	r := Rate{unit: u.unit, number: number, suffix: base + layer}
	if r.unit == unitPercent {
		if v := r.value(); v.Cmp(big.NewRat(100, 1)) > 0 {
			return Rate{}, fmt.Errorf("rate %q: more than wirespeed: 100%% is the most, or use max", s)
		}
	}
	return r, nil
}

// value is the number in pps, bit/s, percent or seconds, exactly.
func (r Rate) value() *big.Rat {
	v, ok := new(big.Rat).SetString(r.number)
	if !ok {
		panic("engine: rate " + r.number + " was not parsed") // ParseRate admits nothing else
	}
	bits := strings.TrimSuffix(strings.TrimSuffix(r.suffix, "L1"), "L2")
	bits = strings.NewReplacer("bit/s", "bit", "bps", "bit").Replace(bits)
	scale, _ := new(big.Rat).SetString(rateUnits[bits].scale)
	return v.Mul(v, scale)
}

// String returns the rate as it was entered, without spaces.
func (r Rate) String() string {
	if r.unit == unitMax {
		return "max"
	}
	return r.number + r.suffix
}

// IsMax says whether the rate has no schedule.
func (r Rate) IsMax() bool { return r.unit == unitMax }

// PPS is the rate in frames per second, exactly, for frames of size bytes (without FCS) on dev; nil for max. A percentage of a speed that
// is not known is an error that gives why and the way out.
func (r Rate) PPS(size int, dev Device) (*big.Rat, error) { return r.PPSOf(frame.OneSize(size), dev) }

// PPSOf is PPS for frames of several lengths.
func (r Rate) PPSOf(l frame.Lengths, dev Device) (*big.Rat, error) {
	switch r.unit {
	case unitMax:
		return nil, nil
	case unitPPS:
		return r.value(), nil
	case unitGap:
		v := r.value()
		return v.Inv(v), nil
	case unitBitL1:
		v := r.value()
		return v.Quo(v, l.WireBits()), nil
	case unitBitL2:
		v := r.value()
		return v.Quo(v, l.FrameBits()), nil
	case unitPercent:
		if dev.Speed == 0 {
			return nil, fmt.Errorf("rate %s: no wirespeed to take a percentage of: %s: state it with --link 10Gbit, or use pps", r, dev.SpeedWhy)
		}
		v := r.value()
		v.Mul(v, new(big.Rat).SetFrac(new(big.Int).SetUint64(dev.Speed), big.NewInt(100)))
		return v.Quo(v, l.WireBits()), nil
	}
	panic("engine: unknown rate unit")
}

// ParseSpeed reads a link's speed for --link: NUMBER with bit kbit Mbit Gbit.
func ParseSpeed(s string) (uint64, error) {
	r, err := ParseRate(s)
	if err != nil || r.unit != unitBitL1 || !r.value().IsInt() || !r.value().Num().IsUint64() {
		return 0, fmt.Errorf("link %q is not a speed: give it as 1Gbit or 300Mbit", s)
	}
	return r.value().Num().Uint64(), nil
}
