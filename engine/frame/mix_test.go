package frame

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMixes(t *testing.T) {
	for _, c := range []struct {
		text  string
		sizes []int // of the first frames, without FCS
		l     float64
	}{
		{"imix", []int{60, 590, 60, 60, 590, 60, 1514, 60, 590, 60, 590, 60}, 4342.0 / 12},
		{"64:7,594:4,1518:1", []int{60, 590}, 4342.0 / 12},
		{"64:14,594:8,1518:2", []int{60, 590}, 4342.0 / 12},
		{"imix-570", []int{60, 566}, (64*7 + 570*4 + 1518) / 12.0},
		{"tolly", []int{60, 1514, 60}, (64*55 + 78*5 + 576*17 + 1518*23) / 100.0},
		{"60,128, 1514", []int{60, 128, 1514, 60}, (64 + 132 + 1518) / 3.0},
		{"64fcs,128fcs", []int{60, 124, 60}, 96},
		{"60,60,100", []int{60, 60, 100, 60}, (64 + 64 + 104) / 3.0},
		{"60..63", []int{60, 61, 62, 63, 60}, 65.5},
		{"60..100 step 20", []int{60, 80, 100, 60}, 84},
		{"60..99 step 20", []int{60, 80, 60}, 74},
		{"random  60..63", nil, 65.5},
	} {
		t.Run(c.text, func(t *testing.T) {
			m, ok, err := ParseMix(c.text)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			var got []int
			for n := range c.sizes {
				got = append(got, m.sizes[m.index(uint64(n), 1)])
			}
			if d := cmp.Diff(c.sizes, got); d != "" {
				t.Errorf("sizes (-want +got):\n%s", d)
			}
			if l := float64(m.lengths.L) / float64(m.lengths.Frames); math.Abs(l-c.l) > 1e-9 {
				t.Errorf("mean L %v, want %v", l, c.l)
			}
			again, _, err := ParseMix(m.String())
			if err != nil || again != m {
				t.Errorf("%q read again is another mix: %v", m, err)
			}
		})
	}
}

// The figure of the issue: 327,368 pps on 1 Gbit/s.
func TestMixWirespeed(t *testing.T) {
	m, _, err := ParseMix("64:7,594:4,1518:1")
	if err != nil {
		t.Fatal(err)
	}
	pps, _ := m.lengths.MaxPPS(1e9).Float64()
	if math.Round(pps) != 327368 {
		t.Errorf("%v pps", pps)
	}
	if got := m.lengths.BpsL1(pps); math.Abs(got-1e9) > 1 {
		t.Errorf("%v bit/s at wirespeed", got)
	}
}

func TestInterleaveIsEven(t *testing.T) {
	weights := []uint64{55, 5, 17, 23}
	order := Interleave(weights)
	counts := make([]float64, len(weights))
	for n, i := range order {
		counts[i]++
		for k, w := range weights {
			if share := float64(w) * float64(n+1) / 100; math.Abs(counts[k]-share) > 1.5 {
				t.Fatalf("after %d frames size %d came %v times, its share is %.2f", n+1, k, counts[k], share)
			}
		}
	}
	if d := cmp.Diff([]float64{55, 5, 17, 23}, counts); d != "" {
		t.Errorf("a round (-want +got):\n%s", d)
	}
}

func TestMixRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"64:7,594", `"594" has no weight`},
		{"64:0,594:1", "a whole number from 1"},
		{"64:-1", "a whole number from 1"},
		{"63:1,64:1", "the smallest frame has 60 bytes, 64 with FCS"},
		{"64:1,64:2", "64 is there twice"},
		{"64:65536,128:1", "add up to 65537: at most 65536"},
		{"100..60", "from the smaller size to the larger"},
		{"60..100 step 0", "a range is"},
		{"random 60..100 step 2", "a range is"},
		{"60..", "not a number of bytes"},
		{"60,,80", "not a number of bytes"},
		{"60,99999999", "no frame is longer"},
		{"60..99999999", "no frame is longer"},
	} {
		_, _, err := ParseMix(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", c.text, err, c.want)
		}
	}
	if _, ok, err := ParseMix("60"); ok || err != nil {
		t.Errorf("one size: %v, %v", ok, err)
	}
}

func FuzzMix(f *testing.F) {
	for _, s := range []string{"imix", "64:7,594:4,1518:1", "60,128", "60..1514 step 64", "random 60..90", "60"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, ok, err := ParseMix(s)
		if err != nil || !ok {
			return
		}
		if m.Least() < Smallest || m.lengths.Frames == 0 || m.lengths.L < 64*m.lengths.Frames {
			t.Errorf("%q: %+v", s, m.lengths)
		}
		if again, _, err := ParseMix(m.String()); again != m {
			t.Errorf("%q is not what it prints, %q: %v", s, m, err)
		}
	})
}
