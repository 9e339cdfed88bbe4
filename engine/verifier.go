package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/net/bpf"

	"wirespeed/engine/frame"
	"wirespeed/engine/meter"
	"wirespeed/engine/receive"
)

// maxReaders bounds the rings that frames are read from, and their memory: workers' sequences are dealt out to them.
const maxReaders = 4

// settleTime bounds how long the end of a run waits for frames that have arrived and are not read yet.
const settleTime = time.Second

// Received is what a verifying receiver knows, as totals since it was opened.
type Received struct {
	receive.Snapshot
	Unclear     string // why nothing can be said of order and loss, in words; "" where it can
	AllNumbered bool   // every frame of ours has a number
	Every       uint32 // only one of so many frames comes up, a sink drops the rest: all counts but Arrived are of those; 1: all
}

// verifier reads every frame that arrives.
type verifier struct {
	*receive.Receiver
	clock *clock
	marks marks
	every uint32
}

// marks are what a verifier knows our frames by: the addresses that they come from, so that everything else about them may be wrong; or, where
// these vary, all that does not.
type marks struct {
	sources [][6]byte
	specs   []frame.Spec
}

func (m marks) filter() ([]bpf.RawInstruction, error) {
	if m.specs != nil {
		return frame.Filter(m.specs)
	}
	return receive.From(m.sources...)
}

// with are the marks of newer frames besides these, where both are of one kind.
func (m marks) with(o marks) (all marks, changed bool) {
	if o.specs != nil || m.specs != nil {
		specs, changed := union(m.specs, o.specs)
		if o.specs == nil || m.specs == nil {
			return o, true
		}
		return marks{specs: specs}, changed
	}
	all.sources = slices.Clone(m.sources)
	for _, s := range o.sources {
		if !slices.Contains(all.sources, s) {
			all.sources = append(all.sources, s)
			changed = true
		}
	}
	if over := len(all.sources) - max(receiverSpecs, len(o.sources)); over > 0 {
		all.sources = all.sources[over:]
	}
	return all, changed
}

func openVerifier(rx Device, cfg Config, dev Device, c *clock, times *receive.Clock, idle bool) (*verifier, error) {
	v := &verifier{clock: c, marks: cfg.verifyMarks(), every: cfg.sampled()}
	filter, err := v.marks.filter()
	if err != nil {
		return nil, err
	}
	free := cfg.freeCPUs(dev)
	v.Receiver, err = receive.Open(receive.Options{
		Device: rx.Index, Filter: filter, Readers: min(maxReaders, max(1, len(free))), CPUs: readerCPUs(free, dev), FromOne: idle, Every: v.every,
		Clock: times, Spawn: Spawn,
	})
	if errors.Is(err, receive.ErrNotPermitted) {
		return nil, fmt.Errorf("open receiver on %s: %w", rx.Name, ErrNotPermitted)
	}
	if err != nil {
		return nil, fmt.Errorf("open receiver on %s: %w", rx.Name, err)
	}
	return v, nil
}

// accept lets frames of a configuration pass from now on, besides those that passed before.
func (v *verifier) accept(cfg Config, dev Device) error {
	v.SetCPUs(readerCPUs(cfg.freeCPUs(dev), dev))
	all, changed := v.marks.with(cfg.verifyMarks())
	if !changed {
		return nil
	}
	filter, err := all.filter()
	if err == nil {
		err = v.SetFilter(filter)
	}
	if err != nil {
		return fmt.Errorf("receiver's filter: %w", err)
	}
	v.marks = all
	return nil
}

// count is what has arrived so far.
func (v *verifier) count() meter.Reading {
	before := v.clock.now()
	n, _, err := v.Arrived()
	after := v.clock.now()
	return meter.Reading{Count: n, At: time.Duration(before+after) / 2, Err: time.Duration(after-before) / 2, OK: err == nil}
}

// frames are those of all streams, as they are asked for.
func (cfg Config) frames() (list []frame.Spec) {
	if len(cfg.Streams) == 0 {
		return []frame.Spec{cfg.Frame}
	}
	for _, s := range cfg.Streams {
		list = append(list, s.Frame)
	}
	return list
}

// verifyMarks are what a verifier looks for.
func (cfg Config) verifyMarks() (m marks) {
	if cfg.Load != nil {
		return marks{specs: cfg.flows()}
	}
	for _, f := range cfg.frames() {
		if f.Vary.SrcMAC.On || f.Hex != "" {
			return marks{specs: cfg.flows()}
		}
		if mac := [6]byte(f.SrcMAC); !slices.Contains(m.sources, mac) {
			m.sources = append(m.sources, mac)
		}
	}
	return m
}

// Verifies says whether each frame that arrives is read, given a receiving device.
func (cfg Config) Verifies() bool {
	if !cfg.Receive || !cfg.Verify {
		return false
	}
	_, err := cfg.verifyMarks().filter()
	return err == nil
}

// sampled says that only one of so many frames comes up to a receiver.
func (cfg Config) sampled() uint32 {
	if cfg.Sink.XDP {
		return max(1, cfg.Sink.Every)
	}
	return 1
}

// freeCPUs are those that no worker is pinned to.
func (cfg Config) freeCPUs(dev Device) (free []int) {
	used := make([]int, cfg.Queues)
	for i := range used {
		used[i] = cfg.cpu(i)
	}
	for _, c := range dev.CPUs {
		if !slices.Contains(used, c) {
			free = append(free, c)
		}
	}
	return free
}

// readerCPUs are those that the receiver may run on: all, where the workers have taken each.
func readerCPUs(free []int, dev Device) []int {
	if len(free) == 0 {
		return dev.CPUs
	}
	return free
}

// unclear says why the frames of cfg do not tell what became of them, "" if they do.
func (cfg Config) unclear() string {
	switch {
	case cfg.Sink.XDP && cfg.Sink.Every == 0:
		return "the sink drops every frame in the driver: none is left to read"
	case cfg.Load != nil:
		return "frames of a file carry no numbers: nothing is known of their order"
	}
	some := false
	for _, f := range cfg.frames() {
		if !f.HasHeader() {
			continue
		}
		some = true
		least := f
		least.Size, least.Sizes = f.Least(), nil
		if t, err := frame.Build(least); cfg.Queues > 1 && err == nil && t.Worker < 0 {
			return fmt.Sprintf("frames of %d bytes have no room for the worker's number: with queues %d the sequences cannot be told apart", least.Size, cfg.Queues)
		}
	}
	if !some {
		return fmt.Sprintf("frames of %d bytes of this kind have no room for a number: nothing is known of their order", cfg.Frame.Least())
	}
	return ""
}

// numbered says whether every frame of cfg has a number.
func (cfg Config) numbered() bool {
	return cfg.Load == nil && !slices.ContainsFunc(cfg.frames(), func(f frame.Spec) bool { return !f.HasHeader() })
}

// Received reads what the verifying receiver knows; ok is false without one. It waits for at most a millisecond or two.
func (e *Engine) Received() (r Received, ok bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.verifier == nil {
		return Received{}, false, nil
	}
	s, err := e.verifier.Snapshot()
	return Received{s, e.cfg.unclear(), e.cfg.numbered(), e.verifier.every}, true, err
}

// settle waits until all that has arrived is read.
func (e *Engine) settle() {
	e.mu.Lock()
	v := e.verifier
	e.mu.Unlock()
	if v != nil {
		v.Settle(settleTime)
	}
}

// setReceiver opens or closes the receiver as cfg wants it.
func (e *Engine) setReceiver(cfg Config) (err error) {
	verify := cfg.Verifies() && e.rx != nil
	count := cfg.Counts() && !verify && e.rx != nil
	if e.receiver != nil && !count {
		err = e.receiver.close()
		e.receiver = nil
	}
	if e.verifier != nil && (!verify || e.verifier.every != cfg.sampled()) {
		err = errors.Join(err, e.verifier.Close())
		e.verifier = nil
	}
	switch {
	case err != nil:
		return err
	case count && e.receiver == nil:
		e.receiver, err = openReceiver(*e.rx, &e.clock, cfg.flows())
	case count:
		err = e.receiver.accept(cfg.flows())
	case verify && e.verifier == nil:
		idle := e.run == nil || e.run.over()
		e.verifier, err = openVerifier(*e.rx, cfg, e.dev, &e.clock, e.times, idle)
	case verify:
		err = e.verifier.accept(cfg, e.dev)
	}
	return err
}
