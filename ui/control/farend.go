package control

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/net/bpf"

	"wirespeed/engine"
	"wirespeed/engine/far"
	"wirespeed/engine/meter"
	"wirespeed/engine/receive"
	"wirespeed/engine/xdp"
	"wirespeed/nic"
	"wirespeed/nic/host"
)

// FarEndOptions are what the receiving end of two machines is made of.
type FarEndOptions struct {
	Device   string
	Verify   bool        // read every frame and look at its number, else count only
	Sink     engine.Sink // what drops the frames
	IKnow    bool        // attach it even where the operator's own connection runs
	Interval time.Duration
	Duration time.Duration // 0: until it is ended

	Listen string // address of the server that tells a console about it, "" none
	Key    far.Key
}

// FarEnd receives frames with a pktgen header, whoever sends them, and counts what becomes of them. It sends nothing and changes nothing of the
// device, but that a sink is attached to it until Close. Its methods may be called from any goroutine, Tick from one at a time.
type FarEnd struct {
	o       FarEndOptions
	dev     *nic.Device
	count   *receive.Counter  // nil with verify
	verify  *receive.Receiver // nil without
	sink    *xdp.Sink         // nil without
	server  *far.Server       // nil without
	session uint64
	started time.Time

	mu      sync.Mutex
	base    nic.Counters
	baseOK  bool
	from    farLook // of the sample under way
	due     time.Time
	epoch   int
	flowing bool
	line    meter.Line
	pps     *float64 // of the last sample
	closed  bool
	gone    error // the device is no longer there
}

// farLook is one reading of everything that a FarEnd counts.
type farLook struct {
	at       time.Time
	arrived  meter.Reading
	sent     meter.Reading // by the device itself
	dev      nic.Counters
	devOK    bool
	verified *receive.Snapshot // nil without a verifying receiver
	sink     *SinkView
}

// FarView is one look at a FarEnd: an immutable value. A number that is not known is nil or not OK.
type FarView struct {
	Sample   Sample
	Line     meter.Line
	Received *uint64 // all frames, by the device's counter
	Dropped  *uint64 // likewise
	Arrived  *uint64 // of ours
	Source   string  // who counted them: receiver or xdp
	Verified *receive.Snapshot
	Every    uint32 // of Verified: one in so many frames; 1 all
	Sink     *SinkView
	Listen   string // "" where nobody may ask
	Visits   far.Visits
	Gaps     []string
}

// Errors of the receiving side that package nic does not know.
func farError(err error) error {
	if errors.Is(err, receive.ErrNotPermitted) || errors.Is(err, xdp.ErrNotPermitted) {
		return notPermitted("%v", err)
	}
	return err
}

// NewFarEnd opens everything, so that from now on no frame is missed. errors.Is: knob.ErrUsage, nic.ErrNotFound, nic.ErrNotPermitted.
func NewFarEnd(o FarEndOptions) (_ *FarEnd, err error) {
	if o.Interval <= 0 {
		o.Interval = time.Second
	}
	if o.Verify && o.Sink.XDP && o.Sink.Every == 0 {
		return nil, usage("receiver verify: the sink drops all frames before they are seen: let some up with --sink xdp/100, or use --receiver count")
	}
	f := &FarEnd{o: o, session: rand.Uint64(), epoch: 1}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	if f.dev, err = nic.Open(o.Device); err != nil {
		return nil, err
	}
	link, err := f.dev.Link()
	if err != nil {
		return nil, err
	}
	filter, err := receive.Numbered()
	if err != nil {
		return nil, err
	}
	if err := f.openReceiver(link.Index, filter); err != nil {
		return nil, farError(err)
	}
	if o.Sink.XDP {
		if why, err := f.dev.Protected(); err != nil || why != "" && !o.IKnow {
			return nil, errors.Join(err, notPermitted("%s: attaching a sink to it may take its link down; --i-know does it all the same", why))
		}
		if f.sink, err = xdp.Open(o.Device, link.Index, filter, o.Sink.Every); err != nil {
			return nil, farError(err)
		}
	}
	f.started = time.Now()
	f.from = f.look()
	f.base, f.baseOK = f.from.dev, f.from.devOK
	f.due = f.started.Add(o.Interval)
	if o.Listen != "" {
		f.server, err = far.Listen(o.Listen, o.Key, engine.Spawn, f.report)
		if errors.Is(err, far.ErrAddress) {
			err = usage("--%v", err)
		}
	}
	return f, err
}

func (f *FarEnd) openReceiver(index int, filter []bpf.RawInstruction) (err error) {
	if !f.o.Verify {
		f.count, err = receive.OpenCounter(index, filter)
		return err
	}
	cpus, err := host.CPUs()
	if err != nil {
		return err
	}
	f.verify, err = receive.Open(receive.Options{
		Device: index, Filter: filter, Readers: len(cpus), CPUs: cpus, BySource: true, Spawn: engine.Spawn, Every: f.o.Sink.Every,
		Why: "sender and receiver share no clock",
	})
	return err
}

// Listening is the address that a console may ask, "" where none may.
func (f *FarEnd) Listening() string {
	if f.server == nil {
		return ""
	}
	return f.server.Addr()
}

// Words says what receives, in a few words: "verify", "xdp (native)".
func (f *FarEnd) Words() string {
	how := "count"
	if f.o.Verify {
		how = "verify"
	}
	if f.sink != nil {
		mode, _ := f.sink.Mode()
		how += fmt.Sprintf(", xdp (%s)", mode)
		if n := f.sink.Every(); n > 0 {
			how += fmt.Sprintf(", 1 of %d up", n)
		}
	}
	return how
}

// Notes are what there is to say of how it receives, a line each.
func (f *FarEnd) Notes() []string {
	var notes []string
	if f.sink != nil {
		if mode, why := f.sink.Mode(); mode != xdp.Native {
			notes = append(notes, fmt.Sprintf("sink xdp on %s: generic mode, after the driver, which saves less: %s", f.o.Device, why))
		}
		if n := f.o.Sink.Every; f.o.Verify && n > 1 {
			notes = append(notes, fmt.Sprintf("verified is one of %d frames, by its number: the sink drops the others", n))
		}
	}
	if f.server != nil {
		notes = append(notes, "listening on "+f.server.Addr())
		if a, err := netip.ParseAddrPort(f.server.Addr()); err == nil && a.Addr().IsUnspecified() {
			notes = append(notes, "every address of this machine is listened on: name one to be asked on that one only")
		}
	}
	return notes
}

// look reads the counters. A frame is dropped by the sink or comes to the receiver: the sum is what arrived.
func (f *FarEnd) look() farLook {
	l := farLook{at: time.Now()}
	l.dev, l.devOK = readCounters(f.dev, f.o.Interval)
	if !l.devOK && f.gone == nil {
		if _, err := f.dev.Link(); errors.Is(err, nic.ErrNotFound) {
			f.gone = fmt.Errorf("%w: it went away while frames were awaited", err)
		}
	}
	l.sent = f.reading(l.dev.Before, l.dev.After, l.dev.TxPackets, l.devOK)
	before := time.Now()
	var arrived uint64
	var err error
	if f.verify != nil {
		var s receive.Snapshot
		s, err = f.verify.Snapshot()
		arrived, l.verified = s.Arrived, &s
	} else {
		arrived, err = f.count.Read()
	}
	if f.sink != nil {
		c, sinkErr := f.sink.Read()
		err = errors.Join(err, sinkErr)
		arrived += c.Dropped()
		mode, why := f.sink.Mode()
		l.sink = &SinkView{Mode: mode.String(), Why: why, Ours: c.Ours, Passed: c.Passed, Foreign: c.Foreign}
	}
	l.arrived = f.reading(before, time.Now(), arrived, err == nil)
	return l
}

func (f *FarEnd) reading(before, after time.Time, count uint64, ok bool) meter.Reading {
	m := meter.Between(before.Sub(f.started), after.Sub(f.started), count)
	m.OK = ok
	return m
}

// Due is when the next sample is.
func (f *FarEnd) Due() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.due
}

// Over says whether the time that was asked for has passed.
func (f *FarEnd) Over() bool { return f.o.Duration > 0 && time.Since(f.started) >= f.o.Duration }

// Err is why nothing can arrive any more, nil while something can. errors.Is(err, nic.ErrNotFound) holds once the device is gone.
func (f *FarEnd) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gone
}

// Tick ends the sample under way and begins the next.
func (f *FarEnd) Tick() *FarView {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.look()
	v := f.view(now)
	f.from = now
	for f.due = f.due.Add(f.o.Interval); f.due.Sub(now.at) < f.o.Interval/2; {
		f.due = f.due.Add(f.o.Interval)
	}
	return v
}

// view is what two looks say. The sample in which frames begin or cease to arrive is of no epoch: it mixes the two. The caller holds mu.
func (f *FarEnd) view(now farLook) *FarView {
	s := Sample{At: now.at, Elapsed: now.at.Sub(f.started), Interval: now.arrived.At - f.from.arrived.At, RxDev: f.o.Device, TxSource: fromDevice}
	s.RX.PPS, s.ErrNS, s.RX.OK = meter.Delta(f.from.arrived, now.arrived)
	s.TX.PPS, _, s.TX.OK = meter.Delta(f.from.sent, now.sent)
	s.Valid = s.RX.OK
	f.pps = nil
	if s.RX.OK {
		pps := s.RX.PPS
		f.pps = &pps
		if pps > 0 {
			ns := 1e9 / pps
			s.RX.NS = &ns
		}
		if flowing := pps > 0; flowing != f.flowing {
			f.flowing, f.line = flowing, meter.Line{}
			f.epoch++
		} else {
			f.line.Add(s.RX.PPS, s.TX.PPS)
			s.Epoch, s.N = f.epoch, f.line.N
			s.RX.Avg, s.RX.VarNS, s.TX.Avg = f.line.AvgRX, f.line.VarRX, f.line.AvgTX
		}
	}
	v := &FarView{Sample: s, Line: f.line, Source: "receiver", Verified: now.verified, Every: max(1, f.o.Sink.Every), Sink: now.sink, Listen: f.Listening()}
	if now.sink != nil {
		v.Source = "xdp"
	}
	v.Received, v.Dropped = f.device(now)
	if now.arrived.OK {
		v.Arrived = &now.arrived.Count
	}
	if f.server != nil {
		v.Visits = f.server.Visits()
	}
	v.Gaps = f.gaps(now)
	return v
}

// device is what the device counted since the start.
func (f *FarEnd) device(now farLook) (received, dropped *uint64) {
	if !f.baseOK || !now.devOK {
		return nil, nil
	}
	r, d := since(f.base.RxPackets, now.dev.RxPackets), since(f.base.RxDropped, now.dev.RxDropped)
	return &r, &d
}

// gaps explains in words what is missing or was done to frames.
func (f *FarEnd) gaps(now farLook) []string {
	var said []string
	say := func(n uint64, format string, args ...any) {
		if n > 0 {
			said = append(said, frames(n)+" "+fmt.Sprintf(format, args...))
		}
	}
	if s := now.verified; s != nil {
		if f.o.Sink.Every <= 1 {
			say(s.NotSeen, "not seen by us: receiver limited, they arrived and are not lost")
			say(s.Lost(), "lost on the way")
		} else {
			say(s.NotSeen, "not seen by us: receiver limited, they arrived and are not lost")
			say(s.Lost(), "lost on the way, of one in %d", f.o.Sink.Every)
		}
		say(s.Duplicates, "came twice")
		say(s.Reordered, "out of order, the largest extent %d", s.ExtentMax)
		say(s.Corrupt, "corrupt")
		if s.Restarts > 0 {
			said = append(said, fmt.Sprintf("a sender began anew %d times", s.Restarts))
		}
	}
	if _, d := f.device(now); d != nil {
		say(*d, "dropped by %s (rx_dropped, frames for nobody included)", f.o.Device)
	}
	return said
}

// report is what a console is told, since the start.
func (f *FarEnd) report() far.Report {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.look()
	r := far.Report{Session: f.session, Elapsed: now.at.Sub(f.started).Seconds(), Device: f.o.Device, How: f.Words(), PPS: f.pps}
	r.Received, r.Dropped = f.device(now)
	if now.arrived.OK {
		r.Arrived = &now.arrived.Count
	}
	if s := now.verified; s != nil && f.o.Sink.Every <= 1 { // a part of the frames is not all of them
		lost := s.Lost()
		r.Verified, r.Lost, r.Duplicates, r.Reordered, r.Corrupt, r.Unseen = &s.Received, &lost, &s.Duplicates, &s.Reordered, &s.Corrupt, &s.NotSeen
	}
	return r
}

// Close takes the sink off and ends everything. It may be called again.
func (f *FarEnd) Close() error {
	f.mu.Lock()
	closed := f.closed
	f.closed = true
	f.mu.Unlock()
	if closed {
		return nil
	}
	var errs []error
	if f.server != nil {
		errs = append(errs, f.server.Close()) // its goroutines read what follows
	}
	if f.sink != nil {
		errs = append(errs, f.sink.Close())
	}
	if f.verify != nil {
		errs = append(errs, f.verify.Close())
	}
	if f.count != nil {
		errs = append(errs, f.count.Close())
	}
	if f.dev != nil {
		errs = append(errs, f.dev.Close())
	}
	return errors.Join(errs...)
}
