package meter

import (
	"math"
	"strconv"
	"strings"
)

// Unknown is how a number that is not known is shown.
const Unknown = "-"

// Thousands prints a count as 1,488,095.
func Thousands(n uint64) string { return separate(strconv.FormatUint(n, 10)) }

// Number prints v with a fixed number of decimals and thousands separators, 14,880,952.38, and what is no number as Unknown. There is no
// negative zero.
func Number(v float64, decimals int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Unknown
	}
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(math.Abs(v), 'f', decimals, 64), ".")
	s := separate(whole)
	if fraction != "" {
		s += "." + fraction
	}
	if v < 0 && strings.ContainsAny(s, "123456789") {
		s = "-" + s
	}
	return s
}

// separate puts commas between the thousands of a row of digits.
func separate(digits string) string {
	var b strings.Builder
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// Fit prints v in exactly width columns, at the right, so that numbers stand still: as Number does where that fits, else with fewer
// decimals, else in k, M, G, T, P or E (1000 each). Where nothing fits it is width times '#', never a part of the number.
func Fit(v float64, decimals, width int) string {
	if width <= 0 {
		return ""
	}
	for d := decimals; d >= 0; d-- {
		if s := Number(v, d); len(s) <= width {
			return strings.Repeat(" ", width-len(s)) + s
		}
	}
	for _, unit := range "kMGTPE" {
		v /= 1000
		for d := 2; d >= 0; d-- {
			if s := Number(v, d) + string(unit); len(s) <= width && math.Abs(v) < 1000 {
				return strings.Repeat(" ", width-len(s)) + s
			}
		}
	}
	return strings.Repeat("#", width)
}

// RoundStep is the least of 1, 2, 5 times a power of ten that is not below x, for the ticks of an axis; x is above 0.
func RoundStep(x float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range [...]float64{1, 2, 5} {
		if m*p >= x {
			return m * p
		}
	}
	return 10 * p
}
