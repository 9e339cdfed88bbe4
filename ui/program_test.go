package ui

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/exp/teatest"
	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"
	"go.uber.org/goleak"

	"wirespeed/engine/meter"
	"wirespeed/ui/control"
)

// The whole program, terminal left out: looks come by themselves, keys reach the run, q ends it, and no goroutine is left.
func TestProgram(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), goleak.IgnoreAnyFunction("github.com/charmbracelet/x/exp/teatest.NewTestModel.func2"))
	run := newFakeLab().after(100)
	ctx, cancel := context.WithCancel(context.Background())
	m := newModel(ctx, run, plainTheme(), 20*time.Millisecond)
	tm := teatest.NewTestModel(t, m, teatest.WithInitialTermSize(120, 40))
	sees := func(what string) {
		t.Helper()
		teatest.WaitFor(t, tm.Output(), func(b []byte) bool { return bytes.Contains(b, []byte(what)) }, teatest.WithDuration(10*time.Second), teatest.WithCheckInterval(5*time.Millisecond))
	}
	sees("running")
	tm.Type(":")
	tm.Type("rate 10kpps")
	sees("10,000 pps, 100,000 ns/packet")
	tm.Send(keyOf("enter"))
	sees("rate 100kpps -> 10kpps")
	tm.Send(keyOf("b"))
	sees("path bypass -> qdisc")
	tm.Send(tea.WindowSizeMsg{Width: 20, Height: 5})
	sees("avg")
	tm.Send(tea.WindowSizeMsg{Width: 80, Height: 24})
	sees("instant rx:")
	tm.Type("?")
	sees("start or stop sending")
	tm.Type("q")
	tm.Type("q")
	tm.WaitFinished(t, teatest.WithFinalTimeout(10*time.Second))
	cancel()
	m.work.end()
	if diff := cmp.Diff([]string{"rate 10kpps", "path qdisc"}, run.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// The end of the console waits for a command under way and lets no other begin.
func TestEndWaitsForWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w work
		began, done := make(chan struct{}), false
		slow := w.do(func() tea.Msg {
			close(began)
			time.Sleep(time.Second)
			done = true
			return nil
		})
		go slow()
		<-began
		w.end()
		if !done {
			t.Error("did not wait")
		}
		if msg := w.do(func() tea.Msg { return "too late" })(); msg != nil {
			t.Error("began after the end")
		}
	})
}

// Looks keep an absolute schedule: a slow one does not shift those after it, and missed ones are not made up for.
func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var got []time.Duration
		p := pulse{every: 250 * time.Millisecond}
		for _, took := range []time.Duration{0, 0, 100 * time.Millisecond, 0, 700 * time.Millisecond, 0, 0} {
			if !p.wait(t.Context()) {
				t.Fatal("ended")
			}
			got = append(got, time.Since(start)/time.Millisecond)
			time.Sleep(took)
		}
		want := []time.Duration{0, 250, 500, 750, 1000, 1700, 1950}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("looks in ms (-want +got):\n%s", diff)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { time.Sleep(time.Millisecond); cancel() }()
		if p.wait(ctx) {
			t.Error("a look after the end")
		}
	})
}

// On a dumb terminal everything is in one line without a single escape sequence.
func TestOneLine(t *testing.T) {
	run := newFakeLab().after(40)
	m := newModel(t.Context(), run, testTheme(termenv.Ascii, false, asciiGlyphs), time.Second)
	m.width, m.height = 79, 1
	var out bytes.Buffer
	o := &oneLine{model: m, out: &out, width: 79}
	step := func(msg tea.Msg) {
		_, cmd := o.Update(msg)
		if batch, ok := cmd().(tea.BatchMsg); ok {
			for _, c := range batch[1:] {
				c()
			}
		}
	}
	m.pulse.next = time.Now() // the first look is not awaited here
	step(viewMsg{run.Tick()})
	step(viewMsg{run.Tick()})
	got := out.String()
	if !strings.HasPrefix(got, "\r* ") || !strings.Contains(got, "pps") || !strings.Contains(got, "LAB") {
		t.Errorf("wrote %q", got)
	}
	if strings.ContainsAny(got, "\x1b\n") {
		t.Errorf("more than a line: %q", got)
	}
	if o.View() != "" {
		t.Error("draws twice")
	}
}

func TestResultIsPrinted(t *testing.T) {
	a := meter.Epoch{Mark: "A", Label: "burst 1", N: 40, PPS: 1423454, MeanNS: 702.516}
	b := meter.Epoch{Mark: "B", Label: "burst 8\x1b[2J", N: 30, PPS: 1487962, MeanNS: 672.06}
	var out bytes.Buffer
	printResult(&out, control.Summary{
		Result: "Result: OK: 1(c1+d0) usec, 1 (60byte,0frags)\n  1pps 0Mb/sec (480bps) errors: 0",
		Marks:  []meter.Epoch{a, b}, Diff: &control.Comparison{Diff: meter.Diff{A: a, B: b, NS: 30.456, CI95: 0.2, OK: true, CIOK: true, Real: true}},
	})
	want := `Result: OK: 1(c1+d0) usec, 1 (60byte,0frags)
  1pps 0Mb/sec (480bps) errors: 0
  A: burst 1, 1,423,454 pps, 702.516 ns/packet over 40 samples
  B: burst 8, 1,487,962 pps, 672.060 ns/packet over 30 samples
  B is faster than A by 30.5 ± 0.2 ns/packet (95 %)
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	out.Reset()
	printResult(&out, control.Summary{})
	if out.Len() > 0 {
		t.Errorf("nothing was sent, and it says %q", out.String())
	}
	printResult(failing{}, control.Summary{Result: "x"}) // a terminal that has gone is no reason to fail
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
