package nic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirespeed/nic/host"
)

// maxCPU is more than any kernel is built for (NR_CPUS is at most 8192).
const maxCPU = 1<<16 - 1

// parseMask reads a CPU mask as /sys and /proc write it: words of up to 8 hexadecimal digits, the highest first, with commas between
// (bitmap_parse in lib/bitmap-str.c). The CPUs are ascending, nil for none.
func parseMask(s string) ([]int, error) {
	words := strings.Split(strings.TrimSpace(s), ",")
	if len(words) > (maxCPU+1)/32 {
		return nil, fmt.Errorf("CPU mask of %d words", len(words))
	}
	var cpus []int
	slices.Reverse(words)
	for i, word := range words {
		if len(word) > 8 {
			return nil, fmt.Errorf("CPU mask %q: a word has up to 8 digits", s)
		}
		bits, err := strconv.ParseUint(word, 16, 32) // refuses signs and "0x"
		if err != nil {
			return nil, fmt.Errorf("CPU mask %q: no hexadecimal number %q", s, word)
		}
		for b := range 32 {
			if bits>>b&1 != 0 {
				cpus = append(cpus, 32*i+b)
			}
		}
	}
	return cpus, nil
}

// formatMask writes what parseMask reads.
func formatMask(cpus []int) (string, error) {
	words := make([]uint32, 1)
	for _, cpu := range cpus {
		if cpu < 0 || cpu > maxCPU {
			return "", fmt.Errorf("no CPU %d", cpu)
		}
		for len(words) <= cpu/32 {
			words = append(words, 0)
		}
		words[cpu/32] |= 1 << (cpu % 32)
	}
	slices.Reverse(words)
	var b strings.Builder
	fmt.Fprintf(&b, "%x", words[0])
	for _, w := range words[1:] {
		fmt.Fprintf(&b, ",%08x", w)
	}
	return b.String(), nil
}

// parseList reads CPUs as an operator writes them: the kernel's lists, "0-1,3", ascending and each once, and "none".
func parseList(s string) ([]int, error) {
	s = strings.TrimSpace(s)
	if s == "none" {
		return nil, nil
	}
	cpus, err := host.ParseList(strings.ReplaceAll(s, ", ", ","))
	if err != nil || len(cpus) == 0 {
		return nil, badValue(s, "CPUs as 0-1,3, or none")
	}
	return cpus, nil
}

// formatList writes what parseList reads.
func formatList(cpus []int) string {
	if len(cpus) == 0 {
		return "none"
	}
	return host.FormatList(cpus)
}
