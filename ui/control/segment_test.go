package control

import (
	"strings"
	"testing"
)

func TestTheDeviceTakesNoSuperFramesWholeWhileTheRunLasts(t *testing.T) {
	inBubble(t, func(w *world, o *Options) {
		w.whole = true
		o.Settings = append(o.Settings, Setting{Knob: "path", Value: "qdisc"}, Setting{Knob: "burst", Value: "64"})
	}, func(t *testing.T, w *world, r *Run) {
		if !w.whole {
			t.Error("the device was changed before the start")
		}
		start(t, r)
		for _, step := range []struct {
			line  string
			whole bool
		}{
			{"reset", false},
			{"burst 1", false}, // the last ones may still be on their way
			{"burst 8", false},
			{"segment device", true},
			{"segment software", false},
		} {
			if _, err := r.Do(step.line); err != nil {
				t.Fatal(err)
			}
			if w.whole != step.whole {
				t.Errorf("after %q the device takes super-frames whole: %t, want %t", step.line, w.whole, step.whole)
			}
		}
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
		if !w.whole {
			t.Error("the device was not put back")
		}
	})
}

func TestADeviceThatCannotBeToldIsSaid(t *testing.T) {
	inBubble(t, func(w *world, o *Options) {
		w.whole, w.fixed = true, true
		o.Settings = append(o.Settings, Setting{Knob: "path", Value: "qdisc"}, Setting{Knob: "burst", Value: "64"})
	}, func(t *testing.T, _ *world, r *Run) {
		start(t, r)
		var log strings.Builder
		for _, e := range r.Events() {
			log.WriteString(e.Text + "\n")
		}
		if !strings.Contains(log.String(), "segments: ") {
			t.Errorf("the log says nothing of it:\n%s", log.String())
		}
	})
}
