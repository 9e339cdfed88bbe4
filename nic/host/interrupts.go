package host

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// IRQ is one line of /proc/interrupts.
type IRQ struct {
	Number int
	Names  []string // of its handlers, as drivers chose them: eth0-tx-0, virtio2-output.0, mlx5_comp3@pci:0000:03:00.0
	Counts map[int]uint64
}

// Interrupts lists the numbered interrupts and how often each CPU has taken them.
func (r Root) Interrupts() ([]IRQ, error) {
	b, err := fs.ReadFile(r.FS, "proc/interrupts")
	if err != nil {
		return nil, readError("proc/interrupts", err)
	}
	irqs, err := parseInterrupts(string(b))
	if err != nil {
		return nil, fmt.Errorf("/proc/interrupts: %w", err)
	}
	return irqs, nil
}

// parseInterrupts reads a head line of CPUs, then a line for each interrupt: number, a count for each CPU, chip, its own number with the
// kind of trigger, and names (show_interrupts in kernel/irq/proc.c). Those without a number (NMI, LOC) are passed over.
func parseInterrupts(s string) ([]IRQ, error) {
	head, rest, _ := strings.Cut(s, "\n")
	var cpus []int
	for _, word := range strings.Fields(head) {
		cpu, err := strconv.Atoi(strings.TrimPrefix(word, "CPU"))
		if err != nil || cpu < 0 || !strings.HasPrefix(word, "CPU") {
			return nil, fmt.Errorf("no CPU %q in the head line", cut(word))
		}
		cpus = append(cpus, cpu)
	}
	if len(cpus) == 0 {
		return nil, errors.New("no CPUs in the head line")
	}
	var irqs []IRQ
	for line := range strings.Lines(rest) {
		number, counts, ok := strings.Cut(line, ":")
		n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 31)
		if !ok || err != nil {
			continue
		}
		fields := strings.Fields(counts)
		if len(fields) < len(cpus) {
			return nil, fmt.Errorf("interrupt %d has %d counts, there are %d CPUs", n, len(fields), len(cpus))
		}
		irq := IRQ{Number: int(n), Counts: make(map[int]uint64, len(cpus))}
		for i, cpu := range cpus {
			if irq.Counts[cpu], err = strconv.ParseUint(fields[i], 10, 64); err != nil {
				return nil, fmt.Errorf("interrupt %d: %q is no count", n, cut(fields[i]))
			}
		}
		// Names are last, with a comma after all but one; an interrupt without a handler has none, but then it is of no use to us.
		fields = fields[len(cpus):]
		for i := len(fields) - 1; i >= 0; i-- {
			irq.Names = append(irq.Names, strings.TrimSuffix(fields[i], ","))
			if i > 0 && !strings.HasSuffix(fields[i-1], ",") {
				break
			}
		}
		slices.Reverse(irq.Names)
		irqs = append(irqs, irq)
	}
	return irqs, nil
}

// Affinity returns the CPUs that an interrupt may run on, and those that the kernel has really chosen of them (nil where it does not say).
func (r Root) Affinity(irq int) (allowed, effective []int, err error) {
	dir := "proc/irq/" + strconv.Itoa(irq)
	if allowed, err = r.List(dir + "/smp_affinity_list"); err != nil {
		return nil, nil, err
	}
	effective, err = r.List(dir + "/effective_affinity_list")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return allowed, effective, err
}
