package ui

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"sync"
	"time"

	"wirespeed/engine"
	"wirespeed/engine/meter"
	"wirespeed/nic"
	"wirespeed/nic/check"
	"wirespeed/presets/knob"
	"wirespeed/ui/control"
)

// fakeRun is a run made of arithmetic: a NIC of 1 Gbit/s that reaches wirespeed from a burst of 8 on, looked at four times
// a second. Nothing in it depends on a clock or on chance, so that the same keys always draw the same screen.
type fakeRun struct {
	mu    sync.Mutex
	bench knob.Bench
	lab   bool
	state engine.State
	ticks int

	epochs  []meter.Epoch // the last one is the present
	sum     []float64     // ns of its samples
	mixed   bool          // the present second holds a change
	turned  string
	line    meter.Line
	fast    control.Sample
	sample  control.Sample
	sent    float64
	history []control.Point
	log     []control.Event
	marks   []meter.Epoch
	did     []string // every call that changes the run, for tests of keys
	fail    error    // what Do answers, nil: as it goes
}

const fakeTick = 250 * time.Millisecond

var fakeStart = time.Date(2026, 11, 30, 17, 0, 0, 0, time.UTC)

// newFakeNIC is eth1 at 1 Gbit/s, newFakeLab a lab.
func newFakeNIC() *fakeRun { return newFake(false) }
func newFakeLab() *fakeRun { return newFake(true) }

func newFake(lab bool) *fakeRun {
	dev := engine.Device{
		Name: "eth1", Index: 3, MTU: 1500, Queues: 4, MAC: [6]byte{2, 0, 0, 0, 0, 1}, Speed: 1e9, CPUs: []int{0, 1, 2, 3},
	}
	if lab {
		dev.Name, dev.Queues, dev.Speed, dev.SpeedWhy = "v0", 2, 0, "veth has no speed of its own"
	}
	to := [6]byte{2, 0, 0, 0, 0, 0xfe}
	f := &fakeRun{lab: lab, state: engine.Running, bench: knob.Bench{Device: dev, RxMAC: &to, Lab: lab}}
	f.bench.Config = knob.Defaults(dev, &to, lab)
	f.bench.Settings = fakeSettings(lab)
	f.bench.Config.Frame.DstIP = netip.MustParseAddr("198.18.0.2")
	if lab {
		f.set("rate", "100kpps")
	}
	f.change("start")
	f.event("link up", "")
	return f
}

// after lets n looks pass.
func (f *fakeRun) after(n int) *fakeRun {
	for range n {
		f.Tick()
	}
	return f
}

func (f *fakeRun) set(name, value string) error {
	k, err := knob.Find(name)
	if err != nil {
		return err
	}
	_, err = k.Set(&f.bench, value)
	return err
}

func (f *fakeRun) now() time.Time { return fakeStart.Add(f.elapsed()) }

func (f *fakeRun) elapsed() time.Duration { return time.Duration(f.ticks) * fakeTick }

func (f *fakeRun) event(text, name string) {
	f.log = append(f.log, control.Event{Seq: len(f.log) + 1, At: f.now(), Text: text, Knob: name})
}

func (f *fakeRun) change(label string) {
	f.epochs = append(f.epochs, meter.Epoch{Number: len(f.epochs) + 1, Label: label})
	f.sum, f.mixed, f.line, f.turned = nil, true, meter.Line{}, label
}

// pps is what the device sends in this tick.
func (f *fakeRun) pps() float64 {
	if f.state != engine.Running {
		return 0
	}
	c := f.bench.Config
	ns := 1062.4 - 31*min(float64(c.Burst-1), 3)
	if !f.lab {
		ns = 702.53
		if c.Burst >= 8 {
			ns = 672.05
		}
	}
	if c.Path == engine.QdiscPath {
		ns += 48
	}
	ns /= float64(max(c.Queues, 1))
	wobble := 0.0004
	if rate, err := c.Rate.PPS(c.Frame.Size, f.bench.Device); err == nil && rate != nil {
		if r, _ := rate.Float64(); 1e9/r > ns {
			ns, wobble = 1e9/r, 0.00001
		}
	}
	// Three sines that do not share a period look enough like noise.
	t := float64(f.ticks)
	ns *= 1 + wobble*(math.Sin(1.7*t)+math.Sin(2.9*t+1)+math.Sin(0.31*t))
	return 1e9 / ns
}

func (f *fakeRun) Tick() *control.View {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ticks++
	pps := f.pps()
	f.sent += pps * fakeTick.Seconds()
	f.fast = f.sampleOf(pps)
	p := control.Point{At: f.elapsed(), PPS: pps, RxPPS: pps, Valid: true, Mark: f.turned}
	if pps > 0 {
		p.NS = 1e9 / pps
	}
	if !f.mixed {
		p.Epoch = f.epochs[len(f.epochs)-1].Number
	}
	f.turned = ""
	f.history = append(f.history, p)
	fresh := f.ticks%4 == 0 // a whole second
	if fresh {
		f.second(pps)
	}
	return f.view(fresh)
}

// second closes a whole second.
func (f *fakeRun) second(pps float64) {
	if f.mixed {
		f.mixed = false
		return
	}
	if pps == 0 {
		return
	}
	f.line.Add(pps, pps)
	f.sum = append(f.sum, 1e9/pps)
	e := &f.epochs[len(f.epochs)-1]
	var sum, dev float64
	e.MinNS, e.MaxNS = f.sum[0], f.sum[0]
	for _, ns := range f.sum {
		sum += ns
		e.MinNS, e.MaxNS = min(e.MinNS, ns), max(e.MaxNS, ns)
	}
	e.N, e.MeanNS = len(f.sum), sum/float64(len(f.sum))
	e.PPS = 1e9 / e.MeanNS
	for _, ns := range f.sum {
		dev += (ns - e.MeanNS) * (ns - e.MeanNS)
	}
	e.StdDevNS = math.NaN()
	if e.N > 1 {
		e.StdDevNS = math.Sqrt(dev / float64(e.N-1))
	}
	f.sample = f.sampleOf(pps)
	f.sample.TX.VarNS, f.sample.TX.VarMin, f.sample.TX.VarMax = f.line.VarTX, f.line.MinTX, f.line.MaxTX
}

func (f *fakeRun) sampleOf(pps float64) control.Sample {
	s := control.Sample{
		Valid: true, Interval: fakeTick, Elapsed: f.elapsed(), At: f.now(), Epoch: len(f.epochs), N: f.line.N,
		ErrNS: 0.021, TxSource: "device", RxDev: "eth1",
	}
	if f.lab {
		s.RxDev = "v1"
	}
	wire := float64(max(64, f.bench.Config.Frame.Size+4) + 20)
	s.TX = control.Flow{OK: true, PPS: pps, BpsL1: pps * 8 * wire, BpsL2: pps * 8 * (wire - 20)}
	if f.bench.Device.Speed > 0 {
		p := 100 * s.TX.BpsL1 / float64(f.bench.Device.Speed)
		s.TX.Percent = &p
	}
	if pps > 0 {
		ns := 1e9 / pps
		s.TX.NS = &ns
	}
	s.RX = s.TX
	if !f.lab {
		s.RX = control.Flow{OK: true}
	}
	return s
}

func (f *fakeRun) view(fresh bool) *control.View {
	c := f.bench.Config
	v := &control.View{
		At: f.now(), Elapsed: f.elapsed(), State: f.state, Fast: f.fast, Sample: f.sample, Line: f.line, Fresh: fresh,
		Epoch: f.epochs[len(f.epochs)-1], Epochs: append([]meter.Epoch(nil), f.epochs...), Marks: f.marks,
		Log: f.log, History: append([]control.Point(nil), f.history...), Overhead: 0.006,
		Device: control.DeviceView{
			Link:  nic.Link{Name: "eth1", Driver: "igb", MTU: 1500, Up: true, Carrier: true, Speed: 1e9, Duplex: "full", TxQueues: 4, Qdisc: "mq"},
			Speed: 1e9, Pause: "off", To: "02:00:00:00:00:fe 198.18.0.2:9",
		},
	}
	v.Instruments = fakeInstruments(f.lab, c.Burst >= 8, f.now())
	if !f.lab {
		v.Facts = fakeFacts()
	}
	if f.lab {
		v.Device = control.DeviceView{
			Link: nic.Link{Name: "v0", Driver: "veth", MTU: 1500, Up: true, Carrier: true, TxQueues: 2, Qdisc: "noqueue"},
			Lab:  true, Rx: "v1", Pause: "none", To: "02:00:00:00:00:fe 198.18.0.2:9",
		}
	}
	if rate, err := c.Rate.PPS(c.Frame.Size, f.bench.Device); err == nil && rate != nil {
		r, _ := rate.Float64()
		v.Target = &r
	}
	sent := uint64(f.sent)
	v.Ladder = control.Ladder{Ring: sent, Taken: sent, Device: &sent}
	if f.lab {
		arrived := sent
		v.Ladder.Asked, v.Ladder.Arrived = &sent, &arrived
	} else {
		v.Ladder.Gaps = []string{"arrived is unknown: no receiver (--rx DEV)"}
		v.Qdisc = &nic.Qdisc{Kind: "mq", BacklogPackets: 38}
	}
	for i := range c.Queues {
		in := 118.0
		q := control.Queue{Queue: i, CPU: c.CPUs[i%len(c.CPUs)], PPS: f.fast.TX.PPS / float64(c.Queues), User: 0.03, Kernel: 0.96, Spin: 0.01, InKernel: 118, InDevice: &in, RingFull: uint64(f.ticks) * 3001, State: f.state}
		if q.PPS > 0 {
			ns := 1e9 / q.PPS
			q.NS = &ns
		}
		v.Queues = append(v.Queues, q)
	}
	for _, k := range knob.On(&f.bench) {
		v.Knobs = append(v.Knobs, control.Knob{
			Name: k.Name, Group: string(k.Group), Value: k.Get(&f.bench), Detail: k.Detail(&f.bench), Help: k.Help, Reason: k.Unavailable(&f.bench), Family: k.Family, Known: k.Known(&f.bench),
		})
	}
	if n := len(f.marks); n >= 2 {
		a, b := f.marks[n-2], f.marks[n-1]
		v.Diff = &control.Comparison{Diff: meter.Diff{A: a, B: b, NS: a.MeanNS - b.MeanNS, CI95: 0.2, OK: true, CIOK: true, Real: true}}
	}
	return v
}

// fakeSettings are those of an igb, or of a veth that has hardly any.
func fakeSettings(lab bool) []nic.Value {
	mtu := nic.Value{Setting: nic.Setting{Name: "mtu", Range: "68 .. 9216", Min: 68, Max: 9216}, Now: "1500"}
	if lab {
		var list []nic.Value
		for _, name := range []string{"pause", "rings.tx", "rings.rx"} {
			why := "veth has no rings to set"
			if name == "pause" {
				why = "veth has no pause frames"
			}
			list = append(list, nic.Value{Setting: nic.Setting{Name: name, Why: why}})
		}
		return append(list, mtu)
	}
	return []nic.Value{
		{Setting: nic.Setting{Name: "pause", Values: pauseWalk}, Now: "off"},
		{Setting: nic.Setting{Name: "rings.tx", Range: "1 .. 4096", Min: 1, Max: 4096}, Now: "1024"},
		{Setting: nic.Setting{Name: "coalesce.adaptive-rx", Values: []string{"on", "off"}}, Now: "off"},
		{Setting: nic.Setting{Name: "irq[0]"}, Now: "0"},
		mtu,
	}
}

// fakeFacts are what an igb counts.
func fakeFacts() *control.Facts {
	rx, tx, changes := 0.0, 12.0, uint64(2)
	return &control.Facts{
		Interval: time.Second, PauseRx: &rx, PauseTx: &tx, CarrierChanges: &changes,
		Counters: []nic.StatRate{{Name: "tx_queue_0_packets", PerSecond: 1488003, Value: 1}, {Name: "tx_queue_0_restart", PerSecond: 412, Value: 1}},
		IRQs:     []nic.IRQRate{{QueueIRQ: nic.QueueIRQ{Interrupt: nic.Interrupt{Name: "eth1-TxRx-0"}}, PerSecond: 7912, On: []int{0}}},
		SoftIRQs: []control.SoftIRQ{{Kind: "NET_TX", CPU: 0, PerSecond: 7900}},
	}
}

func (f *fakeRun) note(call string) { f.did = append(f.did, call) }

// calls are what changed the run so far.
func (f *fakeRun) calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.did...)
}

func (f *fakeRun) Start() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note("start")
	f.state = engine.Running
	f.change("start")
	return nil
}

func (f *fakeRun) Stop() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note("stop")
	f.state = engine.Done
	f.change("stop")
	return nil
}

// Check finds one of each sort.
func (f *fakeRun) Check() ([]check.Finding, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note("check")
	return fakeFindings(), f.fail
}

func fakeFindings() []check.Finding {
	return []check.Finding{
		{
			Group: "link", Title: "flow control", State: check.Bad, Seen: "rx+tx", Why: "a receiver that cannot keep up stops the sender", Sure: check.Certain,
			Mend: "ethtool -A eth1 autoneg off rx off tx off", Fixable: true, Changes: []check.Change{{Setting: "pause", Value: "off"}},
		},
		{
			Group: "queues", Title: "TX interrupts", State: check.Warn, Seen: "all 4 on CPU 0", Why: "one CPU takes them all", Sure: check.Likely,
			Mend: "echo 0 >/proc/irq/36/smp_affinity_list; echo 1 >/proc/irq/37/smp_affinity_list",
		},
		{Group: "kernel", Title: "tracing", State: check.Unknown, Seen: "tracefs is not mounted"},
		{Group: "machine", Title: "machine", State: check.Info, Seen: "a guest of a hypervisor"},
		{Group: "link", Title: "MTU", State: check.OK, Seen: "1500"},
		{Group: "link", Title: "link", State: check.OK, Seen: "1 Gbit/s"},
	}
}

func (f *fakeRun) Do(line string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note(line)
	if f.fail != nil {
		return "", f.fail
	}
	c, err := knob.ParseLine(line)
	if err != nil {
		return "", err
	}
	switch c.Verb {
	case knob.DoSet:
		k, _ := knob.Find(c.Knob)
		old := k.Get(&f.bench)
		if err := f.set(c.Knob, c.Value); err != nil {
			return "", err
		}
		said := fmt.Sprintf("%s %s -> %s", c.Knob, old, k.Get(&f.bench))
		f.event(said, c.Knob)
		f.change(c.Knob + " " + k.Get(&f.bench))
		return said, nil
	case knob.DoQuit:
		return "", control.ErrQuit
	case knob.DoPreset, knob.DoSave:
		return string(c.Verb) + " " + c.Name, nil
	}
	return "", errors.New("the fake cannot " + string(c.Verb))
}

func (f *fakeRun) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note("reset")
	f.sent = 0
	f.change("reset")
}

func (f *fakeRun) Mark(name string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note("mark " + name)
	e := f.epochs[len(f.epochs)-1]
	if e.N == 0 {
		return "", errors.New("mark: the present epoch has no sample yet: wait for one")
	}
	if e.Mark = name; name == "" {
		e.Mark = string(rune('A' + len(f.marks)))
	}
	f.marks = append(f.marks, e)
	said := fmt.Sprintf("mark %s: %s, %.1f ns/packet over %d samples", e.Mark, e.Label, e.MeanNS, e.N)
	f.event(said, "")
	return said, nil
}

func (f *fakeRun) Bench() *knob.Bench {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.bench
	return &b
}
