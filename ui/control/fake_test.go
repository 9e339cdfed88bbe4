package control

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wirespeed/engine"
	"wirespeed/engine/meter"
	"wirespeed/nic"
	"wirespeed/nic/check"
)

// world is a machine made of values: an engine that sends at exactly the rate it is told, and a device that counts what leaves. It lives
// in a synctest bubble, whose clock is exact.
type world struct {
	mu      sync.Mutex
	origin  time.Time
	since   time.Time // the last time that count was brought up to date
	carrier bool
	notice  bool // the engine knows of the carrier
	pps     float64
	ring    float64
	taken   float64
	device  float64
	arrived float64
	others  uint64 // frames of others on the device
	missed  uint64

	cost func(c engine.Config, asked float64) float64 // pps that leave of those asked (0: max); nil: all, or the world's own
	tail func(c engine.Config) uint64                 // frames that wait in the qdisc; nil: none

	helperErr error
	oneCPU    bool
	helping   bool    // a helper sends, too
	helped    float64 // its frames

	ifb    bool // the device counts nothing as transmitted
	coarse time.Duration
	shown  uint64 // by a coarse device

	cfg     engine.Config
	dev     engine.Device
	state   engine.State
	started time.Time
	ended   time.Time
	done    chan struct{}
	err     error
	events  chan engine.Event
	forgave int
	closed  int
	limit   engine.Limit

	link    nic.Link
	watch   func(nic.Change)
	watches sync.WaitGroup
	protect string
	bracket time.Duration // of the next reads of the device's counters
	devRead int
	qdisc   *nic.Qdisc
	queues  func() []nic.QueueQdisc // what the instruments see; nil: it cannot be read
	limits  func(queue int) nic.Limits
	pause   error

	whole, fixed bool // the device takes super-frames whole, and cannot be told not to

	settings []nic.Value // of the device, in order
	held     error       // why the guard cannot be had
	changes  []nic.Delta // by the guard, oldest first
	foreign  []nic.Foreign
	keep     bool
	released int
	findings []check.Finding
	slow     chan struct{} // not nil: holds one token, and giving the device back takes ten seconds
	stats    []nic.Stat
	paused   nic.PauseFrames

	heard engine.Received // by a verifying receiver

	xps      map[int][]int
	xpsErr   error
	restored []int
	bytes    func() []uint64
}

func newWorld() *world {
	now := time.Now()
	w := &world{
		origin: now, since: now, carrier: true, notice: true,
		link: nic.Link{
			Name: "tx0", Index: 7, Driver: "igb", MAC: [6]byte{2, 0, 0, 0, 0, 1}, MTU: 1500, Up: true, Carrier: true,
			Speed: 1e9, Duplex: "full", TxQueues: 1, Qdisc: "pfifo_fast",
		},
		events: make(chan engine.Event, 8), xps: map[int][]int{}, qdisc: &nic.Qdisc{Kind: "pfifo_fast"},
	}
	return w
}

// step brings the counts up to the present. The caller holds mu.
func (w *world) step() {
	now := time.Now()
	d := now.Sub(w.since).Seconds()
	w.since = now
	if w.limit.Duration > 0 && w.state == engine.Running && now.Sub(w.started) >= w.limit.Duration {
		over := now.Sub(w.started) - w.limit.Duration
		d = max(0, d-over.Seconds())
		defer w.end(now.Add(-over))
	}
	if w.state != engine.Running || !w.notice {
		return
	}
	pps := w.rate()
	w.ring += pps * d
	w.taken += pps * d
	if w.helping {
		w.helped += helperPPS * d
		w.device += helperPPS * d
	}
	if w.carrier {
		w.device += pps * d
		w.arrived += pps * d
	}
}

// rate is what the configuration asks, or the world's own for max.
func (w *world) rate() float64 {
	asked := 0.0
	if r, err := w.cfg.Rate.PPS(w.cfg.Frame.Size, w.dev); err == nil && r != nil {
		asked, _ = r.Float64()
	}
	switch {
	case w.cost != nil:
		return w.cost(w.cfg, asked)
	case asked > 0:
		return asked
	}
	return w.pps
}

func (w *world) end(at time.Time) {
	if w.done == nil || w.state == engine.Done {
		return
	}
	w.state, w.ended = engine.Done, at
	close(w.done)
}

type fakeEngine struct{ *world }

func (w fakeEngine) Start(l engine.Limit) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.step()
	w.state, w.started, w.done, w.limit = engine.Running, time.Now(), make(chan struct{}), l
	if l.Duration > 0 {
		time.AfterFunc(l.Duration, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.step()
		})
	}
	return nil
}

func (w fakeEngine) Stop() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.step()
	w.end(time.Now())
	return w.err
}

func (w fakeEngine) Done() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done
}

func (w fakeEngine) Apply(c engine.Config) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := c.Validate(w.dev); err != nil {
		return err
	}
	w.step()
	w.cfg = c
	return nil
}

func (w fakeEngine) Config() engine.Config {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cfg
}

func (w fakeEngine) SetCarrier(up bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.step()
	w.notice = up
}

func (w fakeEngine) SetDevice(d engine.Device) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dev = d
}

func (w fakeEngine) Forgive() { w.forgave++ }

func (w fakeEngine) Snapshot(s *engine.Snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.step()
	at := time.Since(w.origin)
	reading := func(n float64) meter.Reading { return meter.Reading{Count: uint64(n + 1e-6), At: at, OK: true} }
	*s = engine.Snapshot{
		State: w.state, Ring: reading(w.ring), Taken: reading(w.taken), Missed: w.missed, Err: w.err,
		Asked: uint64(w.ring + 1e-6), AskedOK: !w.cfg.Rate.IsMax(),
	}
	if w.cfg.Receive {
		s.Arrived = reading(w.arrived)
	}
	switch {
	case w.state == engine.Running && !w.notice:
		s.State = engine.NoCarrier
	case w.err != nil:
		s.State = engine.Failed
	}
	if !w.started.IsZero() {
		s.Since = time.Since(w.started)
		if w.state == engine.Done {
			s.Since = w.ended.Sub(w.started)
		}
	}
	for i, cpu := range workerCPUs(w.cfg) {
		ws := engine.WorkerSnapshot{Queue: i, CPU: cpu, TID: 100 + i, State: s.State}
		if i == 0 {
			ws.Ring, ws.Taken = uint64(w.ring+1e-6), uint64(w.taken+1e-6)
		}
		s.Workers = append(s.Workers, ws)
	}
}

func (w fakeEngine) Received() (engine.Received, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.heard, w.cfg.Verify, nil
}

func (w fakeEngine) Now() time.Duration          { return time.Since(w.origin) }
func (w fakeEngine) Events() <-chan engine.Event { return w.events }
func (w fakeEngine) Close() error                { w.closed++; return nil }

type fakeDevice struct{ *world }

func (w fakeDevice) Link() (nic.Link, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.link, nil
}

func (w fakeDevice) Counters() (nic.Counters, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.step()
	w.devRead++
	now := time.Now()
	c := nic.Counters{Before: now.Add(-w.bracket / 2), After: now.Add(w.bracket / 2), TxPackets: uint64(w.device+1e-6) + w.others}
	if w.ifb {
		c.RxPackets, c.TxPackets = c.TxPackets, 0
	}
	if w.coarse > 0 {
		if now.Sub(w.origin)%w.coarse < 100*time.Millisecond {
			w.shown = c.TxPackets
		}
		c.TxPackets = w.shown
	}
	return c, nil
}

func (w fakeDevice) Close() error { w.watches.Wait(); return nil }

func (w fakeDevice) Watch(ctx context.Context, f func(nic.Change)) error {
	w.mu.Lock()
	link := w.link
	w.watch = f
	w.mu.Unlock()
	w.watches.Go(func() { f(nic.Change{Link: link}) })
	return nil
}

func (w fakeDevice) Pause() (nic.Pause, error) { return nic.Pause{RX: true, TX: true}, w.pause }

func (w fakeDevice) Qdisc() (nic.Qdisc, error) {
	if w.qdisc == nil {
		return nic.Qdisc{}, nic.ErrNotSupported
	}
	q := *w.qdisc
	if w.tail != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		q.BacklogPackets = w.tail(w.cfg)
	}
	return q, nil
}

func (w fakeDevice) QueueBytes() ([]uint64, error) {
	if w.bytes == nil {
		return nil, nic.ErrNotSupported
	}
	return w.bytes(), nil
}

func (w fakeDevice) InFlight(int) (uint64, error) { return 0, nic.ErrNotSupported }

func (w fakeDevice) Qdiscs(into []nic.QueueQdisc) ([]nic.QueueQdisc, error) {
	if w.queues == nil {
		return nil, nic.ErrNotSupported
	}
	return append(into[:0], w.queues()...), nil
}

func (w fakeDevice) Limits(queue int) (nic.Limits, error) {
	if w.limits == nil {
		return nic.Limits{}, nic.ErrNotSupported
	}
	return w.limits(queue), nil
}

func (w fakeDevice) Feature(string) (nic.Feature, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return nic.Feature{On: w.whole, Requested: w.whole, Fixed: w.fixed}, nil
}

func (w fakeDevice) SetFeature(_ string, on bool) (func() error, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.whole
	if was == on {
		return nil, nil
	}
	if w.fixed {
		return nil, nic.ErrNotSupported
	}
	w.whole = on
	return func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.whole = was
		return nil
	}, nil
}

func (w fakeDevice) XPS(q int) ([]int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.xps[q], nil
}

func (w fakeDevice) SetXPS(q int, cpus []int) (func() error, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.xpsErr != nil {
		return nil, w.xpsErr
	}
	old := w.xps[q]
	w.xps[q] = cpus
	return func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.xps[q] = old
		w.restored = append(w.restored, q)
		return nil
	}, nil
}

func (w fakeDevice) Protected() (string, error) { return w.protect, nil }

func (w fakeDevice) Values() []nic.Value {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.settings)
}

func (w fakeDevice) Stats() ([]nic.Stat, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.stats), nil
}

func (w fakeDevice) PauseFrames() (nic.PauseFrames, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.paused, nil
}

func (w fakeDevice) Interrupts() ([]nic.QueueIRQ, error) { return nil, nil }
func (w fakeDevice) CarrierChanges() (uint64, error)     { return 2, nil }

// fakeGuard changes the world's settings and remembers what they were.
type fakeGuard struct{ fakeDevice }

func (g fakeGuard) Set(name, text string) (string, func() error, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, s := range g.settings {
		if s.Name != name {
			continue
		}
		if s.Why != "" {
			return "", nil, nic.ErrNotSupported
		}
		if s.Now == text {
			return text, nil, nil
		}
		g.put(i, text, true)
		g.changes = append(g.changes, nic.Delta{Name: name, Before: s.Now, Wrote: text, Now: text})
		if name == "mtu" {
			g.link.MTU, _ = strconv.Atoi(text)
		}
		return text, func() error {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.put(i, s.Now, false)
			g.changes = slices.DeleteFunc(g.changes, func(d nic.Delta) bool { return d.Name == name })
			return nil
		}, nil
	}
	return "", nil, nic.ErrNotSupported
}

// put changes a setting in a new slice. The caller holds mu.
func (g fakeGuard) put(i int, text string, ours bool) {
	g.settings = slices.Clone(g.settings)
	g.settings[i].Now, g.settings[i].Ours = text, ours
}

func (g fakeGuard) Look() []nic.Foreign {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := g.foreign
	g.foreign = nil
	return list
}

func (g fakeGuard) Diff() []nic.Delta {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.changes)
}

func (g fakeGuard) Keep(keep bool) { g.world.keep = keep }

func (g fakeGuard) Close() (notes []string, err error) {
	if g.slow != nil {
		<-g.slow // as long as another does
		if g.released == 0 {
			time.Sleep(10 * time.Second)
		}
		defer func() { g.slow <- struct{}{} }()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.released++
	for _, d := range slices.Backward(g.changes) {
		if g.keep {
			notes = append(notes, d.Name+" is kept")
			continue
		}
		for i, s := range g.settings {
			if s.Name == d.Name {
				g.put(i, d.Before, false)
			}
		}
	}
	g.changes = nil
	return notes, nil
}

// parts opens the world as a machine.
func (w *world) parts() parts {
	return parts{
		device: func(name string) (device, error) {
			if name != "tx0" && name != "rx0" {
				return nil, nic.ErrNotFound
			}
			return fakeDevice{w}, nil
		},
		guard: func(device, bool) (guard, []string, error) {
			if w.held != nil {
				return nil, nil, w.held
			}
			return fakeGuard{fakeDevice{w}}, nil, nil
		},
		engine: func(dev engine.Device, _ *engine.Device, cfg engine.Config) (sender, error) {
			if w.dev.Name != "" {
				return fakeHelper{fakeEngine{w}, cfg}, w.helperErr
			}
			w.dev, w.cfg = dev, cfg
			return fakeEngine{w}, nil
		},
		sinkable: func() error { return errors.New("no sink in this world") },
		cpus: func() ([]int, error) {
			if w.oneCPU {
				return []int{0}, nil
			}
			return []int{0, 1, 2, 3}, nil
		},
		threadWait:  func(int) (time.Duration, error) { return 0, errors.New("none") },
		threadTime:  func(int) (time.Duration, error) { return 0, errors.New("none") },
		processTime: func() (time.Duration, error) { return 0, errors.New("none") },
		check:       func(string) ([]check.Finding, error) { return w.findings, nil },
	}
}

// setLink tells of a change of the link as the kernel would, late after the fact.
func (w *world) setLink(late time.Duration, change func(*nic.Link)) {
	w.mu.Lock()
	w.step()
	change(&w.link)
	w.carrier = w.link.Carrier
	link, f := w.link, w.watch
	w.mu.Unlock()
	time.Sleep(late)
	f(nic.Change{Link: link})
}

// inBubble runs a test on a run over a world, on an exact clock. prepare may change both before the run is opened.
func inBubble(t *testing.T, prepare func(*world, *Options), f func(t *testing.T, w *world, r *Run)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.pps = 1e6
		o := Options{Device: "tx0", Interval: time.Second, Settings: []Setting{{Knob: "dst-mac", Value: "02:00:00:00:00:02"}}}
		if prepare != nil {
			prepare(w, &o)
		}
		r, err := open(o, w.parts())
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := r.Close(t.Context()); err != nil {
				t.Errorf("close: %v", err)
			}
			if w.closed != 1 {
				t.Errorf("the engine was closed %d times", w.closed)
			}
		}()
		synctest.Wait() // the first call of the watch
		f(t, w, r)
	})
}

// start starts a run or ends the test.
func start(t *testing.T, r *Run) {
	t.Helper()
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
}

// tick lets time pass to the next sample of the line and takes it.
func tick(t *testing.T, r *Run) *View {
	t.Helper()
	time.Sleep(time.Until(r.Due()))
	v := r.Tick()
	if !v.Fresh {
		t.Fatalf("no sample at %v", v.Elapsed)
	}
	return v
}
