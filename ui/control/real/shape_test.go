package real

import (
	"errors"
	"testing"
	"time"

	"wirespeed/engine"
	"wirespeed/nic/lab"
	"wirespeed/nic/lab/labtest"
	"wirespeed/presets/knob"
	"wirespeed/ui/control"
)

// openLab is a run on a pair as the embedded lab has it.
func openLab(t *testing.T, limit engine.Limit, settings ...string) *control.Run {
	t.Helper()
	labtest.Pair(t, lab.Sender, lab.Receiver, 4)
	return run(t, control.Options{
		Lab: true, Foreign: lab.Foreign, Device: lab.Sender, Rx: lab.Receiver, Interval: 200 * time.Millisecond, Limit: limit,
	}, settings...)
}

// A shaped link takes as long for its frames as a wire would: never less but for what an idle one lets through at once, and more only on a machine
// that has no time for it.
func TestShapedLink(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings []string
		wire     float64 // bytes of a frame on the wire
	}{
		{"single frames", []string{"burst 1"}, 84},
		{"bursts", []string{"burst 64"}, 84},
		{"large ones", []string{"size 1514"}, 1538},
		{"large ones with tags", []string{"size 1518", "vlan 5"}, 1542},
	} {
		t.Run(c.name, func(t *testing.T) {
			const speed, slack = 100e6, 5e-3 // the bucket's time
			count := uint64(0.1 * speed / 8 / c.wire)
			r := openLab(t, engine.Limit{Count: count}, append(c.settings, "link 100Mbit")...)
			begun := time.Now()
			start(t, r)
			v := until(t, r, "frames", func(v *control.View) bool { return v.Ladder.Taken > 0 })
			if !v.Device.Shaped || v.Device.Speed != speed || v.Device.Link.Qdisc != "tbf" && v.Qdisc.Kind != "tbf" {
				t.Errorf("the header says %+v, qdisc %+v", v.Device, v.Qdisc)
			}
			<-r.Done() // and the ring is empty
			took := time.Since(begun)
			s := r.Result()
			if s.Err != nil || s.RxPackets == nil || *s.RxPackets != count {
				t.Fatalf("%v, %+v", s.Err, s.Ladder)
			}
			least := time.Duration((float64(count)*c.wire*8/speed - slack) * 0.995 * float64(time.Second))
			if took < least {
				t.Errorf("%d frames took %v, and a wire takes %v", count, took, least)
			}
			t.Logf("%d frames in %v, %v at least", count, took, least)
		})
	}
}

func TestLinkTurnedWhileFramesFlow(t *testing.T) {
	r := openLab(t, engine.Limit{}, "rate 10kpps", "burst 16")
	start(t, r)
	until(t, r, "sending", func(v *control.View) bool { return v.Ladder.Taken > 100 })
	said, err := r.Do("link 10Mbit")
	const want = "link none -> 10Mbit; path bypass -> qdisc: the bypass would pass the shaper by; " +
		"segment software -> off: the shaper charges a super-frame as one frame"
	if err != nil || said != want {
		t.Errorf("said %q, %v, want %q", said, err, want)
	}
	for _, line := range []string{"path bypass", "segment software", "qdisc mq"} {
		if _, err := r.Do(line); !errors.Is(err, knob.ErrUnavailable) {
			t.Errorf("%s beside a link: %v", line, err)
		}
	}
	if _, err := r.Do("rate 200%"); err == nil {
		t.Error("200 % is taken")
	}
	for _, line := range []string{"rate 50%", "mtu 1400", "size 1414", "link 20Mbit"} {
		if _, err := r.Do(line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	was := until(t, r, "a look", func(*control.View) bool { return true }).Ladder.Arrived
	until(t, r, "large frames", func(v *control.View) bool { return *v.Ladder.Arrived > *was+100 })
	if _, err := r.Do("link none"); err == nil {
		t.Error("a link is taken away from a rate in percent")
	}
	for _, line := range []string{"rate 10kpps", "link none", "path bypass"} {
		if _, err := r.Do(line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	if v := r.Tick(); v.Device.Shaped || v.Device.Speed != 0 || v.Qdisc.Kind == "tbf" {
		t.Errorf("without a link the header says %+v, qdisc %+v", v.Device, v.Qdisc)
	}
}
