package control

import (
	"errors"
	"slices"
	"sync"
)

// changes are what a run has changed on the device, and how to put it back. Its methods may be called from any goroutine: a panicking one must be
// able to put the device back.
type changes struct {
	lock sync.Mutex
	undo []func() error
}

// keep remembers the way back of one change; nil is none.
func (c *changes) keep(undo func() error) {
	if undo == nil {
		return
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	c.undo = append(c.undo, undo)
}

// restore puts everything back, last change first. Again it does nothing.
func (c *changes) restore() error {
	c.lock.Lock()
	defer c.lock.Unlock()
	var errs []error
	for _, undo := range slices.Backward(c.undo) {
		errs = append(errs, undo())
	}
	c.undo = nil
	return errors.Join(errs...)
}

// restore puts back all that the run has changed on the device.
func (r *Run) restore() error { return errors.Join(r.offloads.restore(), r.steering.restore()) }
