package control

import (
	"math"
	"testing"
	"time"

	"wirespeed/engine"
	"wirespeed/nic"
)

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func TestSamplesAreWholeAndDoNotDrift(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		for i := 1; i <= 12; i++ {
			v := tick(t, r)
			s := v.Sample
			if s.N != i || s.Epoch != 1 || !s.Valid || !near(s.TX.PPS, 1e6, 2) || s.Interval != time.Second {
				t.Fatalf("sample %d: epoch %d n %d valid %v pps %f over %v", i, s.Epoch, s.N, s.Valid, s.TX.PPS, s.Interval)
			}
			if want := time.Duration(i) * time.Second; s.Elapsed != want {
				t.Errorf("sample %d ends at %v, want %v", i, s.Elapsed, want)
			}
			if s.TX.NS == nil || !near(*s.TX.NS, 1000, 0.1) || !near(s.TX.BpsL1, 672e6, 2000) || s.TX.Percent == nil || !near(*s.TX.Percent, 67.2, 0.01) {
				t.Errorf("sample %d: %+v", i, s.TX)
			}
			if s.TxSource != "device" {
				t.Errorf("source %q", s.TxSource)
			}
		}
	})
}

func TestLateTicksMerge(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		time.Sleep(1700 * time.Millisecond) // the next multiple is 0.3 s away: too short for a sample
		v := r.Tick()
		if !v.Fresh || v.Sample.Interval != 1700*time.Millisecond+signalTime || !near(v.Sample.TX.PPS, 1e6, 2) {
			t.Errorf("late tick: fresh %v over %v at %f pps", v.Fresh, v.Sample.Interval, v.Sample.TX.PPS)
		}
		if v := tick(t, r); v.Sample.Elapsed != 3*time.Second || v.Sample.Interval != 1300*time.Millisecond-signalTime {
			t.Errorf("the next sample ends at %v over %v", v.Sample.Elapsed, v.Sample.Interval)
		}
	})
}

func TestFastTicksBetween(t *testing.T) {
	inBubble(t, func(_ *world, o *Options) { o.Console = true }, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		fresh := 0
		for range 12 {
			time.Sleep(250 * time.Millisecond)
			v := r.Tick()
			if v.Fresh {
				fresh++
			}
			if !near(v.Fast.TX.PPS, 1e6, 5) || v.Fast.Interval != 250*time.Millisecond {
				t.Errorf("fast sample %f pps over %v", v.Fast.TX.PPS, v.Fast.Interval)
			}
		}
		v := r.Tick()
		if fresh != 3 || v.Epoch.N != 3 || len(v.History) != 12+1 {
			t.Errorf("%d samples, n %d, %d points", fresh, v.Epoch.N, len(v.History))
		}
	})
}

func TestLastSampleNeedsHalfAnInterval(t *testing.T) {
	for _, c := range []struct {
		name     string
		duration time.Duration
		fresh    bool
	}{
		{"less than half", 1400 * time.Millisecond, false},
		{"more than half", 1600 * time.Millisecond, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(_ *world, o *Options) { o.Limit.Duration = c.duration }, func(t *testing.T, w *world, r *Run) {
				start(t, r)
				tick(t, r)
				<-r.Done()
				v := r.Last()
				if v.Fresh != c.fresh {
					t.Errorf("fresh %v, want %v", v.Fresh, c.fresh)
				}
				if c.fresh && (v.Sample.N != 2 || !near(v.Sample.TX.PPS, 1e6, 5)) {
					t.Errorf("last sample %+v", v.Sample)
				}
				if v.Elapsed != c.duration || v.State != engine.Done {
					t.Errorf("%v after %v", v.State, v.Elapsed)
				}
			})
		})
	}
}

func TestAChangeEndsTheEpochAndItsSampleIsInNone(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		tick(t, r)
		time.Sleep(300 * time.Millisecond)
		if said, err := r.Do("rate 10kpps"); err != nil || said != "rate max -> 10kpps" {
			t.Fatalf("%q, %v", said, err)
		}
		v := tick(t, r)
		if s := v.Sample; s.Epoch != 0 || s.N != 0 || !s.Valid || !near(s.TX.PPS, 307_000, 5) {
			t.Errorf("the mixed sample: epoch %d n %d valid %v %f pps", s.Epoch, s.N, s.Valid, s.TX.PPS)
		}
		if v.Line.N != 1 {
			t.Errorf("the line shows n %d, want the last one that counted", v.Line.N)
		}
		v = tick(t, r)
		if s := v.Sample; s.Epoch != 2 || s.N != 1 || !near(s.TX.Avg, 10_000, 1) {
			t.Errorf("after it: epoch %d n %d average %f", s.Epoch, s.N, s.TX.Avg)
		}
		if len(v.Epochs) != 2 || v.Epochs[1].Label != "rate 10kpps" || v.Epochs[0].Label != "start" {
			t.Errorf("epochs %+v", v.Epochs)
		}
	})
}

func TestTurnsWithinHalfASecondAreOneChange(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		tick(t, r)
		for _, line := range []string{"rate 10kpps", "size 100", "rate 20kpps"} {
			if _, err := r.Do(line); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		tick(t, r)
		v := tick(t, r)
		if v.Sample.Epoch != 2 || v.Epoch.Label != "rate 10kpps, size 100, rate 20kpps" {
			t.Errorf("epoch %d %q", v.Sample.Epoch, v.Epoch.Label)
		}
	})
}

func TestAValueThatIsNoChangeEndsNothing(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		tick(t, r)
		if said, err := r.Do("rate max"); err != nil || said != "rate is max already" {
			t.Fatalf("%q, %v", said, err)
		}
		if v := tick(t, r); v.Sample.N != 2 {
			t.Errorf("n %d, want 2", v.Sample.N)
		}
	})
}

func TestACounterThatWentBackwardsIsSkipped(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		tick(t, r)
		tick(t, r)
		w.mu.Lock()
		w.device = 0
		w.mu.Unlock()
		v := tick(t, r)
		if v.Sample.Valid || v.Sample.TX.OK || v.Sample.TX.PPS != 0 || v.Epoch.N != 2 {
			t.Errorf("sample %+v, n %d", v.Sample, v.Epoch.N)
		}
		if v := tick(t, r); !v.Sample.Valid || v.Sample.N != 3 {
			t.Errorf("the next one: valid %v n %d", v.Sample.Valid, v.Sample.N)
		}
	})
}

func TestResumeComesBeforeALateTick(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		time.Sleep(2500 * time.Millisecond) // SIGSTOP; after SIGCONT the tick's timer is first
		time.AfterFunc(time.Millisecond, r.Resume)
		if v := r.Tick(); v.Sample.Valid || v.Sample.N != 0 {
			t.Errorf("the sample of a stopped process: valid %v, n %d", v.Sample.Valid, v.Sample.N)
		}
	})
}

func TestResumeInvalidatesTheSample(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		tick(t, r)
		time.Sleep(200 * time.Millisecond)
		r.Resume()
		v := tick(t, r)
		if v.Sample.Valid || w.forgave != 1 {
			t.Errorf("valid %v, forgiven %d times", v.Sample.Valid, w.forgave)
		}
		if v := tick(t, r); v.Sample.Epoch != 2 || v.Sample.N != 1 {
			t.Errorf("epoch %d n %d", v.Sample.Epoch, v.Sample.N)
		}
	})
}

func TestResetBeginsAnew(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		tick(t, r)
		time.Sleep(500 * time.Millisecond)
		r.Reset()
		v := tick(t, r)
		if v.Sample.N != 1 || v.Sample.Epoch != 2 || v.Sample.Interval != time.Second || v.Ladder.Taken != 1e6 {
			t.Errorf("after reset: n %d epoch %d over %v, taken %d", v.Sample.N, v.Sample.Epoch, v.Sample.Interval, v.Ladder.Taken)
		}
		if v.Elapsed != 2500*time.Millisecond {
			t.Errorf("elapsed %v", v.Elapsed)
		}
	})
}

func TestWideBracketsAreReadAgain(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		w.bracket = time.Millisecond
		before := w.devRead
		v := tick(t, r)
		if n := w.devRead - before; n != 2*reads { // --rx is not given: the device is read once for both directions
			if n != reads {
				t.Errorf("read %d times, want %d", n, reads)
			}
		}
		// Half a millisecond in a second is 0.5 ns of 1000.
		if !near(v.Sample.ErrNS, 0.5, 0.01) {
			t.Errorf("error %f ns", v.Sample.ErrNS)
		}
	})
}

func TestSourceOfTheRate(t *testing.T) {
	t.Run("ifb counts nothing as transmitted", func(t *testing.T) {
		inBubble(t, func(w *world, _ *Options) { w.ifb = true }, func(t *testing.T, w *world, r *Run) {
			start(t, r)
			tick(t, r)
			tick(t, r)
			v := tick(t, r)
			if v.Sample.TxSource != "engine" || !near(v.Sample.TX.PPS, 1e6, 2) || v.Ladder.Device != nil {
				t.Errorf("source %q %f pps, device %v", v.Sample.TxSource, v.Sample.TX.PPS, v.Ladder.Device)
			}
		})
	})
	t.Run("a driver that refreshes every two seconds", func(t *testing.T) {
		inBubble(t, func(w *world, _ *Options) { w.coarse = 2 * time.Second }, func(t *testing.T, w *world, r *Run) {
			start(t, r)
			var v *View
			for range 9 {
				v = tick(t, r)
			}
			if v.Sample.TxSource != "engine" || !near(v.Sample.TX.PPS, 1e6, 2) || v.Ladder.Device == nil {
				t.Errorf("source %q %f pps, device %v", v.Sample.TxSource, v.Sample.TX.PPS, v.Ladder.Device)
			}
		})
	})
	t.Run("what the qdisc drops was not transmitted", func(t *testing.T) {
		inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
			start(t, r)
			w.mu.Lock()
			w.carrier = false // nothing leaves
			w.mu.Unlock()
			var v *View
			for range 4 {
				w.qdisc.Drops += 1e6
				v = tick(t, r)
			}
			if v.Sample.TxSource != "device" || v.Sample.TX.PPS != 0 {
				t.Errorf("source %q %f pps", v.Sample.TxSource, v.Sample.TX.PPS)
			}
		})
	})
}

func TestAStoppedRunCountsNothing(t *testing.T) {
	inBubble(t, func(_ *world, o *Options) { o.Console = true }, func(t *testing.T, _ *world, r *Run) {
		start(t, r)
		for range 3 {
			tick(t, r)
		}
		time.Sleep(300 * time.Millisecond)
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
		var v *View
		for range 20 {
			time.Sleep(250 * time.Millisecond)
			v = r.Tick()
		}
		if v.Line.N != 3 || !near(v.Line.AvgTX, 1e6, 1) || v.Epoch.N != 3 {
			t.Errorf("n is %d, the average %.0f, the epoch has %d samples; want the 3 at 1 Mpps from before the stop", v.Line.N, v.Line.AvgTX, v.Epoch.N)
		}
	})
}

func TestReadyCountsNothing(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
		time.Sleep(3 * time.Second)
		v := r.Tick()
		if v.State != engine.Ready || v.Fresh || v.Elapsed != 0 || v.Epoch.N != 0 || len(v.History) != 0 {
			t.Errorf("%v fresh %v elapsed %v", v.State, v.Fresh, v.Elapsed)
		}
		if !r.Due().IsZero() || r.Done() != nil {
			t.Error("a sample is due, or a run there")
		}
	})
}

func TestStatedSpeed(t *testing.T) {
	inBubble(t, func(w *world, o *Options) {
		w.link.Speed, w.link.SpeedWhy = 0, "veth has no speed of its own"
		o.Settings = append(o.Settings, Setting{Knob: "link", Value: "10Gbit"})
	}, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		v := tick(t, r)
		if v.Device.Speed != 10e9 || !v.Device.Stated || v.Sample.TX.Percent == nil || !near(*v.Sample.TX.Percent, 6.72, 0.001) {
			t.Errorf("%+v %+v", v.Device, v.Sample.TX)
		}
	})
}

func TestMTUReachesTheEngine(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		w.setLink(0, func(l *nic.Link) { l.MTU = 9000 })
		if w.dev.MTU != 9000 {
			t.Errorf("the engine's MTU is %d", w.dev.MTU)
		}
		if _, err := r.Do("size 9014"); err != nil {
			t.Error(err)
		}
	})
}
