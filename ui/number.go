package ui

import (
	"math"
	"strconv"
	"time"
)

const unknown = "-"

// group prints a count with thousands separators.
func group(n uint64) string {
	s := strconv.FormatUint(n, 10)
	if len(s) <= 3 {
		return s
	}
	b := make([]byte, 0, len(s)+len(s)/3)
	for i := range len(s) {
		if i > 0 && (len(s)-i)%3 == 0 {
			b = append(b, ',')
		}
		b = append(b, s[i])
	}
	return string(b)
}

// groupf prints a number with thousands separators and the given decimals.
func groupf(x float64, decimals int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) || math.Abs(x) >= 1<<63 {
		return unknown
	}
	sign := ""
	if x < 0 {
		sign, x = "-", -x
	}
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	whole, rest := s, ""
	if decimals > 0 {
		whole, rest = s[:len(s)-decimals-1], s[len(s)-decimals-1:]
	}
	n, err := strconv.ParseUint(whole, 10, 64)
	if err != nil {
		return unknown
	}
	return sign + group(n) + rest
}

// ppsText prints packets per second; slow streams keep a decimal.
func ppsText(x float64) string {
	if x > 0 && x < 999.95 {
		return groupf(x, 1)
	}
	return groupf(x, 0)
}

// nsText prints nanoseconds per packet.
func nsText(x float64) string {
	if math.Abs(x) >= 999_999.95 {
		return groupf(x, 0)
	}
	return groupf(x, 1)
}

// nsOr prints nanoseconds per packet, "-" where there are none.
func nsOr(x *float64) string {
	if x == nil {
		return unknown
	}
	return nsText(*x)
}

// bitText prints bit/s always in Mbit/s, so that the number does not change its meaning from one look to the next.
func bitText(x float64) string {
	switch x /= 1e6; {
	case x >= 999.95:
		return groupf(x, 0)
	case x >= 9.995:
		return groupf(x, 1)
	}
	return groupf(x, 3)
}

// speedText prints the speed of a link.
func speedText(bits uint64) string {
	switch {
	case bits == 0:
		return unknown
	case bits >= 1e9:
		return strconv.FormatFloat(float64(bits)/1e9, 'f', -1, 64) + " Gbit/s"
	}
	return strconv.FormatFloat(float64(bits)/1e6, 'f', -1, 64) + " Mbit/s"
}

// clockText prints a duration as hours, minutes and seconds.
func clockText(d time.Duration) string {
	s := int(d / time.Second)
	b := make([]byte, 0, 8)
	for i, n := range [3]int{s / 3600, s / 60 % 60, s % 60} {
		if i > 0 {
			b = append(b, ':')
		}
		if n < 10 {
			b = append(b, '0')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return string(b)
}

// shortText prints an axis value in few cells: 1.488 M, 672.1.
func shortText(x float64) string {
	switch a := math.Abs(x); {
	case a >= 1e12:
		return strconv.FormatFloat(x, 'e', 1, 64)
	case a >= 9_999.95e6:
		return strconv.FormatFloat(x/1e9, 'f', 0, 64) + " G"
	case a >= 99_999.5e3:
		return strconv.FormatFloat(x/1e6, 'f', 1, 64) + " M"
	case a >= 999_999.5:
		return strconv.FormatFloat(x/1e6, 'f', 3, 64) + " M"
	case a >= 9_999.95:
		return groupf(x, 0)
	case a >= 99.995:
		return groupf(x, 1)
	case a < 0.005:
		return "0"
	}
	return groupf(x, 2)
}
