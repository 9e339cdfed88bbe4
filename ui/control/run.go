package control

import (
	"context"
	"errors"
	"sync"
	"time"

	"wirespeed/engine"
	"wirespeed/engine/far"
	"wirespeed/engine/meter"
	"wirespeed/nic"
	"wirespeed/presets/knob"
)

// Options are what a run is made of; the command line fills them.
type Options struct {
	Device   string        // the sending device; in the lab its name there
	Rx       string        // receiving device, "" none; in the lab the peer's name there
	Lab      bool          // both devices are a lab's: nobody's but ours
	Foreign  [6]byte       // with Lab: the address that frames go to unless dst-mac is set
	Console  bool          // a person is watching: the lab then begins at 100kpps instead of max
	IKnow    bool          // send even where it could cut the operator off
	Interval time.Duration // of the line; 0 is 1s
	Settings []Setting     // preset steps, then flags, in the order they apply
	Preset   string        // whose settings and steps these are, "" none
	Needs    []knob.Need   // of the preset
	Script   []Step        // commands as they come, after the start
	Scripted bool          // there is a script, even if it says nothing: its end is the run's, unless Limit is
	Limit    engine.Limit
	Far      string // address of a sink that tells what arrives there, "" none
	FarKey   far.Key
	Keep     bool // leave what was changed on the device as it is in the end
	DryRun   bool // change nothing: Plan lists what would be
}

// Setting is one knob and its value as text.
type Setting = knob.Setting

// Run is one run as both front ends show it. All methods may be called from any goroutine.
type Run struct {
	// Set by New and never again.
	o      Options
	parts  parts
	origin time.Time // of all readings of devices
	dev    device
	rxDev  counter // nil without a receiving device
	rxLink nic.Link
	far    farLink
	noXDP  error // why there can be no XDP sink
	eng    sender
	life   context.Context // until Close
	die    context.CancelFunc
	busy   sync.WaitGroup // all goroutines
	freed  chan struct{}  // closed when Close is through
	log    journal
	guard  guard
	inst   instruments // locks itself
	tracer tracer      // likewise
	plan   []string    // what the command line changes on the device

	steering *placement   // locks itself
	offloads changes      // likewise
	unshape  func() error // takes the lab's link away, nil without one; guarded by cmd

	facts     facts   // keepWatch's alone
	operators nameSet // settings that the operator has turned

	notesLock sync.Mutex
	notes     []string

	cmd      sync.Mutex // held by whoever changes the run; guards the next two
	closed   bool
	restored error // what putting things back has come to

	mu sync.Mutex // guards what follows

	// The devices as they are now.
	link      nic.Link
	engDev    engine.Device
	stated    uint64 // speed of the link that was stated or made, bit/s; 0 none
	pause     string
	values    []nic.Value // the slice is never written to
	readings  int         // how often they were read
	shown     *Facts
	downSince time.Time     // of the last loss of carrier
	outage    time.Duration // without carrier since the statistics began, the present loss apart

	// The present run, or the last one.
	ctx     context.Context // ends with it; nil before the first
	halt    context.CancelFunc
	done    chan struct{}
	started time.Time
	ended   time.Time
	counted time.Time // since when the statistics count
	failure error     // why it ended before its time
	quit    bool      // a line said so

	// The statistics.
	base      look // where they begin
	deaf      bool // the receiver was off for a part of them
	baseLive  bool // frames flowed then: its counts are not of one moment
	maxed     bool // there was no schedule for a part of them
	qdisc     *nic.Qdisc
	qdiscBase *nic.Qdisc
	dropping  bool // the qdisc dropped frames since the look before
	fast      window
	instant   Sample // of the fast window
	line      window
	due       time.Time // of the line's next sample; zero when none is
	last      Sample    // of the line
	fresh     bool      // no view has shown it yet
	gauge     gauge
	gauged    *Instruments // of the last look
	epochs    epochs
	loss      loss
	hearing   hearing
	over      overhead
	rows      rows
	panel     panel
	history   []Point
	progress  *Progress          // of the steps under way, nil none
	endSteps  context.CancelFunc // of a preset called while frames flow
	turned    string             // what changed since the last tick: a mark in the charts
	turns     int                // of knobs by the operator
	apart     string             // what goes on whose samples belong to no epoch: a sweep, a kick; "" nothing
	sweep     *Sweep             // the one under way or the last one
	endSweep  func()             // nil where none is under way
	helper    sender             // of the kick under way, nil without one
	helped    uint64             // frames of helpers that are gone
	kicks     int
	kickList  []Kick
}

// spawn starts a goroutine that Close waits for.
func (r *Run) spawn(f func()) {
	r.busy.Add(1)
	engine.Spawn(func() {
		defer r.busy.Done()
		f()
	})
}

// Start begins sending, with all statistics anew. A run that has ended may be started again; one under way goes on.
func (r *Run) Start() error {
	r.cmd.Lock()
	defer r.cmd.Unlock()
	if r.closed {
		return errors.New("the run is closed")
	}
	if r.isRunning() {
		return nil
	}
	steps, err := r.turnFirst(r.o.Script)
	if err != nil {
		return err
	}
	r.place()
	r.prepareSegments(r.eng.Config())
	r.farBegins()

	r.mu.Lock()
	defer r.mu.Unlock()
	r.failure, r.history, r.last, r.fresh = nil, nil, Sample{}, false
	// Before the first frame both counters stand still: the ladder begins exact.
	r.restart("start", 0)
	r.rows.restart(look{}) // workers are hired anew
	r.inst.restart()
	if err := r.eng.Start(r.o.Limit); err != nil {
		return err
	}
	// Nothing has moved up to t0: the first sample begins there, and is a whole one.
	var s engine.Snapshot
	r.eng.Snapshot(&s)
	r.started = time.Now().Add(-s.Since)
	r.counted = r.started
	first := r.base.shifted(r.started)
	first.engine.State = engine.Running
	r.fast.next(first)
	r.line.next(first)
	r.due = r.started.Add(r.o.Interval)

	r.ctx, r.halt = context.WithCancel(r.life)
	r.done = make(chan struct{})
	ctx, ended := r.ctx, r.eng.Done()
	r.spawn(func() { r.follow(ctx, ended) })
	if len(r.o.Script) > 0 || r.o.Scripted {
		r.spawn(func() { r.play(ctx, steps) })
	}
	r.spawnClimb()
	if !r.link.Carrier {
		r.log.add("", "no carrier on "+r.link.Name)
	}
	return nil
}

// shifted is a look that would have read the same at another time.
func (l look) shifted(to time.Time) look {
	by := to.Sub(l.at)
	l.at = to
	for _, m := range []*meter.Reading{&l.tx, &l.rx, &l.engine.Ring, &l.engine.Taken, &l.engine.Arrived} {
		m.At += by
	}
	return l
}

// isRunning is running for who does not hold mu.
func (r *Run) isRunning() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running()
}

// running says whether a run is under way. The caller holds mu.
func (r *Run) running() bool { return r.ctx != nil && r.ctx.Err() == nil }

// listen passes on what the engine says, until Close.
func (r *Run) listen() {
	for {
		select {
		case e, ok := <-r.eng.Events():
			if !ok {
				return
			}
			if !r.isGone() { // one line says it all then
				r.log.add("", e.Text)
			}
		case <-r.life.Done():
			return
		}
	}
}

// Done is closed when the present run has ended, by itself or by Stop. It is nil before the first Start.
func (r *Run) Done() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done
}

// News receives a token when the log has something new, so that a front end need not wait for its next tick. One reader.
func (r *Run) News() <-chan struct{} { return r.log.news }

// Events returns the log as it is now, newest last. The caller must not write to it.
func (r *Run) Events() []Event { return r.log.events() }

// Bench is a copy of what the knobs see, for feedback while a value is typed. Turning its knobs changes the copy only.
func (r *Run) Bench() *knob.Bench {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bench()
}

// liveBench is a Bench whose knobs turn the run itself. The caller holds cmd.
func (r *Run) liveBench() *knob.Bench {
	b := r.Bench()
	b.Apply, b.SetNIC, b.SetLink, b.SetTrace = r.apply, r.setNIC, r.setLink, r.setTrace
	return b
}

// bench makes a Bench. The caller holds mu, or is New.
func (r *Run) bench() *knob.Bench {
	b := &knob.Bench{
		Device: r.engDev, Lab: r.o.Lab, Settings: r.values, Link: r.stated, Trace: r.tracing(), OwnSpeed: r.link.Speed, OwnSpeedWhy: r.link.SpeedWhy,
	}
	if r.eng != nil {
		b.Config = r.eng.Config()
	}
	if r.rxDev != nil {
		b.Rx = knob.Receiving{Driver: r.rxLink.Driver, MAC: r.rxLink.MAC, NoXDP: text(r.noXDP), Denied: errors.Is(r.noXDP, engine.ErrNotPermitted)}
	}
	switch {
	case r.o.Lab:
		to := r.o.Foreign // where frames go by default
		b.RxMAC = &to
	case r.rxDev != nil:
		to := r.rxLink.MAC
		b.RxMAC = &to
	}
	return b
}

// Reset begins the statistics anew (key r): ladder, epochs, line and extremes. Marks stay.
func (r *Run) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.restart("reset", r.epochs.number)
	r.farResets()
	r.log.add("", "statistics reset")
	if r.running() {
		r.counted = r.base.at
		r.due = r.counted.Add(r.o.Interval)
	}
}

// Resume is called after SIGCONT: the debt of the schedule is forgiven, the sample is invalid and a new epoch begins.
func (r *Run) Resume() {
	r.eng.Forgive()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fast.broken, r.line.broken = true, true
	r.change("resumed", false)
	r.log.add("", "resumed after a stop")
}
