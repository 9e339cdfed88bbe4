package host

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// maxCPU is more than any kernel is built for (NR_CPUS is at most 8192).
const maxCPU = 1 << 16

// CPUs returns the CPUs of the calling thread's affinity mask, ascending: the process's own as long as no thread is pinned, so call it
// before. Numbers may have gaps.
func CPUs() ([]int, error) {
	set := unix.NewCPUSet(maxCPU)
	if err := unix.SchedGetaffinityDynamic(0, set); err != nil {
		return nil, fmt.Errorf("affinity mask: %w", err)
	}
	var cpus []int
	for cpu := range maxCPU {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// ThreadTime returns the CPU time that a thread of this process has used, exact to the moment also while it runs. It reads the thread's CPU
// clock (pthread_getcpuclockid(3)): the schedstat file lags by up to a tick, on a tickless CPU by a second. The error for a thread that
// does not exist, or that is another process's, is an EINVAL.
func ThreadTime(tid int) (time.Duration, error) {
	// MAKE_THREAD_CPUCLOCK(tid, CPUCLOCK_SCHED) of include/linux/posix-timers_types.h
	const perThread, sched = 4, 2
	if tid <= 0 { // 0 would be the calling thread
		return 0, fmt.Errorf("CPU time of thread %d: %w", tid, unix.EINVAL)
	}
	d, err := clock(int32(^tid)<<3 | perThread | sched)
	if err != nil {
		return 0, fmt.Errorf("CPU time of thread %d: %w", tid, err)
	}
	return d, nil
}

// ProcessTime returns the CPU time of the whole process, all its threads, also those that have ended.
func ProcessTime() (time.Duration, error) {
	d, err := clock(unix.CLOCK_PROCESS_CPUTIME_ID)
	if err != nil {
		return 0, fmt.Errorf("CPU time of the process: %w", err)
	}
	return d, nil
}

func clock(id int32) (time.Duration, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		return 0, err
	}
	return time.Duration(ts.Nano()), nil
}

// ThreadWait returns how long a thread of this process was ready to run and had to wait for a CPU that ran something else: the second field
// of /proc/self/task/TID/schedstat. What a hypervisor took is not in it (see [Load]). It errors where the kernel keeps no such figures.
func ThreadWait(tid int) (time.Duration, error) {
	b, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(tid) + "/schedstat")
	if err != nil {
		return 0, fmt.Errorf("waiting time of thread %d: %w", tid, err)
	}
	_, wait, err := parseSchedstat(string(b))
	if err != nil {
		return 0, fmt.Errorf("waiting time of thread %d: %w", tid, err)
	}
	return wait, nil
}

// parseSchedstat reads "ran waited timeslices", the first two in nanoseconds (Documentation/scheduler/sched-stats.rst).
func parseSchedstat(s string) (ran, waited time.Duration, err error) {
	fields := strings.Fields(s)
	if len(fields) != 3 {
		return 0, 0, fmt.Errorf("schedstat %q: want three numbers", s)
	}
	r, err1 := strconv.ParseInt(fields[0], 10, 64)
	w, err2 := strconv.ParseInt(fields[1], 10, 64)
	if err := errors.Join(err1, err2); err != nil || r < 0 || w < 0 {
		return 0, 0, fmt.Errorf("schedstat %q: not a time", s)
	}
	return time.Duration(r), time.Duration(w), nil
}
