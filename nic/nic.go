package nic

import (
	"context"
	"errors"
	"time"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrNotFound     = errors.New("no such device")
	ErrNotSupported = errors.New("not supported by the device")
	ErrNotPermitted = errors.New("not permitted")
)

// Device is a handle to one interface of the present network namespace. Its methods may be called from any goroutine.
type Device struct{}

// Open finds an interface by name. errors.Is(err, ErrNotFound) holds where there is none.
func Open(name string) (*Device, error) { panic("todo") }

// Close frees the handle's sockets.
func (d *Device) Close() error { panic("todo") }

// Link is what an interface says of itself now.
type Link struct {
	Name     string
	Index    int
	Driver   string // veth, igb, ...; "" unknown
	MAC      [6]byte
	MTU      int
	Up       bool   // administratively
	Carrier  bool   // can carry frames: running and lower up
	Speed    uint64 // bit/s; 0 unknown
	SpeedWhy string // why the speed is unknown, e.g. "veth has no speed of its own (it reports a constant 10 Gbit/s)"
	Duplex   string // full, half or ""
	TxQueues int    // real transmit queues
	RxQueues int
	Qdisc    string // root qdisc's kind: noqueue, fq_codel, mq, ...; "" unknown
	Peer     int    // index of a veth's other end, else 0
}

// Link reads the interface. errors.Is(err, ErrNotFound) holds once it is gone.
func (d *Device) Link() (Link, error) { panic("todo") }

// Counters are the device's own counts (struct rtnl_link_stats64), with the bracket of the clock around the read.
type Counters struct {
	Before, After                           time.Time // monotonic
	TxPackets, TxBytes, TxDropped, TxErrors uint64
	RxPackets, RxBytes, RxDropped, RxErrors uint64
	CarrierErrors                           uint64
}

// Counters reads them with one RTM_GETSTATS (a few microseconds; DESIGN.md section 5, Time).
func (d *Device) Counters() (Counters, error) { panic("todo") }

// Change is what Watch reports: the link as it is now, Gone when the interface was removed.
type Change struct {
	Link Link
	Gone bool
}

// Watch calls f, from one goroutine, for each netlink event about the interface until ctx ends. It returns once it listens; f is
// first called at once with the present state, so that no change between is missed.
func (d *Device) Watch(ctx context.Context, f func(Change)) error { panic("todo") }

// Pause is Ethernet flow control as `ethtool -a` shows it.
type Pause struct{ Autoneg, RX, TX bool }

// Pause reads it; errors.Is(err, ErrNotSupported) where the driver has none.
func (d *Device) Pause() (Pause, error) { panic("todo") }

// Qdisc are the sums of the root qdisc.
type Qdisc struct {
	Kind                         string
	BacklogPackets, BacklogBytes uint64
	Drops, Requeues, Overlimits  uint64
}

// Qdisc reads them from the kernel.
func (d *Device) Qdisc() (Qdisc, error) { panic("todo") }

// QueueBytes returns the bytes each transmit queue has passed on, from the children of a root mq; errors.Is(err, ErrNotSupported) without one.
func (d *Device) QueueBytes() ([]uint64, error) { panic("todo") }

// InFlight returns the bytes that the device owns on a transmit queue (BQL inflight); errors.Is(err, ErrNotSupported) without BQL.
func (d *Device) InFlight(queue int) (uint64, error) { panic("todo") }

// XPS returns the CPUs whose frames go to a transmit queue, nil where the map is empty.
func (d *Device) XPS(queue int) ([]int, error) { panic("todo") }

// SetXPS makes exactly the given CPUs send on queue and returns the way back. ErrNotPermitted where the files belong to the host's root,
// ErrNotSupported on a device of one queue.
func (d *Device) SetXPS(queue int, cpus []int) (restore func() error, err error) { panic("todo") }

// Protected says in words why sending on the device would be dangerous: it carries the default route, or the operator's own ssh session.
// "" if it does not.
func (d *Device) Protected() (why string, err error) { panic("todo") }
