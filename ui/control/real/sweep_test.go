package real

import (
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"wirespeed/nic/lab/labtest"
	"wirespeed/presets/knob"
	"wirespeed/ui/control"
)

// plantCliff lets frames whose IP packet has 128 to 255 bytes, which are sizes from 142 on, leave v0 at 6 Mbit/s and all others as they come: an htb with a
// class for them, and a u32 filter on the packet's length.
func plantCliff(t *testing.T) {
	t.Helper()
	v0, err := netlink.LinkByName("v0")
	if err != nil {
		t.Fatal(err)
	}
	at := func(handle, parent uint32) netlink.QdiscAttrs {
		return netlink.QdiscAttrs{LinkIndex: v0.Attrs().Index, Handle: handle, Parent: parent}
	}
	root := netlink.NewHtb(at(netlink.MakeHandle(1, 0), netlink.HANDLE_ROOT))
	root.Defcls = 0 // past all classes
	if err := netlink.QdiscAdd(root); err != nil {
		t.Fatal(err)
	}
	class := netlink.NewHtbClass(netlink.ClassAttrs{LinkIndex: v0.Attrs().Index, Parent: root.Handle, Handle: netlink.MakeHandle(1, 2)},
		netlink.HtbClassAttrs{Rate: 6e6, Buffer: 4000, Cbuffer: 4000})
	if err := netlink.ClassAdd(class); err != nil {
		t.Fatal(err)
	}
	filter := &netlink.U32{
		FilterAttrs: netlink.FilterAttrs{LinkIndex: v0.Attrs().Index, Parent: root.Handle, Priority: 1, Protocol: unix.ETH_P_IP},
		ClassId:     netlink.MakeHandle(1, 2),
		Sel:         &netlink.TcU32Sel{Flags: 1, Nkeys: 1, Keys: []netlink.TcU32Key{{Mask: 0x80, Val: 0x80}}}, // TC_U32_TERMINAL; total length is the first word's lower half
	}
	if err := netlink.FilterAdd(filter); err != nil {
		t.Fatal(err)
	}
}

// A real cliff is named at the right size. The rates are low, so that it is the kernel's shaper that makes it, on a loaded machine too: 10,000 frames a second
// of all sizes are asked, and of those from 142 bytes on some 5,200 leave.
func TestSweepNamesAPlantedCliff(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	plantCliff(t)
	r := run(t, control.Options{}, "path qdisc", "segment off", "rate 10kpps")
	start(t, r)
	s, err := r.Sweep(t.Context(), knob.Sweep{Knob: "size", From: "134", To: "149", Dwell: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if v := r.Tick(); s.Restored != "60" || v.Sweep.Running {
		t.Errorf("restored %q, running %v", s.Restored, v.Sweep.Running)
	}
	disturbed := false
	for _, p := range s.Points { // nothing but its CPU keeps the sender from 10,000 frames a second there
		disturbed = disturbed || p.X < 142 && p.Behind
	}
	found := 0
	for _, f := range s.Findings {
		if f.Kind != control.FindStep || f.Confirmed == nil || !*f.Confirmed {
			continue
		}
		found++
		if !disturbed && (f.Before != "141" || f.After != "142") || !disturbed && (f.Percent > -40 || f.Percent < -60) {
			t.Errorf("%s", f.Text)
		}
	}
	switch {
	case found != 1 && disturbed:
		t.Log("no verdict: the machine took the sender's CPU away")
	case found != 1:
		t.Errorf("%d cliffs named, want one, between 141 and 142:\n%+v", found, s.Findings)
		for _, p := range s.Points {
			t.Logf("%s %s: %.0f pps, %v samples, ± %.0f ns", p.Leg, p.Text, p.PPS, p.Samples, p.ErrNS)
		}
	}
}

// The helper's frames pass the same shaper, and are in none of our figures: the ladder says so, and the receiver has counted.
func TestKickIsCountedApart(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	plantCliff(t)
	r := run(t, control.Options{}, "path qdisc", "segment off", "rate 5kpps")
	start(t, r)
	k, err := r.Kick(t.Context(), 300*time.Millisecond)
	if err != nil {
		if len(r.Bench().Device.CPUs) == 1 {
			return // it was refused for want of a CPU, as it must be
		}
		t.Fatal(err)
	}
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	l := r.Last().Ladder
	if l.Device == nil || l.Arrived == nil || *l.Device != l.Taken || *l.Arrived != l.Taken {
		t.Errorf("ladder %+v (device %d, arrived %d)", l, *l.Device, *l.Arrived)
	}
	if k.Frames == 0 || k.Stayed == nil {
		t.Errorf("%d frames of the helper: %s", k.Frames, k.Text)
	}
}
