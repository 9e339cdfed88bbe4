package nic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrHeld is returned for a device that another session changes; the message names its PID.
var ErrHeld = errors.New("held by another session")

// journal is what a session has changed on a device, as it lies on the disk. The file is replaced as a whole, so it is never half written.
type journal struct {
	Version int     `json:"wirespeed"`
	Boot    string  `json:"boot"`
	NetNS   uint64  `json:"netns"` // inode of the network namespace: indexes mean something only there
	Index   int     `json:"index"`
	Name    string  `json:"name"`
	MAC     string  `json:"mac"`
	PID     int     `json:"pid"`
	Changes []entry `json:"changes,omitempty"` // oldest first
	Kept    []entry `json:"kept,omitempty"`    // left on purpose by earlier sessions
	// Lost are settings that our own changes took away for now, those of a queue that is not in use: they come back with their old value.
	Lost map[string]string `json:"lost,omitempty"`
	// Beside is what all other settings were while one is being written: a driver that resets some of them may be cut off half-way.
	Beside map[string]string `json:"beside,omitempty"`
}

// entry is one changed setting.
type entry struct {
	Name       string `json:"name"`
	Before     string `json:"before"` // in the form that brings it back exactly
	BeforeText string `json:"before_text"`
	Wrote      string `json:"wrote,omitempty"`
	WroteText  string `json:"wrote_text,omitempty"`
	Done       bool   `json:"done"` // false: it may or may not have been written
}

const journalVersion = 1

// maxJournal bounds what is read of a file that anything may have been done to.
const maxJournal = 4 << 20

func (j *journal) empty() bool { return len(j.Changes) == 0 && len(j.Kept) == 0 }

// parseJournal reads a journal; errDamaged for one that is none.
func parseJournal(b []byte) (journal, error) {
	var j journal
	dec := json.NewDecoder(bytes.NewReader(b))
	if err := dec.Decode(&j); err != nil {
		return journal{}, fmt.Errorf("%w: %v", errDamaged, err)
	}
	switch {
	case j.Version != journalVersion:
		return journal{}, fmt.Errorf("%w: version %d", errDamaged, j.Version)
	case j.Boot == "" || j.Index <= 0:
		return journal{}, fmt.Errorf("%w: no boot or no device", errDamaged)
	}
	for _, e := range append(j.Changes[:len(j.Changes):len(j.Changes)], j.Kept...) {
		if e.Name == "" {
			return journal{}, fmt.Errorf("%w: a change without a name", errDamaged)
		}
	}
	return j, nil
}

var errDamaged = errors.New("damaged journal")

// journalDir is where journals lie: /run for root, else the user's own directory there.
func journalDir() string {
	dir := "/run/wirespeed"
	if os.Geteuid() != 0 || unix.Access("/run", unix.W_OK) != nil {
		if dir = os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
			dir = filepath.Join(dir, "wirespeed")
		} else {
			dir = filepath.Join(os.TempDir(), "wirespeed-"+strconv.Itoa(os.Geteuid()))
		}
	}
	return dir
}

// makeJournalDir makes the directory, and sees to it that nobody else can write there: who writes a journal decides what we write.
func makeJournalDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return fmt.Errorf("journal: %s: %w", dir, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Geteuid() || st.Mode&0o022 != 0 {
		return fmt.Errorf("journal: %s is not a directory of ours alone: remove it, or set XDG_RUNTIME_DIR", dir)
	}
	return nil
}

// store is a journal's place on the disk, locked while it is open.
type store struct {
	path string
	lock *os.File
}

// key names a device's files. A name is not in it: it may change.
func (j *journal) key() string {
	return fmt.Sprintf("%d-%d-%s", j.NetNS, j.Index, strings.ReplaceAll(j.MAC, ":", ""))
}

// openStore locks a device's journal; errors.Is(err, ErrHeld) while another process has it.
func openStore(dir, key, name string) (*store, error) {
	if err := makeJournalDir(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, key)
	f, err := openFile(path+".lock", os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	err = retry(func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) })
	if err != nil {
		defer f.Close()
		if err != unix.EWOULDBLOCK {
			return nil, fmt.Errorf("journal: lock %s: %w", f.Name(), err)
		}
		var buf [16]byte
		n, _ := f.ReadAt(buf[:], 0) // a short file is io.EOF
		who := "another session"
		if pid, err := strconv.Atoi(strings.TrimSpace(string(buf[:n]))); err == nil {
			who = fmt.Sprintf("PID %d", pid)
		}
		return nil, &reason{text: name + " is held by " + who + ": end that session first", is: ErrHeld}
	}
	pid := []byte(strconv.Itoa(os.Getpid()) + "\n")
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt(pid, 0)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("journal: %w", err)
	}
	return &store{path + ".journal", f}, nil
}

// read reads the journal; fs.ErrNotExist if there is none. One of another boot, and a damaged one, are put out of the way and told by note.
func (s *store) read(boot string) (j journal, note string, err error) {
	b, err := readFile(s.path)
	if err != nil {
		return journal{}, "", fmt.Errorf("journal: %w", err)
	}
	j, err = parseJournal(b)
	switch {
	case err != nil:
		bad := s.path + ".damaged"
		if err := os.Rename(s.path, bad); err != nil {
			return journal{}, "", fmt.Errorf("journal: %w", err)
		}
		return journal{}, fmt.Sprintf("%v: nothing can be put back from it, it is kept as %s", err, bad), fs.ErrNotExist
	case j.Boot != boot:
		if err := s.remove(); err != nil {
			return journal{}, "", err
		}
		return journal{}, fmt.Sprintf("the journal of %s is of an earlier boot: nothing to put back", j.Name), fs.ErrNotExist
	}
	return j, "", nil
}

// openFile opens a regular file and nothing else: a FIFO would hold us up, a symbolic link could lead anywhere. fs.ErrNotExist if there is none
// and none is to be made.
func openFile(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	info, statErr := os.Lstat(path)
	if err == nil {
		info, statErr = f.Stat()
	}
	if statErr == nil && !info.Mode().IsRegular() {
		if err == nil {
			f.Close()
		}
		return nil, fmt.Errorf("%s is %s and no file of ours: remove it", path, fileKind(info.Mode()))
	}
	return f, err
}

// fileKind names what is no regular file.
func fileKind(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// readFile reads a journal's file, which anything may have been done to.
func readFile(path string) ([]byte, error) {
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxJournal+1))
	if len(b) > maxJournal {
		return nil, err // no JSON: damaged
	}
	return b, err
}

// write replaces the journal. When it returns, the new one survives whatever becomes of this process.
func (s *store) write(j *journal) error {
	b, err := json.MarshalIndent(j, "", " ")
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	// Whatever lies there, from a session that was killed or by anybody else, is no file that is written into.
	if err := os.Remove(s.path + ".new"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("journal: %w", err)
	}
	f, err := openFile(s.path+".new", os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	_, err = f.Write(append(b, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(s.path+".new", s.path)
	}
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

func (s *store) remove() error {
	if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// close gives the lock back. The lock's file stays: to remove it would let two sessions lock two files of one name.
func (s *store) close() { s.lock.Close() }

// bootID is different after each start of the kernel.
func bootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("journal: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// netNS is the inode of the network namespace that the process is in.
func netNS() (uint64, error) {
	var st unix.Stat_t
	if err := unix.Stat("/proc/self/ns/net", &st); err != nil {
		return 0, fmt.Errorf("journal: /proc/self/ns/net: %w", err)
	}
	return st.Ino, nil
}
