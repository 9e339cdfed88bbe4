package labtest

import (
	"testing"

	"wirespeed/nic/lab"
)

// Pair makes a veth pair named a, b (lab.Pair) and deletes it when the test ends.
func Pair(t testing.TB, a, b string, queues int) {
	t.Helper()
	if err := lab.Pair(a, b, queues); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Delete(a); err != nil {
			t.Error(err)
		}
	})
}
