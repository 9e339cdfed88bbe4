package verify

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// arrival is a frame as a model knows it: of which start of the sender, and which number of it, not cut to 32 bits.
type arrival struct {
	start  int
	number uint64
	micros uint64
}

// model is the account kept by looking at everything that ever came, as the definitions say it.
func model(arrivals []arrival, base []uint64) (c Counts) {
	seen := map[[2]uint64]bool{}
	var order []uint64 // first arrivals of the present start
	start, high := 0, uint64(0)
	var known uint64
	gaps := func() uint64 {
		if high == 0 {
			return 0
		}
		return high - base[start] + 1 - known
	}
	for i, a := range arrivals {
		c.Right++
		if a.start != start || i == 0 {
			c.Missing += gaps()
			if i > 0 {
				c.Restarts++
			}
			start, high, known, order = a.start, 0, 0, nil
		}
		key := [2]uint64{uint64(a.start), a.number}
		if seen[key] {
			c.Duplicates++
			continue
		}
		seen[key] = true
		if a.number < high {
			c.Reordered++
			for j, o := range order {
				if o > a.number {
					e := uint64(len(order) - j)
					c.ExtentSum += e
					c.ExtentMax = max(c.ExtentMax, e)
					break
				}
			}
		}
		high = max(high, a.number)
		order = append(order, a.number)
		known++
		c.Received++
	}
	c.Missing += gaps()
	return c
}

// mishaps makes what a bad network makes of a sender's frames.
func mishaps(r *rand.Rand, from uint64, start int, clock *uint64) (out []arrival) {
	n := 1 + r.IntN(600)
	*clock += 1 + r.Uint64N(1000)
	loss, dup, late := r.Float64()*0.3, r.Float64()*0.2, r.Float64()*0.3
	reach := 1 + r.IntN(80)
	type due struct {
		a  arrival
		at int
	}
	var held []due
	for i := range n {
		*clock += r.Uint64N(3) // frames of one batch have one time
		a := arrival{start, from + uint64(i), *clock}
		if i > 0 && r.Float64() < loss { // the first one is where the account begins
			continue
		}
		if i > 0 && r.Float64() < late {
			held = append(held, due{a, i + 1 + r.IntN(reach)})
		} else {
			out = append(out, a)
		}
		if r.Float64() < dup {
			held = append(held, due{a, i + 1 + r.IntN(reach)})
		}
		kept := held[:0]
		for _, h := range held {
			if h.at <= i {
				out = append(out, h.a)
			} else {
				kept = append(kept, h)
			}
		}
		held = kept
	}
	for _, h := range held {
		out = append(out, h.a)
	}
	return out
}

func TestFlowAgreesWithAModelThatForgetsNothing(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		clock := uint64(1e15)
		// The first start begins anywhere, also just before the numbers wrap; the others at 1.
		first := []uint64{1, 2, 1<<32 - 300, 1<<32 - 1, 1<<31 - 5, r.Uint64N(1<<32-1) + 1}[r.IntN(6)]
		var all []arrival
		base := []uint64{first}
		all = append(all, mishaps(r, first, 0, &clock)...)
		for s := 1; s <= r.IntN(4) && first < 1<<32-leap-1000; s++ { // nearer to the wrap a restart is a hole
			all = append(all, mishaps(r, 1, s, &clock)...)
			base = append(base, 1)
		}
		f := NewFlow(false)
		for _, a := range all {
			f.Add(uint32(a.number), a.micros)
		}
		if diff := cmp.Diff(model(all, base), f.Counts()); diff != "" {
			t.Fatalf("seed %d, %d frames (-model +flow):\n%s", seed, len(all), diff)
		}
	}
}

// feed adds numbers, a microsecond apart where rising numbers are, as a sender stamps them.
func feed(f *Flow, numbers ...uint32) {
	for _, n := range numbers {
		f.Add(n, 1000+uint64(n))
	}
}

func upTo(n uint32) (list []uint32) {
	for i := uint32(1); i <= n; i++ {
		list = append(list, i)
	}
	return list
}

func TestPlantedFaults(t *testing.T) {
	for _, c := range []struct {
		name    string
		fromOne bool
		numbers []uint32
		want    Counts
	}{
		{"in order", true, upTo(100), Counts{Right: 100, Received: 100}},
		{"the first ones lost", true, []uint32{4, 5}, Counts{Right: 2, Received: 2, Missing: 3}},
		{"heard from the middle", false, []uint32{4, 5}, Counts{Right: 2, Received: 2}},
		{"a hole", true, []uint32{1, 2, 5}, Counts{Right: 3, Received: 3, Missing: 2}},
		{"a hole that is filled late", true, []uint32{1, 2, 5, 3}, Counts{Right: 4, Received: 4, Missing: 1, Reordered: 1, ExtentMax: 1, ExtentSum: 1}},
		{"twice", true, []uint32{1, 2, 2, 1}, Counts{Right: 4, Received: 2, Duplicates: 2}},
		{"RFC 4737 figure: 1 2 3 7 8 9 10 4 5 6", true, []uint32{1, 2, 3, 7, 8, 9, 10, 4, 5, 6}, Counts{Right: 10, Received: 10, Reordered: 3, ExtentMax: 6, ExtentSum: 15}},
		{"backwards", true, []uint32{5, 4, 3, 2, 1}, Counts{Right: 5, Received: 5, Reordered: 4, ExtentMax: 4, ExtentSum: 10}},
		{"the first ones swapped", true, []uint32{2, 1, 3}, Counts{Right: 3, Received: 3, Reordered: 1, ExtentMax: 1, ExtentSum: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := NewFlow(c.fromOne)
			feed(f, c.numbers...)
			if diff := cmp.Diff(c.want, f.Counts()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrapAndTheWindow(t *testing.T) {
	f := NewFlow(false)
	const begin = 1<<32 - 3
	at := uint64(1)
	add := func(n uint64) { f.Add(uint32(n), at); at++ }
	for n := uint64(begin); n < begin+3*Window; n++ {
		add(n)
	}
	if want := (Counts{Right: 3 * Window, Received: 3 * Window}); f.Counts() != want {
		t.Fatalf("over the wrap and three windows: %+v", f.Counts())
	}
	high := uint64(begin + 3*Window - 1)
	old := func(behind uint64) { f.Add(uint32(high-behind), 1+high-behind-begin) } // with its own time
	old(Window - 1)
	old(Window)
	if c := f.Counts(); c.Duplicates != 1 || c.Late != 1 {
		t.Errorf("at the edge of the window: %+v", c)
	}
	add(high + 5*Window) // a hole larger than the window
	if c := f.Counts(); c.Missing != 5*Window-1 {
		t.Errorf("missing %d, want %d", c.Missing, 5*Window-1)
	}
	if f.Highest() != high+5*Window {
		t.Errorf("highest %d, want %d", f.Highest(), high+5*Window)
	}
}

func TestAHoleOfAnyLengthLeavesNothingBehindInTheWindow(t *testing.T) {
	for _, hole := range []uint64{1, 2, 62, 63, 64, 65, 127, 128, 1000, Window - 65, Window - 1, Window, Window + 1} {
		f := NewFlow(false)
		n := uint64(3)
		for ; n < Window+200; n++ { // all bits are set
			f.Add(uint32(n), n)
		}
		f.Add(uint32(n+hole), n+hole)
		for i := range min(hole, Window-1) { // nothing of the hole may look as if it had come
			at := n + hole - 1 - i
			f.Add(uint32(at), at)
		}
		if c := f.Counts(); c.Duplicates != 0 || c.Late != 0 || c.Reordered != min(hole, Window-1) {
			t.Errorf("hole of %d: %+v", hole, c)
		}
	}
}

func TestRestart(t *testing.T) {
	for _, c := range []struct {
		name string
		feed func(*Flow)
		want Counts
	}{
		{"with the frame that came last", func(f *Flow) { f.Add(1, 10); f.Add(1, 20) }, Counts{Right: 2, Received: 2, Restarts: 1}},
		{"in the middle of a run", func(f *Flow) {
			for n := range uint32(100) {
				f.Add(n+1, 10)
			}
			f.Add(3, 30) // 1 and 2 were lost
			f.Add(4, 30)
			f.Add(50, 10) // a copy of the old start
		}, Counts{Right: 103, Received: 102, Missing: 2, Restarts: 1, Late: 1}},
		{"a frame that overtook the first", func(f *Flow) { f.Add(5, 10); f.Add(2, 21); f.Add(1, 20) }, Counts{
			Right: 3, Received: 3, Restarts: 1, Reordered: 1, ExtentMax: 1, ExtentSum: 1,
		}},
		{"without times, behind the window", func(f *Flow) { f.Add(Window+1, 0); f.Add(1, 0); f.Add(2, 0) }, Counts{Right: 3, Received: 3, Restarts: 1}},
		{"after 2^31 frames", func(f *Flow) { f.Add(1<<31+5, 10); f.Add(1, 20) }, Counts{Right: 2, Received: 2, Restarts: 1}},
		{"shortly before the wrap", func(f *Flow) { f.Add(1<<32-leap-5, 10); f.Add(1, 20) }, Counts{Right: 2, Received: 2, Restarts: 1}},
		{"a hole over the wrap is none", func(f *Flow) { f.Add(1<<32-1, 10); f.Add(1, 20) }, Counts{Right: 2, Received: 2, Missing: 1}},
		{"a copy is none", func(f *Flow) { f.Add(1, 10); f.Add(2, 20); f.Add(1, 10) }, Counts{Right: 3, Received: 2, Duplicates: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := NewFlow(false)
			c.feed(f)
			if diff := cmp.Diff(c.want, f.Counts()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What cannot be remembered is said, and memory stays bounded: every other frame comes one late, then one that is older than all runs.
func TestExtentBeyondMemoryIsSaid(t *testing.T) {
	f := NewFlow(false)
	f.Add(1, 1)
	for n := uint64(3); n < 4*keepRuns; n += 2 {
		f.Add(uint32(n+1), n+1)
		f.Add(uint32(n), n)
	}
	before := f.Counts()
	f.Add(2, 2)
	c := f.Counts()
	if before.ExtentOpen != 0 || c.ExtentOpen != 1 || before.ExtentMax != 1 || c.ExtentMax < keepRuns || cap(f.runs) != keepRuns {
		t.Errorf("before %+v\nafter %+v", before, c)
	}
}

func TestAddAllocatesNothing(t *testing.T) {
	f := NewFlow(true)
	n := uint32(0)
	if a := testing.AllocsPerRun(1000, func() {
		n += 3
		feed(f, n, n-1, n-1, n+7)
	}); a != 0 {
		t.Errorf("%v allocations for a few frames", a)
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, lost := range []int{0, 10} {
		b.Run(fmt.Sprintf("one of %d lost", lost), func(b *testing.B) {
			f := NewFlow(true)
			n := uint32(0)
			for i := 0; b.Loop(); i++ {
				n++
				if lost > 0 && i%lost == 0 {
					n++
				}
				f.Add(n, uint64(n))
			}
		})
	}
}
