package check

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"wirespeed/nic/host"
)

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
