package control

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"wirespeed/engine"
)

// bottleneck is a machine under test: a sender of so many pps, and something between that passes so many and has a buffer.
type bottleneck struct {
	sender   float64
	passes   func(size int) float64 // 0: all
	buffer   uint64
	receiver float64 // share of frames that the receiver's machine drops itself
	trials   int
	stop     func() // after so many trials
	after    int
}

func (b *bottleneck) try(ctx context.Context, size int, pps float64, l engine.Limit) (Trial, error) {
	if b.trials++; b.stop != nil && b.trials > b.after {
		b.stop()
	}
	if err := ctx.Err(); err != nil {
		return Trial{}, err
	}
	rate := b.sender
	if pps > 0 {
		rate = min(rate, pps)
	}
	n := l.Count
	if n == 0 {
		n = uint64(rate * l.Duration.Seconds())
	}
	took := float64(n) / rate
	arrived := n
	if most := b.passes(size); most > 0 && rate > most {
		arrived = min(n, uint64(most*took)+b.buffer)
	}
	dropped := uint64(float64(arrived) * b.receiver)
	arrived -= dropped
	return Trial{
		Size: size, Asked: pps, Took: time.Duration(took * 1e9), Offered: n, PPS: rate, Arrived: &arrived, Lost: n - arrived - dropped, Receiver: dropped,
		Behind: pps > 0 && rate < pps*(1-trialBehind),
	}, nil
}

func (b *bottleneck) test(spec ThroughputSpec, line float64) (*Throughput, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if b.after > 0 {
		b.stop = cancel
	}
	if b.passes == nil {
		b.passes = func(int) float64 { return 0 }
	}
	t := &Throughput{ThroughputSpec: spec}
	err := t.run(ctx, b.try, func(int) float64 { return line }, func(int) string { return "" }, func(Trial) {})
	return t, err
}

func TestThroughputFindsTheBottleneck(t *testing.T) {
	spec := ThroughputSpec{Sizes: []int{64}, Trial: time.Second, Resolution: 0.01}
	for _, c := range []struct {
		name    string
		b       bottleneck
		line    float64
		best    float64 // the true one
		limit   string
		longest uint64
		atLeast bool
		curve   int
		trials  int // at most
	}{
		{"half", bottleneck{sender: 1e6, passes: func(int) float64 { return 5e5 }}, 0, 5e5, VerdictLoss, 0, false, 7, 40},
		{"just below", bottleneck{sender: 1e6, passes: func(int) float64 { return 994e3 }, buffer: 100}, 0, 994100, VerdictLoss, 16666, false, 3, 40},
		{"a tenth, with a buffer", bottleneck{sender: 1e6, passes: func(int) float64 { return 1e5 }, buffer: 1000}, 0, 101e3, VerdictLoss, 1111, false, 10, 60},
		{"no bottleneck", bottleneck{sender: 1e6}, 0, 1e6, VerdictSender, 1e6, true, 2, 3},
		{"the line", bottleneck{sender: 2e6}, 1488095, 1488095, LineRate, 1488095, true, 2, 3},
		{"a slow sender on a fast line", bottleneck{sender: 1e6}, 14880952, 1e6, VerdictSender, 1e6, true, 2, 3},
		{"the receiver's machine", bottleneck{sender: 1e6, receiver: 0.01}, 0, 99, VerdictReceiver, 99, false, 10, 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := c.b.test(spec, c.line)
			if err != nil || len(r.Sizes) != 1 {
				t.Fatal(err, r)
			}
			s := r.Sizes[0]
			got := 0.0
			if s.Best != nil {
				got = s.Best.PPS
			}
			if got > c.best || got < 0.989*c.best-1 || s.Limit != c.limit {
				t.Errorf("%.0f pps limited by %q, want %.0f and %q", got, s.Limit, c.best, c.limit)
			}
			if s.AtLeast != c.atLeast || math.Abs(float64(s.Longest)-float64(c.longest)) > 0.011*float64(c.longest)+1 {
				t.Errorf("longest burst %d (at least: %t), want %d", s.Longest, s.AtLeast, c.longest)
			}
			if len(s.Curve) != c.curve || c.b.trials > c.trials || !s.Complete() {
				t.Errorf("%d points of the curve, want %d; %d trials, at most %d; complete: %t", len(s.Curve), c.curve, c.b.trials, c.trials, s.Complete())
			}
			if s.Words() == "" {
				t.Error("no words")
			}
		})
	}
}

// TestThroughputTolerance: losses below it pass.
func TestThroughputTolerance(t *testing.T) {
	b := bottleneck{sender: 1e6, passes: func(int) float64 { return 999e3 }}
	r, err := b.test(ThroughputSpec{Sizes: []int{64}, Trial: time.Second, Resolution: 0.01, Tolerance: 0.002}, 0)
	if err != nil || r.Sizes[0].Best == nil || r.Sizes[0].Best.PPS != 1e6 {
		t.Errorf("%v %+v", err, r.Sizes[0])
	}
}

// TestThroughputEndsInOrder: whenever it is interrupted, what is known is there.
func TestThroughputEndsInOrder(t *testing.T) {
	for after := 1; after < 60; after += 7 {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			b := bottleneck{sender: 1e6, passes: func(size int) float64 { return 5e7 / float64(size) }, after: after}
			r, err := b.test(ThroughputSpec{Trial: time.Second, Resolution: 0.05}, 0)
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			n := 0
			for _, s := range r.Sizes {
				n += len(s.Trials())
				_ = s.Words()
			}
			if n != after || len(r.Sizes) == 0 || r.Sizes[len(r.Sizes)-1].Complete() {
				t.Errorf("%d trials of %d are kept", n, after)
			}
		})
	}
}
