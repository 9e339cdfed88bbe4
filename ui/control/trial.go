package control

import (
	"context"
	"fmt"
	"time"

	"wirespeed/engine"
	"wirespeed/engine/frame"
	"wirespeed/presets/knob"
)

// Trial is one trial of a throughput test: frames of one size at one rate, for a time or up to a number, and what became of them.
type Trial struct {
	Size     int           // bytes with FCS, as RFC 2544 counts
	Asked    float64       // pps; 0 is as fast as it goes
	Took     time.Duration // of sending
	Offered  uint64        // frames that left
	PPS      float64       // at which they left
	Arrived  *uint64       // by the independent receiver; nil unknown
	Lost     uint64        // that left and did not arrive, those of the receiver's own machine taken off
	Receiver uint64        // that the receiver's machine dropped itself: no loss of what is tested
	Behind   bool          // fewer left than were asked: the sender is the limit
	Why      string        // in words, where a verdict needs some
}

// Verdict is what a trial says: clean, loss, receiver limited, sender limited or unknown.
func (t Trial) Verdict(tolerance float64) string {
	switch {
	case t.Arrived == nil || t.Offered == 0:
		return VerdictUnknown
	case t.LossShare() > tolerance:
		return VerdictLoss
	case float64(t.Receiver) > tolerance*float64(t.Offered):
		return VerdictReceiver
	case t.Behind:
		return VerdictSender
	}
	return VerdictClean
}

// The verdicts.
const (
	VerdictClean    = "clean"
	VerdictLoss     = "loss"
	VerdictReceiver = "receiver limited"
	VerdictSender   = "sender limited"
	VerdictUnknown  = "unknown"
)

// LossShare is the share of the frames that left that were lost, 0 to 1.
func (t Trial) LossShare() float64 {
	if t.Offered == 0 {
		return 0
	}
	return float64(t.Lost) / float64(t.Offered)
}

// Bounds of the wait for the last frames of a trial, and how far behind the rate asked a sender may be.
const (
	trialSettle  = 100 * time.Millisecond
	trialPatient = 2 * time.Second
	trialBehind  = 0.005
)

// trial sends frames of a size (with FCS) at a rate (0: as fast as it goes) within a limit and judges what arrived. It blocks until that is
// done; where ctx ends before, its error is returned.
func (r *Run) trial(ctx context.Context, size int, pps float64, limit engine.Limit) (t Trial, err error) {
	if err := ctx.Err(); err != nil {
		return t, err
	}
	t = Trial{Size: size, Asked: pps}
	rate := "max"
	if pps > 0 {
		rate = fmt.Sprintf("%.3fpps", pps)
	}
	if err := r.turnForTrial(limit, knob.Setting{Knob: "size", Value: fmt.Sprintf("%dfcs", size)}, knob.Setting{Knob: "rate", Value: rate}); err != nil {
		return t, err
	}
	dropped, known := r.rxDropped()
	if err := r.Start(); err != nil {
		return t, err
	}
	select {
	case <-r.Done():
	case <-ctx.Done():
		_ = r.Stop()
		return t, ctx.Err()
	}
	s := r.settled(ctx)
	if s.Err != nil {
		return t, s.Err
	}
	t.Took = s.Elapsed
	t.Offered, t.Arrived = s.Ladder.Taken, s.Ladder.Arrived
	if d := s.Ladder.Device; d != nil && *d < t.Offered {
		t.Offered = *d
		t.Why = frames(s.Ladder.Taken-*d) + " dropped before they left"
	}
	if t.Arrived == nil && s.Ladder.HasFar {
		t.Arrived = s.Ladder.Far
	}
	if t.Took > 0 {
		t.PPS = float64(t.Offered) / t.Took.Seconds()
	}
	t.Behind = pps > 0 && t.PPS < pps*(1-trialBehind)
	if t.Arrived != nil && *t.Arrived < t.Offered {
		t.Lost = t.Offered - *t.Arrived
	}
	if now, ok := r.rxDropped(); ok && known {
		t.Receiver = min(t.Lost, since(dropped, now))
		t.Lost -= t.Receiver
	}
	return t, ctx.Err()
}

// turnForTrial turns knobs and bounds the next run, without epochs or words in the log.
func (r *Run) turnForTrial(limit engine.Limit, settings ...knob.Setting) error {
	r.cmd.Lock()
	defer r.cmd.Unlock()
	b := r.liveBench()
	if _, err := knob.SetAll(b, settings); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.o.Limit = limit // no run is under way that reads it
	return nil
}

// settled waits until no frame has arrived for a moment, or all have, and returns the end of the run.
func (r *Run) settled(ctx context.Context) Summary {
	s := r.Result()
	still := time.Now()
	for end := time.Now().Add(trialPatient); time.Now().Before(end) && ctx.Err() == nil; {
		if s.Ladder.Arrived == nil || *s.Ladder.Arrived >= s.Ladder.Taken || time.Since(still) >= trialSettle {
			break
		}
		time.Sleep(trialSettle / 10)
		was := *s.Ladder.Arrived
		s = r.Result()
		if s.Ladder.Arrived == nil || *s.Ladder.Arrived != was {
			still = time.Now()
		}
	}
	return s
}

// rxDropped is how many frames the receiving device has dropped for want of room, by its own counter.
func (r *Run) rxDropped() (n uint64, ok bool) {
	if r.rxDev == nil {
		return 0, false
	}
	c, err := r.rxDev.Counters()
	return c.RxDropped, err == nil
}

// lineRate is the rate of a size (with FCS) that the link can carry, 0 where its speed is not known.
func (r *Run) lineRate(size int) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engDev.Speed == 0 {
		return 0
	}
	pps, _ := frame.MaxPPS(r.engDev.Speed, size-4).Float64()
	return pps
}
