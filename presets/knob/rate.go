package knob

import (
	"math/big"
	"strconv"
	"strings"

	"wirespeed/engine"
)

// unknownTop is where a rate that is turned up becomes max on a device without a known speed, in pps: above what one
// machine's veth does.
const unknownTop = 5_000_000

// family is a set of units of the rate grammar that differ by a decimal factor only. A turned rate stays in its family: 950kpps goes on to
// 1Mpps, and never to Gbit.
type family struct {
	units  []unit  // from the largest
	least  big.Rat // where turning down ends, in the family's base unit; for gaps the greatest
	gap    bool    // more is slower
	suffix string  // after each unit: L1, L2
}

type unit struct {
	name  string
	scale *big.Rat // in the family's base unit
}

// decimal is the ratio that a decimal number in this file's tables stands for.
func decimal(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic("knob: not a number: " + s)
	}
	return r
}

// scaled is a family whose units are base with the prefixes G, M and k.
func scaled(base, least, suffix string) family {
	return family{
		units:  []unit{{"G" + base, decimal("1e9")}, {"M" + base, decimal("1e6")}, {"k" + base, decimal("1e3")}, {base, decimal("1")}},
		least:  *decimal(least),
		suffix: suffix,
	}
}

// families are all units of the grammar, each spelling once, so that a turned rate keeps the operator's own.
var families = func() []family {
	fs := []family{
		scaled("pps", "1", ""),
		{units: []unit{{"%", decimal("1")}}, least: *decimal("0.01")},
		{
			units: []unit{{"s", decimal("1")}, {"ms", decimal("1e-3")}, {"us", decimal("1e-6")}, {"ns", decimal("1e-9")}},
			least: *decimal("1"), gap: true,
		},
	}
	for _, spelling := range []string{"bit", "bit/s", "bps"} {
		for _, layer := range []string{"", "L1", "L2"} {
			fs = append(fs, scaled(spelling, "1000", layer))
		}
	}
	return fs
}()

// split takes a printed rate apart into its family and its value in the base unit; ok is false for max.
func split(text string) (f *family, v *big.Rat, ok bool) {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789."))
	v, ok = new(big.Rat).SetString(text[:digits])
	if !ok {
		return nil, nil, false
	}
	for i := range families {
		for _, u := range families[i].units {
			if text[digits:] == u.name+families[i].suffix {
				return &families[i], v.Mul(v, u.scale), true
			}
		}
	}
	return nil, nil, false
}

// print writes a value of the family in the largest unit that leaves at least one before the point.
func (f *family) print(v *big.Rat) string {
	u := f.units[len(f.units)-1]
	for _, larger := range f.units {
		if v.Cmp(larger.scale) >= 0 {
			u = larger
			break
		}
	}
	s := new(big.Rat).Quo(v, u.scale).FloatString(12)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".") + u.name + f.suffix
}

// turnRate moves the rate on a grid of round numbers, about 1 % apart, coarse 10 %. More is faster, also where the unit is a gap. Above
// wirespeed comes max, and below max the highest round number of pps.
func turnRate(b *Bench, steps int, coarse bool) string {
	now := b.Config.Rate.String()
	f, v, ok := split(now)
	if !ok {
		if steps >= 0 {
			return now
		}
		f, v = &families[0], grid(top(b), coarse, -1, true)
		steps++
	}
	text := now
	if !ok {
		text = f.print(v)
	}
	for ; steps != 0; steps -= sign(steps) {
		faster := steps > 0
		if !faster && !f.gap && v.Cmp(&f.least) <= 0 || !faster && f.gap && v.Cmp(&f.least) >= 0 {
			return text
		}
		dir := sign(steps)
		if f.gap {
			dir = -dir
		}
		v = grid(v, coarse, dir, false)
		text = f.print(v)
		if faster && tooFast(b, text) {
			return "max"
		}
	}
	return text
}

// grid returns the next round number from v: with three significant digits (two where coarse), in steps of 1, 2 or 5 of the last. With stay, a
// v that is round already is its own next.
func grid(v *big.Rat, coarse bool, dir int, stay bool) *big.Rat {
	ten := big.NewRat(10, 1)
	decade := big.NewRat(1, 1)
	for decade.Cmp(v) > 0 {
		decade.Quo(decade, ten)
	}
	for next := new(big.Rat).Mul(decade, ten); next.Cmp(v) <= 0; next = new(big.Rat).Mul(decade, ten) {
		decade = next
	}
	// The bracket that v is in; going down from its very edge, the one below.
	digit := int64(1)
	for _, d := range []int64{2, 5} {
		edge := new(big.Rat).Mul(decade, big.NewRat(d, 1))
		if c := edge.Cmp(v); c < 0 || c == 0 && dir > 0 {
			digit = d
		}
	}
	if dir < 0 && decade.Cmp(v) == 0 {
		digit = 5
		decade = new(big.Rat).Quo(decade, ten)
	}
	parts := int64(100)
	if coarse {
		parts = 10
	}
	step := new(big.Rat).Mul(decade, big.NewRat(digit, parts))
	q := new(big.Rat).Quo(v, step)
	n, rest := new(big.Int).QuoRem(q.Num(), q.Denom(), new(big.Int))
	switch {
	case dir > 0:
		n.Add(n, big.NewInt(1))
	case rest.Sign() == 0 && !stay:
		n.Sub(n, big.NewInt(1))
	}
	return step.Mul(step, new(big.Rat).SetInt(n))
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// top is the rate in pps above which only max is left.
func top(b *Bench) *big.Rat {
	if b.Device.Speed == 0 {
		return big.NewRat(unknownTop, 1)
	}
	return b.Config.Lengths(b.Device).MaxPPS(b.Device.Speed)
}

// tooFast says whether a rate is above top. The grammar itself ends at 100%.
func tooFast(b *Bench, text string) bool {
	r, err := engine.ParseRate(text)
	if err != nil {
		return true
	}
	pps, err := r.PPSOf(b.Config.Lengths(b.Device), b.Device)
	return err == nil && pps != nil && pps.Cmp(top(b)) > 0
}

// rateDetail is the rate in the units that it was not given in.
func rateDetail(b *Bench) string { return strings.Join(rateFacts(b, false), ", ") }

// rateMeans is the rate in all units.
func rateMeans(b *Bench) string { return strings.Join(rateFacts(b, true), ", ") }

// rateFacts says what the rate is in pps, ns, bit/s and percent of wirespeed; without own, not in its own unit.
func rateFacts(b *Bench, own bool) []string {
	r, sent, speed := b.Config.Rate, b.Config.Lengths(b.Device), b.Device.Speed
	exact, err := r.PPSOf(sent, b.Device)
	if err != nil {
		return []string{err.Error()}
	}
	if exact == nil {
		if speed == 0 {
			return []string{"as fast as the machine sends"}
		}
		most, _ := sent.MaxPPS(speed).Float64()
		return []string{"as fast as the machine sends, at most " + thousands(most) + " pps at " + bits(float64(speed))}
	}
	pps, _ := exact.Float64()
	f, _, _ := split(r.String())
	unit := ""
	if f != nil {
		unit = f.units[len(f.units)-1].name + f.suffix
	}
	var facts []string
	say := func(of, text string) {
		if own || unit != of {
			facts = append(facts, text)
		}
	}
	say("pps", thousands(pps)+" pps")
	say("ns", nanoseconds(1e9/pps)+" ns/packet")
	say("bit", bits(sent.BpsL1(pps))+" L1")
	if speed > 0 {
		full, _ := sent.MaxPPS(speed).Float64()
		say("%", strconv.FormatFloat(100*pps/full, 'f', 1, 64)+" %")
		if exact.Cmp(sent.MaxPPS(speed)) > 0 {
			facts = append(facts, "more than wirespeed ("+thousands(full)+" pps)")
		}
	}
	return facts
}
