package control

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"wirespeed/engine"
	"wirespeed/engine/meter"
	"wirespeed/nic"
)

// Kick is a moment of load from another CPU into the same queue, and what it left behind. Its three epochs are marks, too.
type Kick struct {
	Number                int
	Duration              time.Duration
	CPU                   int
	Frames                uint64 // of the helper that the kernel took; they are in no other figure
	PPS                   float64
	Before, During, After meter.Epoch
	Left                  Comparison // after against before
	Stayed                *bool      // the rate is another one than before; nil where that cannot be told
	Text                  string
}

// How a kick is measured.
const (
	kickAside  = time.Second // measured before and after
	kickSettle = 200 * time.Millisecond
	kickLook   = 50 * time.Millisecond
	kickLeast  = 0.01 // a difference that is named as one, of the ns per packet
	kickPort   = 4096 // added to the source port of the helper's frames: another flow, which no receiver's filter passes
)

// Kick sends from another CPU into the queue of the first worker for a time d, through the same qdisc, with frames of the same size and another flow, as
// fast as it goes. It measures a second before, meanwhile, and a second after it has drained, keeps all three as marks, and says whether the rate
// stayed. It blocks until then. errors.Is(err, knob.ErrUsage) where it cannot be, with the reason.
//
// The helper is an engine of its own. The device cannot tell its frames from the run's: what the kernel took of the helper is subtracted from the
// device's count, to the few frames that are on their way between the two readings; the receiver's filter does not pass them. A qdisc that
// drops frames after it has taken them (fq_codel) makes the device's count too small by the helper's part of the drops.
func (r *Run) Kick(ctx context.Context, d time.Duration) (*Kick, error) {
	k, err := r.newKick(ctx, d)
	if err != nil {
		return nil, err
	}
	return k.run()
}

// kicker is a kick under way.
type kicker struct {
	r      *Run
	ctx    context.Context
	cancel context.CancelFunc
	turns  int
	cfg    engine.Config // of the helper
	steer  func() error  // the way back of what steers it
	kick   Kick
}

// newKick checks what can be, and takes the place of what goes on.
func (r *Run) newKick(ctx context.Context, d time.Duration) (*kicker, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	cfg := r.eng.Config()
	switch {
	case !r.running():
		return nil, usage("kick: nothing is sent: start first")
	case r.apart != "":
		return nil, usage("kick: %s is under way: wait for its end", r.apart)
	case cfg.Path == engine.Bypass:
		return nil, usage("kick: path bypass goes past every queue: turn path qdisc first")
	}
	q, err := r.dev.Qdisc()
	if err != nil {
		return nil, fmt.Errorf("kick: %w", err)
	}
	if !hasBacklog(q.Kind) {
		way := "choose one with the knob qdisc, such as qdisc pfifo limit 1000"
		if r.o.Lab {
			way = "link 300Mbit shapes the lab"
		}
		return nil, usage("kick: %s has no qdisc (%s), so nothing can wait there: %s", r.o.Device, q.Kind, way)
	}
	cpu, ok := otherCPU(r.engDev.CPUs, workerCPUs(cfg))
	if !ok {
		return nil, usage("kick: this process may use the CPUs %s only, and the workers have them: it takes one more (see taskset -p)", engine.FormatCPUs(r.engDev.CPUs))
	}
	r.kicks++
	k := &kicker{r: r, turns: r.turns, kick: Kick{Number: r.kicks, Duration: d, CPU: cpu}}
	k.ctx, k.cancel = context.WithCancel(ctx)
	stop := context.AfterFunc(r.ctx, k.cancel)
	r.endSweep = func() { stop(); k.cancel() }
	k.cfg = cfg
	k.cfg.Queues, k.cfg.CPUs, k.cfg.Receive, k.cfg.FlowOffsets = 1, []int{cpu}, false, nil
	k.cfg.Rate, k.cfg.Burst, k.cfg.Segment = engine.Rate{}, 1, engine.SegmentOff
	if k.cfg.Slot == engine.SlotSegmented {
		k.cfg.Slot = engine.SlotAuto
	}
	k.cfg.Frame.SrcPort += kickPort
	r.setApart(fmt.Sprintf("kick %d", k.kick.Number))
	r.log.add("", fmt.Sprintf("kick %d: %v from CPU %d, after a second of measuring", k.kick.Number, d, cpu))
	return k, nil
}

// otherCPU is one that no worker has.
func otherCPU(allowed, workers []int) (int, bool) {
	for _, c := range slices.Backward(allowed) {
		if !slices.Contains(workers, c) {
			return c, true
		}
	}
	return 0, false
}

// run goes through with it.
func (k *kicker) run() (*Kick, error) {
	r := k.r
	err := k.measure()
	k.cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endSweep = nil
	defer r.setApart("")
	switch {
	case errors.Is(err, context.Canceled):
		r.log.add("", fmt.Sprintf("kick %d: interrupted", k.kick.Number))
		return &k.kick, err
	case err != nil:
		return &k.kick, err
	}
	k.judge()
	for _, e := range []meter.Epoch{k.kick.Before, k.kick.After} { // the last two marks: their difference is what matters
		r.epochs.keep(e)
	}
	done := k.kick
	r.kickList = append(slices.Clip(r.kickList), done)
	r.log.add("", done.Text)
	return &done, nil
}

// measure takes the three epochs.
func (k *kicker) measure() (err error) {
	if k.kick.Before, err = k.epoch(kickAside, "before"); err != nil {
		return err
	}
	if err := k.aim(); err != nil {
		return err
	}
	defer func() {
		if k.steer != nil {
			err = errors.Join(err, k.steer())
		}
	}()
	if err := k.load(); err != nil {
		return err
	}
	k.r.eng.Forgive() // frames owed meanwhile would be worked off faster than the rate that was asked, which is no state that stays
	if !sleep(k.ctx, kickSettle) {
		return k.ctx.Err()
	}
	k.kick.After, err = k.epoch(kickAside, "after")
	return err
}

// aim sees to it that the helper's frames go to the queue of the first worker, where there is more than one queue with a qdisc of its own.
func (k *kicker) aim() error {
	r := k.r
	if _, err := r.dev.QueueBytes(); errors.Is(err, nic.ErrNotSupported) || r.engDevice().Queues == 1 {
		return nil // all queues share one qdisc
	}
	used, err := r.moving(func(d time.Duration) bool { return sleep(k.ctx, d) })
	if err != nil || len(used) == 0 {
		return errors.Join(k.ctx.Err(), err, errors.New("kick: it is not known which queue the frames take"))
	}
	if err := k.ctx.Err(); err != nil {
		return err
	}
	now, _ := r.dev.XPS(used[0])
	r.cmd.Lock()
	defer r.cmd.Unlock()
	if k.steer, err = r.guard.SetXPS(used[0], append(slices.Clone(now), k.kick.CPU)); err != nil {
		return fmt.Errorf("kick: the helper cannot be steered into queue %d: %w", used[0], err)
	}
	return nil
}

// load runs the helper, and measures the run meanwhile.
func (k *kicker) load() (err error) {
	r := k.r
	helper, err := r.parts.engine(r.engDevice(), nil, k.cfg)
	if err != nil {
		return fmt.Errorf("kick: %w", err)
	}
	r.mu.Lock()
	r.helper = helper
	r.mu.Unlock()
	began := time.Now()
	defer func() {
		err = errors.Join(err, helper.Stop()) // drained, so that its count is final
		r.mu.Lock()
		var s engine.Snapshot
		helper.Snapshot(&s)
		k.kick.Frames = s.Taken.Count
		k.kick.PPS = float64(s.Taken.Count) / max(s.Since, time.Millisecond).Seconds()
		r.helped += s.Taken.Count
		r.helper = nil
		r.mu.Unlock()
		err = errors.Join(err, helper.Close())
	}()
	if err := helper.Start(engine.Limit{}); err != nil {
		return fmt.Errorf("kick: %w", err)
	}
	k.kick.During, err = k.epoch(max(k.kick.Duration-time.Since(began), 2*kickLook), "during")
	return err
}

// epoch measures for a time, in short samples, and keeps what it was as an epoch and a mark.
func (k *kicker) epoch(d time.Duration, name string) (meter.Epoch, error) {
	r := k.r
	r.mu.Lock()
	label := fmt.Sprintf("%s kick %d", name, k.kick.Number)
	if name == "during" {
		label = fmt.Sprintf("kick %d", k.kick.Number)
	}
	b := meter.NewEpoch(r.epochs.take(), label)
	first := r.take(kickLook)
	w := window{from: first}
	around := circumstance{knobs: knobsOf(r.bench()), regimes: map[string]int{}}
	turned := r.turns != k.turns
	r.mu.Unlock()
	if turned {
		return meter.Epoch{}, errTurned
	}
	due := time.Now()
	for end := due.Add(d); due.Before(end); {
		due = due.Add(min(kickLook, end.Sub(due)))
		if !sleep(k.ctx, time.Until(due)) {
			return meter.Epoch{}, k.ctx.Err()
		}
		r.mu.Lock()
		now := r.take(kickLook)
		s := r.sample(w, now)
		if s.Valid {
			b.Add(s.TX.PPS, s.Interval.Seconds())
		}
		w.next(now)
		r.mu.Unlock()
	}
	e := b.Epoch()
	e.Mark = label
	r.mu.Lock()
	defer r.mu.Unlock()
	if word := r.regimeOf(first, w.from, r.sample(window{from: first}, w.from).TX.Percent); word != "" {
		around.regimes[word]++
	}
	r.epochs.insert(e, around)
	return e, nil
}

// judge says what the kick left behind. The caller holds mu.
func (k *kicker) judge() {
	r := k.r
	c := r.epochs.compare(k.kick.Before, k.kick.After)
	k.kick.Left = c
	text := fmt.Sprintf("kick %d: %s pps for %v from CPU %d; %s ns per packet before, %s meanwhile, %s after: ", k.kick.Number,
		meter.Number(k.kick.PPS, 0), k.kick.Duration, k.kick.CPU,
		meter.Number(k.kick.Before.MeanNS, 1), meter.Number(k.kick.During.MeanNS, 1), meter.Number(k.kick.After.MeanNS, 1))
	switch {
	case r.turns != k.turns:
		text += "a knob was turned meanwhile, so nothing follows"
	case !c.OK || !c.CIOK:
		text += "too few samples to say whether the rate stayed"
	case c.Real && math.Abs(c.NS) >= kickLeast*k.kick.Before.MeanNS:
		word := "faster"
		if c.NS < 0 {
			word = "slower"
		}
		stayed := true
		k.kick.Stayed = &stayed
		text += fmt.Sprintf("it stayed %s than before by %s ± %s ns (hysteresis)", word, meter.Number(math.Abs(c.NS), 1), meter.Number(c.CI95, 1))
	default:
		stayed := false
		k.kick.Stayed = &stayed
		text += fmt.Sprintf("the rate is as before, within %s ± %s ns", meter.Number(math.Abs(c.NS), 1), meter.Number(c.CI95, 1))
	}
	k.kick.Text = text + c.regimes()
}

// helpersCount is what the kernel took of helpers, which the device counts with ours. The caller holds mu.
func (r *Run) helpersCount() uint64 {
	n := r.helped
	if r.helper != nil {
		var s engine.Snapshot
		r.helper.Snapshot(&s)
		n += s.Taken.Count
	}
	return n
}

// startKick begins a kick that goes on by itself, for a key or a line that was typed.
func (r *Run) startKick(d time.Duration) (string, error) {
	r.mu.Lock()
	ctx := r.ctx
	r.mu.Unlock()
	if ctx == nil {
		return "", usage("kick: nothing is sent: start first")
	}
	k, err := r.newKick(ctx, d)
	if err != nil {
		return "", err
	}
	r.spawn(func() {
		if _, err := k.run(); err != nil && !errors.Is(err, context.Canceled) {
			r.log.add("", err.Error())
		}
	})
	return fmt.Sprintf("kick %d: a second of measuring, %v of load from CPU %d, and a second after it", k.kick.Number, d, k.kick.CPU), nil
}
