package engine

import (
	"encoding/binary"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/safchain/ethtool"

	"wirespeed/engine/frame"
)

// softwareCuts switches off what would pass super-frames on whole, and the device's checksums, so that captures show complete ones.
func softwareCuts(t testing.TB, dev string, sums bool) {
	t.Helper()
	e, err := ethtool.NewEthtool()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	features := map[string]bool{"tx-udp-segmentation": false}
	if sums {
		features["tx-checksum-ip-generic"] = false
	}
	if err := e.Change(dev, features); err != nil {
		t.Fatal(err)
	}
}

func TestSegmentedBurstsArriveFrameForFrame(t *testing.T) {
	for _, tt := range []struct {
		name        string
		size, burst int
		vlan        uint16
	}{
		{"64 of the smallest", 60, 64, 0},
		{"the most a slot takes", 60, 128, 0},
		{"bursts of several slots", 60, 129, 0},
		{"two of an odd size", 105, 2, 0},
		{"large ones", 1514, 64, 0},
		{"with a tag", 64, 8, 5},
		{"the longest burst", 60, 1024, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tx, rx := pair(t, 1)
			softwareCuts(t, "v0", true)
			const n = 1030 // not a multiple of any burst
			c := openCapture(t, rx)
			cfg := base(t, tx, "20kpps")
			cfg.Path, cfg.Burst, cfg.Slot = QdiscPath, tt.burst, SlotSegmented
			cfg.Frame.Size, cfg.Frame.VLAN = tt.size, tt.vlan
			e := started(t, tx, rx, cfg, Limit{Count: n})
			got := c.read(n)
			s := finish(t, e, 3*time.Second)
			if s.Workers[0].Kind != "segmented" {
				t.Fatalf("slots are %s", s.Workers[0].Kind)
			}
			if kicks := uint64(n/tt.burst + 2 + n/128); s.Workers[0].Kicks > 2*kicks {
				t.Errorf("%d kicks for %d frames", s.Workers[0].Kicks, n)
			}
			delivered(t, s, n)
			if len(got) != n || c.dropped() != 0 {
				t.Fatalf("%d frames captured, %d lost by the capture, want %d", len(got), c.dropped(), n)
			}
			// What comes out is what one frame at a time would have been, to the byte.
			want, err := frame.Build(cfg.Frame)
			if err != nil {
				t.Fatal(err)
			}
			if tt.vlan != 0 { // the receiving kernel takes the tag off
				spec := cfg.Frame
				spec.VLAN, spec.Size = 0, spec.Size-4
				if want, err = frame.Build(spec); err != nil {
					t.Fatal(err)
				}
			}
			for i, f := range got {
				_, udp := decode(t, f.data)
				h := udp.Payload
				b := append([]byte(nil), want.Bytes...)
				want.Patch(b, uint16(i+1), uint32(i+1), binary.BigEndian.Uint32(h[8:]), binary.BigEndian.Uint32(h[12:]), 0)
				if string(b) != string(f.data) {
					t.Fatalf("frame %d is\n%x, want\n%x", i, f.data, b)
				}
			}
		})
	}
}

func TestSegmentationNeverCountsMoreThanWasSent(t *testing.T) {
	tx, rx := pair(t, 1)
	softwareCuts(t, "v0", false)
	cfg := base(t, tx, "max")
	cfg.Path = QdiscPath
	e := started(t, tx, rx, cfg, Limit{})
	for _, burst := range []int{64, 2, 1, 128, 7, 1000} {
		cfg.Burst = burst
		if err := e.Apply(cfg); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := e.Stop(); err != nil {
		t.Fatal(err)
	}
	var s Snapshot
	e.Snapshot(&s)
	delivered(t, s, s.Ring.Count)
}

func TestOldKernelsAndTheBypassUseFramesInsteadOfSuperFrames(t *testing.T) {
	tx, rx := pair(t, 1)
	cfg := base(t, tx, "100kpps")
	cfg.Burst = 64
	s := finish(t, started(t, tx, rx, cfg, Limit{Count: 640}), time.Second)
	delivered(t, s, 640)
	if s.Workers[0].Kind == "segmented" {
		t.Error("super-frames on the bypass, which drops them")
	}
}

func TestTheProbeSendsNothing(t *testing.T) {
	tx, rx := pair(t, 1)
	softwareCuts(t, "v0", false)
	c := openCapture(t, rx)
	if !cutsSuperFrames(tx, base(t, tx, "max").Frame) {
		t.Error("this kernel, 6.2 or later, is said not to cut super-frames")
	}
	if n := counter(t, "v0", "tx_packets"); n != 0 {
		t.Errorf("the device sent %d frames", n)
	}
	_ = c
}

// BenchmarkSuper is the speed of bursts as super-frames.
func BenchmarkSuper(b *testing.B) {
	for _, burst := range []int{1, 2, 4, 8, 16, 64, 128} {
		b.Run(fmt.Sprint(burst), func(b *testing.B) {
			tx, rx := pair(b, 1)
			softwareCuts(b, "v0", false)
			cfg := base(b, tx, "max")
			cfg.Path, cfg.Burst, cfg.Receive = QdiscPath, burst, false
			if os.Getenv("FORCE") != "" {
				cfg.Slot = SlotSegmented
			}
			b.ResetTimer()
			e := started(b, tx, rx, cfg, Limit{Count: uint64(b.N)})
			<-e.Done()
			b.StopTimer()
			var s Snapshot
			e.Snapshot(&s)
			w := s.Workers[0]
			b.ReportMetric(float64(w.User.Nanoseconds())/float64(w.Taken), "user-ns/frame")
			b.ReportMetric(map[string]float64{"linear": 0, "plain": 1, "segmented": 2}[w.Kind], "kind")
			_ = e.Close()
		})
	}
}
