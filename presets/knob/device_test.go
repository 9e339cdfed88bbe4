package knob

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirespeed/engine"
	"wirespeed/nic"
)

// igb are the settings of a NIC that has most of them, as package nic tells them.
func igb() []nic.Value {
	onOff := []string{"on", "off"}
	list := []nic.Value{
		{Setting: nic.Setting{Name: "pause", Range: "off, rx, tx, rx+tx or autoneg", Values: []string{"off", "rx", "tx", "rx+tx", "autoneg"}, Flaps: true}, Now: "autoneg"},
		{Setting: nic.Setting{Name: "rings.tx", Range: "1 .. 4096", Min: 1, Max: 4096, Flaps: true}, Now: "256"},
		{Setting: nic.Setting{Name: "rings.rx", Range: "1 .. 4096", Min: 1, Max: 4096, Flaps: true}, Now: "256"},
		{Setting: nic.Setting{Name: "coalesce.tx-usecs", Range: "a whole number from 0"}, Now: "3"},
		{Setting: nic.Setting{Name: "coalesce.tx-frames", Why: "igb has no coalesce.tx-frames"}},
		{Setting: nic.Setting{Name: "coalesce.adaptive-rx", Range: "on or off", Values: onOff}, Now: "off"},
		{Setting: nic.Setting{Name: "channels", Range: "combined 1 .. 8", Values: []string{"combined 1", "combined 2", "combined 3", "combined 4"}}, Now: "combined 4"},
	}
	for q := range 4 {
		list = append(list, nic.Value{Setting: nic.Setting{Name: fmt.Sprintf("xps[%d]", q), Range: "CPUs as 0-1,3, or none"}, Now: "none"})
	}
	list = append(list, nic.Value{Setting: nic.Setting{Name: "bql.max[0]", Range: "0 .. 1879048192 bytes", Max: 1879048192}, Now: "1879048192"},
		nic.Value{Setting: nic.Setting{Name: "qdisc", Range: "default, noqueue, mq", Values: []string{"default", "noqueue", "fq_codel"}}, Now: "mq"})
	for q := range 4 {
		list = append(list, nic.Value{Setting: nic.Setting{Name: fmt.Sprintf("irq[%d]", q), Range: "CPUs as 0-1,3"}, Now: "0-5"})
	}
	return append(list,
		nic.Value{Setting: nic.Setting{Name: "feature.tx-udp-segmentation", Range: "on or off", Values: onOff}, Now: "on"},
		nic.Value{Setting: nic.Setting{Name: "priv.legacy-rx", Range: "on or off", Values: onOff}, Now: "off"},
		nic.Value{Setting: nic.Setting{Name: "mtu", Range: "68 .. 9216", Min: 68, Max: 9216, Flaps: true}, Now: "1500"},
		nic.Value{Setting: nic.Setting{Name: "txqueuelen", Range: "a whole number from 0"}, Now: "1000"},
		nic.Value{Setting: nic.Setting{Name: "governor", Range: "a governor", Why: "this machine has no cpufreq governors"}},
	)
}

// card is a NIC made of values behind a bench: what it was asked, and how it answers.
type card struct {
	asked []string
	round func(name, text string) string // nil: as asked
	fail  map[string]error
}

func (c *card) on(b *Bench) *Bench {
	b.SetNIC = func(name, text string) (string, func() error, error) {
		if err := c.fail[name]; err != nil {
			return "", nil, err
		}
		old, _ := b.setting(name)
		c.asked = append(c.asked, name+" "+text)
		if c.round != nil {
			text = c.round(name, text)
		}
		return text, func() error { c.asked = append(c.asked, name+" "+old.Now); return nil }, nil
	}
	return b
}

func TestADeviceKnobAsksTheDeviceAndComesBack(t *testing.T) {
	c := &card{round: func(_, text string) string { return strings.Replace(text, "1001", "1008", 1) }}
	b := c.on(gigabit())
	k := find(t, "rings.tx")
	shared := b.Settings
	undo, err := k.Set(b, "1001")
	if err != nil {
		t.Fatal(err)
	}
	if got := k.Get(b); got != "1008" {
		t.Errorf("it shows %s, want what the driver made of it: 1008", got)
	}
	if shared[1].Now != "256" {
		t.Error("a slice that others hold was written to")
	}
	if err := undo(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"rings.tx 1001", "rings.tx 256"}, c.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if got := k.Get(b); got != "256" {
		t.Errorf("after the undo it shows %s, want 256", got)
	}
}

// TestBothRoomsOrNone: a change of the device and the stream is one, and a half that fails takes the other back.
func TestBothRoomsOrNone(t *testing.T) {
	jumbo := []Setting{{"size", "9000"}, {"mtu", "9000"}}
	t.Run("the size that a new MTU allows", func(t *testing.T) {
		c := &card{}
		b := c.on(gigabit())
		if _, err := SetAll(b, jumbo); err != nil {
			t.Fatal(err)
		}
		if b.Config.Frame.Size != 9000 || !slices.Equal(c.asked, []string{"mtu 9000"}) {
			t.Errorf("size %d, asked %v", b.Config.Frame.Size, c.asked)
		}
	})
	t.Run("the engine refuses", func(t *testing.T) {
		c, broken := &card{}, errors.New("ring is gone")
		b := c.on(gigabit())
		b.Apply = func(engine.Config) error { return broken }
		before := values(b)
		if _, err := SetAll(b, jumbo); !errors.Is(err, broken) {
			t.Fatalf("got %v, want the engine's error", err)
		}
		if diff := cmp.Diff([]string{"mtu 9000", "mtu 1500"}, c.asked); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(before, values(b)); diff != "" {
			t.Errorf("values (-want +got):\n%s", diff)
		}
	})
	t.Run("the device refuses", func(t *testing.T) {
		c := &card{fail: map[string]error{"mtu": fmt.Errorf("mtu of eth1: %w", nic.ErrNotSupported)}}
		b := c.on(gigabit())
		b.Apply = func(engine.Config) error { t.Error("the engine was asked"); return nil }
		if _, err := SetAll(b, append(jumbo, Setting{"pause", "off"})); !errors.Is(err, ErrUnavailable) {
			t.Fatalf("got %v, want ErrUnavailable", err)
		}
		if diff := cmp.Diff([]string{"pause off", "pause autoneg"}, c.asked); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
	})
}

func TestDeviceKnobsRefuseBeforeTheDeviceIsAsked(t *testing.T) {
	for _, tt := range []struct {
		knob, text string
		says       string
		is         error
	}{
		{"pause", "of", "did you mean off?", ErrUsage},
		{"rings.tx", "5000", "1 .. 4096", ErrUsage},
		{"rings.tx", "many", "1 .. 4096", ErrUsage},
		{"coalesce.tx-usecs", "-1", "a whole number from 0", ErrUsage},
		{"coalesce.tx-frames", "4", "igb has no coalesce.tx-frames", ErrUnavailable},
		{"governor", "performance", "no cpufreq governors", ErrUnavailable},
		{"xps[9]", "0", "eth1 has no xps[9]; it has xps[0], xps[1], xps[2], xps[3]", ErrUnavailable},
		{"priv.nothing", "on", "it has priv.legacy-rx", ErrUnavailable},
		{"feature.tx-udp-segmentation", "maybe", "on or off", ErrUsage},
		{"irq", "sideways", "auto, apart", ErrUsage},
		{"mtu", "67", "68 .. 9216", ErrUsage},
		{"mtu", "68", "1514", nil}, // allowed: 60 bytes fit
		{"channels", "combined 9 9", "", nil},
	} {
		t.Run(tt.knob+" "+tt.text, func(t *testing.T) {
			c := &card{}
			b := c.on(gigabit())
			_, err := find(t, tt.knob).Set(b, tt.text)
			if tt.is == nil {
				if err != nil {
					t.Fatalf("%v: want it left to the driver", err)
				}
				return
			}
			if !errors.Is(err, tt.is) || !strings.Contains(fmt.Sprint(err), tt.says) || len(c.asked) > 0 {
				t.Errorf("%v (asked %v): want %v and %q", err, c.asked, tt.is, tt.says)
			}
		})
	}
}

func TestLimitsFollowTheDevice(t *testing.T) {
	b := gigabit()
	set(t, b, "size", "1514")
	if _, err := find(t, "mtu").Set(b, "1000"); !errors.Is(err, ErrUsage) {
		t.Errorf("mtu 1000 below frames of 1514: %v, want ErrUsage", err)
	}
	set(t, b, "queues", "4")
	if _, err := find(t, "channels").Set(b, "combined 2"); !errors.Is(err, ErrUsage) {
		t.Errorf("2 channels below 4 queues in use: %v, want ErrUsage", err)
	}
}

func TestIRQPlacesAllQueues(t *testing.T) {
	for _, tt := range []struct{ how, want string }{
		{"auto", "irq[0] 0, irq[1] 1, irq[2] 0, irq[3] 1"},
		{"apart", "irq[0] 4, irq[1] 4, irq[2] 4, irq[3] 4"},
		{"4-5", "irq[0] 4, irq[1] 5, irq[2] 4, irq[3] 5"},
	} {
		t.Run(tt.how, func(t *testing.T) {
			c := &card{}
			b := c.on(gigabit())
			set(t, b, "queues", "2")
			k := find(t, "irq")
			if got := k.Get(b); got != "mixed" {
				t.Errorf("at first it is %q, want mixed", got)
			}
			set(t, b, "irq", tt.how)
			if got := strings.Join(c.asked, ", "); got != tt.want {
				t.Errorf("asked %s, want %s", got, tt.want)
			}
			if got := k.Get(b); got != tt.how {
				t.Errorf("it is %q, want %q", got, tt.how)
			}
		})
	}
}

func TestTurnADeviceKnob(t *testing.T) {
	for _, tt := range []struct {
		knob   string
		steps  int
		coarse bool
		want   string
	}{
		{"pause", 1, false, "off"},
		{"rings.tx", 1, false, "264"},
		{"rings.tx", 1, true, "512"},
		{"rings.tx", 9, true, "4096"},
		{"rings.tx", -1, true, "128"},
		{"coalesce.tx-usecs", -9, false, "0"},
		{"channels", 1, false, "combined 1"},
		{"xps[0]", 1, false, "none"},
		{"feature.tx-udp-segmentation", 1, false, "off"},
		{"governor", 1, false, "-"},
		{"irq", 1, false, "apart"},
	} {
		if got := find(t, tt.knob).Turn(gigabit(), tt.steps, tt.coarse); got != tt.want {
			t.Errorf("%s by %d (coarse %v): %s, want %s", tt.knob, tt.steps, tt.coarse, got, tt.want)
		}
	}
}

// TestPresetsKeepWhatTheSessionChanged: the rest of a device's settings is the machine's.
func TestPresetsKeepWhatTheSessionChanged(t *testing.T) {
	b := gigabit()
	for i := range b.Settings {
		b.Settings[i].Ours = b.Settings[i].Name == "pause" || b.Settings[i].Name == "irq[1]"
	}
	var kept []string
	for _, s := range Settings(b) {
		if k := find(t, s.Knob); k.Group == NICGroup {
			kept = append(kept, s.Knob+" "+s.Value)
		}
	}
	if diff := cmp.Diff([]string{"pause autoneg", "irq[1] 0-5"}, kept); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWithoutADeviceTheReasonIsSaid(t *testing.T) {
	b := lab()
	k := find(t, "pause")
	if got := k.Unavailable(b); got != "no device is open yet" {
		t.Errorf("%q", got)
	}
	if got := k.Get(b); got != "-" {
		t.Errorf("its value is %q, want -", got)
	}
}
