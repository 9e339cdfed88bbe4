package control

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wirespeed/engine"
	"wirespeed/engine/frame"
	"wirespeed/presets/knob"
)

// The next frame is the one that the engine would send: of the knobs, of several packets in turn, of several streams.
func TestNextFrame(t *testing.T) {
	to := [6]byte{2, 0, 0, 0, 0, 0xfe}
	dev := engine.Device{Name: "v0", MTU: 1500, Queues: 1, MAC: frame.MAC{2, 0, 0, 0, 0, 1}, CPUs: []int{0}}
	at := time.Unix(1796060000, 5000)
	for _, c := range []struct {
		name string
		turn func(*engine.Config)
		n    uint64
		what string
		want []string // its layers
	}{
		{"the knobs", func(*engine.Config) {}, 4, "frame 5", []string{"Ethernet", "IPv4", "UDP", "pktgen"}},
		{
			"packets in turn", func(c *engine.Config) {
				c.Load = &engine.Load{Packets: []frame.Packet{{Bytes: make([]byte, 20)}, {Bytes: append(make([]byte, 12), 0x88, 0xb5, 1)}}}
			},
			3, "packet 2 of 2, its frame 2",
			[]string{"Ethernet", "data"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &knob.Bench{Device: dev, RxMAC: &to, Lab: true}
			b.Config = knob.Defaults(dev, &to, true)
			c.turn(&b.Config)
			v, err := NextFrame(b, c.n, at)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, l := range v.Layers {
				names = append(names, l.Name)
				if l.Faults != "" && l.Name != "data" {
					t.Errorf("%s: %s", l.Name, l.Faults)
				}
			}
			if diff := cmp.Diff(c.want, names); diff != "" || v.What != c.what || v.FCS < 64 || v.Wire != v.FCS+20 || v.Size != len(v.Bytes) {
				t.Errorf("%q, %d %d %d bytes; layers (-want +got)\n%s", v.What, v.Size, v.FCS, v.Wire, diff)
			}
		})
	}
}
