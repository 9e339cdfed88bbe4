package trace

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mdlayher/packet"
	"github.com/vishvananda/netlink"

	"wirespeed/nic/lab"
	"wirespeed/nic/lab/labtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// isRoot says whether the test runs as the machine's root.
func isRoot(t *testing.T) bool {
	t.Helper()
	uids, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(string(uids))
	return len(f) == 3 && f[2] == "4294967295"
}

// own makes a veth whose name and number no test in another namespace has at the same time: trace points know no namespaces.
func own(t *testing.T) string {
	t.Helper()
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.Index = fmt.Sprintf("t%d", os.Getppid()), 1<<20+2*os.Getppid()
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: attrs.Name + "p"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Delete(attrs.Name); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{attrs.Name, attrs.Name + "p"} {
		l, err := netlink.LinkByName(name)
		if err == nil {
			err = netlink.LinkSetUp(l)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return attrs.Name
}

// sendTo returns a function that sends frames of 60 bytes to nobody's address.
func sendTo(t *testing.T, dev string) (index int, send func(n int)) {
	t.Helper()
	i, err := net.InterfaceByName(dev)
	if err != nil {
		t.Fatal(err)
	}
	c, err := packet.Listen(i, packet.Raw, 0x88b5, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	to := net.HardwareAddr{2, 0, 0, 0, 0, 0xfe}
	frame := make([]byte, 60)
	copy(frame, to)
	copy(frame[6:], i.HardwareAddr)
	frame[12], frame[13] = 0x88, 0xb5
	return i.Index, func(n int) {
		for range n {
			if _, err := c.WriteTo(frame, &packet.Addr{HardwareAddr: to}); err != nil {
				t.Error(err)
				return
			}
		}
	}
}

// tracing runs a trace while frames are sent, by whoever may; who may not is told so.
func tracing[T any](t *testing.T, open func() (*Tracer, error), trace func(*Tracer, context.Context, time.Duration) (T, error), during func()) (result T, ok bool) {
	t.Helper()
	tr, err := open()
	if !isRoot(t) {
		if !errors.Is(err, ErrNotPermitted) || tr != nil {
			t.Errorf("opened as another user than root: %v, want ErrNotPermitted", err)
		}
		return result, false
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		result, err = trace(tr, ctx, time.Minute)
	}()
	time.Sleep(100 * time.Millisecond) // until it has been switched on, at the least
	during()
	cancel()
	<-done
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Close(); err != nil {
		t.Error(err)
	}
	return result, true
}

func TestDeviceCountsEveryFrame(t *testing.T) {
	dev := own(t)
	_, send := sendTo(t, dev)
	const n = 3000
	got, ok := tracing(t, func() (*Tracer, error) { return OpenDevice(dev) }, (*Tracer).Device, func() { send(n) })
	if !ok {
		return
	}
	if got.Frames != n || got.Released != n || got.Lost != 0 || got.Stuck != 0 || got.Heads != 0 {
		t.Errorf("%+v, want %d frames, all released", got, n)
	}
	if got.InMax < 1 || got.LapMean <= 0 || got.LapMax < got.LapMean || got.Window <= 0 || got.InMean <= 0 || got.InMean > float64(got.InMax) {
		t.Errorf("%+v", got)
	}
}

func TestBulksOfAShaper(t *testing.T) {
	dev := own(t)
	index, send := sendTo(t, dev)
	link, err := netlink.LinkByName(dev)
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.QdiscReplace(&netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: index, Parent: netlink.HANDLE_ROOT, Handle: netlink.MakeHandle(1, 0)},
		Rate:       1e9, Limit: 1 << 20, Buffer: 1e6,
	}); err != nil {
		t.Fatal(err)
	}
	const n = 2000
	got, ok := tracing(t, func() (*Tracer, error) { return OpenBulks(link.Attrs().Index) }, (*Tracer).Bulks, func() {
		send(n)
		time.Sleep(50 * time.Millisecond)
	})
	if !ok {
		return
	}
	want := Bulks{Dequeues: n, Frames: n, Max: 1}
	want.Histogram[0] = n
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a shaper hands over frame by frame (-want +got):\n%s", diff)
	}
}

func TestOwner(t *testing.T) {
	o := newOwner()
	o.start(1, 1000, 0)
	o.start(2, 2000, 0)
	o.release(9, 2500)
	o.release(1, 3000)
	o.start(2, 3500, 0) // the driver was busy
	o.start(3, 4000, 32)
	o.release(2, 5000)
	o.stop(6000)
	o.release(3, 7000)
	o.release(3, 8000) // its buffer is somebody else's now
	want := Owned{
		Frames: 3, Heads: 1, Released: 3, Again: 1, LapMean: (2000 + 1500 + 3000) / 3, LapMax: 3000, InMax: 2, Window: 5000,
		InMean: (1*1000 + 2*1000 + 1*1000 + 2*1000 + 1*1000) / 5000.0,
	}
	if diff := cmp.Diff(want, o.result(10_000)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	o.start(4, 11_000, 0)
	if got := o.result(11_000 + int64(Patience)); got.Stuck != 1 || got.Oldest != Patience {
		t.Errorf("a frame that never left: %+v", got)
	}
}

func TestBulks(t *testing.T) {
	var sum Bulks
	for _, n := range []uint64{1, 5, 64, 65, 1 << 40} {
		sum.add(n)
	}
	sum.add(3)
	if sum.Dequeues != 6 || sum.Frames != 1+5+64+65+1<<40+3 || sum.Max != 1<<40 {
		t.Errorf("%+v", sum)
	}
	got := map[uint64]uint64{}
	for i, n := range sum.Histogram {
		if n > 0 {
			got[Buckets[i]] = n
		}
	}
	if diff := cmp.Diff(map[uint64]uint64{1: 1, 3: 1, 6: 1, 64: 1, 1 << 32: 1}, got); diff != "" {
		t.Errorf("histogram (-want +got):\n%s", diff)
	}
	if m := (Bulks{}).Mean(); m != 0 {
		t.Errorf("the mean of nothing is %f", m)
	}
}

const dequeue = `name: qdisc_dequeue
ID: 2263
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int packets;	offset:24;	size:4;	signed:1;
	field:void * skbaddr;	offset:32;	size:8;	signed:0;
	field:__data_loc char[] name;	offset:40;	size:4;	signed:0;

print fmt: "dequeue ifindex=%d"
`

func TestParseFormat(t *testing.T) {
	e, err := parseFormat(dequeue)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]field{"common_type": {0, 2}, "packets": {24, 4}, "skbaddr": {32, 8}, "name": {40, 4}}
	if e.id != 2263 {
		t.Errorf("id %d", e.id)
	}
	if diff := cmp.Diff(want, e.fields, cmp.AllowUnexported(field{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, text := range []string{"", "ID: 1", "ID: x\n", "ID: 1\nfield:int a; offset:b; size:4;", "ID: 1\nfield:a;"} {
		if _, err := parseFormat(text); err == nil {
			t.Errorf("%q is a description", text)
		}
	}
}

func FuzzDecode(f *testing.F) {
	e, err := parseFormat(dequeue)
	if err != nil {
		f.Fatal(err)
	}
	e.fields["value"] = e.fields["packets"]
	body := make([]byte, 60)
	native.PutUint64(body, 12345)
	native.PutUint32(body[8:], 48)
	native.PutUint16(body[12:], 2263)
	native.PutUint32(body[12+24:], 7)
	native.PutUint64(body[12+32:], 99)
	if r, ok := decode([]event{e}, body); !ok || r.at != 12345 || r.skb != 99 || r.value != 7 {
		f.Fatalf("%+v", r)
	}
	f.Add(body, dequeue)
	f.Add([]byte{1}, "ID: 1\n")
	f.Fuzz(func(t *testing.T, b []byte, text string) {
		decode([]event{e}, b)
		if o, err := parseFormat(text); err == nil {
			decode([]event{o}, b)
		}
	})
}
