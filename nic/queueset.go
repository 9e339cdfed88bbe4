package nic

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Settings that are files in /sys: byte queue limits and XPS of each transmit queue, and the governor of the CPUs' frequency.

// bqlUnlimited is DQL_MAX_LIMIT (lib/dynamic_queue_limits.h): limit_max when nobody set it.
const bqlUnlimited = 7 << 28

func (v *view) queueSettings() (list []Setting) {
	d := v.d
	l, err := once(v, "link", d.Link)
	if err != nil {
		return nil
	}
	for q := range l.TxQueues {
		list = append(list, d.xpsSetting(q))
	}
	for _, limit := range []struct{ name, file, help string }{
		{"bql.min", "limit_min", "bytes that a queue of the device may always hold"},
		{"bql.max", "limit_max", "bytes that a queue of the device may hold at most"},
	} {
		for q := range l.TxQueues {
			list = append(list, d.bqlSetting(limit.name, limit.file, limit.help, q))
		}
	}
	return list
}

// whyFile says why a file below the interface's directory in /sys cannot be written, "" if it can. Opening it changes nothing.
func (d *Device) whyFile(path string) string {
	if d.sys == nil {
		return why(d.sysErr)
	}
	fd, err := d.sys.open(path, unix.O_WRONLY)
	switch {
	case err == nil:
		unix.Close(fd)
		return ""
	case errors.Is(err, os.ErrPermission):
		return "the file belongs to root (/sys: " + path + ")"
	case errors.Is(err, unix.EROFS):
		return "/sys is read-only here"
	case errors.Is(err, os.ErrNotExist):
		return d.kind() + " has none (/sys: " + path + ")"
	}
	return err.Error()
}

func (d *Device) xpsSetting(queue int) Setting {
	name, file := fmt.Sprintf("xps[%d]", queue), queueFile(queue, "xps_cpus")
	const help = "CPUs whose frames go to this transmit queue"
	read := func(*view) (string, error) {
		cpus, err := d.XPS(queue)
		return formatList(cpus), err
	}
	if _, err := d.xps(queue); err != nil {
		text := why(err)
		if isMissing(err) || errors.Is(err, ErrNotSupported) {
			text = d.kind() + " has one transmit queue: there is nothing to choose"
		}
		return unsupported(name, GroupQueues, help, text)
	}
	return Setting{Name: name, Group: GroupQueues, Help: help, Range: "CPUs as 0-1,3, or none", Why: d.whyXPS(file), ops: ops{
		read:  read,
		check: func(text string) error { _, err := parseList(text); return err },
		write: func(text string) error {
			cpus, err := parseList(text)
			if err != nil {
				return err
			}
			mask, err := formatMask(cpus)
			if err != nil {
				return &reason{text: err.Error(), is: ErrValue}
			}
			return badCPUs(cpus, d.writeSys(file, mask))
		},
		save: func(*view) (string, error) { return d.xps(queue) },
		load: func(mask string) error { return d.writeSys(file, mask) },
	}}
}

// whyXPS is whyFile for XPS: in a user namespace the file opens, and the write is refused.
func (d *Device) whyXPS(file string) string {
	const initial = "user:[4026531837]" // PROC_USER_INIT_INO
	if ns, err := os.Readlink("/proc/self/ns/user"); err == nil && ns != initial {
		return "XPS belongs to the host's root, and this is a user namespace"
	}
	return d.whyFile(file)
}

// badCPUs says in words what EINVAL from a file of CPUs means.
func badCPUs(cpus []int, err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOVERFLOW) {
		return &reason{text: "this machine has not all of CPUs " + formatList(cpus), is: ErrValue}
	}
	return err
}

func (d *Device) bqlSetting(prefix, name, help string, queue int) Setting {
	file := queueFile(queue, "byte_queue_limits/"+name)
	full := fmt.Sprintf("%s[%d]", prefix, queue)
	read := func(*view) (string, error) { return d.readQueue(queue, "byte_queue_limits/"+name) }
	if _, err := read(nil); err != nil {
		return unsupported(full, GroupQueues, help, d.kind()+" does not use byte queue limits")
	}
	return Setting{
		Name: full, Group: GroupQueues, Help: help, Range: fmt.Sprintf("0 .. %d bytes", bqlUnlimited), Max: bqlUnlimited, Why: d.whyFile(file),
		ops: ops{
			read:  read,
			check: func(text string) error { _, err := parseNumber(text, 0, bqlUnlimited); return err },
			write: func(text string) error {
				n, err := parseNumber(text, 0, bqlUnlimited)
				if err != nil {
					return err
				}
				return d.writeSys(file, strconv.FormatUint(n, 10))
			},
		},
	}
}

// governorFiles is where they are; tests choose another place.
var governorFiles = "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"

// governors are the files of all CPUs that have one.
func governors() []string {
	files, _ := filepath.Glob(governorFiles) // the pattern is a good one
	return files
}

func (v *view) governorSettings() []Setting {
	const name, help = "governor", "how the CPUs choose their frequency (cpufreq), all of them"
	files := governors()
	if len(files) == 0 {
		return []Setting{unsupported(name, GroupHost, help, "this machine has no cpufreq governors (a virtual machine, or the firmware does it)")}
	}
	s := Setting{Name: name, Group: GroupHost, Help: help, Range: "a governor"}
	if b, err := os.ReadFile(filepath.Join(filepath.Dir(files[0]), "scaling_available_governors")); err == nil {
		s.Values = strings.Fields(string(b))
		s.Range = strings.Join(s.Values, ", ")
	}
	if unix.Access(files[0], unix.W_OK) != nil {
		s.Why = "the files belong to root (" + files[0] + ")"
	}
	s.save = func(*view) (string, error) { // CPU by CPU: "powersave powersave"
		var all []string
		for _, f := range governors() {
			b, err := os.ReadFile(f)
			if err != nil {
				return "", err
			}
			all = append(all, strings.TrimSpace(string(b)))
		}
		return strings.Join(all, " "), nil
	}
	s.read = func(v *view) (string, error) {
		saved, err := s.save(v)
		all := strings.Fields(saved)
		for _, g := range all {
			if g != all[0] {
				return saved, err
			}
		}
		return strings.Join(all[:min(1, len(all))], ""), err
	}
	s.check = func(text string) error {
		for _, word := range strings.Fields(text) {
			if len(s.Values) > 0 && !slices.Contains(s.Values, word) {
				return badValue(text, s.Range)
			}
		}
		return nil
	}
	s.load = writeGovernors
	s.write = writeGovernors
	return []Setting{s}
}

// writeGovernors writes one word to all CPUs, or as many words as there are.
func writeGovernors(text string) error {
	files, words := governors(), strings.Fields(text)
	if len(words) == 0 || len(words) != 1 && len(words) != len(files) {
		return badValue(text, "one governor, or one for each CPU")
	}
	for i, f := range files {
		word := words[0]
		if len(words) > 1 {
			word = words[i]
		}
		switch err := os.WriteFile(f, []byte(word), 0); {
		case errors.Is(err, unix.EINVAL):
			return badValue(word, "a governor that this machine has")
		case errors.Is(err, os.ErrPermission):
			return fmt.Errorf("%w: %w", ErrNotPermitted, err)
		case err != nil:
			return err
		}
	}
	return nil
}
