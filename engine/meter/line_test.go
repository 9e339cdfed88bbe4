package meter

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// classic are 17 samples, rx and tx in pps, and classicLines what they must print, byte for byte: warm-up, the 11th sample, a spike to
// either side, a stall (variation 0), nearly a stall, and the warning after it.
var classic = [][2]float64{
	{10, 1423314},
	{20, 1423900},
	{30, 1423000},
	{40, 1423100},
	{50, 1423700},
	{60, 1423400},
	{70, 1423314},
	{80, 1423900},
	{90, 1423000},
	{100, 1423100},
	{110, 1423700},
	{120, 1421000},
	{130, 1425000},
	{140, 0},
	{150, 9},
	{160, 1488095},
	{170, 1423454},
}

const classicLines = `instant rx:10 tx:1423314 pps n:1 average: rx:10 tx:1423314 pps (instant variation TX 0.000 ns (min:0.000 max:0.000) RX 0.000 ns)
instant rx:20 tx:1423900 pps n:2 average: rx:15 tx:1423607 pps (instant variation TX 0.145 ns (min:0.000 max:0.000) RX 16666666.667 ns)
instant rx:30 tx:1423000 pps n:3 average: rx:20 tx:1423404 pps (instant variation TX -0.200 ns (min:0.000 max:0.000) RX 16666666.667 ns)
instant rx:40 tx:1423100 pps n:4 average: rx:25 tx:1423328 pps (instant variation TX -0.113 ns (min:0.000 max:0.000) RX 15000000.000 ns)
instant rx:50 tx:1423700 pps n:5 average: rx:30 tx:1423402 pps (instant variation TX 0.147 ns (min:0.000 max:0.000) RX 13333333.333 ns)
instant rx:60 tx:1423400 pps n:6 average: rx:35 tx:1423402 pps (instant variation TX -0.001 ns (min:0.000 max:0.000) RX 11904761.905 ns)
instant rx:70 tx:1423314 pps n:7 average: rx:40 tx:1423389 pps (instant variation TX -0.037 ns (min:0.000 max:0.000) RX 10714285.714 ns)
instant rx:80 tx:1423900 pps n:8 average: rx:45 tx:1423453 pps (instant variation TX 0.220 ns (min:0.000 max:0.000) RX 9722222.222 ns)
instant rx:90 tx:1423000 pps n:9 average: rx:50 tx:1423403 pps (instant variation TX -0.199 ns (min:0.000 max:0.000) RX 8888888.889 ns)
instant rx:100 tx:1423100 pps n:10 average: rx:55 tx:1423372 pps (instant variation TX -0.135 ns (min:0.000 max:0.000) RX 8181818.182 ns)
instant rx:110 tx:1423700 pps n:11 average: rx:60 tx:1423402 pps (instant variation TX 0.147 ns (min:0.000 max:0.147) RX 7575757.576 ns)
instant rx:120 tx:1421000 pps n:12 average: rx:65 tx:1423202 pps (instant variation TX -1.089 ns (min:-1.089 max:0.147) RX 7051282.051 ns)
instant rx:130 tx:1425000 pps n:13 average: rx:70 tx:1423340 pps (instant variation TX 0.818 ns (min:-1.089 max:0.818) RX 6593406.593 ns)
instant rx:140 tx:0 pps n:14 average: rx:75 tx:1321673 pps (instant variation TX 0.000 ns (min:-1.089 max:0.818) RX 6190476.190 ns)
instant rx:150 tx:9 pps n:15 average: rx:80 tx:1233562 pps (instant variation TX -111110300.451 ns (min:-111110300.451 max:0.818) RX 5833333.333 ns)
instant rx:160 tx:1488095 pps n:16 average: rx:85 tx:1249470 pps (instant variation TX 128.339 ns (min:-111110300.451 max:128.339) RX 5514705.882 ns)
WARNING instant variation high
instant rx:170 tx:1423454 pps n:17 average: rx:90 tx:1259705 pps (instant variation TX 91.320 ns (min:-111110300.451 max:128.339) RX 5228758.170 ns)
WARNING instant variation high
`

func TestLineClassic(t *testing.T) {
	var l Line
	var out strings.Builder
	for _, s := range classic {
		l.Add(s[0], s[1])
		out.WriteString(l.String() + "\n")
		if w := l.Warning(); w != "" {
			out.WriteString(w + "\n")
		}
	}
	if diff := cmp.Diff(classicLines, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLineUnknown(t *testing.T) {
	var l Line
	add := func(rx, tx float64, want string) {
		t.Helper()
		l.Add(rx, tx)
		if diff := cmp.Diff(want, l.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	nan := math.NaN()
	add(nan, 1000, "instant rx:- tx:1000 pps n:1 average: rx:- tx:1000 pps (instant variation TX 0.000 ns (min:0.000 max:0.000) RX - ns)")
	add(500, 1000, "instant rx:500 tx:1000 pps n:2 average: rx:500 tx:1000 pps (instant variation TX 0.000 ns (min:0.000 max:0.000) RX 0.000 ns)")
	add(-1, 1000, "instant rx:- tx:1000 pps n:3 average: rx:500 tx:1000 pps (instant variation TX 0.000 ns (min:0.000 max:0.000) RX - ns)")
	add(300, 1000, "instant rx:300 tx:1000 pps n:4 average: rx:400 tx:1000 pps (instant variation TX 0.000 ns (min:0.000 max:0.000) RX -833333.333 ns)")
	before := l
	for _, bad := range []float64{nan, math.Inf(1), math.Inf(-1), -1} {
		l.Add(1, bad)
	}
	if l != before {
		t.Errorf("a sample without tx changed %+v to %+v", before, l)
	}
}

// lineForm is what scripts that read the line expect.
var lineForm = regexp.MustCompile(`^instant rx:(\d+|-) tx:\d+ pps n:\d+ average: rx:(\d+|-) tx:\d+ pps \(instant variation TX -?\d+\.\d{3} ns \(min:-?\d+\.\d{3} max:-?\d+\.\d{3}\) RX (-?\d+\.\d{3}|-) ns\)$`)

func FuzzLine(f *testing.F) {
	f.Add(0.0, 0.0, 1.0, 1.0)
	f.Add(math.NaN(), math.Inf(1), -1.0, 5e-324)
	f.Add(1e29, 1e29, math.MaxFloat64, 9.3e18)
	f.Fuzz(func(t *testing.T, rx1, tx1, rx2, tx2 float64) {
		var l Line
		for range 12 { // beyond the quiet samples
			l.Add(rx1, tx1)
			l.Add(rx2, tx2)
			if s := l.String(); !lineForm.MatchString(s) {
				t.Fatalf("%q", s)
			}
			if l.MinTX > 0 || l.MaxTX < 0 || (l.N <= 10 && (l.MinTX != 0 || l.MaxTX != 0)) {
				t.Fatalf("n %d: min %v max %v", l.N, l.MinTX, l.MaxTX)
			}
		}
	})
}
