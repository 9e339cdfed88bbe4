package control

import (
	"time"

	"wirespeed/engine"
	"wirespeed/engine/meter"
	"wirespeed/nic"
)

// View is one look at a run as both front ends show it: an immutable value made by Run.Tick. A number that is not known has its OK false or its pointer nil.
type View struct {
	At      time.Time
	Elapsed time.Duration // since the start of the run
	State   engine.State
	Why     string // in words, where the state needs some ("no carrier on v0 for 1.2 s")

	Device DeviceView
	Target *float64 // asked pps, nil for max

	Fast   Sample      // the last tick (console: 250 ms): instant numbers and charts
	Sample Sample      // the last whole interval (1 s): the classic line
	Line   meter.Line  // the classic line as of Sample
	Fresh  bool        // Sample is new in this view
	Epoch  meter.Epoch // the present one
	Epochs []meter.Epoch
	Marks  []meter.Epoch
	Diff   *Comparison // of the last two marks

	Ladder        Ladder
	Arrivals      *Arrivals // nil without a verifying receiver
	Missed        uint64
	LostNoCarrier *uint64 // taken without ever leaving, between a loss of carrier and the notice; nil where the device's count cannot tell
	Errors        uint64
	Queues        []Queue
	Placement     string // which queues are really used, "" where each worker has its own
	Qdisc         *nic.Qdisc
	Sink          *SinkView // nil while none is on
	Far           *FarSide  // nil without a far end
	Facts         *Facts    // nil before two looks
	Instruments   *Instruments
	Knobs         []Knob
	Log           []Event   // newest last, bounded
	History       []Point   // for the charts, oldest first, bounded
	Progress      *Progress // of the steps under way, nil none
	Quit          bool      // a line of a script said so
	Kicks         []Kick    // oldest first
	Sweep         *Sweep    // under way, or the last one; nil before the first
	Overhead      float64   // CPU share of the process apart from its workers, -1 unknown
}

// DeviceView is the header.
type DeviceView struct {
	Link   nic.Link
	Speed  uint64 // bit/s, --link included; 0 unknown
	Stated bool   // by the knob link
	Shaped bool   // made by the knob link: frames wait for a lab's link of that speed
	Lab    bool
	Rx     string // receiving device, "" none
	Pause  string // "off", "rx+tx", or why there is none
	To     string // "02:00:00:00:00:fe 198.18.0.2:9"
}

// Sample is one measured interval.
type Sample struct {
	Valid    bool
	Interval time.Duration
	Elapsed  time.Duration // end of the interval, since the start
	At       time.Time     // the same as wall clock
	Epoch, N int           // 0 in a sample that mixes two regimes: it belongs to no epoch
	ErrNS    float64
	TX, RX   Flow
	TxSource string // "device" or "engine"
	RxDev    string
}

// Flow is one direction of a sample.
type Flow struct {
	OK             bool
	PPS            float64
	Avg            float64
	BpsL1, BpsL2   float64
	Percent        *float64 // of wirespeed
	NS             *float64 // nil at 0 pps
	VarNS          float64
	VarMin, VarMax float64
}

// Ladder counts frames since the start or the last reset. A nil step is unknown.
type Ladder struct {
	Asked, Device, Arrived *uint64
	Verified               *uint64 // numbers that arrived right: of a verifying receiver
	Ring, Taken            uint64
	Far                    *uint64  // arrived at the far end of two machines, by its own count
	HasFar                 bool     // there is one
	Gaps                   []string // every gap in words
}

// Queue is one worker's row. Counts are cumulative since the start or the last reset.
type Queue struct {
	Queue                     int // the transmit queue that is really used, -1 where that is not known
	CPU                       int
	PPS                       float64
	NS                        *float64
	User, Kernel, Spin, Wait  float64  // shares of the last tick, 0..1
	Away                      *float64 // share of the last tick, within the other four, in which others ran on its CPU; nil where nobody knows
	InKernel                  int
	InDevice                  *float64 // frames, nil without BQL
	IRQs                      *float64 // interrupts of the transmit queue a second, nil where they are not known
	RingFull, Retries, Errors uint64
	State                     engine.State
	Slot                      string // how frames stand in the ring: linear, plain, segmented
	Err                       string
}

// Knob is one row of the panel.
type Knob struct {
	Name, Group, Value, Detail, Help string
	Reason                           string // why it cannot be turned here, "" if it can
	Family                           bool   // one of any number: irq[0], feature.NAME
	Known                            bool   // Value is one; else nobody tells it
}

// Event is a line of the log.
type Event struct {
	Seq   int // from 1, without gaps; who has seen up to one knows what is new
	At    time.Time
	Text  string
	Fatal bool   // it ends the run: Summary.Err says the same
	Knob  string // name of the knob that was turned, "" for other events
}

// Point is one tick in the charts. Mark is not "" where a knob was turned.
type Point struct {
	At    time.Duration
	PPS   float64
	RxPPS float64
	NS    float64 // 0: none
	Epoch int
	Valid bool
	Mark  string
}
