package nic

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirespeed/nic/lab/labtest"
)

// ethtoolK is what the real ethtool says of all features.
func ethtoolK(t *testing.T, dev string) string {
	t.Helper()
	out, err := exec.Command("ethtool", "-k", dev).CombinedOutput()
	if err != nil {
		t.Fatalf("ethtool -k %s: %v: %s", dev, err, out)
	}
	return string(out)
}

func TestFeatureIsOneBitAndComesBack(t *testing.T) {
	labtest.Pair(t, "f0", "f1", 1)
	d, err := Open("f0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	before := ethtoolK(t, "f0")
	f, err := d.Feature(UDPSegmentation[0])
	if err != nil || !f.On || f.Fixed {
		t.Fatalf("%+v %v, want on", f, err)
	}
	restore, err := d.SetFeature(UDPSegmentation[0], false)
	if err != nil || restore == nil {
		t.Fatal(err)
	}
	want := strings.Replace(before, "\ntx-udp-segmentation: on\n", "\ntx-udp-segmentation: off\n", 1)
	if want == before {
		t.Fatalf("ethtool does not show the feature on:\n%s", before)
	}
	if diff := cmp.Diff(want, ethtoolK(t, "f0")); diff != "" {
		t.Errorf("more than one bit changed (-want +got):\n%s", diff)
	}
	if again, err := d.SetFeature(UDPSegmentation[0], false); again != nil || err != nil {
		t.Errorf("a second time there is something to restore: %v", err)
	}
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, ethtoolK(t, "f0")); diff != "" {
		t.Errorf("not restored (-want +got):\n%s", diff)
	}
}

func TestFeatureThatCannotBeChanged(t *testing.T) {
	labtest.Pair(t, "f0", "f1", 1)
	d, err := Open("f0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	if _, err := d.SetFeature("loopback", true); !errors.Is(err, ErrNotSupported) {
		t.Errorf("got %v, want ErrNotSupported", err)
	}
	if _, err := d.Feature("no-such-feature"); !errors.Is(err, ErrNotSupported) {
		t.Errorf("got %v, want ErrNotSupported", err)
	}
}
