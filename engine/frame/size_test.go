package frame

import (
	"math"
	"strings"
	"testing"
)

func TestSizes(t *testing.T) {
	for _, c := range []struct{ size, l, wire int }{
		{60, 64, 84},
		{61, 65, 85},
		{42, 64, 84}, // padded
		{1514, 1518, 1538},
		{9014, 9018, 9038},
	} {
		if l, wire := L(c.size), Wire(c.size); l != c.l || wire != c.wire {
			t.Errorf("size %d: L %d, wire %d, want %d, %d", c.size, l, wire, c.l, c.wire)
		}
	}
}

func TestMaxPPS(t *testing.T) {
	for _, c := range []struct {
		speed uint64
		size  int
		want  string
	}{
		{1e9, 60, "1488095.24"},
		{10e9, 60, "14880952.38"},
		{100e9, 60, "148809523.81"},
		{1e9, 1514, "81274.38"},
		{800e9, 60, "1190476190.48"},
		{math.MaxUint64, 60, "27450512014448737.52"},
	} {
		if got := MaxPPS(c.speed, c.size).FloatString(2); got != c.want {
			t.Errorf("%d bit/s, %d bytes: %s pps, want %s", c.speed, c.size, got, c.want)
		}
	}
}

func TestBps(t *testing.T) {
	pps, _ := MaxPPS(1e9, 60).Float64()
	if got := BpsL1(pps, 60); math.Abs(got-1e9) > 1 {
		t.Errorf("L1 at line rate: %v, want 1e9", got)
	}
	if got := BpsL2(1000, 60); got != 512_000 {
		t.Errorf("L2: %v, want 512000", got)
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want int
	}{
		{"smallest IPv4", MinSize(v4(0)), 60},
		{"smallest IPv4 VLAN", MinSize(tagged(v4(0), 5)), 60},
		{"smallest IPv6", MinSize(v6(0)), 62},
		{"smallest IPv6 VLAN", MinSize(tagged(v6(0), 5)), 66},
		{"largest for MTU 1500", MaxSize(1500, 0), 1514},
		{"largest for MTU 1500 VLAN", MaxSize(1500, 5), 1518},
		{"largest for MTU 9000", MaxSize(9000, 0), 9014},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.name, c.got, c.want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int
		err  string
	}{
		{"60", 60, ""},
		{"64fcs", 60, ""},
		{"1514", 1514, ""},
		{"1518fcs", 1514, ""},
		{"59", 0, "the smallest frame has 60 bytes, 64 with FCS"},
		{"63fcs", 0, "the smallest"},
		{"0", 0, "the smallest"},
		{"3fcs", 0, "the smallest"},
		{"", 0, "not a number of bytes"},
		{"fcs", 0, "not a number"},
		{"-60", 0, "not a number"},
		{"+60", 0, "not a number"},
		{"6e1", 0, "not a number"},
		{"60.0", 0, "not a number"},
		{"64 fcs", 0, "not a number"},
		{"64FCS", 0, "not a number"},
		{"99999999999999999999", 0, "not a number"},
	} {
		got, err := ParseSize(c.in)
		if got != c.want || (err == nil) != (c.err == "") || (err != nil && !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q: %d, %v, want %d, %q", c.in, got, err, c.want, c.err)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"60", "64fcs", "1514", "", "2147483647fcs"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseSize(s)
		if err == nil && (n < 60 || n > math.MaxInt32) {
			t.Errorf("%q: %d", s, n)
		}
		if err != nil && n != 0 {
			t.Errorf("%q: %d with error %v", s, n, err)
		}
	})
}

func TestMAC(t *testing.T) {
	for _, c := range []struct {
		in                 string
		want               MAC
		unicast, multicast bool
	}{
		{"02:00:00:00:00:fe", MAC{2, 0, 0, 0, 0, 0xfe}, true, false},
		{"02-00-00-00-00-FE", MAC{2, 0, 0, 0, 0, 0xfe}, true, false},
		{"0200.0000.00fe", MAC{2, 0, 0, 0, 0, 0xfe}, true, false},
		{"01:00:5e:00:00:01", MAC{1, 0, 0x5e, 0, 0, 1}, false, true},
		{"ff:ff:ff:ff:ff:ff", Broadcast, false, true},
		{"00:00:00:00:00:00", MAC{}, false, false},
	} {
		m, err := ParseMAC(c.in)
		if err != nil || m != c.want || m.Unicast() != c.unicast || m.Multicast() != c.multicast {
			t.Errorf("%q: %v, %v, unicast %v, multicast %v", c.in, m, err, m.Unicast(), m.Multicast())
		}
		if back, err := ParseMAC(m.String()); err != nil || back != m {
			t.Errorf("%v read again: %v, %v", m, back, err)
		}
	}
	for _, bad := range []string{"", "02:00:00:00:00", "02:00:00:00:00:00:00:00", "2:0:0:0:0:1", "02:00:00:00:00:zz", "02:00:00:00:00:01 "} {
		if m, err := ParseMAC(bad); err == nil {
			t.Errorf("%q: %v, want an error", bad, m)
		}
	}
}

func FuzzParseMAC(f *testing.F) {
	f.Add("02:00:00:00:00:fe")
	f.Add("0200.0000.00fe")
	f.Fuzz(func(t *testing.T, s string) {
		m, err := ParseMAC(s)
		if err != nil {
			return
		}
		if back, err := ParseMAC(m.String()); err != nil || back != m {
			t.Errorf("%q: %v read again: %v, %v", s, m, back, err)
		}
	})
}
