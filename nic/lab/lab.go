package lab

import (
	"errors"
	"os/exec"
)

// Names of the lab's two ends.
const (
	Sender   = "v0"
	Receiver = "v1"
)

// Foreign is the unicast MAC that belongs to nobody: the peer's stack drops frames to it at once, the cheapest sink there is.
var Foreign = [6]byte{0x02, 0x00, 0x00, 0x00, 0x00, 0xfe}

// ErrRefused is returned where namespaces are refused (AppArmor on some distributions).
var ErrRefused = errors.New("no user namespaces here")

// Command prepares cmd (a re-execution of this program) to start in a user, network and mount namespace of its own; without the user
// namespace where the process has CAP_SYS_ADMIN. The child must call Enter first.
func Command(cmd *exec.Cmd) { panic("todo") }

// Enter finishes the namespaces inside the child: its own mount tree with its own /sys, IPv6 off for all devices to come, lo left down.
// ErrRefused where a security module refuses what the new user namespace should allow.
func Enter() error { panic("todo") }

// Pair makes a veth pair named a, b with queues transmit queues each: no addresses, IPv6 off before the links go up, both up.
func Pair(a, b string, queues int) error { panic("todo") }
