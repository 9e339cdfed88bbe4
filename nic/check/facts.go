package check

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"wirespeed/nic"
	"wirespeed/nic/host"
)

// Facts are what was read of a machine and, unless Device is nil, of an interface.
type Facts struct {
	Machine
	Device *Device
}

// Known is a fact: a value, or why there is none.
type Known[T any] struct {
	V   T
	Err error
}

func know[T any](v T, err error) Known[T] { return Known[T]{v, err} }

// Machine are the facts of the machine.
type Machine struct {
	CPUs         []int // that this process may use, ascending: workers are put on them in this order
	Release      Known[string]
	Params       Known[[]string]
	Config       Known[host.Config]
	Symbols      Known[map[string]bool] // read only where Config is not known
	Clock        Known[host.Clock]
	Siblings     Known[map[int][]int] // of CPUs
	Nodes        Known[map[int]int]
	Governors    Known[map[int]string]
	Turbo        Known[Turbo]
	Idle         Known[host.IdleState] // the deepest of the first of CPUs
	Mitigations  Known[[]string]
	Hypervisor   Known[string]
	Tracing      Known[host.Tracing]
	StackTracer  Known[int]
	Slab         Known[[]string]
	Group        Known[host.Group]
	Processes    Known[[]host.Process]
	AllProcesses bool // Processes are the whole machine's
	Load         Known[Load]
}

// Turbo is the switch of frequencies above the nominal.
type Turbo struct {
	On        bool
	File, Off string // that switches it, and what to write there
}

// Load is what ran during a look, besides this process.
type Load struct {
	Span  time.Duration
	Busy  map[int]float64 // share of each CPU, 0 to 1
	Steal map[int]float64
	Top   []Busy // those that used most, the most first
}

// Busy is a process and its share of a CPU.
type Busy struct {
	host.Process
	Share float64
}

// watch is how long the machine is watched for other load. The kernel counts in ticks of 10 ms.
const watch = 300 * time.Millisecond

// Look reads the facts of the machine below root and, unless d is nil, of the interface. It takes half a second, on a busy machine one.
func Look(root host.Root, d *nic.Device) (*Facts, error) {
	cpus, err := host.CPUs()
	if err != nil {
		return nil, err
	}
	f := &Facts{Machine: readMachine(root, cpus)}
	if d != nil {
		f.Device = readDevice(root, d)
	}
	// Nothing of ours runs while the machine is watched, and what ends in this moment (a program that has just set the device up) gets a
	// second chance.
	for range 2 {
		before := sample(root, true)
		time.Sleep(watch)
		l := know(loadBetween(before, sample(root, false), cpus))
		if f.Load.V.Busy == nil || l.Err == nil && l.V.most(f.workers()) < f.Load.V.most(f.workers()) {
			f.Load = l
		}
		if l.Err != nil || l.V.most(f.workers()) < busyLeast {
			break
		}
	}
	return f, nil
}

// most is the share of the busiest of the CPUs.
func (l Load) most(cpus []int) (most float64) {
	for _, cpu := range cpus {
		most = max(most, l.Busy[cpu])
	}
	return most
}

// readMachine reads all but the load.
func readMachine(root host.Root, cpus []int) Machine {
	m := Machine{
		CPUs: cpus, Release: know(root.Release()), Params: know(root.BootParams()), Clock: know(root.Clock()),
		Nodes: know(root.Nodes()), Governors: know(root.Governors(cpus)), Mitigations: know(root.Mitigations()),
		Hypervisor: know(root.Hypervisor()), Tracing: know(root.Tracing()), Slab: know(root.SlabDebug()), Group: know(root.Group()),
		StackTracer: know(root.Int("proc/sys/kernel/stack_tracer_enabled")),
	}
	m.Config.V, _, m.Config.Err = root.Config()
	if m.Config.Err != nil {
		m.Symbols = know(root.Symbols(symbols()...))
	}
	m.Turbo.V.On, m.Turbo.V.File, m.Turbo.V.Off, m.Turbo.Err = root.Turbo()
	m.Processes.V, m.AllProcesses, m.Processes.Err = root.Processes()
	m.Siblings.V = make(map[int][]int)
	for _, cpu := range cpus {
		m.Siblings.V[cpu], m.Siblings.Err = root.Siblings(cpu)
		if m.Siblings.Err != nil {
			break
		}
	}
	if len(cpus) > 0 {
		m.Idle = know(root.DeepestIdle(cpus[0]))
	}
	return m
}

// moment is one reading of what runs.
type moment struct {
	at    time.Time
	loads []host.CPULoad
	own   time.Duration
	procs []host.Process
	err   error
}

// sample reads what runs; the list of processes, which takes longest, is read first or last.
func sample(root host.Root, first bool) (m moment) {
	if first {
		m.procs, _, _ = root.Processes() // only names for what is found otherwise
	}
	m.own, _ = host.ProcessTime()
	m.at = time.Now()
	m.loads, m.err = root.Load()
	if !first {
		m.procs, _, _ = root.Processes()
	}
	return m
}

// loadBetween is what others did between two readings on each CPU. Our own time is taken off the busiest, for which CPUs it was spent on is not
// known; a run beside the check keeps those of its workers the busiest.
func loadBetween(a, b moment, cpus []int) (l Load, err error) {
	if err := errors.Join(a.err, b.err); err != nil {
		return l, err
	}
	l = Load{Span: b.at.Sub(a.at), Busy: make(map[int]float64), Steal: make(map[int]float64)}
	if l.Span <= 0 {
		return l, errors.New("the load of the CPUs was read at one moment only")
	}
	before := make(map[int]host.CPULoad)
	for _, c := range a.loads {
		before[c.CPU] = c
	}
	share := func(d time.Duration) float64 { return min(max(0, float64(d)/float64(l.Span)), 1) }
	for _, c := range b.loads {
		earlier, there := before[c.CPU]
		if !there || !slices.Contains(cpus, c.CPU) {
			continue
		}
		d := c.Sub(earlier)
		l.Busy[c.CPU], l.Steal[c.CPU] = share(d.Busy()), share(d.Steal)
	}
	own := max(0, float64(b.own-a.own)/float64(l.Span))
	for _, cpu := range slices.SortedFunc(maps.Keys(l.Busy), func(a, b int) int { return cmp.Or(cmp.Compare(l.Busy[b], l.Busy[a]), a-b) }) {
		mine := min(own, l.Busy[cpu])
		l.Busy[cpu] -= mine
		own -= mine
	}
	used := make(map[int]time.Duration)
	for _, p := range a.procs {
		used[p.PID] = p.Used
	}
	for _, p := range b.procs {
		if d := p.Used - used[p.PID]; d > 0 && p.PID != os.Getpid() {
			l.Top = append(l.Top, Busy{p, float64(d) / float64(l.Span)})
		}
	}
	slices.SortFunc(l.Top, func(a, b Busy) int { return cmp.Compare(b.Share, a.Share) })
	l.Top = l.Top[:min(3, len(l.Top))]
	return l, nil
}

// workers are the CPUs that workers would be put on: one for each queue of the device, as far as there are CPUs.
func (f *Facts) workers() []int {
	n := len(f.CPUs)
	if f.Device != nil && f.Device.Link.Err == nil {
		n = min(n, max(1, f.Device.Link.V.TxQueues))
	}
	return f.CPUs[:n]
}

func percent(share float64) string { return strconv.Itoa(int(share*100+0.5)) + " %" }

func cpuWord(cpus []int) string {
	if len(cpus) == 1 {
		return fmt.Sprintf("CPU %d", cpus[0])
	}
	return "CPUs " + host.FormatList(cpus)
}
