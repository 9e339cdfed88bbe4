package engine

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/safchain/ethtool"

	"wirespeed/engine/frame"
)

// What TCP super-frames are cut into is what single slots carry, to the byte: the same frames are sent in either kind of slot and compared at the
// peer, each one's checksums and numbers also by a decoder that is not ours.
func TestTCPSegmentsAreTheFramesOfSingleSlots(t *testing.T) {
	for _, tt := range []struct {
		name        string
		size, burst int
		v6          bool
		vlan        uint16
	}{
		{"the smallest", 60, 64, false, 0},
		{"with our header", 80, 64, false, 0},
		{"with our header, odd", 101, 7, false, 0},
		{"large", 1514, 64, false, 0},
		{"IPv6", 100, 128, true, 0},
		{"with a tag", 100, 200, false, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tx, rx := pair(t, 1)
			softwareCuts(t, "v0", true)
			tcpCut(t, "v0")
			const n = 700 // not a multiple of any burst
			cfg := base(t, tx, "20kpps")
			cfg.Path, cfg.Burst = QdiscPath, tt.burst
			cfg.Frame.Proto, cfg.Frame.Size, cfg.Frame.VLAN = frame.TCP, tt.size, tt.vlan
			if tt.v6 {
				cfg.Frame.SrcIP, cfg.Frame.DstIP = netip.MustParseAddr("2001:2::1"), netip.MustParseAddr("2001:2::2")
			}
			var got [2][]string
			for i, slot := range []Slot{SlotLinear, SlotSegmented} {
				c := openCapture(t, rx)
				cfg.Slot = slot
				e := started(t, tx, rx, cfg, Limit{Count: n})
				captured := c.read(n)
				s := finish(t, e, 3*time.Second)
				if s.Workers[0].Kind != slot.String() {
					t.Fatalf("slots are %s, want %s", s.Workers[0].Kind, slot)
				}
				if s.Taken.Count != n || s.Arrived.Count != n || counter(t, "v0", "tx_packets") != uint64(n*(i+1)) {
					t.Errorf("%d taken, %d arrived, want %d", s.Taken.Count, s.Arrived.Count, n)
				}
				if len(captured) != n || c.dropped() != 0 {
					t.Fatalf("%d frames captured, %d lost by the capture, want %d", len(captured), c.dropped(), n)
				}
				for k, f := range captured {
					got[i] = append(got[i], judgeTCP(t, f.data, k, tt.size-4*min(1, int(tt.vlan))))
				}
			}
			for k := range got[0] {
				if got[0][k] != got[1][k] {
					t.Fatalf("frame %d of a super-frame is\n%s, in a slot of its own\n%s", k, got[1][k], got[0][k])
				}
			}
		})
	}
}

// judgeTCP checks frame k of a stream by gopacket and returns it without its time, which no two runs share.
func judgeTCP(t *testing.T, b []byte, k, size int) string {
	t.Helper()
	if len(b) != size {
		t.Fatalf("frame %d has %d bytes, want %d", k, len(b), size)
	}
	p := gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.Default)
	tcp, _ := p.Layer(layers.LayerTypeTCP).(*layers.TCP)
	if tcp == nil {
		t.Fatalf("frame %d is not TCP: %x", k, b)
	}
	_ = tcp.SetNetworkLayerForChecksum(p.NetworkLayer())
	if err, wrong := p.VerifyChecksums(); err != nil || len(wrong) > 0 {
		t.Fatalf("frame %d: wrong checksums: %v %v: %x", k, err, wrong, b)
	}
	if want := uint32(k * len(tcp.Payload)); tcp.Seq != want {
		t.Fatalf("frame %d: TCP sequence number %d, want %d", k, tcp.Seq, want)
	}
	if ip, ok := p.NetworkLayer().(*layers.IPv4); ok && ip.Id != uint16(k+1) {
		t.Fatalf("frame %d: IP ID %d", k, ip.Id)
	}
	if len(tcp.Payload) >= 16 {
		if seq := binary.BigEndian.Uint32(tcp.Payload[4:]); seq != uint32(k+1) {
			t.Fatalf("frame %d carries number %d", k, seq)
		}
		clear(tcp.Payload[8:16]) // time
	}
	return fmt.Sprintf("%x %x %x %d", p.NetworkLayer().LayerContents(), tcp.Contents[:16], tcp.Payload, tcp.Urgent)
}

// tcpCut switches off what would pass TCP super-frames on whole.
func tcpCut(t testing.TB, dev string) {
	t.Helper()
	e, err := ethtool.NewEthtool()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Change(dev, map[string]bool{
		"tx-tcp-segmentation": false, "tx-tcp-ecn-segmentation": false, "tx-tcp-mangleid-segmentation": false, "tx-tcp6-segmentation": false,
	}); err != nil {
		t.Fatal(err)
	}
}
