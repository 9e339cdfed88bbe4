package real

import (
	"math"
	"testing"

	"wirespeed/engine"
	"wirespeed/engine/meter"
	"wirespeed/ui/control"
)

// What the instruments say of a link is what a shaped lab is made to be.
func TestInstrumentsOfALab(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings []string
		want     meter.Regime
		check    func(t *testing.T, i *control.Instruments)
	}{
		{"a link below what the sender offers", []string{"link 1Mbit", "rate max"}, meter.Limited, func(t *testing.T, i *control.Instruments) {
			q := i.Qdiscs[0]
			if len(i.Qdiscs) != 1 || q.Queue != -1 || q.Kind != "tbf" || q.Waiting < 0.9 || math.Abs(q.MeanBytes-60*q.Mean) > 1e-6 || q.Max > 512 || q.Overlimits == 0 {
				t.Errorf("%+v", q)
			}
		}},
		{"a link that has room", []string{"link 1Gbit", "rate 100pps"}, meter.Direct, nil},
		{"no queue", []string{"path qdisc", "rate 1kpps"}, meter.Direct, func(t *testing.T, i *control.Instruments) {
			if len(i.Qdiscs) != 0 || i.Why == "" || len(i.Devices) != 0 || i.DeviceWhy != "veth does not use byte queue limits" {
				t.Errorf("%+v", i)
			}
		}},
		{"the bypass", []string{"rate 1kpps"}, meter.Direct, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := openLab(t, engine.Limit{}, c.settings...)
			start(t, r)
			until(t, r, string(c.want), func(v *control.View) bool { return v.Instruments.Regime == c.want })
			if c.check != nil {
				v := until(t, r, "looks", func(v *control.View) bool { return v.Instruments.Window.Seconds() > 0.5 })
				c.check(t, v.Instruments)
			}
		})
	}
}
