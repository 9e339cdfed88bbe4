package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"wirespeed/engine"
	"wirespeed/engine/frame"
	"wirespeed/nic"
	"wirespeed/presets/knob"
)

// New opens the device, checks everything (errors.Is knob.ErrUsage, nic.ErrNotFound, nic.ErrNotPermitted) and opens the engine. Nothing
// is sent. In the lab, the caller has made both devices before.
func New(o Options) (*Run, error) { return open(o, machine()) }

// open is New with the doors to the machine given.
func open(o Options, p parts) (_ *Run, err error) {
	if o.Interval <= 0 {
		o.Interval = time.Second
	}
	r := &Run{
		o: o, parts: p, origin: time.Now(), steering: &placement{}, freed: make(chan struct{}),
		log: journal{news: make(chan struct{}, 1)}, over: overhead{share: -1},
	}
	r.life, r.die = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			r.free()
		}
	}()

	if err := r.openDevices(); err != nil {
		return nil, err
	}
	if err := r.takeHold(); err != nil {
		return nil, err
	}
	r.values = r.guard.Values()
	b, err := r.configure()
	if err != nil {
		return nil, err
	}
	if why := knob.LacksAll(b, o.Needs); why != "" {
		return nil, usage("preset %s: %s", o.Preset, why)
	}
	if err := r.rehearse(b); err != nil {
		return nil, err
	}
	r.stated = b.Link
	if err := r.adjust(b.Settings); err != nil {
		return nil, err
	}
	r.engDev = engineDevice(r.link, r.stated, r.engDev.CPUs)
	cfg := b.Config
	var rx *engine.Device
	if r.rxDev != nil {
		rx = &engine.Device{
			Name: r.rxLink.Name, Index: r.rxLink.Index, MTU: r.rxLink.MTU, Queues: max(1, r.rxLink.TxQueues),
			MAC: r.rxLink.MAC, CPUs: r.engDev.CPUs,
		}
	}
	if r.eng, err = p.engine(r.engDev, rx, cfg); err != nil {
		return nil, err
	}

	r.dialFar()
	r.base = r.take(o.Interval)
	r.fast.next(r.base)
	r.line.next(r.base)
	r.loss.rebase(r.base)
	r.saySink(engine.Config{}, cfg)
	r.sayContent(engine.Config{}, cfg)
	r.spawn(r.listen)
	r.spawn(r.keepWatch)
	r.spawn(r.keepInstruments)
	if b.Trace != "" {
		if err := r.setTrace(b.Trace); err != nil {
			return nil, err
		}
	}
	if err := r.dev.Watch(r.life, r.linkChanged); err != nil {
		return nil, fmt.Errorf("watch %s: %w", o.Device, err)
	}
	return r, nil
}

// openDevices opens the sending and the receiving device and reads what the engine must know of them.
func (r *Run) openDevices() error {
	var err error
	if r.dev, err = r.parts.device(r.o.Device); err != nil {
		return err
	}
	if r.link, err = r.dev.Link(); err != nil {
		return err
	}
	if !r.o.Lab && !r.o.IKnow {
		why, err := r.dev.Protected()
		if err != nil {
			return fmt.Errorf("whether %s may be used: %w", r.o.Device, err)
		}
		if why != "" {
			return notPermitted("%s: sending on it could cut you off; --i-know sends all the same", why)
		}
	}
	if r.o.Rx == r.o.Device && !r.o.Lab {
		return usage("--rx %s is the sending device itself: name the device that the frames arrive at", r.o.Rx)
	}
	if r.o.Rx != "" {
		d, err := r.parts.device(r.o.Rx)
		if err != nil {
			return fmt.Errorf("receiver: %w", err)
		}
		r.rxDev = d
		if r.rxLink, err = d.Link(); err != nil {
			return fmt.Errorf("receiver: %w", err)
		}
		r.noXDP = r.parts.sinkable()
	}
	cpus, err := r.parts.cpus()
	if err != nil {
		return fmt.Errorf("CPUs of this process: %w", err)
	}
	r.engDev = engineDevice(r.link, r.stated, cpus)
	r.gauge.blind = r.link.Driver == "ifb" // known; others are found out
	r.pause = pauseWords(r.dev.Pause())
	return nil
}

// engineDevice is what the engine must know of a link; stated is the knob link, which overrules what the device says of its speed.
func engineDevice(l nic.Link, stated uint64, cpus []int) engine.Device {
	d := engine.Device{
		Name: l.Name, Index: l.Index, MTU: l.MTU, Queues: max(1, l.TxQueues), MAC: l.MAC,
		Speed: l.Speed, SpeedWhy: l.SpeedWhy, CPUs: cpus,
	}
	if stated != 0 {
		d.Speed, d.SpeedWhy = stated, ""
	}
	if l.Software {
		d.Whole = l.Driver + " cuts nothing and passes a super-frame on whole, counted as one"
	}
	return d
}

// configure folds the defaults and the settings, in that order, into one state. Nothing is changed.
func (r *Run) configure() (*knob.Bench, error) {
	b := r.bench()
	b.Config = knob.Defaults(r.engDev, b.RxMAC, r.o.Lab)
	settings := r.o.Settings
	if r.o.Lab && r.o.Console {
		// A rate that any machine holds and that leaves the screen its CPU.
		settings = append([]Setting{{Knob: "rate", Value: "100kpps"}}, settings...)
	}
	_, err := knob.SetAll(b, settings)
	if r.rxDev != nil && r.rxLink.MAC == (frame.MAC{}) && b.Config.Load == nil && b.Config.Frame.Hex == "" && !slices.ContainsFunc(settings, func(s Setting) bool { return s.Knob == "dst-mac" }) {
		return nil, usage("--rx %s has no Ethernet address to send to: give one with --dst-mac", r.o.Rx)
	}
	if err != nil {
		return nil, err
	}
	if b.Config.Frame.DstMAC == (frame.MAC{}) && b.Config.Load == nil && b.Config.Frame.Hex == "" {
		return nil, usage("%s: where to? give the receiver's address with --dst-mac, or the receiving device with --rx", r.o.Device)
	}
	if b.Config.Receive && r.rxDev == nil {
		return nil, usage("receiver: there is no receiving device to count at: give one with --rx")
	}
	return b, nil
}

// pauseWords says how flow control stands, or why there is none.
func pauseWords(p nic.Pause, err error) string {
	switch {
	case errors.Is(err, nic.ErrNotSupported):
		return "none"
	case err != nil:
		return "unknown"
	case p.RX && p.TX:
		return "rx+tx"
	case p.RX:
		return "rx"
	case p.TX:
		return "tx"
	}
	return "off"
}
