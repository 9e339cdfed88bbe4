package knob

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirespeed/nic"
)

// twoOfEight is a NIC that uses two of eight queues.
func twoOfEight() *Bench {
	b := gigabit()
	b.Settings = slices.DeleteFunc(slices.Clone(b.Settings), func(s nic.Value) bool { q, ok := queueOf(s.Name); return ok && q >= 2 })
	i := slices.IndexFunc(b.Settings, func(s nic.Value) bool { return s.Name == "channels" })
	b.Settings[i].Now = "combined 2"
	b.Device.Queues = 2
	return b
}

// TestChannelsComeFirst: settings of queues that --channels makes may be on the same command line, before it or after it.
func TestChannelsComeFirst(t *testing.T) {
	line := []Setting{{"xps[3]", "1"}, {"irq[2]", "5"}, {"bql.max[3]", "30000"}, {"rings.tx", "512"}, {"channels", "combined 4"}}
	want := []string{"rings.tx 512", "channels combined 4", "xps[3] 1", "irq[2] 5", "bql.max[3] 30000"}
	for range 2 {
		t.Run(line[0].Knob+" first", func(t *testing.T) {
			c := &card{}
			b := c.on(twoOfEight())
			undo, err := SetAll(b, line)
			if err != nil {
				t.Fatal(err)
			}
			got, want := slices.Clone(c.asked), slices.Clone(want)
			if !slices.Equal(got[:2], want[:2]) {
				t.Errorf("asked %v, want rings and channels first", got)
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			if s, ok := b.setting("xps[3]"); !ok || s.Now != "1" {
				t.Errorf("xps[3] shows %+v", s)
			}
			if err := undo(); err != nil {
				t.Error(err)
			}
		})
		slices.Reverse(line)
	}
	t.Run("irq auto places those that come", func(t *testing.T) {
		c := &card{}
		b := c.on(twoOfEight())
		if _, err := SetAll(b, []Setting{{"irq", "4,5"}, {"channels", "combined 4"}}); err != nil {
			t.Fatal(err)
		}
		want := []string{"channels combined 4", "irq[0] 4", "irq[1] 5", "irq[2] 4", "irq[3] 5"}
		if diff := cmp.Diff(want, c.asked); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
	})
	t.Run("as many workers as there will be queues", func(t *testing.T) {
		c := &card{}
		b := c.on(twoOfEight())
		if _, err := SetAll(b, []Setting{{"queues", "4"}, {"channels", "combined 4"}}); err != nil || b.Config.Queues != 4 {
			t.Errorf("%d queues, %v", b.Config.Queues, err)
		}
	})
	for _, c := range []struct {
		line []Setting
		says string
	}{
		{[]Setting{{"queues", "2"}, {"channels", "combined 1"}}, "queues 2"},
		{[]Setting{{"xps[4]", "1"}, {"channels", "combined 4"}}, "eth1 has no xps[4]"},
		{[]Setting{{"xps[1]", "1"}, {"channels", "combined 1"}}, "xps[1] 1: with these channels eth1 has queues 0 to 0"},
		{[]Setting{{"irq[3]", "1"}}, "eth1 has no irq[3]; it has irq[0], irq[1]"},
	} {
		t.Run(fmt.Sprint(c.line), func(t *testing.T) {
			card := &card{}
			if _, err := SetAll(card.on(twoOfEight()), c.line); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %s", err, c.says)
			}
			if len(card.asked) > 0 {
				t.Errorf("asked %v", card.asked)
			}
		})
	}
}
