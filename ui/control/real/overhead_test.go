package real

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"wirespeed/nic/host"
	"wirespeed/ui/control"
)

// TestTicksCostLittle counts the CPU time of this thread alone: what others do to the machine does not matter.
func TestTicksCostLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector's own cost would be measured")
	}
	r := open(t, 4, control.Options{Console: true}, "rate 1kpps")
	start(t, r)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		d, err := host.ThreadTime(unix.Gettid())
		if err != nil {
			t.Skip(err)
		}
		return d
	}
	const ticks = 20
	var cost time.Duration
	for range ticks {
		time.Sleep(50 * time.Millisecond)
		before := used()
		r.Tick()
		cost += used() - before
	}
	share := cost.Seconds() / ticks * 4
	t.Logf("%v a tick: %.2f %% of a CPU at 4 Hz", cost/ticks, 100*share)
	if share > 0.005 { // the screen has the other half of 1 %
		t.Errorf("ticks at 4 Hz take %.2f %% of a CPU, want 0.5 %% at most", 100*share)
	}
}

// TestTheOverheadIsKnown looks long enough for two measurements.
func TestTheOverheadIsKnown(t *testing.T) {
	r := open(t, 4, control.Options{Console: true}, "rate 1kpps")
	start(t, r)
	v := until(t, r, "overhead", func(v *control.View) bool { return v.Overhead >= 0 })
	if v.Overhead == 0 || v.Overhead > 2 {
		t.Errorf("overhead %f", v.Overhead)
	}
}
