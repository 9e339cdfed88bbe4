package nic

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/vishvananda/netlink"

	"wirespeed/nic/lab/labtest"
)

// procNetDev is the kernel's other way of telling the same numbers (net/core/net-procfs.c; its "drop" has rx_missed_errors in it).
func procNetDev(t *testing.T, name string) (c Counters) {
	t.Helper()
	f, err := os.Open("/proc/thread-self/net/dev")
	must(t, err)
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		dev, numbers, ok := strings.Cut(s.Text(), ":")
		if !ok || strings.TrimSpace(dev) != name {
			continue
		}
		var skip uint64
		_, err := fmt.Sscan(numbers, &c.RxBytes, &c.RxPackets, &c.RxErrors, &c.RxDropped, &skip, &skip, &skip, &skip,
			&c.TxBytes, &c.TxPackets, &c.TxErrors, &c.TxDropped, &skip, &skip, &skip, &skip)
		must(t, err)
		return c
	}
	t.Fatalf("no %s in /proc/net/dev", name)
	return c
}

func TestCounters(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	d0, d1 := open(t, "v0"), open(t, "v1")
	send := sender(t, "v0")
	for range 100 {
		send(60)
	}
	for range 10 {
		send(1514)
	}
	start := time.Now()
	got0, err := d0.Counters()
	must(t, err)
	got1, err := d1.Counters()
	must(t, err)
	times := cmpopts.IgnoreFields(Counters{}, "Before", "After")
	if diff := cmp.Diff(Counters{TxPackets: 110, TxBytes: 100*60 + 10*1514}, got0, times); diff != "" {
		t.Errorf("v0 (-want +got):\n%s", diff)
	}
	// On a veth the peer's count is ours from the other side; frames for nobody are dropped above the driver and counted there.
	if diff := cmp.Diff(procNetDev(t, "v1"), got1, times); diff != "" || got1.RxPackets != 110 || got1.RxBytes != 100*60+10*1514 {
		t.Errorf("v1 (-want +got):\n%s", diff)
	}
	if got0.Before.Before(start) || got0.After.Before(got0.Before) || got1.Before.Before(got0.After) || time.Now().Before(got1.After) {
		t.Errorf("brackets out of order: start %v, v0 %v to %v, v1 %v to %v", start, got0.Before, got0.After, got1.Before, got1.After)
	}
	if !strings.Contains(got0.Before.String(), "m=+") {
		t.Errorf("%v has no monotonic reading", got0.Before)
	}
}

// TestCountersDropped: each field is its own. An ifb takes our frames as received and dropped.
func TestCountersDropped(t *testing.T) {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "i0"
	ifb := &netlink.Ifb{LinkAttrs: attrs}
	add(t, ifb)
	must(t, netlink.LinkSetUp(ifb))
	send := sender(t, "i0")
	for range 7 {
		send(60)
	}
	want := Counters{RxPackets: 7, RxBytes: 7 * 60, RxDropped: 7}
	got, err := open(t, "i0").Counters()
	must(t, err)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Counters{}, "Before", "After")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(procNetDev(t, "i0"), got, cmpopts.IgnoreFields(Counters{}, "Before", "After")); diff != "" {
		t.Errorf("against /proc/net/dev (-want +got):\n%s", diff)
	}
}

func TestCountersGone(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	d := open(t, "v0")
	must(t, netlink.LinkDel(handle(t, "v0")))
	if _, err := d.Counters(); !errors.Is(err, ErrNotFound) || err.Error() != "counters of v0: no such device" {
		t.Errorf("got %v", err)
	}
}

// TestCountersConcurrent: the socket is shared; an answer must not reach the wrong caller, nor the wait for the socket the bracket.
func TestCountersConcurrent(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	d := open(t, "v0")
	send := sender(t, "v0")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var last uint64
			for range 300 {
				c, err := d.Counters()
				// The kernel adds up packets and bytes one after the other, and a frame may leave in between.
				if err != nil || c.TxPackets < last || c.TxBytes%60 != 0 || c.TxBytes/60+1 < c.TxPackets || c.TxBytes/60 > c.TxPackets+1 {
					t.Errorf("%d packets, %d bytes after %d packets: %v", c.TxPackets, c.TxBytes, last, err)
					return
				}
				last = c.TxPackets
				if l, err := d.Link(); err != nil || l.Name != "v0" {
					t.Errorf("link %q: %v", l.Name, err)
				}
			}
		})
	}
	for range 500 {
		send(60)
	}
	wg.Wait()
}

func TestCountersAllocateNothing(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	d := open(t, "v0")
	if n := testing.AllocsPerRun(100, func() { d.Counters() }); n != 0 {
		t.Errorf("%v allocations a call, want none", n)
	}
}

func BenchmarkCounters(b *testing.B) {
	labtest.Pair(b, "v0", "v1", 1)
	d := open(b, "v0")
	brackets := make([]time.Duration, 0, b.N)
	b.ReportAllocs()
	for b.Loop() {
		c, err := d.Counters()
		if err != nil {
			b.Fatal(err)
		}
		brackets = append(brackets, c.After.Sub(c.Before))
	}
	slices.Sort(brackets)
	b.ReportMetric(float64(brackets[len(brackets)/2]), "ns-bracket-median")
	b.ReportMetric(float64(brackets[len(brackets)*99/100]), "ns-bracket-p99")
	b.ReportMetric(float64(brackets[len(brackets)-1]), "ns-bracket-max")
}
