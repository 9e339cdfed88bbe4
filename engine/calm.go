package engine

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	defaultSlack = 50 * time.Microsecond // of the kernel, PR_SET_TIMERSLACK in prctl(2)
	calmSlack    = 500 * time.Millisecond
)

// calmMonitor, once in a process, lets the Go runtime's monitor thread sleep longer. Each 10 ms it preempts a goroutine that has run so long without a
// break, as a worker always has: a signal, and four switches of threads until the pinned one goes on. With its timers 500 ms late it does so
// twice a second; measured, that is over half a percent of a core, and as much less jitter for the worker. Nobody here depends on being preempted
// sooner, and spareThreads sees to it that a blocking system call elsewhere finds a processor. It needs CAP_SYS_NICE in our user namespace (root
// and the lab have it); without it everything works as before.
var calmMonitor = sync.OnceFunc(func() {
	tid := firstThread()
	slack, err := os.ReadFile(slackFile(tid))
	if err != nil || strings.TrimSpace(string(slack)) != strconv.FormatInt(int64(defaultSlack), 10) {
		return // not as the runtime started it: somebody else's
	}
	_ = os.WriteFile(slackFile(tid), []byte(strconv.FormatInt(int64(calmSlack), 10)), 0)
})

func slackFile(tid string) string { return "/proc/" + tid + "/timerslack_ns" }

// firstThread is the first thread that was started in this process, which is the runtime's monitor (runtime.main in runtime/proc.go); "" if there is none.
func firstThread() string {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return ""
	}
	var tids []int
	for _, t := range tasks {
		if n, err := strconv.Atoi(t.Name()); err == nil && n > os.Getpid() {
			tids = append(tids, n)
		}
	}
	if len(tids) == 0 {
		return ""
	}
	return strconv.Itoa(slices.Min(tids))
}
