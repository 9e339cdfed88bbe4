package host

import "time"

// CPUs returns the CPUs of the process's affinity mask, ascending. Call it before any thread is pinned.
func CPUs() ([]int, error) { panic("todo") }

// ThreadTime returns the CPU time a thread of this process has used (from /proc/self/task/TID/schedstat; errors where the kernel has none).
func ThreadTime(tid int) (time.Duration, error) { panic("todo") }

// ProcessTime returns the CPU time of the whole process.
func ProcessTime() (time.Duration, error) { panic("todo") }
