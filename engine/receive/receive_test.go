package receive

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"wirespeed/engine/frame"
	"wirespeed/engine/verify"
	"wirespeed/nic/lab/labtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

var source = frame.MAC{2, 0, 0, 0, 0, 1}

// lab is a veth pair: frames are sent into v0 by a plain socket, one by one, and come out of v1.
type lab struct {
	t      testing.TB
	rx     int
	fd     int
	tx     int
	spec   frame.Spec
	micros uint64
}

func newLab(t testing.TB) *lab {
	t.Helper()
	labtest.Pair(t, "v0", "v1", 1)
	index := func(name string) int {
		ifi, err := net.InterfaceByName(name)
		if err != nil {
			t.Fatal(err)
		}
		return ifi.Index
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	return &lab{t: t, rx: index("v1"), tx: index("v0"), fd: fd, micros: 1_700_000_000_000_000, spec: frame.Spec{
		Size: 64, SrcMAC: source, DstMAC: frame.MAC{2, 0, 0, 0, 0, 0xfe}, SrcPort: 9, DstPort: 9,
		SrcIP: netip.MustParseAddr("198.18.0.1"), DstIP: netip.MustParseAddr("198.18.0.2"),
	}}
}

func (l *lab) send(b []byte) {
	l.t.Helper()
	if err := unix.Sendto(l.fd, b, 0, &unix.SockaddrLinklayer{Ifindex: l.tx}); err != nil {
		l.t.Fatal(err)
	}
}

// made is a frame of a worker; numbers that rise are a microsecond apart.
func (l *lab) made(worker uint16, seq uint32) []byte {
	l.t.Helper()
	tp, err := frame.Build(l.spec)
	if err != nil {
		l.t.Fatal(err)
	}
	at := l.micros + uint64(seq)
	tp.Patch(tp.Bytes, uint16(seq), seq, uint32(at/1e6), uint32(at%1e6), worker)
	return tp.Bytes
}

func (l *lab) open(o Options) *Receiver {
	l.t.Helper()
	o.Device = l.rx
	if o.Filter == nil {
		o.Filter = must(From(source))
	}
	r, err := Open(o)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() {
		if err := r.Close(); err != nil {
			l.t.Error(err)
		}
	})
	return r
}

func must(prog []bpf.RawInstruction, err error) []bpf.RawInstruction {
	if err != nil {
		panic(err)
	}
	return prog
}

func settled(t testing.TB, r *Receiver) Snapshot {
	t.Helper()
	r.Settle(10 * time.Second)
	s, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPlantedFaultsAreCountedExactly(t *testing.T) {
	for readers := 1; readers <= 3; readers++ {
		t.Run(fmt.Sprintf("%d readers", readers), func(t *testing.T) {
			l := newLab(t)
			r := l.open(Options{FromOne: true, Readers: readers})
			const workers, each = 3, 1000
			for seq := uint32(1); seq <= each; seq++ {
				for w := range uint16(workers) {
					b := l.made(w, seq)
					switch {
					case seq%100 == 7: // lost: 10 of each
						continue
					case seq%250 == 11: // corrupt: 4 of each
						b[len(b)-1] ^= 0x10
					case seq%200 == 50: // sent 3 later: 5 of each
						continue
					}
					l.send(b)
					if seq%200 == 53 {
						l.send(l.made(w, seq-3))
					}
					if seq%125 == 1 { // twice: 8 of each
						l.send(b)
					}
				}
			}
			l.send(append([]byte{2, 0, 0, 0, 0, 0xfe, 2, 0, 0, 0, 0, 9, 0x88, 0xb5}, make([]byte, 50)...)) // somebody else's
			s := settled(t, r)
			want := verify.Counts{
				Right: workers * (each - 10 - 4 + 8), Received: workers * (each - 10 - 4), Missing: workers * 14, Duplicates: workers * 8,
				Reordered: workers * 5, ExtentMax: 3, ExtentSum: workers * 5 * 3, Corrupt: workers * 4, BadL4Sum: workers * 4,
			}
			if diff := cmp.Diff(want, s.Counts); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if s.Lost() != workers*10 || s.NotSeen != 0 || s.Arrived != s.Read || s.Arrived != want.Right+want.Corrupt {
				t.Errorf("lost %d, not seen %d, arrived %d, read %d", s.Lost(), s.NotSeen, s.Arrived, s.Read)
			}
			if !s.ForeignOK || s.Foreign != 1 {
				t.Errorf("foreign %d", s.Foreign)
			}
			if len(s.Flows) != workers || s.Flows[2].Worker != 2 || s.Flows[2].Highest != each || s.Flows[2].Received != each-14 {
				t.Errorf("flows %+v", s.Flows)
			}
			if s.Latency != nil {
				t.Error("frames of another clock are timed")
			}
		})
	}
}

// A sequence is shuffled, copied and holed as a whole; the receiver must agree with the arithmetic on the same list.
func TestAnyOrderIsReadInTheOrderOfArrival(t *testing.T) {
	l := newLab(t)
	r := l.open(Options{FromOne: true, Readers: 2})
	rnd := rand.New(rand.NewPCG(1, 2))
	want := verify.Table{FromOne: true}
	for _, i := range rnd.Perm(4000) {
		seq, worker := uint32(i/2+1), uint16(i%2)
		for range rnd.IntN(3) {
			l.send(l.made(worker, seq))
			want.Take(&verify.Frame{Seq: seq, Worker: worker, Micros: l.micros + uint64(seq)}, verify.Good)
		}
	}
	s := settled(t, r)
	if diff := cmp.Diff(want.Counts(), s.Counts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTagsThatTheKernelMovesAway(t *testing.T) {
	l := newLab(t)
	l.spec.VLAN, l.spec.Size = 5, 66
	r := l.open(Options{FromOne: true})
	for seq := uint32(1); seq <= 100; seq++ {
		l.send(l.made(0, seq))
	}
	if s := settled(t, r); s.Received != 100 || s.Corrupt != 0 || s.Missing != 0 {
		t.Errorf("%+v", s.Counts)
	}
}

// A reader that stands still is no loss: what finds its ring full arrived, and was not seen.
func TestWhatFindsTheRingFullIsNotLost(t *testing.T) {
	l := newLab(t)
	l.spec.Size = 1514
	r := l.open(Options{FromOne: true})
	rd := r.readers[0]
	b := l.made(0, 1)
	const sent = 30_000 // more than 32 MiB of them
	rd.mu.Lock()
	tp, err := frame.Build(l.spec)
	if err != nil {
		t.Fatal(err)
	}
	for seq := uint32(1); seq <= sent; seq++ {
		copy(b, tp.Bytes)
		tp.Patch(b, 0, seq, 1_700_000_000, seq, 0)
		l.send(b)
	}
	rd.mu.Unlock()
	r.Settle(10 * time.Second)
	for seq := uint32(sent + 1); seq <= sent+10; seq++ { // it goes on, and so the hole is known
		l.send(l.made(0, seq))
	}
	s := settled(t, r)
	if s.Arrived != sent+10 || s.NotSeen == 0 || s.Read != s.Arrived-s.NotSeen {
		t.Errorf("arrived %d, not seen %d, read %d", s.Arrived, s.NotSeen, s.Read)
	}
	if s.Lost() != 0 || s.Missing != s.NotSeen || s.Received != s.Read {
		t.Errorf("lost %d, missing %d, received %d", s.Lost(), s.Missing, s.Received)
	}
}

func TestWhatTheDeviceItselfSendsHasNotArrived(t *testing.T) {
	l := newLab(t)
	r := l.open(Options{FromOne: true})
	l.tx, l.rx = l.rx, l.tx
	l.send(l.made(0, 1))
	if s := settled(t, r); s.Arrived != 0 || s.Foreign != 0 {
		t.Errorf("arrived %d, foreign %d", s.Arrived, s.Foreign)
	}
}

func TestLatencyIsThatOfTheWay(t *testing.T) {
	l := newLab(t)
	now := func() int64 { return time.Now().UnixNano() + 3e9 } // the sender's clock is another one
	c := NewClock(now)
	r := l.open(Options{FromOne: true, Clock: c})
	const held = 20 * time.Millisecond
	took := int64(0) // by the slowest frame, at most: the machine may have been elsewhere
	send := func(seq uint32, note bool, wait time.Duration) (sent int64) {
		sent = now()
		defer func() { took = max(took, now()-sent) }()
		l.micros = uint64(sent)/1e3 - uint64(seq)
		if note {
			c.Stamps(0).Note(sent)
		}
		b := l.made(0, seq)
		time.Sleep(wait)
		l.send(b)
		return sent
	}
	for seq := uint32(1); seq <= 100; seq++ {
		send(seq, true, 0)
	}
	sent := send(101, true, held)
	s := settled(t, r)
	q := s.Latency.Quantiles()
	if q.N != 101 || s.Latency.Negative != 0 || s.Latency.ResolutionNS != 1 {
		t.Errorf("%d timed, %d negative, resolution %d ns", q.N, s.Latency.Negative, s.Latency.ResolutionNS)
	}
	if q.Max < int64(held) || q.Max > took+took/500+s.Latency.ClockErrNS || q.Min <= 0 || q.Min > q.Median || q.Median > q.P99 || q.P99 > q.Max {
		t.Errorf("%+v, the slowest frame took between %v and %v", q, held, time.Duration(took))
	}
	if j := s.Latency.JitterNS; j == nil || *j <= 0 || *j > float64(took) {
		t.Errorf("jitter %v", j)
	}
	send(102, false, 0)
	if s := settled(t, r); s.Latency.ResolutionNS != 1000 || s.Latency.Quantiles().N != 102 {
		t.Errorf("a frame of which only the header tells: resolution %d ns, %d timed", s.Latency.ResolutionNS, s.Latency.Quantiles().N)
	}
	l.micros = uint64(sent)/1e3 + 60e6 // of a minute from now
	l.send(l.made(0, 103))
	if s := settled(t, r); s.Latency.Negative != 1 || s.Latency.Quantiles().N != 102 {
		t.Errorf("a frame of the future: %d negative, %d timed", s.Latency.Negative, s.Latency.Quantiles().N)
	}
}

func TestNumberedLetsEveryPktgenHeaderThrough(t *testing.T) {
	l := newLab(t)
	r := l.open(Options{Filter: must(Numbered()), BySource: true, Readers: 2})
	l.send(l.made(0, 1))
	l.spec.SrcIP, l.spec.DstIP, l.spec.Size = netip.MustParseAddr("2001:2::1"), netip.MustParseAddr("2001:2::2"), 90
	l.send(l.made(0, 2))
	l.spec.SrcMAC = frame.MAC{2, 0, 0, 0, 0, 7}
	l.send(l.made(0, 40))
	bare := l.made(0, 3)
	bare[14+40+8] ^= 1 // no magic
	l.send(bare)
	s := settled(t, r)
	if s.Arrived != 3 || s.Received != 3 || s.Missing != 0 || len(s.Flows) != 2 || s.Foreign != 1 {
		t.Errorf("arrived %d, foreign %d, %+v, flows %+v", s.Arrived, s.Foreign, s.Counts, s.Flows)
	}
}

func TestCounter(t *testing.T) {
	l := newLab(t)
	c, err := OpenCounter(l.rx, must(From(source)))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for seq := range uint32(50) {
		l.send(l.made(0, seq))
	}
	if n, err := c.Read(); n != 50 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if err := c.SetFilter(must(Others(must(From(source))))); err != nil {
		t.Fatal(err)
	}
	l.send(l.made(0, 51))
	if n, err := c.Read(); n != 50 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

func TestFromBoundsItsAddresses(t *testing.T) {
	for n, ok := range map[int]bool{0: false, 1: true, maxSources: true, maxSources + 1: false} {
		if _, err := From(make([][6]byte, n)...); (err == nil) != ok {
			t.Errorf("%d addresses: %v", n, err)
		}
	}
}

// Behind a sink that passes one number of 4 up, what is lost of those is found, and nothing else is missed.
func TestOneOfSoMany(t *testing.T) {
	l := newLab(t)
	r := l.open(Options{FromOne: true, Every: 4})
	for seq := uint32(1); seq <= 400; seq++ {
		if seq%4 == 0 && seq != 100 && seq != 104 || seq == 3 { // one slipped through before the sink was on
			l.send(l.made(0, seq))
		}
	}
	if s := settled(t, r); s.Counts.Received != 98 || s.Missing != 2 || s.Lost() != 2 || s.Reordered != 0 {
		t.Errorf("%+v", s.Counts)
	}
}
