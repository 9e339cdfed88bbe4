package engine

import (
	"time"

	"wirespeed/engine/meter"
)

// State is the state of a run.
type State uint8

// The states of a run, as DESIGN.md section 6 names them in JSON.
const (
	Ready State = iota
	Running
	NoCarrier
	Draining
	Failed
	Done
)

var stateNames = [...]string{"ready", "running", "no_carrier", "draining", "failed", "done"}

// String returns the state's word in JSON.
func (s State) String() string { return stateNames[s] }

// Snapshot is one look at a run. All counts are totals since Open; who wants rates subtracts two snapshots.
type Snapshot struct {
	State    State
	Since    time.Duration // time since the start of the run, 0 before it
	Ring     meter.Reading // frames put into the rings
	Taken    meter.Reading // frames the kernel let go of
	Arrived  meter.Reading // frames the receiver counted; OK is false without a receiver
	Asked    uint64        // frames the schedule called for until now
	AskedOK  bool          // false where a part of the run had no schedule (rate max)
	Missed   uint64        // frames owed for too long and given up
	Errors   uint64        // slots the kernel refused, and sends that failed for good
	InKernel int           // slots outstanding
	Workers  []WorkerSnapshot
	Err      error // why the run failed
}

// WorkerSnapshot is the part of one worker. The times are totals since the worker began.
type WorkerSnapshot struct {
	Queue, CPU int
	TID        int // of its thread
	State      State
	Ring       uint64
	Taken      uint64
	Missed     uint64
	InKernel   int
	RingFull   uint64 // times a frame was due and no slot was free
	Retries    uint64 // kicks answered ENOBUFS or EAGAIN
	Errors     uint64
	Kicks      uint64
	User       time.Duration // filling slots
	Kernel     time.Duration // inside kicks
	Spin       time.Duration // waiting awake
	Wait       time.Duration // waiting asleep
	Err        error
}

// Event is something rare that happened to the engine.
type Event struct {
	At   time.Time
	Text string
}
