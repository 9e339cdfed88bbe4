package knob

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseSweep(t *testing.T) {
	up := Sweep{Knob: "size", From: "60", To: "128", Dwell: time.Second, Direction: "up"}
	with := func(f func(*Sweep)) Sweep { s := up; f(&s); return s }
	for _, c := range []struct {
		line string
		want Sweep
	}{
		{"sweep size 60..128", up},
		{"sweep size 60..128 step 1 dwell 500ms", with(func(s *Sweep) { s.Step, s.Dwell = "1", 500*time.Millisecond })},
		{"sweep size 128..60", with(func(s *Sweep) { s.From, s.To, s.Direction = "128", "60", "down" })},
		{"sweep size 128..60 up", with(func(s *Sweep) { s.From, s.To = "128", "60" })},
		{"sweep size 60..128 down", with(func(s *Sweep) { s.Direction = "down" })},
		{"sweep size 60..128 bisect updown step 4", with(func(s *Sweep) { s.Direction, s.Bisect, s.Step = "updown", true, "4" })},
		{"sweep rate 0.2Mpps..0.6Mpps", with(func(s *Sweep) { s.Knob, s.From, s.To = "rate", "0.2Mpps", "0.6Mpps" })},
		{"sweep rate 500kpps..1Mpps # the whole", with(func(s *Sweep) { s.Knob, s.From, s.To = "rate", "500kpps", "1Mpps" })},
		{"sweep stop", Sweep{Stop: true}},
	} {
		got, err := ParseLine(c.line)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if diff := cmp.Diff(c.want, got.Sweep); diff != "" || got.Verb != DoSweep {
			t.Errorf("%s: %s (-want +got):\n%s", c.line, got.Verb, diff)
		}
	}
}

func TestParseSweepRefuses(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"sweep", "needs a knob and its ends"},
		{"sweep size", "needs a knob and its ends"},
		{"sweep size 60", "write the ends as FROM..TO"},
		{"sweep size 60..", "write the ends as FROM..TO"},
		{"sweep sise 60..70", "did you mean size?"},
		{"sweep path bypass..qdisc", "it has no order to go through: sweep rate, size, burst"},
		{"sweep size a..b", "no whole number"},
		{"sweep size 60..128 step", "step needs a value"},
		{"sweep size 60..128 stride 4", `"stride" is no word of it`},
		{"sweep size 60..128 dwell 5", "did you mean 5s?"},
		{"sweep size 60..128 dwell 1ms", "100ms to 1h"},
		{"sweep rate 1Mpps..max", "max is no number"},
		{"sweep rate 10%..1Mpps", "both ends in one unit"},
		{"sweep rate 10..20", "no rate"},
	} {
		_, err := ParseLine(c.line)
		if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want ...%s...", c.line, err, c.want)
		}
	}
}

func TestParseDiff(t *testing.T) {
	for line, want := range map[string][2]string{
		"diff": {}, "diff A B": {"A", "B"}, "diff 3 7": {"3", "7"}, "diff burst 1, burst 8": {"burst 1", "burst 8"},
	} {
		c, err := ParseLine(line)
		if err != nil || c.Verb != DoDiff || c.Name != want[0] || c.Other != want[1] {
			t.Errorf("%s: %+v, %v", line, c, err)
		}
	}
	for _, line := range []string{"diff A", "diff A B C", "diff A,", "diff , B"} {
		if _, err := ParseLine(line); !errors.Is(err, ErrUsage) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestAxis(t *testing.T) {
	for _, c := range []struct {
		knob, from, to, step string
		first, second, last  string
		n                    int
		grid                 float64
	}{
		{"size", "60", "128", "", "60", "61", "128", 69, 1},
		{"size", "60", "1514", "", "60", "82", "1514", 68, 1},
		{"size", "128", "60", "10", "60", "70", "120", 7, 10},
		{"size", "64fcs", "128fcs", "", "64fcs", "65fcs", "128fcs", 65, 1},
		{"burst", "1", "64", "", "1", "2", "64", 64, 1},
		{"rate", "0.2Mpps", "0.6Mpps", "", "200kpps", "210kpps", "600kpps", 41, 500},
		{"rate", "200kpps", "0.6Mpps", "100kpps", "200kpps", "300kpps", "600kpps", 5, 1e5},
		{"rate", "10%", "100%", "30%", "10%", "40%", "100%", 4, 30},
		{"rate", "1us", "10us", "3us", "1us", "4us", "10us", 4, 3e-6},
		{"rate", "100Mbit", "300MbitL1", "100MbitL1", "", "", "", 0, 0},
		{"dst-port", "9", "9", "", "9", "", "9", 1, 1},
	} {
		k, err := Find(c.knob)
		if err != nil {
			t.Fatal(err)
		}
		b := gigabit()
		a, err := k.Axis(b, c.from, c.to, c.step)
		if c.n == 0 {
			if !errors.Is(err, ErrUsage) {
				t.Errorf("%s %s..%s: %v", c.knob, c.from, c.to, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %s..%s: %v", c.knob, c.from, c.to, err)
			continue
		}
		if len(a.Texts) != c.n || len(a.Values) != c.n || a.Texts[0] != c.first || a.Texts[c.n-1] != c.last || c.n > 1 && a.Texts[1] != c.second || math.Abs(a.Grid/c.grid-1) > 1e-9 {
			t.Errorf("%s %s..%s: %d values %v, grid %v", c.knob, c.from, c.to, len(a.Texts), a.Texts, a.Grid)
		}
		for i, text := range a.Texts {
			if got := a.Text(a.Values[i]); got != text {
				t.Errorf("%s: %v is %s, want %s", c.knob, a.Values[i], got, text)
			}
			if _, err := k.Check(b, text); err != nil {
				t.Errorf("%s %s: %v", c.knob, text, err)
			}
		}
	}
}

func TestAxisBetweenItsValues(t *testing.T) {
	b := gigabit()
	for _, c := range []struct {
		knob, from, to string
		x              float64
		want           string
	}{
		{"rate", "0.2Mpps", "0.6Mpps", 446_500, "446.5kpps"},
		{"rate", "0.2Mpps", "0.6Mpps", 446_400, "446.5kpps"},
		{"size", "60", "1514", 105, "105"},
		{"size", "64fcs", "1518fcs", 109, "109fcs"},
	} {
		k, _ := Find(c.knob)
		a, err := k.Axis(b, c.from, c.to, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Text(c.x); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.knob, c.x, got, c.want)
		}
	}
}

func TestAxisRefuses(t *testing.T) {
	for _, c := range []struct{ knob, from, to, step, want string }{
		{"size", "60", "1600", "", "limit"},
		{"size", "10", "60", "", "smallest"},
		{"burst", "0", "64", "", "out of range"},
		{"burst", "1", "64", "0", "more than 0"},
		{"dst-port", "0", "65535", "1", "larger step"},
		{"rate", "0.2Mpps", "0.6Mpps", "1%", "unit"},
		{"rate", "0kpps", "10kpps", "", "rate"},
		{"segment", "1", "2", "", "no order"},
		{"queues", "1", "9", "", "has no more"},
	} {
		k, err := Find(c.knob)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.Axis(gigabit(), c.from, c.to, c.step); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s..%s step %q: %v, want ...%s...", c.knob, c.from, c.to, c.step, err, c.want)
		}
	}
}
