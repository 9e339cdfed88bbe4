package real

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"wirespeed/engine"
	"wirespeed/nic/lab/labtest"
	"wirespeed/presets/knob"
	"wirespeed/ui/control"
)

// bridged puts a bridge between v0 and v1 that passes so many bit/s on to v1, and drops what is too much: a device under test.
func bridged(t *testing.T, bps float64) {
	t.Helper()
	labtest.Pair(t, "v0", "b0", 1)
	labtest.Pair(t, "v1", "b1", 1)
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "br0"
	br := &netlink.Bridge{LinkAttrs: attrs}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(netlink.LinkAdd(br))
	t.Cleanup(func() { _ = netlink.LinkDel(br) })
	for _, name := range []string{"b0", "b1"} {
		l, err := netlink.LinkByName(name)
		must(err)
		must(netlink.LinkSetMaster(l, br))
	}
	must(netlink.LinkSetUp(br))
	l, err := netlink.LinkByName("b1")
	must(err)
	must(netlink.QdiscAdd(&netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: l.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate:       uint64(bps / 8), Limit: 8000, Buffer: uint32(8000 * 8 / (bps / 1e9) / 64), // bytes; the time for 8000, in ticks of 64 ns
	}))
}

// TestThroughputOfABridge: the highest rate without loss is not above what the bridge passes, and a trial without loss lost nothing.
func TestThroughputOfABridge(t *testing.T) {
	const bps = 20e6
	bridged(t, bps)
	r := run(t, control.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	trials := 0
	got, err := r.Throughput(ctx, control.ThroughputSpec{Sizes: []int{1518, 9018}, Trial: 200 * time.Millisecond, Resolution: 0.05}, func(control.Trial) { trials++ })
	if err != nil || got.Ended != "" || len(got.Sizes) != 2 {
		t.Fatalf("%v %+v", err, got)
	}
	s := got.Sizes[0]
	if s.Most.Lost == 0 || s.Most.Verdict(0) != control.VerdictLoss {
		t.Errorf("as fast as it goes: %+v, want a loss", s.Most)
	}
	// The bridge's buffers let pass so much more in the time of a trial.
	if most := bps/8/1514 + 2*8000/1514/0.2; s.Best == nil || s.Best.Lost != 0 || s.Best.PPS > most*1.05 {
		t.Errorf("best %+v, the bridge passes %.0f pps", s.Best, most)
	}
	if s.Longest == 0 || s.Longest > s.Most.Offered || s.AtLeast || len(s.Curve) < 3 || trials != len(s.Trials()) || !s.Complete() {
		t.Errorf("longest %d, %d points, %d trials of %d", s.Longest, len(s.Curve), len(s.Trials()), trials)
	}
	if got.Sizes[1].Skipped == "" {
		t.Error("9018 bytes fit an MTU of 1500")
	}
}

// TestThroughputEndsInOrder: what is known by then is there, and nothing is being sent any more.
func TestThroughputEndsInOrder(t *testing.T) {
	r := open(t, 1, control.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	got, err := r.Throughput(ctx, control.ThroughputSpec{Trial: 100 * time.Millisecond, Resolution: 0.1}, func(control.Trial) { cancel() })
	if err != nil || got.Ended != "interrupted" || len(got.Sizes) != 1 || len(got.Sizes[0].Trials()) != 1 {
		t.Errorf("%v %+v", err, got)
	}
	if v := r.Tick(); v.State != engine.Done {
		t.Errorf("%v", v.State)
	}
}

func TestThroughputWithoutReceiver(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	r := run(t, control.Options{Device: "v0"}, "dst-mac 02:00:00:00:00:fe")
	if _, err := r.Throughput(t.Context(), control.ThroughputSpec{}, func(control.Trial) {}); !errors.Is(err, knob.ErrUsage) {
		t.Errorf("%v", err)
	}
}
