package knob

import (
	"errors"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirespeed/engine"
	"wirespeed/engine/frame"
)

// gigabit is a bench with everything: a speed, four queues and a receiving device.
func gigabit() *Bench {
	rx := [6]byte{2, 0, 0, 0, 0, 2}
	b := &Bench{
		Device: engine.Device{
			Name: "eth1", MTU: 1500, Queues: 4, MAC: frame.MAC{2, 0, 0, 0, 0, 1}, Speed: 1e9, CPUs: []int{0, 1, 4, 5},
		},
		RxMAC: &rx,
	}
	b.Config = Defaults(b.Device, b.RxMAC, b.Lab)
	b.Settings = igb()
	return b
}

// lab is a bench like the embedded one: no speed, one queue.
func lab() *Bench {
	rx := [6]byte{2, 0, 0, 0, 0, 0xfe}
	b := &Bench{
		Device: engine.Device{
			Name: "v0", MTU: 1500, Queues: 1, MAC: frame.MAC{2, 0, 0, 0, 0, 1}, SpeedWhy: "veth has no speed of its own", CPUs: []int{0, 1},
		},
		RxMAC: &rx, Lab: true,
	}
	b.Config = Defaults(b.Device, b.RxMAC, b.Lab)
	return b
}

// bare is a bench without a receiving device.
func bare() *Bench {
	b := gigabit()
	b.RxMAC, b.Device.Queues = nil, 1
	b.Config = Defaults(b.Device, nil, false)
	b.Config.Frame.DstMAC = frame.MAC{2, 0, 0, 0, 0, 9}
	return b
}

var benches = map[string]func() *Bench{"gigabit": gigabit, "lab": lab, "bare": bare}

func find(t testing.TB, name string) Knob {
	t.Helper()
	k, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// set turns a knob that must turn.
func set(t testing.TB, b *Bench, name, text string) {
	t.Helper()
	if _, err := find(t, name).Set(b, text); err != nil {
		t.Fatalf("%s %s: %v", name, text, err)
	}
}

func TestEveryKnobOfTheDesignIsDeclaredOnce(t *testing.T) {
	want := strings.Fields("rate size burst path segment slot queues receiver cpus link sink trace dst-mac src-mac dst-ip src-ip dst-port src-port vlan " +
		"proto flows mpls ttl tos payload hex file loop timing " +
		"pause rings.tx rings.rx coalesce.tx-usecs coalesce.tx-frames coalesce.rx-usecs coalesce.rx-frames coalesce.adaptive-tx coalesce.adaptive-rx " +
		"channels qdisc irq mtu txqueuelen governor")
	if diff := cmp.Diff(want, names()); diff != "" {
		t.Errorf("knobs (-want +got):\n%s", diff)
	}
	for _, k := range All() {
		if k.Help == "" || k.Default == "" || k.Values == "" || k.Group == "" {
			t.Errorf("%s: help %q, default %q, values %q, group %q: none may be empty", k.Name, k.Help, k.Default, k.Values, k.Group)
		}
		if strings.Contains(k.Help+k.Default+k.Values, "|") || strings.Contains(k.Help+k.Default+k.Values, "\n") {
			t.Errorf("%s: its texts do not fit into a row of a table", k.Name)
		}
		for _, w := range k.words {
			if _, err := k.Check(gigabit(), w); err != nil && !errors.Is(err, ErrUnavailable) {
				t.Errorf("%s offers %q: %v", k.Name, w, err)
			}
		}
	}
}

func TestDefaults(t *testing.T) {
	got := map[string]string{}
	b := gigabit()
	for _, k := range All() {
		if k.Group != NICGroup { // those are as the device is
			got[k.Name] = k.Get(b)
		}
	}
	want := map[string]string{
		"rate": "max", "size": "60", "burst": "1", "path": "bypass", "segment": "software", "slot": "auto", "queues": "1", "receiver": "count", "cpus": "0", "sink": "off", "trace": "off",
		"dst-mac": "02:00:00:00:00:02", "src-mac": "02:00:00:00:00:01", "dst-ip": "198.18.0.2", "src-ip": "198.18.0.1",
		"dst-port": "9", "src-port": "9", "vlan": "none", "link": "none",
		"proto": "udp", "flows": "1", "mpls": "none", "ttl": "32", "tos": "0", "payload": "zero", "hex": "none",
		"file": "none", "loop": "1", "timing": "rate",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	if got := find(t, "receiver").Get(bare()); got != "off" {
		t.Errorf("receiver without a receiving device is %s, want off", got)
	}
	for name, bench := range benches {
		b := bench()
		if err := b.Config.Validate(b.Device); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEveryValueReadsBack walks all knobs at random and holds every value that Get or Turn prints against Set: Get, Set, Get is the identity,
// a turn never leaves the range, and an undo puts everything back.
func TestEveryValueReadsBack(t *testing.T) {
	for name, bench := range benches {
		t.Run(name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, 2))
			b := bench()
			knobs := On(b)
			for range 1500 {
				k := knobs[rnd.IntN(len(knobs))]
				before := k.Get(b)
				if _, err := k.Set(b, before); err != nil {
					t.Fatalf("%s: Get printed %q, Set says: %v", k.Name, before, err)
				}
				if got := k.Get(b); got != before {
					t.Fatalf("%s: Get, Set, Get: %q became %q", k.Name, before, got)
				}
				turned := k.Turn(b, rnd.IntN(9)-4, rnd.IntN(2) == 0)
				all := values(b)
				undo, err := k.Set(b, turned)
				if err != nil {
					t.Fatalf("%s: Turn from %q gave %q, Set says: %v", k.Name, before, turned, err)
				}
				if got := k.Get(b); got != turned {
					t.Fatalf("%s: Turn gave %q, Get prints %q", k.Name, turned, got)
				}
				k.Detail(b)
				if rnd.IntN(4) == 0 {
					if err := undo(); err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(all, values(b)); diff != "" {
						t.Fatalf("%s %s and undo (-want +got):\n%s", k.Name, turned, diff)
					}
				}
			}
		})
	}
}

func values(b *Bench) map[string]string {
	m := map[string]string{}
	for _, k := range On(b) {
		m[k.Name] = k.Get(b)
	}
	return m
}

func TestTurn(t *testing.T) {
	tests := []struct {
		name, knob, from string
		bench            func() *Bench
		steps            int
		coarse           bool
		want             string
	}{
		{"rate, one per cent", "rate", "100kpps", lab, 1, false, "101kpps"},
		{"rate, ten per cent", "rate", "100kpps", lab, 1, true, "110kpps"},
		{"rate down over a power of ten", "rate", "100kpps", lab, -1, false, "99.5kpps"},
		{"rate down, coarse, over a power of ten", "rate", "100kpps", lab, -1, true, "95kpps"},
		{"rate goes to the next prefix", "rate", "995kpps", lab, 1, false, "1Mpps"},
		{"rate comes back to the last prefix", "rate", "1Mpps", lab, -1, false, "995kpps"},
		{"rate off the grid goes onto it", "rate", "123.456kpps", lab, 1, false, "124kpps"},
		{"rate off the grid, down", "rate", "123.456kpps", lab, -1, false, "123kpps"},
		{"rate in steps of two", "rate", "250kpps", lab, 1, false, "252kpps"},
		{"rate in steps of five", "rate", "700kpps", lab, 1, false, "705kpps"},
		{"rate at the lowest stays", "rate", "1pps", lab, -1, true, "1pps"},
		{"rate below the lowest stays", "rate", "0.5pps", lab, -1, false, "0.5pps"},
		{"rate above wirespeed is max", "rate", "1.48Mpps", gigabit, 1, false, "max"},
		{"rate below max is the highest round one", "rate", "max", gigabit, -1, false, "1.48Mpps"},
		{"rate below max, coarse", "rate", "max", gigabit, -1, true, "1.4Mpps"},
		{"rate below max, two steps", "rate", "max", gigabit, -2, false, "1.47Mpps"},
		{"rate at max stays", "rate", "max", gigabit, 3, false, "max"},
		{"rate without a speed has a top too", "rate", "5Mpps", lab, 1, false, "max"},
		{"rate without a speed, below max", "rate", "max", lab, -1, false, "5Mpps"},
		{"per cent", "rate", "40%", gigabit, 1, false, "40.2%"},
		{"per cent, coarse", "rate", "40%", gigabit, 1, true, "42%"},
		{"100 per cent is not yet max", "rate", "99.5%", gigabit, 1, false, "100%"},
		{"above 100 per cent is max", "rate", "100%", gigabit, 1, false, "max"},
		{"bits stay L2", "rate", "100MbitL2", gigabit, 1, true, "110MbitL2"},
		{"bits keep their spelling", "rate", "950kbit/s", gigabit, 1, true, "1Mbit/s"},
		{"a gap gets shorter when the rate goes up", "rate", "10us", lab, 1, false, "9.95us"},
		{"a gap gets longer when the rate goes down", "rate", "10us", lab, -1, true, "11us"},
		{"a gap of a second is the longest", "rate", "1s", lab, -1, false, "1s"},
		{"size by one", "size", "60", lab, 1, false, "61"},
		{"size by 64", "size", "60", lab, 1, true, "124"},
		{"size ends at the MTU", "size", "1500", lab, 1, true, "1514"},
		{"size ends at 60", "size", "70", lab, -1, true, "60"},
		{"burst by one", "burst", "7", lab, 1, false, "8"},
		{"burst doubles", "burst", "8", lab, 1, true, "16"},
		{"burst goes to powers of two", "burst", "9", lab, 1, true, "16"},
		{"burst halves", "burst", "9", lab, -1, true, "8"},
		{"burst ends at 1024", "burst", "1000", lab, 2, true, "1024"},
		{"burst ends at 1", "burst", "2", lab, -3, true, "1"},
		{"path goes round", "path", "qdisc", lab, 1, false, "bypass"},
		{"path goes round backwards", "path", "bypass", lab, -1, false, "qdisc"},
		{"receiver goes round", "receiver", "verify", lab, 1, false, "off"},
		{"queues by one", "queues", "1", gigabit, 1, true, "2"},
		{"queues end at the device's", "queues", "3", gigabit, 5, false, "4"},
		{"cpus go to the next allowed", "cpus", "1", gigabit, 1, false, "4"},
		{"cpus go round", "cpus", "0", gigabit, -1, false, "5"},
		{"a list of cpus is typed", "cpus", "0,4", gigabit, 1, false, "0,4"},
		{"port by one", "dst-port", "9", lab, 1, false, "10"},
		{"port ends at 0", "dst-port", "9", lab, -1, true, "0"},
		{"vlan begins", "vlan", "none", lab, 1, false, "1"},
		{"vlan ends at none", "vlan", "5", lab, -1, true, "none"},
		{"vlan ends at 4094", "vlan", "4090", lab, 1, true, "4094"},
		{"a MAC is typed", "dst-mac", "02:00:00:00:00:fe", lab, 1, false, "02:00:00:00:00:fe"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := tt.bench()
			set(t, b, tt.knob, tt.from)
			if got := find(t, tt.knob).Turn(b, tt.steps, tt.coarse); got != tt.want {
				t.Errorf("from %s: got %s, want %s", tt.from, got, tt.want)
			}
		})
	}
}

// TestTurnComesBack: as many steps down as up lead back, wherever a rate started on its grid.
func TestTurnComesBack(t *testing.T) {
	rate := find(t, "rate")
	for _, tt := range []struct {
		start  string
		coarse bool
	}{{"1pps", true}, {"300kpps", false}, {"1Mbit", true}, {"200MbitL2", false}, {"1ms", true}, {"2us", false}, {"0.1%", true}, {"20%", false}} {
		b := gigabit()
		set(t, b, "rate", tt.start)
		var up []string
		for rate.Get(b) != "max" {
			up = append(up, rate.Get(b))
			set(t, b, "rate", rate.Turn(b, 1, tt.coarse))
			if len(up) > 1000 {
				t.Fatalf("%s: never reaches max, last %v", tt.start, up[len(up)-3:])
			}
		}
		set(t, b, "rate", up[len(up)-1])
		for i := len(up) - 1; i >= 0; i-- {
			if got := rate.Get(b); got != up[i] {
				t.Fatalf("%s, coarse %v: on the way down %s, on the way up it was %s", tt.start, tt.coarse, got, up[i])
			}
			set(t, b, "rate", rate.Turn(b, -1, tt.coarse))
		}
	}
}

func TestCheckSaysWhatAValueMeans(t *testing.T) {
	tests := []struct {
		name, knob, text string
		bench            func() *Bench
		want             string
	}{
		{"pps", "rate", "1.2Mpps", gigabit, "1,200,000 pps, 833.3 ns/packet, 806 Mbit/s L1, 80.6 %"},
		{"pps without a speed", "rate", "100kpps", lab, "100,000 pps, 10,000 ns/packet, 67.2 Mbit/s L1"},
		{"per cent", "rate", "40%", gigabit, "595,238 pps, 1680.0 ns/packet, 400 Mbit/s L1, 40.0 %"},
		{"slow", "rate", "0.5pps", lab, "0.5 pps, 2,000,000,000 ns/packet, 336 bit/s L1"},
		{"gap", "rate", "672ns", gigabit, "1,488,095 pps, 672.0 ns/packet, 1 Gbit/s L1, 100.0 %"},
		{"above the link", "rate", "2Mpps", gigabit, "2,000,000 pps, 500.0 ns/packet, 1.34 Gbit/s L1, 134.4 %, more than wirespeed (1,488,095 pps)"},
		{"max", "rate", "max", gigabit, "as fast as the machine sends, at most 1,488,095 pps at 1 Gbit/s"},
		{"max without a speed", "rate", "max", lab, "as fast as the machine sends"},
		{"size", "size", "64fcs", lab, "60 B (64 with FCS, 84 on the wire)"},
		{"size on a link", "size", "1514", gigabit, "1514 B (1518 with FCS, 1538 on the wire), at most 81,274 pps"},
		{"burst at max", "burst", "32", lab, "no schedule at rate max, no doorbell batching on the bypass"},
		{"path", "path", "qdisc", lab, "through the queueing discipline"},
		{"queues", "queues", "2", gigabit, "of 4"},
		{"cpus", "cpus", "0-1", gigabit, "0 in use"},
		{"MAC", "dst-mac", "ff:ff:ff:ff:ff:ff", lab, "broadcast"},
		{"port", "dst-port", "53", lab, "53"},
		{"IP of the other family", "dst-ip", "10.0.0.1", lab, "IPv4, src-ip 198.18.0.1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := tt.bench()
			before := values(b)
			got, err := find(t, tt.knob).Check(b, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, values(b)); diff != "" {
				t.Errorf("Check changed something:\n%s", diff)
			}
		})
	}
}

func TestDetail(t *testing.T) {
	b := gigabit()
	set(t, b, "rate", "40%")
	set(t, b, "burst", "32")
	set(t, b, "path", "qdisc")
	want := map[string]string{
		"rate": "595,238 pps, 1680.0 ns/packet, 400 Mbit/s L1", "size": "60 B (64 with FCS, 84 on the wire)", "burst": "32 frames every 53.76 us",
		"path": "through the queueing discipline", "segment": "the kernel cuts", "slot": "-", "queues": "of 4", "receiver": "counted, not looked at", "cpus": "of 0-1,4-5", "sink": "-", "trace": "-",
		"dst-mac": "the receiving device", "src-mac": "eth1", "dst-ip": "-", "src-ip": "-", "dst-port": "-", "src-port": "-", "vlan": "-", "link": "the device's 1 Gbit/s",
		"proto": "-", "flows": "-", "mpls": "-", "ttl": "-", "tos": "-", "payload": "-", "hex": "-", "file": "-", "loop": "-", "timing": "-",
		"rings.tx": "of 4096", "rings.rx": "of 4096", "channels": "combined 1 .. 8", "irq": "on CPU 0-5; 0-5; 0-5; 0-5", "mtu": "of 9216",
	}
	got := map[string]string{}
	for _, k := range All() {
		if d := k.Detail(b); k.Group != NICGroup || d != "-" {
			got[k.Name] = d
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRefused: each refusal is one line that names what is wrong and the way out, and changes nothing.
func TestRefused(t *testing.T) {
	tests := []struct {
		knob, text string
		bench      func() *Bench
		says       []string
	}{
		{"rate", "5parsec", lab, []string{"5parsec", "kpps"}},
		{"rate", "1000", lab, []string{"unit is missing", "1000pps"}},
		{"rate", "40%", lab, []string{"veth has no speed", "--link"}},
		{"rate", "0pps", lab, []string{"stop"}},
		{"size", "1515", lab, []string{"1514", "MTU 1500"}},
		{"size", "59", lab, []string{"60"}},
		{"size", "63fcs", lab, []string{"64"}},
		{"burst", "0", lab, []string{"1 to 1024"}},
		{"burst", "1025", lab, []string{"1 to 1024"}},
		{"burst", "many", lab, []string{"not a whole number", "1 to 1024"}},
		{"path", "qdsc", lab, []string{"bypass or qdisc", "did you mean qdisc?"}},
		{"segment", "on", lab, []string{"software or device or off"}},
		{"queues", "2", lab, []string{"v0 has one transmit queue"}},
		{"queues", "5", gigabit, []string{"1 to 4", "eth1"}},
		{"receiver", "count", bare, []string{"--rx DEV"}},
		{"sink", "xpd", lab, []string{"off, xdp or xdp/N", "did you mean xdp?"}},
		{"sink", "xdp/0", lab, []string{"1 to 1000000"}},
		{"sink", "xdp", bare, []string{"--rx DEV"}},
		{"cpus", "77", lab, []string{"CPU 77", "0-1"}},
		{"cpus", "1-0", lab, []string{"0-1,3"}},
		{"cpus", "0,0", lab, []string{"twice"}},
		{"cpus", "", lab, []string{"0-1,3"}},
		{"dst-mac", "nobody", lab, []string{"02:00:00:00:00:01"}},
		{"src-mac", "ff:ff:ff:ff:ff:ff", lab, []string{"unicast"}},
		{"dst-ip", "198.18.0", lab, []string{"198.18.0.1"}},
		{"dst-ip", "fe80::1%eth0", lab, []string{"198.18.0.1"}},
		{"dst-ip", "2001:2::9", lab, []string{"62"}},
		{"dst-port", "65536", lab, []string{"0 to 65535"}},
		{"vlan", "4095", lab, []string{"1 to 4094", "none"}},
		{"vlan", "0", lab, []string{"1 to 4094", "none"}},
	}
	for _, tt := range tests {
		t.Run(tt.knob+" "+tt.text, func(t *testing.T) {
			b := tt.bench()
			before := values(b)
			b.Apply = func(engine.Config) error { t.Error("the engine was asked"); return nil }
			_, err := find(t, tt.knob).Set(b, tt.text)
			if err == nil {
				t.Fatal("accepted")
			}
			if !errors.Is(err, ErrUsage) {
				t.Errorf("%v: is not ErrUsage", err)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: more than one line", err)
			}
			for _, s := range tt.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%q does not say %q", err, s)
				}
			}
			if diff := cmp.Diff(before, values(b)); diff != "" {
				t.Errorf("a refused value changed something:\n%s", diff)
			}
		})
	}
}

func TestUnavailable(t *testing.T) {
	tests := []struct {
		knob  string
		bench func() *Bench
		want  string
	}{
		{"queues", lab, "v0 has one transmit queue"},
		{"queues", gigabit, ""},
		{"receiver", bare, "there is no receiving device: name one with --rx DEV"},
		{"receiver", lab, ""},
	}
	for _, tt := range tests {
		k, b := find(t, tt.knob), tt.bench()
		if got := k.Unavailable(b); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.knob, got, tt.want)
		}
		if tt.want == "" {
			continue
		}
		now := k.Get(b)
		if got := k.Turn(b, 1, false); got != now {
			t.Errorf("%s turns to %s where it is unavailable", tt.knob, got)
		}
		if _, err := k.Set(b, now); err != nil {
			t.Errorf("%s %s, its own value: %v", tt.knob, now, err)
		}
	}
	if _, err := find(t, "receiver").Set(bare(), "count"); !errors.Is(err, ErrUnavailable) || !errors.Is(err, ErrUsage) {
		t.Errorf("receiver count: %v: want ErrUnavailable and ErrUsage", err)
	}
}

func TestAnEngineThatRefusesChangesNothing(t *testing.T) {
	b := lab()
	broken := errors.New("ring is gone")
	b.Apply = func(engine.Config) error { return broken }
	if _, err := find(t, "size").Set(b, "100"); !errors.Is(err, broken) || errors.Is(err, ErrUsage) {
		t.Errorf("got %v, want the engine's own error", err)
	}
	if got := find(t, "size").Get(b); got != "60" {
		t.Errorf("size is %s, want 60", got)
	}
}

func TestUndoGoesThroughTheEngine(t *testing.T) {
	b := lab()
	var sizes []int
	b.Apply = func(c engine.Config) error { sizes = append(sizes, c.Frame.Size); return nil }
	undo, err := find(t, "size").Set(b, "100")
	if err != nil {
		t.Fatal(err)
	}
	if err := undo(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{100, 60}, sizes); diff != "" {
		t.Errorf("sizes the engine saw (-want +got):\n%s", diff)
	}
}

// TestAddressesTypedOneAfterTheOther: either order of the two addresses of another family leads to what was typed.
func TestAddressesTypedOneAfterTheOther(t *testing.T) {
	for _, order := range [][2]string{{"dst-ip", "src-ip"}, {"src-ip", "dst-ip"}} {
		b := lab()
		set(t, b, "size", "100")
		typed := map[string]string{"dst-ip": "2001:db8::2", "src-ip": "2001:db8::1"}
		set(t, b, order[0], typed[order[0]])
		if f := b.Config.Frame; f.DstIP.Is4() || f.SrcIP.Is4() {
			t.Errorf("after %s: src %v, dst %v: not one family", order[0], f.SrcIP, f.DstIP)
		}
		set(t, b, order[1], typed[order[1]])
		want := [2]netip.Addr{netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")}
		if got := [2]netip.Addr{b.Config.Frame.SrcIP, b.Config.Frame.DstIP}; got != want {
			t.Errorf("%v: got %v, want %v", order, got, want)
		}
		set(t, b, order[0], "198.18.7.7")
		if f := b.Config.Frame; !f.DstIP.Is4() || !f.SrcIP.Is4() || f.DstIP == f.SrcIP {
			t.Errorf("back to IPv4: src %v, dst %v", f.SrcIP, f.DstIP)
		}
	}
}

func TestMACInAnyNotation(t *testing.T) {
	for _, text := range []string{"02:00:00:AB:cd:01", "02-00-00-ab-cd-01", "0200.00ab.cd01", "020000abcd01"} {
		b := lab()
		set(t, b, "dst-mac", text)
		if got, want := find(t, "dst-mac").Get(b), "02:00:00:ab:cd:01"; got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestNewQueuesGetCPUs(t *testing.T) {
	b := gigabit()
	set(t, b, "queues", "3")
	if got := find(t, "cpus").Get(b); got != "0-1,4" {
		t.Errorf("three queues on the first allowed CPUs: got %s, want 0-1,4", got)
	}
	set(t, b, "queues", "1")
	if got := find(t, "cpus").Get(b); got != "0" {
		t.Errorf("back to one queue: got %s, want 0", got)
	}
	set(t, b, "cpus", "4,1")
	set(t, b, "queues", "2")
	if got := find(t, "cpus").Get(b); got != "4,1" {
		t.Errorf("CPUs that were chosen: got %s, want 4,1", got)
	}
	set(t, b, "cpus", "auto")
	if got := find(t, "cpus").Get(b); got != "0-1" {
		t.Errorf("auto: got %s, want 0-1", got)
	}
}
