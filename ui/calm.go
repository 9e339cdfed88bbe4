package ui

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	defaultSlack = 50 * time.Microsecond // of the kernel, prctl(2) PR_SET_TIMERSLACK
	calmSlack    = 50 * time.Millisecond
)

// calmMonitor lets the Go runtime's monitor thread sleep longer. It polls every 20 us for as long as it finds a goroutine
// that has run for 10 ms without a break, and a pinned worker always has: measured 3 % of a core, more than the whole
// console. With its timers 50 ms late it still does its work; nobody here depends on being preempted sooner. It needs
// CAP_SYS_NICE in our user namespace (root and the lab have it); without it everything works as before.
func calmMonitor() {
	tid := monitorThread()
	if tid == "" {
		return
	}
	_ = os.WriteFile(slackFile(tid), []byte(strconv.FormatInt(int64(calmSlack), 10)), 0)
}

func slackFile(tid string) string { return "/proc/" + tid + "/timerslack_ns" }

// monitorThread finds the runtime's monitor: it is the first thread that is started. A thread whose slack is not the
// default is somebody else's, such as a worker, and is left alone.
func monitorThread() string {
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
	tid := strconv.Itoa(slices.Min(tids))
	slack, err := os.ReadFile(slackFile(tid))
	if err != nil || strings.TrimSpace(string(slack)) != strconv.FormatInt(int64(defaultSlack), 10) {
		return ""
	}
	return tid
}
