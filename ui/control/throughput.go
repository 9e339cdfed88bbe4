package control

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"wirespeed/engine"
	"wirespeed/engine/meter"
)

// RFC2544Sizes are the seven frame sizes of RFC 2544, section 9.1, in bytes with FCS.
var RFC2544Sizes = []int{64, 128, 256, 512, 1024, 1280, 1518}

// ThroughputSpec says how a throughput test is made.
type ThroughputSpec struct {
	Sizes      []int // bytes with FCS; nil: the seven
	Trial      time.Duration
	Tolerance  float64 // share of frames that may be lost in a trial that passes, 0 to 1
	Resolution float64 // how finely a rate is found, as a share of it, 0 to 1
}

// SizeResult is what was found for one size.
type SizeResult struct {
	Size     int
	Line     float64 // pps that the link can carry, 0 unknown
	Most     Trial   // as fast as it goes
	Best     *Trial  // the fastest without loss; nil where none was
	Limit    string  // what keeps it from more: VerdictLoss, VerdictReceiver, VerdictSender, or "line rate"
	Curve    []Trial // frame loss by rate, from the highest down, until two in a row are without
	Longest  uint64  // frames of the longest burst at full speed without loss; 0 where there was none
	AtLeast  bool    // nothing longer was tried: it has no end
	Skipped  string  // why the size was not tested
	trials   []Trial // all of them
	complete bool    // nothing is missing
}

// Trials are all trials of the size, in the order in which they were made.
func (s *SizeResult) Trials() []Trial { return s.trials }

// Complete says whether all was measured.
func (s *SizeResult) Complete() bool { return s.complete || s.Skipped != "" }

// Throughput is a throughput test as far as it has come.
type Throughput struct {
	ThroughputSpec
	Sender, Receiver string // devices, or the far end
	Sizes            []*SizeResult
	Ended            string // why it ended before its time, "" if it did not
}

// LineRate is the word of SizeResult.Limit where the link itself is the limit.
const LineRate = "line rate"

// The steps of the frame loss curve (RFC 2544 section 26.3: no coarser than 10 %), and how close to the line rate is the line rate.
const (
	curveSteps = 10
	atLineRate = 0.995
)

// trier makes one trial; tests have another machine.
type trier func(ctx context.Context, size int, pps float64, limit engine.Limit) (Trial, error)

// Throughput makes the test of RFC 2544, sections 26.1 (throughput), 26.3 (frame loss rate) and 26.4 (back-to-back frames), for each size. tell is
// called after every trial, from the caller's goroutine. It blocks until it is over; what there is by then is returned in any case. When
// ctx ends it ends in order, which is no error. The run must not be under way.
func (r *Run) Throughput(ctx context.Context, spec ThroughputSpec, tell func(Trial)) (*Throughput, error) {
	t := &Throughput{ThroughputSpec: spec, Sender: r.o.Device, Receiver: r.o.Rx}
	if r.o.Rx == "" {
		t.Receiver = r.o.Far
	}
	b := r.Bench()
	if t.Receiver == "" || r.o.Far == "" && !b.Config.Receive && !b.Config.Sink.XDP {
		return t, usage("throughput: loss is told by a receiver: name one with --rx DEV or --far HOST:PORT, and leave it on")
	}
	fits := func(size int) string {
		r.mu.Lock()
		defer r.mu.Unlock()
		c := r.eng.Config()
		c.Frame = c.Frame.At(size - 4) // where the size is a mix, one is sent after the other
		return text(c.Validate(r.engDev))
	}
	err := t.run(ctx, r.trial, r.lineRate, fits, tell)
	if errors.Is(err, context.Canceled) {
		t.Ended, err = "interrupted", nil
	} else if err != nil {
		t.Ended = err.Error()
	}
	return t, err
}

// run goes through the sizes.
func (t *Throughput) run(ctx context.Context, try trier, line func(int) float64, fits func(int) string, tell func(Trial)) error {
	sizes := t.ThroughputSpec.Sizes
	if sizes == nil {
		sizes = RFC2544Sizes
	}
	for _, size := range sizes {
		s := &SizeResult{Size: size, Line: line(size)}
		t.Sizes = append(t.Sizes, s)
		if s.Skipped = fits(size); s.Skipped != "" {
			continue
		}
		one := func(pps float64, l engine.Limit) (Trial, error) {
			trial, err := try(ctx, size, pps, l)
			if err != nil {
				return trial, err
			}
			s.trials = append(s.trials, trial)
			tell(trial)
			return trial, nil
		}
		if err := t.size(s, one); err != nil {
			return err
		}
	}
	return nil
}

// size makes the three tests of one size.
func (t *Throughput) size(s *SizeResult, try func(pps float64, l engine.Limit) (Trial, error)) (err error) {
	whole := engine.Limit{Duration: t.Trial}
	if s.Most, err = try(s.Line, whole); err != nil {
		return err
	}
	if s.Most.Verdict(t.Tolerance) == VerdictUnknown {
		return errors.New("throughput: what arrives is not known: no loss can be told")
	}
	if err := t.highest(s, try, whole); err != nil {
		return err
	}
	if err := t.curve(s, try, whole); err != nil {
		return err
	}
	if err := t.backToBack(s, try); err != nil {
		return err
	}
	s.complete = true
	return nil
}

// passes says whether a trial was without loss. A sender that could not keep up shows no loss at the rate that left.
func (t *Throughput) passes(trial Trial) bool {
	v := trial.Verdict(t.Tolerance)
	return v == VerdictClean || v == VerdictSender
}

// highest finds the highest rate without loss by halving (RFC 2544 section 26.1).
func (t *Throughput) highest(s *SizeResult, try func(float64, engine.Limit) (Trial, error), whole engine.Limit) error {
	keep := func(trial Trial) {
		if t.passes(trial) && (s.Best == nil || trial.PPS > s.Best.PPS) {
			s.Best = &trial
		}
	}
	keep(s.Most)
	if s.Best != nil {
		s.Limit = VerdictSender
		if s.Line > 0 && s.Most.PPS >= atLineRate*s.Line {
			s.Limit = LineRate
		}
		return nil
	}
	s.Limit = s.Most.Verdict(t.Tolerance)
	_, err := t.halve(s.Most.PPS, func(pps float64) (bool, error) {
		trial, err := patiently(try, pps, whole)
		if err != nil {
			return false, err
		}
		keep(trial)
		if !t.passes(trial) {
			s.Limit = trial.Verdict(t.Tolerance)
		}
		return t.passes(trial), nil
	})
	if s.Best != nil && s.Best.Behind {
		s.Limit = VerdictSender
	}
	return err
}

// halve finds the highest place below high, which does not pass, that passes, to the resolution; 0 where none does.
func (t *Throughput) halve(high float64, passes func(float64) (bool, error)) (low float64, err error) {
	for high-low > math.Max(1, t.Resolution*high) {
		x := math.Floor((low + high) / 2)
		ok, err := passes(x)
		switch {
		case err != nil:
			return low, err
		case ok:
			low = x
		default:
			high = x
		}
	}
	return low, nil
}

// tries is how often a trial is made whose sender was kept from its work, by another program most likely.
const tries = 3

// patiently makes a trial again where fewer frames left than were asked, and none was lost: it says nothing about the rate asked.
func patiently(try func(float64, engine.Limit) (Trial, error), pps float64, l engine.Limit) (t Trial, err error) {
	for range tries {
		if t, err = try(pps, l); err != nil || !t.Behind || t.Lost > 0 {
			break
		}
	}
	return t, err
}

// curve measures the loss from the highest rate down in tenths, until two in a row are without (section 26.3).
func (t *Throughput) curve(s *SizeResult, try func(float64, engine.Limit) (Trial, error), whole engine.Limit) error {
	clean := 0
	for i := curveSteps; i > 0 && clean < 2; i-- {
		trial := s.Most
		if i < curveSteps {
			var err error
			if trial, err = try(s.Most.PPS*float64(i)/curveSteps, whole); err != nil {
				return err
			}
		}
		s.Curve = append(s.Curve, trial)
		if trial.Lost == 0 && trial.Receiver == 0 {
			clean++
		} else {
			clean = 0
		}
	}
	return nil
}

// backToBack finds the longest burst at full speed without loss (section 26.4). Where a whole trial is without loss, nothing longer is tried.
func (t *Throughput) backToBack(s *SizeResult, try func(float64, engine.Limit) (Trial, error)) error {
	if t.passes(s.Most) {
		s.Longest, s.AtLeast = s.Most.Offered, true
		return nil
	}
	longest, err := t.halve(float64(s.Most.Offered), func(n float64) (bool, error) {
		trial, err := try(s.Line, engine.Limit{Count: uint64(n)})
		return err == nil && t.passes(trial), err
	})
	s.Longest = uint64(longest)
	return err
}

// Words is the result of a size in a sentence.
func (s *SizeResult) Words() string {
	switch {
	case s.Skipped != "":
		return s.Skipped
	case s.Best == nil && !s.complete:
		return "not finished"
	case s.Best == nil:
		return "no rate without loss: " + s.Limit
	case s.Limit == VerdictSender && !s.AtLeast:
		return "the sender did not keep up with faster trials: what is tested may do more"
	case s.Limit == VerdictSender:
		return "no loss as fast as the sender goes: what is tested may do more"
	case s.Limit == VerdictReceiver:
		return "above it the receiver's own machine dropped frames: what is tested may do more"
	case s.Limit == VerdictLoss:
		return fmt.Sprintf("above it frames are lost: %s of %s at most speed", meter.Thousands(s.Most.Lost), meter.Thousands(s.Most.Offered))
	}
	return s.Limit
}
