package report

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirespeed/ui/control"
)

// TestFamiliesAreToldOnce: what a device has one of for each queue is in the first sample, and later where it has changed.
func TestFamiliesAreToldOnce(t *testing.T) {
	var out bytes.Buffer
	w := &jsonWriter{out: &out}
	for _, cpus := range []string{"0-1", "0-1", "1", "-", "1"} {
		v := &control.View{Knobs: []control.Knob{
			{Name: "size", Value: "60", Known: true},
			{Name: "irq[0]", Value: cpus, Known: cpus != "-", Family: true},
			{Name: "irq[1]", Value: "1", Known: true, Family: true},
		}}
		if err := w.sample(v); err != nil {
			t.Fatal(err)
		}
	}
	text := func(s string) *string { return &s }
	want := []map[string]*string{
		{"size": text("60"), "irq[0]": text("0-1"), "irq[1]": text("1")},
		{"size": text("60")},
		{"size": text("60"), "irq[0]": text("1")},
		{"size": text("60"), "irq[0]": nil},
		{"size": text("60"), "irq[0]": text("1")},
	}
	dec := json.NewDecoder(&out)
	for i, knobs := range want {
		var got struct{ Knobs map[string]*string }
		if err := dec.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(knobs, got.Knobs); diff != "" {
			t.Errorf("sample %d (-want +got):\n%s", i+1, diff)
		}
	}
}
