package control

import (
	"slices"
	"sync"
	"time"
)

// keepEvents bounds the log: a front end that looks at least once a second never misses one in ordinary use.
const keepEvents = 200

// journal is the log of a run. The zero value is empty; its methods may be called from any goroutine and never wait.
type journal struct {
	mu   sync.Mutex
	seq  int
	list []Event
	news chan struct{} // holds a token while something is new; nil tells nobody
}

// add appends one line; knob is the one that was turned, "" for other events.
func (j *journal) add(knob, text string) { j.append(Event{Text: text, Knob: knob}) }

// fatal appends the error that ends a run.
func (j *journal) fatal(err error) { j.append(Event{Text: err.Error(), Fatal: true}) }

func (j *journal) append(e Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seq++
	// The slice handed out by events is never written again: a full one is copied.
	if len(j.list) == keepEvents {
		j.list = slices.Clone(j.list[1:])
	}
	e.Seq, e.At = j.seq, time.Now()
	j.list = append(j.list, e)
	select {
	case j.news <- struct{}{}:
	default: // it already knows
	}
}

// events returns the log as it is now, newest last. The caller must not write to it.
func (j *journal) events() []Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clip(j.list)
}
