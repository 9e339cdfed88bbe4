package presets

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirespeed/presets/knob"
)

func TestDecode(t *testing.T) {
	tests := []struct {
		name, text string
		want       Preset
	}{
		{"nothing", "", Preset{}},
		{"whole numbers need no quotes", "[knobs]\nsize = 60", Preset{Knobs: []knob.Setting{{Knob: "size", Value: "60"}}}},
		{"knobs come in the panel's order", "[knobs]\nsize = \"60\"\nrate = \"max\"", Preset{Knobs: []knob.Setting{{Knob: "rate", Value: "max"}, {Knob: "size", Value: "60"}}}},
		{"an inline table", `knobs = {path = "qdisc"}`, Preset{Knobs: []knob.Setting{{Knob: "path", Value: "qdisc"}}}},
		{"dotted keys", `knobs.path = "qdisc"`, Preset{Knobs: []knob.Setting{{Knob: "path", Value: "qdisc"}}}},
		{"blanks around text", "title = ' a '\ntext = '''\n\n b\n c \n\n'''", Preset{Title: "a", Text: "b\n c"}},
		{
			"steps know their place", "steps = [\n  'mark A',\n\n  '# no step', 'stop',\n]",
			Preset{Steps: []knob.Step{
				{Command: knob.Command{Verb: knob.DoMark, Name: "A", Line: "mark A"}, Where: "f:2:3"},
				{Command: knob.Command{Verb: knob.DoStop, Line: "stop"}, Where: "f:4:16"},
			}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := decode("f", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestBrokenFiles: each is refused in one line that begins with the place.
func TestBrokenFiles(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"no TOML", "hello", "f:1:5: expected '=' after key"},
		{"a string without end", "title = \"a\ntext = 'b'", "f:1:11: "},
		{"twice the same key", "title = 'a'\ntitle = 'b'", "f:2:1: "},
		{"no UTF-8", "title = \"\xff\"", "f:1:10: "},
		{"a stream without a name", "[[stream]]\nsize = 64", `f:1:3: a stream needs a name of letters, digits and hyphens: name = "voice"`},
		{"a name twice", "[[stream]]\nname = 'a'\n[[stream]]\nname = 'a'", `f:3:3: there are two streams named a`},
		{"an unknown knob of the second stream", "[[stream]]\nname = 'a'\nsize = 64\n[[stream]]\nname = 'b'\nsizes = 64", `f:6:1: no knob "sizes": did you mean size?`},
		{"a stream that is no table", "stream = 'a'", `f:1:1: stream must be tables: [[stream]], then name = "voice" and the knobs of the stream`},
		{"a semicolon in a stream", "[[stream]]\nname = 'a'\nsize = '64; weight 3'", `f:3:1: size must be text in quotes on one line, without a semicolon, or a whole number`},
		{"an unknown key", "title = 'a'\n  Steps = []", `f:2:3: unknown key "Steps": use title, text, needs, knobs, stream and steps`},
		{"an unknown table", "[knobs]\nrate = 'max'\n[nic]\npause = 'off'", `f:3:2: unknown key "nic": use title, text, needs, knobs, stream and steps`},
		{"needs that are no list", "needs = 'speed'", `f:1:1: needs must be a list: ["speed", "receiver", "queues 2", or the name of a knob]`},
		{"a need that nobody has", "needs = ['speed', 'luck']", `f:1:19: no knob "luck": a need is speed, receiver, queues N, cpus N or the name of a knob`},
		{"an unknown knob", "[knobs]\nrate = 'max'\nbrust = 8", `f:3:1: no knob "brust": did you mean burst?`},
		{"an unknown knob in an inline table", "knobs = {rate = 'max', brust = 8}", `f:1:24: no knob "brust": did you mean burst?`},
		{"a family without a member", "[knobs]\nxps = '0'", "f:2:1: xps is for a queue: xps[0] 0-1"},
		{"an unknown knob in a table", "[knobs]\nrings.tx = 8\nrings.zx = 8", `f:3:`},
		{"the first of several", "steps = ['foo']\n[knobs]\nfoo = 1\nbar = 2", `f:1:10: no knob and no command "foo": help lists the commands`},
		{"a title that is none", "title = ['a']", "f:1:1: title must be text in quotes"},
		{"a title of two lines", `title = "a\nb"`, "f:1:1: title must be one line of plain text"},
		{"a text that is none", "text = 1", "f:1:1: text must be text in quotes"},
		{"knobs that are no table", "knobs = ['rate max']", `f:1:1: knobs must be a table: [knobs] and a line such as rate = "10kpps" for each`},
		{"a knob that is true", "[knobs]\npath = true", "f:2:1: path must be text in quotes or a whole number"},
		{"a knob of 1.5", "[knobs]\nrate = 1.5", "f:2:1: rate must be text in quotes or a whole number"},
		{"a knob without a value", "[knobs]\nrate = ' '", "f:2:1: rate must have a value on one line"},
		{"a knob of two lines", `knobs.rate = "max\nsize 60"`, "f:1:7: rate must have a value on one line"},
		{"a table in a knob", "[knobs.rate]\nmax = 1", "f:1:8: rate must be text in quotes or a whole number"},
		{"steps that are no list", "steps = 'wait 5s'", `f:1:1: steps must be a list: ["wait 5s", "burst 8"]`},
		{"a step that is no text", "steps = ['stop', 5]", "f:1:18: a step must be text in quotes"},
		{"a step that is a list", "steps = [\n['stop']]", "f:1:1: a step must be text in quotes"},
		{"a step mistyped", "steps = [\n  'wait 5s',\n  'brust 8',\n]", `f:3:3: no knob and no command "brust": did you mean burst?`},
		{"a step that quits", "steps = ['quit']", "f:1:10: quit is no step of a preset: use knobs, mark, wait, reset, start and stop"},
		{"a step that calls a preset", "steps = ['preset udp60']", "f:1:10: preset is no step of a preset: use knobs, mark, wait, reset, start and stop"},
		{"tables of knobs", "[[knobs]]\nrate = 'max'", `f:1:3: knobs must be a table: [knobs] and a line such as rate = "10kpps" for each`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := decode("f", []byte(tt.text))
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("(-want +got):\n%s", cmp.Diff(tt.want, err.Error()))
			}
			if !errors.Is(err, knob.ErrUsage) {
				t.Error("is not knob.ErrUsage")
			}
		})
	}
}

// FuzzDecode: whatever decodes is written so that it decodes to the same, to the byte; whatever does not says so in one line.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"udp60", "tiny-to-big"} {
		data, err := builtin.ReadFile("builtin/" + name + ".toml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("title = \"\\u0000\"\ntext = '''\r\n\"\"\"\\ '''\nsteps = [['x'], {a=1}, \"mark \\\"\"]\nknobs.rate = 5"))
	f.Add([]byte("a.b.c = [1, [2], {d = 3}]\n[[x]]\n[x.y]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := decode("f", data)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") || !errors.Is(err, knob.ErrUsage) || !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("%q: %q: not one line with a place", data, err)
			}
			return
		}
		first := Marshal(p)
		again, err := decode("f", first)
		if err != nil {
			t.Fatalf("%q was written as\n%s\n%v", data, first, err)
		}
		for i := range again.Steps {
			again.Steps[i].Where = p.Steps[i].Where
		}
		if diff := cmp.Diff(p, again); diff != "" {
			t.Fatalf("%q: (-decoded +written and decoded):\n%s", data, diff)
		}
		if second := Marshal(again); string(second) != string(first) {
			t.Fatalf("%q: first\n%s\nsecond\n%s", data, first, second)
		}
	})
}

// TestKnobsWithDots: TOML reads a bare dot as a table within; in quotes it is a name. Both are the knob.
func TestKnobsWithDots(t *testing.T) {
	want := []knob.Setting{{Knob: "rings.tx", Value: "512"}, {Knob: "bql.max[0]", Value: "30000"}, {Knob: "priv.legacy-rx", Value: "on"}}
	for _, text := range []string{
		"[knobs]\nrings.tx = 512\n\"bql.max[0]\" = 30000\npriv.legacy-rx = 'on'",
		string(Marshal(Preset{Knobs: want})),
	} {
		p, err := decode("f", []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, p.Knobs); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
