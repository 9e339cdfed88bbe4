package knob

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// number reads a whole number within a knob's range, limits included.
func number(name, text string, lo, hi int) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, usage("%s %q: not a whole number: use %d to %d", name, text, lo, hi)
	}
	if n < uint64(lo) || n > uint64(hi) {
		return 0, usage("%s %s: out of range: use %d to %d", name, text, lo, hi)
	}
	return int(n), nil
}

// between keeps n within lo and hi; lo wins where the range is empty.
func between(lo, n, hi int) int { return max(lo, min(n, hi)) }

// add is n + d, without overflow.
func add(n, d int) int {
	switch {
	case d > 0 && n > math.MaxInt-d:
		return math.MaxInt
	case d < 0 && n < math.MinInt-d:
		return math.MinInt
	}
	return n + d
}

// cycle returns the word that is steps after now, round and round.
func cycle(words []string, now string, steps int) string {
	i := 0
	for j, w := range words {
		if w == now {
			i = j
		}
	}
	n := len(words)
	return words[((i+steps%n)%n+n)%n]
}

// thousands prints a number with separators: whole from 100 on, with the digits that matter below.
func thousands(f float64) string {
	prec := 0
	switch {
	case f < 1:
		return strconv.FormatFloat(f, 'g', 3, 64)
	case f < 100:
		prec = 2
	}
	s := strconv.FormatFloat(f, 'f', prec, 64)
	whole, frac, _ := strings.Cut(s, ".")
	var out strings.Builder
	for i, c := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(c)
	}
	if frac = strings.TrimRight(frac, "0"); frac != "" {
		out.WriteString("." + frac)
	}
	return out.String()
}

// bits prints bit/s in the unit that leaves one to three digits before the point.
func bits(f float64) string {
	for _, u := range []struct {
		scale float64
		name  string
	}{{1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}} {
		if f >= u.scale {
			s := strconv.FormatFloat(f/u.scale, 'f', prec(f/u.scale), 64)
			return strings.TrimSuffix(strings.TrimSuffix(s, ".00"), ".0") + " " + u.name
		}
	}
	return strconv.FormatFloat(f, 'f', 0, 64) + " bit/s"
}

// prec is the number of decimals that leaves three significant digits.
func prec(f float64) int {
	switch {
	case f < 10:
		return 2
	case f < 100:
		return 1
	}
	return 0
}

// short prints a time with the digits that matter: 320 us, 1.5 ms.
func short(d time.Duration) string {
	for _, u := range []struct {
		scale float64
		name  string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}} {
		if f := float64(d) / u.scale; f >= 1 {
			return strconv.FormatFloat(f, 'g', 4, 64) + " " + u.name
		}
	}
	return strconv.FormatInt(int64(d), 10) + " ns"
}

// nanoseconds prints a time per frame: with a decimal where one can matter.
func nanoseconds(ns float64) string {
	if ns < 10_000 {
		return strconv.FormatFloat(ns, 'f', 1, 64)
	}
	return thousands(ns)
}
