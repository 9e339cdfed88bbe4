package engine

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirespeed/engine/frame"
)

// Path is the way of a frame from the ring to the driver.
type Path uint8

// The paths. Bypass goes straight to the driver (PACKET_QDISC_BYPASS), QdiscPath through the queueing discipline.
const (
	Bypass Path = iota
	QdiscPath
)

// String returns the path's word.
func (p Path) String() string { return [...]string{"bypass", "qdisc"}[p] }

// Segment says who may cut a super-frame into frames.
type Segment uint8

// The kinds of segmentation.
const (
	SegmentSoftware Segment = iota
	SegmentDevice
	SegmentOff
)

// String returns the segmentation's word.
func (s Segment) String() string { return [...]string{"software", "device", "off"}[s] }

// Slot says how frames stand in the ring's slots.
type Slot uint8

// The kinds of slots: the kernel copies a frame (linear) or refers to the ring's pages (plain); segmented is a super-frame for each burst where that
// is possible, below the break-even too. Auto takes what is fastest.
const (
	SlotAuto Slot = iota
	SlotLinear
	SlotPlain
	SlotSegmented
)

// String returns the slot's word.
func (s Slot) String() string { return [...]string{"auto", "linear", "plain", "segmented"}[s] }

// Bounds of what can be asked.
const (
	MaxBurst = 1024
	MaxVLAN  = 4094
)

// Config is everything an operator can set about the stream. It is an immutable value: change a copy and Apply it.
type Config struct {
	Frame   frame.Spec
	Streams []Stream // several streams in the place of Frame; nil for Frame alone. Never changed in place
	Load    *Load    // what a file holds, in the place of Frame and Streams; nil for none
	Replay  Replay   // how Load's capture is sent
	Rate    Rate
	Burst   int // frames that leave back to back on the schedule
	Path    Path
	Segment Segment
	Slot    Slot
	Queues  int   // workers; worker i feeds queue i where placement works
	CPUs    []int // CPU of worker i is CPUs[i % len]; never changed in place
	Receive bool  // count what arrives at the receiving device
	Verify  bool  // with Receive: read and check each frame, and time it; it costs the receiving side as much as a capture does
	Sink    Sink  // drop it there

	// FlowOffsets[i] is added to the UDP source port of worker i, so that the flows of the workers hash to different queues; nil for
	// none. Never changed in place.
	FlowOffsets []uint16
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
	Whole    string    // why the device cannot be left to cut super-frames, "" if it can
	CPUs     []int     // CPUs this process may use, from its affinity mask at start
}

// Limit bounds a run. Zero fields do not bound.
type Limit struct {
	Count    uint64        // frames over all workers, exact
	Duration time.Duration // the run is [t0, t0+Duration)
}

// Bounds of the rate, so that a schedule of 64-bit nanoseconds can hold it: one frame a day, and a hundred times what any NIC does.
var (
	slowest = big.NewRat(1, 24*3600)
	fastest = big.NewRat(1e11, 1)
)

// Validate says in one line why cfg cannot run on dev, nil if it can. The error names what is wrong, the limit and the way out.
func (cfg Config) Validate(dev Device) error {
	if err := cfg.validateContent(dev); err != nil {
		return err
	}
	switch {
	case cfg.Segment == SegmentDevice && dev.Whole != "":
		return fmt.Errorf("segment device: %s: use segment software", dev.Whole)
	case cfg.Burst < 1 || cfg.Burst > MaxBurst:
		return fmt.Errorf("burst %d: 1 to %d", cfg.Burst, MaxBurst)
	case cfg.Queues < 1 || cfg.Queues > dev.Queues:
		return fmt.Errorf("queues %d: %s has %s", cfg.Queues, dev.Name, plural(dev.Queues, "transmit queue"))
	case len(cfg.CPUs) == 0:
		return errors.New("cpus: the list is empty: name at least one, such as 0 or 0-1,3")
	}
	for _, cpu := range cfg.CPUs {
		if !slices.Contains(dev.CPUs, cpu) {
			return fmt.Errorf("cpus %s: CPU %d is not one of the CPUs %s that this process may use (see taskset -p)",
				FormatCPUs(cfg.CPUs), cpu, FormatCPUs(dev.CPUs))
		}
	}
	pps, err := cfg.PPS(dev)
	switch {
	case err != nil:
		return err
	case pps == nil:
	case pps.Cmp(fastest) > 0:
		return fmt.Errorf("rate %s: more than %s pps: use max", cfg.Rate, fastest.FloatString(0))
	case pps.Cmp(slowest) < 0:
		return fmt.Errorf("rate %s: less than one frame a day", cfg.Rate)
	}
	return nil
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Segmentable says whether bursts may become super-frames: there is something to cut, and the path leads through software that cuts it (the bypass
// drops what software must cut, KERNEL.md).
func (cfg Config) Segmentable() bool {
	return cfg.Burst > 1 && cfg.Path == QdiscPath && cfg.Segment != SegmentOff && (cfg.Slot == SlotAuto || cfg.Slot == SlotSegmented) && cfg.Uncut() == ""
}

// cpu is the CPU of a worker.
func (cfg Config) cpu(worker int) int { return cfg.CPUs[worker%len(cfg.CPUs)] }

// flow is the frame of a worker: its own source port where flows are spread.
func (cfg Config) flow(worker int) frame.Spec { return cfg.offset(cfg.Frame, worker) }

// offset is a worker's own version of a frame.
func (cfg Config) offset(f frame.Spec, worker int) frame.Spec {
	if worker < len(cfg.FlowOffsets) {
		f.SrcPort += cfg.FlowOffsets[worker]
	}
	return f
}

// FormatCPUs prints a list as the kernel does, "0-2,5", keeping its order.
func FormatCPUs(cpus []int) string {
	var b strings.Builder
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(cpus[i]))
		if j > i {
			b.WriteString("-" + strconv.Itoa(cpus[j]))
		}
		i = j + 1
	}
	return b.String()
}
