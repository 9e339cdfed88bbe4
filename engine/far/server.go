package far

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// patience is how long the server waits for a peer.
type patience struct{ handshake, ask, write time.Duration }

var patient = patience{handshake: 3 * time.Second, ask: 10 * time.Second, write: 5 * time.Second}

const (
	askGap     = 20 * time.Millisecond
	maxPending = 64 // connections that have not proved themselves yet
	maxProved  = 8
	acceptRest = 50 * time.Millisecond // after an accept that failed: out of descriptors, most likely
)

// Visits are how many connections a server has had.
type Visits struct {
	Now      int    // that have proved themselves and are there
	Welcomed uint64 // that have proved themselves, ever
	WrongKey uint64 // that had another key
	Refused  uint64 // all others that were closed without an answer: garbage, too slow, too many
}

// Server answers consoles that have the key.
type Server struct {
	key      Key
	patience patience
	spawn    func(func())
	report   func() Report
	listener net.Listener
	busy     sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	pending []net.Conn // oldest first
	proved  map[net.Conn]struct{}
	visits  Visits
}

// Listen binds to addr, an IP address and a port ("192.0.2.1:7000"), and to nothing else, and answers with what report returns until
// Close. The report is made by a goroutine of the server, which spawn starts. errors.Is(err, ErrAddress) holds for an address that is none.
func Listen(addr string, key Key, spawn func(func()), report func() Report) (*Server, error) {
	return listen(addr, key, patient, spawn, report)
}

func listen(addr string, key Key, p patience, spawn func(func()), report func() Report) (*Server, error) {
	if err := CheckAddress(addr); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &Server{key: key, patience: p, spawn: spawn, report: report, listener: l, proved: map[net.Conn]struct{}{}}
	s.start(s.accept)
	return s, nil
}

// ErrAddress is what errors about an address to listen on are: a wrong command line.
var ErrAddress = errors.New("address")

type addressError string

func (e addressError) Error() string        { return string(e) }
func (e addressError) Is(target error) bool { return target == ErrAddress }

// CheckAddress says in a sentence why nobody can listen on addr, nil if that may be.
func CheckAddress(addr string) error {
	if _, err := netip.ParseAddrPort(addr); err != nil {
		return addressError(fmt.Sprintf("listen %q: an address of this machine and a port, such as 192.0.2.1:7000 (0.0.0.0:7000 is all of its addresses)", addr))
	}
	return nil
}

// Addr is where the server listens, with the port that it got for port 0.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Visits returns the counts so far.
func (s *Server) Visits() Visits {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.visits
	v.Now = len(s.proved)
	return v
}

// Close ends all connections and waits for their goroutines. It may be called again.
func (s *Server) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	for _, c := range s.pending {
		_ = c.Close()
	}
	for c := range s.proved {
		_ = c.Close()
	}
	s.mu.Unlock()
	var err error
	if first {
		err = s.listener.Close()
	}
	s.busy.Wait()
	return err
}

func (s *Server) start(f func()) {
	s.busy.Add(1)
	s.spawn(func() {
		defer s.busy.Done()
		f()
	})
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(acceptRest)
			continue
		}
		if s.admit(c) {
			s.start(func() { s.serve(c) })
		}
	}
}

// admit takes a connection among those that have to prove themselves. Where there are too many the oldest goes, so that nobody can keep a
// console out by doing nothing.
func (s *Server) admit(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = c.Close()
		return false
	}
	if len(s.pending) >= maxPending {
		_ = s.pending[0].Close() // its own goroutine takes it from the list
	}
	for len(s.pending) >= maxPending {
		s.pending = s.pending[1:]
	}
	s.pending = append(s.pending, c)
	return true
}

// promote takes a connection among those that have proved themselves, if there is room.
func (s *Server) promote(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(c)
	if s.closed || len(s.proved) >= maxProved {
		s.visits.Refused++
		return false
	}
	s.visits.Welcomed++
	s.proved[c] = struct{}{}
	return true
}

// forget takes a connection off both lists. The caller holds mu.
func (s *Server) forget(c net.Conn) {
	delete(s.proved, c)
	for i, p := range s.pending {
		if p == c {
			s.pending = append(s.pending[:i:i], s.pending[i+1:]...)
			return
		}
	}
}

// serve is one connection, from its first byte to its last.
func (s *Server) serve(c net.Conn) {
	defer func() {
		s.mu.Lock()
		s.forget(c)
		s.mu.Unlock()
		_ = c.Close()
	}()
	_ = c.SetDeadline(time.Now().Add(s.patience.handshake))
	talk, err := welcome(c, s.key)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if errors.Is(err, errProof) {
			s.visits.WrongKey++
		} else {
			s.visits.Refused++
		}
		return
	}
	if !s.promote(c) {
		return
	}
	var answered time.Time
	for {
		_ = c.SetDeadline(time.Now().Add(s.patience.ask))
		if talk.readAsk(c) != nil {
			return
		}
		time.Sleep(askGap - time.Since(answered)) // Close waits for it: it is short
		_ = c.SetDeadline(time.Now().Add(s.patience.write))
		if talk.report(c, s.report()) != nil {
			return
		}
		answered = time.Now()
	}
}
