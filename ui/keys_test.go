package ui

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"
)

var keyTypes = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft,
	"right": tea.KeyRight, "shift+left": tea.KeyShiftLeft, "shift+right": tea.KeyShiftRight, "backspace": tea.KeyBackspace,
	"ctrl+c": tea.KeyCtrlC, "ctrl+z": tea.KeyCtrlZ, "ctrl+u": tea.KeyCtrlU, "ctrl+w": tea.KeyCtrlW, "home": tea.KeyHome,
	"end": tea.KeyEnd, "delete": tea.KeyDelete, "pgdown": tea.KeyPgDown,
}

func keyOf(s string) tea.KeyMsg {
	if t, ok := keyTypes[s]; ok {
		return tea.KeyMsg{Type: t}
	}
	if s == " " {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s)}
}

// drive presses keys and carries out the commands that follow, one after the other. It returns what ended the program, nil
// if nothing did.
func drive(m *model, keys ...string) (end tea.Msg) {
	for _, k := range keys {
		if end := deliver(m, keyOf(k)); end != nil {
			return end
		}
	}
	return nil
}

func deliver(m *model, msg tea.Msg) (end tea.Msg) {
	for msg != nil {
		_, cmd := m.Update(msg)
		if cmd == nil {
			return nil
		}
		switch msg = cmd(); msg.(type) {
		case tea.QuitMsg, tea.SuspendMsg:
			return msg
		}
	}
	return nil
}

func TestKeys(t *testing.T) {
	tests := []struct {
		name string
		keys []string
		want []string // calls of the run
		end  tea.Msg
	}{
		{name: "space stops, space starts", keys: []string{" ", "look", " "}, want: []string{"stop", "start"}},
		{name: "turn the first knob", keys: []string{"up", "right"}, want: []string{"rate max"}},
		{name: "choose and turn", keys: []string{"down", "down", "right", "left"}, want: []string{"burst 2", "burst 1"}},
		{name: "shift turns coarse", keys: []string{"down", "shift+right"}, want: []string{"size 124"}},
		{name: "> and < turn coarse", keys: []string{"down", ">", "look", "<"}, want: []string{"size 124", "size 60"}},
		{name: "the other path and back", keys: []string{"b", "b"}, want: []string{"path qdisc", "path bypass"}},
		{name: "mark", keys: []string{"m"}, want: []string{"mark "}},
		{name: "reset", keys: []string{"r"}, want: []string{"reset"}},
		{name: "type a value: it replaces the old one", keys: []string{"enter", "1", "0", "k", "p", "p", "s", "enter"}, want: []string{"rate 10kpps"}},
		{name: "type at the end of the old value", keys: []string{"down", "enter", "end", "0", "enter"}, want: []string{"size 600"}},
		{name: "esc leaves the value", keys: []string{"enter", "9", "esc"}},
		{name: "q is a letter while typing", keys: []string{":", "q", "esc"}},
		{name: "command line", keys: []string{":", "rate 10kpps", "enter"}, want: []string{"rate 10kpps"}},
		{name: "tab completes the word, then the value", keys: []string{":", "pat", "tab", "q", "tab", "enter"}, want: []string{"path qdisc"}},
		{name: "an earlier command again", keys: []string{":", "size 99", "enter", ":", "up", "enter"}, want: []string{"size 99", "size 99"}},
		{name: "delete a word", keys: []string{":", "size 99", "ctrl+w", "7", "0", "enter"}, want: []string{"size 70"}},
		{name: "an empty command does nothing", keys: []string{":", "enter"}},
		{name: "quit as a command", keys: []string{":", "quit", "enter"}, want: []string{"quit"}, end: tea.QuitMsg{}},
		{name: "q quits", keys: []string{"q"}, end: tea.QuitMsg{}},
		{name: "q closes the help, the second quits", keys: []string{"?", "q", "q"}, end: tea.QuitMsg{}},
		{name: "esc closes", keys: []string{"?", "esc", "f", "esc", "p", "esc", "m"}, want: []string{"mark "}},
		{name: "flow control: the next, and no further than shown", keys: []string{"f", "f", "esc"}},
		{name: "flow control: enter applies what is shown", keys: []string{"f", "f", "enter"}, want: []string{"pause tx"}},
		{name: "flow control: past the present one", keys: []string{"f", "f", "f", "f", "f", "enter"}, want: []string{"pause rx"}},
		{name: "counters open, search and close", keys: []string{"i", "/", "queue", "enter", "down", "i", "m"}, want: []string{"mark "}},
		{name: "flow control over the counters, which stay", keys: []string{"i", "f", "enter", "i", "m"}, want: []string{"pause rx", "mark "}},
		{name: "flow control left, the counters stay", keys: []string{"i", "f", "esc", "i", "m"}, want: []string{"mark "}},
		{name: "check, again, and close", keys: []string{"n", "r", "down", "n", "m"}, want: []string{"check", "check", "mark "}},
		{name: "check as a command", keys: []string{":", "check", "enter", "q", "m"}, want: []string{"check", "mark "}},
		{name: "a knob of the device", keys: []string{"/", "rings.tx", "enter", "right", ">"}, want: []string{"rings.tx 1032", "rings.tx 2048"}},
		{name: "ctrl+c quits from anywhere", keys: []string{":", "x", "ctrl+c"}, end: tea.QuitMsg{}},
		{name: "ctrl+z suspends", keys: []string{"ctrl+z"}, end: tea.SuspendMsg{}},
		{name: "a preset", keys: []string{"p", "down", "down", "enter"}, want: []string{"preset flow-control"}},
		{name: "save a preset", keys: []string{"p", "s", "mine", "enter"}, want: []string{"save mine"}},
		{name: "filter and turn what is left", keys: []string{"/", "dst-port", "enter", "right"}, want: []string{"dst-port 10"}},
		{name: "esc shows all knobs again", keys: []string{"/", "dst-port", "enter", "esc", "up", "enter", "max", "enter"}, want: []string{"rate max"}},
		{name: "letters that come in one message", keys: []string{":rate", " ", "10kpps", "enter", "zm"}, want: []string{"rate 10kpps", "mark "}},
		{name: "keys in a list are the list's", keys: []string{"p", "b", "m", "r", " "}},
		{name: "freezing stops nothing", keys: []string{"z", "m"}, want: []string{"mark "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run := newFakeNIC().after(40)
			m := screenOf(run.Tick(), 120, 40, plainTheme())
			m.run = run
			var end tea.Msg
			for _, k := range tt.keys {
				if k == "look" {
					m.take(run.Tick())
					continue
				}
				if end = drive(m, k); end != nil {
					break
				}
				checkFits(t, m, k)
			}
			if diff := cmp.Diff(tt.want, run.calls()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if end != tt.end {
				t.Errorf("the program ended with %v, want %v", end, tt.end)
			}
		})
	}
}

// Turns that come faster than the run takes them are added up; nothing is lost and nothing overtakes.
func TestKeysGoInOrder(t *testing.T) {
	run := newFakeNIC().after(40)
	m := screenOf(run.Tick(), 120, 40, plainTheme())
	m.run = run
	m.panel.chosen = "burst"
	_, first := m.Update(keyOf("right"))
	for _, k := range []string{"right", "right", "left", "right", "m", "right"} {
		if _, cmd := m.Update(keyOf(k)); cmd != nil {
			t.Fatalf("%s did not wait for the turn before it", k)
		}
	}
	deliver(m, first())
	want := []string{"burst 2", "burst 4", "mark ", "burst 5"}
	if diff := cmp.Diff(want, run.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestRefusedSaysWhy(t *testing.T) {
	run := newFakeNIC().after(40)
	run.fail = errors.New("rate 9Gpps: more than \x1b[31meth1 can")
	m := screenOf(run.Tick(), 120, 40, plainTheme())
	m.run = run
	drive(m, ":", "rate 9Gpps", "enter")
	if !strings.Contains(m.View(), "rate 9Gpps: more than eth1 can") {
		t.Errorf("the reason is not on the screen:\n%s", m.View())
	}
	m.noSuspend = "no shell to come back to"
	if end := drive(m, "ctrl+z"); end != nil {
		t.Errorf("suspended without a shell: %v", end)
	}
	if !strings.Contains(m.View(), m.noSuspend) {
		t.Error("does not say why ctrl+z does nothing")
	}
}

// While a value is typed the screen says what it means, or why it is refused; a late answer to an older text is dropped.
func TestFeedback(t *testing.T) {
	run := newFakeNIC().after(40)
	m := screenOf(run.Tick(), 120, 40, plainTheme())
	m.run = run
	drive(m, "enter", "4", "0", "%")
	if want := "595,238 pps"; !strings.Contains(m.View(), want) {
		t.Errorf("40%% of 1 Gbit/s: no %q in\n%s", want, m.View())
	}
	_, late := m.Update(keyOf("backspace")) // "40"
	_, last := m.Update(keyOf("%"))         // "40%" again
	m.Update(last())
	m.Update(late())
	if want := "595,238 pps"; !strings.Contains(m.View(), want) {
		t.Errorf("a late answer replaced the latest:\n%s", m.View())
	}
}

func TestFrozenScreenStandsStill(t *testing.T) {
	run := newFakeNIC().after(40)
	m := screenOf(run.Tick(), 120, 40, plainTheme())
	drive(m, "z")
	before := m.View()
	if !strings.Contains(before, "FROZEN") {
		t.Error("does not say that it is frozen")
	}
	for range 10 {
		m.Update(viewMsg{run.Tick()})
	}
	if diff := cmp.Diff(before, m.View()); diff != "" {
		t.Errorf("moved (-before +after):\n%s", diff)
	}
	drive(m, "z")
	if after := m.View(); after == before || strings.Contains(after, "FROZEN") {
		t.Error("did not thaw")
	}
}

// A script's quit ends the console.
func TestQuitOfAScript(t *testing.T) {
	run := newFakeNIC()
	m := screenOf(run.Tick(), 80, 24, plainTheme())
	v := run.Tick()
	v.Quit = true
	if end := deliver(m, viewMsg{v}); end != (tea.QuitMsg{}) {
		t.Errorf("ended with %v", end)
	}
}

// Every key has help, and no two of one place are the same.
func TestEveryKeyHasHelp(t *testing.T) {
	k := newKeyMap()
	seen := 0
	for _, s := range k.scopes() {
		taken := map[string]string{}
		for _, b := range s.keys {
			seen++
			if b.Help().Key == "" || b.Help().Desc == "" {
				t.Errorf("%v has no help", b.Keys())
			}
			for _, name := range b.Keys() {
				if other := taken[name]; other != "" {
					t.Errorf("%s: %q is both %q and %q", s.name, name, other, b.Help().Desc)
				}
				taken[name] = b.Help().Desc
			}
		}
	}
	m := screenOf(newFakeNIC().Tick(), 80, 24, plainTheme())
	for _, a := range m.actions() {
		if !listed(k, a.key) {
			t.Errorf("%v does something and is in no list", a.key.Keys())
		}
	}
	if seen < 30 {
		t.Errorf("only %d keys", seen)
	}
}

func listed(k KeyMap, b key.Binding) bool {
	for _, s := range k.scopes() {
		for _, o := range s.keys {
			if cmp.Equal(o.Keys(), b.Keys()) {
				return true
			}
		}
	}
	return false
}

// The README's table of keys is made here.
func TestReadmeKeys(t *testing.T) {
	const readme, begin, end = "../README.md", "<!-- keys -->\n", "<!-- /keys -->"
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	from := strings.Index(string(text), begin)
	to := strings.Index(string(text), end)
	if from < 0 || to < from {
		t.Fatalf("%s has no place for the keys: %q ... %q", readme, begin, end)
	}
	from += len(begin)
	want := string(text[from:to])
	got := keyTable(newKeyMap())
	if updating() && got != want {
		changed := string(text[:from]) + got + string(text[to:])
		if err := os.WriteFile(readme, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys in %s, run with -update (-want +got):\n%s", readme, diff)
	}
}

func keyTable(k KeyMap) string {
	var b strings.Builder
	for i, s := range k.scopes() {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString("| " + s.name + " | |\n|---|---|\n")
		for _, key := range s.keys {
			b.WriteString("| `" + key.Help().Key + "` | " + key.Help().Desc + " |\n")
		}
	}
	return b.String()
}
