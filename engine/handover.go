package engine

import (
	"math"
	"math/big"
)

// follows is when the schedule of cfg begins that takes over from that of old at time now: not before old's last burst and one gap of the
// new rate, so that a rate turned again and again never sends more than it says.
func (cfg Config) follows(old Config, dev Device, r *run, now int64) (int64, error) {
	pps, err := cfg.PPS(dev)
	if err != nil || pps == nil || len(r.workers) == 0 {
		return now, err
	}
	p := r.workers[0].plan.Load()
	if !p.paced {
		return now, nil
	}
	stream := p.schedule
	stream.workers, stream.index = 1, 0
	bursts := stream.due(now) / stream.burst
	if bursts == 0 { // it has not begun, and may have been put off itself
		return max(now, min(stream.origin, now+gap(pps, cfg.Burst))), nil
	}
	return max(now, min(stream.at((bursts-1)*stream.burst)+gap(pps, cfg.Burst), math.MaxInt64/2)), nil
}

// gap is the time between two bursts of a stream, in ns.
func gap(pps *big.Rat, burst int) int64 {
	p := newPace(pps)
	return int64(min(mulDivUp(uint64(burst), p.den, p.num), math.MaxInt64/4))
}
