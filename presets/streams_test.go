package presets

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirespeed/presets/knob"
)

func TestStreamsOfAPreset(t *testing.T) {
	p, err := decode("f", []byte(`
title = "Voice beside bulk"
[knobs]
rate = "50%"
[[stream]]
name = "voice"
size = 200
dst-port = "5060"
weight = 9
[[stream]]
name = "bulk"
size = "imix"
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []knob.Setting{
		{Knob: "rate", Value: "50%"},
		{Knob: "stream[bulk]", Value: "size imix"},
		{Knob: "stream[voice]", Value: "dst-port 5060; size 200; weight 9"},
	}
	if d := cmp.Diff(want, p.Knobs); d != "" {
		t.Errorf("knobs (-want +got):\n%s", d)
	}
	saved := Marshal(p)
	again, err := decode("f", saved)
	if err != nil {
		t.Fatalf("%v in:\n%s", err, saved)
	}
	if d := cmp.Diff(string(saved), string(Marshal(again))); d != "" {
		t.Errorf("saved, read and saved again:\n%s", d)
	}
}
