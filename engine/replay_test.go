package engine

import (
	"bytes"
	"encoding/binary"
	"testing"

	"wirespeed/engine/pcap"
)

// capturedFrame is frame i of the test's capture: of the lengths that there are in a lab, and of a content that only this number has.
func capturedFrame(i int) []byte {
	b := make([]byte, []int{60, 1514, 61, 200, 42}[i%5])
	copy(b, "\x02\x00\x00\x00\x00\xfe\x02\x00\x00\x00\x00\x09\xff\xfe")
	binary.BigEndian.PutUint32(b[14:], uint32(i))
	b[len(b)-1] = byte(i)
	return b
}

// recorded is a capture of n frames, 2 ms apart, made in memory by hand.
func recorded(t testing.TB, n int) *pcap.File {
	t.Helper()
	var b bytes.Buffer
	put := func(v ...uint32) { _ = binary.Write(&b, binary.LittleEndian, v) }
	put(0xa1b2c3d4, 4<<16|2, 0, 0, 262144, 1)
	for i := range n {
		f := capturedFrame(i)
		us := i * 2000
		put(uint32(1000+us/1e6), uint32(us%1e6), uint32(len(f)), uint32(len(f)))
		b.Write(f)
	}
	f, err := pcap.Read(&b, int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestCaptureIsSentInOrderByteForByte(t *testing.T) {
	tx, rx := pair(t, 1)
	for _, rate := range []string{"max", "20kpps"} {
		t.Run(rate, func(t *testing.T) {
			c := openCapture(t, rx)
			cfg := base(t, tx, rate)
			cfg.Load, cfg.Replay.Loops = &Load{Name: "x.pcap", Capture: recorded(t, 300)}, 3
			e := started(t, tx, rx, cfg, Limit{})
			got := c.read(900)
			if len(got) != 900 || c.dropped() != 0 {
				t.Fatalf("%d frames captured, %d lost by the capture, want 900", len(got), c.dropped())
			}
			for i, f := range got {
				if want := capturedFrame(i % 300); !bytes.Equal(want, f.data) {
					t.Fatalf("frame %d:\n%x, want\n%x", i, f.data, want)
				}
			}
			<-e.Done()
			var s Snapshot
			if e.Snapshot(&s); s.Taken.Count != 900 || s.Arrived.Count != 900 || s.State != Done {
				t.Errorf("%d taken, %d arrived, %v: want 900 and done", s.Taken.Count, s.Arrived.Count, s.State)
			}
		})
	}
}

// TestCaptureAtItsOwnTimes holds what is due against the capture's times: frames are 2 ms apart, and sent twice as fast. No real time passes.
func TestCaptureAtItsOwnTimes(t *testing.T) {
	w := &worker{shared: &shared{}, batch: maxBatch}
	w.cur = &plan{timing: 2, end: 1e12, source: &source{capture: newCursor(recorded(t, 50), 1518)}}
	k := w.cur.source.capture
	sent := 0
	look := func(now int64, want int, next int64) {
		t.Helper()
		n, until := w.wantTimed(now)
		if n != want || n == 0 && until != next {
			t.Fatalf("at %d ns: %d frames, look again at %d, want %d and %d", now, n, until, want, next)
		}
		for range n {
			k.at++
			k.pass()
		}
		sent += n
		w.done += uint64(n)
		if w.tally.asked != uint64(sent) {
			t.Fatalf("at %d ns: asked %d, sent %d", now, w.tally.asked, sent)
		}
	}
	const t0 = 7e6
	look(t0, 1, 0)
	look(t0, 0, t0+1e6)
	look(t0+999_999, 0, t0+1e6)
	look(t0+3e6, 3, 0) // what came due meanwhile
	for i := int64(4); i < 50; i++ {
		look(t0+i*1e6, 1, 0)
	}
	look(t0+50e6, 1, 0) // the next round joins on with the mean gap
	look(t0+51e6-1, 0, t0+51e6)
	look(t0+101e6, 51, 0) // late, and within what is worked off
	look(t0+500e6, 1, 0)  // very late: it goes on from here, and leaves nothing out
	look(t0+500e6, 0, t0+501e6)
	w.cur.timing = 0.5 // another speed, from the next frame on
	look(t0+501e6, 1, 0)
	look(t0+501e6, 0, t0+505e6)
	look(1e12, 0, 1e12)
	if !w.ended {
		t.Error("it did not end with the run")
	}
}

// Frames that the device does not take are passed over, and counted.
func TestOversizedRecordsAreLeftOut(t *testing.T) {
	tx, rx := pair(t, 1)
	small := tx
	small.MTU = 1000
	c := openCapture(t, rx)
	cfg := base(t, tx, "20kpps")
	cfg.Load, cfg.Replay.Loops = &Load{Name: "x.pcap", Capture: recorded(t, 10)}, 2
	if left := cfg.Load.Left(small); len(left) != 1 || left[0] != "2 longer than the MTU of v0 allows" {
		t.Errorf("left out: %q", left)
	}
	started(t, small, rx, cfg, Limit{})
	got := c.read(16)
	if len(got) != 16 {
		t.Fatalf("%d frames, want 16", len(got))
	}
	for _, f := range got {
		if len(f.data) > 1018 {
			t.Errorf("a frame of %d bytes", len(f.data))
		}
	}
}

func TestCaptureRefused(t *testing.T) {
	tx := Device{Name: "v0", MTU: 20, Queues: 2, CPUs: allowedCPUs}
	cfg := base(t, tx, "max")
	cfg.Load = &Load{Name: "x.pcap", Capture: recorded(t, 10)}
	for _, c := range []struct {
		mtu, queues int
		want        string
	}{
		{20, 1, "x.pcap: all 10 frames are longer than 38 bytes, the limit on v0 (MTU 20): raise the MTU"},
		{1500, 2, "x.pcap: a capture is sent in its order, by one worker: set queues 1"},
		{1500, 1, ""},
	} {
		tx.MTU, cfg.Queues = c.mtu, c.queues
		got := ""
		if err := cfg.Validate(tx); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
