package presets

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"wirespeed/engine"
	"wirespeed/engine/frame"
	"wirespeed/nic/lab/labtest"
	"wirespeed/presets/knob"
)

// onVeth is set in the one process that runs a test with a network: the others need none, and must not be skipped without one.
const onVeth = "WIRESPEED_PRESETS_VETH"

func TestMain(m *testing.M) {
	if os.Getenv(onVeth) != "" {
		os.Exit(labtest.Main(m))
	}
	os.Exit(m.Run())
}

// Ten thousand frames of every preset, in the state it begins with, arrive, and another's decoders find no fault in any of them; of the states that
// its steps turn the knobs to, five hundred each. What a device alone decides (rings, pause) makes no difference to frames.
func TestFramesOfPresets(t *testing.T) {
	if os.Getenv(onVeth) == "" {
		cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), onVeth+"=1")
		out, err := cmd.CombinedOutput()
		switch {
		case err != nil:
			t.Fatalf("%v\n%s", err, out)
		case strings.Contains(string(out), "no tests to run"):
			t.Skipf("%s", out)
		case !strings.Contains(string(out), "--- PASS: "+t.Name()+"/udp60"):
			t.Fatalf("the test did not run:\n%s", out)
		}
		return
	}
	home(t)
	labtest.Pair(t, "v0", "v1", 2)
	list, err := List()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		t.Run(p.Name, func(t *testing.T) {
			b := veth(t)
			turn := func(name, value string) bool {
				k, err := knob.Find(name)
				if err != nil {
					t.Fatal(err)
				}
				if k.Group == knob.NICGroup || k.Unavailable(b) != "" || name == "rate" {
					return false
				}
				if _, err := knob.SetAll(b, []knob.Setting{{Knob: name, Value: value}}); err != nil {
					t.Fatal(err)
				}
				return true
			}
			for _, s := range p.Knobs {
				turn(s.Knob, s.Value)
			}
			faultless(t, b, 10000)
			for _, s := range p.Steps {
				if s.Verb == knob.DoSet && turn(s.Knob, s.Value) {
					faultless(t, b, 500)
				}
			}
		})
	}
}

// veth is a bench on v0 with the CPUs of this process.
func veth(t *testing.T) *knob.Bench {
	t.Helper()
	ifi, err := net.InterfaceByName("v0")
	if err != nil {
		t.Fatal(err)
	}
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	dev := engine.Device{Name: "v0", Index: ifi.Index, MTU: ifi.MTU, Queues: 2, MAC: frame.MAC(ifi.HardwareAddr), Speed: 1e9}
	for cpu := 0; len(dev.CPUs) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			dev.CPUs = append(dev.CPUs, cpu)
		}
	}
	to := [6]byte{2, 0, 0, 0, 0, 0xfe} // nobody's
	b := &knob.Bench{Device: dev, RxMAC: &to, Lab: true}
	b.Config = knob.Defaults(dev, &to, true)
	return b
}

// slotBytes is the size of a receiving slot (packet_mmap.rst, TPACKET_V2).
const slotBytes = 2048

// faultless sends n frames of a bench and looks at each one that arrives. The path and who cuts bursts are left to the engine's own tests: here a
// frame is a slot.
func faultless(t *testing.T, b *knob.Bench, n int) {
	t.Helper()
	cfg := b.Config
	cfg.Segment, cfg.Receive = engine.SegmentOff, false
	var err error
	if cfg.Rate, err = engine.ParseRate("100kpps"); err != nil { // a queue of the kernel lies between the ends of a veth pair: it is not to overflow
		t.Fatal(err)
	}
	ifi, err := net.InterfaceByName("v1")
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	const blockBytes = 64 << 10
	blocks := n*slotBytes/blockBytes + 1
	req := unix.TpacketReq{Block_size: blockBytes, Block_nr: uint32(blocks), Frame_size: slotBytes, Frame_nr: uint32(blocks * blockBytes / slotBytes)}
	if err := errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V2),
		unix.SetsockoptTpacketReq(fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &req),
		unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: unix.ETH_P_ALL<<8 | unix.ETH_P_ALL>>8, Ifindex: ifi.Index}),
	); err != nil {
		t.Fatal(err)
	}
	ring, err := unix.Mmap(fd, 0, blocks*blockBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(unix.Munmap(ring), unix.Close(fd)) }()

	e, err := engine.Open(b.Device, nil, cfg)
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
	for i := range n {
		slot := ring[i*slotBytes : (i+1)*slotBytes]
		for late := time.Now().Add(time.Second); binary.NativeEndian.Uint32(slot)&unix.TP_STATUS_USER == 0; time.Sleep(time.Millisecond) {
			if time.Now().After(late) {
				t.Fatalf("%d of %d frames arrived", i, n)
			}
		}
		at, length := binary.NativeEndian.Uint16(slot[12:]), binary.NativeEndian.Uint32(slot[8:])
		layers := frame.Decode(slot[at : uint32(at)+length])
		for _, l := range layers {
			if l.Faults != "" {
				t.Fatalf("frame %d: %s: %s: %s", i, l.Name, l.Text, l.Faults)
			}
		}
		if names := len(layers); names < 3 || layers[1].Name != "IPv4" || layers[2].Name != "UDP" {
			t.Fatalf("frame %d: %v: no UDP over IPv4", i, layers)
		}
	}
}
