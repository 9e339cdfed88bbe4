package meter

import "testing"

func TestRingFull(t *testing.T) {
	for _, c := range []struct {
		name                 string
		descriptors          int
		most, limit, waiting float64
		want                 string
	}{
		{"e1000e, linear", 256, 234, 400, 1, "the driver's ring is full at 234: a larger ring may help (rings.tx is 256)"},
		{"e1000e, two descriptors a frame", 256, 117, 400, 1, "the driver's ring is full at 117: a larger ring may help (rings.tx is 256)"},
		{"a small ring", 80, 58, 400, 1, "the driver's ring is full at 58: a larger ring may help (rings.tx is 80)"},
		{"a small ring, two descriptors", 80, 29, 400, 1, "the driver's ring is full at 29: a larger ring may help (rings.tx is 80)"},
		{"room in the ring", 1024, 234, 400, 1, ""},
		{"byte queue limits come first", 256, 234, 234, 1, ""},
		{"nobody waits", 256, 234, 400, 0.1, ""},
		{"a ring of unknown length", 0, 234, 400, 1, ""},
		{"more than the ring holds: not the ring", 128, 234, 400, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := RingFull(c.descriptors, c.most, c.limit, c.waiting); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
