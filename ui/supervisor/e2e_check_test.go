package supervisor_test

import (
	"strings"
	"testing"
)

// TestFixBesideASession: the findings show, nothing is changed, and what is said is who holds the device, or that none of it can be mended, and not
// that rights are missing.
func TestFixBesideASession(t *testing.T) {
	const shaper = "tc qdisc replace dev v0 root tbf rate 1mbit burst 3000 limit 5000"
	for _, c := range []struct{ name, plant, says string }{
		{"something can be mended", "for q in /sys/class/net/v0/queues/tx-*; do echo 3 >$q/xps_cpus; done", "--fix changes nothing: v0 is held by PID "},
		{"nothing can", shaper, "none of this can be mended by --fix here: see each finding's command\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := nicRun(t, "", c.plant+"\necho == fix\n$WS check v0 --fix >found 2>said && echo 'exit 0' || echo \"exit $?\"\ncat said\necho == found\ncat found\n"+
				"kill -TERM $pid\nwait $pid || true\n")
			if !strings.Contains(s["fix"], c.says) || !strings.Contains(s["fix"], "exit 1") || strings.Contains(s["fix"], "root") {
				t.Errorf("said %q, want %q and exit 1", s["fix"], c.says)
			}
			if !strings.HasPrefix(s["found"], "v0 and this machine: ") {
				t.Errorf("the findings do not show: %q", s["found"])
			}
		})
	}
}
