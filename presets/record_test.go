package presets

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirespeed/presets/knob"
)

func TestOneFrameOfACapture(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.pcap")
	data := "\xd4\xc3\xb2\xa1\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x01\x00\x00\x00"
	for _, frame := range []string{"aaaaaabbbbbbcc1", "aaaaaabbbbbbcc22"} {
		data += "\x01\x00\x00\x00\x00\x00\x00\x00" + string(rune(len(frame))) + "\x00\x00\x00" + string(rune(len(frame))) + "\x00\x00\x00" + frame
	}
	if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Load(name + "#2")
	if err != nil {
		t.Fatal(err)
	}
	want := []knob.Setting{{Knob: "size", Value: "60"}, {Knob: "hex", Value: "61616161616162626262626263633232"}}
	if d := cmp.Diff(want, p.Knobs); d != "" {
		t.Errorf("knobs (-want +got):\n%s", d)
	}
	for arg, want := range map[string]string{
		name + "#3":      "preset " + name + "#3: there are frames 1 to 2 that can be sent",
		name + "#0":      "preset " + name + "#0: there are frames 1 to 2 that can be sent",
		"gone.pcapng#1":  "preset gone.pcapng: no such file or directory",
		name + "#2/x#10": "",
	} {
		_, err := Load(arg)
		if err == nil || want != "" && err.Error() != want || !errors.Is(err, knob.ErrUsage) {
			t.Errorf("%s: %v, want %s", arg, err, want)
		}
	}
}
