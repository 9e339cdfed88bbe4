package check

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"wirespeed/nic/host"
)

// machine is the table of what is checked of a machine, in the order of what it costs.
var machine = []check{
	{"load", "CPUs", "other load", Certain, "whatever else runs on a sender's CPU takes time from the sender, a tick at a time", judgeLoad},
	{"cgroup", "CPUs", "CPU limit", Certain, "a sender that has used up its share stands still until the next period", judgeGroup},
	{"governor", "CPUs", "governor", Certain, "a clock that goes down while the CPU waits makes it slow when it is needed, and figures unsteady", judgeGovernor},
	{"smt", "CPUs", "SMT", Certain, "two hardware threads share one core: each has about 60 % of it", judgeSMT},
	{"mitigations", "CPUs", "mitigations", Certain, "retpolines make every indirect call of stack and driver slower, page table isolation every system call", judgeMitigations},
	{"idle", "CPUs", "C-states", Likely, "an idle CPU has to wake up for an interrupt or for the next frame of a slow stream", judgeIdle},
	{"turbo", "CPUs", "turbo", Certain, "the clock depends on heat and on the other cores: figures drift", judgeTurbo},
	{"vm", "CPUs", "machine", Certain, "a guest's CPUs and devices are a program's: it can be stopped for milliseconds, and kicks and interrupts cost exits", judgeVM},

	{"tracing", "kernel", "tracing", Certain, "a tracer or trace point runs code for each function or each frame", judgeTracing},
	{"clock", "kernel", "clock source", Certain, "the time is read for every frame: TSC takes 20 ns, others up to a microsecond", judgeClock},
	{"irqbalance", "kernel", "irqbalance", Certain, "it moves interrupts to other CPUs every 10 s, also those that were placed by hand", judgeIRQBalance},
	{"lockdep", "kernel", "lockdep", Certain, "the lock checker makes each lock several times slower", compiled("lockdep")},
	{"kasan", "kernel", "KASAN", Certain, "each memory access is checked: two to three times slower", compiled("kasan")},
	{"kmsan", "kernel", "KMSAN", Certain, "each memory access is checked: many times slower", compiled("kmsan")},
	{"pagealloc", "kernel", "page alloc debug", Certain, "each page that is freed is taken out of the page tables", judgePageAlloc},
	{"slub", "kernel", "slub debug", Certain, "each packet buffer is filled and checked when it is made and freed", judgeSlab},
	{"irqtrace", "kernel", "preempt/irq trace", Certain, "each time interrupts or preemption are switched off and on is timed", compiled("irqtrace")},
	{"debug", "kernel", "other debugging", Certain, "code that checks on the way of every frame", compiled("debug")},
	{"zeroing", "kernel", "zeroed buffers", Small, "each packet buffer is filled with zeros before it is used", judgeZeroing},
	{"cgroupsched", "kernel", "CPU controller", Small, "the scheduler goes through a tree of groups when it chooses what runs", judgeGroupSched},
}

// option is a debugging aid of the kernel: by the name in its configuration, and by a function that is there only with it.
type option struct{ config, symbol string }

// aids are the debugging aids that cost by being in the kernel, by the check that looks for them.
var aids = map[string][]option{
	"lockdep": {{"LOCKDEP", "lock_acquire"}},
	"kasan":   {{"KASAN", "kasan_report"}},
	"kmsan":   {{"KMSAN", "kmsan_report"}},
	"irqtrace": {
		{"IRQSOFF_TRACER", "trace_hardirqs_off"},
		{"PREEMPT_TRACER", "trace_preempt_off"},
		{"TRACE_IRQFLAGS", "trace_hardirqs_on"},
		{"TRACE_PREEMPT_TOGGLE", "trace_preempt_on"},
	},
	"debug": {
		{"KCSAN", "__tsan_read8"},
		{"KCOV", "__sanitizer_cov_trace_pc"},
		{"DEBUG_OBJECTS", "debug_object_activate"},
		{"DEBUG_KMEMLEAK", "kmemleak_scan"},
		{"DEBUG_PREEMPT", "check_preemption_disabled"},
	},
	"pagealloc": {{"DEBUG_PAGEALLOC", "__kernel_map_pages"}}, // and switched on at the start: judgePageAlloc
}

// symbols are the functions that checks look for where there is no configuration.
func symbols() (all []string) {
	for _, options := range aids {
		for _, o := range options {
			all = append(all, o.symbol)
		}
	}
	return all
}

// built tells whether an option is in the kernel, by its configuration or else by its functions.
func (f *Facts) built(o option) (bool, error) {
	if f.Config.Err == nil {
		v := f.Config.V[o.config]
		return v == "y" || v == "m", nil
	}
	if f.Symbols.Err == nil {
		return f.Symbols.V[o.symbol], nil
	}
	return false, f.Config.Err
}

// compiled judges debugging aids that cost by being in the kernel.
func compiled(what string) func(f *Facts) verdict {
	return func(f *Facts) verdict {
		var found []string
		for _, o := range aids[what] {
			in, err := f.built(o)
			if err != nil {
				return unknown(err)
			}
			if in {
				found = append(found, o.config)
			}
		}
		if len(found) > 0 {
			return bad("in this kernel: %s", list(found, 4)).by("boot a kernel without CONFIG_%s", strings.Join(found, ", CONFIG_"))
		}
		return ok("not in this kernel")
	}
}

// Shares of a CPU that others take: what is told of, and what is bad.
const busyLeast, busyMuch = 0.1, 0.3

func judgeLoad(f *Facts) verdict {
	if f.Load.Err != nil {
		return unknown(f.Load.Err)
	}
	most := f.Load.V.most(f.workers())
	var where []int
	for _, cpu := range f.workers() {
		if f.Load.V.Busy[cpu] >= busyLeast {
			where = append(where, cpu)
		}
	}
	if len(where) == 0 {
		return ok("others use at most %s of a sender's CPU", percent(most))
	}
	var who []string
	var top string
	for _, b := range f.Load.V.Top {
		if b.Share >= 0.05 {
			who = append(who, fmt.Sprintf("%s %s", b.Name, percent(b.Share)))
			if top == "" {
				top = fmt.Sprintf("%s (process %d)", b.Name, b.PID)
			}
		}
	}
	seen := fmt.Sprintf("%s up to %s busy", cpuWord(where), percent(most))
	if len(who) > 0 {
		seen += ": " + strings.Join(who, ", ")
	}
	v := warn("%s", seen)
	if most >= busyMuch {
		v = bad("%s", seen)
	}
	if top == "" {
		return v.by("end what runs there, or send on other CPUs: --cpus LIST")
	}
	return v.by("end %s, or keep it away: taskset -cp, or --cpus LIST", top)
}

func judgeGroup(f *Facts) verdict {
	switch g := f.Group; {
	case g.Err != nil:
		return unknown(g.Err)
	case g.V.Limit == 0:
		return ok("no limit")
	case g.V.Limit >= float64(len(f.CPUs)):
		return ok("the limit of %.3g CPUs is no bound here", g.V.Limit)
	default:
		return bad("%.3g CPUs at most, by %s", g.V.Limit, g.V.File).by("echo %s >%s", noLimit(g.V.File), g.V.File)
	}
}

func noLimit(file string) string {
	if strings.HasSuffix(file, "cpu.max") {
		return "max"
	}
	return "-1"
}

func judgeGovernor(f *Facts) verdict {
	if f.Governors.Err != nil {
		return unknown(f.Governors.Err)
	}
	var slow []int
	var names []string
	none := 0
	for _, cpu := range f.workers() {
		switch g := f.Governors.V[cpu]; g {
		case "":
			none++
		case "performance":
		default:
			slow = append(slow, cpu)
			if !slices.Contains(names, g) {
				names = append(names, g)
			}
		}
	}
	switch {
	case len(slow) > 0:
		v := warn("%s on %s", strings.Join(names, ", "), cpuWord(slow)).by("cpupower frequency-set -g performance")
		if f.Device != nil {
			v = v.change("governor", "performance")
		}
		return v
	case none > 0 && f.Hypervisor.Err == nil && f.Hypervisor.V != "":
		return ok("none here: the hypervisor's host has it")
	case none > 0:
		return info("no frequency scaling by the kernel: firmware may do it").by("")
	}
	return ok("performance")
}

func judgeSMT(f *Facts) verdict {
	if f.Siblings.Err != nil {
		return missing(f.Siblings.Err, ok("no hardware threads"))
	}
	workers := f.workers()
	shared := false
	smt := false
	var apart []int
	taken := make(map[int]bool)
	for _, cpu := range f.CPUs {
		s := f.Siblings.V[cpu]
		smt = smt || len(s) > 1
		if !slices.ContainsFunc(s, func(c int) bool { return taken[c] }) {
			apart = append(apart, cpu)
		}
		taken[cpu] = true
	}
	for i, a := range workers {
		for _, b := range workers[:i] {
			shared = shared || slices.Contains(f.Siblings.V[a], b)
		}
	}
	switch {
	case !smt:
		return ok("each CPU is a core")
	case f.Device == nil:
		return info("on: one sender for each core with --cpus %s", host.FormatList(apart))
	case shared && len(apart) < len(workers):
		return info("%s cannot have a core each: %d cores", plural(len(workers), "sender"), len(apart))
	case shared:
		return warn("%s share cores", cpuWord(workers)).by("wirespeed %s --cpus %s", f.Device.Name, host.FormatList(apart[:len(workers)]))
	}
	return ok("senders have a core each")
}

func judgeMitigations(f *Facts) verdict {
	switch m := f.Mitigations; {
	case m.Err != nil:
		return missing(m.Err, ok("this kernel has none"))
	case len(m.V) == 0:
		return ok("none that costs here")
	default:
		return warn("%s", list(m.V, 3)).by("boot with mitigations=off (only where nobody else's code runs)")
	}
}

// slowWake is a wake-up that is longer than the gap of a stream worth a paced measurement.
const slowWake = 20 * time.Microsecond

func judgeIdle(f *Facts) verdict {
	switch i := f.Idle; {
	case i.Err != nil:
		return missing(i.Err, ok("the kernel chooses none here"))
	case i.V.Latency > slowWake:
		return info("%s, %v to wake up", i.V.Name, i.V.Latency).by("cpupower idle-set -D %d", slowWake/time.Microsecond)
	default:
		return ok("%s, %v to wake up", i.V.Name, i.V.Latency)
	}
}

func judgeTurbo(f *Facts) verdict {
	switch t := f.Turbo; {
	case t.Err != nil:
		return missing(t.Err, ok("no switch here"))
	case t.V.On:
		return info("on").by("echo %s >%s (steadier, and slower)", t.V.Off, t.V.File)
	}
	return ok("off")
}

func judgeVM(f *Facts) verdict {
	switch h := f.Hypervisor; {
	case h.Err != nil:
		return unknown(h.Err)
	case h.V == "":
		return ok("bare metal, as far as it says")
	default:
		var most float64
		if f.Load.Err == nil {
			for _, s := range f.Load.V.Steal {
				most = max(most, s)
			}
		}
		v := info("a guest of %s", h.V)
		if most >= 0.01 {
			v.seen += ", which took " + percent(most) + " of a CPU away meanwhile"
		}
		return v
	}
}

func judgeTracing(f *Facts) verdict {
	t := f.Tracing
	stack := f.StackTracer.Err == nil && f.StackTracer.V != 0
	switch {
	case t.Err != nil && stack:
		return bad("the stack tracer is on").by("sysctl kernel.stack_tracer_enabled=0")
	case errors.Is(t.Err, fs.ErrNotExist) && f.Config.Err == nil && f.Config.V["FTRACE"] == "":
		return ok("not in this kernel")
	case errors.Is(t.Err, fs.ErrNotExist):
		return unknown(errors.New("tracefs is not mounted: mount -t tracefs trace /sys/kernel/tracing"))
	case t.Err != nil:
		return unknown(t.Err)
	}
	var seen, mend []string
	if len(t.V.Tracers) > 0 {
		seen = append(seen, "tracer "+list(t.V.Tracers, 2))
		mend = append(mend, "echo nop >"+t.V.Dir+"/current_tracer")
	}
	if len(t.V.Events) > 0 {
		seen = append(seen, plural(len(t.V.Events), "event")+" on: "+list(t.V.Events, 2))
		mend = append(mend, "echo >"+t.V.Dir+"/set_event")
	}
	if stack {
		seen = append(seen, "stack tracer")
		mend = append(mend, "sysctl kernel.stack_tracer_enabled=0")
	}
	if len(seen) == 0 {
		return ok("no tracer, no events")
	}
	return bad("%s", strings.Join(seen, "; ")).by("%s", strings.Join(mend, "; "))
}

func judgeClock(f *Facts) verdict {
	c := f.Clock
	if c.Err != nil {
		return unknown(c.Err)
	}
	const file = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
	v := bad("%s", c.V.Current)
	switch c.V.Current {
	case "tsc":
		return ok("tsc")
	case "arch_sys_counter", "timebase", "riscv_clocksource", "tod", "stick":
		return ok("%s, this architecture's own", c.V.Current)
	case "kvm-clock", "hyperv_clocksource_tsc_page", "xen":
		v = warn("%s", c.V.Current).because("it is read without a system call, but takes longer than the TSC", Small)
	}
	if slices.Contains(c.V.Available, "tsc") {
		return v.by("echo tsc >%s", file)
	}
	v.seen += "; the kernel offers no tsc"
	if f.Hypervisor.Err == nil && f.Hypervisor.V != "" && v.state == Warn {
		v.state = Info // nothing in this machine mends it
		return v
	}
	return v.by("boot with tsc=reliable, if the CPUs' counters are in step")
}

func judgeIRQBalance(f *Facts) verdict {
	if f.Processes.Err != nil {
		return unknown(f.Processes.Err)
	}
	for _, p := range f.Processes.V {
		if p.Name == "irqbalance" {
			return warn("it runs (process %d)", p.PID).by("systemctl stop irqbalance")
		}
	}
	if !f.AllProcesses {
		return unknown(errors.New("other users' or the host's processes are not to be seen here"))
	}
	return ok("not running")
}

func judgePageAlloc(f *Facts) verdict {
	if f.Params.Err != nil {
		return unknown(f.Params.Err)
	}
	value, given := host.Param(f.Params.V, "debug_pagealloc")
	on := bad("on").by("boot with debug_pagealloc=off")
	if given && value != "off" {
		return on
	}
	in, err := f.built(aids["pagealloc"][0])
	switch {
	case given:
		return ok("off")
	case err != nil:
		return unknown(err)
	case !in:
		return ok("not in this kernel")
	case f.Config.Err != nil: // it may be on from the start
		return unknown(f.Config.Err)
	case f.Config.V["DEBUG_PAGEALLOC_ENABLE_DEFAULT"] == "y":
		return on
	}
	return ok("off")
}

func judgeSlab(f *Facts) verdict {
	on := func(what string) verdict {
		return bad("%s", what).by("boot with slab_debug=- (slub_debug=- before 6.5), or without slub_debug")
	}
	if f.Slab.Err == nil {
		if len(f.Slab.V) > 0 {
			return on(strings.Join(f.Slab.V, ", "))
		}
		return ok("off")
	}
	// Without root, by what was asked for at the start.
	if f.Params.Err != nil {
		return unknown(f.Params.Err)
	}
	value, given := host.Param(f.Params.V, "slub_debug", "slab_debug")
	switch {
	case given && !strings.HasPrefix(value, "-"):
		return on("boot parameter slub_debug")
	case given:
		return ok("off")
	case f.Config.Err != nil:
		return unknown(f.Slab.Err)
	case f.Config.V["SLUB_DEBUG_ON"] == "y":
		return on("CONFIG_SLUB_DEBUG_ON")
	}
	return ok("off")
}

func judgeZeroing(f *Facts) verdict {
	if f.Params.Err != nil {
		return unknown(f.Params.Err)
	}
	var on, off []string
	for name, option := range map[string]string{"init_on_alloc": "INIT_ON_ALLOC_DEFAULT_ON", "init_on_free": "INIT_ON_FREE_DEFAULT_ON"} {
		value, given := host.Param(f.Params.V, name)
		switch {
		case given && (value == "1" || value == "on" || value == "y"):
		case given:
			continue
		case f.Config.Err != nil:
			return unknown(f.Config.Err)
		case f.Config.V[option] != "y":
			continue
		}
		on, off = append(on, name), append(off, name+"=0")
	}
	if len(on) == 0 {
		return ok("no")
	}
	slices.Sort(on)
	slices.Sort(off)
	return info("%s", strings.Join(on, ", ")).by("boot with %s", strings.Join(off, " "))
}

func judgeGroupSched(f *Facts) verdict {
	switch g := f.Group; {
	case g.Err != nil:
		return unknown(g.Err)
	case g.V.Path == "":
		return ok("off for this session")
	default:
		return info("on, group %s", g.V.Path).by("boot with cgroup_disable=cpu")
	}
}
