package engine

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"
)

// capture is an independent witness: a plain packet socket that reads frames with the kernel's time stamps.
type capture struct {
	t  testing.TB
	fd int
}

// captured is one frame as it arrived. at is the kernel's receive time (CLOCK_REALTIME, ns).
type captured struct {
	at   int64
	data []byte
}

func htons(v uint16) uint16 { return v<<8 | v>>8 }

func openCapture(t testing.TB, dev Device) *capture {
	t.Helper()
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(htons(unix.ETH_P_ALL)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_ALL), Ifindex: dev.Index}); err != nil {
		t.Fatal(err)
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 1<<28) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 1<<28)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
		t.Fatal(err)
	}
	tv := unix.Timeval{Sec: 2}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv); err != nil {
		t.Fatal(err)
	}
	return &capture{t, fd}
}

// read returns frames until n have come or 2 s pass without one.
func (c *capture) read(n int) []captured {
	c.t.Helper()
	var frames []captured
	buf, oob := make([]byte, 1<<16), make([]byte, 256)
	for len(frames) < n {
		k, oobn, _, _, err := unix.Recvmsg(c.fd, buf, oob, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			break
		}
		f := captured{data: append([]byte(nil), buf[:k]...)}
		msgs, err := unix.ParseSocketControlMessage(oob[:oobn])
		if err != nil {
			c.t.Fatal(err)
		}
		for _, m := range msgs {
			if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPNS {
				f.at = int64(binary.NativeEndian.Uint64(m.Data))*1e9 + int64(binary.NativeEndian.Uint64(m.Data[8:]))
			}
		}
		frames = append(frames, f)
	}
	return frames
}

// dropped is how many frames the capture itself lost for want of room.
func (c *capture) dropped() uint32 {
	s, err := unix.GetsockoptTpacketStats(c.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		c.t.Fatal(err)
	}
	return s.Drops
}

// bin is what arrived in a stretch of about a millisecond, measured by a receiver of its own. A witness that was off the CPU makes a longer
// bin, so counts are to be compared with its true length.
type bin struct {
	from, to int64 // ns
	frames   uint64
}

// bins watches rx until stop is closed.
func bins(t testing.TB, rx Device, cfg Config, stop <-chan struct{}) []bin {
	clk := newClock()
	r, err := openReceiver(rx, &clk, cfg.flows())
	if err != nil {
		t.Error(err)
		return nil
	}
	defer func() { _ = r.close() }()
	var out []bin
	last := r.read()
	for {
		select {
		case <-stop:
			return out
		default:
		}
		clk.sleep(clk.now(), int64(last.At)+1e6)
		now := r.read()
		// The count belongs to some moment of the bracket: the widest stretch it can stand for is the fair one.
		out = append(out, bin{int64(last.At - last.Err), int64(now.At + now.Err), now.Count - last.Count})
		last = now
	}
}
