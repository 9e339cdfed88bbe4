package nic

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// BacklogDrops counts the frames that all CPUs have dropped on arrival since boot because their backlog was full (net.core.netdev_max_backlog).
func BacklogDrops() (uint64, error) {
	b, err := os.ReadFile("/proc/net/softnet_stat")
	if err != nil {
		return 0, fmt.Errorf("backlog: %w", err)
	}
	return parseSoftnet(b)
}

// parseSoftnet adds up the second column of a line for each CPU; numbers are hexadecimal (softnet_seq_show in net/core/net-procfs.c).
func parseSoftnet(b []byte) (dropped uint64, err error) {
	for line := range bytes.Lines(b) {
		words := bytes.Fields(line)
		if len(words) < 2 {
			return 0, fmt.Errorf("/proc/net/softnet_stat: a line of %d words", len(words))
		}
		n, err := strconv.ParseUint(string(words[1]), 16, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/net/softnet_stat: %w", err)
		}
		dropped += n
	}
	return dropped, nil
}
