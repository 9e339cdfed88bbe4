package receive

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/net/bpf"
)

// whole is returned for a frame that is wanted: all of its bytes.
const whole = 1 << 18

// maxSources bounds the addresses of a filter: each takes five instructions, and the kernel takes 4096 (BPF_MAXINSNS).
const maxSources = 512

// From makes a filter that lets through the frames of these source MAC addresses, and no other. Everything else about a frame may be wrong:
// what arrives corrupt is to be counted, not overlooked.
func From(sources ...[6]byte) ([]bpf.RawInstruction, error) {
	if len(sources) == 0 || len(sources) > maxSources {
		return nil, fmt.Errorf("filter for %d source addresses: 1 to %d", len(sources), maxSources)
	}
	var prog []bpf.Instruction
	for _, mac := range sources {
		prog = append(prog,
			bpf.LoadAbsolute{Off: 8, Size: 4},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: binary.BigEndian.Uint32(mac[2:]), SkipTrue: 3},
			bpf.LoadAbsolute{Off: 6, Size: 2},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(binary.BigEndian.Uint16(mac[:])), SkipTrue: 1},
			bpf.RetConstant{Val: whole},
		)
	}
	return bpf.Assemble(append(prog, bpf.RetConstant{}))
}

// Numbered makes a filter that lets through every frame with a pktgen header behind Ethernet, IPv4 or IPv6, and UDP, whoever sent it: ours of any
// machine, and those of the kernel's pktgen. The kernel has moved one VLAN tag away before a filter is asked; frames with
// more tags, or MPLS labels, are not recognized.
func Numbered() ([]bpf.RawInstruction, error) {
	const magic = 0xbe9be955
	return bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: 12, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0x0800, SkipFalse: 7}, // to IPv6
		bpf.LoadAbsolute{Off: 23, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 17, SkipTrue: 11},
		bpf.LoadAbsolute{Off: 20, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: 0x1fff, SkipTrue: 9}, // a later fragment
		bpf.LoadMemShift{Off: 14},
		bpf.LoadIndirect{Off: 14 + 8, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: magic, SkipTrue: 5, SkipFalse: 6},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0x86dd, SkipTrue: 5},
		bpf.LoadAbsolute{Off: 20, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 17, SkipTrue: 3},
		bpf.LoadAbsolute{Off: 14 + 40 + 8, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: magic, SkipTrue: 1},
		bpf.RetConstant{Val: whole},
		bpf.RetConstant{},
	})
}

// Others makes of a filter the one that lets through exactly what the filter does not.
func Others(filter []bpf.RawInstruction) ([]bpf.RawInstruction, error) {
	const ret = 0x06 // BPF_RET | BPF_K
	out := make([]bpf.RawInstruction, len(filter))
	for i, in := range filter {
		switch {
		case in.Op == ret && in.K == 0:
			in.K = whole
		case in.Op == ret:
			in.K = 0
		case in.Op&0x07 == ret:
			return nil, errors.New("filter: it returns what it computes, which cannot be turned around")
		}
		out[i] = in
	}
	return out, nil
}

// nothing lets no frame through.
func nothing() []bpf.RawInstruction {
	prog, err := bpf.Assemble([]bpf.Instruction{bpf.RetConstant{}})
	if err != nil {
		panic(err) // it is a constant
	}
	return prog
}

// deal makes the program that chooses a frame's ring: by the number of the sending worker, and the last bytes of the sender's address where
// senders are told apart. A frame that has no such place goes to ring 0. Fanout runs it at the network header, so places are given from
// there (SKF_NET_OFF, SKF_LL_OFF in include/uapi/linux/filter.h).
func deal(bySource bool) ([]bpf.RawInstruction, error) {
	const (
		network = 0xfff0_0000 // SKF_NET_OFF: -0x100000
		link    = 0xffe0_0000 // SKF_LL_OFF: -0x200000
	)
	prog := []bpf.Instruction{
		bpf.LoadConstant{Dst: bpf.RegA, Val: 0},
		bpf.StoreScratch{Src: bpf.RegA, N: 0},
	}
	if bySource {
		prog = append(prog, bpf.LoadAbsolute{Off: link + 10, Size: 2}, bpf.StoreScratch{Src: bpf.RegA, N: 0})
	}
	return bpf.Assemble(append(prog,
		bpf.LoadAbsolute{Off: network, Size: 1},
		bpf.ALUOpConstant{Op: bpf.ALUOpShiftRight, Val: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 6, SkipTrue: 2},
		// A load beyond the end returns 0, and so ring 0.
		bpf.LoadAbsolute{Off: network + 20 + 8 + 16, Size: 2},
		bpf.Jump{Skip: 1},
		bpf.LoadAbsolute{Off: network + 40 + 8 + 16, Size: 2},
		bpf.LoadScratch{Dst: bpf.RegX, N: 0},
		bpf.ALUOpX{Op: bpf.ALUOpAdd},
		bpf.RetA{},
	))
}
