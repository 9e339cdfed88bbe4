package nic

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// sysDir is an interface's directory in /sys, held open: so it stays right when the interface is renamed, and a file below it is read in
// three system calls, several times a second for each queue.
type sysDir struct{ dir *os.File }

// openSys opens the directory. Which interfaces /sys shows depends on the network namespace in which it was mounted, not on the reader's:
// index and address must be those that netlink reports.
func openSys(m linkMsg) (*sysDir, error) {
	f, err := os.OpenFile("/sys/class/net/"+m.name, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, &reason{text: "/sys does not show " + m.name + " (a device of another network namespace than the mount's?)", is: ErrNotSupported}
	}
	s := &sysDir{f}
	index, _ := s.read("ifindex")
	address, _ := s.read("address")
	if index != strconv.Itoa(m.index) || (len(m.mac) == 6 && address != m.mac.String()) {
		f.Close()
		return nil, &reason{text: "/sys shows another network namespace's " + m.name + ": run in one with a /sys of its own (ip netns exec)", is: ErrNotSupported}
	}
	return s, nil
}

// open opens a file below the directory.
func (s *sysDir) open(path string, flags int) (fd int, err error) {
	err = retry(func() (err error) {
		fd, err = unix.Openat(int(s.dir.Fd()), path, flags|unix.O_CLOEXEC, 0)
		return err
	})
	return fd, err
}

// read reads a file, which in /sys is never longer than a page, without white space around.
func (s *sysDir) read(path string) (string, error) {
	fd, err := s.open(path, unix.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	var buf [4096]byte
	var n int
	err = retry(func() (err error) { n, err = unix.Read(fd, buf[:]); return })
	return strings.TrimSpace(string(buf[:max(n, 0)])), err
}

func (s *sysDir) write(path, text string) error {
	fd, err := s.open(path, unix.O_WRONLY)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return retry(func() (err error) { _, err = unix.Write(fd, []byte(text)); return })
}

// list names what is in a directory.
func (s *sysDir) list(path string) ([]string, error) {
	fd, err := s.open(path, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	return f.Readdirnames(-1)
}

// readSys reads a file below the interface's directory in /sys.
func (d *Device) readSys(path string) (string, error) {
	if d.sys == nil {
		return "", d.sysErr
	}
	s, err := d.sys.read(path)
	return s, d.sysError(path, err)
}

// writeSys writes a file below the interface's directory in /sys.
func (d *Device) writeSys(path, text string) error {
	if d.sys == nil {
		return d.sysErr
	}
	return d.sysError(path, d.sys.write(path, text))
}

// sysError gives an error of a file in /sys the package's own meaning. A file that is not there is "not supported" while the interface is
// there.
func (d *Device) sysError(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrPermission): // EPERM and EACCES
		return fmt.Errorf("%w: /sys: %s: %w", ErrNotPermitted, path, err)
	case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ENODEV):
		if _, gone := d.linkMsg(d.index); gone != nil {
			return gone
		}
		fallthrough
	case errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Errorf("%w: /sys: %s: %w", ErrNotSupported, path, err)
	}
	return fmt.Errorf("/sys: %s: %w", path, err)
}
