package nic

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"wirespeed/nic/host"
)

// TestRealDevice compares what we read of a device that has a driver, queues and flow control with what ethtool, tc, ip and /sys say. It
// changes settings and sends frames: for guests that are thrown away (.ci/vmlab-nic). NIC_TEST_QUEUES says how many queues it has.
func TestRealDevice(t *testing.T) {
	dev := os.Getenv(realDevice)
	if dev == "" {
		t.Skipf("%s is not set: see .ci/vmlab-nic", realDevice)
	}
	queues, err := strconv.Atoi(os.Getenv("NIC_TEST_QUEUES"))
	must(t, err)
	d := open(t, dev)
	l, err := d.Link()
	must(t, err)
	t.Logf("%+v", l)
	r := real{Device: d, link: l, dev: dev}
	t.Run("Link", func(t *testing.T) { r.testLink(t, queues) })
	t.Run("Pause", r.testPause)
	t.Run("BeforeTheFirstFrame", func(t *testing.T) {
		if n, err := d.InFlight(0); n != 0 || err != nil {
			t.Errorf("in flight: %d, %v; want 0: who knows yet", n, err)
		}
	})
	t.Run("Counters", r.testCounters)
	t.Run("InFlight", r.testInFlight)
	t.Run("XPS", r.testXPS)
	t.Run("Watch", r.testWatch)
	t.Run("Protected", r.testProtected)
}

type real struct {
	*Device
	link   Link
	dev    string
	before map[string]string // the state that settings come back to
}

// tool runs a program that must be there.
func tool(t *testing.T, words string) string {
	t.Helper()
	args := strings.Fields(words)
	out := run(t, args[0], args[1:]...)
	if out == "" {
		t.Fatalf("%s: no output", words)
	}
	return out
}

// after returns the word that follows a label in a tool's output, "" if there is none.
func after(out, label string) string {
	m := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(label) + `\s*(\S+)`).FindStringSubmatch(out)
	if m == nil {
		return ""
	}
	return m[1]
}

func (r real) sys(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile("/sys/class/net/" + r.dev + "/" + file)
	must(t, err)
	return strings.TrimSpace(string(b))
}

func (r real) testLink(t *testing.T, queues int) {
	h := handle(t, r.dev).Attrs()
	want := Link{
		Name: r.dev, Index: h.Index, Driver: after(tool(t, "ethtool -i "+r.dev), "driver:"), MTU: h.MTU, Up: true, Carrier: true,
		TxQueues: queues, RxQueues: queues, SpeedWhy: r.link.SpeedWhy,
	}
	copy(want.MAC[:], h.HardwareAddr)
	settings := tool(t, "ethtool "+r.dev)
	if mbit, ok := strings.CutSuffix(after(settings, "Speed:"), "Mb/s"); ok {
		n, err := strconv.Atoi(mbit)
		must(t, err)
		want.Speed, want.SpeedWhy = uint64(n)*1e6, ""
	} else if r.link.SpeedWhy == "" {
		t.Error("no reason why the speed is unknown")
	}
	if duplex := strings.ToLower(after(settings, "Duplex:")); !strings.HasPrefix(duplex, "unknown") {
		want.Duplex = duplex
	}
	if q, ok := tcQdisc(t, r.dev); ok {
		want.Qdisc = q.Kind
	}
	if diff := cmp.Diff(want, r.link); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func (r real) testPause(t *testing.T) {
	check := func() bool {
		t.Helper()
		got, err := r.Pause()
		out := run(t, "sh", "-c", "ethtool -a "+r.dev+" 2>&1 || true")
		if strings.Contains(out, "not supported") {
			if !errors.Is(err, ErrNotSupported) || err.Error() != r.link.Driver+" has no pause frames" {
				t.Errorf("%+v, %v; ethtool says %s", got, err, out)
			}
			return false
		}
		want := Pause{Autoneg: after(out, "Autonegotiate:") == "on", RX: after(out, "RX:") == "on", TX: after(out, "TX:") == "on"}
		if err != nil || got != want {
			t.Errorf("%+v, %v; ethtool says %s", got, err, out)
		}
		return true
	}
	if check() {
		for _, set := range []string{"rx on tx off", "rx off tx on", "rx off tx off"} {
			run(t, "sh", "-c", "ethtool -A "+r.dev+" autoneg off "+set)
			check()
		}
	}
	r.waitForCarrier(t)
}

func (r real) waitForCarrier(t *testing.T) {
	t.Helper()
	for range 1000 {
		l, err := r.Link()
		must(t, err)
		if l.Carrier {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("no carrier after 10 s")
}

func (r real) testCounters(t *testing.T) {
	before, err := r.Counters()
	must(t, err)
	bytesBefore, queueErr := r.QueueBytes()
	const frames = 300
	sendFlows(t, r.dev, frames)
	var got Counters
	for range 500 { // some drivers refresh their counters every second or two
		got, err = r.Counters()
		must(t, err)
		if got.TxPackets >= before.TxPackets+frames {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := got.TxPackets - before.TxPackets; n != frames {
		t.Errorf("%d frames counted, want %d", n, frames)
	}
	if diff := cmp.Diff(procNetDev(t, r.dev), got, cmpopts.IgnoreFields(Counters{}, "Before", "After", "CarrierErrors")); diff != "" {
		t.Errorf("against /proc/net/dev (-want +got):\n%s", diff)
	}
	q, err := r.Qdisc()
	must(t, err)
	if want, ok := tcQdisc(t, r.dev); ok && q != want {
		t.Errorf("qdisc %+v, tc says %+v", q, want)
	}
	t.Logf("bracket %v, qdisc %+v, bytes %d", got.After.Sub(got.Before), q, got.TxBytes-before.TxBytes)

	if r.link.TxQueues == 1 {
		if !errors.Is(queueErr, ErrNotSupported) {
			t.Errorf("bytes per queue of one queue: %v, %v", bytesBefore, queueErr)
		}
		return
	}
	must(t, queueErr)
	bytes, err := r.QueueBytes()
	must(t, err)
	if want, ok := tcClasses(t, r.dev); !ok || !slices.Equal(want[:r.link.TxQueues], bytes) {
		t.Errorf("bytes per queue %v, tc says %v", bytes, want)
	}
	var sum uint64
	for i := range bytes {
		sum += bytes[i] - bytesBefore[i]
	}
	if sum != frames*60 {
		t.Errorf("bytes per queue %v after %v: %d more, want %d", bytes, bytesBefore, sum, frames*60)
	}
}

func (r real) testInFlight(t *testing.T) {
	if r.link.Driver == "vmxnet3" {
		if n, err := r.InFlight(0); !errors.Is(err, ErrNotSupported) || err.Error() != "vmxnet3 does not use byte queue limits" {
			t.Errorf("%d, %v; want not supported", n, err)
		}
		return
	}
	send := sender(t, r.dev)
	var highest uint64
	for start := time.Now(); time.Since(start) < time.Second; {
		for range 16 {
			send(1514)
		}
		for q := range r.link.TxQueues {
			n, err := r.InFlight(q)
			if err != nil {
				t.Fatalf("queue %d: %v", q, err)
			}
			highest = max(highest, n)
		}
	}
	if highest == 0 || highest > 1<<20 {
		t.Errorf("at most %d bytes in flight while sending", highest)
	}
	t.Logf("at most %d bytes in flight", highest)
	for q := range r.link.TxQueues {
		var n uint64
		var err error
		for range 300 { // they come back when a completion is due
			if n, err = r.InFlight(q); n == 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if file := r.sys(t, fmt.Sprintf("queues/tx-%d/byte_queue_limits/inflight", q)); n != 0 || err != nil || file != "0" {
			t.Errorf("queue %d at rest: %d, %v, /sys says %s", q, n, err, file)
		}
	}
}

func (r real) testXPS(t *testing.T) {
	if r.link.TxQueues == 1 {
		_, err := r.XPS(0)
		restore, setErr := r.SetXPS(0, []int{0})
		if !errors.Is(err, ErrNotSupported) || !errors.Is(setErr, ErrNotSupported) || restore != nil {
			t.Errorf("one queue: %v, %v; want not supported", err, setErr)
		}
		t.Log(setErr)
		return
	}
	file := "queues/tx-1/xps_cpus"
	before := r.sys(t, file)
	restore, err := r.SetXPS(1, []int{0, 1})
	must(t, err)
	if got, err := r.XPS(1); err != nil || r.sys(t, file) != "3" || !slices.Equal(got, []int{0, 1}) {
		t.Errorf("%v, %v, mask %s; want 0, 1", got, err, r.sys(t, file))
	}
	must(t, restore())
	if got := r.sys(t, file); got != before {
		t.Errorf("restored to %s, want %s", got, before)
	}
	t.Logf("XPS was %s", before)

	// It does what it is for: all CPUs on queue 1 and on no other, and no flow goes elsewhere.
	all, err := host.CPUs()
	must(t, err)
	for q := range r.link.TxQueues {
		cpus := all
		if q != 1 {
			cpus = nil
		}
		restore, err := r.SetXPS(q, cpus)
		must(t, err)
		defer func() { must(t, restore()) }()
	}
	bytesBefore, err := r.QueueBytes()
	must(t, err)
	sendFlows(t, r.dev, 100)
	var bytes []uint64
	for range 300 { // a frame counts when it leaves the qdisc
		bytes, err = r.QueueBytes()
		must(t, err)
		if bytes[1]-bytesBefore[1] >= 6000 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if bytes[1]-bytesBefore[1] != 6000 || bytes[0] != bytesBefore[0] {
		t.Errorf("bytes per queue %v after %v, want 6000 more on queue 1", bytes, bytesBefore)
	}
}

func (r real) testWatch(t *testing.T) {
	c := watch(t, t.Context(), r.Device)
	until(t, c, "the present state", carrier(true))
	start := time.Now()
	run(t, "ip", "link", "set", r.dev, "down")
	told := until(t, c, "no carrier", carrier(false))
	down := told.at.Sub(start)
	start = time.Now()
	run(t, "ip", "link", "set", r.dev, "up")
	t.Logf("down told after %v, up after %v", down, until(t, c, "carrier", carrier(true)).at.Sub(start))
}

func (r real) testProtected(t *testing.T) {
	if why, err := r.Protected(); err != nil || why != "" {
		t.Errorf("%q, %v; want none", why, err)
	}
	run(t, "ip", "route", "add", "default", "dev", r.dev)
	if why, err := r.Protected(); err != nil || why != r.dev+" carries the default route" {
		t.Errorf("%q, %v", why, err)
	}
	run(t, "ip", "route", "del", "default", "dev", r.dev)
}
