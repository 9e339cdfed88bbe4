package report

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"wirespeed/engine"
	"wirespeed/engine/meter"
	"wirespeed/nic"
	"wirespeed/presets/knob"
	"wirespeed/ui/control"
)

var update = flag.Bool("update", false, "write the golden files")

// fakeRun plays views by the clock of a synctest bubble: one a second from its start.
type fakeRun struct {
	views  []*control.View
	last   *control.View
	sum    control.Summary
	mu     sync.Mutex // guards events
	events []control.Event
	says   map[int]control.Event // before the view of that number
	length time.Duration         // 0: until stopped

	start   time.Time
	ticks   []time.Duration
	done    chan struct{}
	news    chan struct{}
	stopped int
}

func (f *fakeRun) Start() error {
	f.start, f.done, f.news = time.Now(), make(chan struct{}), make(chan struct{}, 1)
	if f.length > 0 {
		time.AfterFunc(f.length, func() { close(f.done) })
	}
	for i, e := range f.says {
		time.AfterFunc(time.Duration(i)*time.Second-time.Millisecond, func() {
			f.mu.Lock()
			e.Seq = len(f.events) + 1
			f.events = append(f.events, e)
			f.mu.Unlock()
			f.news <- struct{}{}
		})
	}
	return nil
}

func (f *fakeRun) Stop() error { f.stopped++; return nil }

func (f *fakeRun) Tick() *control.View {
	f.ticks = append(f.ticks, time.Since(f.start))
	return f.views[min(len(f.ticks), len(f.views))-1]
}

func (f *fakeRun) Last() *control.View   { return f.last }
func (f *fakeRun) Due() time.Time        { return f.start.Add(time.Duration(len(f.ticks)+1) * time.Second) }
func (f *fakeRun) Done() <-chan struct{} { return f.done }
func (f *fakeRun) News() <-chan struct{} { return f.news }
func (f *fakeRun) Events() []control.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.events)
}

func (f *fakeRun) Result() control.Summary { return f.sum }

func ptr[T any](v T) *T { return &v }

var noon = time.Date(2026, 11, 30, 12, 0, 0, 123e6, time.UTC)

// view is a sample of a run that knows everything.
func view(second int, pps float64) *control.View {
	var line meter.Line
	for range second {
		line.Add(pps-1, pps)
	}
	at := noon.Add(time.Duration(second) * time.Second)
	return &control.View{
		At: at, Elapsed: time.Duration(second) * time.Second, State: engine.Running, Fresh: true, Target: ptr(1e6), Line: line,
		Sample: control.Sample{
			Valid: true, Interval: time.Second, Elapsed: time.Duration(second) * time.Second, At: at, Epoch: 1, N: second, ErrNS: 0.04,
			TX: control.Flow{
				OK: true, PPS: pps, Avg: pps, BpsL1: pps * 672, BpsL2: pps * 512, Percent: ptr(pps * 672 / 1e7), NS: ptr(1e9 / pps),
				VarNS: 0.5, VarMin: -0.25, VarMax: 0.75,
			},
			RX: control.Flow{OK: true, PPS: pps - 1, Avg: pps - 1}, TxSource: "device", RxDev: "v1",
		},
		Ladder: control.Ladder{Asked: ptr(uint64(1e6)), Ring: 999, Taken: 998, Device: ptr(uint64(997)), Arrived: ptr(uint64(996)), Gaps: []string{"1 frame lost"}},
		Missed: 3, LostNoCarrier: ptr(uint64(4)), Errors: 5,
		Queues: []control.Queue{{
			Queue: 2, CPU: 1, PPS: pps, InKernel: 6, InDevice: ptr(7.5), RingFull: 8, Retries: 9, Errors: 10,
			User: 0.25, Kernel: 0.5, Spin: 0.125, Wait: 0.125, State: engine.Running,
		}},
		Arrivals: heard(),
		Qdisc:    &nic.Qdisc{Kind: "fq_codel", BacklogPackets: 11, BacklogBytes: 12, Drops: 13, Requeues: 14},
		Instruments: &control.Instruments{
			Window: time.Second, PerSecond: 66, Cost: 0.004, InKernel: 15, Regime: meter.Queued, RegimeWhy: "backlog 16.5", Since: at,
			Qdiscs: []control.QdiscGauge{
				{
					Queue: 1, Kind: "fq_codel", Mean: 16.5, Max: 17, MeanBytes: 990, MaxBytes: 1020, Waiting: 0.75, Computed: true, Drops: 18, Requeues: 19, Overlimits: 20,
					AllDrops: 21, AllReqs: 22, AllOverlims: 23,
				},
				{Queue: -1, Kind: "tbf"},
			},
			Devices: []control.DeviceGauge{{Queue: 1, Mean: 24, Max: 25, Limit: 26, MeanBytes: 1440, MaxBytes: 1500, LimitBytes: 1560, Most: 27}},
			Changes: []control.RegimeChange{{At: at, From: meter.Direct, To: meter.Queued, Why: "backlog 16.5", After: "rate max"}},
		},
		Knobs: []control.Knob{{Name: "rate", Value: "1Mpps"}, {Name: "size", Value: "60"}, {Name: "cpus", Value: "0,1"}},
	}
}

// blind is a sample of a run that knows next to nothing.
func blind(second int) *control.View {
	v := view(second, 1e6)
	v.State, v.Target, v.LostNoCarrier, v.Qdisc = engine.NoCarrier, nil, nil, nil
	v.Ladder = control.Ladder{Ring: 1, Taken: 1}
	v.Arrivals = nil
	v.Queues = []control.Queue{{Queue: -1, State: engine.Failed, Err: "no such device"}}
	v.Placement = "which queues are used is not known"
	v.Sample = control.Sample{Interval: time.Second, Elapsed: v.Elapsed, At: v.At, TxSource: "engine", RxDev: "v1"}
	return v
}

func summary() control.Summary {
	a := meter.Epoch{Number: 1, Label: "start", Mark: "A", N: 3, Timed: 3, PPS: 1e6, MeanNS: 1000, StdDevNS: 0.5, MinNS: 999, MaxNS: 1001}
	b := meter.Epoch{Number: 2, Label: "burst 8", N: 1, Timed: 1, PPS: 2e6, MeanNS: 500, MinNS: 500, MaxNS: 500}
	d := meter.Compare(a, b)
	return control.Summary{
		Elapsed: 3500 * time.Millisecond, TxPackets: 997, TxSource: "device", RxPackets: ptr(uint64(996)), Ladder: view(1, 1e6).Ladder,
		Missed: 3, LostNoCarrier: ptr(uint64(4)), AvgPPS: 1e6, StdDevNS: math.NaN(), Errors: 5, Epochs: []meter.Epoch{a, b},
		Marks: []meter.Epoch{a}, Diff: &control.Comparison{Diff: d}, Arrivals: heard(), Result: "Result: OK: 3500000(c3500000+d0) usec, 997 (60byte,0frags)\n  284pps 0Mb/sec (136320bps) errors: 5",
	}
}

func fake() *fakeRun {
	mixed := view(3, 1.5e6)
	mixed.Sample.Epoch, mixed.Sample.N = 0, 0
	warned := view(4, 1e6)
	warned.Line.Add(1e6, 2e6)
	last := view(5, 1e6)
	last.At = noon.Add(4600 * time.Millisecond)
	last.Sample.At, last.Sample.Interval = last.At, 600*time.Millisecond
	return &fakeRun{
		views:  []*control.View{view(1, 1e6), blind(2), mixed, warned},
		last:   last,
		length: 4600 * time.Millisecond,
		says:   map[int]control.Event{2: {At: noon, Text: "link down"}, 3: {At: noon, Text: "burst 1 -> 8", Knob: "burst"}},
		sum:    summary(),
	}
}

func TestGolden(t *testing.T) {
	for _, format := range Formats {
		t.Run(format, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out, log bytes.Buffer
				f := fake()
				if err := serve(t.Context(), f, Options{Format: format, Out: &out, Log: &log}); err != nil {
					t.Fatal(err)
				}
				golden(t, format+".golden", out.Bytes())
				golden(t, format+".log.golden", log.Bytes())
				if diff := cmp.Diff([]time.Duration{1e9, 2e9, 3e9, 4e9}, f.ticks); diff != "" {
					t.Errorf("ticks (-want +got):\n%s", diff)
				}
				if f.stopped != 1 {
					t.Errorf("stopped %d times", f.stopped)
				}
			})
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// TestSchema holds the objects against DESIGN.md section 6: every field is there, by that name and of that kind, and null where the
// figure is not known.
func TestSchema(t *testing.T) {
	const number, text, boolean, list, object, null = "number", "string", "bool", "list", "object", "null"
	for _, c := range []struct {
		name   string
		object any
		want   map[string]string
	}{
		{"a sample that knows everything", newSample(view(1, 1e6)), map[string]string{
			"type": text, "t": text, "elapsed_s": number, "interval_s": number, "epoch": number, "n": number, "valid": boolean,
			"err_ns": number, "state": text, "target_pps": number, "tx": object, "tx.pps": number, "tx.avg_pps": number,
			"tx.bps_l1": number, "tx.bps_l2": number, "tx.ns": number, "tx.var_ns": number, "tx.var_min_ns": number,
			"tx.var_max_ns": number, "tx.source": text, "rx": object, "rx.dev": text, "rx.pps": number, "rx.avg_pps": number,
			"rx.var_ns": number, "ladder": object, "ladder.asked": number, "ladder.ring": number, "ladder.taken": number,
			"ladder.device": number, "ladder.arrived": number, "missed": number, "lost_no_carrier": number, "queues": list,
			"queues.0.queue": number, "queues.0.cpu": number, "queues.0.pps": number, "queues.0.in_kernel": number,
			"queues.0.in_device": number, "queues.0.ring_full": number, "queues.0.retries": number, "queues.0.errors": number,
			"qdisc": object, "qdisc.kind": text, "qdisc.backlog_packets": number, "qdisc.backlog_bytes": number,
			"qdisc.drops": number, "qdisc.requeues": number, "knobs": object, "knobs.rate": text, "knobs.size": text,
		}},
		{"one that knows nothing", newSample(blind(1)), map[string]string{
			"epoch": null, "n": null, "err_ns": null, "target_pps": null, "tx.pps": null, "tx.avg_pps": null, "tx.bps_l1": null,
			"tx.bps_l2": null, "tx.ns": null, "tx.var_ns": null, "tx.source": text, "rx.dev": text, "rx.pps": null, "rx.avg_pps": null,
			"rx.var_ns": null, "ladder.asked": null, "ladder.ring": number, "ladder.device": null, "ladder.arrived": null,
			"lost_no_carrier": null, "queues.0.queue": null, "queues.0.in_device": null, "qdisc": null, "valid": boolean,
		}},
		{"a turned knob", eventJSON{Type: "event", T: stamp(noon), Text: "burst 1 -> 8", Knob: word("burst")}, map[string]string{
			"type": text, "t": text, "text": text, "knob": text,
		}},
		{"another event", eventJSON{Type: "event", T: stamp(noon), Text: "link down", Knob: word("")}, map[string]string{"knob": null}},
		{"summary", newSummary(summary(), noon), map[string]string{
			"type": text, "elapsed_s": number, "tx_packets": number, "rx_packets": number, "ladder": object, "ladder.asked": number,
			"ladder.ring": number, "ladder.taken": number, "ladder.device": number, "ladder.arrived": number, "missed": number,
			"avg_pps": number, "stddev_ns": null, "errors": number, "epochs": list, "epochs.0.stddev_ns": number,
			"epochs.1.stddev_ns": null, "result": text, "error": null, "diff.ns": number, "diff.ci95_ns": null,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			line, err := json.Marshal(c.object)
			if err != nil {
				t.Fatal(err)
			}
			var parsed any
			if err := json.Unmarshal(line, &parsed); err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			kinds(parsed, "", got)
			for name, kind := range c.want {
				if got[name] != kind {
					t.Errorf("%s is %q, want %s", name, got[name], kind)
				}
			}
		})
	}
	if got := stamp(noon.In(time.FixedZone("", 3600))); got != "2026-11-30T12:00:00.123Z" {
		t.Errorf("a time is printed %s", got)
	}
}

// kinds lists what a parsed object has, by path.
func kinds(v any, path string, into map[string]string) {
	at := func(name string) string { return strings.TrimPrefix(path+"."+name, ".") }
	switch v := v.(type) {
	case nil:
		into[path] = "null"
	case bool:
		into[path] = "bool"
	case float64:
		into[path] = "number"
	case string:
		into[path] = "string"
	case []any:
		into[path] = "list"
		for i, e := range v {
			kinds(e, at(string(rune('0'+i))), into)
		}
	case map[string]any:
		into[path] = "object"
		for name, e := range v {
			kinds(e, at(name), into)
		}
	}
}

func TestCSVColumnsStandStill(t *testing.T) {
	var out bytes.Buffer
	w := csvWriter{out: &out}
	many := view(3, 1e6)
	many.Queues = slices.Repeat(many.Queues, 4)
	for _, v := range []*control.View{view(1, 1e6), blind(2), many} {
		if err := w.sample(v); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := csv.NewReader(&out).ReadAll() // it refuses rows of different lengths
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 4 {
		t.Fatalf("%d rows", len(rows))
	}
	names := rows[0]
	for _, want := range []string{"t", "tx.pps", "tx.source", "rx.dev", "ladder.arrived", "qdisc.kind", "knobs.rate", "knobs.cpus", "lost_no_carrier"} {
		if !slices.Contains(names, want) {
			t.Errorf("no column %s", want)
		}
	}
	if dup := slices.Compact(slices.Sorted(slices.Values(names))); len(dup) != len(names) {
		t.Error("a column is there twice")
	}
	cell := func(row int, name string) string { return rows[row][slices.Index(names, name)] }
	for _, c := range []struct {
		row        int
		name, want string
	}{
		{1, "tx.pps", "1000000"},
		{1, "knobs.cpus", "0,1"},
		{1, "qdisc.requeues", "14"},
		{1, "knobs.rate", "1Mpps"},
		{2, "tx.pps", ""},
		{2, "qdisc.kind", ""},
		{2, "qdisc.requeues", ""},
		{2, "knobs.rate", "1Mpps"},
		{3, "ladder.arrived", "996"},
	} {
		if got := cell(c.row, c.name); got != c.want {
			t.Errorf("row %d, %s is %q, want %q", c.row, c.name, got, c.want)
		}
	}
}

// closing is a pipe whose reader goes away after some writes.
type closing struct{ left int }

func (c *closing) Write(p []byte) (int, error) {
	if c.left--; c.left < 0 {
		return 0, &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}
	}
	return len(p), nil
}

func TestTheReaderGoesAway(t *testing.T) {
	for _, format := range Formats {
		t.Run(format, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fake()
				f.length = 0 // nothing else ends it
				if err := serve(t.Context(), f, Options{Format: format, Out: &closing{1}}); err != nil {
					t.Errorf("it is no failure: %v", err)
				}
				if f.stopped != 1 {
					t.Errorf("stopped %d times", f.stopped)
				}
			})
		})
	}
}

func TestAFullDiskIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake()
		r, w := io.Pipe()
		r.CloseWithError(syscall.ENOSPC)
		if err := serve(t.Context(), f, Options{Format: "json", Out: w}); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("error %v", err)
		}
		if f.stopped != 1 {
			t.Errorf("stopped %d times", f.stopped)
		}
	})
}

func TestASignalEndsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		f := fake()
		f.length = 0
		var out bytes.Buffer
		if err := serve(ctx, f, Options{Format: "line", Out: &out}); err != nil {
			t.Fatal(err)
		}
		if f.stopped != 1 || !strings.HasSuffix(out.String(), f.sum.Result+"\n") {
			t.Errorf("stopped %d times, printed\n%s", f.stopped, out.String())
		}
	})
}

func TestAFailureIsReturnedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fake()
		f.sum.Err, f.sum.Marks, f.sum.Diff, f.sum.Arrivals = errors.New("v0 is gone: the interface was removed"), nil, nil, nil
		f.says = map[int]control.Event{1: {At: noon, Text: f.sum.Err.Error(), Fatal: true}}
		var out, log bytes.Buffer
		if err := serve(t.Context(), f, Options{Format: "line", Out: &out, Log: &log}); err != f.sum.Err {
			t.Errorf("error %v", err)
		}
		if log.Len() > 0 {
			t.Errorf("the log says it too: %s", log.String())
		}
	})
}

func TestUnknownFormat(t *testing.T) {
	f := fake()
	err := serve(t.Context(), f, Options{Format: "xml"})
	if !errors.Is(err, knob.ErrUsage) || err.Error() != `format "xml": use line, json or csv` {
		t.Errorf("error %v", err)
	}
	if !f.start.IsZero() {
		t.Error("it sent before it refused")
	}
}
