package supervisor

import (
	"sync"
	"time"
)

var (
	panicking = make(chan struct{}) // closed once a guarded goroutine panics
	panicked  sync.Once
)

// Outlast lets a panic that is under way end the process, for who is about to end it as if nothing had happened: what putBack does ends a run
// in order. It waits no longer than that can take.
func Outlast() {
	select {
	case <-panicking:
		time.Sleep(5 * time.Second)
	default:
	}
}

// Guarded returns the wrapper that a program starts all its goroutines through: putBack is called before the panic of one goes on and ends
// the process, with the trace of where it happened.
func Guarded(putBack func()) (spawn func(f func())) {
	return func(f func()) {
		go func() {
			returned := false
			defer func() {
				if !returned { // without recover, so that the trace stays that of the cause
					panicked.Do(func() { close(panicking) })
					putBack()
				}
			}()
			f()
			returned = true
		}()
	}
}
