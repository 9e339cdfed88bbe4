package frame

import (
	"errors"
	"net/netip"
	"slices"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// judge asks the kernel itself what it makes of a filter: the socket pair carries bytes as datagrams, and the filter sees them as a
// packet socket's would see a received frame without a VLAN tag. It needs no rights.
type judge struct {
	t    *testing.T
	a, b int
}

func newJudge(t *testing.T, specs ...Spec) *judge {
	t.Helper()
	prog, err := Filter(specs)
	if err != nil {
		t.Fatal(err)
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fds[0]); unix.Close(fds[1]) })
	attach(t, fds[1], prog)
	return &judge{t, fds[0], fds[1]}
}

func attach(t *testing.T, fd int, prog []bpf.RawInstruction) {
	t.Helper()
	filter := make([]unix.SockFilter, len(prog))
	for i, p := range prog {
		filter[i] = unix.SockFilter{Code: p.Op, Jt: p.Jt, Jf: p.Jf, K: p.K}
	}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}); err != nil {
		t.Fatalf("attach %d instructions: %v", len(prog), err)
	}
}

// passes says whether the filter lets frame through, and whole.
func (j *judge) passes(frame []byte) bool {
	j.t.Helper()
	if err := unix.Sendto(j.a, frame, 0, nil); err != nil && !errors.Is(err, unix.EPERM) {
		j.t.Fatal(err)
	}
	got := make([]byte, len(frame)+1)
	n, _, err := unix.Recvfrom(j.b, got, 0)
	if errors.Is(err, unix.EAGAIN) {
		return false
	}
	if err != nil {
		j.t.Fatal(err)
	}
	if !slices.Equal(got[:n], frame) {
		j.t.Fatalf("passed %d bytes of %d", n, len(frame))
	}
	return true
}

// built is a frame as a worker sends it.
func built(t *testing.T, s Spec) []byte {
	t.Helper()
	tmpl, err := Build(s)
	if err != nil {
		t.Fatal(err)
	}
	tmpl.Patch(tmpl.Bytes, 7, 8, 9, 10, 11)
	return tmpl.Bytes
}

func with(s Spec, f func(*Spec)) Spec {
	f(&s)
	return s
}

func TestFilter(t *testing.T) {
	old, changed := v4(60), with(v4(1514), func(s *Spec) { s.DstIP = netip.MustParseAddr("198.18.0.3"); s.DstMAC = Broadcast })
	var ports []Spec
	for p := range uint16(500) {
		ports = append(ports, with(v4(60), func(s *Spec) { s.SrcPort = 1000 + p }))
	}
	for _, c := range []struct {
		name  string
		specs []Spec
		frame Spec
		want  bool
	}{
		{"its own", []Spec{old}, old, true},
		{"its own IPv6", []Spec{v6(80)}, v6(80), true},
		{"another size", []Spec{old}, v4(1514), true},
		{"another destination MAC", []Spec{old}, with(old, func(s *Spec) { s.DstMAC = Broadcast }), true},
		{"old of a union", []Spec{old, changed}, old, true},
		{"new of a union", []Spec{old, changed}, changed, true},
		{"too short for the header", []Spec{v6(62)}, v6(62), true},
		{"grown out of being too short", []Spec{v6(62)}, v6(100), true},
		{"first of many ports", ports, ports[0], true},
		{"last of a block of ports", ports, ports[199], true},
		{"first of the next block", ports, ports[200], true},
		{"last of many ports", ports, ports[499], true},
		{"none of many ports", ports, old, false},
		{"IPv6 instead of IPv4", []Spec{old}, v6(80), false},
		{"IPv4 instead of IPv6", []Spec{v6(80)}, old, false},
		{"source MAC, last byte", []Spec{old}, with(old, func(s *Spec) { s.SrcMAC[5]++ }), false},
		{"source MAC, first byte", []Spec{old}, with(old, func(s *Spec) { s.SrcMAC[0] += 4 }), false},
		{"source IP", []Spec{old}, with(old, func(s *Spec) { s.SrcIP = s.SrcIP.Next() }), false},
		{"destination IP", []Spec{old}, changed, false},
		{"destination IPv6, last byte", []Spec{v6(80)}, with(v6(80), func(s *Spec) { s.DstIP = s.DstIP.Next() }), false},
		{"source port", []Spec{old}, with(old, func(s *Spec) { s.SrcPort++ }), false},
		{"destination port", []Spec{old}, with(old, func(s *Spec) { s.DstPort++ }), false},
		{"half of one, half of the other", []Spec{old, with(changed, func(s *Spec) { s.SrcPort = 99 })}, with(old, func(s *Spec) { s.SrcPort = 99 }), false},
		{"tag among the bytes", []Spec{old}, tagged(v4(64), 5), false},
		{"tagged stream without its tag", []Spec{tagged(v4(64), 5)}, old, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := newJudge(t, c.specs...).passes(built(t, c.frame)); got != c.want {
				t.Errorf("passes: %v, want %v", got, c.want)
			}
		})
	}
}

// Any bit that tells our frames from others' must count, and no bit that differs between our frames may.
func TestFilterBitByBit(t *testing.T) {
	for _, c := range []struct {
		name string
		spec Spec
		free [][2]int // bytes that may be anything, from and to
	}{
		{"ipv4", v4(70), [][2]int{{0, 6}, {16, 20}, {24, 26}, {38, 42}, {46, 70}}},
		{"ipv6", v6(90), [][2]int{{0, 6}, {18, 20}, {58, 62}, {66, 90}}},
		{"ipv6 without header", v6(70), [][2]int{{0, 6}, {18, 20}, {58, 70}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJudge(t, c.spec)
			frame := built(t, c.spec)
			for at := range frame {
				free := slices.ContainsFunc(c.free, func(f [2]int) bool { return f[0] <= at && at < f[1] })
				for bit := range 8 {
					frame[at] ^= 1 << bit
					if got := j.passes(frame); got != free {
						t.Errorf("byte %d bit %d flipped: passes %v, want %v", at, bit, got, free)
					}
					frame[at] ^= 1 << bit
				}
			}
			for n := 1; n < c.spec.headers()-4; n++ { // up to the last port
				if j.passes(frame[:n]) {
					t.Errorf("passes the first %d bytes of a frame", n)
				}
			}
		})
	}
}

func TestFilterIsSmall(t *testing.T) {
	one, err := Filter([]Spec{v4(60), v4(1514), with(v4(60), func(s *Spec) { s.DstMAC = Broadcast })})
	if err != nil {
		t.Fatal(err)
	}
	if len(one) > 25 {
		t.Errorf("%d instructions for one IPv4 stream, want 25 or fewer", len(one))
	}
	// A foreign source MAC: the first comparison leads to the verdict.
	last := len(one) - 1
	if verdict, _ := one[last].Disassemble().(bpf.RetConstant); verdict.Val != 0 || 2+int(one[1].Jf) != last {
		t.Errorf("a foreign source MAC is not rejected at once: %v", one)
	}
}

func TestFilterRefuses(t *testing.T) {
	if _, err := Filter(nil); err == nil {
		t.Error("no specs: want an error")
	}
	if _, err := Filter([]Spec{{}}); err == nil {
		t.Error("empty spec: want an error")
	}
	var many []Spec
	for i := range byte(255) {
		many = append(many, with(v4(60), func(s *Spec) { s.SrcMAC[4] = i }))
	}
	if _, err := Filter(many); err == nil {
		t.Error("255 streams: want an error that names the kernel's limit")
	}
}
