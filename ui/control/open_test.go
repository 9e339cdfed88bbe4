package control

import (
	"errors"
	"strings"
	"testing"

	"wirespeed/engine"
	"wirespeed/nic"
	"wirespeed/presets/knob"
)

func TestRefusals(t *testing.T) {
	to := []Setting{{Knob: "dst-mac", Value: "02:00:00:00:00:02"}}
	and := func(name, value string) []Setting { return append(to[:1:1], Setting{Knob: name, Value: value}) }
	for _, c := range []struct {
		name    string
		prepare func(*world, *Options)
		kind    error
		says    string
	}{
		{"no such device", func(_ *world, o *Options) { o.Device = "nosuchdev" }, nic.ErrNotFound, ""},
		{"no such receiver", func(_ *world, o *Options) { o.Rx = "nosuchdev" }, nic.ErrNotFound, "receiver: "},
		{
			"the operator's own way in", func(w *world, _ *Options) { w.protect = "tx0 carries the default route" },
			nic.ErrNotPermitted, "tx0 carries the default route: sending on it could cut you off; --i-know sends all the same",
		},
		{"nowhere to send", func(_ *world, o *Options) { o.Settings = nil }, knob.ErrUsage, "--dst-mac"},
		{"too long", func(_ *world, o *Options) { o.Settings = and("size", "1515") }, knob.ErrUsage, "1514"},
		{"no such knob", func(_ *world, o *Options) { o.Settings = and("sise", "60") }, knob.ErrUsage, "sise"},
		{"percent of an unknown speed", func(w *world, o *Options) {
			w.link.Speed, w.link.SpeedWhy = 0, "veth has no speed of its own"
			o.Settings = and("rate", "40%")
		}, knob.ErrUsage, "veth has no speed of its own"},
		{"a receiver without a device", func(_ *world, o *Options) { o.Settings = and("receiver", "count") }, knob.ErrUsage, "--rx"},
		{"a wrong line of a script", func(_ *world, o *Options) {
			o.Script = script(t, "rate 1kpps\nsize 9999\n")
		}, knob.ErrUsage, "s:2: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			o := Options{Device: "tx0", Settings: to}
			c.prepare(w, &o)
			_, err := open(o, w.parts())
			if err == nil {
				t.Fatal("it opened")
			}
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want one line of kind %q with %q", err, c.kind, c.says)
			}
		})
	}
}

func script(t *testing.T, text string) []Step {
	t.Helper()
	steps, err := knob.ParseScript("s", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

func TestIKnow(t *testing.T) {
	inBubble(t, func(w *world, o *Options) { w.protect, o.IKnow = "carries the default route", true },
		func(t *testing.T, w *world, r *Run) { start(t, r) })
}

func TestWhereFramesGo(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		to   string
		rate string
	}{
		{"to the receiver", Options{Device: "tx0", Rx: "rx0"}, "02:00:00:00:00:01", "max"},
		{"to nobody in the lab", Options{Device: "tx0", Rx: "rx0", Lab: true, Foreign: [6]byte{2, 0, 0, 0, 0, 0xfe}}, "02:00:00:00:00:fe", "max"},
		{
			"the lab's console spares the CPU",
			Options{Device: "tx0", Rx: "rx0", Lab: true, Console: true, Foreign: [6]byte{2, 0, 0, 0, 0, 0xfe}},
			"02:00:00:00:00:fe", "100kpps",
		},
		{
			"a flag overrules all of it",
			Options{
				Device: "tx0", Rx: "rx0", Lab: true, Console: true,
				Settings: []Setting{{Knob: "rate", Value: "5kpps"}, {Knob: "dst-mac", Value: "02:00:00:00:00:77"}},
			},
			"02:00:00:00:00:77", "5kpps",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(_ *world, o *Options) { *o = c.o }, func(t *testing.T, w *world, r *Run) {
				if got := w.cfg.Frame.DstMAC.String(); got != c.to {
					t.Errorf("frames go to %s, want %s", got, c.to)
				}
				if got := w.cfg.Rate.String(); got != c.rate {
					t.Errorf("rate %s, want %s", got, c.rate)
				}
				if !w.cfg.Receive {
					t.Error("nothing counts what arrives")
				}
			})
		})
	}
}

func TestRxIsTheLabsReceiverAndElseADevice(t *testing.T) {
	t.Run("lab", func(t *testing.T) {
		inBubble(t, func(_ *world, o *Options) { o.Lab, o.Rx, o.Foreign = true, "rx0", [6]byte{2, 0, 0, 0, 0, 0xfe} },
			func(t *testing.T, w *world, r *Run) {
				start(t, r)
				if v := tick(t, r); v.Sample.RxDev != "rx0" || !near(v.Sample.RX.PPS, 1e6, 2) {
					t.Errorf("rx %s %f", v.Sample.RxDev, v.Sample.RX.PPS)
				}
				if _, err := r.Do("receiver off"); err != nil {
					t.Fatal(err)
				}
				tick(t, r)
				if v := tick(t, r); v.Sample.RX.OK || v.Ladder.Arrived != nil {
					t.Errorf("without a receiver: rx %+v arrived %v", v.Sample.RX, deref(v.Ladder.Arrived))
				}
			})
	})
	t.Run("the device itself", func(t *testing.T) {
		inBubble(t, func(w *world, _ *Options) { w.ifb = true }, func(t *testing.T, w *world, r *Run) {
			start(t, r)
			if v := tick(t, r); v.Sample.RxDev != "tx0" || !near(v.Sample.RX.PPS, 1e6, 2) {
				t.Errorf("rx %s %f", v.Sample.RxDev, v.Sample.RX.PPS)
			}
		})
	})
}

func TestStartAgain(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world, r *Run) {
		for range 3 {
			start(t, r)
			v := tick(t, r)
			if v.Sample.N != 1 || v.Sample.Epoch != 1 || v.Ladder.Taken != 1e6 || v.State != engine.Running {
				t.Errorf("%v: n %d epoch %d taken %d", v.State, v.Sample.N, v.Sample.Epoch, v.Ladder.Taken)
			}
			if err := r.Stop(); err != nil {
				t.Fatal(err)
			}
			<-r.Done()
			if v := r.Tick(); v.State != engine.Done {
				t.Errorf("%v after the end", v.State)
			}
		}
	})
}
