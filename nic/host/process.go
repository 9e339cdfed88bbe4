package host

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"
)

// Process is one program that runs.
type Process struct {
	PID  int
	Name string        // the first 15 bytes of it
	CPU  int           // where it ran last
	Used time.Duration // since it started, in ticks of 10 ms
}

// Processes lists those of the machine's that this process may see; all is false where it certainly sees not all: in a container, or where
// /proc hides other users' (hidepid). Threads of the kernel are among them.
func (r Root) Processes() (list []Process, all bool, err error) {
	names, err := r.Names("proc")
	if err != nil {
		return nil, false, err
	}
	for _, name := range names {
		if _, err := strconv.Atoi(name); err != nil {
			continue
		}
		s, err := r.Text("proc/" + name + "/stat")
		if err != nil { // it has ended, or is hidden
			continue
		}
		p, err := parseProcess(s)
		if err != nil {
			return nil, false, fmt.Errorf("/proc/%s/stat: %w", name, err)
		}
		if p.Name == "exe" { // started as /proc/self/exe, as we do it ourselves: it calls itself otherwise
			if args, err := r.Text("proc/" + name + "/cmdline"); err == nil && args != "" {
				args, _, _ = strings.Cut(args, "\x00")
				p.Name = path.Base(args)
			}
		}
		list = append(list, p)
		all = all || p.PID == 2 && p.Name == "kthreadd" // only the machine's own list has it
	}
	if len(list) == 0 {
		return nil, false, fmt.Errorf("/proc: no processes: %w", fs.ErrNotExist)
	}
	return list, all, nil
}

// parseProcess reads a /proc/PID/stat (proc_pid_stat(5)). The name, in parentheses, may hold blanks and parentheses.
func parseProcess(s string) (p Process, err error) {
	open, shut := strings.IndexByte(s, '('), strings.LastIndexByte(s, ')')
	if open < 1 || shut < open {
		return p, fmt.Errorf("no name in %q", cut(s))
	}
	p.Name = s[open+1 : shut]
	fields := strings.Fields(s[shut+1:]) // from the third on
	if len(fields) < 37 {
		return p, fmt.Errorf("%d fields, want 39", len(fields)+2)
	}
	user, err1 := strconv.ParseUint(fields[11], 10, 48)
	system, err2 := strconv.ParseUint(fields[12], 10, 48)
	cpu, err3 := strconv.ParseUint(fields[36], 10, 16)
	pid, err4 := strconv.ParseUint(strings.TrimSpace(s[:open]), 10, 31)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return p, fmt.Errorf("no numbers where they should be: %q", cut(s))
	}
	p.PID, p.CPU, p.Used = int(pid), int(cpu), min(time.Duration(user+system), 1<<40)*tick
	return p, nil
}

// Group is how the scheduler's control groups hold this process.
type Group struct {
	Path  string  // of its group with the CPU controller on, "" where that is off for it
	Limit float64 // CPUs it may use at most, the tightest bound on the way up; 0 without one
	File  string  // that sets the limit
}

// Group reads it from /proc/self/cgroup and what is mounted on /sys/fs/cgroup, version 1 or 2. In a container the groups above are hidden.
func (r Root) Group() (g Group, err error) {
	s, err := r.Text("proc/self/cgroup")
	if errors.Is(err, fs.ErrNotExist) { // a kernel without control groups
		return g, nil
	}
	if err != nil {
		return g, err
	}
	v1, v2, err := parseCgroup(s)
	if err != nil {
		return g, fmt.Errorf("/proc/self/cgroup: %w", err)
	}
	dir, group, read := "sys/fs/cgroup", v2, r.quota2
	if v1 != "" {
		group, read = v1, r.quota1
		for _, dir = range []string{"sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"} {
			if ok, _ := r.Exists(dir); ok {
				break
			}
		}
	}
	for p := path.Clean("/" + group); ; p = path.Dir(p) { // a container's root is a group; the machine's has no such files
		limit, file, err := read(path.Join(dir, p))
		switch {
		case errors.Is(err, fs.ErrNotExist): // the controller is not on in this group
		case err != nil:
			return g, err
		case g.Path == "" && (p != "/" || v1 == ""): // version 1 has the files in the machine's root, too
			g.Path = p
		}
		if err == nil && limit > 0 && (g.Limit == 0 || limit < g.Limit) {
			g.Limit, g.File = limit, "/"+file
		}
		if p == "/" {
			return g, nil
		}
	}
}

// parseCgroup finds the group of the cpu controller of version 1, and the group of version 2.
func parseCgroup(s string) (v1, v2 string, err error) {
	for line := range strings.Lines(s) {
		parts := strings.SplitN(strings.TrimRight(line, "\n"), ":", 3)
		if len(parts) != 3 {
			return "", "", fmt.Errorf("no group %q", cut(line))
		}
		if parts[0] == "0" && parts[1] == "" {
			v2 = parts[2]
		}
		for c := range strings.SplitSeq(parts[1], ",") {
			if c == "cpu" {
				v1 = parts[2]
			}
		}
	}
	return v1, v2, nil
}

func (r Root) quota2(dir string) (cpus float64, file string, err error) {
	file = dir + "/cpu.max"
	s, err := r.Text(file)
	if err != nil {
		return 0, file, err
	}
	fields := strings.Fields(s)
	if len(fields) > 0 && fields[0] == "max" {
		return 0, file, nil
	}
	if len(fields) != 2 {
		return 0, file, fmt.Errorf("/%s: %q is no limit", file, cut(s))
	}
	return ratio(file, fields[0], fields[1])
}

func (r Root) quota1(dir string) (cpus float64, file string, err error) {
	file = dir + "/cpu.cfs_quota_us"
	quota, err := r.Text(file)
	if err != nil || strings.HasPrefix(quota, "-") {
		return 0, file, err
	}
	period, err := r.Text(dir + "/cpu.cfs_period_us")
	if err != nil {
		return 0, file, err
	}
	return ratio(file, quota, period)
}

func ratio(file, quota, period string) (float64, string, error) {
	q, err1 := strconv.ParseUint(quota, 10, 53)
	p, err2 := strconv.ParseUint(period, 10, 53)
	if err1 != nil || err2 != nil || p == 0 {
		return 0, file, fmt.Errorf("/%s: %q of %q is no limit", file, cut(quota), cut(period))
	}
	return float64(q) / float64(p), file, nil
}
