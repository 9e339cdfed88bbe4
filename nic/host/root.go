package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Root is the directory below which proc, sys and boot lie: the machine's own, or a tree of files in a test. Paths have no leading slash.
type Root struct{ fs.FS }

// Live is the machine this process runs on, as its mounts show it.
func Live() Root { return Root{os.DirFS("/")} }

// Text reads a file without white space around. The error is one line that names the file; errors.Is(err, fs.ErrNotExist) or
// fs.ErrPermission tell why.
func (r Root) Text(path string) (string, error) {
	b, err := fs.ReadFile(r.FS, path)
	if err != nil {
		return "", readError(path, err)
	}
	return strings.TrimSpace(string(b)), nil
}

// Word is Text of a file that cannot be empty.
func (r Root) Word(path string) (string, error) {
	s, err := r.Text(path)
	if err == nil && s == "" {
		err = fmt.Errorf("/%s: it is empty", path)
	}
	return s, err
}

// Int reads a file that holds one number.
func (r Root) Int(path string) (int, error) {
	s, err := r.Text(path)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("/%s: %q is no number", path, cut(s))
	}
	return n, nil
}

// List reads a file that holds a list of CPUs, such as "0-3,8".
func (r Root) List(path string) ([]int, error) {
	s, err := r.Text(path)
	if err != nil {
		return nil, err
	}
	list, err := ParseList(s)
	if err != nil {
		return nil, fmt.Errorf("/%s: %w", path, err)
	}
	return list, nil
}

// Names lists a directory, in order.
func (r Root) Names(path string) ([]string, error) {
	entries, err := fs.ReadDir(r.FS, path)
	if err != nil {
		return nil, readError(path, err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// Exists tells whether there is such a file or directory; an error other than its absence is returned.
func (r Root) Exists(path string) (bool, error) {
	_, err := fs.Stat(r.FS, path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, readError(path, err)
}

// link reads a symbolic link.
func (r Root) link(path string) (string, error) { return fs.ReadLink(r.FS, path) }

// readError says which file, once, and why; nil stays nil.
func readError(path string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist): // the kernel's own words differ from those of a tree in a test
		return fmt.Errorf("/%s: %w", path, fs.ErrNotExist)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("/%s: %w", path, fs.ErrPermission)
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENODEV): // a driver that has nothing to say
		return fmt.Errorf("/%s: %w: %w", path, fs.ErrNotExist, err)
	}
	return fmt.Errorf("/%s: %w", path, err)
}

// ParseList reads a list of CPUs as the kernel writes it, "0-3,8,10-11"; nil for an empty one. The CPUs are ascending, each once.
func ParseList(s string) ([]int, error) {
	var list []int
	s = strings.TrimSpace(s)
	if s == "" || s == "(null)" { // what nohz_full says where there is none
		return nil, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(part, "-")
		a, err := strconv.ParseUint(from, 10, 32)
		b := a
		if err == nil && isRange {
			b, err = strconv.ParseUint(to, 10, 32)
		}
		if err != nil || b < a || b >= maxCPU {
			return nil, fmt.Errorf("list of CPUs %q: no CPUs %q", cut(s), cut(part))
		}
		for cpu := a; cpu <= b; cpu++ {
			list = append(list, int(cpu))
		}
		if len(list) > maxCPU {
			return nil, fmt.Errorf("list of CPUs %q: too long", cut(s))
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// FormatList writes what ParseList reads; "" for none.
func FormatList(cpus []int) string {
	var b strings.Builder
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(cpus[i]))
		if j > i {
			b.WriteString("-" + strconv.Itoa(cpus[j]))
		}
		i = j + 1
	}
	return b.String()
}

// cut bounds what an error quotes.
func cut(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}
