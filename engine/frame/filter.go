package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/net/bpf"
)

// maxProgram is the longest classic BPF program the kernel takes (BPF_MAXINSNS in include/uapi/linux/bpf_common.h).
const maxProgram = 4096

// maxPorts bounds the port pairs one block compares: a jump reaches 255 instructions, and each pair may take one of them.
const maxPorts = 200

// accept is returned for our frames: the bytes of them a socket is given, all.
const accept = 1 << 18

// match is what one block of the filter compares; specs that differ in their ports only share one.
type match struct {
	mac      MAC
	src, dst string // addresses as their bytes
	vlan     uint16
	header   bool
}

// Filter makes a classic BPF program for a raw packet socket that lets through the received frames of specs and no other: source MAC,
// VLAN, addresses, ports and, where the frames of that spec have it, the pktgen magic must be right, and the layers must be as Build
// makes them. Size and destination MAC do not matter. To change a running stream, attach the union of the old specs and the new, so that
// no frame on its way is lost.
//
// Two instructions per group of specs reject a foreign frame: those that differ in their ports only are one group. The tag of a VLAN frame is not looked for among its bytes: the kernel moves it to the
// metadata before a packet socket of the receiver is asked (skb_vlan_untag in net/core/dev.c). The filter does not tell a received
// frame from a sent one, which still has its tag: PACKET_IGNORE_OUTGOING does.
func Filter(specs []Spec) ([]bpf.RawInstruction, error) {
	if len(specs) == 0 {
		return nil, errors.New("filter: no stream to look for")
	}
	var order []match
	var prog []bpf.Instruction
	ports := make(map[match][]uint32)
	for _, s := range specs {
		if err := s.Validate(); err != nil && s.Pattern == nil {
			return nil, fmt.Errorf("filter: %w", err)
		}
		if !s.simple() {
			p := s.Pattern
			if p == nil {
				p = s.pattern()
			}
			if p == nil {
				return nil, fmt.Errorf("filter: %s: %w", s.kind(), ErrNoMarks)
			}
			prog = append(prog, p.block()...)
			continue
		}
		m := match{s.SrcMAC, string(s.SrcIP.AsSlice()), string(s.DstIP.AsSlice()), s.VLAN, s.HasHeader()}
		if _, ok := ports[m]; !ok {
			order = append(order, m)
		}
		if p := uint32(s.SrcPort)<<16 | uint32(s.DstPort); !slices.Contains(ports[m], p) {
			ports[m] = append(ports[m], p)
		}
	}

	for _, m := range order {
		for some := range slices.Chunk(ports[m], maxPorts) {
			prog = append(prog, m.block(some)...)
		}
	}
	prog = append(prog, bpf.RetConstant{})
	if len(prog) > maxProgram {
		return nil, fmt.Errorf("filter: %d streams take %d instructions, the kernel allows %d: use fewer", len(specs), len(prog), maxProgram)
	}
	return bpf.Assemble(prog)
}

// block compares a frame to m and one of ports (source and destination as one word). It accepts the frame, or falls off its end.
func (m match) block(ports []uint32) []bpf.Instruction {
	var b block
	b.want(8, 4, binary.BigEndian.Uint32(m.mac[2:])) // what differs most comes first
	b.want(6, 2, uint32(binary.BigEndian.Uint16(m.mac[:])))
	if m.vlan == 0 {
		b.add(bpf.LoadExtension{Num: bpf.ExtVLANTagPresent})
	} else { // the tag of an untagged frame is 0; priority and DEI do not matter
		b.add(bpf.LoadExtension{Num: bpf.ExtVLANTag}, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0xfff})
	}
	b.equal(uint32(m.vlan))
	l4 := uint32(ethernetLen + ipv4Len)
	if len(m.dst) == 4 {
		b.want(12, 4, 0x0800_4500)        // IPv4 without options, TOS 0
		b.want(20, 4, ttl<<8|protocolUDP) // no fragment, no DF
		b.wantBytes(26, m.src+m.dst)
	} else {
		l4 = ethernetLen + ipv6Len
		b.want(12, 2, 0x86dd)
		b.want(14, 4, 0x6000_0000)        // no class, no flow label
		b.want(20, 2, protocolUDP<<8|ttl) // no extension header
		b.wantBytes(22, m.src+m.dst)
	}
	if m.header {
		b.want(l4+udpLen, 4, Magic)
	}
	b.add(bpf.LoadAbsolute{Off: l4, Size: 4})
	for i, p := range ports {
		b.add(bpf.JumpIf{Cond: bpf.JumpEqual, Val: p, SkipTrue: uint8(len(ports) - i)})
	}
	b.fail()
	b.add(bpf.RetConstant{Val: accept})
	return b.finish()
}

const protocolUDP = 17

// block is a run of comparisons that all jump to its end when they fail.
type block struct {
	ins  []bpf.Instruction
	exit []int // where they jump from
}

func (b *block) add(ins ...bpf.Instruction) { b.ins = append(b.ins, ins...) }

// equal leaves the block unless the accumulator is v.
func (b *block) equal(v uint32) {
	b.exit = append(b.exit, len(b.ins))
	b.add(bpf.JumpIf{Cond: bpf.JumpEqual, Val: v})
}

// fail leaves the block.
func (b *block) fail() {
	b.exit = append(b.exit, len(b.ins))
	b.add(bpf.Jump{})
}

// want leaves the block unless size bytes at off are v.
func (b *block) want(off uint32, size int, v uint32) {
	b.add(bpf.LoadAbsolute{Off: off, Size: size})
	b.equal(v)
}

// wantBytes leaves the block unless the frame has the bytes of s, a multiple of four, at off.
func (b *block) wantBytes(off uint32, s string) {
	for i := 0; i < len(s); i += 4 {
		b.want(off+uint32(i), 4, binary.BigEndian.Uint32([]byte(s[i:i+4])))
	}
}

// finish aims the failed comparisons at the end.
func (b *block) finish() []bpf.Instruction {
	for _, at := range b.exit {
		skip := len(b.ins) - at - 1
		switch j := b.ins[at].(type) {
		case bpf.JumpIf:
			j.SkipFalse = uint8(skip)
			b.ins[at] = j
		case bpf.Jump:
			j.Skip = uint32(skip)
			b.ins[at] = j
		}
	}
	return b.ins
}
