package engine

import (
	"errors"
	"slices"

	"wirespeed/engine/frame"
	"wirespeed/engine/xdp"
)

// Sink is what drops frames of ours at the receiving device. The zero value is none: the kernel's stack does what it does with them.
type Sink struct {
	XDP   bool   // a program in the driver
	Every uint32 // frames whose sequence number is a multiple of it are passed up all the same; 0 for none
}

// SinkSnapshot is what a sink that is on has counted, since it was switched on.
type SinkSnapshot struct {
	Mode                  string // native or generic
	Why                   string // why it is not native, "" where it is
	Ours, Passed, Foreign uint64
}

// SinkAvailable says in a sentence why no XDP sink can be made here, nil if one can. errors.Is(err, ErrNotPermitted) holds without the rights.
func SinkAvailable() error {
	err := xdp.Available()
	if errors.Is(err, xdp.ErrNotPermitted) {
		return denied{err}
	}
	return err
}

// sink is one that is on. Its owner holds Engine.mu.
type sink struct {
	xdp   *xdp.Sink
	want  Sink
	specs []frame.Spec // whose frames it takes; newest last
}

// setSink switches the sink on or off, as cfg wants it, or lets it take frames of cfg too, besides those that it took before.
func (e *Engine) setSink(cfg Config) error {
	want := cfg.Sink
	if e.rx == nil {
		want = Sink{}
	}
	if e.sink != nil && e.sink.want != want {
		if err := e.closeSink(); err != nil {
			return err
		}
	}
	switch {
	case !want.XDP:
		return nil
	case e.sink != nil:
		return e.sink.accept(cfg.flows())
	}
	specs := cfg.flows()
	filter, err := frame.Filter(specs)
	if err != nil {
		return err
	}
	x, err := xdp.Open(e.rx.Name, e.rx.Index, filter, want.Every)
	if errors.Is(err, xdp.ErrNotPermitted) {
		return denied{err}
	}
	if err != nil {
		return err
	}
	e.sink = &sink{x, want, specs}
	return nil
}

// accept lets the sink take frames of specs too.
func (s *sink) accept(specs []frame.Spec) error {
	all, changed := union(s.specs, specs)
	if !changed {
		return nil
	}
	filter, err := frame.Filter(all)
	if err != nil {
		return err
	}
	if err := s.xdp.Replace(filter); err != nil {
		return err
	}
	s.specs = all
	return nil
}

// union is old with more behind it, without those that the filter cannot tell apart from one of more, and of the oldest no more than are needed.
func union(old, more []frame.Spec) (all []frame.Spec, changed bool) {
	all = slices.Clone(old)
	for _, s := range more {
		all = slices.DeleteFunc(all, func(o frame.Spec) bool { return alike(o, s) })
		all = append(all, s)
	}
	if over := len(all) - max(receiverSpecs, len(more)); over > 0 {
		all = all[over:]
	}
	return all, !slices.EqualFunc(all, old, alike)
}

// closeSink takes the sink off the device and keeps its count.
func (e *Engine) closeSink() error {
	if e.sink == nil {
		return nil
	}
	err := e.sink.xdp.Close()
	last, _ := e.sink.xdp.Read() // of a closed one it cannot fail
	e.sunk += last.Dropped()
	e.sink = nil
	return err
}

// sunkNow is how many frames of ours sinks have dropped since Open: nobody else has seen them arrive. ok is false where it is not known.
func (e *Engine) sunkNow(s *Snapshot) (dropped uint64, ok bool) {
	if e.sink == nil {
		return e.sunk, true
	}
	c, err := e.sink.xdp.Read()
	if err != nil {
		return 0, false
	}
	mode, why := e.sink.xdp.Mode()
	s.Sink = &SinkSnapshot{Mode: mode.String(), Why: why, Ours: c.Ours, Passed: c.Passed, Foreign: c.Foreign}
	return e.sunk + c.Dropped(), true
}

// passed is how many frames of ours a receiver would have seen.
func (s *SinkSnapshot) passed() uint64 {
	if s == nil {
		return 0
	}
	return s.Passed
}

// denied is an ErrNotPermitted with its own words.
type denied struct{ cause error }

func (d denied) Error() string   { return d.cause.Error() }
func (d denied) Unwrap() []error { return []error{d.cause, ErrNotPermitted} }
