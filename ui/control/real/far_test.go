package real

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"wirespeed/engine"
	"wirespeed/engine/far"
	"wirespeed/nic"
	"wirespeed/nic/lab"
	"wirespeed/nic/lab/labtest"
	"wirespeed/ui/control"
	"wirespeed/ui/report"
)

// key is a key of the test's own, from a file.
func key(t *testing.T, text string) far.Key {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := far.ReadKey(file)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// farEnd opens the receiving end on v1, which listens on the loopback device.
func farEnd(t *testing.T, k far.Key, o control.FarEndOptions) *control.FarEnd {
	t.Helper()
	lo, err := netlink.LinkByName("lo")
	if err == nil {
		err = netlink.LinkSetUp(lo)
	}
	if err != nil {
		t.Fatal(err)
	}
	o.Device, o.Key, o.Interval = "v1", k, 50*time.Millisecond
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	f, err := control.NewFarEnd(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// sender sends to nobody's address, with a far end and no receiver of its own.
func sender(t *testing.T, to string, k far.Key, l engine.Limit) *control.Run {
	t.Helper()
	r := run(t, control.Options{Device: "v0", Far: to, FarKey: k, Limit: l}, "dst-mac 02:00:00:00:00:fe", "rate 20kpps", "receiver off")
	until(t, r, "the far end answers", func(v *control.View) bool { return v.Far != nil && v.Far.Err == "" })
	return r
}

// TestFarEndToTheFrame: what the far end of two machines says of a run is what the sender's device counted, one run after the other.
func TestFarEndToTheFrame(t *testing.T) {
	for _, c := range []struct {
		name string
		o    control.FarEndOptions
	}{
		{"counting", control.FarEndOptions{}},
		{"verifying", control.FarEndOptions{Verify: true}},
		{"in the driver", control.FarEndOptions{Sink: engine.Sink{XDP: true}}},
		{"in the driver, a part verified", control.FarEndOptions{Verify: true, Sink: engine.Sink{XDP: true, Every: 10}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			labtest.Pair(t, "v0", "v1", 1)
			if err := engine.SinkAvailable(); c.o.Sink.XDP && err != nil {
				c.o.Device = "v1"
				if _, err := control.NewFarEnd(c.o); !errors.Is(err, nic.ErrNotPermitted) || strings.Contains(err.Error(), "\n") {
					t.Errorf("without the rights: %v", err)
				}
				return
			}
			k := key(t, "the key of this test")
			f := farEnd(t, k, c.o)
			r := sender(t, f.Listening(), k, engine.Limit{Count: 4321})
			for range 2 {
				start(t, r)
				<-r.Done()
				s := r.Result()
				if s.Err != nil || s.Far == nil || s.Far.Arrived == nil || *s.Far.Arrived != 4321 || s.Ladder.Far == nil || *s.Ladder.Far != 4321 {
					t.Fatalf("%v, far %+v, ladder %+v", s.Err, s.Far, s.Ladder)
				}
				if c.o.Verify && !c.o.Sink.XDP && (s.Far.Lost == nil || *s.Far.Lost != 0 || s.Far.Reordered == nil || *s.Far.Reordered != 0) {
					t.Errorf("far %+v", s.Far)
				}
				if s.Far.Received == nil || *s.Far.Received < 4321 {
					t.Errorf("its device: %+v", s.Far)
				}
			}
			if v := f.Tick(); c.o.Sink.Every > 0 && (v.Verified.Right != 2*432 || v.Verified.Lost() != 0) {
				t.Errorf("verified %+v, want one in ten", v.Verified)
			}
			if v := f.Tick(); v.Arrived == nil || *v.Arrived != 2*4321 || v.Visits.Welcomed != 1 {
				t.Errorf("at the far end itself: %+v", v)
			}
		})
	}
}

// TestFarEndGoesAway: the sender goes on, and what it knew becomes unknown; the one that comes back is another.
func TestFarEndGoesAway(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	k := key(t, "the key of this test")
	f := farEnd(t, k, control.FarEndOptions{})
	address := f.Listening()
	r := sender(t, address, k, engine.Limit{})
	start(t, r)
	until(t, r, "frames arrive", func(v *control.View) bool { return v.Ladder.Far != nil && *v.Ladder.Far > 100 })
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	v := until(t, r, "the loss is told", func(v *control.View) bool { return v.Far.Err != "" })
	if v.State != engine.Running || v.Ladder.Far != nil || v.Far.Age == nil || !strings.Contains(strings.Join(v.Ladder.Gaps, "\n"), "far "+address+" unknown: ") {
		t.Errorf("%v, far %+v, ladder %+v", v.State, v.Far, v.Ladder)
	}
	farEnd(t, k, control.FarEndOptions{Listen: address})
	until(t, r, "another sink is no continuation", func(v *control.View) bool { return strings.Contains(v.Far.Err, "started anew") })
	r.Reset()
	until(t, r, "the reset counts anew", func(v *control.View) bool { return v.Ladder.Far != nil && *v.Ladder.Far > 100 })
	if err := r.Stop(); err != nil {
		t.Error(err)
	}
}

// TestFarEndWithAnotherKey: the run goes on without.
func TestFarEndWithAnotherKey(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	f := farEnd(t, key(t, "the key of this test"), control.FarEndOptions{})
	r := run(t, control.Options{Device: "v0", Far: f.Listening(), FarKey: key(t, "quite some other key"), Limit: engine.Limit{Count: 100}}, "dst-mac 02:00:00:00:00:fe", "receiver off")
	start(t, r)
	<-r.Done()
	if s := r.Result(); s.Err != nil || s.Ladder.Far != nil || s.Ladder.Taken != 100 || s.Far.Err != "refused: is the key the same at both ends?" {
		t.Errorf("%v, far %+v, ladder %+v", s.Err, s.Far, s.Ladder)
	}
	if v := f.Tick(); v.Visits.WrongKey == 0 || v.Visits.Welcomed != 0 {
		t.Errorf("visits %+v", v.Visits)
	}
}

// TestSinkReport: the three formats of a receiving end, its frames counted by the sender.
func TestSinkReport(t *testing.T) {
	for _, format := range report.Formats {
		t.Run(format, func(t *testing.T) {
			labtest.Pair(t, "v0", "v1", 1)
			f := farEnd(t, key(t, "the key of this test"), control.FarEndOptions{Verify: true})
			ctx, stop := context.WithCancel(context.Background())
			var out, log bytes.Buffer
			done := make(chan error)
			go func() { done <- report.Sink(ctx, f, report.Options{Format: format, Out: &out, Log: &log}) }()
			r := run(t, control.Options{Device: "v0", Limit: engine.Limit{Count: 3000}}, "dst-mac 02:00:00:00:00:fe", "rate 10kpps", "receiver off")
			start(t, r)
			<-r.Done()
			time.Sleep(200 * time.Millisecond) // some samples without frames
			stop()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			last := lines[len(lines)-1]
			switch format {
			case "line":
				if !strings.HasPrefix(lines[0], "instant rx:") || !strings.Contains(last, "usec, 3000 frames arrived, 3000 verified, 0 lost") {
					t.Errorf("%s", out.String())
				}
			case "json":
				var end struct {
					Type      string
					RxPackets uint64 `json:"rx_packets"`
					Receiver  struct{ Verified, Lost *uint64 }
				}
				if err := json.Unmarshal([]byte(last), &end); err != nil || end.Type != "summary" || end.RxPackets != 3000 || *end.Receiver.Verified != 3000 || *end.Receiver.Lost != 0 {
					t.Errorf("%v %s", err, last)
				}
			case "csv":
				if n := strings.Count(lines[0], ","); n < 20 || strings.Count(last, ",") != n {
					t.Errorf("%s", out.String())
				}
			}
			if !strings.Contains(log.String(), "listening on 127.0.0.1:") {
				t.Errorf("log %q", log.String())
			}
		})
	}
}

// TestSinkWhoseDeviceGoes ends with that reason.
func TestSinkWhoseDeviceGoes(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	f := farEnd(t, key(t, "the key of this test"), control.FarEndOptions{Verify: true})
	time.AfterFunc(200*time.Millisecond, func() { _ = lab.Delete("v0") })
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := report.Sink(ctx, f, report.Options{Out: &out}); !errors.Is(err, nic.ErrNotFound) || !strings.Contains(out.String(), "Sink: FAILED: ") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
