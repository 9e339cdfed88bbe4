package frame

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"golang.org/x/net/bpf"
)

// TestAnyFilter: whoever sends them, frames with the pktgen header pass, and no other.
func TestAnyFilter(t *testing.T) {
	raw, err := AnyFilter()
	if err != nil {
		t.Fatal(err)
	}
	var prog []bpf.Instruction
	for _, r := range raw {
		prog = append(prog, r.Disassemble())
	}
	vm, err := bpf.NewVM(prog)
	if err != nil {
		t.Fatal(err)
	}
	v4 := Spec{
		Size: 60, SrcMAC: MAC{2, 0, 0, 0, 0, 1}, DstMAC: MAC{2, 0, 0, 0, 0, 2}, SrcPort: 9, DstPort: 9,
		SrcIP: netip.MustParseAddr("10.1.2.3"), DstIP: netip.MustParseAddr("10.9.9.9"),
	}
	v6 := v4
	v6.Size, v6.SrcIP, v6.DstIP = 78, netip.MustParseAddr("2001:db8::7"), netip.MustParseAddr("2001:db8::8")
	short := v6
	short.Size = 77
	for _, c := range []struct {
		name string
		spec Spec
		edit func(f []byte)
		want bool
	}{
		{"IPv4", v4, nil, true},
		{"IPv6", v6, nil, true},
		{"too short for the header", short, nil, false},
		{"no magic", v4, func(f []byte) { f[42] ^= 1 }, false},
		{"not UDP", v4, func(f []byte) { f[23] = 6 }, false},
		{"with options", v4, func(f []byte) { f[14] = 0x46 }, false},
		{"may not be fragmented", v4, func(f []byte) { f[20] |= 0x40 }, true},
		{"a first fragment", v4, func(f []byte) { f[20] |= 0x20 }, false},
		{"a later fragment", v4, func(f []byte) { f[21] = 1 }, false},
		{"any type of service", v4, func(f []byte) { f[15] = 0xb8 }, true},
		{"not IP", v4, func(f []byte) { f[13] = 6 }, false},
		{"IPv6, not UDP", v6, func(f []byte) { f[20] = 58 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tmpl, err := Build(c.spec)
			if err != nil {
				t.Fatal(err)
			}
			if tmpl.Header >= 0 {
				binary.BigEndian.PutUint32(tmpl.Bytes[tmpl.Header:], Magic)
			}
			if c.edit != nil {
				c.edit(tmpl.Bytes)
			}
			n, err := vm.Run(tmpl.Bytes)
			if err != nil || (n > 0) != c.want {
				t.Errorf("%d %v, want %t", n, err, c.want)
			}
		})
	}
}
