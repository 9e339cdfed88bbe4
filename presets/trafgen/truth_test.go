package trafgen

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wirespeed/engine/frame"
)

// device is the one that trafgen's frames in testdata/truth were recorded on.
var device = Device{MAC: [6]byte{2, 0, 0, 0, 0, 1}, IPv4: [4]byte{192, 0, 2, 1}}

// rounds is how often trafgen went through a file.
const rounds = 12

// files are the test set: for each feature of the language a file, and the examples of the manual page and of trafgen -e (cpp-example).
func files(t testing.TB) []string {
	t.Helper()
	list, err := filepath.Glob("testdata/files/*.cfg")
	if err != nil || len(list) < 40 {
		t.Fatalf("%d files, %v", len(list), err)
	}
	return list
}

func base(file string) string { return strings.TrimSuffix(filepath.Base(file), ".cfg") }

// compiled are the packets of a file that worker 0 sends, twice with other random numbers.
func compiled(t testing.TB, file string) (packets, again []frame.Packet) {
	t.Helper()
	f, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	make := func(seed uint64) (own []frame.Packet) {
		all, _, err := f.Compile(device, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			if p.CPUs == nil || slices.Contains(p.CPUs, 0) {
				own = append(own, p)
			}
		}
		return own
	}
	return make(1), make(2)
}

// differs holds the frames that trafgen sent against packets; "" if they are the same. Random bytes are left out, but not the checksums over them:
// those must be right for the bytes that trafgen's own frame has.
func differs(packets, again []frame.Packet, sent [][]byte) string {
	for i, want := range sent {
		k := i % len(packets)
		p, n := &packets[k], uint64(i/len(packets))
		got := make([]byte, len(p.Bytes))
		p.Next(got, n)
		if len(got) != len(want) {
			return fmt.Sprintf("frame %d of packet %d (from 0):\n got %x\nwant %x", n, k, got, want)
		}
		hole := func(at, n int) { copy(got[at:at+n], want[at:at+n]) }
		for _, f := range p.Fields {
			if f.Op == frame.Random {
				hole(f.Offset, f.Len)
			}
		}
		for j := range got { // rnd()
			if p.Bytes[j] != again[k].Bytes[j] {
				hole(j, 1)
			}
		}
		sums := frame.Packet{Bytes: got, Sums: p.Sums}
		checked := make([]byte, len(got))
		sums.Next(checked, 0)
		if !bytes.Equal(checked, want) {
			return fmt.Sprintf("frame %d of packet %d (from 0):\n got %x\nwant %x", n, k, checked, want)
		}
	}
	return ""
}

// recorded are the frames that trafgen sent of a file.
func recorded(t *testing.T, file string) (sent [][]byte) {
	t.Helper()
	text, err := os.ReadFile("testdata/truth/" + base(file) + ".hex")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Fields(string(text)) {
		b, err := hex.DecodeString(line)
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, b)
	}
	return sent
}

// Frames of trafgen itself, recorded by TestLive -update, are the truth for who has no trafgen.
func TestTruth(t *testing.T) {
	for _, file := range files(t) {
		t.Run(base(file), func(t *testing.T) {
			sent := recorded(t, file)
			packets, again := compiled(t, file)
			if len(sent) != rounds*len(packets) {
				t.Fatalf("%d frames recorded of %d packets", len(sent), len(packets))
			}
			if d := differs(packets, again, sent); d != "" {
				t.Error(d)
			}
		})
	}
}
