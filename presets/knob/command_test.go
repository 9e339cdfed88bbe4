package knob

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseLine(t *testing.T) {
	tests := []struct {
		line string
		want Command
	}{
		{"", Command{}},
		{"   \t", Command{}},
		{"# nothing", Command{}},
		{"rate 1.2Mpps", Command{Verb: DoSet, Knob: "rate", Value: "1.2Mpps", Line: "rate 1.2Mpps"}},
		{"  rate   100  Mbit L2  # slow", Command{Verb: DoSet, Knob: "rate", Value: "100 Mbit L2", Line: "rate   100  Mbit L2"}},
		{"size 64fcs#", Command{Verb: DoSet, Knob: "size", Value: "64fcs#", Line: "size 64fcs#"}}, // refused by the knob, not cut
		{"dst-ip 2001:db8::1\r", Command{Verb: DoSet, Knob: "dst-ip", Value: "2001:db8::1", Line: "dst-ip 2001:db8::1"}},
		{"mark", Command{Verb: DoMark, Line: "mark"}},
		{"mark A", Command{Verb: DoMark, Name: "A", Line: "mark A"}},
		{"mark burst 8", Command{Verb: DoMark, Name: "burst 8", Line: "mark burst 8"}},
		{"wait 5s", Command{Verb: DoWait, Wait: 5 * time.Second, Line: "wait 5s"}},
		{"wait 1m30s", Command{Verb: DoWait, Wait: 90 * time.Second, Line: "wait 1m30s"}},
		{"wait 5 s", Command{Verb: DoWait, Wait: 5 * time.Second, Line: "wait 5 s"}},
		{"start", Command{Verb: DoStart, Line: "start"}},
		{"stop", Command{Verb: DoStop, Line: "stop"}},
		{"reset", Command{Verb: DoReset, Line: "reset"}},
		{"quit", Command{Verb: DoQuit, Line: "quit"}},
		{"preset udp60", Command{Verb: DoPreset, Name: "udp60", Line: "preset udp60"}},
		{"preset ./my lab.toml", Command{Verb: DoPreset, Name: "./my lab.toml", Line: "preset ./my lab.toml"}},
		{"save mylab", Command{Verb: DoSave, Name: "mylab", Line: "save mylab"}},
		{"save mylab replace", Command{Verb: DoSave, Name: "mylab", Replace: true, Line: "save mylab replace"}},
		{"help", Command{Verb: DoHelp, Line: "help"}},
		{"help burst", Command{Verb: DoHelp, Knob: "burst", Line: "help burst"}},
		{"help mark", Command{Verb: DoHelp, Knob: "mark", Line: "help mark"}},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			got, err := ParseLine(tt.line)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseLineErrors(t *testing.T) {
	tests := []struct{ name, line, want string }{
		{"a knob mistyped", "brust 8", `no knob and no command "brust": did you mean burst?`},
		{"a command mistyped", "strat", `no knob and no command "strat": did you mean start?`},
		{"capitals", "Rate 5kpps", `no knob and no command "Rate": did you mean rate?`},
		{"the beginning of a word", "rec off", `no knob and no command "rec": did you mean receiver?`},
		{"nothing like it", "abracadabra", `no knob and no command "abracadabra": help lists the commands`},
		{"equals sign", "rate=5kpps", "rate=5kpps: write it with a blank: rate 5kpps"},
		{"a knob alone", "path", "path needs a value: bypass, qdisc"},
		{"wait alone", "wait", "wait needs a time: wait 5s"},
		{"wait without unit", "wait 5", "wait 5: the unit is missing: did you mean 5s?"},
		{"wait for no time", "wait soon", `wait "soon": not a time: use 5s, 500ms or 1m30s`},
		{"wait for nothing", "wait 0s", "wait 0s: out of range: more than 0 and at most 24h"},
		{"wait backwards", "wait -1s", "wait -1s: out of range: more than 0 and at most 24h"},
		{"wait for ever", "wait 25h", "wait 25h: out of range: more than 0 and at most 24h"},
		{"too much", "start now", `start: "now" is too much: start`},
		{"save alone", "save", "save needs a name: save mylab"},
		{"save too much", "save a b", `save: "b" is too much: save NAME [replace]`},
		{"preset alone", "preset", "preset needs a name: wirespeed presets lists them"},
		{"help on nothing", "help brust", `no help on "brust": did you mean burst?`},
		{"help too much", "help rate size", `help: "size" is too much: help [KNOB]`},
		{"a mark's name", "mark " + strings.Repeat("x", 41), "mark: a name has at most 40 characters"},
		{"a knob of the device without its member", "xps 0", "xps is for a queue: xps[0] 0-1"},
		{"nic without a word", "nic", "nic needs a word: nic diff"},
		{"an option", "duration 5s", "the duration is an option: start with --duration 10s, or write wait 10s and quit in a script"},
		{"control characters", "mark \x1b[2J", `"mark \x1b[2J": a line is plain text`},
		{"no UTF-8", "mark \xff", `"mark \xff": a line is plain text`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseLine(tt.line)
			if err == nil {
				t.Fatal("accepted")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !errors.Is(err, ErrUsage) {
				t.Error("is not ErrUsage")
			}
		})
	}
}

func TestParseScript(t *testing.T) {
	got, err := ParseScript("lab.txt", strings.NewReader("# a lab\n\nrate 10kpps\n  wait 1s # look\nquit"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Step{
		{Command{Verb: DoSet, Knob: "rate", Value: "10kpps", Line: "rate 10kpps"}, "lab.txt:3"},
		{Command{Verb: DoWait, Wait: time.Second, Line: "wait 1s"}, "lab.txt:4"},
		{Command{Verb: DoQuit, Line: "quit"}, "lab.txt:5"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseScriptErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a wrong word", "rate 10kpps\n\nbrust 8\nfoo", `lab.txt:3: no knob and no command "brust": did you mean burst?`},
		{"an endless line", "stop\n" + strings.Repeat("x", 5000), "lab.txt:2: longer than 4096 bytes: this is no script"},
		{"no text", "\x7fELF\x00", `lab.txt:1: "\x7fELF\x00": a line is plain text`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseScript("lab.txt", strings.NewReader(tt.text))
			if err == nil || !errors.Is(err, ErrUsage) {
				t.Fatalf("got %v, want ErrUsage", err)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRehearse(t *testing.T) {
	load := func(name string) ([]Setting, []Step, error) {
		if name != "big" {
			return nil, nil, usage("no preset %q", name)
		}
		more, err := ParseScript("big", strings.NewReader("burst 8\nwait 1s\nburst 16"))
		return settings("size 1514"), more, err
	}
	tests := []struct{ name, script, want string }{
		{"all is well", "rate 10kpps\nwait 1s\nsize 100\nmark A\npreset big\nquit", ""},
		{"a value out of range", "rate 10kpps\nwait 1s\nsize 1515", "lab.txt:3: size 1515: the limit on v0 is 1514"},
		{"right after an earlier line", "vlan 5\nsize 1518", ""},
		{"wrong after an earlier line", "vlan 5\nsize 1518\nvlan none", "lab.txt:3: size 1518: the limit"},
		{"wrong after a preset", "preset big\nsize 1514\nvlan none\nsize 1515", "lab.txt:4: size 1515"},
		{"an unknown preset", "preset small", `lab.txt:1: no preset "small"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			steps, err := ParseScript("lab.txt", strings.NewReader(tt.script))
			if err != nil {
				t.Fatal(err)
			}
			b := lab()
			before := values(b)
			err = Rehearse(b, steps, load)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want) || !errors.Is(err, ErrUsage)):
				t.Errorf("got %v, want %s...", err, tt.want)
			}
			if diff := cmp.Diff(before, values(b)); diff != "" {
				t.Errorf("a rehearsal changed something:\n%s", diff)
			}
		})
	}
	self := func(string) ([]Setting, []Step, error) {
		more, err := ParseScript("self", strings.NewReader("preset self"))
		return nil, more, err
	}
	steps, _ := ParseScript("lab.txt", strings.NewReader("preset self"))
	if err := Rehearse(lab(), steps, self); err == nil {
		t.Error("a preset that calls itself is accepted")
	}
}

func TestCommandCheck(t *testing.T) {
	c, err := ParseLine("size 1515")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Check(lab()); !errors.Is(err, ErrUsage) {
		t.Errorf("got %v, want ErrUsage", err)
	}
}

func TestComplete(t *testing.T) {
	tests := []struct {
		prefix string
		want   []string
	}{
		{"r", []string{"rate", "receiver", "rings.tx", "rings.rx", "reset"}},
		{"nic ", []string{"nic diff"}},
		{"st", []string{"start", "stop"}},
		{"path", []string{"path"}},
		{"path ", []string{"path bypass", "path qdisc"}},
		{"path  q", []string{"path qdisc"}},
		{"rate m", []string{"rate max"}},
		{"size ", []string{"size imix", "size imix-570", "size tolly"}},
		{"help bu", []string{"help burst"}},
		{"xyzzy", nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Complete(tt.prefix)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.prefix, diff)
		}
	}
	if got, want := len(Complete("")), len(All())+len(Usages())-1; got != want {
		t.Errorf("without a prefix %d words, want all %d", got, want)
	}
}

// TestEveryCompletionIsUnderstood: what completion offers is a command, alone or with a value.
func TestEveryCompletionIsUnderstood(t *testing.T) {
	for _, word := range Complete("") {
		lines := append([]string{word}, Complete(word+" ")...)
		for _, line := range lines {
			if _, err := ParseLine(line); err != nil && !strings.Contains(err.Error(), "needs a") {
				t.Errorf("%q: %v", line, err)
			}
		}
	}
}

func TestHelpKnowsEveryWord(t *testing.T) {
	for _, word := range append(vocabulary(), "sweep", "pause", "irq[3]", "priv.legacy-rx", "coalesce") {
		if text, err := Help(word); err != nil || strings.Contains(text, "\n") || text == "" {
			t.Errorf("%s: %q, %v", word, text, err)
		}
	}
}

func FuzzParseLine(f *testing.F) {
	for _, line := range []string{"rate 1.2Mpps", "size 64fcs # x", "mark A", "wait 5s", "save a replace", "preset ./x y", "help rate", "sweep size 60..128", "rate=5", "\x00", "dst-ip ::1"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c, err := ParseLine(line)
		if err != nil {
			if !errors.Is(err, ErrUsage) || strings.Contains(err.Error(), "\n") || err.Error() == "" {
				t.Fatalf("%q: %q: not one line of usage", line, err)
			}
			return
		}
		again, err := ParseLine(c.Line)
		if err != nil {
			t.Fatalf("%q was understood as %q, which is not: %v", line, c.Line, err)
		}
		if diff := cmp.Diff(c, again); diff != "" {
			t.Fatalf("%q: its own line reads differently:\n%s", line, diff)
		}
		if c.Verb == DoSet {
			b := gigabit()
			k := find(t, c.Knob)
			if _, err := k.Set(b, c.Value); err == nil {
				v := k.Get(b)
				if _, err := k.Set(b, v); err != nil || k.Get(b) != v {
					t.Fatalf("%q: prints %q, reads back %q, %v", line, v, k.Get(b), err)
				}
			} else if strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q: %q: more than one line", line, err)
			}
		}
	})
}

func FuzzParseScript(f *testing.F) {
	f.Add("rate 10kpps\nwait 1s\nquit")
	f.Add("# x\n\n\r\nsize 60\r\n")
	f.Add("a\x00\nb")
	f.Fuzz(func(t *testing.T, text string) {
		steps, err := ParseScript("s", strings.NewReader(text))
		if err != nil {
			if !errors.Is(err, ErrUsage) || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "s:") {
				t.Fatalf("%q: %q: not one line with a place", text, err)
			}
			return
		}
		if n := strings.Count(text, "\n") + 1; len(steps) > n {
			t.Fatalf("%d steps of %d lines", len(steps), n)
		}
		for _, s := range steps {
			if s.Verb == DoNothing {
				t.Fatalf("%q: a step that does nothing", text)
			}
		}
		_ = Rehearse(lab(), steps, nil)
	})
}
