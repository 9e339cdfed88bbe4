package host

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// CPULoad is what one CPU has done since the machine started, in the kernel's ticks of 10 ms.
type CPULoad struct {
	CPU int
	// User has Nice in it; guests' time is in User as well, as the kernel counts it.
	User, System, IRQ, SoftIRQ time.Duration
	Idle                       time.Duration // waiting for I/O included
	Steal                      time.Duration // ready to run while the hypervisor ran somebody else
}

// Busy is the time that something ran.
func (c CPULoad) Busy() time.Duration { return c.User + c.System + c.IRQ + c.SoftIRQ }

// Sub returns what happened since an earlier reading of the same CPU.
func (c CPULoad) Sub(before CPULoad) CPULoad {
	return CPULoad{
		CPU: c.CPU, User: c.User - before.User, System: c.System - before.System, IRQ: c.IRQ - before.IRQ,
		SoftIRQ: c.SoftIRQ - before.SoftIRQ, Idle: c.Idle - before.Idle, Steal: c.Steal - before.Steal,
	}
}

// Load reads the load of each CPU that is online, ascending, from /proc/stat: about 0.1 ms where there are few. The kernel lets idle time
// go backwards by a tick now and then.
func Load() ([]CPULoad, error) { return Live().Load() }

// Load is the function of this name for the machine below r.
func (r Root) Load() ([]CPULoad, error) {
	s, err := r.Text("proc/stat")
	if err != nil {
		return nil, fmt.Errorf("load of the CPUs: %w", err)
	}
	return parseStat(s)
}

// tick is the unit of /proc/stat: USER_HZ is 100 everywhere (but on alpha).
const tick = 10 * time.Millisecond

// parseStat reads the lines cpu0, cpu1, ... of a /proc/stat (proc_stat(5)): user nice system idle iowait irq softirq steal, then more. Other
// lines are passed over; kernels add some.
func parseStat(s string) ([]CPULoad, error) {
	var loads []CPULoad
	for line := range strings.Lines(s) {
		name, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		digits, ok := strings.CutPrefix(name, "cpu")
		if !ok || digits == "" { // "cpu" alone is the sum
			continue
		}
		cpu, err := strconv.ParseUint(digits, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("/proc/stat: no CPU %q", name)
		}
		fields := strings.Fields(rest)
		if len(fields) < 8 {
			return nil, fmt.Errorf("/proc/stat: %s has %d times, want 8", name, len(fields))
		}
		var t [8]time.Duration
		for i := range t {
			n, err := strconv.ParseInt(fields[i], 10, 64)
			if err != nil || n < 0 || n > int64(1<<59/tick) {
				return nil, fmt.Errorf("/proc/stat: %s has a time %q", name, fields[i])
			}
			t[i] = time.Duration(n) * tick
		}
		loads = append(loads, CPULoad{
			CPU: int(cpu), User: t[0] + t[1], System: t[2], Idle: t[3] + t[4], IRQ: t[5], SoftIRQ: t[6], Steal: t[7],
		})
	}
	if len(loads) == 0 {
		return nil, fmt.Errorf("/proc/stat has no CPUs")
	}
	return loads, nil
}
