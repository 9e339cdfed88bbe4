package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestLongNames: the longest names that Linux allows leave what an operator needs in sight, whole, at 80 columns.
func TestLongNames(t *testing.T) {
	v := newFakeNIC().after(60).Tick()
	v.Device.Link.Name, v.Device.Rx, v.Device.Link.Driver = "enp129s0f0np0v1", "enp129s0f1np1v1", "mlx5_core"
	v.Fast.RxDev, v.Sample.RxDev = v.Device.Rx, v.Device.Rx
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		m := screenOf(v, size[0], size[1], plainTheme())
		lines := strings.Split(ansi.Strip(m.View()), "\n")
		head, rx := strings.Join(lines[:2], "\n"), ""
		for _, l := range lines {
			if strings.HasPrefix(l, " RX ") {
				rx = l
			}
		}
		for _, want := range []string{"enp129s0f0np0v1 → enp129s0f1np1v1", "● running 00:00:15", "to 02:00:00:00:00:fe 198.18.0.2:9", "pause off"} {
			if !strings.Contains(head, want) {
				t.Errorf("at %d columns the head has no %q:\n%s", size[0], want, head)
			}
		}
		if !strings.Contains(rx, "enp129s0f1np1v1 ") || !strings.Contains(rx, " device") {
			t.Errorf("at %d columns the receiving side is cut: %q", size[0], rx)
		}
	}
}
