package verify

// MaxFlows bounds the flows of a table, and so its memory: 60 MB.
const MaxFlows = 256

// Key names a flow: the sender's worker, and its MAC address where a table tells senders apart.
type Key struct {
	Source uint64
	Worker uint16
}

// Table holds the flows of a receiver. The zero value is ready.
type Table struct {
	FromOne  bool // senders are known to begin at 1 after the table did
	BySource bool // frames of different source MACs are different senders; else only the worker's number counts

	flows map[Key]*Flow
	key   Key // of the frame before
	flow  *Flow
	rest  Counts // of what belongs to no flow
}

// FlowCounts is one flow of a table.
type FlowCounts struct {
	Key
	Counts
	Highest  uint64   // of the sender's present start
	JitterNS *float64 // nil where nothing was timed
}

// Take books one frame that Parse has read. It returns the flow of a number that came for the first time, nil of all others.
func (t *Table) Take(f *Frame, fault Fault) *Flow {
	if fault != Good {
		t.fault(fault)
		return nil
	}
	k := Key{Worker: f.Worker}
	if t.BySource {
		k.Source = f.Source
	}
	if t.flow == nil || k != t.key {
		if !t.find(k) {
			t.rest.Right++
			t.rest.Homeless++
			return nil
		}
	}
	switch f.Sum {
	case Partial:
		t.flow.counts.Partial++
	case None:
		t.flow.counts.Unsummed++
	}
	if !t.flow.Add(f.Seq, f.Micros) {
		return nil
	}
	return t.flow
}

func (t *Table) fault(fault Fault) {
	c := &t.rest
	switch fault {
	case Unnumbered:
		c.Unnumbered++
		return
	case BadLength:
		c.BadLength++
	case BadIPSum:
		c.BadIPSum++
	default:
		c.BadL4Sum++
	}
	c.Corrupt++
}

// find makes the flow of k the present one, a new one if there is room.
func (t *Table) find(k Key) bool {
	f := t.flows[k]
	if f == nil {
		if len(t.flows) >= MaxFlows {
			return false
		}
		if t.flows == nil {
			t.flows = make(map[Key]*Flow)
		}
		f = NewFlow(t.FromOne)
		t.flows[k] = f
	}
	t.key, t.flow = k, f
	return true
}

// Counts adds up all flows and what belongs to none.
func (t *Table) Counts() Counts {
	c := t.rest
	for _, f := range t.flows {
		fc := f.Counts()
		c.Add(&fc)
	}
	return c
}

// Flows appends the flows to list, in no order.
func (t *Table) Flows(list []FlowCounts) []FlowCounts {
	for k, f := range t.flows {
		fc := FlowCounts{Key: k, Counts: f.Counts(), Highest: f.Highest()}
		if ns, ok := f.Jitter(); ok {
			fc.JitterNS = &ns
		}
		list = append(list, fc)
	}
	return list
}
