package engine

import "time"

// Engine is the handle of the sending (and counting) machinery of one device.
type Engine struct{}

// Open makes the rings and, with rx not nil and cfg.Receive, the receiver on rx. Nothing is sent. ErrNotPermitted without CAP_NET_RAW.
func Open(dev Device, rx *Device, cfg Config) (*Engine, error) { panic("todo") }

// Validate says in one line why cfg cannot run on dev, nil if it can. The error names the limit and the way out.
func (cfg Config) Validate(dev Device) error { panic("todo") }

// Start begins a run with sequence numbers, schedule and limits anew. The engine must be ready or done.
func (e *Engine) Start(l Limit) error { panic("todo") }

// Stop ends the run in order: no further frame, the rings drained for at most two seconds. It blocks until that is done.
func (e *Engine) Stop() error { panic("todo") }

// Done is closed when the present run has ended by itself (its limit, or failure of all workers).
func (e *Engine) Done() <-chan struct{} { panic("todo") }

// Apply changes the configuration while frames flow (or before they do). A refused one changes nothing.
func (e *Engine) Apply(cfg Config) error { panic("todo") }

// Config returns the present configuration.
func (e *Engine) Config() Config { panic("todo") }

// SetCarrier tells the workers whether the link can carry frames.
func (e *Engine) SetCarrier(up bool) { panic("todo") }

// SetDevice tells the engine what has changed about its device (MTU, speed, queues).
func (e *Engine) SetDevice(dev Device) { panic("todo") }

// Forgive drops the debt of the schedule: after SIGCONT nothing owed is worked off.
func (e *Engine) Forgive() { panic("todo") }

// Snapshot reads the counters of the workers and the receiver into s, whose slices are reused.
func (e *Engine) Snapshot(s *Snapshot) { panic("todo") }

// Now is the engine's clock, of all its readings: CLOCK_MONOTONIC since the engine's origin.
func (e *Engine) Now() time.Duration { panic("todo") }

// Events delivers what rarely happens; it is bounded, and what does not fit is dropped (the snapshot has it all the same).
func (e *Engine) Events() <-chan Event { panic("todo") }

// Close stops and frees everything.
func (e *Engine) Close() error { panic("todo") }
