package supervisor

// Guarded returns the wrapper that a program starts all its goroutines through: putBack is called before the panic of one goes on and ends
// the process, with the trace of where it happened.
func Guarded(putBack func()) (spawn func(f func())) {
	return func(f func()) {
		go func() {
			returned := false
			defer func() {
				if !returned { // without recover, so that the trace stays that of the cause
					putBack()
				}
			}()
			f()
			returned = true
		}()
	}
}
