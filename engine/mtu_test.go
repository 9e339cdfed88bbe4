package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
)

// A device whose MTU has grown since its rings were made takes longer frames from the next start on; a run under way says why not.
func TestTheMTUGrows(t *testing.T) {
	tx, rx := pair(t, 1)
	cfg := base(t, tx, "1kpps")
	e := started(t, tx, rx, cfg, Limit{})
	for _, name := range []string{"v0", "v1"} {
		l, err := netlink.LinkByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := netlink.LinkSetMTU(l, 4000); err != nil {
			t.Fatal(err)
		}
	}
	tx.MTU = 4000
	e.SetDevice(tx)
	cfg.Frame.Size = 3000
	err := e.Apply(cfg)
	if err == nil || !strings.Contains(err.Error(), "stop and start again") {
		t.Fatalf("Apply: %v, want a word on how to go on", err)
	}
	if err := e.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := e.Apply(cfg); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(Limit{Count: 100}); err != nil {
		t.Fatal(err)
	}
	s := finish(t, e, 3*time.Second)
	if s.Taken.Count < 100 || s.Arrived.Count != s.Taken.Count {
		t.Errorf("%d taken, %d arrived", s.Taken.Count, s.Arrived.Count)
	}
}
