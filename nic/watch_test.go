package nic

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"go.uber.org/goleak"

	"wirespeed/nic/lab/labtest"
)

// otherNamespace makes a network namespace and returns a descriptor of it.
func otherNamespace(t *testing.T) int {
	t.Helper()
	runtime.LockOSThread()
	here, err := netns.Get()
	must(t, err)
	there, err := netns.New() // moves this thread
	must(t, errors.Join(err, netns.Set(here)))
	runtime.UnlockOSThread()
	here.Close()
	t.Cleanup(func() { there.Close() })
	return int(there)
}

// timed is a change with the time at which it was told.
type timed struct {
	Change
	at time.Time
}

// watch collects what Watch tells.
func watch(t *testing.T, ctx context.Context, d *Device) chan timed {
	t.Helper()
	c := make(chan timed, 4096)
	must(t, d.Watch(ctx, func(ch Change) { c <- timed{ch, time.Now()} }))
	return c
}

// until returns the first change that fits; all others are passed over.
func until(t *testing.T, c chan timed, what string, fits func(Change) bool) timed {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		select {
		case ch := <-c:
			if fits(ch.Change) {
				return ch
			}
		case <-deadline:
			t.Fatalf("not told within 10 s: %s", what)
		}
	}
}

func carrier(on bool) func(Change) bool {
	return func(c Change) bool { return !c.Gone && c.Link.Carrier == on }
}

func TestWatch(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	labtest.Pair(t, "v0", "v1", 2)
	v0, v1 := handle(t, "v0"), handle(t, "v1")
	d, err := Open("v0")
	must(t, err)
	defer d.Close()
	c := watch(t, t.Context(), d)

	first := until(t, c, "the present state", func(Change) bool { return true })
	if now, err := d.Link(); err != nil || first.Link != now {
		t.Errorf("first %+v, want the present state %+v", first.Link, now)
	}
	must(t, netlink.LinkSetDown(v1))
	if l := until(t, c, "peer down", carrier(false)).Link; !l.Up || l.Peer != v1.Attrs().Index || l.TxQueues != 2 {
		t.Errorf("peer down: %+v, want up without carrier", l)
	}
	must(t, netlink.LinkSetUp(v1))
	until(t, c, "peer up", carrier(true))
	must(t, netlink.LinkSetMTU(v0, 1300))
	until(t, c, "MTU", func(c Change) bool { return c.Link.MTU == 1300 })
	must(t, netlink.LinkSetDown(v0))
	until(t, c, "down", func(c Change) bool { return !c.Link.Up && !c.Link.Carrier })
	must(t, netlink.LinkSetName(v0, "v0new"))
	until(t, c, "name", func(c Change) bool { return c.Link.Name == "v0new" })
	must(t, netlink.LinkDel(v0))
	if got := until(t, c, "gone", func(c Change) bool { return c.Gone }); got.Link.Name != "v0new" {
		t.Errorf("gone: %+v", got)
	}
	if err := d.Watch(t.Context(), func(Change) {}); !errors.Is(err, ErrNotFound) {
		t.Errorf("watch of a removed interface: %v, want ErrNotFound", err)
	}
}

func TestWatchMovedAway(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	v1 := handle(t, "v1")
	defer netlink.LinkDel(v1) // the pair's clean-up knows v0 alone, which is elsewhere by then
	c := watch(t, t.Context(), open(t, "v0"))
	must(t, netlink.LinkSetNsFd(handle(t, "v0"), otherNamespace(t)))
	until(t, c, "gone", func(c Change) bool { return c.Gone })
}

// TestWatchLeavesBridge: the message that a port has left its bridge is an RTM_DELLINK too, and means nothing of the kind.
func TestWatchLeavesBridge(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "br0"
	bridge := &netlink.Bridge{LinkAttrs: attrs}
	add(t, bridge)
	v0 := handle(t, "v0")
	c := watch(t, t.Context(), open(t, "v0"))
	must(t, netlink.LinkSetMaster(v0, bridge))
	must(t, netlink.LinkSetNoMaster(v0))
	must(t, netlink.LinkSetMTU(v0, 1300))
	until(t, c, "the MTU, last", func(c Change) bool {
		if c.Gone {
			t.Error("leaving a bridge was reported as gone")
		}
		return c.Gone || c.Link.MTU == 1300
	})
}

func TestWatchEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(cancel func(), d *Device)
	}{
		{"with its context", func(cancel func(), d *Device) { cancel() }},
		{"with the device", func(cancel func(), d *Device) { d.Close() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			labtest.Pair(t, "v0", "v1", 1)
			ignore := goleak.IgnoreCurrent()
			d := open(t, "v0")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for range 3 {
				watch(t, ctx, d)
			}
			c.end(cancel, d)
			goleak.VerifyNone(t, ignore)
		})
	}
}

// TestWatchOverrun: while f sleeps the kernel's buffer overflows. What it threw away must not leave us with an old state.
func TestWatchOverrun(t *testing.T) {
	labtest.Pair(t, "v0", "v1", 1)
	v0, v1 := handle(t, "v0"), handle(t, "v1")
	d := open(t, "v0")
	const changes = 500
	calls, hold, c := 0, make(chan struct{}), make(chan Change, 2*changes)
	must(t, d.Watch(t.Context(), func(ch Change) {
		<-hold
		calls++
		c <- ch
	}))
	for i := range changes {
		must(t, netlink.LinkSetMTU(v0, 1000+i))
	}
	must(t, netlink.LinkSetDown(v1)) // the news that must not be lost
	close(hold)
	last := time.After(10 * time.Second)
	for {
		select {
		case ch := <-c:
			if ch.Gone {
				t.Fatal("gone")
			}
			if ch.Link.Carrier {
				continue
			}
		case <-last:
			t.Fatal("the loss of carrier was never told")
		}
		break
	}
	must(t, d.Close()) // waits for the watcher
	if calls >= changes {
		t.Errorf("%d calls for %d changes: nothing was lost, so the test proves nothing", calls, changes)
	}
	t.Logf("%d calls for %d changes", calls, changes)
}

// TestWatchLatency measures how long after the call that takes the peer down the loss of carrier is told, and how much of it is ours:
// the kernel itself takes the link down inside that call.
func TestWatchLatency(t *testing.T) {
	rounds := 20
	if s := os.Getenv("WATCH_ROUNDS"); s != "" {
		rounds, _ = strconv.Atoi(s)
	}
	for _, c := range []struct{ name, dev string }{{"peer down", "v1"}, {"own end down", "v0"}} {
		t.Run(c.name, func(t *testing.T) {
			labtest.Pair(t, "v0", "v1", 1)
			link := handle(t, c.dev)
			changes := watch(t, t.Context(), open(t, "v0"))
			until(t, changes, "carrier", carrier(true))
			var whole, late []time.Duration
			for range rounds {
				start := time.Now()
				must(t, netlink.LinkSetDown(link))
				returned := time.Now()
				told := until(t, changes, "no carrier", carrier(false)).at
				whole, late = append(whole, told.Sub(start)), append(late, told.Sub(returned))
				must(t, netlink.LinkSetUp(link))
				until(t, changes, "carrier", carrier(true))
			}
			slices.Sort(whole)
			slices.Sort(late)
			t.Logf("from the call: median %v, max %v; from its return: median %v, max %v", whole[rounds/2], whole[rounds-1], late[rounds/2], late[rounds-1])
			if whole[rounds/2] > 50*time.Millisecond { // generous: a busy machine, not our code
				t.Errorf("median %v", whole[rounds/2])
			}
		})
	}
}
