package receive

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"wirespeed/engine/tpacket"
	"wirespeed/engine/verify"
)

// Options are what a Receiver is made of.
type Options struct {
	Device   int                  // index
	Filter   []bpf.RawInstruction // which frames are ours: From, Numbered
	Readers  int                  // rings, at least 1: a sequence is read by one of them
	CPUs     []int                // where the readers may run; nil: wherever the caller may
	FromOne  bool                 // senders begin at 1 after the receiver is open: what is missing before the first frame seen is missing
	BySource bool                 // frames of different source MACs are of different senders
	Every    uint32               // only numbers that are a multiple of it come up (a sink drops the rest), and are counted as 1, 2, 3; 0 and 1: all
	Clock    *Clock               // of a sender in this process; nil: nothing can be timed
	Why      string               // without a Clock: why, in words
	Spawn    func(func())         // starts a goroutine; nil: go
}

var errClosed = errors.New("the receiver is closed")

// Receiver reads frames and keeps their account. Its methods may be called from any goroutine.
type Receiver struct {
	why     string
	readers []*reader
	stop    atomic.Bool

	mu      sync.Mutex // guards what follows
	closed  bool
	others  *Counter
	arrived uint64
	notSeen uint64
}

// Open begins to receive. errors.Is(err, ErrNotPermitted) holds without CAP_NET_RAW.
func Open(o Options) (_ *Receiver, err error) {
	r := &Receiver{why: o.Why}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.free())
		}
	}()
	n := max(1, o.Readers)
	for range n {
		rd, err := openReader(&o, allBlocks/n)
		if err != nil {
			return nil, err
		}
		rd.stop = &r.stop
		rd.cpus.Store(&o.CPUs)
		r.readers = append(r.readers, rd)
	}
	if n == 1 {
		err = errors.Join(setFilter(r.readers[0].fd, o.Filter), bind(r.readers[0].fd, o.Device))
	} else {
		err = r.share(&o)
	}
	if err != nil {
		return nil, err
	}
	rest, err := Others(o.Filter)
	if err == nil {
		r.others, err = OpenCounter(o.Device, rest)
	}
	if err != nil {
		return nil, err
	}
	spawn := o.Spawn
	if spawn == nil {
		spawn = func(f func()) { go f() }
	}
	for _, rd := range r.readers {
		spawn(rd.run)
	}
	return r, nil
}

// share makes the sockets share the frames of the device. A socket can join only once it is bound (fanout_add in net/packet/af_packet.c), and would
// hear all frames until then: its filter lets none through before.
func (r *Receiver) share(o *Options) error {
	prog, err := deal(o.BySource)
	if err != nil {
		return err
	}
	group := unix.PACKET_FANOUT_CBPF<<16 | unix.PACKET_FANOUT_FLAG_UNIQUEID<<16
	for _, rd := range r.readers {
		if err := errors.Join(setFilter(rd.fd, nothing()), bind(rd.fd, o.Device)); err != nil {
			return err
		}
		if err := unix.SetsockoptInt(rd.fd, unix.SOL_PACKET, unix.PACKET_FANOUT, group); err != nil {
			return fmt.Errorf("PACKET_FANOUT: %w", err)
		}
		if group&(unix.PACKET_FANOUT_FLAG_UNIQUEID<<16) != 0 { // the kernel has chosen a number for the group
			id, err := unix.GetsockoptInt(rd.fd, unix.SOL_PACKET, unix.PACKET_FANOUT)
			if err != nil {
				return fmt.Errorf("PACKET_FANOUT: %w", err)
			}
			group = id&0xffff | unix.PACKET_FANOUT_CBPF<<16
			if err := setProgram(rd.fd, unix.SOL_PACKET, unix.PACKET_FANOUT_DATA, prog); err != nil {
				return fmt.Errorf("PACKET_FANOUT_DATA: %w", err)
			}
		}
	}
	return r.filter(o.Filter)
}

func (r *Receiver) filter(prog []bpf.RawInstruction) error {
	for _, rd := range r.readers {
		if err := setFilter(rd.fd, prog); err != nil {
			return err
		}
	}
	return nil
}

// SetFilter replaces the filter. Frames that come in between may be counted as foreign and as ours.
func (r *Receiver) SetFilter(prog []bpf.RawInstruction) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	rest, err := Others(prog)
	if err != nil {
		return err
	}
	return errors.Join(r.filter(prog), r.others.SetFilter(rest))
}

// SetCPUs says where the readers may run from now on; they see it within 50 ms.
func (r *Receiver) SetCPUs(cpus []int) {
	for _, rd := range r.readers {
		rd.cpus.Store(&cpus)
	}
}

// Readers is how many rings there are.
func (r *Receiver) Readers() int { return len(r.readers) }

// Arrived counts the frames that passed the filter, and those of them that found the ring full.
func (r *Receiver) Arrived() (arrived, notSeen uint64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count()
}

// count is Arrived for who holds mu.
func (r *Receiver) count() (arrived, notSeen uint64, err error) {
	if r.closed { // its numbers may be those of other files by now
		return r.arrived, r.notSeen, errClosed
	}
	for _, rd := range r.readers {
		passed, dropped, e := tpacket.Statistics(uintptr(rd.fd))
		r.arrived += uint64(passed)
		r.notSeen += uint64(dropped)
		err = errors.Join(err, e)
	}
	return r.arrived, r.notSeen, err
}

// Settle waits until every frame that has arrived is read, at most a time.
func (r *Receiver) Settle(patience time.Duration) {
	for end := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		arrived, notSeen, err := r.Arrived()
		read := uint64(0)
		for _, rd := range r.readers {
			read += rd.read.Load()
		}
		if err != nil || read >= arrived-notSeen || time.Now().After(end) {
			return
		}
	}
}

// Snapshot reads everything. It waits for each reader to end its block.
func (r *Receiver) Snapshot() (Snapshot, error) {
	s := Snapshot{Why: r.why}
	var err error
	var times Latency
	times.ResolutionNS = 1
	for _, rd := range r.readers {
		rd.mu.Lock()
		err = errors.Join(err, rd.err)
		s.Read += rd.read.Load()
		c := rd.table.Counts()
		s.Counts.Add(&c)
		s.Flows = rd.table.Flows(s.Flows)
		if rd.times != nil {
			times.Distribution = times.Plus(rd.times.Distribution())
			times.Negative += rd.negative
			times.Untimed += rd.untimed
			times.ClockErrNS = max(times.ClockErrNS, rd.skew.err)
			if rd.coarse {
				times.ResolutionNS = 1000
			}
			s.Latency = &times
		}
		rd.mu.Unlock()
	}
	for i, f := range s.Flows {
		if f.JitterNS != nil && (times.JitterNS == nil || *f.JitterNS > *times.JitterNS) {
			times.JitterNS = s.Flows[i].JitterNS
		}
	}
	slices.SortFunc(s.Flows, func(a, b verify.FlowCounts) int {
		return cmp.Or(cmp.Compare(a.Worker, b.Worker), cmp.Compare(a.Source, b.Source))
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	// After the frames read, so that what arrived is never less.
	var counting error
	s.Arrived, s.NotSeen, counting = r.count()
	if foreign, e := r.others.Read(); e == nil {
		s.Foreign, s.ForeignOK = foreign, true
	}
	return s, errors.Join(err, counting)
}

// Close ends the readers and closes everything.
func (r *Receiver) Close() error {
	r.stop.Store(true)
	for _, rd := range r.readers {
		<-rd.done
	}
	return r.free()
}

func (r *Receiver) free() (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, rd := range r.readers {
		err = errors.Join(err, rd.close())
	}
	if r.others != nil {
		err = errors.Join(err, r.others.Close())
	}
	return err
}
