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

	"wirespeed/engine"
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
		if _, err := exec.LookPath("trafgen"); err != nil {
			if os.Getenv("NET_TESTS") == "require" {
				t.Fatal("trafgen is not installed (Debian: netsniff-ng)")
			}
			t.Skip("trafgen is not installed (Debian: netsniff-ng): its recorded frames must do")
		}
		again(t)
		return
	}
	tx := pair(t)
	if *update {
		for _, file := range files(t) {
			t.Run(base(file), func(t *testing.T) { writeDown(t, tx, file) })
		}
		return
	}
	var joined bytes.Buffer
	var packets, others []frame.Packet
	for _, file := range files(t) {
		first, second := compiled(t, file)
		if strings.HasPrefix(base(file), "cpp") || strings.HasPrefix(base(file), "dns") {
			t.Run(base(file), func(t *testing.T) {
				if d := differs(first, second, send(t, tx, file, rounds*len(first))); d != "" {
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
		if d := differs(packets, others, send(t, tx, file, 100*len(packets))); d != "" {
			t.Error(d)
		}
	})
}

// What the engine puts on the wire of each file's packets is what trafgen did when its frames were recorded.
func TestEngine(t *testing.T) {
	if os.Getenv(onVeth) == "" {
		again(t)
		return
	}
	pair(t)
	for _, file := range files(t) {
		t.Run(base(file), func(t *testing.T) {
			first, second := compiled(t, file)
			truth := recorded(t, file)
			if d := differs(first, second, truth); d != "" {
				t.Fatal(d)
			}
			n := max(len(truth), 300)
			got := sendOurs(t, first, n)
			if len(got) != n {
				t.Fatalf("%d of %d frames arrived", len(got), n)
			}
			if d := differs(first, first, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// sendOurs sends n frames of packets by the engine and returns what arrives.
func sendOurs(t *testing.T, packets []frame.Packet, n int) (frames [][]byte) {
	t.Helper()
	fd, ring := listen(t, n)
	defer func() { _ = errors.Join(unix.Munmap(ring), unix.Close(fd)) }()
	ifi, err := net.InterfaceByName("v0")
	if err != nil {
		t.Fatal(err)
	}
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	cpu := 0
	for !allowed.IsSet(cpu) {
		cpu++
	}
	dev := engine.Device{Name: "v0", Index: ifi.Index, MTU: ifi.MTU, Queues: 1, MAC: device.MAC, CPUs: []int{cpu}}
	for i := range packets { // here all are the one worker's
		packets[i].CPUs = nil
	}
	e, err := engine.Open(dev, nil, engine.Config{Burst: 1, Queues: 1, CPUs: []int{cpu}, Load: &engine.Load{Name: "test", Packets: packets}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(engine.Limit{Count: uint64(n)}); err != nil {
		t.Fatal(err)
	}
	<-e.Done()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return arrived(ring, n)
}

// arrived are the frames of a ring, n at most: a late one has a second.
func arrived(ring []byte, n int) (frames [][]byte) {
	for late := time.Now().Add(time.Second); len(frames) < n; {
		i := len(frames) * slotBytes
		if f := slot(ring[i : i+slotBytes]); f != nil {
			frames = append(frames, f)
		} else if time.Now().After(late) {
			break
		} else {
			time.Sleep(time.Millisecond)
		}
	}
	return frames
}

// writeDown keeps what trafgen sends.
func writeDown(t *testing.T, tx, file string) {
	packets, _ := compiled(t, file)
	var lines strings.Builder
	for _, f := range send(t, tx, file, rounds*len(packets)) {
		lines.WriteString(hex.EncodeToString(f) + "\n")
	}
	if err := os.WriteFile("testdata/truth/"+base(file)+".hex", []byte(lines.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// again runs the calling test in namespaces of its own.
func again(t *testing.T) {
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

// Of the receiving ring (packet_mmap.rst, TPACKET_V2): it is made large enough for all that is sent, so that no frame is lost however late the
// receiver comes.
const (
	slotBytes  = 512
	blockBytes = 64 << 10
)

// listen opens a packet socket with a ring for n frames at the peer.
func listen(t *testing.T, n int) (fd int, ring []byte) {
	t.Helper()
	ifi, err := net.InterfaceByName("v1")
	if err != nil {
		t.Fatal(err)
	}
	if fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
		t.Fatal(err)
	}
	blocks := n*slotBytes/blockBytes + 1
	req := unix.TpacketReq{Block_size: blockBytes, Block_nr: uint32(blocks), Frame_size: slotBytes, Frame_nr: uint32(blocks * blockBytes / slotBytes)}
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V2),
		unix.SetsockoptTpacketReq(fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &req),
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
		unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: unix.ETH_P_ALL<<8 | unix.ETH_P_ALL>>8, Ifindex: ifi.Index}),
	)
	if err != nil {
		t.Fatal(err)
	}
	if ring, err = unix.Mmap(fd, 0, blocks*blockBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		t.Fatal(err)
	}
	return fd, ring
}

// send returns what arrives of n frames that trafgen sends of a file. What goes from one end of a veth pair to the other passes a queue that drops
// frames when the machine has no time to empty it: then it is sent again.
func send(t *testing.T, dev, file string, n int) [][]byte {
	t.Helper()
	for attempt := 1; ; attempt++ {
		frames, said := sendOnce(t, dev, file, n)
		switch {
		case len(frames) == n:
			return frames
		case attempt == 3:
			t.Fatalf("%d of %d frames arrived, trafgen: %s", len(frames), n, said)
		}
	}
}

// sendOnce lets trafgen send. It does not always end by itself, nor with its children: then its whole
// group is killed, after all the time that a slow machine may need.
func sendOnce(t *testing.T, dev, file string, n int) (frames [][]byte, said string) {
	t.Helper()
	fd, ring := listen(t, n)
	defer func() { _ = errors.Join(unix.Munmap(ring), unix.Close(fd)) }()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dir := t.TempDir() // it leaves files where it is
	cpp := strings.HasPrefix(base(file), "cpp")
	if cpp { // and cpp finds there what is included
		if err := os.CopyFS(dir, os.DirFS(filepath.Dir(path))); err != nil {
			t.Fatal(err)
		}
		path = filepath.Join(dir, filepath.Base(path))
	}
	args := []string{"-P", "1", "-Q", "-i", path, "-o", dev, "-n", fmt.Sprint(n), "-t", "0"} // -t: with sendto(), which returns when the frame is there
	cmd := exec.CommandContext(ctx, "trafgen", args...)
	cmd.Dir = dir
	if cpp {
		cmd.Args = append(cmd.Args, "--cpp")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	text, err := cmd.CombinedOutput()
	frames = arrived(ring, n)
	return frames, fmt.Sprintf("%v\n%s", err, text)
}

// slot is the frame of a slot, nil if there is none. A VLAN tag, which the kernel takes out, is put back (struct tpacket2_hdr, linux/if_packet.h).
func slot(b []byte) []byte {
	status := binary.NativeEndian.Uint32(b)
	if status&unix.TP_STATUS_USER == 0 {
		return nil
	}
	at, n := binary.NativeEndian.Uint16(b[12:]), binary.NativeEndian.Uint32(b[8:])
	out := slices.Clone(b[at : uint32(at)+n])
	if status&unix.TP_STATUS_VLAN_VALID != 0 {
		tag := binary.BigEndian.AppendUint16(nil, binary.NativeEndian.Uint16(b[26:]))
		tag = binary.BigEndian.AppendUint16(tag, binary.NativeEndian.Uint16(b[24:]))
		out = slices.Concat(out[:12], tag, out[12:])
	}
	return out
}
