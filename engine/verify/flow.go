package verify

import "slices"

// Window is how far behind the highest number a frame may be and still be told from a duplicate: 0.7 s at 1.5 Mpps.
const Window = 1 << 20

const (
	wordBits = 64
	words    = Window / wordBits
	keepRuns = 4096 // runs of frames in order that are remembered, for the extent of what comes later
)

// Counts are the account of one flow, or of several added up. The zero value has seen nothing.
type Counts struct {
	Right      uint64 // frames without a fault, duplicates and late ones included
	Received   uint64 // numbers that arrived
	Missing    uint64 // numbers that did not, below the highest
	Duplicates uint64
	Reordered  uint64
	ExtentMax  uint64 // the largest extent of a reordered frame, in frames
	ExtentSum  uint64 // of all of them
	ExtentOpen uint64 // reordered frames whose extent is larger than is remembered: they count with what is
	Late       uint64 // too far behind to tell
	Restarts   uint64 // times the sender began anew

	Corrupt   uint64 // frames with a fault; the next three say which
	BadLength uint64
	BadIPSum  uint64
	BadL4Sum  uint64

	Unnumbered uint64 // frames without a pktgen header: nothing can be said of their order
	Partial    uint64 // right frames of which only the pseudo-header's sum could be checked: the kernel left the rest to a device
	Unsummed   uint64 // right frames whose sender computed no checksum
	Homeless   uint64 // right frames of more flows than a table keeps
}

// Add sums up.
func (c *Counts) Add(o *Counts) {
	c.Right += o.Right
	c.Received += o.Received
	c.Missing += o.Missing
	c.Duplicates += o.Duplicates
	c.Reordered += o.Reordered
	c.ExtentMax = max(c.ExtentMax, o.ExtentMax)
	c.ExtentSum += o.ExtentSum
	c.ExtentOpen += o.ExtentOpen
	c.Late += o.Late
	c.Restarts += o.Restarts
	c.Corrupt += o.Corrupt
	c.BadLength += o.BadLength
	c.BadIPSum += o.BadIPSum
	c.BadL4Sum += o.BadL4Sum
	c.Unnumbered += o.Unnumbered
	c.Partial += o.Partial
	c.Unsummed += o.Unsummed
	c.Homeless += o.Homeless
}

// Flow is the account of one sequence of numbers. Make one with NewFlow; it takes 200 KiB and never more.
type Flow struct {
	counts Counts // of frames that came so far, Missing apart

	// The sender's present start. Numbers are counted on beyond 32 bits: high says how often they wrapped.
	begun   bool
	fromOne bool   // what comes before the first number seen is missing
	base    uint64 // the first number that counts
	high    uint64 // the highest one
	got     uint64 // numbers from base on that arrived
	missing uint64 // of earlier starts
	since   uint64 // frames with an earlier time are of an earlier start
	newest  uint64 // time of the highest number

	transit int64 // of the frame before
	timed   bool  // there was one
	jitter  float64

	seen [words]uint64 // a bit for each of the last Window numbers, at number modulo Window

	// Runs of arrivals that each raised the highest number by one, the last keepRuns of them, oldest first from runs[first].
	runs   []run
	first  int
	forgot bool // older ones than these
	broken bool // something else came since the last frame of the newest run
}

// run is a stretch of frames in order: numbers from on, to end, which arrived as number at and following.
type run struct{ from, end, at uint64 }

// NewFlow returns an empty account. With fromOne the sender is known to begin at 1: what is missing before the first frame seen is missing
// too. Else the first frame seen is where the account begins.
func NewFlow(fromOne bool) *Flow {
	return &Flow{fromOne: fromOne, runs: make([]run, 0, keepRuns)}
}

// Counts is the account so far.
func (f *Flow) Counts() Counts {
	c := f.counts
	c.Missing = f.missing + f.gaps()
	return c
}

// gaps are the numbers missing since the sender's last start.
func (f *Flow) gaps() uint64 {
	if !f.begun {
		return 0
	}
	return f.high - f.base + 1 - f.got
}

// Highest is the highest number of the sender's present start, 0 before the first frame. It goes on beyond 32 bits.
func (f *Flow) Highest() uint64 {
	if !f.begun {
		return 0
	}
	return f.high
}

// Add takes a right frame's number, in the order of arrival, and says whether it came for the first time. micros is the frame's own time, 0
// where its sender stamps none.
func (f *Flow) Add(seq uint32, micros uint64) (first bool) {
	f.counts.Right++
	ahead := int32(seq - uint32(f.high))
	if ahead == 1 && !f.broken && f.begun && micros >= f.newest { // nearly always
		f.high++
		f.newest = micros
		f.runs[f.last()].end++
		f.arrive(f.high)
		return true
	}
	before := f.counts.Received
	f.other(seq, ahead, micros)
	return f.counts.Received != before
}

// Transit takes how long a frame was on its way, in ns, in the order of arrival: the jitter of RFC 3550 section 6.4.1 is made of the differences.
func (f *Flow) Transit(ns int64) {
	if f.timed {
		d := float64(ns - f.transit)
		f.jitter += (max(d, -d) - f.jitter) / 16
	}
	f.transit, f.timed = ns, true
}

// Jitter is the interarrival jitter in ns as of the last frame; ok is false before the second.
func (f *Flow) Jitter() (ns float64, ok bool) { return f.jitter, f.timed }

// other is Add for whatever is not the next frame in order.
func (f *Flow) other(seq uint32, ahead int32, micros uint64) {
	if !f.begun {
		f.start(seq, micros, f.fromOne)
		return
	}
	if f.anew(seq, ahead, micros) {
		f.counts.Restarts++
		f.missing += f.gaps()
		f.since = f.newest + 1
		f.start(seq, micros, true)
		return
	}
	if micros != 0 && micros < f.since { // made before the sender's last start
		f.counts.Late++
		return
	}
	if ahead > 0 {
		f.raise(f.high+uint64(ahead), micros)
		return
	}
	behind := uint64(-int64(ahead))
	if behind >= Window || behind > f.high {
		f.counts.Late++
		return
	}
	n := f.high - behind
	switch {
	case f.has(n):
		f.counts.Duplicates++
	case n < f.base: // it came before the account begins, and its place is not known
		f.counts.Late++
	default:
		f.counts.Reordered++
		f.extent(n)
		f.broken = true
		f.arrive(n)
	}
}

// anew says whether a frame can only be of a sender that began again. After 2^31 frames a low number looks as if it were ahead, over the wrap.
func (f *Flow) anew(seq uint32, ahead int32, micros uint64) bool {
	if ahead > leap && seq < Window {
		return micros == 0 || micros > f.newest
	}
	switch {
	case ahead > 0:
		return false
	case micros != 0 && f.newest != 0:
		return micros > f.newest
	}
	return -int64(ahead) >= Window
}

// leap is a hole that is not believed where the numbers wrap.
const leap = 1 << 24

// start begins the account of a sender's start with its first frame that came.
func (f *Flow) start(seq uint32, micros uint64, fromOne bool) {
	n := uint64(seq)
	if n == 0 { // the number after a wrap
		n = 1 << 32
	}
	f.begun, f.base, f.got = true, n, 0
	if fromOne && seq != 0 { // 0 comes first only where others before it are not looked at
		f.base = 1
	}
	f.newest = micros
	clear(f.seen[:])
	f.runs, f.first, f.forgot = f.runs[:0], 0, false
	f.high = n
	f.newRun(n)
	f.arrive(n)
}

// raise takes a number above the highest.
func (f *Flow) raise(n, micros uint64) {
	f.forget(f.high+1, n)
	f.high = n
	f.newest = max(f.newest, micros)
	f.newRun(n)
	f.arrive(n)
}

// forget makes room in the window for the numbers from on, to n.
func (f *Flow) forget(from, n uint64) {
	if n-from >= Window {
		clear(f.seen[:])
		return
	}
	for ; from <= n; from++ {
		if from%wordBits == 0 && n-from >= wordBits {
			f.seen[from%Window/wordBits] = 0
			from += wordBits - 1
			continue
		}
		f.seen[from%Window/wordBits] &^= 1 << (from % wordBits)
	}
}

func (f *Flow) has(n uint64) bool { return f.seen[n%Window/wordBits]>>(n%wordBits)&1 != 0 }

// arrive books a number that arrives for the first time. In order, its bit is that of the number a Window before.
func (f *Flow) arrive(n uint64) {
	f.seen[n%Window/wordBits] |= 1 << (n % wordBits)
	f.got++
	f.counts.Received++
}

// last is the index of the newest run.
func (f *Flow) last() int {
	if f.first > 0 {
		return f.first - 1
	}
	return len(f.runs) - 1
}

// newRun begins a run with number n, which is about to be booked.
func (f *Flow) newRun(n uint64) {
	r := run{n, n, f.got + 1}
	f.broken = false
	if len(f.runs) < keepRuns {
		f.runs = append(f.runs, r)
		return
	}
	f.runs[f.first] = r
	f.first, f.forgot = (f.first+1)%keepRuns, true
}

// extent books how far n, which is about to be booked as reordered, comes too late: the frames since the first arrival with a higher number, which
// is always one that was the highest when it came.
func (f *Flow) extent(n uint64) {
	part := f.runs[f.first:]
	i := above(part, n)
	oldest := i == 0
	if i == len(part) {
		part = f.runs[:f.first]
		i = above(part, n) // the newest run ends with the highest number, which is above n
	}
	r := part[i]
	at := r.at
	if n >= r.from {
		at += n + 1 - r.from
	} else if oldest && f.forgot {
		f.counts.ExtentOpen++
	}
	e := f.got + 1 - at
	f.counts.ExtentMax = max(f.counts.ExtentMax, e)
	f.counts.ExtentSum += e
}

// above is the index of the first run that ends above n.
func above(runs []run, n uint64) int {
	i, _ := slices.BinarySearchFunc(runs, n, func(r run, n uint64) int {
		if r.end > n {
			return 1
		}
		return -1
	})
	return i
}
