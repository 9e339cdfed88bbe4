package frame

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unhex is a frame in hex, blanks allowed.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The frames are trafgen's, of its recorded files; the words are what tcpdump says of them.
func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, hex string
		want      []string
	}{
		{
			"UDP over IPv4", "112233445566 020000000001 0800 4500002700000000001 1f4be c0000201 01020304 00000007 0013 71b7 48656c6c6f20776f726c64",
			[]string{
				"Ethernet: 02:00:00:00:00:01 > 11:22:33:44:55:66, type 0x0800 IPv4",
				"IPv4: 192.0.2.1 > 1.2.3.4, UDP, TTL 0, id 0, length 39, checksum 0xf4be (the checksum should be 0xf4bf)",
				"UDP: port 0 > 7, length 19, checksum 0x71b7 (the checksum is wrong)",
				"data: 11 bytes",
			},
		},
		{
			"a tag in a tag", "000000000000 020000000001 88a8 0005 8100 7007 1234 01020304",
			[]string{
				"Ethernet: 02:00:00:00:00:01 > 00:00:00:00:00:00, type 0x88a8 Dot1Q",
				"VLAN: id 5, priority 0, type 0x8100 Dot1Q",
				"VLAN: id 7, priority 3, type 0x1234",
				"data: 4 bytes",
			},
		},
		{"too short", "0000", []string{"data: 2 bytes (Ethernet packet too small)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, inWords(Decode(unhex(t, c.hex)))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func inWords(layers []Layer) []string {
	var out []string
	for _, l := range layers {
		s := l.Name + ": " + l.Text
		if l.Faults != "" {
			s += " (" + l.Faults + ")"
		}
		out = append(out, s)
	}
	return out
}

func FuzzDecode(f *testing.F) {
	f.Add(unhex(f, "112233445566 020000000001 0800 450000270000000000113ac1 c0000201 01020304 00000007 0013 71b7 48656c6c6f20776f726c64"))
	f.Add(unhex(f, "000000000000 020000000001 8847 00005000 00006709 45000014000000000000baeb0000000000000000"))
	f.Fuzz(func(t *testing.T, b []byte) {
		at := 0
		for _, l := range Decode(b) {
			if l.At != at || l.Len < 0 {
				t.Fatalf("%v begins at %d, not %d", l, l.At, at)
			}
			at += l.Len
		}
	})
}
