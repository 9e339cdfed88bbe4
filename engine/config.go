package engine

import (
	"time"

	"wirespeed/engine/frame"
)

// Path is the way of a frame from the ring to the driver.
type Path uint8

// The paths. Bypass goes straight to the driver (PACKET_QDISC_BYPASS), Qdisc through the queueing discipline.
const (
	Bypass Path = iota
	QdiscPath
)

// Segment says who may cut a super-frame into frames.
type Segment uint8

// The kinds of segmentation.
const (
	SegmentSoftware Segment = iota
	SegmentDevice
	SegmentOff
)

// Config is everything an operator can set about the stream. It is an immutable value: change a copy and Apply it.
type Config struct {
	Frame   frame.Spec
	Rate    Rate
	Burst   int // frames that leave back to back on the schedule
	Path    Path
	Segment Segment
	Queues  int   // workers; worker i feeds queue i where placement works
	CPUs    []int // CPU of worker i is CPUs[i % len]; never changed in place
	Receive bool  // count what arrives at the receiving device
}

// Device is what the engine must know of the transmitting device; nic reads it, the engine only uses it.
type Device struct {
	Name     string
	Index    int
	MTU      int
	Queues   int       // real transmit queues, at least 1
	MAC      frame.MAC // its own address
	Speed    uint64    // bit/s; 0 is unknown
	SpeedWhy string    // why the speed is unknown, in words for the operator
	CPUs     []int     // CPUs this process may use, from its affinity mask at start
}

// Limit bounds a run. Zero fields do not bound.
type Limit struct {
	Count    uint64        // frames over all workers, exact
	Duration time.Duration // the run is [t0, t0+Duration)
}
