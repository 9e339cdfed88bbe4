package host

import (
	"fmt"
	"strconv"
	"strings"
)

// PacketSocket is a socket that hears or sends whole frames.
type PacketSocket struct {
	Protocol int  // 3 hears all frames, 0 none
	Index    int  // of the interface, 0 for all
	Running  bool // it is bound
	Inode    uint64
}

// PacketSockets lists those of our network namespace.
func (r Root) PacketSockets() ([]PacketSocket, error) {
	s, err := r.Text("proc/net/packet")
	if err != nil {
		return nil, err
	}
	list, err := parsePacket(s)
	if err != nil {
		return nil, fmt.Errorf("/proc/net/packet: %w", err)
	}
	return list, nil
}

// parsePacket reads a head line, then sk, RefCnt, Type, Proto (hexadecimal), Iface, R, Rmem, User and Inode of each (packet_seq_show in
// net/packet/af_packet.c).
func parsePacket(s string) ([]PacketSocket, error) {
	var list []PacketSocket
	first := true
	for line := range strings.Lines(s) {
		fields := strings.Fields(line)
		if first {
			first = false
			continue
		}
		if len(fields) < 9 {
			return nil, fmt.Errorf("%d fields, want 9", len(fields))
		}
		protocol, err1 := strconv.ParseUint(fields[3], 16, 16)
		index, err2 := strconv.ParseUint(fields[4], 10, 31)
		inode, err3 := strconv.ParseUint(fields[8], 10, 64)
		if err1 != nil || err2 != nil || err3 != nil {
			return nil, fmt.Errorf("no numbers where they should be: %q", cut(line))
		}
		list = append(list, PacketSocket{Protocol: int(protocol), Index: int(index), Running: fields[5] == "1", Inode: inode})
	}
	return list, nil
}

// Owners finds who holds sockets, by inode: "tcpdump (4711)". Of other users' processes only root sees them.
func (r Root) Owners(inodes map[uint64]bool) (map[uint64]Process, error) {
	owners := make(map[uint64]Process)
	if len(inodes) == 0 {
		return owners, nil
	}
	list, _, err := r.Processes()
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		dir := "proc/" + strconv.Itoa(p.PID) + "/fd"
		fds, err := r.Names(dir)
		if err != nil { // another user's, or ended
			continue
		}
		for _, fd := range fds {
			target, err := r.link(dir + "/" + fd)
			if err != nil {
				continue
			}
			inside, ok := strings.CutPrefix(target, "socket:[")
			inode, err := strconv.ParseUint(strings.TrimSuffix(inside, "]"), 10, 64)
			if ok && err == nil && inodes[inode] {
				owners[inode] = p
			}
		}
	}
	return owners, nil
}
