package ui

import (
	"math"
	"testing"
	"time"
)

func TestNumbers(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{group(0), "0"},
		{group(999), "999"},
		{group(1000), "1,000"},
		{group(14880952), "14,880,952"},
		{group(1<<64 - 1), "18,446,744,073,709,551,615"},
		{groupf(-1234.5678, 3), "-1,234.568"},
		{groupf(0, 3), "0.000"},
		{groupf(999.9996, 3), "1,000.000"},
		{groupf(math.NaN(), 1), "-"},
		{groupf(math.Inf(1), 1), "-"},
		{groupf(1e300, 0), "-"},
		{ppsText(0), "0"},
		{ppsText(9.97), "10.0"},
		{ppsText(1423313.6), "1,423,314"},
		{nsText(672.04), "672.0"},
		{nsText(1e8), "100,000,000"},
		{nsOr(nil), "-"},
		{bitText(1e9), "1,000"},
		{bitText(67.2e6), "67.2"},
		{bitText(6720), "0.007"},
		{speedText(0), "-"},
		{speedText(1e9), "1 Gbit/s"},
		{speedText(2.5e9), "2.5 Gbit/s"},
		{speedText(100e6), "100 Mbit/s"},
		{clockText(192 * time.Second), "00:03:12"},
		{clockText(100 * time.Hour), "100:00:00"},
		{shortText(1.488e6), "1.488 M"},
		{shortText(148.8e6), "148.8 M"},
		{shortText(672.05), "672.0"},
		{shortText(12345), "12,345"},
		{shortText(0), "0"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

// What is drawn large is the number: read back from its points.
func TestDigits(t *testing.T) {
	for _, s := range []string{"0", "1,488,095", "672.0", "-", "9,999,999", "14,880,952"} {
		for y, line := range large(s, "█") {
			if n := cells(line); n != largeWidth(s) {
				t.Errorf("%s large: line %d has %d cells, not %d", s, y, n, largeWidth(s))
			}
		}
		for y, line := range small(s) {
			if n := cells(line); n != smallWidth(s) {
				t.Errorf("%s small: line %d has %d cells, not %d", s, y, n, smallWidth(s))
			}
		}
	}
	seen := map[[5]byte]byte{}
	for c := byte('0'); c <= '9'; c++ {
		if other, ok := seen[font[c]]; ok {
			t.Errorf("%c looks like %c", c, other)
		}
		seen[font[c]] = c
	}
}
