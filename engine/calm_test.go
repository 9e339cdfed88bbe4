package engine

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestCalmMonitor(t *testing.T) {
	slack := func(tid string) string {
		b, err := os.ReadFile(slackFile(tid))
		if errors.Is(err, fs.ErrPermission) {
			t.Skip("needs CAP_SYS_NICE: without it nothing is changed, which is as it should be")
		}
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(b))
	}
	own, first := strconv.Itoa(os.Getpid()), firstThread()
	if first == "" || first == own {
		t.Fatalf("monitor thread %q of process %s", first, own)
	}
	before := slack(own)
	calmMonitor()
	if got, want := slack(first), "500000000"; got != want {
		t.Errorf("slack of the monitor: %s ns, want %s", got, want)
	}
	if got := slack(own); got != before {
		t.Errorf("slack of the main thread changed from %s to %s", before, got)
	}
}
