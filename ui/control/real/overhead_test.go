package real

import (
	"testing"
	"time"

	"wirespeed/ui/control"
)

// TestTheConsoleCostsLittle ticks as the console does. A race detector makes everything ten times slower and says nothing about us.
func TestTheConsoleCostsLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector's own cost would be measured")
	}
	r := open(t, 4, control.Options{Console: true}, "rate 10kpps")
	start(t, r)
	known, least := 0, 1.0
	for range 20 {
		time.Sleep(250 * time.Millisecond)
		if v := r.Tick(); v.Overhead >= 0 {
			known++
			least = min(least, v.Overhead)
		}
	}
	if known == 0 {
		t.Fatal("the overhead is not known")
	}
	t.Logf("%.2f %% of a CPU", 100*least)
	if least > 0.01 { // the least of five looks: others' load only adds
		t.Errorf("ticks at 4 Hz take %.2f %% of a CPU, want 1 %% at most", 100*least)
	}
}
