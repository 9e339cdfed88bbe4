package xdp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"wirespeed/engine/frame"
	"wirespeed/engine/receive"
	"wirespeed/nic/lab/labtest"
)

const role = "WIRESPEED_XDP_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(role) == "hold" {
		os.Exit(hold())
	}
	os.Exit(labtest.Main(m))
}

// spec is a stream of ours.
func spec(vlan uint16, v6 bool) frame.Spec {
	s := frame.Spec{
		Size: 90, SrcMAC: frame.MAC{2, 0, 0, 0, 0, 1}, DstMAC: frame.MAC{2, 0, 0, 0, 0, 2}, VLAN: vlan,
		SrcIP: netip.MustParseAddr("198.18.0.1"), DstIP: netip.MustParseAddr("198.18.0.2"), SrcPort: 9, DstPort: 9,
	}
	if v6 {
		s.SrcIP, s.DstIP = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	}
	return s
}

func build(t testing.TB, s frame.Spec) []byte {
	t.Helper()
	tmpl, err := frame.Build(s)
	if err != nil {
		t.Fatal(err)
	}
	if tmpl.Header >= 0 {
		binary.BigEndian.PutUint32(tmpl.Bytes[tmpl.Header:], frame.Magic)
	}
	return tmpl.Bytes
}

// may says whether this process may load BPF. Where it may not, the test asserts how that is said: nothing is skipped.
func may(t *testing.T) bool {
	t.Helper()
	err := Available()
	if err == nil {
		return true
	}
	if !errors.Is(err, ErrNotPermitted) || strings.Contains(err.Error(), "\n") {
		t.Errorf("refused: %v", err)
	}
	if _, err := Open("lo", 1, mustFilter(t, spec(0, false)), 0); !errors.Is(err, ErrNotPermitted) || !strings.Contains(err.Error(), "as root") {
		t.Errorf("open: %v", err)
	}
	return false
}

func mustFilter(t testing.TB, specs ...frame.Spec) []bpf.RawInstruction {
	t.Helper()
	f, err := frame.Filter(specs)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestUserNamespace: one line with the way out, whoever runs the test.
func TestUserNamespace(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), role+"=hold")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	want := "refused: the kernel lets no user namespace load BPF: run it as root (sudo ./wirespeed)\n"
	if err == nil || string(out) != want {
		t.Errorf("%v %q, want %q", err, out, want)
	}
}

// hold attaches a sink to v1 and never comes back, in a process of its own.
func hold() int {
	if err := Available(); err != nil {
		fmt.Println("refused:", err)
		return 1
	}
	l, err := netlink.LinkByName("v1")
	if err == nil {
		var f []bpf.RawInstruction
		if f, err = receive.Numbered(); err == nil {
			_, err = Open("v1", l.Attrs().Index, f, 0)
		}
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("attached")
	select {}
}

// TestSameAsFilter: the kernel's verdict on the translated filter is that of the filter's own machine, for frames of ours, others, and ours cut
// at every length.
func TestSameAsFilter(t *testing.T) {
	if !may(t) {
		return
	}
	anyOne, err := receive.Numbered()
	if err != nil {
		t.Fatal(err)
	}
	tagged := spec(7, false)
	filters := map[string][]bpf.RawInstruction{
		"one stream": mustFilter(t, spec(0, false)), "tagged": mustFilter(t, tagged), "three": mustFilter(t, spec(0, false), spec(9, true), tagged),
		"any": anyOne,
	}
	var frames [][]byte
	for _, s := range []frame.Spec{spec(0, false), tagged, spec(0, true), spec(9, true), spec(8, false)} {
		whole := build(t, s)
		for n := 14; n <= len(whole); n++ {
			frames = append(frames, whole[:n])
		}
		for i := 0; i < 70; i++ { // one byte of it is another
			other := append([]byte(nil), whole...)
			other[i] ^= 0xff
			frames = append(frames, other)
		}
	}
	options := build(t, spec(0, false)) // of IPv4, four bytes of them
	options[14] = 0x46
	options = append(append(append([]byte(nil), options[:34]...), 1, 1, 1, 1), options[34:]...)
	for n := 34; n <= len(options); n++ {
		frames = append(frames, options[:n])
	}
	stacked := build(t, tagged)
	frames = append(frames, append(append([]byte(nil), stacked[:12]...), append([]byte{0x88, 0xa8, 0, 7}, stacked[12:]...)...))
	for name, filter := range filters {
		t.Run(name, func(t *testing.T) {
			s := &Sink{}
			if s.counts, err = newMap(); err != nil {
				t.Fatal(err)
			}
			defer s.counts.Close()
			prog, err := s.load(filter)
			if err != nil {
				t.Fatalf("%+v", err)
			}
			defer prog.Close()
			accepted := 0
			for _, f := range frames {
				want := uint32(xdpPass)
				if asSocket(t, filter, f) {
					want = xdpDrop
					accepted++
				}
				got, err := prog.Run(&ebpf.RunOptions{Data: f})
				if err != nil {
					t.Fatal(err)
				}
				if got != want {
					t.Errorf("%d bytes % x: verdict %d, want %d", len(f), f, got, want)
				}
			}
			c, err := s.read()
			if want := (Counts{Ours: uint64(accepted), Foreign: uint64(len(frames) - accepted)}); err != nil || c != want || accepted == 0 {
				t.Errorf("%+v %v, want %+v", c, err, want)
			}
		})
	}
}

// asSocket is what a packet socket's filter says of a received frame: the outer tag is in the metadata (skb_vlan_untag).
func asSocket(t *testing.T, filter []bpf.RawInstruction, f []byte) bool {
	t.Helper()
	tci := -1
	if len(f) >= 18 {
		if kind := binary.BigEndian.Uint16(f[12:]); kind == 0x8100 || kind == 0x88a8 {
			tci = int(binary.BigEndian.Uint16(f[14:]))
			f = append(append([]byte(nil), f[:12]...), f[16:]...)
		}
	}
	// The package's machine knows no tags: they become constants.
	var prog []bpf.Instruction
	for _, raw := range filter {
		switch c := raw.Disassemble().(type) {
		case bpf.LoadExtension:
			v := uint32(0)
			switch {
			case c.Num == bpf.ExtVLANTag && tci >= 0:
				v = uint32(tci)
			case c.Num == bpf.ExtVLANTagPresent && tci >= 0:
				v = 1
			}
			prog = append(prog, bpf.LoadConstant{Dst: bpf.RegA, Val: v})
		default:
			prog = append(prog, c)
		}
	}
	vm, err := bpf.NewVM(prog)
	if err != nil {
		t.Fatal(err)
	}
	n, err := vm.Run(f)
	if err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// TestCountsToTheFrame sends through a veth pair: what the sender's device counted is what the sink counted, and nothing gets past it but
// every third, and foreign frames.
func TestCountsToTheFrame(t *testing.T) {
	if !may(t) {
		return
	}
	for _, c := range []struct {
		name  string
		mode  Mode
		every uint32
		want  Counts
		up    int
	}{
		{"native", Native, 0, Counts{Ours: 300, Foreign: 7}, 7},
		{"generic", Generic, 0, Counts{Ours: 300, Foreign: 7}, 7},
		{"every third goes up", Native, 3, Counts{Ours: 300, Passed: 100, Foreign: 7}, 107},
	} {
		t.Run(c.name, func(t *testing.T) {
			labtest.Pair(t, "v0", "v1", 1)
			from, to := index(t, "v0"), index(t, "v1")
			s, err := open("v1", to, mustFilter(t, spec(0, false)), c.every, c.mode)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if m, why := s.Mode(); m != c.mode || (why == "") != (m == Native) {
				t.Errorf("mode %v %q", m, why)
			}
			up := packetSocket(t, to)
			out := packetSocket(t, from)
			before := sent(t, "v0")
			ours, foreign := build(t, spec(0, false)), build(t, spec(0, true))
			number := uint32(0)
			for i := range 307 {
				f := ours
				if i%43 == 42 {
					f = foreign
				} else {
					number++
					binary.BigEndian.PutUint32(ours[46:], number)
				}
				if _, err := unix.Write(out, f); err != nil {
					t.Fatal(err)
				}
				if i%50 == 49 { // the ring of a veth pair with XDP holds 256, and a busy machine lets them wait
					arrive(t, s, uint64(i+1))
				}
			}
			arrive(t, s, 307)
			if n := sent(t, "v0") - before; n != 307 {
				t.Errorf("the device sent %d", n)
			}
			got := 0
			eventually(func() bool { got += seen(t, up); return got >= c.up })
			if got != c.up {
				t.Errorf("%d frames went up, want %d", got, c.up)
			}
			counted, err := s.Read()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, counted); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			if err := s.Replace(mustFilter(t, spec(0, true))); err != nil {
				t.Fatal(err)
			}
			if _, err := unix.Write(out, foreign); err != nil {
				t.Fatal(err)
			}
			arrive(t, s, 308)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := unix.Write(out, foreign); err != nil {
				t.Fatal(err)
			}
			last, err := s.Read()
			c.want.Ours++
			if c.every > 0 { // its number is 0
				c.want.Passed++
			}
			if err != nil || last != c.want {
				t.Errorf("after Close: %+v %v, want %+v", last, err, c.want)
			}
			if attached(t, "v1") {
				t.Error("still attached after Close")
			}
		})
	}
}

// TestTaken: a device that has a program already is left alone.
func TestTaken(t *testing.T) {
	if !may(t) {
		return
	}
	labtest.Pair(t, "v0", "v1", 1)
	first, err := Open("v1", index(t, "v1"), mustFilter(t, spec(0, false)), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	_, err = Open("v1", index(t, "v1"), mustFilter(t, spec(0, false)), 0)
	if !errors.Is(err, ErrNotSupported) || !strings.HasPrefix(err.Error(), "xdp sink on v1: another XDP program is attached there") {
		t.Errorf("a second one: %v", err)
	}
	if _, err := Open("gone", 12345, mustFilter(t, spec(0, false)), 0); err == nil {
		t.Error("attached to a device that is not there")
	}
}

// TestKillDetaches: nothing is left of a sink whose process is killed.
func TestKillDetaches(t *testing.T) {
	if !may(t) {
		return
	}
	labtest.Pair(t, "v0", "v1", 1)
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), role+"=hold")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	if n, err := out.Read(buf); err != nil || string(buf[:n]) != "attached\n" {
		t.Fatalf("%q %v", buf[:n], err)
	}
	if !attached(t, "v1") {
		t.Error("not attached: this test proves nothing")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if attached(t, "v1") {
		t.Error("still attached after kill -9")
	}
}

// arrive waits until the sink has seen n frames.
func arrive(t *testing.T, s *Sink, n uint64) {
	t.Helper()
	var c Counts
	if !eventually(func() bool { c, _ = s.Read(); return c.Ours+c.Foreign >= n }) {
		t.Fatalf("%d frames were sent, the sink has %+v", n, c)
	}
}

func eventually(ok func() bool) bool {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Microsecond) {
		if ok() {
			return true
		}
	}
	return ok()
}

func index(t *testing.T, name string) int {
	t.Helper()
	l, err := netlink.LinkByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return l.Attrs().Index
}

func attached(t *testing.T, name string) bool {
	t.Helper()
	l, err := netlink.LinkByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return l.Attrs().Xdp != nil && l.Attrs().Xdp.Attached
}

func sent(t *testing.T, name string) uint64 {
	t.Helper()
	l, err := netlink.LinkByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return l.Attrs().Statistics.TxPackets
}

func packetSocket(t *testing.T, index int) int {
	t.Helper()
	all := uint16(unix.ETH_P_ALL)
	proto := all<<8 | all>>8
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 1<<22)
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: proto, Ifindex: index}); err != nil {
		t.Fatal(err)
	}
	return fd
}

// seen is how many frames have come to a socket since it was asked before.
func seen(t *testing.T, fd int) (n int) {
	t.Helper()
	s, err := unix.GetsockoptTpacketStats(fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		t.Fatal(err)
	}
	return int(s.Packets)
}
