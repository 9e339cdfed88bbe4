package far

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	rightKey = Key{[]byte("the one that both ends have")}
	wrongKey = Key{[]byte("some other one of that size")}
)

func plain(f func()) { go f() }

// unhurried is for tests that are not about time: this machine may stand still for a while.
var unhurried = patience{handshake: time.Minute, ask: time.Minute, write: time.Minute}

// count is a report that says how often one was asked for.
func counting() func() Report {
	var mu sync.Mutex
	var n uint64
	return func() Report {
		mu.Lock()
		defer mu.Unlock()
		n++
		now := n
		return Report{Session: 7, Device: "v1", How: "count", Arrived: &now}
	}
}

// serverFor is a server on the loopback device that ends with the test.
func serverFor(t testing.TB, p patience) *Server {
	t.Helper()
	s, err := listen("127.0.0.1:0", rightKey, p, plain, counting())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func dial(t testing.TB, s *Server) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// closed reads until the server closes, which it must, and returns what came before.
func closed(t testing.TB, c net.Conn) []byte {
	t.Helper()
	got, err := io.ReadAll(c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the server holds the connection")
	}
	return got
}

// works fails unless somebody with the key gets a report, now.
func works(t testing.TB, s *Server) {
	t.Helper()
	l := Dial(s.Addr(), rightKey, plain)
	defer l.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		if a := l.Fresh(ctx); a.Err == nil {
			if a.Report.Device != "v1" || a.Report.Arrived == nil {
				t.Errorf("report %+v", a.Report)
			}
			return
		} else if ctx.Err() != nil {
			t.Errorf("the server does not go on: %v", a.Err)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestFreshIsLater: a report was made after the call that it answers, and each ask has an answer of its own.
func TestFreshIsLater(t *testing.T) {
	s := serverFor(t, unhurried)
	l := Dial(s.Addr(), rightKey, plain)
	defer l.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	last := uint64(0)
	for i := 0; i < 5; {
		a := l.Fresh(ctx)
		if a.Err != nil {
			if ctx.Err() != nil {
				t.Fatal(a.Err)
			}
			continue // it is dialing
		}
		if *a.Report.Arrived <= last {
			t.Errorf("report %d after report %d", *a.Report.Arrived, last)
		}
		last = *a.Report.Arrived
		i++
	}
	if v := s.Visits(); v.Now != 1 || v.Welcomed != 1 || v.WrongKey != 0 || v.Refused != 0 {
		t.Errorf("visits %+v", v)
	}
}

func TestHostile(t *testing.T) {
	short := patience{handshake: 200 * time.Millisecond, ask: 300 * time.Millisecond, write: 300 * time.Millisecond}
	for _, c := range []struct {
		name string
		do   func(t *testing.T, s *Server)
		wait patience
	}{
		{"the wrong key", func(t *testing.T, s *Server) {
			l := Dial(s.Addr(), wrongKey, plain)
			defer l.Close()
			for l.Latest().Err == errDialing {
				time.Sleep(time.Millisecond)
			}
			if a := l.Latest(); a.Err.Error() != "refused: is the key the same at both ends?" || !a.At.IsZero() {
				t.Errorf("told %v", a.Err)
			}
			if v := s.Visits(); v.WrongKey == 0 || v.Welcomed != 0 {
				t.Errorf("visits %+v", v)
			}
		}, unhurried},
		{"garbage", func(t *testing.T, s *Server) {
			conn := dial(t, s)
			_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: \x1b]0;evil\a\r\n\r\n")
			if got := closed(t, conn); len(got) != 0 {
				t.Errorf("answered %q", got)
			}
		}, unhurried},
		{"garbage after the hello", func(t *testing.T, s *Server) {
			conn := dial(t, s)
			_, _ = conn.Write(append(hello(), bytes.Repeat([]byte{0xff}, 1000)...))
			if got := closed(t, conn); len(got) > len(magic)+nonceLen { // its own hello at most
				t.Errorf("answered %q", got)
			}
		}, unhurried},
		{"1 GiB of zeros", func(t *testing.T, s *Server) {
			conn := dial(t, s)
			var sent int
			for zeros := make([]byte, 1<<20); sent < 1<<30; sent += len(zeros) {
				if _, err := conn.Write(zeros); err != nil {
					break // it does not take them all
				}
			}
			if sent >= 1<<30 {
				t.Error("it took all of them")
			}
		}, unhurried},
		{"zeros once it is let in", func(t *testing.T, s *Server) {
			conn := dial(t, s)
			if _, err := greet(conn, rightKey); err != nil {
				t.Fatal(err)
			}
			_, _ = conn.Write(make([]byte, 1<<20))
			if got := closed(t, conn); len(got) != 0 {
				t.Errorf("answered %q", got)
			}
		}, unhurried},
		{"slow-loris", func(t *testing.T, s *Server) {
			conn := dial(t, s)
			begun := time.Now()
			for _, b := range hello() {
				if _, err := conn.Write([]byte{b}); err != nil {
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
			closed(t, conn)
			if took := time.Since(begun); took < 200*time.Millisecond {
				t.Errorf("closed after %v", took)
			}
		}, short},
		{"asks nothing", func(t *testing.T, s *Server) {
			conn := dial(t, s)
			if _, err := greet(conn, rightKey); err != nil {
				t.Fatal(err)
			}
			closed(t, conn)
		}, patience{handshake: time.Minute, ask: 300 * time.Millisecond, write: time.Second}},
		{"a handshake replayed", func(t *testing.T, s *Server) {
			var said bytes.Buffer
			conn := dial(t, s)
			talk, err := greet(recorded{conn, &said}, rightKey)
			if err != nil {
				t.Fatal(err)
			}
			if err := talk.ask(recorded{conn, &said}); err != nil {
				t.Fatal(err)
			}
			if _, err := talk.readReport(conn); err != nil {
				t.Fatal(err)
			}
			again := dial(t, s)
			if _, err := again.Write(said.Bytes()); err != nil {
				t.Fatal(err)
			}
			if got := closed(t, again); len(got) > len(magic)+nonceLen {
				t.Errorf("answered %d bytes", len(got))
			}
			if v := s.Visits(); v.WrongKey != 1 || v.Welcomed != 1 {
				t.Errorf("visits %+v", v)
			}
		}, unhurried},
		{"an ask repeated", func(t *testing.T, s *Server) {
			conn := dial(t, s)
			talk, err := greet(conn, rightKey)
			if err != nil {
				t.Fatal(err)
			}
			ask := talk.asks.close(nil)
			_, _ = conn.Write(ask)
			if _, err := talk.readReport(conn); err != nil {
				t.Fatal(err)
			}
			_, _ = conn.Write(ask)
			if got := closed(t, conn); len(got) != 0 {
				t.Errorf("answered %d bytes", len(got))
			}
		}, unhurried},
		{"too many that have the key", func(t *testing.T, s *Server) {
			refused := 0
			for range maxProved + 3 {
				conn := dial(t, s)
				talk, err := greet(conn, rightKey)
				if err == nil {
					_ = talk.ask(conn)
					_, err = talk.readReport(conn)
				}
				if err != nil {
					refused++
				}
			}
			if refused != 3 || s.Visits().Now != maxProved {
				t.Errorf("%d refused, %+v", refused, s.Visits())
			}
			for _, c := range s.all() {
				_ = c.Close()
			}
		}, unhurried},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serverFor(t, c.wait)
			c.do(t, s)
			if c.wait == short {
				return // too short to be sure that we are not refused ourselves
			}
			works(t, s)
		})
	}
}

// all are the connections that have proved themselves.
func (s *Server) all() (list []net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.proved {
		list = append(list, c)
	}
	return list
}

// recorded keeps what is written.
type recorded struct {
	io.ReadWriter
	said *bytes.Buffer
}

func (r recorded) Write(b []byte) (int, error) {
	r.said.Write(b)
	return r.ReadWriter.Write(b)
}

// TestThousandConnections: they say nothing, or garbage; the server answers who has the key meanwhile, and holds no more than it should.
func TestThousandConnections(t *testing.T) {
	s := serverFor(t, unhurried)
	before := heap()
	for i := range 1000 {
		c, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%2 == 0 {
			_, _ = c.Write(magic) // and wait for ever
		}
	}
	works(t, s)
	s.mu.Lock()
	pending := len(s.pending)
	s.mu.Unlock()
	if pending > maxPending {
		t.Errorf("%d connections wait, at most %d should", pending, maxPending)
	}
	if grown := int64(heap()) - int64(before); grown > 8<<20 { // the thousand are ours as well
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestHostileSink: what answers is no sink, or not ours; the link says so and takes nothing of it.
func TestHostileSink(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(c net.Conn)
		want   string
	}{
		{"something else", func(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-\x1b[2Jevil\r\n") }, "what answers there is no wirespeed sink --listen"},
		{"closes", func(net.Conn) {}, "the connection was closed"},
		{"another key", func(c net.Conn) { _, _ = welcome(c, wrongKey) }, "refused: is the key the same at both ends?"},
		{"our own proof back", func(c net.Conn) {
			theirs, _ := readHello(c)
			_, _ = c.Write(append(bytes.Clone(magic), theirs...)) // a mirror: the same nonce
			got := make([]byte, proofLen)
			_, _ = io.ReadFull(c, got)
			_, _ = c.Write(got)
		}, "refused: is the key the same at both ends?"},
		{"a forged report", func(c net.Conn) {
			talk, _ := welcome(c, rightKey)
			_ = talk.readAsk(c)
			_, _ = c.Write(append([]byte{0, 40}, make([]byte, 40)...))
		}, "a message was changed on its way"},
		{"a report without end", func(c net.Conn) {
			talk, _ := welcome(c, rightKey)
			_ = talk.readAsk(c)
			_, _ = c.Write(bytes.Repeat([]byte{0xff}, 1<<20))
		}, "what answers there is no wirespeed sink --listen"},
		{"a report replayed", func(c net.Conn) {
			talk, _ := welcome(c, rightKey)
			_ = talk.readAsk(c)
			text, _ := Report{}.encode()
			sealed := talk.reports.close(text)
			message := append(binary.BigEndian.AppendUint16(nil, uint16(len(sealed))), sealed...)
			_, _ = c.Write(message)
			_ = talk.readAsk(c)
			_, _ = c.Write(message)
		}, "a message was changed on its way"},
		{"a report that is none", func(c net.Conn) {
			talk, _ := welcome(c, rightKey)
			_ = talk.readAsk(c)
			sealed := talk.reports.close([]byte(`{"arrived":-1,"device":"` + "\x1b[2J"))
			_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(sealed))), sealed...))
		}, "its answer makes no sense"},
	} {
		t.Run(c.name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
					c.answer(conn)
					_ = conn.(*net.TCPConn).CloseWrite() // no reset before all is read
					_, _ = io.Copy(io.Discard, conn)
					_ = conn.Close()
				}
			}()
			l := Dial(listener.Addr().String(), rightKey, plain)
			var a Answer
			for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
				if a = l.Latest(); a.Err != nil && a.Err.Error() == c.want {
					break
				}
			}
			if a.Err == nil || a.Err.Error() != c.want {
				t.Errorf("%v, want %q", a.Err, c.want)
			}
			l.Close()
			_ = listener.Close()
			<-done
		})
	}
}

// TestLossIsTold: a sink that goes away is unknown, not the last that was heard of it, and known again when it comes back.
func TestLossIsTold(t *testing.T) {
	s := serverFor(t, unhurried)
	l := Dial(s.Addr(), rightKey, plain)
	defer l.Close()
	wait := func(known bool) Answer {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if a := l.Latest(); (a.Err == nil) == known && a.Err != errDialing {
				return a
			}
		}
		t.Fatalf("known is not %t: %+v", known, l.Latest())
		return Answer{}
	}
	wait(true)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	a := wait(false)
	if a.At.IsZero() || a.Report.Arrived == nil {
		t.Errorf("the last report is gone: %+v", a) // its age is to be shown
	}
	again, err := listen(s.Addr(), rightKey, unhurried, plain, counting())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	wait(true)
}

func TestReportRoundTrip(t *testing.T) {
	n, f := uint64(math.MaxUint64), 1488095.25
	for _, r := range []Report{
		{},
		{
			Session: n, Elapsed: 1.5, Device: "eth1", How: "xdp (native)", PPS: &f, Received: &n, Dropped: &n, Arrived: &n, Verified: &n, Lost: &n,
			Duplicates: &n, Reordered: &n, Corrupt: &n, Unseen: &n,
		},
		{Device: strings.Repeat("<", maxText), How: strings.Repeat("\U0001F600", maxText)},
	} {
		text, err := r.encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestReportIsCleaned(t *testing.T) {
	nan := math.NaN()
	text, err := Report{Device: "\x1b[2Jeth0\n\u202e\u0301" + strings.Repeat("x", 1000), PPS: &nan}.encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	want := Report{Device: "?[2Jeth0???" + strings.Repeat("x", maxText-11)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzDecode(f *testing.F) {
	n := uint64(1)
	good, _ := Report{Device: "v1", Arrived: &n}.encode()
	f.Add(good)
	f.Add([]byte(`{"device":"\u001b[2J","pps":1e999,"arrived":18446744073709551616}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := decode(text)
		if err != nil {
			return
		}
		for _, s := range []string{r.Device, r.How} {
			if s != printable(s) {
				t.Errorf("%q is shown", s)
			}
		}
		again, err := r.encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := decode(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, back); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// FuzzSession gives each side any bytes at all: nobody gets in, and nobody falls over.
func FuzzSession(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add(append(hello(), make([]byte, 100)...))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, side := range []func(io.ReadWriter, Key) (session, error){greet, welcome} {
			if _, err := side(struct {
				io.Reader
				io.Writer
			}{bytes.NewReader(text), io.Discard}, rightKey); err == nil {
				t.Error("let in")
			}
		}
		s, err := newSession(rightKey, make([]byte, 2*nonceLen))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.readReport(bytes.NewReader(text)); err == nil {
			t.Error("a report was taken")
		}
		if s.readAsk(bytes.NewReader(text)) == nil {
			t.Error("an ask was taken")
		}
	})
}

func TestReadKey(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	t.Setenv(KeyVariable, " 0123456789abcdef\n")
	for _, c := range []struct{ name, file, want string }{
		{"of a file", write("good", "0123456789abcdef\n", 0o600), ""},
		{"of the environment", "", ""},
		{"too short", write("short", "0123456789abcde \n", 0o600), "a key has 16 to 4096 bytes"},
		{"too long", write("long", strings.Repeat("x", maxKey+1), 0o600), "a key has 16 to 4096 bytes"},
		{"others may read it", write("open", "0123456789abcdef\n", 0o640), "chmod 600"},
		{"not there", filepath.Join(dir, "none"), "no such file"},
		{"a folder", dir, "key file"},
		{"without end", "/dev/zero", "a key has 16 to 4096 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, err := ReadKey(c.file)
			switch {
			case c.want == "" && (err != nil || string(k.secret) != "0123456789abcdef"):
				t.Errorf("%q %v", k.secret, err)
			case c.want != "" && (err == nil || !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "0123456789") {
				t.Errorf("the error tells the key: %v", err)
			}
			if said := fmt.Sprintf("%v %+v %#v %s", k, k, k, k); strings.Contains(said, "0123") {
				t.Errorf("the key shows itself: %s", said)
			}
		})
	}
}

func TestCheckAddress(t *testing.T) {
	for addr, ok := range map[string]bool{
		"127.0.0.1:7000": true, "[::1]:7000": true, "0.0.0.0:0": true, ":7000": false, "localhost:7000": false, "127.0.0.1": false, "": false,
		"127.0.0.1:70000": false, "\x1b[2J:1": false,
	} {
		err := CheckAddress(addr)
		if (err == nil) != ok || err != nil && (!errors.Is(err, ErrAddress) || strings.Contains(err.Error(), "\x1b")) {
			t.Errorf("%q: %v", addr, err)
		}
	}
}
