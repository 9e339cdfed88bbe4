package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"wirespeed/nic/host"
)

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
