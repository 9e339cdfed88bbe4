package nic

import "testing"

func TestShaper(t *testing.T) {
	for _, c := range []struct {
		name  string
		speed uint64
		mtu   int
		want  string
	}{
		{"five milliseconds at once", 100e6, 1500, "tbf rate 100Mbit burst 62500 limit 67108864 overhead 24 mpu 84"},
		{"at least two frames", 1e6, 1500, "tbf rate 1Mbit burst 3084 limit 67108864 overhead 24 mpu 84"},
		{"and of the largest", 1e6, 9000, "tbf rate 1Mbit burst 18084 limit 67108864 overhead 24 mpu 84"},
		{"the fastest", FastestShaper, 1500, "tbf rate 34Gbit burst 21250000 limit 67108864 overhead 24 mpu 84"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Shaper(c.speed, c.mtu)
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if r, err := parseQdisc(got); err != nil || r.kind != "tbf" {
				t.Errorf("it is no value of the setting qdisc: %v", err)
			}
		})
	}
}
