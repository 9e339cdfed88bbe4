package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"wirespeed/nic/check"
	"wirespeed/presets/knob"
)

func someFindings() []check.Finding {
	return []check.Finding{
		{ID: "load", Title: "other load", State: check.Warn, Seen: "CPU 0 up to 15 % busy: cc1 14 %", Why: "whatever else runs takes time from the sender", Sure: check.Certain, Mend: "end cc1 (process 99)"},
		{ID: "link", Group: "link", Title: "link", State: check.OK, Seen: "1 Gbit/s, full duplex", Why: "it bounds the rate", Sure: check.Certain},
		{
			ID: "irq", Group: "queues", Title: "TX interrupts", State: check.Bad, Seen: "all 2 on CPU 0", Why: "completions of all queues compete for one CPU, and it sends less itself",
			Sure: check.Certain, Mend: "echo 0 >/proc/irq/35/smp_affinity_list; echo 1 >/proc/irq/36/smp_affinity_list", Fixable: true,
		},
		{ID: "zeroing", Title: "zeroed buffers", State: check.Unknown, Seen: "neither /proc/config.gz nor /boot/config-6.12.117+deb12-amd64: file does not exist"},
		{ID: "vm", Title: "machine", State: check.Info, Seen: "a guest of QEMU"},
		{ID: "mtu", Group: "link", Title: "MTU", State: check.OK, Seen: "1500"},
	}
}

func checked(t *testing.T, format string, findings []check.Finding, mended ...check.Mended) string {
	t.Helper()
	var out bytes.Buffer
	if err := Check(Options{Format: format, Out: &out}, "eth0", findings, mended); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCheckText(t *testing.T) {
	const want = `eth0 and this machine: 2 to mend, 1 unknown, 2 good

mended   pause               off
NOT DONE rings.tx 1024       the driver refuses it

BAD      TX interrupts       all 2 on CPU 0
                             completions of all queues compete for one CPU, and
                             it sends less itself (certain)
               --fix, or:  > echo 0 >/proc/irq/35/smp_affinity_list
                           > echo 1 >/proc/irq/36/smp_affinity_list

WARN     other load          CPU 0 up to 15 % busy: cc1 14 %
                             whatever else runs takes time from the sender
                             (certain)
                           > end cc1 (process 99)

unknown  zeroed buffers      neither /proc/config.gz nor /boot/config-
                             6.12.117+deb12-amd64: file does not exist

info     machine             a guest of QEMU

good     link     link, MTU
`
	got := checked(
		t, "line", someFindings(), check.Mended{ID: "pause", Change: check.Change{Setting: "pause", Value: "off"}, Now: "off"},
		check.Mended{ID: "rings", Change: check.Change{Setting: "rings.tx", Value: "1024"}, Err: errors.New("the driver refuses it")},
	)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCheckFits: nothing is wider than a terminal of 80 columns, but commands, which are to be copied.
func TestCheckFits(t *testing.T) {
	findings := someFindings()
	for i := range findings {
		findings[i].Seen += strings.Repeat(" and more", 30) + strings.Repeat("x", 100)
	}
	for line := range strings.Lines(checked(t, "", findings)) {
		if ansi.StringWidth(strings.TrimRight(line, "\n")) > 80 && !strings.Contains(line, "> ") {
			t.Errorf("%d columns: %s", ansi.StringWidth(line), line)
		}
	}
}

func TestCheckAllGood(t *testing.T) {
	if got := checked(t, "line", []check.Finding{{Group: "link", Title: "link", State: check.OK}}); got != "eth0 and this machine: nothing to mend, 1 good\n\ngood     link     link\n" {
		t.Errorf("%q", got)
	}
	if got := checked(t, "line", nil); got != "eth0 and this machine: nothing to mend, 0 good\n" {
		t.Errorf("%q", got)
	}
}

func TestCheckJSON(t *testing.T) {
	got := checked(t, "json", someFindings(), check.Mended{ID: "pause", Change: check.Change{Setting: "pause", Value: "off"}, Err: errors.New("no")})
	if strings.Count(got, "\n") != 1 {
		t.Errorf("not one line: %q", got)
	}
	var o map[string]any
	if err := json.Unmarshal([]byte(got), &o); err != nil {
		t.Fatal(err)
	}
	findings := o["findings"].([]any)
	delete(o, "findings")
	delete(o, "t")
	want := map[string]any{
		"type": "check", "device": "eth0", "good": false, "to_mend": 2.0, "unknown": 1.0,
		"mended": []any{map[string]any{"id": "pause", "setting": "pause", "asked": "off", "now": nil, "error": "no"}},
	}
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantIRQ := map[string]any{
		"id": "irq", "group": "queues", "title": "TX interrupts", "state": "bad", "seen": "all 2 on CPU 0", "sure": "certain", "fixable": true,
		"why":  "completions of all queues compete for one CPU, and it sends less itself",
		"mend": "echo 0 >/proc/irq/35/smp_affinity_list; echo 1 >/proc/irq/36/smp_affinity_list",
	}
	if diff := cmp.Diff(wantIRQ, findings[2]); diff != "" || len(findings) != 6 {
		t.Errorf("%d findings (-want +got):\n%s", len(findings), diff)
	}
}

type gone struct{ err error }

func (g gone) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "|1", Err: g.err}
}

func TestCheckErrors(t *testing.T) {
	if err := Check(Options{Format: "csv"}, "", nil, nil); !errors.Is(err, knob.ErrUsage) || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	if err := Check(Options{Out: gone{syscall.EPIPE}}, "", nil, nil); err != nil {
		t.Errorf("a reader that is gone: %v", err)
	}
	if err := Check(Options{Out: gone{syscall.ENOSPC}}, "", nil, nil); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
}
