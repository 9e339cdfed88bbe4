package nic

import "testing"

func TestSoftnet(t *testing.T) {
	n, err := parseSoftnet([]byte("00112233 00000190 00000002 0 0 0 0 0 0 0 0 0 0 0 0\n0000000a 00000010 00000000 0 0 0 0 0 0 0 0 0 0 1 0\n"))
	if n != 0x1a0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	for _, wrong := range []string{"12\n", "12 xyz\n", "\n"} {
		if _, err := parseSoftnet([]byte(wrong)); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
	if _, err := BacklogDrops(); err != nil {
		t.Error(err)
	}
}
