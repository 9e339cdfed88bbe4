package ui

import (
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"

	"wirespeed/presets/knob"
	"wirespeed/ui/control"
)

// fakeSweep has gone so far through the sizes of a device with a cliff between 104 and 105.
func fakeSweep(points int) *control.Sweep {
	s := &control.Sweep{
		Sweep: knob.Sweep{Knob: "size", From: "60", To: "128", Direction: "up"},
		Least: "60", Most: "128", Ends: [2]float64{60, 128}, Values: 69, Running: points < 69, Doing: "going up",
	}
	for i := range points {
		ns := 750 + float64(i%3)
		if 60+i > 104 {
			ns -= 61
		}
		s.Points = append(s.Points, control.SweepPoint{
			Text: strconv.Itoa(60 + i), X: float64(60 + i), Leg: control.LegUp, OK: true, PPS: 1e9 / ns, NS: &ns, MedianNS: &ns, Regime: "direct",
		})
	}
	if points == 69 {
		yes := true
		s.Restored = "60"
		s.Findings = []control.Finding{{
			Kind: control.FindStep, Before: "104", After: "105", X: 104.5, Confirmed: &yes,
			Text: "pps rises by 8.8 % between size 104 and 105: 61 ns per packet (± 0.3, 95 %, 3 times back and forth)",
		}}
	}
	return s
}

func TestSweepScreen(t *testing.T) {
	for _, c := range []struct {
		name   string
		w, h   int
		points int
		th     *Theme
		keys   []string
	}{
		{"under way 80x24", 80, 24, 30, nil, []string{"w"}},
		{"done 80x24", 80, 24, 69, nil, []string{"w"}},
		{"done 120x40", 120, 40, 69, nil, []string{"w"}},
		{"done ascii 80x24", 80, 24, 69, testTheme(termenv.Ascii, false, asciiGlyphs), []string{"w"}},
		{"none yet 80x24", 80, 24, -1, nil, []string{"w"}},
		{"epochs 80x24", 80, 24, -1, nil, []string{"e", "down", "enter", "up"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := story()
			v := run.Tick()
			if c.points >= 0 {
				v.Sweep = fakeSweep(c.points)
			}
			th := c.th
			if th == nil {
				th = plainTheme()
			}
			m := screenOf(v, c.w, c.h, th)
			m.run = run
			drive(m, c.keys...)
			m.drawn = false
			golden.RequireEqual(t, []byte(trimmed(m.View())))
		})
	}
}

func TestSweepPaneFitsEverySize(t *testing.T) {
	run := story()
	base := run.Tick()
	for _, points := range []int{-1, 0, 1, 69} {
		for _, key := range []string{"w", "e"} {
			for w := 1; w < 130; w += 9 {
				for h := 1; h < 45; h += 4 {
					v := *base
					if points >= 0 {
						v.Sweep = fakeSweep(points)
					}
					m := screenOf(&v, w, h, plainTheme())
					m.run = run
					drive(m, key)
					m.drawn = false
					lines := strings.Split(m.View(), "\n")
					if len(lines) > h {
						t.Fatalf("%d points, key %s, %dx%d: %d lines", points, key, w, h, len(lines))
					}
					for _, l := range lines {
						if cells(l) > w {
							t.Fatalf("%d points, key %s, %dx%d: %q", points, key, w, h, l)
						}
					}
				}
			}
		}
	}
}

func TestSweepPaneOpensByItself(t *testing.T) {
	run := story()
	m := screenOf(run.Tick(), 80, 24, plainTheme())
	m.run = run
	v := run.Tick()
	v.Sweep = fakeSweep(1)
	m.take(v)
	if _, ok := m.overlay.(*sweepPane); !ok {
		t.Errorf("overlay %T when a sweep begins", m.overlay)
	}
	drive(m, "w")
	next := run.Tick()
	next.Sweep = fakeSweep(2)
	m.take(next)
	if m.overlay != nil {
		t.Errorf("overlay %T: it was closed by hand", m.overlay)
	}
}

func TestKeysOfInstruments(t *testing.T) {
	run := story()
	m := screenOf(run.Tick(), 80, 24, plainTheme())
	m.run = run
	before := len(run.calls())
	drive(m, "k", "x", "e", "enter", "down", "enter", "esc", "w", "x", "w")
	want := []string{"kick", "sweep stop", "diff 2 1", "sweep stop"}
	if diff := cmp.Diff(want, run.calls()[before:]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
