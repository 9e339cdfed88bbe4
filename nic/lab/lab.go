package lab

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Names of the lab's two ends.
const (
	Sender   = "v0"
	Receiver = "v1"
)

// Foreign is the unicast MAC that belongs to nobody: the peer's stack drops frames to it at once, the cheapest sink there is.
var Foreign = [6]byte{0x02, 0x00, 0x00, 0x00, 0x00, 0xfe}

// ErrRefused is returned where namespaces are refused (AppArmor on some distributions, a container's seccomp filter, a limit of 0). Its
// text is the whole line for the operator; what wraps it adds the call that failed only for errors.Is and logs.
var ErrRefused = errors.New("no user namespaces here (AppArmor?): go build -o wirespeed . && sudo ./wirespeed")

// refusal is an ErrRefused that remembers its cause without showing it: the operator gets one line.
type refusal struct{ cause error }

func (r refusal) Error() string   { return ErrRefused.Error() }
func (r refusal) Unwrap() []error { return []error{ErrRefused, r.cause} }

// Command prepares cmd (a re-execution of this program, usually /proc/self/exe) to start in a user, network and mount namespace of its
// own; without the user namespace where the process has CAP_SYS_ADMIN. The child must call Enter first. What cmd.Start then returns goes
// through StartError.
func Command(cmd *exec.Cmd) {
	// A binary with file capabilities is not dumpable: its own /proc files then belong to root and uid_map cannot be written (proc(5)).
	// The call cannot fail with this argument.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	attr := cmd.SysProcAttr
	attr.Cloneflags |= unix.CLONE_NEWNET | unix.CLONE_NEWNS
	if haveSysAdmin() {
		return
	}
	attr.Cloneflags |= unix.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: unix.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: unix.Getegid(), Size: 1}}
	attr.GidMappingsEnableSetgroups = false // user_namespaces(7): needed to write gid_map without rights
}

// StartError turns the error of starting a prepared command into one that says what to do: errors.Is(err, ErrRefused) holds where the
// kernel refused the namespaces.
func StartError(err error) error {
	for _, refused := range []error{unix.EPERM, unix.EACCES, unix.ENOSPC, unix.EUSERS, unix.EINVAL, unix.ENOSYS} {
		if errors.Is(err, refused) {
			return refusal{err}
		}
	}
	return err
}

// haveSysAdmin says whether namespaces can be made without a user namespace.
func haveSysAdmin() bool {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&hdr, &data[0]); err != nil {
		return false
	}
	return data[0].Effective&(1<<unix.CAP_SYS_ADMIN) != 0
}

// refused tells a security module's (or a missing right's) no from other errors.
func refused(what string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", what, err)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return refusal{err}
	}
	return err
}
