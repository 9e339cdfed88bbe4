package nic

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"wirespeed/nic/lab/labtest"
)

// tcQdisc is what the tc program says of the root qdisc, on its own netlink socket.
func tcQdisc(t *testing.T, dev string) (q Qdisc, ok bool) {
	t.Helper()
	out := run(t, "tc", "-s", "-j", "qdisc", "show", "dev", dev)
	if out == "" {
		return q, false
	}
	var list []struct {
		Kind                                                       string
		Root                                                       bool
		Bytes, Drops, Requeues, Overlimits, Backlog, Qlen, Packets uint64
	}
	must(t, json.Unmarshal([]byte(out), &list))
	for _, l := range list {
		if l.Root {
			return Qdisc{l.Kind, l.Qlen, l.Backlog, l.Drops, l.Requeues, l.Overlimits, l.Bytes}, true
		}
	}
	t.Fatalf("no root qdisc in %s", out)
	return q, false
}

func qdiscAttrs(dev netlink.Link) netlink.QdiscAttrs {
	return netlink.QdiscAttrs{LinkIndex: dev.Attrs().Index, Parent: netlink.HANDLE_ROOT, Handle: netlink.MakeHandle(1, 0)}
}

func TestQdisc(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 2)
	v0 := handle(t, "v0")
	d := open(t, "v0")
	send := sender(t, "v0")

	for range 5 {
		send(60)
	}
	if got, err := d.Qdisc(); err != nil || got != (Qdisc{Kind: "noqueue"}) {
		t.Errorf("noqueue: %+v, %v: it counts nothing", got, err)
	}

	// 1000 byte/s and a burst of 1500 bytes (the buffer counts 64 ns): the first passes, the second waits for half a second, three fit in the
	// queue, the rest is dropped.
	must(t, netlink.QdiscReplace(&netlink.Tbf{QdiscAttrs: qdiscAttrs(v0), Rate: 1000, Limit: 3000, Buffer: 1500e6 / 64}))
	for range 10 {
		send(1000)
	}
	got, err := d.Qdisc()
	must(t, err)
	want, ok := tcQdisc(t, "v0")
	if ok {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("against tc (-want +got):\n%s", diff)
		}
	}
	if got.Kind != "tbf" || got.BacklogPackets != 3 || got.BacklogBytes != 3000 || got.Drops != 6 || got.Bytes != 1000 || got.Overlimits == 0 {
		t.Errorf("tbf: %+v, want 3 frames of 1000 bytes waiting, 6 dropped, one passed", got)
	}
	if _, err := d.QueueBytes(); !errors.Is(err, ErrNotSupported) ||
		err.Error() != "bytes per queue are counted by a root mq only, and the root qdisc of v0 is tbf" {
		t.Errorf("bytes per queue under tbf: %v", err)
	}
	if err := d.AttachMQ(); !errors.Is(err, ErrNotSupported) || err.Error() != "v0 has a root qdisc of its own, tbf: mq is not put in its place" {
		t.Errorf("mq over tbf: %v", err)
	}

	must(t, netlink.LinkDel(v0))
	_, qdisc := d.Qdisc()
	_, bytes := d.QueueBytes()
	for call, err := range map[string]error{"Qdisc": qdisc, "QueueBytes": bytes, "AttachMQ": d.AttachMQ()} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s of a removed interface: %v", call, err)
		}
	}
}

func TestQdiscNeverUp(t *testing.T) {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "i0"
	add(t, &netlink.Ifb{LinkAttrs: attrs})
	if got, err := open(t, "i0").Qdisc(); err != nil || got != (Qdisc{Kind: "noop"}) {
		t.Errorf("got %+v, %v; want noop", got, err)
	}
}

// TestAttachMQ: after it the kernel's own per-queue counts are there, and they are the queues that frames went to.
func TestAttachMQ(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 3)
	d := open(t, "v0")
	must(t, d.AttachMQ())
	must(t, d.AttachMQ()) // is there already
	if l, err := d.Link(); err != nil || l.Qdisc != "mq" {
		t.Errorf("root qdisc %q, %v", l.Qdisc, err)
	}
	sendFlows(t, "v0", 64)
	got, err := d.QueueBytes()
	must(t, err)
	if want, ok := tcClasses(t, "v0"); ok && !slices.Equal(want, got) {
		t.Errorf("bytes per queue %v, tc says %v", got, want)
	}
	var sum uint64
	for _, n := range got {
		sum += n
	}
	if len(got) != 3 || sum != 64*60 || slices.Max(got) == sum {
		t.Errorf("bytes per queue %v, want 3840 over three queues", got)
	}
	// The root's figures have the children's in them: adding those again would count twice.
	q, err := d.Qdisc()
	must(t, err)
	if q.Kind != "mq" || q.Bytes != 64*60 {
		t.Errorf("root %+v, want mq with 3840 bytes", q)
	}
	if want, ok := tcQdisc(t, "v0"); ok && q != want {
		t.Errorf("root %+v, tc says %+v", q, want)
	}
}

// tcClasses is what the tc program says of an mq's queues.
func tcClasses(t *testing.T, dev string) (bytes []uint64, ok bool) {
	t.Helper()
	out := run(t, "tc", "-s", "class", "show", "dev", dev) // has no JSON for statistics of mq in all versions
	if out == "" {
		return nil, false
	}
	for line := range strings.Lines(out) {
		var n uint64
		if _, err := fmt.Sscanf(line, " Sent %d bytes", &n); err == nil {
			bytes = append(bytes, n)
		}
	}
	return bytes, true
}

func TestAttachMQOneQueue(t *testing.T) {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.NumTxQueues = "i0", 1
	add(t, &netlink.Ifb{LinkAttrs: attrs})
	if err := open(t, "i0").AttachMQ(); !errors.Is(err, ErrNotSupported) || err.Error() != "i0 has one transmit queue: mq needs two" {
		t.Errorf("got %v", err)
	}
}

// TestQueueBytesRealQueues: mq has a class for each queue that was allocated.
func TestQueueBytesRealQueues(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 4)
	run(t, "ethtool", "-L", "v0", "tx", "2")
	d := open(t, "v0")
	must(t, d.AttachMQ())
	l, err := d.Link()
	must(t, err)
	if got, err := d.QueueBytes(); err != nil || len(got) != l.TxQueues {
		t.Errorf("%d queues, %v; want %d", len(got), err, l.TxQueues)
	}
}

// BenchmarkAttachMQ shows the price of counting per queue, on the qdisc path with plain sends, in CPU time: what else runs disturbs less.
func BenchmarkAttachMQ(b *testing.B) {
	for _, mq := range []bool{false, true} {
		b.Run(map[bool]string{false: "noqueue", true: "mq"}[mq], func(b *testing.B) {
			labtest.Pair(b, "v0", "v1", 2)
			if mq {
				must(b, open(b, "v0").AttachMQ())
			}
			send := sender(b, "v0")
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var start, end unix.Rusage
			must(b, unix.Getrusage(unix.RUSAGE_THREAD, &start))
			for b.Loop() {
				send(60)
			}
			must(b, unix.Getrusage(unix.RUSAGE_THREAD, &end))
			cpu := func(u unix.Rusage) int64 { return u.Utime.Nano() + u.Stime.Nano() }
			b.ReportMetric(float64(cpu(end)-cpu(start))/float64(b.N), "cpu-ns/op")
		})
	}
}

func FuzzParseTC(f *testing.F) {
	nl, err := dial()
	if err != nil {
		f.Fatal(err)
	}
	defer nl.close()
	nl.talk(request(unix.RTM_GETQDISC, unix.NLM_F_DUMP, tcmsg(0, 0)...), func(_ uint16, b []byte) error { f.Add(slices.Clone(b)); return nil })
	f.Add(make([]byte, sizeofTcMsg))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := parseTC(b); (err != nil) != (len(b) < sizeofTcMsg) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	})
}
