package supervisor_test

import (
	"strings"
	"testing"
)

// TestFixBesideASession: the findings show, nothing is changed, and what is said is who holds the device, and not that rights are missing.
func TestFixBesideASession(t *testing.T) {
	s := nicRun(t, "", `
for q in /sys/class/net/v0/queues/tx-*; do echo 3 >$q/xps_cpus; done
all planted
echo == fix
$WS check v0 --fix >found 2>said && echo 'exit 0' || echo "exit $?"
cat said
echo == found
cat found
all fixed
kill -TERM $pid
wait $pid || true
`)
	if want := "exit 1\nwirespeed: --fix changes nothing: v0 is held by PID "; !strings.HasPrefix(s["fix"], want) || strings.Contains(s["fix"], "root") {
		t.Errorf("said %q, want %q", s["fix"], want)
	}
	if !strings.HasPrefix(s["found"], "v0 and this machine: ") {
		t.Errorf("the findings do not show: %q", s["found"])
	}
	if s["planted"] != s["fixed"] {
		t.Error("something was changed")
	}
}
