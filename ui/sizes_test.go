package ui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"wirespeed/engine"
	"wirespeed/nic"
	"wirespeed/nic/check"
	"wirespeed/presets"
	"wirespeed/ui/control"
)

// testTheme is a theme for a kind of terminal, whatever terminal the tests run in.
func testTheme(p termenv.Profile, color bool, g glyphs) *Theme {
	r := lipgloss.NewRenderer(nil)
	r.SetColorProfile(p)
	r.SetHasDarkBackground(true)
	return newTheme(r, color, g)
}

func plainTheme() *Theme { return testTheme(termenv.Ascii, false, unicodeGlyphs) }

// screenOf is a console of a size that has seen one look.
func screenOf(v *control.View, w, h int, th *Theme) *model {
	m := newModel(context.Background(), newFakeNIC(), th, time.Second)
	m.width, m.height = w, h
	m.take(v)
	return m
}

// checkFits fails where a screen has too many lines or one that is too wide.
func checkFits(t *testing.T, m *model, what string) {
	t.Helper()
	m.drawn = false
	lines := strings.Split(m.View(), "\n")
	if len(lines) > m.height {
		t.Fatalf("%s at %dx%d: %d lines", what, m.width, m.height, len(lines))
	}
	for i, l := range lines {
		if n := ansi.StringWidth(l); n > m.width {
			t.Fatalf("%s at %dx%d: line %d has %d cells: %q", what, m.width, m.height, i, n, ansi.Strip(l))
		}
	}
}

// The worst that can come: the longest numbers, many workers, foreign texts that try to leave their place.
func nastyView() *control.View {
	v := newFakeNIC().after(900).Tick()
	huge := uint64(1<<64 - 1)
	pps := 1e18
	ns := 1e18
	evil := "\x1b[2J\x1b]0;title\x07eth\r\n\tverylongname界界界界界界界界界界界界界界界界界界界界\u202eabc\x00\u0007 " + strings.Repeat("x", 90)
	v.Device.Link.Name, v.Device.Link.Driver, v.Device.Link.Qdisc, v.Device.Pause, v.Device.To = evil, evil, evil, evil, evil
	v.Device.Lab, v.Device.Rx, v.Device.Stated = true, evil, true
	v.Fast.TX.PPS, v.Fast.TX.NS, v.Fast.TX.BpsL1, v.Fast.RxDev = pps, &ns, 1e30, evil
	v.Fast.RX = v.Fast.TX
	v.Sample.TX.VarNS, v.Sample.TX.VarMin, v.Sample.TX.VarMax = -1e17, -1e18, 1e18
	v.Epoch.PPS, v.Epoch.StdDevNS = 1e18, 1e18
	v.Ladder = control.Ladder{Asked: &huge, Ring: huge, Taken: 0, Device: &huge, Arrived: &huge, Gaps: []string{evil, evil}}
	v.Missed, v.LostNoCarrier, v.Errors, v.Placement = huge, &huge, huge, evil
	v.Qdisc = &nic.Qdisc{Kind: evil, BacklogPackets: huge, Drops: huge}
	for i := range 64 {
		v.Queues = append(v.Queues, control.Queue{Queue: i, CPU: 1023, PPS: pps, NS: &ns, RingFull: huge, Retries: huge, Errors: huge, Err: evil, State: engine.Failed})
	}
	v.Knobs = append(v.Knobs, control.Knob{Name: "priv.x", Group: evil, Value: evil, Detail: evil, Help: evil, Reason: evil})
	v.Facts = &control.Facts{
		Counters: []nic.StatRate{{Name: evil, PerSecond: 1e300}}, PauseTx: &pps,
		IRQs: []nic.IRQRate{{QueueIRQ: nic.QueueIRQ{Interrupt: nic.Interrupt{Name: evil}}, PerSecond: 1e18, On: []int{1023, 1022, 1021, 1020, 1019}}},
	}
	v.Marks = append(v.Marks, v.Epoch, v.Epoch, v.Epoch)
	for i := range v.Marks {
		v.Marks[i].Mark, v.Marks[i].Label = evil, evil
	}
	for range 5 {
		v.Log = append(v.Log, control.Event{At: fakeStart, Text: evil})
	}
	for i := range v.History {
		if i%40 == 0 {
			v.History[i].Mark = evil
		}
		if i%7 == 0 {
			v.History[i].NS *= 1e9
		}
	}
	v.History = append(v.History, control.Point{At: 230 * time.Second}, control.Point{At: 231 * time.Second, Valid: true, PPS: 1e300, NS: 1e-300})
	return v
}

// overlays are all that can lie over the screen.
func overlays() map[string]func(m *model) {
	list := func() *presetList {
		all, _ := presets.List()
		return &presetList{list: all, loaded: true}
	}
	return map[string]func(m *model){
		"none":  func(*model) {},
		"help":  func(m *model) { m.overlay = &helpText{} },
		"pause": func(m *model) { m.openPause() },
		"counters": func(m *model) {
			m.overlay = &counterPane{}
			drive(m, "/", strings.Repeat("long ", 80))
		},
		"counted": func(m *model) { m.overlay = &counterPane{} },
		"looking": func(m *model) { m.openCheck() },
		"checked": func(m *model) {
			long := strings.Repeat("long ", 80) + "\x1b[2J"
			list := append(fakeFindings(), check.Finding{
				Group: long, Title: long, State: check.Bad, Seen: long, Why: long, Sure: check.Certain, Mend: long, Changes: []check.Change{{Setting: long, Value: long}},
			})
			m.overlay = &checkPane{findings: list, looking: true}
		},
		"unchecked": func(m *model) { m.overlay = &checkPane{err: fmt.Errorf("%s", strings.Repeat("no ", 200))} },
		"presets":   func(m *model) { m.overlay = list() },
		"packet":    openFrame,
		"reading":   func(m *model) { m.overlay = &presetList{} },
		"edit":      func(m *model) { m.edit() },
		"command": func(m *model) {
			m.command()
			p := m.overlay.(*prompt)
			p.in.set(strings.Repeat("rate 界", 80))
			p.feedback("", fmt.Errorf("%s", strings.Repeat("no ", 200)))
		},
		"offers": func(m *model) {
			m.command()
			m.overlay.(*prompt).offers = strings.Fields(strings.Repeat("word ", 100))
		},
		"frozen": func(m *model) { m.freeze(); m.say(strings.Repeat("note ", 99), true) },
		"filter": func(m *model) { m.panel.filter = "nothing is called this" },
		"pps":    func(m *model) { m.charts = showPPS },
	}
}

func TestNothingOverflowsAtAnySize(t *testing.T) {
	views := map[string]*control.View{
		"fresh":     {},
		"lab":       newFakeLab().after(300).Tick(),
		"beginning": newFakeNIC().Tick(),
		"nasty":     nastyView(),
	}
	themes := map[string]*Theme{"plain": plainTheme(), "colour": testTheme(termenv.TrueColor, true, unicodeGlyphs), "ascii": testTheme(termenv.Ascii, false, asciiGlyphs)}
	for vn, v := range views {
		for tn, th := range themes {
			for on, open := range overlays() {
				if tn != "plain" && vn != "nasty" {
					continue // what they show is the same
				}
				m := screenOf(v, 120, 40, th)
				open(m)
				for _, w := range []int{1, 7, 20, 61, 80, 110, 201} {
					for _, h := range []int{1, 2, 3, 9, 24, 36} {
						m.width, m.height = w, h
						checkFits(t, m, vn+"/"+tn+"/"+on)
					}
				}
			}
		}
	}
	m := screenOf(views["nasty"], 120, 40, themes["plain"])
	for w := 1; w <= 210; w++ {
		for _, h := range []int{1, 2, 4, 8, 16, 24, 36, 60} {
			m.width, m.height = w, h
			checkFits(t, m, "nasty")
		}
	}
	for h := 1; h <= 70; h++ {
		for _, w := range []int{1, 5, 20, 60, 79, 80, 120, 200} {
			m.width, m.height = w, h
			checkFits(t, m, "nasty")
		}
	}
}

// Before the first look there is nothing to show, and nothing to break.
func TestBeforeTheFirstLook(t *testing.T) {
	for w := 1; w < 5; w++ {
		for h := 1; h < 5; h++ {
			m := newModel(context.Background(), newFakeNIC(), plainTheme(), time.Second)
			m.width, m.height = w, h
			for _, a := range m.actions() {
				a.do()
			}
			m.width, m.height = w, h
			checkFits(t, m, "no view")
		}
	}
}

// What a foreign text may do is be read.
func TestForeignTextCannotMoveTheCursor(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}, {60, 10}, {30, 1}} {
		m := screenOf(nastyView(), size[0], size[1], plainTheme())
		for _, c := range m.View() {
			if c < ' ' && c != '\n' || c >= 0x7f && c < 0xa0 || c == '\u202e' {
				t.Fatalf("%dx%d: %q is on the screen", size[0], size[1], c)
			}
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("eth0")
	f.Add("\x1b]0;owned\x07\x9b31m\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range clean(s) {
			if c < ' ' || c >= 0x7f && c < 0xa0 {
				t.Fatalf("clean(%q) holds %q", s, c)
			}
		}
	})
}

func BenchmarkLookAndDraw(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			run := newFakeNIC().after(900)
			var views []*control.View
			for range 64 {
				views = append(views, run.Tick())
			}
			m := screenOf(views[0], size[0], size[1], testTheme(termenv.TrueColor, true, unicodeGlyphs))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				m.Update(viewMsg{views[i%len(views)]})
				m.View()
			}
		})
	}
}
