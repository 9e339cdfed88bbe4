package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrNotPermitted = errors.New("not permitted")
	ErrNotSupported = errors.New("not supported by this kernel")
)

// event is a trace point: its number and where its fields are.
type event struct {
	name   string
	id     uint64
	fields map[string]field
}

type field struct{ offset, size int }

// tracefs is the tree that describes trace points. It is mounted for this handle only, and nowhere: the /sys of a lab has none.
type tracefs struct{ dir *os.File }

func openTracefs() (tracefs, error) {
	fs, err := unix.Fsopen("tracefs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return tracefs{}, refused("tracefs", err)
	}
	defer unix.Close(fs)
	if err := unix.FsconfigCreate(fs); err != nil {
		return tracefs{}, refused("tracefs", err)
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_RDONLY)
	if err != nil {
		return tracefs{}, refused("tracefs", err)
	}
	return tracefs{os.NewFile(uintptr(fd), "tracefs")}, nil
}

func (t tracefs) close() error { return t.dir.Close() }

// event reads the description of a trace point, "net/net_dev_start_xmit".
func (t tracefs) event(name string) (event, error) {
	fd, err := unix.Openat(int(t.dir.Fd()), "events/"+name+"/format", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT {
		return event{}, fmt.Errorf("trace point %s: %w", name, ErrNotSupported)
	}
	if err != nil {
		return event{}, refused("trace point "+name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return event{}, fmt.Errorf("trace point %s: %w", name, err)
	}
	e, err := parseFormat(string(text))
	if err != nil {
		return event{}, fmt.Errorf("trace point %s: %w", name, err)
	}
	e.name = name
	return e, nil
}

// refused gives an error of the kernel the kinds of this package.
func refused(what string, err error) error {
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Errorf("%s: trace points are for the machine's root, outside user namespaces: %w", what, ErrNotPermitted)
	case errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOENT):
		return fmt.Errorf("%s: %w", what, ErrNotSupported)
	}
	return fmt.Errorf("%s: %w", what, err)
}

var errFormat = errors.New("its description cannot be read")

// parseFormat reads a file "format" of tracefs: its ID, and its fields ("field:int packets;	offset:24;	size:4;	signed:1;").
func parseFormat(text string) (event, error) {
	e := event{fields: make(map[string]field)}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if id, ok := strings.CutPrefix(line, "ID:"); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(id), 10, 16)
			if err != nil {
				return event{}, errFormat
			}
			e.id = n
			continue
		}
		decl, ok := strings.CutPrefix(line, "field:")
		if !ok {
			continue
		}
		parts := strings.Split(decl, ";")
		if len(parts) < 3 {
			return event{}, errFormat
		}
		words := strings.Fields(parts[0])
		offset, err1 := number(parts[1], "offset:")
		size, err2 := number(parts[2], "size:")
		if len(words) < 2 || err1 != nil || err2 != nil {
			return event{}, errFormat
		}
		e.fields[strings.TrimSuffix(words[len(words)-1], "[]")] = field{offset, size}
	}
	if e.id == 0 || len(e.fields) == 0 {
		return event{}, errFormat
	}
	return e, nil
}

func number(s, key string) (int, error) {
	v, ok := strings.CutPrefix(strings.TrimSpace(s), key)
	if !ok {
		return 0, errFormat
	}
	n, err := strconv.ParseUint(v, 10, 15)
	return int(n), err
}

// uint reads a field of a record, 0 where the record is too short.
func (e event) uint(raw []byte, name string) uint64 {
	f, ok := e.fields[name]
	if !ok || f.offset+f.size > len(raw) {
		return 0
	}
	b := raw[f.offset:]
	switch f.size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(native.Uint16(b))
	case 4:
		return uint64(native.Uint32(b))
	case 8:
		return native.Uint64(b)
	}
	return 0
}

// has says whether the event has all fields.
func (e event) has(names ...string) error {
	for _, n := range names {
		if _, ok := e.fields[n]; !ok {
			return fmt.Errorf("trace point %s has no field %s: %w", e.name, n, ErrNotSupported)
		}
	}
	return nil
}
