package engine

import "testing"

// The link may come back at any moment, also between a worker's last look at it in park and its next: whoever sends is running.
func TestWhoeverSendsIsRunning(t *testing.T) {
	w := bench(t, "max")
	w.shared.carrier.Store(false)
	now, err := w.park(w.shared.clock.now())
	if err != nil {
		t.Fatal(err)
	}
	if s := State(w.counters.state.Load()); s != NoCarrier {
		t.Fatalf("%s without a carrier", s)
	}
	w.shared.carrier.Store(true) // from here on the loop steps, without another look at the link
	if _, _, err := w.step(now); err != nil {
		t.Fatal(err)
	}
	if s := State(w.counters.state.Load()); s != Running || w.tally.ring == 0 {
		t.Errorf("%s, %d frames sent", s, w.tally.ring)
	}
}
