package nic

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SoftIRQs is how often each CPU ran each kind of softirq since boot: NET_TX, NET_RX, TIMER, ..., by kind and CPU. (The share of time is in
// host.Load.)
type SoftIRQs map[string]map[int]uint64

// ReadSoftIRQs reads /proc/softirqs.
func ReadSoftIRQs() (SoftIRQs, error) {
	b, err := os.ReadFile("/proc/softirqs")
	if err != nil {
		return nil, fmt.Errorf("softirqs: %w", err)
	}
	return parseSoftIRQs(b), nil
}

// parseSoftIRQs reads a heading with the CPUs, then KIND: COUNT...; lines that are otherwise are passed over.
func parseSoftIRQs(b []byte) SoftIRQs {
	var cpus []int
	all := make(SoftIRQs)
	for line := range bytes.Lines(b) {
		words := strings.Fields(string(line))
		if cpus == nil {
			if cpus = headingCPUs(words); cpus == nil {
				return all
			}
			continue
		}
		if len(words) != 1+len(cpus) || !strings.HasSuffix(words[0], ":") {
			continue
		}
		counts := make(map[int]uint64, len(cpus))
		for i, cpu := range cpus {
			n, err := strconv.ParseUint(words[1+i], 10, 64)
			if err != nil {
				counts = nil
				break
			}
			counts[cpu] = n
		}
		if counts != nil {
			all[strings.TrimSuffix(words[0], ":")] = counts
		}
	}
	return all
}

// headingCPUs reads "CPU0 CPU1 ...", nil for anything else.
func headingCPUs(words []string) (cpus []int) {
	for _, w := range words {
		n, ok := strings.CutPrefix(w, "CPU")
		cpu, err := strconv.Atoi(n)
		if !ok || err != nil || cpu < 0 || cpu > maxCPU {
			return nil
		}
		cpus = append(cpus, cpu)
	}
	return cpus
}

// IRQRate is how often an interrupt came lately, and where.
type IRQRate struct {
	QueueIRQ
	PerSecond float64
	On        []int // the CPUs that took it, the busiest first; nil if none did
}

// IRQRates compares two readings of a device's interrupts. One that was not there before, or that was reset, is not in it.
func IRQRates(before, after []QueueIRQ, interval time.Duration) (list []IRQRate) {
	if interval <= 0 {
		return nil
	}
	for _, a := range after {
		at := slices.IndexFunc(before, func(b QueueIRQ) bool { return b.IRQ == a.IRQ && b.Name == a.Name })
		if at < 0 {
			continue
		}
		grown := make(map[int]uint64)
		var sum uint64
		reset := false
		for cpu, n := range a.PerCPU {
			was := before[at].PerCPU[cpu] // 0 for a CPU that came online
			reset = reset || n < was
			if n > was {
				grown[cpu] = n - was
				sum += n - was
			}
		}
		if reset {
			continue
		}
		r := IRQRate{QueueIRQ: a, PerSecond: float64(sum) / interval.Seconds()}
		for cpu := range grown {
			r.On = append(r.On, cpu)
		}
		slices.SortFunc(r.On, func(x, y int) int { return cmp.Or(cmp.Compare(grown[y], grown[x]), cmp.Compare(x, y)) })
		list = append(list, r)
	}
	return list
}
