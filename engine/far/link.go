package far

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// Bounds and cadence of a link.
const (
	dialTime   = 3 * time.Second // connection and handshake
	answerTime = 2 * time.Second
	askEvery   = 250 * time.Millisecond
	retryAfter = time.Second
)

// Link keeps what a sink counts, as well as it can be known: it dials, asks four times a second, and dials again after a loss.
type Link struct {
	addr string
	key  Key

	stop context.CancelFunc
	busy sync.WaitGroup
	now  chan chan Answer // who waits for a fresh report

	mu   sync.Mutex
	last Answer
}

// Answer is what is known of the far end. With Err nil, Report was received At.
type Answer struct {
	Report Report
	At     time.Time // zero where there never was one
	Err    error     // why nothing is known, in words for the operator
}

// errDialing is the state before the first answer.
var errDialing = errors.New("not connected yet")

// Dial begins to keep a link to the sink at addr, "host:port". It does not block: whether anybody answers is told by Latest. spawn starts
// its goroutine, Close ends it.
func Dial(addr string, key Key, spawn func(func())) *Link {
	ctx, stop := context.WithCancel(context.Background())
	l := &Link{addr: addr, key: key, stop: stop, now: make(chan chan Answer), last: Answer{Err: errDialing}}
	l.busy.Add(1)
	spawn(func() {
		defer l.busy.Done()
		l.keep(ctx)
	})
	return l
}

// Address is where the link goes.
func (l *Link) Address() string { return l.addr }

// Latest is what is known now. It does not block. What is older than the bounds of an answer is not known any more: Err says so.
func (l *Link) Latest() Answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.last
	if age := time.Since(a.At); a.Err == nil && age > askEvery+answerTime {
		a.Err = fmt.Errorf("no answer for %.1f s", age.Seconds())
	}
	return a
}

// Fresh returns a report that the sink made after this call, or an answer with the reason why there is none. It blocks until then, or
// until ctx ends.
func (l *Link) Fresh(ctx context.Context) Answer {
	reply := make(chan Answer, 1)
	select {
	case l.now <- reply:
	case <-ctx.Done():
		return l.none(ctx)
	}
	select {
	case a := <-reply:
		return a
	case <-ctx.Done():
		return l.none(ctx)
	}
}

// none is the answer of who would not wait longer.
func (l *Link) none(ctx context.Context) Answer {
	a := l.Latest()
	if a.Err == nil {
		a.Err = fmt.Errorf("no fresh answer: %w", context.Cause(ctx))
	}
	return a
}

// Close ends the link and waits for its goroutine.
func (l *Link) Close() {
	l.stop()
	l.busy.Wait()
}

func (l *Link) set(a Answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.Err != nil {
		a.Report, a.At = l.last.Report, l.last.At
	}
	l.last = a
}

// keep dials and talks until ctx ends.
func (l *Link) keep(ctx context.Context) {
	for ctx.Err() == nil {
		err := l.talk(ctx)
		l.set(Answer{Err: errors.New(inWords(err))})
		retry := time.NewTimer(retryAfter)
		for waiting := true; waiting; {
			select {
			case reply := <-l.now: // nobody is there to ask
				reply <- l.Latest()
			case <-retry.C:
				waiting = false
			case <-ctx.Done():
				retry.Stop()
				return
			}
		}
	}
}

// talk is one connection: it returns why it is over.
func (l *Link) talk(ctx context.Context) error {
	dialing, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	c, err := new(net.Dialer).DialContext(dialing, "tcp", l.addr)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	_ = c.SetDeadline(time.Now().Add(dialTime))
	s, err := greet(c, l.key)
	if err != nil {
		return err
	}
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		var reply chan Answer
		_ = c.SetDeadline(time.Now().Add(answerTime))
		if err := s.ask(c); err != nil {
			return err
		}
		r, err := s.readReport(c)
		if err != nil {
			return err
		}
		l.set(Answer{Report: r, At: time.Now()})
		select {
		case reply = <-l.now:
		case <-tick.C:
			continue
		case <-ctx.Done():
			return ctx.Err()
		}
		// The ask that follows begins after the call that waits for it.
		_ = c.SetDeadline(time.Now().Add(answerTime))
		if err = s.ask(c); err == nil {
			r, err = s.readReport(c)
		}
		if err != nil {
			reply <- Answer{Err: errors.New(inWords(err))}
			return err
		}
		a := Answer{Report: r, At: time.Now()}
		l.set(a)
		reply <- a
	}
}

// inWords says why a connection is over. Nothing of it comes from the peer.
func inWords(err error) string {
	var network *net.OpError
	var dns *net.DNSError
	switch {
	case errors.Is(err, errProof):
		return "refused: is the key the same at both ends?"
	case errors.Is(err, errProtocol):
		return "what answers there is no wirespeed sink --listen"
	case errors.Is(err, errForged):
		return "a message was changed on its way"
	case errors.As(err, &dns):
		return "no such host"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "no answer"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection was closed"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused: nobody listens there"
	case errors.As(err, &network):
		return network.Err.Error()
	}
	return "its answer makes no sense"
}
