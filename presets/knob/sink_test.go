package knob

import (
	"errors"
	"testing"

	"wirespeed/engine"
)

func TestSink(t *testing.T) {
	own := func(driver string) *Bench {
		b := gigabit()
		b.Rx = Receiving{Driver: driver, MAC: *b.RxMAC}
		return b
	}
	other := func(driver string) *Bench {
		b := own(driver)
		b.Config.Frame.DstMAC[5]++
		return b
	}
	for _, c := range []struct {
		name, text string
		bench      *Bench
		want       engine.Sink
		detail     string
	}{
		{"off", "off", own("igb"), engine.Sink{}, "-"},
		{"on", "xdp", own("igb"), engine.Sink{XDP: true}, "in the driver"},
		{"some go up", "xdp/100", own("igb"), engine.Sink{XDP: true, Every: 100}, "1 of 100 goes up"},
		{"veth, its own address", "xdp", own("veth"), engine.Sink{XDP: true}, "in the driver"},
		{"veth, a foreign address", "xdp", other("veth"), engine.Sink{XDP: true}, "slower here"},
		{"a foreign address elsewhere", "xdp", other("igb"), engine.Sink{XDP: true}, "in the driver"},
	} {
		t.Run(c.name, func(t *testing.T) {
			set(t, c.bench, "sink", c.text)
			k := find(t, "sink")
			if c.bench.Config.Sink != c.want || k.Get(c.bench) != c.text || k.Detail(c.bench) != c.detail {
				t.Errorf("%+v %q %q, want %+v %q", c.bench.Config.Sink, k.Get(c.bench), k.Detail(c.bench), c.want, c.detail)
			}
			if k.Turn(c.bench, 1, false) == k.Get(c.bench) {
				t.Error("it does not turn")
			}
		})
	}
}

// TestSinkRefused: for want of rights is no wrong usage.
func TestSinkRefused(t *testing.T) {
	b := gigabit()
	b.Rx = Receiving{NoXDP: "run it as root", Denied: true}
	_, err := find(t, "sink").Set(b, "xdp")
	if !errors.Is(err, engine.ErrNotPermitted) || errors.Is(err, ErrUsage) || err.Error() != "sink xdp: run it as root" {
		t.Errorf("%v", err)
	}
	b.Rx.Denied = false
	if _, err := find(t, "sink").Set(b, "xdp"); !errors.Is(err, ErrUnavailable) || errors.Is(err, engine.ErrNotPermitted) {
		t.Errorf("%v", err)
	}
	set(t, b, "sink", "off")
}
