package knob

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirespeed/engine/frame"
)

func TestContentValues(t *testing.T) {
	for _, c := range []struct{ knob, text, want, detail string }{
		{"size", "imix", "imix", "mean 357.8 B (361.8 with FCS, 381.8 on the wire)"},
		{"size", "64:7, 594:4, 1518:1", "64:7, 594:4, 1518:1", "mean 357.8 B (361.8 with FCS, 381.8 on the wire)"},
		{"size", "60..1514 step 100", "60..1514 step 100", "mean 760.0 B (764.0 with FCS, 784.0 on the wire)"},
		{"size", "random  60..61", "random 60..61", "mean 60.5 B (64.5 with FCS, 84.5 on the wire)"},
		{"proto", "tcp", "tcp", "-"},
		{"flows", "1000", "1000", "-"},
		{"vlan", "100", "100", "-"},
		{"vlan", "5,100", "5,100", "-"},
		{"vlan", "5,100..200", "5,100..200", "-"},
		{"mpls", "100,200", "100,200", "-"},
		{"ttl", "64", "64", "-"},
		{"ttl", "1..64 down", "1..64 down", "each frame another of 64"},
		{"tos", "184", "184", "-"},
		{"tos", "0..255", "0..255", "each frame another of 256"},
		{"payload", "hex:DEAD be:ef", "hex:deadbeef", "-"},
		{"payload", "pattern", "pattern", "-"},
		{"hex", "02 00 00 00 00 01  02 00 00 00 00 02  FF:FE 00", "020000000001020000000002fffe00", "15 bytes"},
		{"dst-ip", "198.18.0.2..198.18.0.254", "198.18.0.2..198.18.0.254", "each frame another of 253"},
		{"dst-ip", "2001:2::5..2001:2::9 random", "2001:2::5..2001:2::9 random", "each frame another of 5"},
		{"src-port", "1000..2000 step 2", "1000..2000 step 2", "each frame another of 501"},
		{"src-port", "1000..2000 step 2 down", "1000..2000 down step 2", "each frame another of 501"},
		{"src-mac", "020000000001..0200000000ff", "02:00:00:00:00:01..02:00:00:00:00:ff", "each frame another of 255"},
		{"dst-mac", "02-00-00-00-00-01..02-00-00-00-00-02", "02:00:00:00:00:01..02:00:00:00:00:02", "each frame another of 2"},
	} {
		t.Run(c.knob+" "+c.text, func(t *testing.T) {
			b := gigabit()
			set(t, b, "size", "100") // room for all headers
			set(t, b, c.knob, c.text)
			k := find(t, c.knob)
			if got := k.Get(b); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if got := k.Detail(b); got != c.detail {
				t.Errorf("detail %q, want %q", got, c.detail)
			}
			before := b.Config
			set(t, b, c.knob, k.Get(b))
			if d := cmp.Diff(before.Frame, b.Config.Frame, cmp.Comparer(func(a, b frame.Spec) bool { return a == b })); d != "" {
				t.Errorf("what Get prints sets something else:\n%s", d)
			}
			if got := k.Turn(b, 1, false); c.detail != "-" && c.knob != "hex" && got != c.want {
				t.Errorf("a turn makes %q of it", got)
			}
		})
	}
}

func TestContentRefused(t *testing.T) {
	for _, c := range []struct{ knob, text, want string }{
		{"size", "imx", `size "imx": not a number of bytes, as in 60 or 64fcs (with FCS)`},
		{"size", "64:7,9018:1", "size 9014: the limit on eth1 is 1514 (MTU 1500; 1518 with a VLAN tag): ask for less, or raise the MTU"},
		{"proto", "sctp", `proto "sctp": use udp or tcp or icmp or arp`},
		{"flows", "0", "flows 0: out of range: use 1 to 65000"},
		{"flows", "65001", "flows 65001: out of range: use 1 to 65000"},
		{"vlan", "5,4095", "vlan 4095: out of range: use 1 to 4094, or none"},
		{"vlan", "1,2,3", `vlan "2,3": not a whole number: use 1 to 4094, or none`},
		{"mpls", "1048576", `mpls "1048576": a label is a number from 0 to 1048575, as in 100 or 100,200 (outermost first), or none`},
		{"ttl", "0", "ttl 0: out of range: use 1 to 255"},
		{"tos", "256", "tos 256: out of range: use 0 to 255"},
		{"payload", "ones", `payload "ones": use zero, pattern, random or hex:DIGITS`},
		{"payload", "hex:abc", "payload: hex: 3 digits: a byte has two"},
		{"hex", "0x12zz", "hex: 'z' is no hexadecimal digit"},
		{"hex", "0102", "hex: 2 bytes: an Ethernet header alone has 14"},
		{"dst-ip", "198.18.0.9..198.18.0.2", "dst-ip 198.18.0.9..198.18.0.2: a range goes from the smaller value to the larger: for the other way add down"},
		{"dst-ip", "198.18.0.9..2001:2::1", "dst-ip 198.18.0.9..2001:2::1: both ends are IPv4, or IPv6 addresses with the same first 64 bits"},
		{"src-port", "1..2 sideways", `src-port 1..2 sideways: "sideways": a range is A..B, then down or random, step N, per flow`},
		{"src-port", "1..2 step 0", `src-port 1..2 step 0: step "0": a whole number from 1`},
		{"src-port", "5 random", `src-port 5 random: "random" is too much: a range is A..B, then down, random, step N, per flow`},
		{"src-port", "1..70000", "src-port 70000: out of range: use 0 to 65535"},
		{"src-port", "1..9 per flow", "per flow: there is one flow: set flows to 2 or more"},
		{"file", "none.pcap", "file none.pcap: no such file"},
		{"loop", "2", "loop 2: no capture is sent: choose one with file"},
		{"timing", "2x", "timing 2x: no capture is sent: choose one with file"},
		{"stream[a]", "size 61; speed 7", `stream[a]: no knob "speed"`},
		{"stream[a]", "burst 7", "stream[a]: burst is not for one stream: size, the knobs of the headers, weight and rate are"},
		{"stream[a]", "rate max", "stream[a]: rate max is not for one of several streams: give it a rate, or all of them weights"},
		{"stream[a]", "weight 0", "stream[a]: weight 0: out of range: use 1 to 65536"},
		{"stream[a]", "size", "stream[a]: size needs a value: 60 to MTU + 14 (4 more with a VLAN tag), or with FCS: 64fcs; a list 60,128,1514; 60..1514, 60..1514 step 64, random 60..1514; imix, imix-570, tolly, or weights of sizes with FCS: 64:7,594:4,1518:1"},
	} {
		t.Run(c.knob+" "+c.text, func(t *testing.T) {
			b := gigabit()
			before := values(b)
			_, err := find(t, c.knob).Set(b, c.text)
			if err == nil || err.Error() != c.want || !errors.Is(err, ErrUsage) {
				t.Errorf("error %v, want %s", err, c.want)
			}
			if d := cmp.Diff(before, values(b)); d != "" {
				t.Errorf("something changed:\n%s", d)
			}
		})
	}
}

func TestWhatRulesOutOtherKnobs(t *testing.T) {
	b := gigabit()
	set(t, b, "proto", "icmp")
	if _, err := find(t, "src-port").Set(b, "7"); !errors.Is(err, ErrUnavailable) || err.Error() != "src-port 7: icmp has no ports" {
		t.Errorf("a port of ICMP: %v", err)
	}
	set(t, b, "hex", "0200000000010200000000020800")
	for _, name := range []string{"dst-mac", "dst-ip", "vlan", "ttl", "proto", "mpls"} {
		if why := find(t, name).Unavailable(b); why != "the headers are what hex says" {
			t.Errorf("%s beside hex: %q", name, why)
		}
	}
	set(t, b, "size", "200")
	set(t, b, "hex", "none")
	// The order on a command line does not matter: what would be ignored is refused.
	if _, err := SetAll(gigabit(), []Setting{{"dst-ip", "10.0.0.1"}, {"hex", "0200000000010200000000020800"}}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("an address and raw bytes: %v", err)
	}
}

func TestStreams(t *testing.T) {
	b := gigabit()
	set(t, b, "stream[voice]", "size 200 ;dst-port  5060; weight 9; tos 184")
	set(t, b, "stream[bulk]", "size 64:7,594:4,1518:1")
	k := find(t, "stream[voice]")
	if got := k.Get(b); got != "size 200; dst-port 5060; weight 9; tos 184" {
		t.Errorf("voice is %q", got)
	}
	s := b.Config.Streams
	if len(s) != 2 || s[1].Weight != 9 || s[1].Frame.TOS != 184 || s[1].Frame.Size != 200 || s[0].Weight != 1 || s[0].Frame.DstPort != 9 {
		t.Fatalf("streams %+v", s)
	}
	set(t, b, "dst-ip", "10.0.0.1..10.0.0.9") // of all streams
	if s := b.Config.Streams; !s[0].Frame.Vary.DstIP.On || !s[1].Frame.Vary.DstIP.On || s[1].Frame.DstPort != 5060 {
		t.Errorf("another address of all: %+v", s)
	}
	l := b.Config.Lengths(b.Device)
	if got, want := float64(l.L)/float64(l.Frames), (9*204+361.8333)/10; got < want-0.001 || got > want+0.001 {
		t.Errorf("mean L %v, want %v", got, want)
	}
	var rows []string
	for _, k := range On(b) {
		if k.Family && k.Group == Stream {
			rows = append(rows, k.Name)
		}
	}
	if d := cmp.Diff([]string{"stream[bulk]", "stream[voice]"}, rows); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	kept := Settings(b)
	again := gigabit()
	if _, err := SetAll(again, kept); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(values(b), values(again)); d != "" {
		t.Errorf("kept and set again:\n%s", d)
	}
	set(t, b, "stream[voice]", "off")
	set(t, b, "stream[bulk]", "off")
	if b.Config.Streams != nil {
		t.Errorf("streams %+v after all are off", b.Config.Streams)
	}
}

func TestStreamsWithRates(t *testing.T) {
	b := gigabit()
	_, err := SetAll(b, []Setting{{"stream[a]", "rate 1kpps"}, {"stream[b]", "rate 10%; size 1514"}})
	if err != nil {
		t.Fatal(err)
	}
	pps, err := b.Config.PPS(b.Device)
	if err != nil {
		t.Fatal(err)
	}
	if f, _ := pps.Float64(); f < 9127 || f > 9128 { // 1000 and a tenth of 81,274
		t.Errorf("%v pps in all", f)
	}
	if why := find(t, "rate").Unavailable(b); why != "each stream has a rate of its own" {
		t.Errorf("rate: %q", why)
	}
}

func TestFileIsReadOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.pcap")
	one := append([]byte("\xd4\xc3\xb2\xa1\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x01\x00\x00\x00"+
		"\x01\x00\x00\x00\x00\x00\x00\x00\x3c\x00\x00\x00\x3c\x00\x00\x00"), make([]byte, 60)...)
	if err := os.WriteFile(name, one, 0o600); err != nil {
		t.Fatal(err)
	}
	b := gigabit()
	if _, err := SetAll(b, []Setting{{"loop", "3"}, {"file", name}, {"timing", "2x"}}); err != nil {
		t.Fatal(err)
	}
	if b.Config.Replay.Loops != 3 || b.Config.Replay.Timing != 2 || b.Config.Load.Capture.Len() != 1 {
		t.Errorf("%+v", b.Config.Replay)
	}
	first := b.Config.Load
	set(t, b, "file", name)
	if b.Config.Load != first {
		t.Error("read again, although it has not changed")
	}
	if _, err := find(t, "size").Set(b, "100"); err == nil || err.Error() != "size 100: the frames are those of "+name {
		t.Errorf("size beside a file: %v", err)
	}
	if _, err := find(t, "rate").Set(b, "1kpps"); err == nil || err.Error() != "rate 1kpps: the capture's own times rule: timing rate gives it back" {
		t.Errorf("rate beside timing: %v", err)
	}
	set(t, b, "file", "none")
	if err := os.WriteFile(name, []byte("no capture"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := find(t, "file").Set(b, name); err == nil || err.Error() != name+": not a capture: begins with 6e 6f 20 63, neither pcap nor pcapng" {
		t.Errorf("a text: %v", err)
	}
}
