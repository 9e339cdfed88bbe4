package supervisor

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// CanSuspend says, in the worker, whether somebody could continue what ctrl+z stops: a shell that started the supervisor's process group. A
// group without such a parent is orphaned, and the kernel ignores its stop signals (setpgid(2)).
func CanSuspend() bool {
	group, err := unix.Getpgid(os.Getppid())
	if err != nil {
		return false
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has just ended
		}
		p, ok := parseStat(text)
		if !ok || p.group != group {
			continue
		}
		parentGroup, err1 := unix.Getpgid(p.parent)
		parentSession, err2 := unix.Getsid(p.parent)
		if err1 == nil && err2 == nil && parentGroup != group && parentSession == p.session {
			return true
		}
	}
	return false
}

// stat is what we need of /proc/PID/stat (proc_pid_stat(5)).
type stat struct{ parent, group, session int }

func parseStat(text []byte) (s stat, ok bool) {
	_, rest, ok := bytes.Cut(text, []byte(" ("))
	end := bytes.LastIndexByte(rest, ')') // the name before it may hold anything
	if !ok || end < 0 {
		return s, false
	}
	fields := strings.Fields(string(rest[end+1:]))
	if len(fields) < 4 {
		return s, false
	}
	for i, to := range []*int{&s.parent, &s.group, &s.session} {
		n, err := strconv.Atoi(fields[i+1])
		if err != nil {
			return s, false
		}
		*to = n
	}
	return s, s.parent > 0
}
