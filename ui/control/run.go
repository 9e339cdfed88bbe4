package control

import (
	"context"
	"time"

	"wirespeed/engine"
	"wirespeed/presets/knob"
)

// Options are what a run is made of; the command line fills them.
type Options struct {
	Device   string  // the sending device; in the lab its name there
	Rx       string  // receiving device, "" none; in the lab the peer's name there
	Lab      bool    // both devices are a lab's: nobody's but ours
	Foreign  [6]byte // with Lab: the address that frames go to unless dst-mac is set
	Console  bool    // a person is watching: the lab then begins at 100kpps instead of max
	Link     uint64  // --link, bit/s; 0 not stated
	IKnow    bool
	Interval time.Duration // of the line, 1s
	Settings []Setting     // preset steps, then flags, in the order they apply
	Script   []Step        // commands as they come, after the start
	Limit    engine.Limit
}

// Setting is one knob and its value as text.
type Setting struct{ Knob, Value string }

// Step is one line of the command language and where it stands.
type Step struct {
	Line  string
	Where string // "file:3", "" typed
}

// Run is one run as both front ends show it. All methods may be called from any goroutine.
type Run struct{}

// New opens the device, checks everything (errors.Is knob.ErrUsage, nic.ErrNotFound, nic.ErrNotPermitted) and opens the engine. Nothing is sent.
func New(o Options) (*Run, error) { panic("todo") }

// Start begins sending.
func (r *Run) Start() error { panic("todo") }

// Stop ends sending in order; a later Start begins anew.
func (r *Run) Stop() error { panic("todo") }

// Tick pulls one snapshot and makes a View of it. One caller at a time; it does not block on the device.
func (r *Run) Tick() *View { panic("todo") }

// Do carries out one line of the command language and says in words what happened. errors.Is(err, knob.ErrUsage) where the line is wrong.
func (r *Run) Do(line string) (said string, err error) { panic("todo") }

// Bench is a copy of what the knobs see, for feedback while a value is typed.
func (r *Run) Bench() *knob.Bench { panic("todo") }

// Reset begins the statistics anew (key r).
func (r *Run) Reset() { panic("todo") }

// Mark keeps the present epoch by name ("" takes the next letter).
func (r *Run) Mark(name string) (string, error) { panic("todo") }

// Resume is called after SIGCONT: the sample is invalid and a new epoch begins.
func (r *Run) Resume() { panic("todo") }

// Done is closed when the run has ended by itself.
func (r *Run) Done() <-chan struct{} { panic("todo") }

// Result is the end of a run in the classic form, two lines, and all the figures of the summary.
func (r *Run) Result() Summary { panic("todo") }

// Close stops, restores everything and frees it.
func (r *Run) Close(ctx context.Context) error { panic("todo") }
