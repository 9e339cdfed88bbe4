package ui

import (
	"errors"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestCheckPane shows what wirespeed check finds: each fault with what was seen, why it costs and how it is mended.
func TestCheckPane(t *testing.T) {
	run := newFakeNIC().after(40)
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		m := screenOf(run.Tick(), size[0], size[1], plainTheme())
		m.run = run
		screen := func() string { m.drawn = false; return ansi.Strip(m.View()) }
		m.openCheck()
		if got := screen(); !strings.Contains(got, "looking: it takes a second") {
			t.Errorf("before the first look is over:\n%s", got)
		}
		pane := m.overlay.(*checkPane)
		m.Update(checkMsg{pane, fakeFindings(), nil})
		got := screen()
		for _, want := range []string{
			"check eth1 and this machine", "2 to mend, 1 unknown, 2 good", "BAD", "flow control", "rx+tx", "(certain)",
			"> ethtool -A eth1 autoneg off rx off tx off", ":pause off", "WARN", "all 4 on CPU 0",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("at %dx%d there is no %q:\n%s", size[0], size[1], want, got)
			}
		}
		drive(m, "end")
		if got := screen(); !strings.Contains(got, "good") || !strings.Contains(got, "MTU, link") {
			t.Errorf("at %dx%d the end is not to be seen:\n%s", size[0], size[1], got)
		}
		m.Update(checkMsg{pane, nil, errors.New("eth1: no such interface")})
		if got := screen(); !strings.Contains(got, "eth1: no such interface") {
			t.Errorf("a look that fails:\n%s", got)
		}
	}
}

// TestCheckPaneLooksOnce: a second look waits for the first, and the answer for a pane that was closed shows nowhere.
func TestCheckPaneLooksOnce(t *testing.T) {
	run := newFakeNIC().after(40)
	m := screenOf(run.Tick(), 80, 24, plainTheme())
	m.run = run
	first := m.openCheck()
	pane := m.overlay.(*checkPane)
	if pane.look(m) != nil {
		t.Error("two looks at a time")
	}
	drive(m, "n")
	if m.overlay != nil {
		t.Fatal("it does not close")
	}
	m.Update(first())
	if m.overlay != nil {
		t.Error("the answer opened it again")
	}
}
