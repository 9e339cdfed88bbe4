package control

import (
	"strings"
	"testing"
	"time"

	"wirespeed/engine"
	"wirespeed/nic"
)

func down(l *nic.Link) { l.Carrier = false }
func up(l *nic.Link)   { l.Carrier = true }

func TestLostWithoutCarrier(t *testing.T) {
	for _, c := range []struct {
		name  string
		late  time.Duration
		until time.Duration // of the loss, since the start
		tick  time.Duration // a tick that long before the notice; 0 none
		want  uint64
	}{
		{"the notice comes 3 ms late", 3 * time.Millisecond, 2 * time.Second, 0, 3000},
		{"a tick sees phantom frames before the notice", 3 * time.Millisecond, 2 * time.Second, time.Millisecond, 3000},
		{"at once", 0, 2 * time.Second, 0, 0},
		{"before the first sample", 5 * time.Millisecond, 20 * time.Millisecond, 0, 5000},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
				start(t, r)
				for time.Since(r.started) < c.until-time.Second {
					tick(t, r)
				}
				time.Sleep(time.Until(r.started.Add(c.until)))
				if c.tick > 0 {
					time.AfterFunc(c.late-c.tick, func() { r.Tick() })
				}
				w.setLink(c.late, down)
				v := r.Tick()
				if v.LostNoCarrier == nil || *v.LostNoCarrier != c.want {
					t.Fatalf("lost %v, want %d", deref(v.LostNoCarrier), c.want)
				}
				if v.State != engine.NoCarrier || !strings.HasPrefix(v.Why, "no carrier on tx0 for ") {
					t.Errorf("%v: %q", v.State, v.Why)
				}
				gap := "taken, not at the device: " + frames(c.want) + " lost: no carrier"
				if c.want > 0 && !contains(v.Ladder.Gaps, gap) {
					t.Errorf("gaps %q do not say %q", v.Ladder.Gaps, gap)
				}

				// The same again: each loss adds to the account.
				time.Sleep(time.Second)
				w.setLink(time.Millisecond, up)
				tick(t, r)
				tick(t, r)
				time.Sleep(300 * time.Millisecond)
				w.setLink(2*time.Millisecond, down)
				if v := r.Tick(); v.LostNoCarrier == nil || *v.LostNoCarrier != c.want+2000 {
					t.Errorf("lost %v, want %d", deref(v.LostNoCarrier), c.want+2000)
				}
			})
		})
	}
}

func deref(n *uint64) any {
	if n == nil {
		return "unknown"
	}
	return *n
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

func TestLossIsUnknownWhereTheDeviceDoesNotCount(t *testing.T) {
	inBubble(t, func(w *world, _ *Options) { w.ifb, w.link.Driver = true, "ifb" }, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		if v := tick(t, r); v.LostNoCarrier == nil || *v.LostNoCarrier != 0 {
			t.Errorf("lost %v before any loss", deref(v.LostNoCarrier))
		}
		w.setLink(time.Millisecond, down)
		if v := r.Tick(); v.LostNoCarrier != nil {
			t.Errorf("lost %d, want unknown", *v.LostNoCarrier)
		}
	})
}

func TestAnOutageIsAnEpochOfItsOwn(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		tick(t, r)
		time.Sleep(500 * time.Millisecond)
		w.setLink(0, down)
		tick(t, r)
		v := tick(t, r)
		if v.Epoch.Label != "link down" || v.Sample.TX.PPS != 0 || v.Sample.TX.NS != nil || v.Sample.N != 1 {
			t.Errorf("epoch %+v, sample %+v", v.Epoch, v.Sample)
		}
		time.Sleep(500 * time.Millisecond)
		w.setLink(0, up)
		tick(t, r)
		v = tick(t, r)
		if v.Epoch.Label != "link up" || !near(v.Epoch.PPS, 1e6, 2) || v.Sample.N != 1 {
			t.Errorf("epoch %+v", v.Epoch)
		}
		if v.Epochs[0].Label != "start" || !near(v.Epochs[0].PPS, 1e6, 2) {
			t.Errorf("the epoch before is %+v", v.Epochs[0])
		}
		said := ""
		for _, e := range v.Log {
			said += e.Text + "; "
		}
		if !strings.Contains(said, "link down; ") || !strings.Contains(said, "link up 1 Gbit/s full; ") {
			t.Errorf("the log says %s", said)
		}
	})
}

func TestDeviceGoneEndsTheRun(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		tick(t, r)
		w.watch(nic.Change{Gone: true})
		<-r.Done()
		s := r.Result()
		if s.Err == nil || s.Err.Error() != "tx0 is gone: the interface was removed" {
			t.Errorf("error %v", s.Err)
		}
	})
}

func TestResetKeepsTheLossExact(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
		start(t, r)
		tick(t, r)
		w.setLink(time.Millisecond, down)
		w.setLink(0, up)
		time.Sleep(time.Second)
		r.Reset()
		tick(t, r)
		w.setLink(4*time.Millisecond, down)
		if v := r.Tick(); v.LostNoCarrier == nil || *v.LostNoCarrier != 4000 {
			t.Errorf("lost %v since the reset, want 4000", deref(v.LostNoCarrier))
		}
	})
}
