package xdp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Errors that callers tell apart with errors.Is; what wraps them is a whole sentence.
var (
	ErrNotPermitted = errors.New("not permitted")
	ErrNotSupported = errors.New("not supported")
)

// Mode is where in the kernel the program runs.
type Mode uint8

// The modes: in the driver, or after it.
const (
	Native Mode = iota
	Generic
)

// String returns the mode's word.
func (m Mode) String() string { return [...]string{"native", "generic"}[m] }

// Counts are frames since Open. Ours were counted and dropped, but for those that were passed up; foreign ones were all passed up.
type Counts struct{ Ours, Passed, Foreign uint64 }

// Dropped is how many frames of ours nobody after the sink has seen.
func (c Counts) Dropped() uint64 { return c.Ours - c.Passed }

// counts is one CPU's value in the map.
type counts struct{ Ours, Passed, Foreign uint64 }

// Sink is an attached program.
type Sink struct {
	mu     sync.Mutex
	counts *ebpf.Map
	link   link.Link
	mode   Mode
	why    string
	every  uint32
	last   Counts
	closed bool
}

// Open attaches a sink to a device: frames that filter accepts are counted and dropped, but those whose sequence number is a multiple of every
// (0: all). It blocks while the device is set up for it, which on some drivers takes the link down for a moment. errors.Is(err, ErrNotPermitted) holds without
// the rights, ErrNotSupported where the kernel or the device cannot.
func Open(name string, index int, filter []bpf.RawInstruction, every uint32) (*Sink, error) {
	return open(name, index, filter, every, Native)
}

// open is Open with the mode to begin with.
func open(name string, index int, filter []bpf.RawInstruction, every uint32, mode Mode) (*Sink, error) {
	s := &Sink{every: every}
	var err error
	if s.counts, err = newMap(); err != nil {
		return nil, fmt.Errorf("xdp sink on %s: %w", name, refused(err))
	}
	prog, err := s.load(filter)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("xdp sink on %s: %w", name, refused(err)), s.counts.Close())
	}
	defer prog.Close() // the link has a reference of its own
	err = unix.EOPNOTSUPP
	if mode == Native {
		s.link, err = link.AttachXDP(link.XDPOptions{Program: prog, Interface: index, Flags: link.XDPDriverMode})
	}
	if err != nil && !errors.Is(err, unix.EBUSY) && !errors.Is(err, unix.EPERM) {
		s.mode, s.why = Generic, plain(err)
		s.link, err = link.AttachXDP(link.XDPOptions{Program: prog, Interface: index, Flags: link.XDPGenericMode})
	}
	switch {
	case errors.Is(err, unix.EBUSY), errors.Is(err, unix.EEXIST):
		err = fmt.Errorf("another XDP program is attached there: see `ip link show %s` and take it off first: %w", name, ErrNotSupported)
	case err != nil:
		err = refused(err)
	default:
		return s, nil
	}
	return nil, errors.Join(fmt.Errorf("xdp sink on %s: %w", name, err), s.counts.Close())
}

// plain is an error without the library's names.
func plain(err error) string {
	var errno unix.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}

func newMap() (*ebpf.Map, error) {
	// Only kernels before 5.11 charge BPF to the limit on locked memory; without the right to raise it the map says so.
	_ = rlimit.RemoveMemlock()
	return ebpf.NewMap(&ebpf.MapSpec{Name: "wirespeed_sink", Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 24, MaxEntries: 1})
}

func (s *Sink) load(filter []bpf.RawInstruction) (*ebpf.Program, error) {
	ins, err := program(filter, s.counts.FD(), s.every)
	if err != nil {
		return nil, err
	}
	return load(ins)
}

func load(ins asm.Instructions) (*ebpf.Program, error) {
	return ebpf.NewProgram(&ebpf.ProgramSpec{Name: "wirespeed_sink", Type: ebpf.XDP, Instructions: ins, License: "GPL"})
}

// Available says why no sink can be made here, nil if one can, by loading a program that is attached to nothing.
// errors.Is ErrNotPermitted or ErrNotSupported.
func Available() error {
	m, err := newMap()
	if err != nil {
		return refused(err)
	}
	defer m.Close()
	prog, err := load(asm.Instructions{asm.Mov.Imm(asm.R0, xdpPass), asm.Return()})
	if err != nil {
		return refused(err)
	}
	return prog.Close()
}

// sentence is an error with its own words, that is another as well.
type sentence struct {
	text string
	is   error
}

func (e sentence) Error() string { return e.text }
func (e sentence) Unwrap() error { return e.is }

// refused turns what the kernel said into a sentence with the way out.
func refused(err error) error {
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES) && !verified(err):
		if inUserNamespace() {
			return sentence{"the kernel lets no user namespace load BPF: run it as root (sudo ./wirespeed)", ErrNotPermitted}
		}
		return sentence{"BPF needs CAP_BPF and CAP_NET_ADMIN: run as root, or setcap cap_net_raw,cap_net_admin,cap_bpf+ep ./wirespeed", ErrNotPermitted}
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, ebpf.ErrNotSupported):
		return sentence{"this kernel or device knows no XDP links (Linux 5.9 and later do)", ErrNotSupported}
	}
	return err
}

// verified tells a program that the verifier refused from one that nobody may load: both are EACCES.
func verified(err error) bool {
	var v *ebpf.VerifierError
	return errors.As(err, &v) && len(v.Log) > 0
}

// inUserNamespace says whether this process is in a user namespace other than the first.
func inUserNamespace() bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	if errors.Is(err, fs.ErrNotExist) {
		return false // a kernel without any
	}
	f := strings.Fields(string(text))
	return err != nil || len(f) != 3 || f[2] != "4294967295"
}

// Mode is where the program runs; why is the reason why it is not the driver, "" where it is.
func (s *Sink) Mode() (m Mode, why string) { return s.mode, s.why }

// Every tells which frames of ours are passed up: those whose sequence number is a multiple of it, none where it is 0.
func (s *Sink) Every() uint32 { return s.every }

// Replace puts another filter in the place of the one that runs, without a frame in between that meets none.
func (s *Sink) Replace(filter []bpf.RawInstruction) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	prog, err := s.load(filter)
	if err != nil {
		return fmt.Errorf("xdp sink: %w", refused(err))
	}
	defer prog.Close()
	if err := s.link.Update(prog); err != nil {
		return fmt.Errorf("xdp sink: change the filter: %w", err)
	}
	return nil
}

// Read sums up the counts of all CPUs. After Close it returns the last ones.
func (s *Sink) Read() (Counts, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read()
}

func (s *Sink) read() (Counts, error) {
	if s.closed {
		return s.last, nil
	}
	var each []counts
	if err := s.counts.Lookup(uint32(0), &each); err != nil {
		return Counts{}, fmt.Errorf("read the xdp sink: %w", err)
	}
	var sum Counts
	for _, c := range each {
		sum.Ours += c.Ours
		sum.Passed += c.Passed
		sum.Foreign += c.Foreign
	}
	// A CPU may have counted a frame as passed and not yet as ours when it was read; never the other way.
	sum.Passed = min(sum.Passed, sum.Ours)
	return sum, nil
}

// Close detaches the program and frees everything. It may be called again.
func (s *Sink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	err := s.link.Close() // the driver lets no program run once this is back
	var readErr error
	s.last, readErr = s.read()
	s.closed = true
	return errors.Join(err, readErr, s.counts.Close())
}
