package trace

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

var native = binary.NativeEndian

// Tracer is a set of trace points on all CPUs. It is made switched off. It is for one goroutine.
type Tracer struct {
	rings  []*ring
	fds    [][]int // by event, then CPU
	events []event
	lost   uint64
	late   []record // read, and perhaps not the oldest yet

	live *Live // nil: nobody watches while it goes on
}

// Live is how a trace that goes on for long is watched, from another goroutine.
type Live struct {
	// Ready is closed once the trace points are on. Ask takes a channel that is closed once all that has happened before is part of the figures.
	Ready chan struct{}
	Ask   chan chan struct{}

	// Bulks and Owned are the figures so far, at most a tenth of a second old; nil before the first.
	Bulks atomic.Pointer[Bulks]
	Owned atomic.Pointer[Owned]
}

// Watch lets the next trace be watched. It is called before that begins.
func (t *Tracer) Watch() *Live {
	t.live = &Live{Ready: make(chan struct{}), Ask: make(chan chan struct{})}
	return t.live
}

// record is one event.
type record struct {
	at    int64 // ns, CLOCK_MONOTONIC
	event int   // in Tracer.events
	skb   uint64
	value uint64 // packets of a dequeue, segments of a frame that the device is to cut
	queue int
}

// point is a trace point, the filter that leaves our device's, and the fields that are read of it.
type point struct {
	name, filter string
	value, queue string // fields, "" none
}

// open opens the trace points on all CPUs that are online.
func open(points ...point) (_ *Tracer, err error) {
	fs, err := openTracefs()
	if err != nil {
		return nil, err
	}
	defer fs.close()
	t := &Tracer{}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Close())
		}
	}()
	cpus, err := online()
	if err != nil {
		return nil, err
	}
	outputs := make([]int, len(cpus))
	for n, p := range points {
		e, err := fs.event(p.name)
		if err != nil {
			return nil, err
		}
		if err := e.has("skbaddr"); err != nil {
			return nil, err
		}
		// Read by one name, whatever it is: fewer branches where there are millions of events.
		e.fields["value"], e.fields["queue"] = e.fields[p.value], e.fields[p.queue]
		t.events = append(t.events, e)
		t.fds = append(t.fds, nil)
		for c, cpu := range cpus {
			fd, err := perfOpen(e.id, cpu)
			if err != nil {
				return nil, err
			}
			t.fds[n] = append(t.fds[n], fd)
			if p.filter != "" {
				if err := setFilter(fd, p.filter); err != nil {
					return nil, err
				}
			}
			if n == 0 {
				outputs[c] = fd
				r, err := openRing(fd)
				if err != nil {
					return nil, err
				}
				t.rings = append(t.rings, r)
			} else if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, outputs[c]); err != nil {
				return nil, refused("trace points", err)
			}
		}
	}
	return t, nil
}

// Close ends all tracing.
func (t *Tracer) Close() (err error) {
	for _, r := range t.rings {
		err = errors.Join(err, r.close())
	}
	for _, fds := range t.fds {
		for _, fd := range fds {
			err = errors.Join(err, unix.Close(fd))
		}
	}
	t.rings, t.fds = nil, nil
	return err
}

// enable switches one event on or off.
func (t *Tracer) enable(event int, on bool) error {
	req := uint(unix.PERF_EVENT_IOC_DISABLE)
	if on {
		req = unix.PERF_EVENT_IOC_ENABLE
	}
	for _, fd := range t.fds[event] {
		if err := unix.IoctlSetInt(fd, req, 0); err != nil {
			return fmt.Errorf("switch %s: %w", t.events[event].name, err)
		}
	}
	return nil
}

// settled is how old an event must be to be certain that no older one is still being written on another CPU.
const settled = int64(200 * time.Microsecond)

// poll reads what is there and calls f for each event, the oldest first over all CPUs. Those of the last moment wait for the next poll, unless it is the
// last.
func (t *Tracer) poll(last bool, f func(record)) error {
	horizon := monotonic() - settled
	for _, r := range t.rings {
		if err := r.read(t.take); err != nil {
			return err
		}
	}
	slices.SortStableFunc(t.late, func(a, b record) int { return cmp.Compare(a.at, b.at) })
	n := len(t.late)
	if !last {
		n, _ = slices.BinarySearchFunc(t.late, horizon, func(r record, h int64) int { return cmp.Compare(r.at, h) })
	}
	for _, r := range t.late[:n] {
		f(r)
	}
	t.late = append(t.late[:0], t.late[n:]...)
	return nil
}

func monotonic() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // this clock is always there
	return ts.Nano()
}

// take reads one record of a ring.
func (t *Tracer) take(kind uint32, body []byte) {
	switch kind {
	case unix.PERF_RECORD_LOST: // u64 id, lost
		if len(body) >= 16 {
			t.lost += native.Uint64(body[8:])
		}
	case unix.PERF_RECORD_SAMPLE: // u64 time; u32 size, raw data
		r, ok := decode(t.events, body)
		if ok {
			t.late = append(t.late, r)
		}
	}
}

// decode reads a sample.
func decode(events []event, body []byte) (record, bool) {
	if len(body) < 12 {
		return record{}, false
	}
	raw := body[12:]
	if n := int(native.Uint32(body[8:])); n < len(raw) {
		raw = raw[:n]
	}
	if len(raw) < 2 {
		return record{}, false
	}
	id := uint64(native.Uint16(raw)) // common_type
	for i, e := range events {
		if e.id == id {
			return record{
				at: int64(native.Uint64(body)), event: i, skb: e.uint(raw, "skbaddr"), value: e.uint(raw, "value"), queue: int(e.uint(raw, "queue")),
			}, true
		}
	}
	return record{}, false
}

// online are the CPUs that the kernel runs.
func online() (cpus []int, err error) {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, fmt.Errorf("which CPUs there are: %w", err)
	}
	for part := range strings.SplitSeq(strings.TrimSpace(string(text)), ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, err1 := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || b-a > 1<<16 {
			return nil, fmt.Errorf("which CPUs there are: %q", text)
		}
		for c := a; c <= b; c++ {
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}
