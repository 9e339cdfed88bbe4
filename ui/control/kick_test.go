package control

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"wirespeed/engine"
	"wirespeed/engine/meter"
	"wirespeed/nic"
	"wirespeed/presets/knob"
)

// helperPPS is what a helper sends in a world.
const helperPPS = 200e3

// fakeHelper is a second engine on the world's device.
type fakeHelper struct {
	fakeEngine
	cfg engine.Config
}

func (h fakeHelper) Start(engine.Limit) error { return h.set(true) }
func (h fakeHelper) Stop() error              { return h.set(false) }
func (h fakeHelper) Close() error             { return nil }

func (h fakeHelper) set(on bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.step()
	if on && (h.cfg.CPUs[0] == h.world.cfg.CPUs[0] || h.cfg.Frame.SrcPort == h.world.cfg.Frame.SrcPort || !h.cfg.Rate.IsMax() || h.cfg.Receive) {
		return errors.New("a helper that is in the way")
	}
	h.helping = on
	return nil
}

func (h fakeHelper) Snapshot(s *engine.Snapshot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.step()
	*s = engine.Snapshot{Since: time.Second / 2, Taken: meter.Reading{Count: uint64(h.helped), OK: true}}
}

func TestKick(t *testing.T) {
	for _, c := range []struct {
		name   string
		after  float64 // ns per packet, once it was kicked
		stayed bool
		want   string
	}{
		{"the rate stays", 672, true, "it stayed faster than before by "},
		{"it comes back", 702, false, "the rate is as before, within"},
	} {
		t.Run(c.name, func(t *testing.T) {
			kicked := false
			inBubble(t, func(w *world, o *Options) {
				o.Settings = append(o.Settings, Setting{Knob: "path", Value: "qdisc"})
				w.cost = noisy(0.0003, func(engine.Config) float64 {
					switch {
					case w.helping:
						kicked = true
						return 1300
					case kicked:
						return c.after
					}
					return 702
				})
			}, func(t *testing.T, w *world, r *Run) {
				start(t, r)
				tick(t, r)
				k, err := r.Kick(t.Context(), 500*time.Millisecond)
				if err != nil {
					t.Fatal(err)
				}
				if k.Stayed == nil || *k.Stayed != c.stayed || !strings.Contains(k.Text, c.want) {
					t.Errorf("%s; want %s", k.Text, c.want)
				}
				if math.Abs(k.Before.MeanNS-702) > 2 || math.Abs(k.During.MeanNS-1300) > 10 || math.Abs(k.After.MeanNS-c.after) > 2 {
					t.Errorf("before %v, during %v, after %v: the helper's frames are not ours", k.Before.MeanNS, k.During.MeanNS, k.After.MeanNS)
				}
				if k.Frames < 90e3 || k.Frames > 110e3 {
					t.Errorf("%d frames of the helper, want about 100,000", k.Frames)
				}
				var marks []string
				for _, m := range r.Result().Marks {
					marks = append(marks, m.Mark)
				}
				if got := strings.Join(marks, "|"); got != "kick 1|before kick 1|after kick 1" {
					t.Errorf("marks %s", got)
				}
				l := r.Last().Ladder
				if l.Device == nil || math.Abs(float64(*l.Device)-float64(l.Taken)) > 2 {
					t.Errorf("ladder %+v: the helper's frames are not ours", l)
				}
				said, err := r.Do("diff before kick 1, after kick 1")
				if err != nil || !strings.Contains(said, "all knobs alike") {
					t.Errorf("%s %v", said, err)
				}
				if got := r.Result().Kicks; len(got) != 1 || got[0].Text != k.Text {
					t.Errorf("summary %+v", got)
				}
			})
		})
	}
}

func TestKickSaysWhyNot(t *testing.T) {
	for _, c := range []struct {
		name, knobs, want string
		prepare           func(w *world)
	}{
		{"bypass", "path bypass", "goes past every queue", nil},
		{"no qdisc", "path qdisc", "has no qdisc (noqueue)", func(w *world) { w.qdisc = &nic.Qdisc{Kind: "noqueue"} }},
		{"one CPU", "path qdisc", "the workers have them", func(w *world) { w.oneCPU = true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world, o *Options) {
				name, value, _ := strings.Cut(c.knobs, " ")
				o.Settings = append(o.Settings, Setting{Knob: name, Value: value})
				if c.prepare != nil {
					c.prepare(w)
				}
			}, func(t *testing.T, _ *world, r *Run) {
				if _, err := r.Do("kick"); !errors.Is(err, knob.ErrUsage) || !strings.Contains(err.Error(), "start first") {
					t.Errorf("before the start: %v", err)
				}
				start(t, r)
				if _, err := r.Do("kick 500ms"); !errors.Is(err, knob.ErrUsage) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want ...%s", err, c.want)
				}
			})
		})
	}
}

func TestKickThatFails(t *testing.T) {
	inBubble(t, func(w *world, o *Options) {
		o.Settings = append(o.Settings, Setting{Knob: "path", Value: "qdisc"})
		w.helperErr = errors.New("no buffer space")
	}, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		if _, err := r.Kick(t.Context(), time.Second); err == nil || !strings.Contains(err.Error(), "no buffer space") {
			t.Errorf("error %v", err)
		}
		if _, err := r.Do("sweep size 60..70"); err != nil {
			t.Errorf("after it something else may go on: %v", err)
		}
	})
}

func TestKickIsInterrupted(t *testing.T) {
	inBubble(t, func(_ *world, o *Options) {
		o.Settings = append(o.Settings, Setting{Knob: "path", Value: "qdisc"})
	}, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		if _, err := r.Do("kick 5s"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		helping := func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.helping
		}
		if !helping() {
			t.Error("no helper")
		}
		r.Stop()
		time.Sleep(time.Second)
		if helping() {
			t.Error("the helper outlives the run")
		}
	})
}
