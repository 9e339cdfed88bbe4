package trafgen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// noFile opens no file.
func noFile(path string) ([]byte, error) {
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

// selfish opens every file as one that includes itself.
func selfish(string) ([]byte, error) { return []byte("#include \"self.cfg\"\n"), nil }

// Each broken file and its one line.
func TestBroken(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "x.cfg:1:1: no packet: a packet is { ... }"},
		{"only a comment", "# { 1 }\n", "x.cfg:1:8: no packet: a packet is { ... }"},
		{"a packet of nothing", "\n { }", "x.cfg:2:2: a packet of nothing"},
		{"no end", "{ 1, 2\n", "x.cfg:1:1: the packet does not end: } is missing"},
		{"no begin", "1, 2 }", `x.cfg:1:1: a packet is expected: { or cpu(N): {, not "1"`},
		{"two commas", "{ 1,, 2 }", `x.cfg:1:5: a byte, a string or a function is expected, not ","`},
		{"nothing between", "{ 'a''b' }", `x.cfg:1:6: a comma or a blank is expected, not "'b'"`},
		{"a name without its header", "{ c16(ETH_P_IP) }", `x.cfg:1:7: c16(NUMBER) is expected, not "eth_p_ip"`},
		{"an unknown function", "{ 1,\n  crc32(0, 4) }", `x.cfg:2:3: "crc32" is no byte and no function: a file without #include <stddef.h> has no names`},
		{"letters", "{ ab }", `x.cfg:1:3: "ab" is no byte and no function: a file without #include <stddef.h> has no names`},
		{"no number", "{ 0xfg }", "x.cfg:1:3: 0xfg is no number"},
		{"an exponent", "{ fill(0, 4e9) }", "x.cfg:1:11: 4e9 is no number"},
		{"no octal number", "{ 08 }", "x.cfg:1:3: 08: a number that begins with 0 is octal, and 08 is none"},
		{"too large a number", "{ 0x10000000000000000 }", "x.cfg:1:3: 0x10000000000000000: more than 64 bits"},
		{"too much to fill", "{ fill(0, 4000000000) }", "x.cfg:1:3: 4000000000 bytes: a packet has at most 65553"},
		{"less than nothing", "{ fill(0, -1) }", "x.cfg:1:3: -1 bytes: a packet has at most 65553"},
		{"too much in all", "{ fill(0, 65000) fill(0, 65000) }", "x.cfg:1:18: the packet becomes longer than 65553 bytes"},
		{"too much that changes", "{ drnd(60000) }", "x.cfg:1:3: 60000 bytes that change: a packet has at most 4096"},
		{"an argument too few", "{ fill(7) }", `x.cfg:1:9: fill(BYTE, TIMES) is expected, not ")"`},
		{"an argument too much", "{ c8(1, 2) }", `x.cfg:1:9: c8(NUMBER) is expected, not "2"`},
		{"no parentheses", "{ fill 3 }", `x.cfg:1:8: fill needs arguments: fill(BYTE, TIMES), not "3"`},
		{"a string without end", "{ 1, \"abc }\n\n", `x.cfg:1:6: the string does not end: " is missing`},
		{"an empty string", `{ "" }`, `x.cfg:1:3: "": a string of nothing`},
		{"a bad code", `{ "\x4g" }`, `x.cfg:1:3: \x4g: write each byte as two hex digits: \x0f`},
		{"a comment without end", "{ 1 }\n/* { 2 }", "x.cfg:2:1: the comment does not end: */ is missing"},
		{"a strange character", "{ 1, $ }", `x.cfg:1:6: "$" does not belong here`},
		{"division by zero", "{ c16(1/0) }", "x.cfg:1:8: division by zero"},
		{"too far a shift", "{ c32(1<<64) }", "x.cfg:1:8: a shift by 64 bits: 0 to 63"},
		{"half an operator", "{ c32(1<8) }", `x.cfg:1:9: the operator is <<, not "8"`},
		{"a counter that is none", "{ dinc(6, 5) }", "x.cfg:1:3: 6 to 5: the lower one comes first"},
		{"a checksum of nothing", "{ 1, 2, csumip(2, 2) }", "x.cfg:1:9: a checksum from byte 2 to byte 2: offsets count from 0, the lower one first"},
		{"a checksum behind the end", "{ 1, 2, csumip(20, 30) }", "x.cfg:1:9: the checksum begins at byte 20: the packet has 4"},
		{"no IP header", "{ fill(0, 20) csumudp(14, 20) }", "x.cfg:1:15: an IP header at byte 14 does not fit: the packet has 22 bytes"},
		{"an unknown field", "{ udp(port=1) }", `x.cfg:1:7: udp has no field "port": it has csum dp dport len length sp sport`},
		{"an address for a number", "{ udp(sp=1.2.3.4) }", "x.cfg:1:10: udp(sp) takes a number of 16 bits"},
		{"a number for a MAC", "{ eth(da=5) }", "x.cfg:1:10: eth(da) takes a MAC address"},
		{"a bad address", "{ ipv4(da=1.2.3.400) }", `x.cfg:1:12: "." does not belong here`},
		{"an address alone", "{ aa:bb:cc:dd:ee:ff }", "x.cfg:1:3: aa:bb:cc:dd:ee:ff: an address is a field's value: eth(da=...), ipv4(da=...)"},
		{"a part that is not there", "{ eth(da[6]=dinc()) }", "x.cfg:1:9: da[6]: the field has 6 bytes, from 0 on"},
		{"a part of three", "{ eth(da[0:3]=dinc()) }", "x.cfg:1:9: da[0:3]: the length is 1, 2 or 4"},
		{"a part with a number", "{ eth(da[0]=3) }", "x.cfg:1:13: eth(da[...] takes only dinc() and drnd()"},
		{"a range upside down", "{ udp(sp=dinc(9, 3)) }", "x.cfg:1:10: dinc(9, 3): the first must be less than the second"},
		{"no such priority", "{ pfc(prio(8)=1) }", "x.cfg:1:12: prio(8): 0 to 7"},
		{"headers out of order", "{ ipv6() icmp4() }", "x.cfg:1:10: icmpv4() cannot follow ipv6()"},
		{"bytes before a header", "{ fill(0xff, 14), ipv4() }", "x.cfg:1:19: eth: bytes stand where this header begins: put header functions before all other content, one behind the other"},
		{"a DNS name", `{ dns(query(name="a..b")) }`, `x.cfg:1:18: "a..b": the parts of a DNS name have 1 to 63 characters, and all of it at most 255`},
		{"cpu without a colon", "cpu(0) { 1 }", `x.cfg:1:8: a colon is expected after cpu(...), not "{"`},
		{"a CPU too high", "cpu(9999): { 1 }", "x.cfg:1:1: cpu(9999-9999): CPUs are 0 to 4095"},
		{"an unknown header", "#include <linux/ip.h>\n{ 1 }", `x.cfg:1:1: #include <linux/ip.h>: only <stddef.h> is built in: write "FILE" for a file beside this one`},
		{"a file that is not there", "\n  #include \"no.cfg\"\n{ 1 }", `x.cfg:2:3: #include "no.cfg": no such file`},
		{"an include of nothing", "#include\n{ 1 }", `x.cfg:1:1: #include needs "FILE" or <stddef.h> (write # include, with a blank, for a comment)`},
		{"a macro without a name", "#define 3\n{ 1 }", "x.cfg:1:1: #define needs a name (write # define, with a blank, for a comment)"},
		{"an #if without end", "{ 1 }\n#if 1\n{ 2 }", "x.cfg:2:1: the condition does not end: #endif is missing"},
		{"an #endif alone", "{ 1 }\n#endif", "x.cfg:2:1: #endif without an #if"},
		{"an #if of prose", "#if you like\n{ 1 }\n#endif", `x.cfg:1:1: #if: not understood at "like" (write # if, with a blank, for a comment)`},
		{"an #error", "#ifndef PORT\n#error PORT is needed\n#endif\n{ 1 }", "x.cfg:2:1: #error PORT is needed"},
		{"arguments of a macro", "#define TWO(a, b) a b\n{ TWO(1) }", "x.cfg:2:3: macro TWO takes 2 arguments, not 1"},
		{"a macro without end", "#define TWO(a, b) a b\n{ TWO(1, 2 }", "x.cfg:2:3: TWO(: the parentheses do not close"},
		{"what a macro becomes", "#define V 300 300 x\n{ 1 V }\n{ c8(V) }", `x.cfg:3:6: c8(NUMBER) is expected, not "300"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("x.cfg", []byte(c.text), noFile)
			var at *Error
			if !errors.As(err, &at) || err.Error() != c.want {
				t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
			}
		})
	}
}

// Files that would take all memory or all time are refused like others.
func TestGreed(t *testing.T) {
	double := "#define A0 1,1,\n"
	for i := range 40 {
		double += fmt.Sprintf("#define A%d A%d A%d\n", i+1, i, i)
	}
	for _, c := range []struct{ name, text, want string }{
		{"a macro that doubles", double + "{ A40 1 }", "the text with all its files and macros becomes too long"},
		{"a file in itself", "#include \"self.cfg\"\n{ 1 }", "more than 16 files deep"},
		{"parentheses", "{ c8(" + strings.Repeat("(", 100000) + "1" + strings.Repeat(")", 100000) + ") }", "parentheses are too deep"},
		{"minus signs", "{ c8(" + strings.Repeat("-", 100000) + "1) }", "parentheses are too deep"},
		{"parentheses of an #if", "#if " + strings.Repeat("(", 100000) + "1\n{ 1 }\n#endif", "too deep"},
		{"packets", strings.Repeat("{1}", 70000), "more than 65536 packets"},
		{"packets of 64 KiB", strings.Repeat("{fill(1,65000)}", 2000), "more than 64 MiB together"},
		{"macros within macros", "#define F(x) x\n{ " + strings.Repeat("F(", 20000) + "1" + strings.Repeat(")", 20000) + " }", "these macros take too much work"},
		{"a counter without end", "{ udp(sp=dinc(1, 4000000000, 7)) }", "more than 262144 values"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("x.cfg", []byte(c.text), selfish)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if _, err := Read("/dev/zero"); err == nil {
		t.Error("a file without end was read")
	}
	if _, err := Read(t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
}

func FuzzParse(f *testing.F) {
	for _, file := range files(f) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("#include \"a\"\n#define F(x,...) #x x##x __VA_ARGS__\n#if defined F && F(1) ? 2 : 3\n{ F(a, b c) cpu }\n#endif\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<16 {
			return
		}
		file, err := Parse("x.cfg", text, func(string) ([]byte, error) { return []byte("#define G(x) x x\n#include \"b\"\n"), nil })
		if err != nil {
			var at *Error
			if !errors.As(err, &at) || at.Line < 1 || at.Col < 1 || strings.ContainsRune(err.Error(), '\n') {
				t.Fatalf("not one line with its place: %q", err)
			}
			return
		}
		packets, _, err := file.Compile(device, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range packets {
			b := make([]byte, len(packets[i].Bytes))
			for n := range uint64(3) {
				packets[i].Next(b, n)
			}
		}
	})
}
