package host

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// burn keeps the CPU busy until the calling thread has used d of it by its own clock.
func burn(d time.Duration) (used time.Duration) {
	now := func() time.Duration {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
			panic(err)
		}
		return time.Duration(ts.Nano())
	}
	start := now()
	for now()-start < d {
	}
	return now() - start
}

func TestCPUs(t *testing.T) {
	runtime.LockOSThread() // and never unlocked: the pinned thread ends with the test
	all, err := CPUs()
	must(t, err)
	status, err := os.ReadFile("/proc/thread-self/status")
	must(t, err)
	_, list, _ := strings.Cut(string(status), "Cpus_allowed_list:")
	list, _, _ = strings.Cut(list, "\n")
	var want []int
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		var from, to int
		if n, _ := fmt.Sscanf(part, "%d-%d", &from, &to); n == 1 {
			to = from
		}
		for cpu := from; cpu <= to; cpu++ {
			want = append(want, cpu)
		}
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("against /proc/self/status (-want +got):\n%s", diff)
	}
	last := all[len(all)-1]
	var set unix.CPUSet
	set.Set(last)
	must(t, unix.SchedSetaffinity(0, &set))
	if got, err := CPUs(); err != nil || !slices.Equal(got, []int{last}) {
		t.Errorf("pinned to %d: %v, %v", last, got, err)
	}
}

func TestThreadTime(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tid := unix.Gettid()
	before, err := ThreadTime(tid)
	must(t, err)
	process, err := ProcessTime()
	must(t, err)
	used := burn(50 * time.Millisecond)
	after, err := ThreadTime(tid)
	must(t, err)
	processAfter, err := ProcessTime()
	must(t, err)
	if got := after - before; got < used || got > used+20*time.Millisecond {
		t.Errorf("thread: %v, its own clock says %v", got, used)
	}
	if got := processAfter - process; got < used {
		t.Errorf("process: %v, one thread alone used %v", got, used)
	}
	// The file is the other way to know; it may lag by a tick.
	b, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/schedstat", tid))
	if err == nil {
		ran, _, err := parseSchedstat(string(b))
		must(t, err)
		if d := ran - after; d < -50*time.Millisecond || d > 50*time.Millisecond {
			t.Errorf("schedstat says %v, the clock %v", ran, after)
		}
	}
}

// TestThreadTimeOfOther: the clock is read from another thread than its own, while that one sleeps and after it ended.
func TestThreadTimeOfOther(t *testing.T) {
	tids, done, ended := make(chan int), make(chan struct{}), make(chan struct{})
	var used time.Duration
	var thread func()
	thread = func() {
		runtime.LockOSThread() // without Unlock: the thread ends with the goroutine
		if unix.Gettid() == os.Getpid() {
			go thread() // Go never ends the first thread: take another, while this one is held
			<-ended
			runtime.UnlockOSThread()
			return
		}
		defer close(ended)
		used = burn(20 * time.Millisecond)
		tids <- unix.Gettid()
		<-done
	}
	go thread()
	tid := <-tids
	got, err := ThreadTime(tid)
	if err != nil || got < used {
		t.Errorf("%v, %v; want at least %v", got, err, used)
	}
	if wait, err := ThreadWait(tid); err != nil || wait < 0 || wait > time.Minute {
		t.Errorf("waited %v, %v", wait, err)
	}
	close(done)
	<-ended
	for range 1000 { // the thread is gone a moment after its goroutine
		if _, err = ThreadTime(tid); err != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if !errors.Is(err, unix.EINVAL) {
		t.Errorf("a thread that has ended: %v, want EINVAL", err)
	}
	for _, tid := range []int{0, -1, 1} {
		if d, err := ThreadTime(tid); !errors.Is(err, unix.EINVAL) && os.Getpid() != 1 {
			t.Errorf("thread %d: %v, %v; want EINVAL: it is not ours", tid, d, err)
		}
	}
}

func TestParseSchedstat(t *testing.T) {
	for _, c := range []struct {
		in          string
		ran, waited time.Duration
		bad         bool
	}{
		{in: "5726121 1252863 2\n", ran: 5726121, waited: 1252863},
		{in: "0 0 0", ran: 0},
		{in: "1 2", bad: true},
		{in: "1 -2 3", bad: true},
		{in: "1 x 3", bad: true},
		{in: "99999999999999999999 1 1", bad: true},
		{in: "", bad: true},
	} {
		ran, waited, err := parseSchedstat(c.in)
		if ran != c.ran || waited != c.waited || (err != nil) != c.bad {
			t.Errorf("%q: %v, %v, %v; want %v, %v", c.in, ran, waited, err, c.ran, c.waited)
		}
	}
}

func TestLoad(t *testing.T) {
	before, err := Load()
	must(t, err)
	used := burn(200 * time.Millisecond)
	after, err := Load()
	must(t, err)
	if len(before) != len(after) {
		t.Skip("a CPU went on- or offline")
	}
	var busy time.Duration
	for i := range after {
		d := after[i].Sub(before[i])
		busy += d.Busy() + d.Steal
		if d.CPU != before[i].CPU || after[i].Idle == 0 {
			t.Errorf("CPU %d: %+v", d.CPU, after[i])
		}
	}
	if busy < used/2 {
		t.Errorf("all CPUs were busy for %v, one thread used %v", busy, used)
	}
}

func TestParseStat(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name, in string
		want     []CPULoad
		bad      string
	}{
		{
			name: "two CPUs with a gap",
			in:   "cpu  3 0 0 0 0 0 0 0 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu5 0 0 0 1 0 0 0 0 0 0\nintr 5 0\nctxt 7\n",
			want: []CPULoad{
				{CPU: 0, User: 30 * ms, System: 30 * ms, Idle: 90 * ms, IRQ: 60 * ms, SoftIRQ: 70 * ms, Steal: 80 * ms},
				{CPU: 5, Idle: 10 * ms},
			},
		},
		{name: "no newline at the end", in: "cpu0 0 0 0 0 0 0 0 1", want: []CPULoad{{Steal: 10 * ms}}},
		{name: "more fields", in: "cpu0 0 0 0 0 0 0 0 1 0 0 0 0", want: []CPULoad{{Steal: 10 * ms}}},
		{name: "nothing", in: "", bad: "no CPUs"},
		{name: "the sum alone", in: "cpu  1 2 3 4 5 6 7 8\n", bad: "no CPUs"},
		{name: "too few fields", in: "cpu0 1 2 3 4 5 6 7\n", bad: "cpu0 has 7 times"},
		{name: "negative", in: "cpu0 1 2 3 -4 5 6 7 8\n", bad: `"-4"`},
		{name: "too long a time", in: "cpu0 9223372036854775807 2 3 4 5 6 7 8\n", bad: "9223372036854775807"},
		{name: "no number", in: "cpux 1 2 3 4 5 6 7 8\n", bad: `"cpux"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseStat(c.in)
			if (err == nil) != (c.bad == "") || err != nil && !strings.Contains(err.Error(), c.bad) {
				t.Errorf("error %v, want %q", err, c.bad)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, file := range []string{"/proc/stat", "/proc/self/schedstat"} {
		if b, err := os.ReadFile(file); err == nil {
			f.Add(string(b))
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		loads, err := parseStat(s)
		if (err == nil) != (len(loads) > 0) {
			t.Errorf("%q: %d CPUs and %v", s, len(loads), err)
		}
		for _, l := range loads {
			if l.Busy() < 0 || l.Idle < 0 || l.Steal < 0 {
				t.Errorf("%q: %+v", s, l)
			}
		}
		if ran, waited, err := parseSchedstat(s); err == nil && (ran < 0 || waited < 0) {
			t.Errorf("%q: %v, %v", s, ran, waited)
		}
	})
}

func BenchmarkThreadTime(b *testing.B) {
	for b.Loop() {
		ThreadTime(os.Getpid())
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		Load()
	}
}
