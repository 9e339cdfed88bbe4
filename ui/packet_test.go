package ui

import (
	"testing"
	"time"

	"wirespeed/ui/control"
)

// openFrame opens the packet pane with a frame that no clock and no chance has a part in.
func openFrame(m *model) { m.overlay = &packetPane{seen: frameWith(m.run.Bench(), nil, 41, fakeStart)} }

func TestProgressWords(t *testing.T) {
	steps := []string{"wait 5s", "burst 8", "mark B"}
	for _, c := range []struct {
		name string
		p    control.Progress
		want string
	}{
		{"a wait", control.Progress{At: 0, Steps: steps, Until: fakeStart.Add(2500 * time.Millisecond)}, "1 of 3: wait 5s (3 s left), then burst 8"},
		{"a wait that is over", control.Progress{At: 0, Steps: steps, Until: fakeStart}, "1 of 3: wait 5s, then burst 8"},
		{"a command", control.Progress{At: 1, Steps: steps}, "2 of 3: burst 8, then mark B"},
		{"the last", control.Progress{At: 2, Steps: steps}, "3 of 3: mark B, the last one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := progressWords(&c.p, fakeStart); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
