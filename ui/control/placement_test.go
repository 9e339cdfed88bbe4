package control

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wirespeed/nic"
)

// four makes the world's device one of four queues, and asks for two workers.
func four(more ...Setting) func(*world, *Options) {
	return func(w *world, o *Options) {
		w.link.TxQueues = 4
		o.Settings = append(append(o.Settings, Setting{Knob: "queues", Value: "2"}), more...)
	}
}

func queuesOf(v *View) (list []int) {
	for _, q := range v.Queues {
		list = append(list, q.Queue)
	}
	return list
}

func TestPlacement(t *testing.T) {
	refused := func(err error) func(*world, *Options) {
		return func(w *world, _ *Options) { w.xpsErr = err }
	}
	for _, c := range []struct {
		name    string
		prepare []func(*world, *Options)
		queues  []int
		words   string
		xps     map[int][]int // while it runs
	}{
		{
			"XPS gives each worker its own",
			[]func(*world, *Options){four(Setting{Knob: "cpus", Value: "2-3"})},
			[]int{0, 1},
			"",
			map[int][]int{0: {2}, 1: {3}},
		},
		{
			"bypass without XPS: CPU modulo queues",
			[]func(*world, *Options){four(Setting{Knob: "cpus", Value: "2-3"}), refused(nic.ErrNotPermitted)},
			[]int{2, 3},
			"", nil,
		},
		{
			"bypass, both on one CPU",
			[]func(*world, *Options){four(Setting{Knob: "cpus", Value: "1"}), refused(nic.ErrNotPermitted)},
			[]int{1, 1},
			"2 workers share queue 1", nil,
		},
		{
			"a map that is there and may not be written",
			[]func(*world, *Options){
				four(), refused(nic.ErrNotPermitted),
				func(w *world, _ *Options) { w.xps = map[int][]int{2: {0}, 3: {1}} },
			},
			[]int{2, 3},
			"",
			map[int][]int{2: {0}, 3: {1}},
		},
		{
			"qdisc without XPS nor counters",
			[]func(*world, *Options){
				four(Setting{Knob: "path", Value: "qdisc"}), refused(nic.ErrNotPermitted),
				func(w *world, _ *Options) { w.link.Qdisc = "noqueue" },
			},
			[]int{-1, -1},
			"which queues are used is not known: noqueue has no per-queue counters", nil,
		},
		{"one queue", nil, []int{0}, "", nil},
		{
			"one worker leaves the maps alone",
			[]func(*world, *Options){four(Setting{Knob: "queues", Value: "1"}, Setting{Knob: "cpus", Value: "3"})},
			[]int{3},
			"", nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world, o *Options) {
				for _, p := range c.prepare {
					p(w, o)
				}
			}, func(t *testing.T, w *world, r *Run) {
				start(t, r)
				v := tick(t, r)
				if diff := cmp.Diff(c.queues, queuesOf(v)); diff != "" {
					t.Errorf("queues (-want +got):\n%s", diff)
				}
				if v.Placement != c.words {
					t.Errorf("placement %q, want %q", v.Placement, c.words)
				}
				for q, cpus := range c.xps {
					if diff := cmp.Diff(cpus, w.xps[q]); diff != "" {
						t.Errorf("map of queue %d (-want +got):\n%s", q, diff)
					}
				}
			})
		})
	}
}

func TestPlacementIsPutBack(t *testing.T) {
	inBubble(t, four(), func(t *testing.T, w *world, r *Run) {
		w.xps[1] = []int{7}
		start(t, r)
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[int][]int{0: nil, 1: {7}}, w.xps); diff != "" {
			t.Errorf("maps after the stop (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]int{1, 0}, w.restored); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

func TestPlacementFollowsTheKnobs(t *testing.T) {
	inBubble(t, four(), func(t *testing.T, w *world, r *Run) {
		start(t, r)
		if _, err := r.Do("queues 3"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int{0, 1, 2}, queuesOf(tick(t, r))); diff != "" {
			t.Errorf("queues (-want +got):\n%s", diff)
		}
	})
}

// TestFlowsClimb lets every flow hash to a queue and expects the workers to end up apart.
func TestFlowsClimb(t *testing.T) {
	inBubble(t, func(w *world, o *Options) {
		four(Setting{Knob: "path", Value: "qdisc"})(w, o)
		w.xpsErr = nic.ErrNotPermitted
		count := make([]uint64, 4)
		w.bytes = func() []uint64 {
			w.mu.Lock()
			defer w.mu.Unlock()
			for i := range w.cfg.Queues {
				offset := 0
				if i < len(w.cfg.FlowOffsets) {
					offset = int(w.cfg.FlowOffsets[i])
				}
				count[[]int{2, 2, 2, 0, 1, 3}[offset%6]] += 1e6
			}
			return append([]uint64(nil), count...)
		}
	}, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		time.Sleep(5 * time.Second)
		offsets := r.Bench().Config.FlowOffsets
		if len(offsets) != 2 || offsets[0]%6 == offsets[1]%6 || offsets[1]%6 < 3 {
			t.Errorf("flows %v still collide", offsets)
		}
		if v := r.Tick(); !strings.HasPrefix(v.Placement, "2 workers use queues ") {
			t.Errorf("placement %q", v.Placement)
		}
	})
}

// TestTheOperatorSteers: who turns XPS while the run steers it has it as asked, over stops and starts, and everything is back in the end.
func TestTheOperatorSteers(t *testing.T) {
	var w0 *world
	inBubble(t, func(w *world, o *Options) {
		four()(w, o)
		w.settings = []nic.Value{
			{Setting: nic.Setting{Name: "xps[0]", Range: "CPUs as 0-1,3, or none"}, Now: "none"},
			{Setting: nic.Setting{Name: "xps[1]", Range: "CPUs as 0-1,3, or none"}, Now: "none"},
		}
	}, func(t *testing.T, w *world, r *Run) {
		w0 = w
		start(t, r)
		if len(w.xps[0]) != 1 || len(w.xps[1]) != 1 {
			t.Fatalf("the run steers nothing: %v", w.xps)
		}
		if said, err := r.Do("xps[1] 3"); err != nil || said != "xps[1] none -> 3" {
			t.Errorf("%q, %v", said, err)
		}
		for _, when := range []string{"turned", "stopped", "started again"} {
			switch when {
			case "stopped":
				if err := r.Stop(); err != nil {
					t.Fatal(err)
				}
			case "started again":
				start(t, r)
			}
			if diff := cmp.Diff(map[int][]int{0: nil, 1: nil}, w.xps); diff != "" {
				t.Errorf("%s: what the run steered (-want +got):\n%s", when, diff)
			}
			if got := now(w, "xps[1]"); got != "3" {
				t.Errorf("%s: xps[1] is %s, want the operator's 3", when, got)
			}
		}
	})
	if got := now(w0, "xps[1]"); got != "none" {
		t.Errorf("after Close xps[1] is %s", got)
	}
}
