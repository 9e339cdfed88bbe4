package host

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// Release is the kernel's, as uname -r prints it.
func (r Root) Release() (string, error) { return r.Word("proc/sys/kernel/osrelease") }

// Clock is the kernel's clock source.
type Clock struct {
	Current   string
	Available []string
}

// Clock reads it.
func (r Root) Clock() (c Clock, err error) {
	const dir = "sys/devices/system/clocksource/clocksource0/"
	if c.Current, err = r.Word(dir + "current_clocksource"); err != nil {
		return c, err
	}
	list, err := r.Text(dir + "available_clocksource")
	c.Available = strings.Fields(list)
	return c, err
}

// BootParams are the words of the kernel's command line; quotes do not matter for the ones we look for.
func (r Root) BootParams() ([]string, error) {
	s, err := r.Word("proc/cmdline")
	return strings.Fields(s), err
}

// Param is the value of the last boot parameter of one of the names, and whether there is one. Dashes and underscores are the same there.
func Param(params []string, names ...string) (value string, found bool) {
	for _, p := range params {
		name, v, _ := strings.Cut(p, "=")
		if slices.Contains(names, strings.ReplaceAll(name, "-", "_")) {
			value, found = v, true
		}
	}
	return value, found
}

// Config is how the kernel was built: the options that are set, without CONFIG_, and their values (y, m, a number or a text in quotes).
type Config map[string]string

// Config reads it from /proc/config.gz, /boot or /lib/modules; source says which. errors.Is(err, fs.ErrNotExist) where none is there.
func (r Root) Config() (c Config, source string, err error) {
	release, err := r.Release()
	if err != nil {
		return nil, "", err
	}
	var why error
	for _, path := range []string{"proc/config.gz", "boot/config-" + release, "lib/modules/" + release + "/config", "lib/modules/" + release + "/build/.config"} {
		b, err := fs.ReadFile(r.FS, path)
		if err == nil {
			c, err = parseConfigFile(b)
		}
		if err == nil {
			return c, "/" + path, nil
		}
		if why == nil || !errors.Is(err, fs.ErrNotExist) {
			why = readError(path, err)
		}
	}
	if errors.Is(why, fs.ErrNotExist) {
		why = fmt.Errorf("neither /proc/config.gz nor /boot/config-%s: %w", release, fs.ErrNotExist)
	}
	return nil, "", why
}

// maxConfig bounds what a compressed file may unfold to; real ones are 300 KB.
const maxConfig = 8 << 20

func parseConfigFile(b []byte) (Config, error) {
	if bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		if b, err = io.ReadAll(io.LimitReader(z, maxConfig)); err != nil {
			return nil, err
		}
	}
	return parseConfig(string(b))
}

func parseConfig(s string) (Config, error) {
	c := make(Config)
	for line := range strings.Lines(s) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if name, isOption := strings.CutPrefix(name, "CONFIG_"); ok && isOption && value != "n" {
			c[name] = value
		}
	}
	if len(c) == 0 {
		return nil, errors.New("no CONFIG_ options in it")
	}
	return c, nil
}

// Symbols tells which of the names are functions of the running kernel, by /proc/kallsyms: the truth where the configuration is not at hand.
// It reads the whole list, some 10 MB.
func (r Root) Symbols(names ...string) (map[string]bool, error) {
	const path = "proc/kallsyms"
	f, err := r.Open(path)
	if err != nil {
		return nil, readError(path, err)
	}
	defer f.Close()
	found := make(map[string]bool)
	any := false
	for lines := bufio.NewScanner(f); ; {
		if !lines.Scan() {
			if err := lines.Err(); err != nil {
				return nil, readError(path, err)
			}
			break
		}
		// "ffffffff81000000 T _stext" and, of modules, "\t[igb]" after it
		line := lines.Bytes()
		if _, line, _ = bytes.Cut(line, []byte{' '}); len(line) < 3 {
			continue
		}
		name, _, _ := bytes.Cut(line[2:], []byte{'\t'})
		any = true
		if slices.Contains(names, string(name)) {
			found[string(name)] = true
		}
	}
	if !any {
		return nil, fmt.Errorf("/%s: %w: empty", path, fs.ErrNotExist)
	}
	return found, nil
}

// Loaded tells whether something of that name is a loaded module; false where it is built in or not there.
func (r Root) Loaded(module string) (bool, error) {
	s, err := r.Text("proc/modules")
	if errors.Is(err, fs.ErrNotExist) { // a kernel without modules
		return false, nil
	}
	module = strings.ReplaceAll(module, "-", "_")
	for line := range strings.Lines(s) {
		if name, _, _ := strings.Cut(line, " "); name == module {
			return true, nil
		}
	}
	return false, err
}

// Tracing is what the kernel's tracer is doing now, in all its instances.
type Tracing struct {
	Tracers []string // other than nop
	Events  []string // switched on, SUBSYSTEM:EVENT; those of perf and of BPF programs do not show there
	Dir     string   // where tracefs is mounted, with a leading slash
}

// Tracing reads it; errors.Is(err, fs.ErrPermission) for all but root, fs.ErrNotExist where tracefs is not mounted.
func (r Root) Tracing() (t Tracing, err error) {
	dir := "sys/kernel/tracing"
	tracer, err := r.Word(dir + "/current_tracer")
	if errors.Is(err, fs.ErrNotExist) {
		old := "sys/kernel/debug/tracing"
		if s, err2 := r.Word(old + "/current_tracer"); !errors.Is(err2, fs.ErrNotExist) {
			dir, tracer, err = old, s, err2
		}
	}
	if err != nil {
		return t, err
	}
	t.Dir = "/" + dir
	dirs := []string{dir}
	instances, _ := r.Names(dir + "/instances") // a kernel may have none
	for _, name := range instances {
		dirs = append(dirs, dir+"/instances/"+name)
	}
	for i, d := range dirs {
		if i > 0 {
			if tracer, err = r.Word(d + "/current_tracer"); err != nil {
				return t, err
			}
		}
		if tracer != "nop" {
			t.Tracers = append(t.Tracers, tracer)
		}
		events, err := r.Text(d + "/set_event")
		if err != nil {
			return t, err
		}
		t.Events = append(t.Events, strings.Fields(events)...)
	}
	return t, nil
}

// SlabDebug lists the debugging that is on for the kernel's packet buffers: sanity_checks, red_zone, poison, store_user, trace. The files
// are root's; errors.Is(err, fs.ErrNotExist) for a kernel without any (CONFIG_SLUB_DEBUG).
func (r Root) SlabDebug() ([]string, error) {
	var on []string
	var some bool
	for _, cache := range []string{"skbuff_head_cache", "skbuff_fclone_cache", "skbuff_small_head", "kmalloc-2k"} {
		dir := "sys/kernel/slab/" + cache
		for _, name := range []string{"sanity_checks", "red_zone", "poison", "store_user", "trace"} {
			n, err := r.Int(dir + "/" + name)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				continue
			case err != nil:
				return nil, err
			}
			some = true
			if n != 0 && !slices.Contains(on, name) {
				on = append(on, name)
			}
		}
	}
	if !some {
		return nil, fmt.Errorf("/sys/kernel/slab: %w", fs.ErrNotExist)
	}
	return on, nil
}
