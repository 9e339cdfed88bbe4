package nic

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"

	"wirespeed/nic/lab/labtest"
)

func TestQdiscs(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 3)
	d := open(t, "v0")
	kinds := func() (list []QueueQdisc) {
		t.Helper()
		list, err := d.Qdiscs(nil)
		must(t, err)
		return list
	}
	if got := kinds(); len(got) != 0 {
		t.Errorf("noqueue: %+v, and frames wait nowhere", got)
	}
	must(t, d.AttachMQ())
	got := kinds()
	for i := range got {
		if got[i].Kind == "" || got[i].Kind == "mq" {
			t.Errorf("queue %d has a %q", i, got[i].Kind)
		}
		got[i].Qdisc = Qdisc{}
	}
	want := []QueueQdisc{{Queue: 0, OneQueue: true}, {Queue: 1, OneQueue: true}, {Queue: 2, OneQueue: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mq (-want +got):\n%s", diff)
	}

	// As in TestQdisc: one passes, three wait, six are dropped.
	must(t, netlink.QdiscReplace(&netlink.Tbf{QdiscAttrs: qdiscAttrs(handle(t, "v0")), Rate: 1000, Limit: 3000, Buffer: 1500e6 / 64}))
	send := sender(t, "v0")
	for range 10 {
		send(1000)
	}
	got = kinds()
	if len(got) == 1 {
		if tc, ok := tcQdisc(t, "v0"); !ok || tc.Overlimits == 0 {
			t.Errorf("tc says %+v", tc)
		} else {
			tc.Overlimits = got[0].Overlimits // the kernel goes on trying
			if diff := cmp.Diff([]QueueQdisc{{Queue: -1, Qdisc: tc}}, got); diff != "" {
				t.Errorf("against tc (-want +got):\n%s", diff)
			}
		}
	} else {
		t.Errorf("tbf: %+v", got)
	}

	must(t, netlink.LinkDel(handle(t, "v0")))
	if _, err := d.Qdiscs(nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("of a device that is gone: %v", err)
	}
}

func TestLimits(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 2)
	d := open(t, "v0")
	sender(t, "v0")(100)
	if l, err := d.Limits(0); !errors.Is(err, ErrNotSupported) || l != (Limits{}) {
		t.Errorf("veth has byte queue limits: %+v, %v", l, err)
	}
}

func BenchmarkQdiscs(b *testing.B) {
	labtest.Pair(b, "v0", "v1", 4)
	d, err := Open("v0")
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	if err := d.AttachMQ(); err != nil {
		b.Fatal(err)
	}
	var list []QueueQdisc
	for b.Loop() {
		if list, err = d.Qdiscs(list); err != nil {
			b.Fatal(err)
		}
	}
}
