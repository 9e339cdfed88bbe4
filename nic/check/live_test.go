package check

import (
	"flag"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mdlayher/packet"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"wirespeed/nic"
	"wirespeed/nic/host"
	"wirespeed/nic/lab/labtest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *record != "" { // of the machine, not of a lab
		os.Exit(m.Run())
	}
	os.Exit(labtest.Main(m))
}

// TestLiveDevice looks at a real device, as it is and with faults planted on the path.
func TestLiveDevice(t *testing.T) {
	labtest.Pair(t, "k0", "k1", 2)
	d, err := nic.Open("k0")
	must(t, err)
	defer d.Close()
	judge := func() map[string]Finding {
		f := &Facts{Machine: good().Machine}
		f.Device = readDevice(host.Live(), d)
		found := make(map[string]Finding)
		for _, x := range Judge(f) {
			found[x.ID] = x
		}
		return found
	}
	found := judge()
	for _, id := range []string{"pause", "pcie", "numa", "mtu", "irq", "queues", "qdisc", "sockets", "promisc", "xdp", "filters", "rings"} {
		if found[id].State != OK {
			t.Errorf("a new veth: %+v", found[id])
		}
	}
	if l := found["link"]; l.State != Info { // its speed is fiction
		t.Errorf("%+v", l)
	}

	link, err := netlink.LinkByName("k0")
	must(t, err)
	must(t, netlink.SetPromiscOn(link))
	capture, err := packet.Listen(ifi(t, "k0"), packet.Raw, unix.ETH_P_ALL, nil)
	must(t, err)
	defer capture.Close()
	at := netlink.QdiscAttrs{LinkIndex: link.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT}
	must(t, netlink.QdiscAdd(&netlink.Tbf{QdiscAttrs: at, Rate: 1e6, Limit: 1e5, Buffer: 1e5}))
	found = judge()
	for id, want := range map[string]State{"promisc": Warn, "qdisc": Warn, "sockets": OK} { // the capture is our own
		if found[id].State != want {
			t.Errorf("planted: %v: %+v", want, found[id])
		}
	}
	sockets := readDevice(host.Live(), d).Sockets
	if diff := cmp.Diff([]Socket{{3, filepath.Base(os.Args[0]), os.Getpid(), true}}, sockets.V); diff != "" || sockets.Err != nil {
		t.Errorf("sockets %v (-want +got):\n%s", sockets.Err, diff)
	}
	must(t, netlink.LinkSetDown(link))
	if l := judge()["link"]; l.State != Bad || l.Mend != "ip link set k0 up" {
		t.Errorf("down: %+v", l)
	}
}

// TestLook: a thread that spins is seen, on its CPU and by its share, but for our own.
func TestLook(t *testing.T) {
	start := time.Now()
	f, err := Look(host.Live(), nil)
	must(t, err)
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	if f.Load.Err != nil || len(f.Load.V.Busy) == 0 || f.Load.V.Span < watch {
		t.Errorf("load %+v", f.Load)
	}
	for cpu, share := range f.Load.V.Busy {
		if !slices.Contains(f.CPUs, cpu) || share < 0 || share > 1 {
			t.Errorf("CPU %d: %g", cpu, share)
		}
	}
	if len(Judge(f)) != len(machine) {
		t.Error("findings are missing")
	}
}

// TestLoadBetween takes our own time off, and names who took the rest.
func TestLoadBetween(t *testing.T) {
	now := time.Now()
	a := moment{
		at: now, own: time.Second, procs: []host.Process{{PID: 7, Name: "cc1", Used: time.Second}},
		loads: []host.CPULoad{{CPU: 0, User: time.Second}, {CPU: 1}, {CPU: 2}},
	}
	b := moment{
		at: now.Add(time.Second), own: 1100 * time.Millisecond,
		procs: []host.Process{{PID: 7, Name: "cc1", Used: 1400 * time.Millisecond}, {PID: 8, Name: "new", Used: 50 * time.Millisecond}},
		loads: []host.CPULoad{{CPU: 0, User: 1500 * time.Millisecond}, {CPU: 1, SoftIRQ: 50 * time.Millisecond, Steal: 20 * time.Millisecond}, {CPU: 2, User: time.Second}},
	}
	got, err := loadBetween(a, b, []int{0, 1})
	want := Load{
		Span: time.Second, Busy: map[int]float64{0: 0.4, 1: 0.05}, Steal: map[int]float64{0: 0, 1: 0.02},
		Top: []Busy{{b.procs[0], 0.4}, {b.procs[1], 0.05}},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if l, err := loadBetween(a, a, []int{0}); err == nil {
		t.Errorf("between one moment and itself: %+v", l)
	}
}

func ifi(t *testing.T, name string) *net.Interface {
	t.Helper()
	i, err := net.InterfaceByName(name)
	must(t, err)
	return i
}
