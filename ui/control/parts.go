package control

import (
	"context"
	"time"

	"wirespeed/engine"
	"wirespeed/nic"
	"wirespeed/nic/check"
	"wirespeed/nic/host"
)

// sender is what a run needs of an engine.
type sender interface {
	Start(engine.Limit) error
	Stop() error
	Done() <-chan struct{}
	Apply(engine.Config) error
	Config() engine.Config
	SetCarrier(up bool)
	SetDevice(engine.Device)
	Forgive()
	Snapshot(*engine.Snapshot)
	Received() (engine.Received, bool, error)
	Now() time.Duration
	Events() <-chan engine.Event
	Close() error
}

// counter is what a run needs of a receiving device.
type counter interface {
	Link() (nic.Link, error)
	Counters() (nic.Counters, error)
	Close() error
}

// device is what a run needs of the sending device.
type device interface {
	counter
	steerer
	Watch(ctx context.Context, f func(nic.Change)) error
	Pause() (nic.Pause, error)
	Qdisc() (nic.Qdisc, error)
	InFlight(queue int) (uint64, error)
	Feature(name string) (nic.Feature, error)
	Values() []nic.Value
	factual
	waiting
	Protected() (why string, err error)
}

// steerer is what placement needs of a device: which queue a CPU's frames go to, and which queues moved.
type steerer interface {
	QueueBytes() ([]uint64, error)
	XPS(queue int) ([]int, error)
}

var (
	_ sender = (*engine.Engine)(nil)
	_ device = (*nic.Device)(nil)
)

// parts are the doors to the machine; tests open others.
type parts struct {
	device      func(name string) (device, error)
	guard       func(d device, lab bool) (g guard, notes []string, err error)
	engine      func(dev engine.Device, rx *engine.Device, cfg engine.Config) (sender, error)
	sinkable    func() error // why no XDP sink can be made, nil if one can
	cpus        func() ([]int, error)
	threadTime  func(tid int) (time.Duration, error)
	threadWait  func(tid int) (time.Duration, error)
	processTime func() (time.Duration, error)
	check       func(name string) ([]check.Finding, error)
	backlog     func() (dropped uint64, err error)
}

// machine returns the real ones.
func machine() parts {
	return parts{
		device: func(name string) (device, error) {
			d, err := nic.Open(name)
			if err != nil {
				return nil, err // not a typed nil
			}
			return d, nil
		},
		guard: func(d device, lab bool) (guard, []string, error) {
			g, notes, err := nic.NewGuard(d.(*nic.Device), nic.GuardOptions{Volatile: lab})
			if err != nil {
				return nil, notes, err
			}
			return g, notes, nil
		},
		engine: func(dev engine.Device, rx *engine.Device, cfg engine.Config) (sender, error) {
			e, err := engine.Open(dev, rx, cfg)
			if err != nil {
				return nil, err
			}
			return e, nil
		},
		sinkable:    engine.SinkAvailable,
		cpus:        host.CPUs,
		threadTime:  host.ThreadTime,
		threadWait:  host.ThreadWait,
		processTime: host.ProcessTime,
		check:       checkDevice,
		backlog:     nic.BacklogDrops,
	}
}
