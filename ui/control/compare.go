package control

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"wirespeed/engine/meter"
	"wirespeed/presets/knob"
)

// Comparison is two epochs held against each other.
type Comparison struct {
	meter.Diff
	Knobs            []KnobDiff // that differ, in the panel's order
	KnobsKnown       bool       // those of both epochs are
	RegimeA, RegimeB string     // that ruled most of the samples, "" where it is not known
}

// KnobDiff is a knob that two epochs do not have alike.
type KnobDiff struct{ Name, A, B string }

// String says it in a sentence: the difference, the knobs, and the regimes where they differ.
func (c Comparison) String() string {
	said := c.Diff.String()
	var parts []string
	for _, k := range c.Knobs {
		parts = append(parts, fmt.Sprintf("%s %s -> %s", k.Name, k.A, k.B))
	}
	switch {
	case len(parts) > 0:
		said += ": " + strings.Join(parts, ", ")
	case c.KnobsKnown:
		said += ": all knobs alike"
	}
	return said + c.regimes()
}

// regimes says which ruled: one word where both are alike, nothing where none is known.
func (c Comparison) regimes() string {
	switch {
	case c.RegimeA == "" && c.RegimeB == "":
		return ""
	case c.RegimeA == c.RegimeB:
		return "; regime " + c.RegimeA
	}
	return fmt.Sprintf("; regime %s -> %s", orUnknown(c.RegimeA), orUnknown(c.RegimeB))
}

func orUnknown(s string) string {
	if s == "" {
		return meter.Unknown
	}
	return s
}

// circumstance is what else is known of an epoch than its figures.
type circumstance struct {
	knobs   map[string]string // never written to once kept
	regimes map[string]int    // samples in each regime
}

// regime is the one that ruled most samples.
func (c circumstance) regime() string {
	best := ""
	for _, word := range slices.Sorted(maps.Keys(c.regimes)) {
		if best == "" || c.regimes[word] > c.regimes[best] {
			best = word
		}
	}
	return best
}

// note keeps the knobs of the present epoch with its first sample, and the regime of each. The caller holds mu.
func (r *Run) note(s Sample, regime string) {
	if s.Epoch == 0 {
		return
	}
	e := &r.epochs
	if e.around == nil {
		e.around = map[int]circumstance{}
	}
	c, found := e.around[s.Epoch]
	if !found || s.N == 1 {
		c = circumstance{knobs: knobsOf(r.bench()), regimes: map[string]int{}}
		for number := range e.around {
			if number < s.Epoch-2*keepEpochs {
				delete(e.around, number)
			}
		}
	}
	if regime != "" {
		c.regimes[regime]++
	}
	e.around[s.Epoch] = c
}

// knobsOf are all knobs as they stand.
func knobsOf(b *knob.Bench) map[string]string {
	out := map[string]string{}
	for _, k := range knob.On(b) {
		out[k.Name] = k.Get(b)
	}
	return out
}

// Compare holds two marks or epochs against each other: by the name of a mark, or the number of one of the last 50 epochs; "" and "" are the last two
// marks. errors.Is(err, knob.ErrUsage) where there is none of that name.
func (r *Run) Compare(a, b string) (Comparison, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a == "" && b == "" {
		n := len(r.epochs.marks)
		if n < 2 {
			return Comparison{}, usage("diff: there are no two marks yet: mark keeps an epoch")
		}
		return r.epochs.compare(r.epochs.marks[n-2], r.epochs.marks[n-1]), nil
	}
	ea, err := r.epochs.find(a)
	if err != nil {
		return Comparison{}, err
	}
	eb, err := r.epochs.find(b)
	if err != nil {
		return Comparison{}, err
	}
	return r.epochs.compare(ea, eb), nil
}

// find is the mark of a name, else the epoch of a number.
func (e *epochs) find(name string) (meter.Epoch, error) {
	for _, m := range e.marks {
		if m.Mark == name {
			return m, nil
		}
	}
	list := e.all()
	if n, err := strconv.Atoi(name); err == nil {
		for _, p := range list {
			if p.Number == n {
				return p, nil
			}
		}
	}
	var marks []string
	for _, m := range e.marks {
		marks = append(marks, m.Mark)
	}
	has := "no mark yet"
	if len(marks) > 0 {
		has = "the marks " + strings.Join(marks, ", ")
	}
	if len(list) > 0 {
		has += fmt.Sprintf(", and the epochs %d to %d", list[0].Number, list[len(list)-1].Number)
	}
	return meter.Epoch{}, usage("diff %s: there is no such mark or epoch: there are %s", name, has)
}

// compare holds two epochs against each other.
func (e *epochs) compare(a, b meter.Epoch) Comparison {
	ca, cb := e.circumstance(a), e.circumstance(b)
	ka, kb := ca.knobs, cb.knobs
	c := Comparison{Diff: meter.Compare(a, b), KnobsKnown: ka != nil && kb != nil, RegimeA: ca.regime(), RegimeB: cb.regime()}
	if !c.KnobsKnown {
		return c
	}
	names := slices.Sorted(maps.Keys(ka))
	order := map[string]int{}
	for i, k := range knob.All() {
		order[k.Name] = i + 1
	}
	slices.SortStableFunc(names, func(x, y string) int { return place(order, x) - place(order, y) })
	for _, name := range names {
		if kb[name] != ka[name] {
			c.Knobs = append(c.Knobs, KnobDiff{name, ka[name], orUnknown(kb[name])})
		}
	}
	return c
}

// place puts members of families after the other knobs.
func place(order map[string]int, name string) int {
	if n := order[name]; n > 0 {
		return n
	}
	return len(order) + 1
}

// circumstance is that of a mark, else of an epoch.
func (e *epochs) circumstance(of meter.Epoch) circumstance {
	if of.Mark != "" {
		return e.markedIn[of.Mark]
	}
	return e.around[of.Number]
}

// keepAround keeps the circumstance of a mark with it.
func (e *epochs) keepAround(m meter.Epoch) {
	if e.markedIn == nil {
		e.markedIn = map[string]circumstance{}
	}
	c := e.around[m.Number]
	e.markedIn[m.Mark] = circumstance{knobs: c.knobs, regimes: maps.Clone(c.regimes)}
}
