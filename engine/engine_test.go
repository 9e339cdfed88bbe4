package engine

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"wirespeed/engine/frame"
	"wirespeed/nic/lab/labtest"
)

func TestMain(m *testing.M) {
	if os.Getenv(senderEnv) != "" { // another process of a test, inside its namespaces
		os.Exit(senderMain())
	}
	os.Exit(labtest.Main(m))
}

// foreign belongs to nobody, so that the peer's stack drops the frames at once.
var foreign = frame.MAC{0x02, 0, 0, 0, 0, 0xfe}

// allowedCPUs is the affinity mask of this process, read before any thread is pinned.
var allowedCPUs = func() (cpus []int) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		panic(err)
	}
	for i := range len(set) * 64 {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus
}()

// pair makes a veth pair and returns what the engine must know of its ends.
func pair(t testing.TB, queues int) (tx, rx Device) {
	t.Helper()
	labtest.Pair(t, "v0", "v1", queues)
	return device(t, "v0", queues), device(t, "v1", queues)
}

func device(t testing.TB, name string, queues int) Device {
	t.Helper()
	ifi, err := net.InterfaceByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return Device{
		Name: name, Index: ifi.Index, MTU: ifi.MTU, Queues: queues, MAC: frame.MAC(ifi.HardwareAddr),
		SpeedWhy: "veth has no speed of its own", CPUs: allowedCPUs,
	}
}

// base is the default stream of 60-byte frames.
func base(t testing.TB, tx Device, rate string) Config {
	t.Helper()
	r, err := ParseRate(rate)
	if err != nil {
		t.Fatal(err)
	}
	return Config{
		Frame: frame.Spec{
			Size: 60, SrcMAC: tx.MAC, DstMAC: foreign,
			SrcIP: netip.MustParseAddr("198.18.0.1"), DstIP: netip.MustParseAddr("198.18.0.2"), SrcPort: 9, DstPort: 9,
		},
		Rate: r, Burst: 1, Queues: 1, CPUs: allowedCPUs[len(allowedCPUs)-1:], Receive: true, // the last CPU: other tests begin with the first
	}
}

// started opens an engine that is closed when the test ends, and starts it.
func started(t testing.TB, tx, rx Device, cfg Config, l Limit) *Engine {
	t.Helper()
	e, err := Open(tx, &rx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	if err := e.Start(l); err != nil {
		t.Fatal(err)
	}
	return e
}

// finish waits for the end of a run and returns the last snapshot.
func finish(t testing.TB, e *Engine, within time.Duration) Snapshot {
	t.Helper()
	select {
	case <-e.Done():
	case <-time.After(within):
		t.Fatalf("the run did not end within %v", within)
	}
	var s Snapshot
	e.Snapshot(&s)
	return s
}

// counter is a device's own count, as another program reads it.
func counter(t testing.TB, dev, name string) uint64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("/sys/class/net", dev, "statistics", name))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// delivered checks that the engine, the device and the receiver agree, to the frame.
func delivered(t testing.TB, s Snapshot, want uint64) {
	t.Helper()
	if s.Err != nil {
		t.Fatalf("run failed: %v", s.Err)
	}
	for _, c := range []struct {
		step string
		got  uint64
	}{
		{"ring", s.Ring.Count}, {"taken", s.Taken.Count}, {"device", counter(t, "v0", "tx_packets")}, {"arrived", s.Arrived.Count},
	} {
		if c.got != want {
			t.Errorf("%s: %d frames, want %d", c.step, c.got, want)
		}
	}
}

func TestCountIsExact(t *testing.T) {
	tx, rx := pair(t, 2)
	for _, path := range []Path{Bypass, QdiscPath} {
		t.Run(path.String(), func(t *testing.T) {
			was := counter(t, "v0", "tx_packets")
			cfg := base(t, tx, "max")
			cfg.Queues, cfg.CPUs, cfg.Path = 2, allowedCPUs, path
			s := finish(t, started(t, tx, rx, cfg, Limit{Count: 12345}), 5*time.Second)
			if got := counter(t, "v0", "tx_packets") - was; got != 12345 || s.Taken.Count != 12345 || s.Arrived.Count != 12345 || s.Ring.Count != 12345 {
				t.Errorf("ring %d, taken %d, device %d, arrived %d, want 12345 of each", s.Ring.Count, s.Taken.Count, got, s.Arrived.Count)
			}
		})
	}
}

func TestRateIsExact(t *testing.T) {
	tx, rx := pair(t, 1)
	cfg := base(t, tx, "100kpps")
	s := finish(t, started(t, tx, rx, cfg, Limit{Duration: 2 * time.Second}), 5*time.Second)
	if s.Asked != 200_000 {
		t.Errorf("asked %d frames in 2 s at 100 kpps, want 200000", s.Asked)
	}
	delivered(t, s, 200_000-s.Missed)
	t.Logf("missed %d, ran %v; %+v", s.Missed, s.Since, s.Workers[0])
}

func TestARunLastsItsDuration(t *testing.T) {
	tx, rx := pair(t, 1)
	for rate, want := range map[string]uint64{"3pps": 2, "max": 0, "64pps": 26} {
		cfg := base(t, tx, rate)
		cfg.Burst = 2
		s := finish(t, started(t, tx, rx, cfg, Limit{Duration: 400 * time.Millisecond}), 2*time.Second)
		if s.Since < 400*time.Millisecond {
			t.Errorf("%s: the run of 400 ms lasted %v", rate, s.Since)
		}
		if got := s.Ring.Count + s.Missed; want != 0 && got != want {
			t.Errorf("%s: %d frames, want %d: bursts of 2 that begin in [0, 400 ms)", rate, got, want)
		}
	}
}

func TestMaxSpeed(t *testing.T) {
	tx, rx := pair(t, 1)
	cfg := base(t, tx, "max")
	cfg.Receive = false
	s := finish(t, started(t, tx, rx, cfg, Limit{Duration: time.Second}), 5*time.Second)
	t.Logf("taken %d, ran %v; %+v", s.Taken.Count, s.Since, s.Workers[0])
}
