package supervisor

import "testing"

func TestParseStat(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       stat
		ok         bool
	}{
		{"plain", "7 (bash) S 1 7 5 34816 7 4194304", stat{1, 7, 5}, true},
		{"name with blanks and brackets", "7 (a) b (c) S 6 7 5 0", stat{6, 7, 5}, true},
		{"no parent here", "1 (init) S 0 1 1 0", stat{0, 1, 1}, false},
		{"cut off", "7 (bash) S 1", stat{}, false},
		{"empty", "", stat{}, false},
		{"no numbers", "7 (bash) S x y z 1", stat{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, ok := parseStat([]byte(c.text)); got != c.want || ok != c.ok {
				t.Errorf("parseStat(%q) = %+v, %t, want %+v, %t", c.text, got, ok, c.want, c.ok)
			}
		})
	}
}
