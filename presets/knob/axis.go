package knob

import (
	"math"
	"math/big"
	"slices"
	"strings"
)

// Axis is the values that a sweep goes through, from the least to the greatest.
type Axis struct {
	Knob   string
	Texts  []string  // as the knob reads them
	Values []float64 // the same as numbers, in Unit
	Unit   string    // "pps", "%", "s", "bit", "fcs"; "" for a plain number
	Grid   float64   // between neighbours there is nothing finer to turn the knob to; in Unit
	Chosen bool      // the step is not the operator's: what is found between two values may be looked for more finely
}

// Bounds of an axis.
const (
	maxAxis  = 10_000 // values
	wantAxis = 70     // values, at most, where nobody says a step
)

// Numerics are the knobs that can be swept, in the panel's order, and the families.
func Numerics() []string {
	var list []string
	for _, k := range slices.Concat(All(), Families()) {
		if k.Numeric {
			list = append(list, k.Name)
		}
	}
	return list
}

// Axis makes the values between two ends, both of which the knob must take here, as all between them. Both ends and the step are in one unit;
// step "" chooses one. errors.Is(err, ErrUsage) for what is wrong.
func (k Knob) Axis(b *Bench, from, to, step string) (Axis, error) {
	if !k.Numeric {
		return Axis{}, usage("sweep %s: it has no order to go through: sweep %s", k.Name, strings.Join(Numerics(), ", "))
	}
	if why := k.Unavailable(b); why != "" {
		return Axis{}, lineError{"sweep " + k.Name + ": " + why, ErrUnavailable}
	}
	lo, unit, err := k.quantity(from)
	if err != nil {
		return Axis{}, err
	}
	hi, other, err := k.quantity(to)
	switch {
	case err != nil:
		return Axis{}, err
	case unit.name != other.name:
		return Axis{}, usage("sweep %s %s..%s: write both ends in one unit", k.Name, from, to)
	}
	if lo.Cmp(hi) > 0 {
		lo, hi = hi, lo
	}
	a := Axis{Knob: k.Name, Unit: unit.name, Chosen: step == ""}
	by, grid, err := k.step(unit, new(big.Rat).Sub(hi, lo), step)
	if err != nil {
		return Axis{}, err
	}
	a.Grid, _ = grid.Float64()
	if n := new(big.Rat).Quo(new(big.Rat).Sub(hi, lo), by); n.Cmp(big.NewRat(maxAxis, 1)) >= 0 {
		return Axis{}, usage("sweep %s: more than %d values: use a larger step", k.Name, maxAxis)
	}
	for v := new(big.Rat).Set(lo); v.Cmp(hi) <= 0; v = new(big.Rat).Add(v, by) {
		a.add(v, unit)
	}
	if a.Chosen && a.Texts[len(a.Texts)-1] != unit.print(hi) {
		a.add(hi, unit)
	}
	for _, text := range a.Texts {
		if _, err := k.with(b, text); err != nil {
			return Axis{}, err
		}
	}
	return a, nil
}

func (a *Axis) add(v *big.Rat, u quantityUnit) {
	f, _ := v.Float64()
	a.Texts, a.Values = append(a.Texts, u.print(v)), append(a.Values, f)
}

// Text is the value of the knob for a place on the axis, the nearest that can be set.
func (a Axis) Text(x float64) string {
	if i := slices.Index(a.Values, x); i >= 0 {
		return a.Texts[i]
	}
	v := new(big.Rat).SetFloat64(x)
	if v == nil {
		return ""
	}
	// On the grid, which is a decimal number where x is not exactly one.
	grid := new(big.Rat).SetFloat64(a.Grid)
	n, _ := new(big.Rat).Quo(v, grid).Float64()
	exact, _ := new(big.Rat).SetString(big.NewFloat(a.Grid).Text('g', 12))
	return unitOf(a.Unit, a.Texts[0]).print(exact.Mul(exact, new(big.Rat).SetFloat64(math.Round(n))))
}

// quantityUnit is the unit of an axis: a suffix, or a family of the rate grammar.
type quantityUnit struct {
	name   string
	family *family // of rates; nil for whole numbers
}

// unitOf finds the unit again from a value's text.
func unitOf(name, text string) quantityUnit {
	if f, _, ok := split(text); ok && f != nil {
		return quantityUnit{name, f}
	}
	return quantityUnit{name: name}
}

func (u quantityUnit) print(v *big.Rat) string {
	if u.family != nil {
		return u.family.print(v)
	}
	return strings.TrimSuffix(v.FloatString(0), ".") + u.name
}

// quantity reads one end of a sweep: a number and its unit, in the unit's base.
func (k Knob) quantity(text string) (*big.Rat, quantityUnit, error) {
	if k.Name == "rate" {
		f, v, ok := split(text)
		switch {
		case text == "max":
			return nil, quantityUnit{}, usage("sweep rate: max is no number: end with a rate, such as 1Mpps")
		case !ok || f == nil:
			return nil, quantityUnit{}, usage("sweep rate: %q is no rate: write it as 1.2Mpps, 300Mbit or 40%%", text)
		}
		return v, quantityUnit{f.units[len(f.units)-1].name + f.suffix, f}, nil
	}
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	v, ok := new(big.Rat).SetString(text[:digits])
	if !ok || len(text) > 40 {
		return nil, quantityUnit{}, usage("sweep %s: %q is no whole number: use %s", k.Name, text, strings.ReplaceAll(k.Values, "`", ""))
	}
	return v, quantityUnit{name: text[digits:]}, nil
}

// step reads or chooses the step over a width. grid is the finest step that makes sense.
func (k Knob) step(unit quantityUnit, width *big.Rat, text string) (by, grid *big.Rat, err error) {
	one := big.NewRat(1, 1)
	if text != "" {
		v, u, err := k.quantity(text)
		switch {
		case err != nil:
			return nil, nil, err
		case u.name != unit.name && u.name != "":
			return nil, nil, usage("sweep %s: step %s: write it in the unit of the ends", k.Name, text)
		case v.Sign() <= 0:
			return nil, nil, usage("sweep %s: step %s: more than 0", k.Name, text)
		}
		return v, v, nil
	}
	if width.Sign() == 0 {
		return one, one, nil
	}
	if unit.family != nil {
		return roundRat(width, 40), roundRat(width, 1000), nil
	}
	by = new(big.Rat).Quo(width, big.NewRat(wantAxis-1, 1))
	n := new(big.Int).Quo(new(big.Int).Add(by.Num(), new(big.Int).Sub(by.Denom(), big.NewInt(1))), by.Denom())
	if n.Sign() == 0 {
		n.SetInt64(1)
	}
	return new(big.Rat).SetInt(n), one, nil
}

// roundRat is the least of 1, 2, 5 times a power of ten that a width has at most parts of.
func roundRat(width *big.Rat, parts int64) *big.Rat {
	least := new(big.Rat).Quo(width, big.NewRat(parts, 1))
	f, _ := least.Float64()
	p := decimal("1e" + big.NewFloat(math.Floor(math.Log10(f))).Text('f', 0))
	for _, m := range []int64{1, 2, 5, 10} {
		if v := new(big.Rat).Mul(p, big.NewRat(m, 1)); v.Cmp(least) >= 0 {
			return v
		}
	}
	return new(big.Rat).Mul(p, big.NewRat(20, 1))
}
