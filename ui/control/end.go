package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wirespeed/engine"
	"wirespeed/engine/meter"
)

// follow ends the run when the engine has ended by itself.
func (r *Run) follow(ctx context.Context, ended <-chan struct{}) {
	select {
	case <-ended:
		r.end(ctx)
	case <-ctx.Done():
	}
}

// end marks the run of ctx as over, if it is the present one and is not over yet.
func (r *Run) end(run context.Context) {
	var s engine.Snapshot
	r.eng.Snapshot(&s)
	err := s.Err
	switch {
	case err != nil:
		err = r.explain(err)
	case r.o.Limit.Count > 0 && s.InKernel > 0 && s.State == engine.Done: // Stop and --duration leave frames as well, and nobody counted on them
		if r.o.Limit.Duration == 0 || s.Since < r.o.Limit.Duration {
			err = fmt.Errorf("%s: %s of the %s asked for never left the ring", r.o.Device, meter.Thousands(uint64(s.InKernel)), frames(r.o.Limit.Count))
		}
	}
	r.farEnds()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx != run || !r.running() {
		return
	}
	if err != nil && r.failure == nil {
		r.failure = err
		r.log.fatal(err)
	}
	r.ended = r.started.Add(s.Since)
	r.halt()
	close(r.done)
}

// Stop ends sending in order and blocks until the rings have drained, two seconds at most. A later Start begins anew.
func (r *Run) Stop() error {
	r.cmd.Lock()
	defer r.cmd.Unlock()
	return r.stop()
}

// stop is Stop for who holds cmd.
func (r *Run) stop() error {
	r.mu.Lock()
	run, running := r.ctx, r.running()
	r.mu.Unlock()
	if !running {
		return nil
	}
	err := r.eng.Stop()
	r.end(run)
	return errors.Join(err, r.restore())
}

// Close stops the run, puts back what it changed and frees everything. It may be called again and from anywhere, a panicking goroutine
// included. When ctx ends it gives up waiting, and still puts the device back.
func (r *Run) Close(ctx context.Context) error {
	finished := make(chan error, 1)
	go func() { finished <- r.close() }()
	select {
	case err := <-finished:
		return err
	case <-ctx.Done():
	}
	err := errors.Join(r.restore(), r.release())
	select { // what took so long may have been just that: a NIC that takes its link down for each setting
	case again := <-finished:
		return errors.Join(again, err)
	case <-time.After(afterwards):
		return errors.Join(fmt.Errorf("the run did not end in time: %w", context.Cause(ctx)), err)
	}
}

// afterwards is how long the rest of an end may take once the device is put back.
const afterwards = 500 * time.Millisecond

func (r *Run) close() error {
	r.cmd.Lock()
	first := !r.closed
	r.closed = true
	if first {
		r.restored = r.stop()
	}
	r.cmd.Unlock()
	if !first {
		<-r.freed // who calls second may end the process, which must not cut the first one short
		return nil
	}
	defer close(r.freed)
	return errors.Join(r.restored, r.free())
}

// free closes and restores what New has opened so far.
func (r *Run) free() error {
	r.die()
	r.closeFar()
	errs := []error{r.restore(), r.release()}
	if r.eng != nil {
		errs = append(errs, r.eng.Close())
	}
	r.busy.Wait() // they read the device
	if r.dev != nil {
		errs = append(errs, r.dev.Close()) // waits for its watch, which may have begun something more
	}
	r.busy.Wait()
	if r.rxDev != nil {
		errs = append(errs, r.rxDev.Close())
	}
	return errors.Join(errs...)
}
