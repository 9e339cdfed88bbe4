package nic

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// sshClients returns the addresses from which the operator may be logged in: from SSH_CONNECTION in our environment and in those of our
// parents, as far as we may read them.
func sshClients() []netip.Addr {
	var clients []netip.Addr
	add := func(connection string) {
		if a, ok := parseSSH(connection); ok && !slices.Contains(clients, a) {
			clients = append(clients, a)
		}
	}
	add(os.Getenv("SSH_CONNECTION"))
	for pid, n := os.Getppid(), 0; pid > 0 && n < 100; n++ {
		environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) // another user's is closed to us
		for v := range bytes.SplitSeq(environ, []byte{0}) {
			if s, ok := strings.CutPrefix(string(v), "SSH_CONNECTION="); ok {
				add(s)
			}
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			break
		}
		pid = parentOf(string(stat))
	}
	return clients
}

// parseSSH returns the client's address of an SSH_CONNECTION ("client port server port", ssh(1)).
func parseSSH(s string) (netip.Addr, bool) {
	fields := strings.Fields(s)
	if len(fields) != 4 {
		return netip.Addr{}, false
	}
	a, err := netip.ParseAddr(fields[0])
	return a.Unmap(), err == nil
}

// parentOf returns the parent in a /proc/PID/stat, 0 for none. The second field, the name, may hold blanks and parentheses.
func parentOf(stat string) int {
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	if len(fields) < 2 {
		return 0
	}
	pid, _ := strconv.Atoi(fields[1])
	return pid
}
