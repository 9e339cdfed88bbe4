package control

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"wirespeed/engine"
	"wirespeed/presets/knob"
)

// noisy is a machine whose ns per packet are those of a course, with noise of a share of them and memory from one look to the next.
func noisy(share float64, ns func(engine.Config) float64) func(engine.Config, float64) float64 {
	r := rand.New(rand.NewPCG(8, 13))
	state := 0.0
	return func(c engine.Config, asked float64) float64 {
		state = 0.5*state + r.NormFloat64()
		most := 1e9 / (ns(c) * (1 + share*state))
		if asked > 0 {
			return min(asked, most)
		}
		return most
	}
}

// swept runs a sweep in a world.
func swept(t *testing.T, spec knob.Sweep, prepare func(*world, *Options), check func(t *testing.T, w *world, r *Run, s *Sweep)) {
	t.Helper()
	inBubble(t, prepare, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		if spec.Dwell == 0 {
			spec.Dwell = time.Second
		}
		s, err := r.Sweep(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if v := r.Tick(); v.Sweep == nil || v.Sweep.Running || len(v.Sweep.Points) != len(s.Points) {
			t.Errorf("the view has not the sweep: %+v", v.Sweep)
		}
		check(t, w, r, s)
	})
}

// named are the texts of all findings.
func named(s *Sweep) string {
	var list []string
	for _, f := range s.Findings {
		list = append(list, f.Text)
	}
	return strings.Join(list, "\n")
}

func TestSweepNamesACliff(t *testing.T) {
	for _, c := range []struct {
		name string
		spec knob.Sweep
	}{
		{"every size", knob.Sweep{Knob: "size", From: "60", To: "128"}},
		{"down", knob.Sweep{Knob: "size", From: "128", To: "60"}},
		{"coarse: it is looked for between", knob.Sweep{Knob: "size", From: "60", To: "1514"}},
		{"fast", knob.Sweep{Knob: "size", From: "60", To: "128", Dwell: 200 * time.Millisecond}},
	} {
		t.Run(c.name, func(t *testing.T) {
			swept(t, c.spec, func(w *world, _ *Options) {
				w.cost = noisy(0.003, func(c engine.Config) float64 {
					if c.Frame.Size >= 105 {
						return 690 + 0.1*float64(c.Frame.Size)
					}
					return 750 + 0.1*float64(c.Frame.Size)
				})
			}, func(t *testing.T, w *world, r *Run, s *Sweep) {
				if len(s.Findings) != 1 {
					t.Fatalf("found:\n%s", named(s))
				}
				f := s.Findings[0]
				want := [2]string{"104", "105"}
				if s.Direction == "down" {
					want[0], want[1] = want[1], want[0]
				}
				if f.Kind != FindStep || [2]string{f.Before, f.After} != want || math.Abs(math.Abs(f.NS)-60) > 4 || f.Confirmed == nil || !*f.Confirmed || f.CI95 == nil {
					t.Errorf("%+v, want 60 ns between %v", f, want)
				}
				if (f.NS < 0) != (s.Direction == "up") {
					t.Errorf("%s, going %s", f.Text, s.Direction)
				}
				if got := w.cfg.Frame.Size; got != 60 || s.Restored != "60" {
					t.Errorf("size %d (%s) after the sweep, want 60 as before", got, s.Restored)
				}
			})
		})
	}
}

func TestSweepOfAFlatDeviceNamesNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		spec knob.Sweep
		ns   func(engine.Config) float64
	}{
		{"flat", knob.Sweep{Knob: "size", From: "60", To: "1514"}, func(engine.Config) float64 { return 700 }},
		{"each byte costs", knob.Sweep{Knob: "size", From: "60", To: "1514"}, func(c engine.Config) float64 { return 400 + 0.3*float64(c.Frame.Size) }},
		{"a link from 300 bytes on", knob.Sweep{Knob: "size", From: "60", To: "1514"}, func(c engine.Config) float64 {
			return max(2600, 8*float64(c.Frame.Size+24))
		}},
		{"queues share", knob.Sweep{Knob: "dst-port", From: "1", To: "64"}, func(engine.Config) float64 { return 700 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			swept(t, c.spec, func(w *world, _ *Options) { w.cost = noisy(0.01, c.ns) }, func(t *testing.T, _ *world, _ *Run, s *Sweep) {
				if len(s.Findings) != 1 || s.Findings[0].Kind != FindNone {
					t.Errorf("found:\n%s", named(s))
				}
			})
		})
	}
}

// A machine that changes its pace once, while nobody turns anything, is not taken for a cliff: going back shows that.
func TestSweepDoesNotTakeADriftForACliff(t *testing.T) {
	swept(t, knob.Sweep{Knob: "size", From: "60", To: "99"}, func(w *world, _ *Options) {
		began := time.Now()
		w.cost = noisy(0.003, func(engine.Config) float64 {
			if time.Since(began) > 20*time.Second {
				return 760
			}
			return 700
		})
	}, func(t *testing.T, _ *world, _ *Run, s *Sweep) {
		if len(s.Findings) != 1 || s.Findings[0].Confirmed == nil || *s.Findings[0].Confirmed || !strings.Contains(s.Findings[0].Text, "not there again") {
			t.Errorf("found:\n%s", named(s))
		}
	})
}

// shaped is a link of 300 Mbit/s behind a qdisc: 446,428 frames of 60 bytes.
func shaped(w *world, o *Options) {
	const most = 3e8 / 8 / 84
	o.Settings = append(o.Settings, Setting{Knob: "path", Value: "qdisc"}, Setting{Knob: "link", Value: "300Mbit"})
	w.cost = noisy(0.0001, func(engine.Config) float64 { return 1e9 / most })
	w.tail = func(c engine.Config) uint64 {
		if r, err := c.Rate.PPS(c.Frame.Size, w.dev); err == nil && r != nil {
			if f, _ := r.Float64(); f < most {
				return 0
			}
		}
		return 500
	}
}

func TestSweepNamesWhereBacklogBegins(t *testing.T) {
	for _, c := range []struct {
		name string
		spec knob.Sweep
		want []string
	}{
		{"up", knob.Sweep{Knob: "rate", From: "0.2Mpps", To: "0.6Mpps"}, []string{"backlog begins at 446,4"}},
		{"down", knob.Sweep{Knob: "rate", From: "0.6Mpps", To: "0.2Mpps"}, []string{"backlog ends at 446,4"}},
		{"both", knob.Sweep{Knob: "rate", From: "0.2Mpps", To: "0.6Mpps", Direction: "updown"}, []string{"backlog begins at 446,4", "backlog ends at 446,4"}},
		{"by halving", knob.Sweep{Knob: "rate", From: "0.2Mpps", To: "0.6Mpps", Bisect: true}, []string{"backlog begins at 446,4"}},
		{"by halving, down", knob.Sweep{Knob: "rate", From: "0.2Mpps", To: "0.6Mpps", Bisect: true, Direction: "down"}, []string{"backlog ends at 446,4"}},
		{"with a step", knob.Sweep{Knob: "rate", From: "0.2Mpps", To: "0.6Mpps", Step: "50kpps"}, []string{"backlog begins at 446,4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			swept(t, c.spec, shaped, func(t *testing.T, _ *world, _ *Run, s *Sweep) {
				if len(s.Findings) != len(c.want) {
					t.Fatalf("found:\n%s", named(s))
				}
				for i, f := range s.Findings {
					lo, hi := min(f.PPSBefore, f.PPSAfter), f.X
					if lo > 446_428 || math.Abs(hi-446_428) > 100 || f.Before == f.After {
						t.Errorf("edge at %v between %s and %s", f.X, f.Before, f.After)
					}
					if f.Kind != FindBacklog || !strings.HasPrefix(f.Text, c.want[i]) || !strings.Contains(f.Text, "100.0 % of wirespeed, 446,428 pps") {
						t.Errorf("%s %s, want %s", f.Kind, f.Text, c.want[i])
					}
				}
				if s.Bisect && (len(s.Points) > 14 || s.Criterion == "") {
					t.Errorf("%d points for a bisection by %q", len(s.Points), s.Criterion)
				}
			})
		})
	}
}

func TestSweepNamesTheBreakEven(t *testing.T) {
	swept(t, knob.Sweep{Knob: "burst", From: "1", To: "64"}, func(w *world, _ *Options) {
		w.cost = noisy(0.002, func(c engine.Config) float64 {
			if c.Burst == 1 {
				return 700
			}
			return 200 + 1200/float64(c.Burst)
		})
	}, func(t *testing.T, _ *world, _ *Run, s *Sweep) {
		if len(s.Findings) != 1 || !strings.HasPrefix(s.Findings[0].Text, "break-even at burst 3: from there on a frame is cheaper than alone (") {
			t.Errorf("found:\n%s", named(s))
		}
	})
}

func TestSweepBisectsALevel(t *testing.T) {
	swept(t, knob.Sweep{Knob: "size", From: "60", To: "1514", Bisect: true}, func(w *world, _ *Options) {
		w.cost = noisy(0.002, func(c engine.Config) float64 {
			if c.Frame.Size > 777 {
				return 800
			}
			return 700
		})
	}, func(t *testing.T, _ *world, _ *Run, s *Sweep) {
		if len(s.Findings) != 1 || s.Findings[0].Before != "777" || s.Findings[0].After != "778" || !*s.Findings[0].Confirmed {
			t.Errorf("found:\n%s", named(s))
		}
	})
	swept(t, knob.Sweep{Knob: "size", From: "60", To: "1514", Bisect: true}, nil, func(t *testing.T, _ *world, _ *Run, s *Sweep) {
		if len(s.Points) != 2 || s.Findings[0].Kind != FindNone || !strings.Contains(s.Findings[0].Text, "both ends are alike") {
			t.Errorf("found:\n%s", named(s))
		}
	})
}

func TestSweepShowsHysteresis(t *testing.T) {
	queued := false
	swept(t, knob.Sweep{Knob: "dst-port", From: "1", To: "40", Direction: "updown"}, func(w *world, _ *Options) {
		w.cost = noisy(0.002, func(c engine.Config) float64 {
			if p := c.Frame.DstPort; p >= 30 {
				queued = true
			} else if p < 10 {
				queued = false
			}
			if queued {
				return 672
			}
			return 702
		})
	}, func(t *testing.T, _ *world, _ *Run, s *Sweep) {
		var h *Finding
		for i := range s.Findings {
			if s.Findings[i].Kind == FindHysteresis {
				h = &s.Findings[i]
			}
		}
		if h == nil || h.Before != "10" || h.After != "29" || math.Abs(h.NS+30) > 2 || !strings.Contains(h.Text, "the way down is faster") {
			t.Errorf("found:\n%s", named(s))
		}
	})
}

func TestSweepEndsInOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(t *testing.T, r *Run)
		want string
	}{
		{"by its own word", func(t *testing.T, r *Run) {
			if _, err := r.Do("sweep stop"); err != nil {
				t.Error(err)
			}
		}, "interrupted"},
		{"by the end of the run", func(t *testing.T, r *Run) { r.Stop() }, "interrupted"},
		{"by a turn of another knob", func(t *testing.T, r *Run) {
			if _, err := r.Do("burst 8"); err != nil {
				t.Error(err)
			}
		}, "another knob was turned"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
				start(t, r)
				if _, err := r.Do("sweep size 60..128"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(10500 * time.Millisecond)
				if _, err := r.Do("sweep size 60..128"); !errors.Is(err, knob.ErrUsage) {
					t.Errorf("a second one: %v", err)
				}
				c.end(t, r)
				time.Sleep(2 * time.Second)
				s := r.Tick().Sweep
				if s.Running || !strings.Contains(s.Ended, c.want) || len(s.Points) < 10 || len(s.Points) > 11 || w.cfg.Frame.Size != 60 {
					t.Errorf("running %v, ended %q with %d points, size %d", s.Running, s.Ended, len(s.Points), w.cfg.Frame.Size)
				}
				if _, err := r.Do("sweep stop"); !errors.Is(err, knob.ErrUsage) {
					t.Errorf("no sweep to stop: %v", err)
				}
			})
		})
	}
}

func TestSweepInAScript(t *testing.T) {
	inBubble(t, func(_ *world, o *Options) {
		o.Script = script(t, "rate 10kpps\nwait 3s\nmark A\nsweep size 60..69 dwell 500ms\nwait 3s\nmark B")
	}, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		for !r.Due().IsZero() {
			time.Sleep(time.Until(r.Due()))
			r.Tick()
			if r.isRunning() {
				continue
			}
			break
		}
		s := r.Result()
		if s.Err != nil || len(s.Marks) != 2 || s.Marks[1].N != 3 || s.Marks[1].Label != "after sweep size 60..69" {
			t.Errorf("%v, marks %+v", s.Err, s.Marks)
		}
		for _, e := range s.Epochs {
			if strings.HasPrefix(e.Label, "sweep") {
				t.Errorf("samples of many sizes in one epoch: %+v", e)
			}
		}
	})
}

func TestSweepRefuses(t *testing.T) {
	inBubble(t, func(_ *world, o *Options) { o.Script = nil }, func(t *testing.T, w *world, r *Run) {
		if _, err := r.Do("sweep size 60..128"); !errors.Is(err, knob.ErrUsage) || !strings.Contains(err.Error(), "start first") {
			t.Errorf("before the start: %v", err)
		}
		start(t, r)
		for _, line := range []string{"sweep size 60..2000", "sweep queues 1..2", "sweep rings.tx 64..128"} {
			if _, err := r.Do(line); !errors.Is(err, knob.ErrUsage) {
				t.Errorf("%s: %v", line, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s, err := r.Sweep(ctx, knob.Sweep{Knob: "size", From: "60", To: "70", Dwell: time.Second})
		if !errors.Is(err, context.Canceled) || s == nil || len(s.Points) != 0 || w.cfg.Frame.Size != 60 {
			t.Errorf("%+v, %v", s, err)
		}
	})
	for _, c := range []struct{ name, line string }{{"a wrong end", "sweep size 60..2000"}, {"a wrong knob", "sweep segment a..b"}} {
		if cmd, err := knob.ParseLine(c.line); err == nil {
			if err := cmd.Check(&knob.Bench{}); err == nil {
				t.Errorf("%s: accepted", c.name)
			}
		}
	}
}

func TestCompareAnyTwo(t *testing.T) {
	inBubble(t, func(_ *world, o *Options) {
		o.Script = script(t, "rate 10kpps\nwait 3s\nmark one by one\nrate 20kpps\nburst 8\nwait 3s\nmark B\nsize 100\nwait 2s\n")
	}, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		for range 8 {
			tick(t, r)
		}
		for _, c := range []struct{ line, want string }{
			{"diff", "B is faster than one by one by 50,000.0 ± 0.0 ns/packet (95 %): rate 10kpps -> 20kpps, burst 1 -> 8"},
			{"diff one by one, B", "B is faster than one by one by 50,000.0 ± 0.0 ns/packet (95 %): rate 10kpps -> 20kpps, burst 1 -> 8"},
			{"diff 2 B", "`rate 20kpps, burst 8` and B do not differ: 0.0 ± 0.0 ns/packet (95 %): all knobs alike"},
			{"diff 2 3", "do not differ: 0.0 ± 0.0 ns/packet (95 %): size 60 -> 100"},
		} {
			got, err := r.Do(c.line)
			if err != nil || !strings.HasSuffix(strings.TrimSuffix(got, "; regime direct"), c.want) {
				t.Errorf("%s: %q %v, want %q", c.line, got, err, c.want)
			}
		}
		if _, err := r.Do("diff A 99"); !errors.Is(err, knob.ErrUsage) || !strings.Contains(err.Error(), "the marks one by one, B, and the epochs 1 to 3") {
			t.Errorf("a mark that is none: %v", err)
		}
	})
}
