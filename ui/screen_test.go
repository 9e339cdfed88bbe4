package ui

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"

	"wirespeed/engine"
	"wirespeed/presets"
)

// story is a run in which something happened: a mark, a burst of 8, another mark.
func story() *fakeRun {
	f := newFakeNIC().after(160)
	f.Mark("")
	f.Do("burst 8")
	f.after(120)
	f.Mark("")
	return f
}

func TestScreen(t *testing.T) {
	tests := []struct {
		name string
		run  *fakeRun
		w, h int
		th   *Theme
		open func(m *model)
	}{
		{name: "80x24", run: story(), w: 80, h: 24},
		{name: "120x40", run: story(), w: 120, h: 40},
		{name: "200x60", run: story(), w: 200, h: 60},
		{name: "lab 120x40", run: newFakeLab().after(200), w: 120, h: 40},
		{name: "ascii 80x24", run: story(), w: 80, h: 24, th: testTheme(termenv.Ascii, false, asciiGlyphs)},
		{name: "ascii 120x40", run: story(), w: 120, h: 40, th: testTheme(termenv.Ascii, false, asciiGlyphs)},
		{name: "60x15", run: story(), w: 60, h: 15},
		{name: "40x6", run: story(), w: 40, h: 6},
		{name: "20x5", run: story(), w: 20, h: 5},
		{name: "30x1", run: story(), w: 30, h: 1},
		{name: "help 80x24", run: story(), w: 80, h: 24, open: func(m *model) { m.overlay = &helpText{} }},
		{name: "help 120x40", run: story(), w: 120, h: 40, open: func(m *model) { m.overlay = &helpText{} }},
		{name: "flow control 80x24", run: story(), w: 80, h: 24, open: func(m *model) { m.openPause() }},
		{name: "flow control lab 80x24", run: newFakeLab().after(50), w: 80, h: 24, open: func(m *model) { m.openPause() }},
		{name: "flow control walked 120x40", run: story(), w: 120, h: 40, open: func(m *model) { drive(m, "f", "f") }},
		{name: "counters 80x24", run: story(), w: 80, h: 24, open: func(m *model) { drive(m, "i") }},
		{name: "counters 120x40", run: story(), w: 120, h: 40, open: func(m *model) { drive(m, "i") }},
		{name: "counters searched 80x24", run: story(), w: 80, h: 24, open: func(m *model) { drive(m, "i", "/", "queue", "enter") }},
		{name: "instruments 80x24", run: story(), w: 80, h: 24, open: func(m *model) { drive(m, "tab") }},
		{name: "instruments 120x40", run: story(), w: 120, h: 40, open: func(m *model) { drive(m, "tab") }},
		{name: "instruments empty queue 80x24", run: newFakeNIC().after(50), w: 80, h: 24, open: func(m *model) { drive(m, "tab") }},
		{name: "instruments lab 80x24", run: newFakeLab().after(50), w: 80, h: 24, open: func(m *model) { drive(m, "tab") }},
		{name: "instruments ascii 80x24", run: story(), w: 80, h: 24, th: testTheme(termenv.Ascii, false, asciiGlyphs), open: func(m *model) { drive(m, "tab") }},
		{name: "arrivals 80x24", run: story(), w: 80, h: 24, open: arrivals},
		{name: "arrivals 120x40", run: story(), w: 120, h: 40, open: arrivals},
		{name: "arrivals ascii 80x24", run: story(), w: 80, h: 24, th: testTheme(termenv.Ascii, false, asciiGlyphs), open: arrivals},
		{name: "arrivals counted only 80x24", run: story(), w: 80, h: 24, open: func(m *model) { drive(m, "a") }},
		{name: "verified 120x40", run: story(), w: 120, h: 40, open: func(m *model) { arrivals(m); drive(m, "a") }},
		{name: "nic knobs 80x24", run: story(), w: 80, h: 24, open: func(m *model) { drive(m, "/", "nic", "enter") }},
		{name: "nic knobs 120x40", run: story(), w: 120, h: 40, open: func(m *model) { drive(m, "/", "nic", "enter") }},
		{name: "nic knobs lab 80x24", run: newFakeLab().after(50), w: 80, h: 24, open: func(m *model) { drive(m, "/", "nic", "enter") }},
		{name: "presets 120x40", run: story(), w: 120, h: 40, open: openPresets},
		{name: "presets 80x24", run: story(), w: 80, h: 24, open: openPresets},
		{name: "packet 120x40", run: story(), w: 120, h: 40, open: openFrame},
		{name: "packet 80x24", run: story(), w: 80, h: 24, open: openFrame},
		{name: "edit 80x24", run: story(), w: 80, h: 24, open: func(m *model) { drive(m, "enter", "4", "0", "%") }},
		{name: "edit refused 80x24", run: story(), w: 80, h: 24, open: func(m *model) { drive(m, "enter", "5", "parsec") }},
		{name: "command 80x24", run: story(), w: 80, h: 24, open: func(m *model) { drive(m, ":", "size 105") }},
		{name: "completion 80x24", run: story(), w: 80, h: 24, open: func(m *model) { drive(m, ":", "s", "tab") }},
		{name: "filter 120x40", run: story(), w: 120, h: 40, open: func(m *model) { drive(m, "/", "port") }},
		{name: "frozen 80x24", run: story(), w: 80, h: 24, open: func(m *model) { drive(m, "z") }},
		{name: "no carrier 80x24", run: story(), w: 80, h: 24, open: func(m *model) {
			m.view.State, m.view.Why = engine.NoCarrier, "no carrier on eth1 for 1.2 s: frames wait"
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			th := tt.th
			if th == nil {
				th = plainTheme()
			}
			m := screenOf(tt.run.Tick(), tt.w, tt.h, th)
			m.run = tt.run
			if tt.open != nil {
				tt.open(m)
			}
			m.drawn = false
			golden.RequireEqual(t, []byte(trimmed(m.View())))
		})
	}
}

// openPresets shows the embedded ones: what the tests' user has saved is not theirs to see.
func openPresets(m *model) {
	list, _ := presets.List()
	for i := range list {
		if list[i].Path != "" {
			list = list[:i]
			break
		}
	}
	m.overlay = &presetList{list: list, loaded: true, at: 1}
}

// trimmed is a screen without the blanks at the ends of its lines.
func trimmed(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// Colour adds nothing but colour: whoever cannot see it reads the same screen.
func TestColourCarriesNothingAlone(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}, {40, 8}} {
		plain := screenOf(story().Tick(), size[0], size[1], plainTheme()).View()
		for name, p := range map[string]termenv.Profile{"true colour": termenv.TrueColor, "256": termenv.ANSI256, "16": termenv.ANSI} {
			got := screenOf(story().Tick(), size[0], size[1], testTheme(p, true, unicodeGlyphs)).View()
			if got == plain {
				t.Errorf("%s: no colour at all", name)
			}
			if diff := cmp.Diff(plain, ansi.Strip(got)); diff != "" {
				t.Errorf("%s at %dx%d says something else (-plain +colour):\n%s", name, size[0], size[1], diff)
			}
		}
	}
}

// With NO_COLOR only bold, faint and reverse are left (no-color.org).
func TestNoColourMeansNoColour(t *testing.T) {
	sequence := regexp.MustCompile("\x1b\\[([0-9;]*)m")
	m := screenOf(story().Tick(), 120, 40, testTheme(termenv.TrueColor, colorful(envOf("NO_COLOR=1", "TERM=xterm")), unicodeGlyphs))
	found := sequence.FindAllStringSubmatch(m.View(), -1)
	if len(found) == 0 {
		t.Error("not even the chosen knob stands out")
	}
	for _, s := range found {
		for n := range strings.SplitSeq(s[1], ";") {
			switch n {
			case "", "0", "1", "2", "7":
			default:
				t.Fatalf("colour %q in a screen without colour", s[0])
			}
		}
	}
}

func envOf(vars ...string) func(string) string {
	return func(name string) string {
		for _, v := range vars {
			if k, value, _ := strings.Cut(v, "="); k == name {
				return value
			}
		}
		return ""
	}
}

func TestSignsSuitTheTerminal(t *testing.T) {
	for _, tt := range []struct {
		env     []string
		unicode bool
	}{
		{[]string{"LANG=en_US.UTF-8", "TERM=xterm-256color"}, true},
		{[]string{"LANG=C.utf8", "TERM=tmux"}, true},
		{[]string{"TERM=xterm"}, true},
		{[]string{"LANG=C"}, false},
		{[]string{"LANG=en_US.UTF-8", "LC_ALL=POSIX"}, false},
		{[]string{"LC_CTYPE=de_DE.UTF-8", "LANG=C"}, true},
		{[]string{"LANG=en_US.UTF-8", "TERM=linux"}, false},
		{[]string{"LANG=en_US.UTF-8", "TERM=dumb"}, false},
	} {
		if got := glyphsFor(envOf(tt.env...)).Braille; got != tt.unicode {
			t.Errorf("%v: braille %v, want %v", tt.env, got, tt.unicode)
		}
	}
}

// An ASCII screen is ASCII.
func TestASCII(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}, {30, 6}} {
		m := screenOf(story().Tick(), size[0], size[1], testTheme(termenv.Ascii, false, asciiGlyphs))
		for on, open := range overlays() {
			if on == "command" { // holds what was typed
				continue
			}
			m.overlay = nil
			open(m)
			m.drawn = false
			for _, c := range m.View() {
				if c > 0x7e {
					t.Errorf("%s at %dx%d: %q", on, size[0], size[1], c)
				}
			}
		}
	}
}

// The warning of the classic line is never cut in two.
func TestWarningFits(t *testing.T) {
	run := story()
	for _, w := range []int{80, 100, 120, 200} {
		m := screenOf(run.Tick(), w, 40, plainTheme())
		m.view.Line.Add(1e6, 1e6)
		m.view.Line.Add(1e8, 1e8)
		if m.view.Line.Warning() == "" {
			t.Fatal("the line has no warning")
		}
		m.drawn = false
		if s := m.View(); !strings.Contains(s, "  WARNING ") && !strings.Contains(s, "  WARNING\n") {
			t.Errorf("no whole warning at %d:\n%s", w, s)
		}
	}
}

// Numbers stand still: one look to the next, what does not change is the same line to the byte, so that bubbletea leaves
// it alone, and what changes keeps its place.
func TestNumbersStandStill(t *testing.T) {
	run := newFakeNIC().after(400)
	m := screenOf(run.Tick(), 120, 40, plainTheme())
	before := strings.Split(m.View(), "\n")
	m.take(run.Tick())
	m.drawn = false
	after := strings.Split(m.View(), "\n")
	same := 0
	for i := range before {
		if before[i] == after[i] {
			same++
		}
		if a, b := spots(before[i]), spots(after[i]); strings.Contains(before[i], "ns/packet ") && a != b {
			t.Errorf("words have moved:\n%s\n%s", before[i], after[i])
		}
	}
	if same < len(before)/2 {
		t.Errorf("only %d of %d lines stay the same within a second", same, len(before))
	}
}

// spots are the columns where words begin.
func spots(line string) string {
	var out []string
	for _, at := range regexp.MustCompile(`[a-z/]{2,}`).FindAllStringIndex(line, -1) {
		out = append(out, fmt.Sprint(ansi.StringWidth(line[:at[0]])))
	}
	return strings.Join(out, " ")
}

func TestMain(m *testing.M) {
	// No test shall see or change what the user has saved.
	dir, err := os.MkdirTemp("", "ui")
	if err != nil {
		panic(err)
	}
	os.Setenv("XDG_CONFIG_HOME", dir)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}
