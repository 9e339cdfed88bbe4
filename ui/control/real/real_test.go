package real

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"go.uber.org/goleak"

	"wirespeed/engine"
	"wirespeed/nic/lab"
	"wirespeed/nic/lab/labtest"
	"wirespeed/ui/control"
	"wirespeed/ui/report"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// open makes a pair of devices and a run on it, and expects that Close leaves nothing behind.
func open(t testing.TB, queues int, o control.Options, settings ...string) *control.Run {
	t.Helper()
	labtest.Pair(t, "v0", "v1", queues)
	return run(t, o, settings...)
}

func run(t testing.TB, o control.Options, settings ...string) *control.Run {
	t.Helper()
	before := goleak.IgnoreCurrent()
	if o.Device == "" {
		o.Device, o.Rx = "v0", "v1"
	}
	for _, s := range settings {
		name, value, _ := strings.Cut(s, " ")
		o.Settings = append(o.Settings, control.Setting{Knob: name, Value: value})
	}
	r, err := control.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		for range 2 { // again it does nothing
			if err := r.Close(ctx); err != nil {
				t.Errorf("close: %v", err)
			}
		}
		goleak.VerifyNone(t, before)
	})
	return r
}

func start(t testing.TB, r *control.Run) {
	t.Helper()
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
}

// until looks at a run until what it waits for is true.
func until(t *testing.T, r *control.Run, what string, f func(v *control.View) bool) *control.View {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		v := r.Tick()
		switch {
		case f(v):
			return v
		case time.Now().After(deadline):
			t.Fatalf("%s: not within 10 s; state %v %q, ladder %+v", what, v.State, v.Why, v.Ladder)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func isState(s engine.State) func(*control.View) bool {
	return func(v *control.View) bool { return v.State == s }
}

func TestEveryFrameIsAccountedFor(t *testing.T) {
	for _, c := range []struct {
		name     string
		queues   int
		limit    engine.Limit
		settings []string
	}{
		{"a count", 1, engine.Limit{Count: 12_345}, nil},
		{"a count over two queues", 2, engine.Limit{Count: 12_345}, []string{"queues 2", "path qdisc"}},
		{"a rate", 1, engine.Limit{Duration: time.Second}, []string{"rate 10kpps"}},
		{"bursts", 1, engine.Limit{Duration: time.Second}, []string{"rate 10kpps", "burst 32", "size 1514"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := open(t, c.queues, control.Options{Limit: c.limit}, c.settings...)
			start(t, r)
			<-r.Done()
			s := r.Result()
			if s.Err != nil {
				t.Fatal(s.Err)
			}
			l := s.Ladder
			if l.Device == nil || l.Arrived == nil || *l.Device != l.Taken || *l.Arrived != l.Taken || l.Ring != l.Taken {
				t.Errorf("ladder %+v, device %d, arrived %d", l, *l.Device, *l.Arrived)
			}
			if c.limit.Count > 0 && l.Taken != c.limit.Count {
				t.Errorf("%d frames, want exactly %d", l.Taken, c.limit.Count)
			}
			if l.Asked != nil && *l.Asked != l.Ring+s.Missed {
				t.Errorf("asked %d, in the ring %d, missed %d", *l.Asked, l.Ring, s.Missed)
			}
			if s.TxPackets != l.Taken || s.TxSource != "device" || s.RxPackets == nil || *s.RxPackets != l.Taken {
				t.Errorf("summary %+v", s)
			}
		})
	}
}

// setUp turns an interface on or off, by its name.
func setUp(t *testing.T, name string, up bool) {
	t.Helper()
	l, err := netlink.LinkByName(name)
	if err == nil {
		if up {
			err = netlink.LinkSetUp(l)
		} else {
			err = netlink.LinkSetDown(l)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// kernelTx reads tx_packets past all of our own code.
func kernelTx(t *testing.T, name string) (n uint64) {
	t.Helper()
	l, err := netlink.LinkByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return l.Attrs().Statistics.TxPackets
}

func TestALinkThatGoesAndComesBack(t *testing.T) {
	for _, path := range []string{"bypass", "qdisc"} {
		for _, end := range []string{"v0", "v1"} {
			t.Run(path+" "+end, func(t *testing.T) {
				r := open(t, 1, control.Options{}, "path "+path)
				before := kernelTx(t, "v0")
				start(t, r)
				for range 3 {
					until(t, r, "sending", func(v *control.View) bool { return v.Fast.TX.PPS > 1000 })
					setUp(t, end, false)
					v := until(t, r, "no carrier", isState(engine.NoCarrier))
					if !strings.HasPrefix(v.Why, "no carrier on v0") {
						t.Errorf("why: %q", v.Why)
					}
					setUp(t, end, true)
					until(t, r, "running again", isState(engine.Running))
				}
				until(t, r, "sending", func(v *control.View) bool { return v.Fast.TX.PPS > 1000 })
				if err := r.Stop(); err != nil {
					t.Fatal(err)
				}
				s := r.Result()
				left := kernelTx(t, "v0") - before
				if s.LostNoCarrier == nil || s.Ladder.Taken != left+*s.LostNoCarrier {
					t.Errorf("taken %d, left %d, lost %v: what did not leave is lost, and nothing else", s.Ladder.Taken, left, s.LostNoCarrier)
				}
				t.Logf("lost %d of %d", *s.LostNoCarrier, s.Ladder.Taken)
			})
		}
	}
}

func TestAnInterfaceThatIsRemoved(t *testing.T) {
	r := open(t, 1, control.Options{}, "rate 10kpps")
	start(t, r)
	until(t, r, "sending", func(v *control.View) bool { return v.Ladder.Taken > 100 })
	l, err := netlink.LinkByName("v0")
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.LinkDel(l); err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("the run goes on")
	}
	if err := r.Result().Err; err == nil || err.Error() != "v0 is gone: the interface was removed" {
		t.Errorf("error %v", err)
	}
}

func TestADeviceThatCountsNothingAsTransmitted(t *testing.T) {
	ifb := &netlink.Ifb{LinkAttrs: netlink.LinkAttrs{Name: "i0"}}
	if err := netlink.LinkAdd(ifb); err != nil {
		t.Skipf("this kernel has no ifb: %v", err)
	}
	t.Cleanup(func() { netlink.LinkDel(ifb) })
	setUp(t, "i0", true)
	mac, _ := net.ParseMAC("02:00:00:00:00:fe")
	r := run(t, control.Options{Device: "i0", Limit: engine.Limit{Count: 50_000}}, "dst-mac "+mac.String(), "rate 100kpps")
	start(t, r)
	<-r.Done()
	v := r.Last()
	s := r.Result()
	if s.TxSource != "engine" || s.TxPackets != 50_000 || s.Ladder.Device != nil || v.Sample.Valid && v.Sample.TX.PPS == 0 {
		t.Errorf("summary %+v, sample %+v", s, v.Sample)
	}
}

func TestAChangeWhileFramesFlow(t *testing.T) {
	r := open(t, 1, control.Options{Interval: 200 * time.Millisecond}, "rate 20kpps")
	start(t, r)
	until(t, r, "two samples", func(v *control.View) bool { return v.Epoch.N >= 2 })
	for _, line := range []string{"rate 2kpps", "path qdisc", "size 100"} {
		if _, err := r.Do(line); err != nil {
			t.Fatal(err)
		}
	}
	v := until(t, r, "two samples of the next", func(v *control.View) bool {
		return strings.HasSuffix(v.Epoch.Label, "size 100") && v.Epoch.N >= 2
	})
	if v.Epoch.PPS > 3000 {
		t.Errorf("the epoch at 2kpps has %f pps on the average", v.Epoch.PPS)
	}
	if v.Epochs[0].Label != "start" || v.Epochs[0].PPS < 3000 {
		t.Errorf("the epoch before is %+v", v.Epochs[0])
	}
}

func TestReportOverTheLab(t *testing.T) {
	r := open(t, 4, control.Options{
		Lab: true, Foreign: lab.Foreign, Device: "v0", Rx: "v1", Interval: 200 * time.Millisecond, Limit: engine.Limit{Duration: time.Second},
	}, "rate 5kpps")
	var out bytes.Buffer
	if err := report.Run(t.Context(), r, report.Options{Format: "json", Out: &out}); err != nil {
		t.Fatal(err)
	}
	samples, last := 0, map[string]any{}
	for line := range strings.Lines(out.String()) {
		last = map[string]any{}
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if last["type"] == "sample" {
			samples++
		}
	}
	// A machine that takes the CPU away while the ring drains makes the last sample longer than half an interval.
	if samples != 5 && samples != 6 || last["type"] != "summary" || last["rx_packets"] != last["tx_packets"] {
		t.Errorf("%d samples, want 5; last %v", samples, last)
	}
}

func BenchmarkTick(b *testing.B) {
	r := open(b, 4, control.Options{Console: true}, "rate 1kpps")
	start(b, r)
	for b.Loop() {
		r.Tick()
	}
}
