package ui

import (
	"context"
	"flag"
	"testing"
)

var byHand = flag.String("console", "", "run the console on a fake run in this terminal: nic or lab")

// TestByHand is for looking at the console:
//
//	go test -c -o /tmp/ui.test ./ui && /tmp/ui.test -test.run ByHand -console nic
func TestByHand(t *testing.T) {
	run := newFakeNIC()
	switch *byHand {
	case "":
		t.Skip("only with -console")
	case "lab":
		run = newFakeLab()
	}
	if err := serve(context.Background(), run.after(200), Options{}); err != nil {
		t.Fatal(err)
	}
}
