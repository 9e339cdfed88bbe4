package check

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
