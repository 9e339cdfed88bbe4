package trafgen

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"wirespeed/engine/frame"
	"wirespeed/nic/lab/labtest"
)

var update = flag.Bool("update", false, "record the frames of trafgen anew")

// onVeth is set in the one process that runs a test with a network: the others need none, and must not be skipped without one.
const onVeth = "WIRESPEED_TRAFGEN_VETH"

func TestMain(m *testing.M) {
	if os.Getenv(onVeth) != "" {
		os.Exit(labtest.Main(m))
	}
	os.Exit(m.Run())
}

// TestLive holds what trafgen sends on a veth pair against what the files compile to here. Files that need nothing of their own are sent by one
// run of trafgen; those for the preprocessor and those with dns() (which trafgen writes to the first packet of a file, whichever it stands in)
// have one each.
func TestLive(t *testing.T) {
	if os.Getenv(onVeth) == "" {
		again(t)
		return
	}
	tx := pair(t)
	rx := listen(t)
	if *update {
		for _, file := range files(t) {
			t.Run(base(file), func(t *testing.T) { writeDown(t, rx, tx, file) })
		}
		return
	}
	var joined bytes.Buffer
	var packets, others []frame.Packet
	for _, file := range files(t) {
		first, second := compiled(t, file)
		if strings.HasPrefix(base(file), "cpp") || strings.HasPrefix(base(file), "dns") {
			t.Run(base(file), func(t *testing.T) {
				if d := differs(first, second, send(t, rx, tx, file, rounds*len(first))); d != "" {
					t.Error(d)
				}
			})
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		joined.Write(append(text, '\n'))
		packets, others = append(packets, first...), append(others, second...)
	}
	t.Run("all others", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "joined.cfg")
		if err := os.WriteFile(file, joined.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		if d := differs(packets, others, send(t, rx, tx, file, 300*len(packets))); d != "" {
			t.Error(d)
		}
	})
}

// writeDown keeps what trafgen sends.
func writeDown(t *testing.T, rx int, tx, file string) {
	packets, _ := compiled(t, file)
	var lines strings.Builder
	for _, f := range send(t, rx, tx, file, rounds*len(packets)) {
		lines.WriteString(hex.EncodeToString(f) + "\n")
	}
	if err := os.WriteFile("testdata/truth/"+base(file)+".hex", []byte(lines.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// again runs the calling test in namespaces of its own.
func again(t *testing.T) {
	if _, err := exec.LookPath("trafgen"); err != nil {
		if os.Getenv("NET_TESTS") == "require" {
			t.Fatal("trafgen is not installed (Debian: netsniff-ng)")
		}
		t.Skip("trafgen is not installed (Debian: netsniff-ng): its recorded frames must do")
	}
	args := []string{"-test.run=^" + t.Name() + "$", "-test.v", fmt.Sprintf("-update=%v", *update)}
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), onVeth+"=1")
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	case strings.Contains(string(out), "no tests to run"):
		t.Skipf("%s", out)
	case !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Fatalf("the test did not run:\n%s", out)
	}
}

// pair makes the veth pair v0, v1, with device's addresses on v0.
func pair(t *testing.T) string {
	t.Helper()
	labtest.Pair(t, "v0", "v1", 1)
	v0, err := netlink.LinkByName("v0")
	if err != nil {
		t.Fatal(err)
	}
	ip := &netlink.Addr{IPNet: &net.IPNet{IP: device.IPv4[:], Mask: net.CIDRMask(24, 32)}}
	if err := errors.Join(netlink.LinkSetHardwareAddr(v0, device.MAC[:]), netlink.AddrAdd(v0, ip)); err != nil {
		t.Fatal(err)
	}
	return "v0"
}

// listen opens a packet socket at the peer that tells a VLAN tag, which the kernel takes out of the frame.
func listen(t *testing.T) int {
	t.Helper()
	ifi, err := net.InterfaceByName("v1")
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	err = errors.Join(
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}),
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_AUXDATA, 1),
		unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: unix.ETH_P_ALL<<8 | unix.ETH_P_ALL>>8, Ifindex: ifi.Index}),
	)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// send lets trafgen send n frames of a file and returns what arrives. trafgen does not always end by itself, nor with its children: its whole
// group is killed, and a slow machine is given its time.
func send(t *testing.T, rx int, dev, file string, n int) [][]byte {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	args := []string{"-P", "1", "-Q", "-i", path, "-o", dev, "-n", fmt.Sprint(n), "-t", "0"} // -t: sendto(), which the receiver's buffer can follow
	if strings.HasPrefix(base(file), "cpp") {
		args = append(args, "--cpp")
	}
	cmd := exec.CommandContext(ctx, "trafgen", args...)
	cmd.Dir = t.TempDir() // it leaves files there
	if strings.HasPrefix(base(file), "cpp") {
		cmd.Dir = filepath.Dir(path)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var wait error
	frames, over := make([][]byte, 0, n), false
	for len(frames) < n {
		f := receive(t, rx)
		if f != nil {
			frames = append(frames, f)
			continue
		}
		if over {
			break
		}
		select {
		case wait = <-ended:
			over = true // what is on its way has another second
		default:
		}
	}
	if !over {
		wait = <-ended
	}
	if len(frames) < n {
		t.Fatalf("%d of %d frames arrived, trafgen: %v\n%s", len(frames), n, wait, said.String())
	}
	return frames
}

// receive is the next frame with its VLAN tag, nil if none came for a second.
func receive(t *testing.T, fd int) []byte {
	t.Helper()
	buf, oob := make([]byte, 70000), make([]byte, 256)
	k, oobn, _, _, err := unix.Recvmsg(fd, buf, oob, 0)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	out := slices.Clone(buf[:k])
	msgs, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range msgs { // struct tpacket_auxdata, linux/if_packet.h
		if m.Header.Level != unix.SOL_PACKET || m.Header.Type != unix.PACKET_AUXDATA {
			continue
		}
		status := binary.NativeEndian.Uint32(m.Data)
		if status&unix.TP_STATUS_VLAN_VALID != 0 {
			tag := binary.BigEndian.AppendUint16(nil, binary.NativeEndian.Uint16(m.Data[18:]))
			tag = binary.BigEndian.AppendUint16(tag, binary.NativeEndian.Uint16(m.Data[16:]))
			out = slices.Concat(out[:12], tag, out[12:])
		}
	}
	return out
}
