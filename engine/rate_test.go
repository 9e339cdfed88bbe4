package engine

import (
	"math/big"
	"strings"
	"testing"
)

func TestRate(t *testing.T) {
	gig := Device{Speed: 1e9}
	tests := []struct {
		text string
		size int
		want string // pps, as a fraction
	}{
		{"1pps", 60, "1"},
		{"1.2Mpps", 60, "1200000"},
		{"300kpps", 60, "300000"},
		{"1Gpps", 60, "1000000000"},
		{"100Mbit", 60, "100000000/672"},
		{"100MbitL1", 60, "100000000/672"},
		{"100MbitL2", 60, "100000000/512"},
		{"100Mbit/s", 60, "100000000/672"},
		{"100Mbps", 60, "100000000/672"},
		{"100MbpsL2", 1514, "100000000/12144"},
		{"1kbit", 1514, "1000/12304"},
		{"8bit", 60, "8/672"},
		{"100%", 60, "1000000000/672"},
		{"40%", 60, "400000000/672"},
		{"0.5%", 1514, "5000000/12304"},
		{"1us", 60, "1000000"},
		{"250ns", 60, "4000000"},
		{"2.5ms", 60, "400"},
		{"1s", 60, "1"},
		{" 10 kpps ", 60, "10000"},
		{"0.1pps", 60, "1/10"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			r, err := ParseRate(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.PPS(tt.size, gig)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := new(big.Rat).SetString(tt.want)
			if got.Cmp(want) != 0 {
				t.Errorf("%s is %s pps, want %s", tt.text, got, want)
			}
			again, err := ParseRate(r.String())
			if err != nil || again != r {
				t.Errorf("%q prints as %q, which reads as %v, %v", tt.text, r, again, err)
			}
		})
	}
}

func TestRateMax(t *testing.T) {
	r, err := ParseRate("max")
	if err != nil || !r.IsMax() || r != (Rate{}) || r.String() != "max" {
		t.Fatalf("max: %v %v", r, err)
	}
	if pps, err := r.PPS(60, Device{}); pps != nil || err != nil {
		t.Errorf("max has a schedule: %v %v", pps, err)
	}
}

func TestRateRefused(t *testing.T) {
	tests := []struct{ text, says string }{
		{"", "is not a rate"},
		{"fast", "is not a rate"},
		{"Max", "is not a rate"},
		{"1000", "did you mean 1000pps or 1000Mbit?"},
		{"5parsec", `no unit "parsec"`},
		{"1mpps", `no unit "mpps"`},
		{"1Kpps", `no unit "Kpps"`},
		{"1mbit", `no unit "mbit"`},
		{"1MiBit", `no unit "MiBit"`},
		{"1kppsL1", `no unit "kppsL1"`},
		{"1%L2", `no unit "%L2"`},
		{"1nsL1", `no unit "nsL1"`},
		{"1MbitL3", `no unit "MbitL3"`},
		{"-1pps", "no sign"},
		{"+1pps", "no sign"},
		{"0pps", "0 is no rate"},
		{"0.00%", "0 is no rate"},
		{"1e6pps", `no unit "e6pps"`},
		{"1.2.3pps", "not a decimal number"},
		{".5pps", "not a decimal number"},
		{"5.pps", "not a decimal number"},
		{"1,000pps", `no unit ",000pps"`},
		{"101%", "100% is the most"},
		{"123456789012345678901pps", "more than 20 digits"},
		{"1 k pps", "no unit"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			r, err := ParseRate(tt.text)
			if err == nil {
				t.Fatalf("accepted as %v", r)
			}
			if !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q does not say %q in one line", err, tt.says)
			}
		})
	}
}

func TestPercentNeedsASpeed(t *testing.T) {
	r, err := ParseRate("40%")
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.PPS(60, Device{SpeedWhy: "veth has no speed of its own"})
	if err == nil || !strings.Contains(err.Error(), "veth has no speed of its own") || !strings.Contains(err.Error(), "--link") {
		t.Errorf("error %v gives neither reason nor way out", err)
	}
}

func TestParseSpeed(t *testing.T) {
	for text, want := range map[string]uint64{"1Gbit": 1e9, "300Mbit": 3e8, "2.5Gbit": 25e8, "10Gbit/s": 1e10, "1": 0, "max": 0, "1Gpps": 0, "0.1bit": 0, "40%": 0} {
		got, err := ParseSpeed(text)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("ParseSpeed(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"max", "1.2Mpps", "40%", "100MbitL2", "250ns", "1000", "-1pps", "1Gbit/s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRate(s)
		if err != nil {
			return
		}
		if again, err := ParseRate(r.String()); err != nil || again != r {
			t.Fatalf("%q reads as %v, which prints as %q and reads as %v, %v", s, r, r.String(), again, err)
		}
		pps, err := r.PPS(60, Device{Speed: 1e9})
		if err != nil || pps == nil && !r.IsMax() || pps != nil && pps.Sign() <= 0 {
			t.Fatalf("%q: %v, %v", s, pps, err)
		}
	})
}
