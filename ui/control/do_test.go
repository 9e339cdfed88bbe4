package control

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wirespeed/nic/check"
	"wirespeed/presets/knob"
)

func TestScript(t *testing.T) {
	inBubble(t, func(_ *world, o *Options) {
		o.Script = script(t, "rate 10kpps\nwait 3s\nmark A\nrate 20kpps\nwait 3s # settle\nmark B\nwait 500ms\n")
	}, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		for range 6 {
			tick(t, r)
		}
		<-r.Done()
		s := r.Result()
		if s.Elapsed != 6500*time.Millisecond {
			t.Errorf("it ended after %v, want 6.5s: after the last line, without a duration", s.Elapsed)
		}
		if len(s.Marks) != 2 || s.Marks[0].Mark != "A" || !near(s.Marks[0].PPS, 10e3, 1) || !near(s.Marks[1].PPS, 20e3, 1) {
			t.Fatalf("marks %+v", s.Marks)
		}
		if s.Marks[0].N != 3 || s.Marks[1].N != 3 || len(s.Epochs) != 2 || s.Epochs[0].Label != "start" {
			t.Errorf("a script's samples are whole: marks %+v, epochs %+v", s.Marks, s.Epochs)
		}
		if s.Diff == nil || !near(s.Diff.NS, 50_000, 5) {
			t.Errorf("difference %+v", s.Diff)
		}
		if n := uint64(10e3*3 + 20e3*3.5); s.TxPackets != n {
			t.Errorf("%d frames, want %d", s.TxPackets, n)
		}
	})
}

func TestAfterAScriptTheRunGoesOnToItsDuration(t *testing.T) {
	inBubble(t, func(_ *world, o *Options) {
		o.Script = script(t, "wait 1s\nrate 1kpps")
		o.Limit.Duration = 4 * time.Second
	}, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		<-r.Done()
		if s := r.Result(); s.Elapsed != 4*time.Second || s.TxPackets != 1e6+3e3 {
			t.Errorf("%d frames in %v", s.TxPackets, s.Elapsed)
		}
	})
}

func TestQuitInAScript(t *testing.T) {
	inBubble(t, func(_ *world, o *Options) { o.Script = script(t, "wait 2s\nquit\nrate 1kpps") }, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		<-r.Done()
		if v := r.Last(); !v.Quit || v.Elapsed != 2*time.Second {
			t.Errorf("quit %v after %v", v.Quit, v.Elapsed)
		}
		if s := r.Result(); s.Err != nil {
			t.Errorf("it failed: %v", s.Err)
		}
	})
}

func TestAScriptThatFailsNamesItsLine(t *testing.T) {
	inBubble(t, func(_ *world, o *Options) { o.Script = script(t, "mark A") }, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		<-r.Done()
		s := r.Result()
		if s.Err == nil || !strings.HasPrefix(s.Err.Error(), "s:1: mark: ") {
			t.Errorf("error %v", s.Err)
		}
	})
}

func TestStopEndsAScript(t *testing.T) {
	inBubble(t, func(_ *world, o *Options) { o.Script = script(t, "wait 2s\nrate 1kpps") }, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		time.Sleep(time.Second)
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if got := r.Bench().Config.Rate.String(); got != "max" {
			t.Errorf("the script went on: rate %s", got)
		}
	})
}

func TestDo(t *testing.T) {
	for _, c := range []struct {
		line string
		said string
		kind error
	}{
		{"size 105", "size 60 -> 105", nil},
		{"size 105fcs", "size 60 -> 101", nil},
		{"burst 1", "burst is 1 already", nil},
		{"# nothing", "", nil},
		{"size 99999", "", knob.ErrUsage},
		{"nonsense", "", knob.ErrUsage},
		{"wait 5s", "", knob.ErrUsage},
		{"mark", "", knob.ErrUsage}, // nothing runs
		{"quit", "", ErrQuit},
		{"preset nosuch", "", knob.ErrUsage},
	} {
		t.Run(c.line, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
				said, err := r.Do(c.line)
				if said != c.said || !errors.Is(err, c.kind) || err != nil && c.kind == nil {
					t.Errorf("said %q, error %v", said, err)
				}
				if err != nil && !errors.Is(err, ErrQuit) && w.cfg.Frame.Size != 60 {
					t.Error("a refused line changed something")
				}
			})
		})
	}
}

func TestMarks(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		for _, want := range []string{"A", "B", "fast", "C"} {
			tick(t, r)
			name := want
			if len(want) == 1 {
				name = ""
			}
			said, err := r.Mark(name)
			if err != nil || !strings.HasPrefix(said, "mark "+want+": start, 1,000,000 pps, 1000.0 ns/packet over ") {
				t.Errorf("said %q, error %v", said, err)
			}
		}
		if _, err := r.Mark("A"); err != nil { // moves
			t.Fatal(err)
		}
		v := r.Tick()
		names := ""
		for _, m := range v.Marks {
			names += m.Mark + " "
		}
		if names != "B fast C A " {
			t.Errorf("marks %s", names)
		}
	})
}

func TestABenchIsACopy(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
		k, err := knob.Find("size")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.Set(r.Bench(), "200"); err != nil {
			t.Fatal(err)
		}
		if w.cfg.Frame.Size != 60 {
			t.Error("turning a copy turned the run")
		}
	})
}

// TestCheckLine: what is to be mended goes into the log, and the answer is the count.
func TestCheckLine(t *testing.T) {
	inBubble(t, func(w *world, _ *Options) {
		w.findings = []check.Finding{
			{Title: "MTU", State: check.OK},
			{Title: "TX ring", State: check.Bad, Seen: "80", Mend: "ethtool -G tx0 tx 1024"},
			{Title: "tracing", State: check.Unknown},
		}
	}, func(t *testing.T, w *world, r *Run) {
		said, err := r.Do("check")
		if want := "check: 1 to mend, 1 unknown, 1 good"; err != nil || said != want {
			t.Errorf("%q, %v; want %s", said, err, want)
		}
		if want := "bad: TX ring: 80; mend it: ethtool -G tx0 tx 1024"; !strings.Contains(logOf(r), want) {
			t.Errorf("the log has no %q: %s", want, logOf(r))
		}
	})
}

func TestLinesThatCouldNeverBeCarriedOutAreRefusedBeforeTheFirstFrame(t *testing.T) {
	for lines, want := range map[string]string{
		"wait 1s\nstop\nwait 1s\nstart": "s:3: nothing is carried out after stop, which ends a run without a screen: leave it out, or use rate and wait",
		"save ../../evil":               `s:1: preset "../../evil": a name is letters, digits, - and _, at most 40, and begins with a letter or digit`,
		"stop\nquit":                    "",
	} {
		synctest.Test(t, func(t *testing.T) {
			o := Options{Device: "tx0", Settings: []Setting{{Knob: "dst-mac", Value: "02:00:00:00:00:02"}}, Script: script(t, lines)}
			r, err := open(o, newWorld().parts())
			got := ""
			if err != nil {
				got = err.Error()
			} else if err := r.Close(t.Context()); err != nil {
				t.Errorf("close: %v", err)
			}
			if got != want || want != "" && !errors.Is(err, knob.ErrUsage) {
				t.Errorf("%q: %q (%T), want %q", lines, got, err, want)
			}
		})
	}
}
