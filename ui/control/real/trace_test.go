package real

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"wirespeed/engine"
	"wirespeed/nic"
	"wirespeed/nic/lab/labtest"
	"wirespeed/ui/control"
)

// A trace of every frame sees as many as the engine has sent, or has lost events and says so; who is not the machine's root is refused.
func TestTraceOfEveryFrame(t *testing.T) {
	uids, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		t.Fatal(err)
	}
	if f := strings.Fields(string(uids)); len(f) != 3 || f[2] != "4294967295" {
		labtest.Pair(t, "v0", "v1", 1)
		r, err := control.New(control.Options{Device: "v0", Rx: "v1", IKnow: true, Settings: []control.Setting{{Knob: "trace", Value: "device-all"}}})
		if !errors.Is(err, nic.ErrNotPermitted) || !strings.Contains(err.Error(), "the machine's root") {
			t.Errorf("trace without rights: %v", err)
		}
		if r != nil {
			_ = r.Close(context.Background())
		}
		return
	}
	const count = 5000
	name := fmt.Sprintf("t%d", os.Getppid()) // trace points know no namespaces, and every test has a v0
	labtest.Pair(t, name, "v1", 1)
	r := run(t, control.Options{Device: name, Rx: "v1", Limit: engine.Limit{Count: count}}, "trace device-all", "path qdisc", "rate 20kpps")
	start(t, r)
	<-r.Done()
	s := r.Result()
	if s.Err != nil || s.Trace == nil || s.Trace.Device == nil {
		t.Fatalf("%v, trace %+v", s.Err, s.Trace)
	}
	d := s.Trace.Device
	if d.Lost == 0 && (d.Frames != count || d.Released != count || d.Heads != 0 || d.Stuck != 0) {
		t.Errorf("%+v, want %d frames", d, count)
	}
	if _, err := r.Do("trace off"); err != nil {
		t.Error(err)
	}
	if v := r.Tick(); v.Instruments.Trace != nil {
		t.Errorf("switched off: %+v", v.Instruments.Trace)
	}
}

func TestTraceOfWindows(t *testing.T) {
	uids, _ := os.ReadFile("/proc/self/uid_map")
	if f := strings.Fields(string(uids)); len(f) != 3 || f[2] != "4294967295" {
		return // the other test has shown what others are told
	}
	r := openLab(t, engine.Limit{}, "link 10Mbit", "rate max")
	start(t, r)
	if _, err := r.Do("trace bulk"); err != nil {
		t.Fatal(err)
	}
	v := until(t, r, "a window", func(v *control.View) bool {
		t := v.Instruments.Trace
		return t != nil && t.Windows > 0 && t.Cost != nil
	})
	if b := v.Instruments.Trace.Bulks; b.Dequeues == 0 || b.Frames < b.Dequeues {
		t.Errorf("bulks %+v", b)
	}
	if _, err := r.Do("trace nothing"); err == nil {
		t.Error("trace nothing is taken")
	}
	time.Sleep(50 * time.Millisecond)
}
