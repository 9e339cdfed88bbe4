package presets

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirespeed/presets/knob"
)

// A trafgen file is a preset that sends its packets, and says what an operator will wonder about.
func TestLoadTrafgen(t *testing.T) {
	path := put(t, home(t), "lab.cfg", "{ 1, 2, csumip(0, 1) }\ncpu(1-2): { fill(0, 60) }\n")
	p, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	want := Preset{
		Name: "lab.cfg", Path: path,
		Title: "The frames of lab.cfg: 2 packets, in turn; 1 of them for some CPUs only: worker N stands for CPU N",
		Text:  fileText,
		Knobs: []knob.Setting{{Knob: "file", Value: path}},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again, err := decode("again", Marshal(p))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Marshal(p), Marshal(again)); diff != "" {
		t.Errorf("saved and loaded (-want +got):\n%s", diff)
	}
}
