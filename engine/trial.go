package engine

// A trial finds the fastest kind of slot on the device itself, with the run's own frames: the candidates take turns, a few milliseconds in
// all, and the one that took the least time per frame stays. It is the minimum of some rounds that counts, because other load on the machine can
// only make a round longer.
const (
	trialRounds = 4
	trialFrames = 2048 // a turn
	trialTurn   = 2e6  // ns, at most a turn; at most 2 * trialRounds turns a trial
)

type trial struct {
	on     bool
	paced  bool // a schedule says when frames leave: compare the work, not the time
	kinds  []kind
	turn   int
	began  int64
	work   int64
	frames int
	best   [3]float64 // ns per frame, by kind
}

// begin starts a trial of kinds, of which there must be one at least; a single one needs none.
func (t *trial) begin(kinds []kind, paced bool, now int64) {
	*t = trial{on: len(kinds) > 1, paced: paced, kinds: kinds, began: now}
}

// kind is the kind whose turn it is; after the trial, the winner.
func (t *trial) kind() kind {
	if t.on {
		return t.kinds[t.turn%len(t.kinds)]
	}
	winner := t.kinds[0]
	for _, k := range t.kinds[1:] {
		if t.best[k] > 0 && t.best[k] < t.best[winner] {
			winner = k
		}
	}
	return winner
}

// note books a batch of n frames that took ns of work and ended now.
func (t *trial) note(n int, work, now int64) {
	t.frames += n
	t.work += work
	if t.frames < trialFrames && (now-t.began < trialTurn || t.frames == 0) {
		return
	}
	cost := float64(now-t.began) / float64(t.frames)
	if t.paced {
		cost = float64(t.work) / float64(t.frames)
	}
	k := t.kind()
	// The first round fills the slots, which is work of the trial only.
	if first := t.turn < len(t.kinds); !first && (t.best[k] == 0 || cost < t.best[k]) {
		t.best[k] = cost
	}
	t.turn++
	t.began, t.work, t.frames = now, 0, 0
	t.on = t.turn < trialRounds*len(t.kinds)
}
