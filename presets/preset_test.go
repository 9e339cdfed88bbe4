package presets

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirespeed/engine"
	"wirespeed/engine/frame"
	"wirespeed/presets/knob"
)

// home gives the test a configuration folder of its own and returns where the user's presets lie.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	return filepath.Join(dir, "wirespeed", "presets")
}

// put writes a user's preset by hand.
func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// lab is a bench like the embedded lab.
func lab() *knob.Bench {
	rx := [6]byte{2, 0, 0, 0, 0, 0xfe}
	b := &knob.Bench{
		Device: engine.Device{Name: "v0", MTU: 1500, Queues: 1, MAC: frame.MAC{2, 0, 0, 0, 0, 1}, SpeedWhy: "nobody knows it", CPUs: []int{0}},
		RxMAC:  &rx, Lab: true,
	}
	b.Config = knob.Defaults(b.Device, b.RxMAC, true)
	return b
}

// TestEmbedded: each embedded preset says what to look at, is written as Marshal writes it, and runs on the plainest device there is.
func TestEmbedded(t *testing.T) {
	home(t)
	list, err := List()
	if err != nil {
		t.Fatal(err)
	}
	var names, lacking []string
	for _, p := range list {
		names = append(names, p.Name)
		if p.Title == "" || p.Text == "" || len(p.Knobs) == 0 || p.Path != "" || p.Err != nil {
			t.Errorf("%s: title %q, text of %d bytes, %d knobs, path %q, error %v", p.Name, p.Title, len(p.Text), len(p.Knobs), p.Path, p.Err)
		}
		data, err := builtin.ReadFile("builtin/" + p.Name + ".toml")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(data), string(Marshal(p))); diff != "" {
			t.Errorf("%s is not written as Marshal writes it (-file +Marshal):\n%s", p.Name, diff)
		}
		b := lab()
		if lacks := knob.LacksAll(b, p.Needs); lacks != "" {
			lacking = append(lacking, p.Name+": "+lacks)
			continue
		}
		if _, err := knob.SetAll(b, p.Knobs); err != nil {
			t.Errorf("%s in the lab: %v", p.Name, err)
		}
		if err := knob.Rehearse(b, p.Steps, nil); err != nil {
			t.Errorf("%s in the lab: %v", p.Name, err)
		}
	}
	want := []string{
		"burst", "bypass-vs-qdisc", "flow-control", "imix", "in-device", "inline-cliff", "live-rate", "one-queue-per-cpu", "paced-bursts", "pktgen-tricks",
		"rfc2544", "sanity", "tiny-to-big", "tipping-point", "udp60", "wirespeed",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("embedded presets (-want +got):\n%s", diff)
	}
	want = []string{
		"flow-control: pause is needed: no device is open yet",
		"in-device: rings.tx is needed: no device is open yet",
		"one-queue-per-cpu: v0 has 1 transmit queue, and 2 are needed",
		"pktgen-tricks: pause is needed: no device is open yet",
		"wirespeed: the speed of the link is needed, and nobody knows it: state it, as in --link 1Gbit",
	}
	if diff := cmp.Diff(want, lacking); diff != "" {
		t.Errorf("what the plainest device lacks (-want +got):\n%s", diff)
	}
}

// example has all that a file can hold.
func example(t *testing.T) Preset {
	t.Helper()
	steps, err := knob.ParseScript("typed", strings.NewReader("wait 5s\nburst 8\nmark B # of \"two\""))
	if err != nil {
		t.Fatal(err)
	}
	return Preset{
		Title: `The "title" \ with signs`,
		Text:  "Look at this.\n\n\tAnd \"\"\"that\"\"\" \\ é \u2028 too",
		Knobs: []knob.Setting{{Knob: "rate", Value: "40%"}, {Knob: "size", Value: "60"}, {Knob: "vlan", Value: "none"}},
		Steps: steps,
	}
}

// TestSaveLoadSave: what was saved loads as the same preset, and saved again it is the same file to the byte.
func TestSaveLoadSave(t *testing.T) {
	dir := home(t)
	want := example(t)
	first, err := Save("first", want)
	if err != nil {
		t.Fatal(err)
	}
	if first != filepath.Join(dir, "first.toml") {
		t.Errorf("saved as %s", first)
	}
	got, err := Load("first")
	if err != nil {
		t.Fatal(err)
	}
	second, err := Save("second", got)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := os.ReadFile(first)
	b, _ := os.ReadFile(second)
	if diff := cmp.Diff(string(a), string(b)); diff != "" || len(a) == 0 {
		t.Errorf("first and second save differ:\n%s", diff)
	}
	want.Name, want.Path = "first", first
	for i := range want.Steps {
		want.Steps[i].Where = got.Steps[i].Where // of the file, no longer of the text it was typed in
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-saved +loaded):\n%s", diff)
	}
	byPath, err := Load(first)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, byPath); diff != "" {
		t.Errorf("(-by name +by path):\n%s", diff)
	}
	if i, err := os.Stat(dir); err != nil || i.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v: want mode 0700", i.Mode(), err)
	}
	if i, err := os.Stat(first); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("file: %v, %v: want mode 0600", i.Mode(), err)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 2 {
		t.Errorf("%d files, want 2: a temporary one was left", len(entries))
	}
}

func TestSaveRefuses(t *testing.T) {
	dir := home(t)
	if _, err := Save("mine", Preset{Title: "old"}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, preset string
		p            Preset
		want         string
		is           error
	}{
		{"an embedded name", "udp60", Preset{}, "preset udp60 is embedded: save it under another name", ErrExists},
		{"an old name", "mine", Preset{}, "preset mine exists: take another name, or overwrite it: save mine replace", ErrExists},
		{"no name", "", Preset{}, `preset "": a name is letters, digits, - and _, at most 40, and begins with a letter or digit`, knob.ErrUsage},
		{"a path", "../mine", Preset{}, `preset "../mine": a name is letters`, knob.ErrUsage},
		{"a hidden name", ".mine", Preset{}, `preset ".mine": a name is letters`, knob.ErrUsage},
		{"an option", "-f", Preset{}, `preset "-f": a name is letters`, knob.ErrUsage},
		{"a long name", strings.Repeat("a", 41), Preset{}, `preset "aaaa`, knob.ErrUsage},
		{"a wrong knob", "new", Preset{Knobs: []knob.Setting{{Knob: "brust", Value: "8"}}}, "save preset: ", knob.ErrUsage},
		{"a title of two lines", "new", Preset{Title: "a\nb"}, "save preset: ", knob.ErrUsage},
		{"text that is no text", "new", Preset{Text: "\xff"}, "save preset", knob.ErrUsage},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Save(tt.preset, tt.p)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) || !errors.Is(err, tt.is) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v (is %v: %v), want %s", err, tt.is, errors.Is(err, tt.is), tt.want)
			}
		})
	}
	if _, err := Replace("udp60", Preset{}); !errors.Is(err, ErrExists) {
		t.Errorf("Replace of an embedded preset: got %v, want ErrExists", err)
	}
	if p, err := Load("mine"); err != nil || p.Title != "old" {
		t.Errorf("a refused save changed the file: %+v, %v", p, err)
	}
	if _, err := Replace("mine", Preset{Title: "new"}); err != nil {
		t.Fatal(err)
	}
	if p, err := Load("mine"); err != nil || p.Title != "new" {
		t.Errorf("Replace: %+v, %v", p, err)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 1 {
		t.Errorf("%d files, want 1", len(entries))
	}
}

func TestSaveWithoutHome(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("HOME", "")
	if _, err := Save("mine", Preset{}); err == nil || !strings.Contains(err.Error(), "HOME") {
		t.Errorf("got %v, want an error that names HOME", err)
	}
	if list, err := List(); err != nil || len(list) == 0 {
		t.Errorf("without a home: %d presets, %v: the embedded ones need none", len(list), err)
	}
}

func TestLoadErrors(t *testing.T) {
	dir := home(t)
	put(t, dir, "broken.toml", "title = 5")
	lab := put(t, dir, "lab.trafgen", "{ fill(0, 60)\n  crc(7) }")
	big := put(t, dir, "big.toml", strings.Repeat("# 34567\n", maxFile/8+1))
	tests := []struct {
		name, arg, want string
		is              error
	}{
		{"unknown", "nosuch", `no preset "nosuch": wirespeed presets lists them, and a file needs a / or an ending: .toml, .cfg, .trafgen, .pcap, .pcapng`, ErrNotFound},
		{"no name", "no such", `preset "no such": a name is letters, digits, - and _, at most 40, and begins with a letter or digit`, knob.ErrUsage},
		{"no file", "./nosuch", "preset ./nosuch: no such file", ErrNotFound},
		{"no file, by its ending", "nosuch.toml", "preset nosuch.toml: no such file", ErrNotFound},
		{"a folder", dir + "/", "preset " + dir + "/: read " + dir + "/: is a directory", knob.ErrUsage},
		{"a capture", "x/y.pcap", "preset x/y.pcap: no such file", ErrNotFound},
		{"a trafgen file", "y.cfg", "preset y.cfg: no such file", ErrNotFound},
		{"a broken trafgen file", lab, lab + `:2:3: "crc" is no byte and no function: a file without #include <stddef.h> has no names`, knob.ErrUsage},
		{"broken", "broken", dir + "/broken.toml:1:1: title must be text in quotes", knob.ErrUsage},
		{"too long", big, "preset " + big + ": longer than 1048576 bytes: this is no preset", knob.ErrUsage},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(tt.arg)
			if err == nil {
				t.Fatal("loaded")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !errors.Is(err, tt.is) || !errors.Is(err, knob.ErrUsage) {
				t.Errorf("%v: is not %v and knob.ErrUsage", err, tt.is)
			}
		})
	}
}

// TestBrokenPresetsDoNotBreakTheList, and none hides an embedded one.
func TestBrokenPresetsDoNotBreakTheList(t *testing.T) {
	dir := home(t)
	put(t, dir, "good.toml", "[knobs]\nrate = \"5kpps\"")
	put(t, dir, "bad.toml", "rate = 5")
	put(t, dir, "udp60.toml", "[knobs]\nrate = \"1pps\"")
	put(t, dir, ".hidden.toml", "x")
	put(t, dir, "notes.txt", "x")
	list, err := List()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range list {
		if p.Path != "" {
			got[p.Name] = ""
			if p.Err != nil {
				got[p.Name] = p.Err.Error()
			}
		}
	}
	want := map[string]string{
		"good":  "",
		"bad":   dir + `/bad.toml:1:1: unknown key "rate": use title, text, needs, knobs, stream and steps`,
		"udp60": dir + "/udp60.toml: udp60 is the name of an embedded preset: rename the file, or give its path",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the user's presets (-want +got):\n%s", diff)
	}
	p, err := Load("udp60")
	if err != nil || p.Path != "" {
		t.Errorf("udp60 is %+v, %v: want the embedded one", p, err)
	}
	if p, err := Load(filepath.Join(dir, "udp60.toml")); err != nil || p.Knobs[0].Value != "1pps" {
		t.Errorf("by its path: %+v, %v: want the user's", p, err)
	}
}

func TestListOfAnUnreadableFolder(t *testing.T) {
	dir := home(t)
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // a file where the folder should be
		t.Fatal(err)
	}
	list, err := List()
	if err == nil || errors.Is(err, fs.ErrNotExist) || len(list) == 0 {
		t.Errorf("%d presets, %v: want the embedded ones and an error", len(list), err)
	}
}

func TestComplete(t *testing.T) {
	put(t, home(t), "udp-mine.toml", "")
	if diff := cmp.Diff([]string{"preset udp60", "preset udp-mine"}, Complete("preset ud")); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if got := Complete("pre"); !slices.Equal(got, []string{"preset"}) {
		t.Errorf("words: got %v", got)
	}
}
