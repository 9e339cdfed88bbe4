package meter

import (
	"math"
	"strings"
	"testing"
)

func TestThousands(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 1488095: "1,488,095", 100000: "100,000", math.MaxUint64: "18,446,744,073,709,551,615",
	} {
		if got := Thousands(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		v        float64
		decimals int
		want     string
	}{
		{14880952.380952, 2, "14,880,952.38"},
		{672, 1, "672.0"},
		{999.95, 1, "1,000.0"},
		{-1234.5, 1, "-1,234.5"},
		{-0.04, 1, "0.0"},
		{-0.06, 1, "-0.1"},
		{math.Copysign(0, -1), 3, "0.000"},
		{1e21, 0, "1,000,000,000,000,000,000,000"},
		{math.NaN(), 2, "-"},
		{math.Inf(1), 2, "-"},
		{math.Inf(-1), 2, "-"},
	} {
		if got := Number(c.v, c.decimals); got != c.want {
			t.Errorf("%v with %d decimals: %q, want %q", c.v, c.decimals, got, c.want)
		}
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		v               float64
		decimals, width int
		want            string
	}{
		{1488004, 0, 11, "  1,488,004"},
		{672, 1, 7, "  672.0"},
		{12345.67, 2, 8, "12,345.7"},
		{14880952, 0, 9, "   14.88M"},
		{14880952, 0, 4, " 15M"},
		{1e9, 0, 5, "1.00G"},
		{999999, 0, 3, " 1M"},
		{1234567, 0, 1, "#"},
		{1234567, 0, 2, "1M"},
		{-5, 0, 1, "#"},
		{math.NaN(), 1, 4, "   -"},
		{5, 0, 0, ""},
		{5, 0, -3, ""},
	} {
		if got := Fit(c.v, c.decimals, c.width); got != c.want {
			t.Errorf("%v, %d decimals, %d columns: %q, want %q", c.v, c.decimals, c.width, got, c.want)
		}
	}
}

func FuzzFit(f *testing.F) {
	f.Add(1488004.0, 2, 9)
	f.Add(math.NaN(), 0, 1)
	f.Add(math.MaxFloat64, 3, 30)
	f.Add(-999999.9, 1, 4)
	f.Fuzz(func(t *testing.T, v float64, decimals, width int) {
		decimals, width = decimals&7, width&63
		s := Fit(v, decimals, width)
		if len(s) != width {
			t.Fatalf("%q has %d columns, want %d", s, len(s), width)
		}
		readable(t, s)
		if strings.Contains(s, "#") && strings.Trim(s, "#") != "" {
			t.Fatalf("%q shows a part of a number", s)
		}
	})
}
