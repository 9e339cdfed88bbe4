package xdp

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cilium/ebpf/asm"
	"golang.org/x/net/bpf"
)

// What an XDP program answers (enum xdp_action in linux/bpf.h).
const (
	xdpDrop = 1
	xdpPass = 2
)

// Offsets in the value of the map, see counts.
const (
	atOurs    = 0
	atPassed  = 8
	atForeign = 16
)

// Registers. The frame's own must survive the call of a helper; only one is made, after the last look at the frame.
const (
	data  = asm.R6 // first byte
	layer = asm.R7 // what the filter takes for it from the Ethernet type on: 4 bytes later where there is a tag
	tag   = asm.R8 // of the frame, with bit 16 set; 0 without one
	end   = asm.R9 // after the last byte
	acc   = asm.R0 // the filter's accumulator
	idx   = asm.R5 // the filter's index register
	tmp   = asm.R2
	up    = data // whether the frame is passed up, once nobody looks at its addresses any more
)

// magicBits is the first word of the pktgen header, as an operand.
const magicBits = -(1<<32 - 0xbe9be955)

// macs is the length of the two addresses, which stand before any tag.
const macs = 12

// Where the sequence number of a frame's pktgen header stands, as far as layer goes: after 14, 20 or 40, and 8 bytes of headers and the magic.
const (
	sequence4 = 14 + 20 + 8 + 4
	sequence6 = 14 + 40 + 8 + 4
)

// program translates a filter of a packet socket and puts counting around it. Frames of ours whose sequence number is a multiple of every are
// passed up, none where it is 0.
//
// A packet socket sees a frame whose outer VLAN tag the kernel has moved to the metadata (skb_vlan_untag), while here it still is among the
// bytes: the loads go around it. Where the device takes the tag off itself, its frames look untagged here, as foreign, and go up.
func program(filter []bpf.RawInstruction, counts int, every uint32) (asm.Instructions, error) {
	out := asm.Instructions{
		asm.LoadMem(data, asm.R1, 0, asm.Word), // struct xdp_md
		asm.LoadMem(end, asm.R1, 4, asm.Word),
		asm.Mov.Imm(tag, 0),
		asm.Mov.Reg(layer, data),
		asm.Mov.Imm(acc, 0),
		asm.Mov.Imm(idx, 0),
		asm.Mov.Reg(tmp, data),
		asm.Add.Imm(tmp, macs+4+2),
		asm.JGT.Reg(tmp, end, "0"), // no room for a tag
		asm.LoadMem(tmp, data, macs, asm.Half),
		asm.JEq.Imm(tmp, networkOrder(0x8100), "tagged"),
		asm.JNE.Imm(tmp, networkOrder(0x88a8), "0"),
		asm.LoadMem(tag, data, macs+2, asm.Half).WithSymbol("tagged"),
		asm.HostTo(asm.BE, tag, asm.Half),
		asm.Or.Imm(tag, 1<<16),
		asm.Add.Imm(layer, 4),
	}
	for i, raw := range filter {
		ins, err := translate(raw.Disassemble(), i)
		if err != nil {
			return nil, fmt.Errorf("instruction %d of the filter: %w", i, err)
		}
		ins[0] = ins[0].WithSymbol(label(i))
		out = append(out, ins...)
	}

	out = append(out, asm.Mov.Imm(up, 0).WithSymbol("ours"))
	if every > 0 {
		out = append(out, sample(every)...)
	}
	out = append(out, lookup(counts, "count")...)
	out = append(out, increment(atOurs)...)
	if every > 0 {
		out = append(out, asm.JEq.Imm(up, 0, "drop"))
		out = append(out, increment(atPassed)...)
		out = append(out, asm.Ja.Label("pass"))
	}
	out = append(out, asm.Mov.Imm(asm.R0, xdpDrop).WithSymbol("drop"), asm.Return())
	out = append(out, lookup(counts, "foreign")...)
	out = append(out, increment(atForeign)...)
	return append(out, asm.Mov.Imm(asm.R0, xdpPass).WithSymbol("pass"), asm.Return()), nil
}

// sample sets up to 1 where the frame's sequence number is a multiple of every: a choice that all CPUs make alike, so that the receiver knows
// which frames to miss.
func sample(every uint32) asm.Instructions {
	var out asm.Instructions
	for _, v := range []struct {
		kind       uint16
		at         int16
		name, next string
	}{{0x0800, sequence4, "four", "six"}, {0x86dd, sequence6, "six", "count"}} {
		out = append(
			out,
			asm.Mov.Reg(tmp, layer).WithSymbol(v.name),
			asm.Add.Imm(tmp, int32(v.at)+4),
			asm.JGT.Reg(tmp, end, "count"),
			asm.LoadMem(tmp, layer, macs, asm.Half),
			asm.JNE.Imm(tmp, networkOrder(v.kind), v.next),
			asm.LoadMem(acc, layer, v.at-4, asm.Word), // the magic: a shorter frame of ours has no header
			asm.HostTo(asm.BE, acc, asm.Word),
			asm.JNE.Imm32(acc, magicBits, "count"),
			asm.LoadMem(acc, layer, v.at, asm.Word),
			asm.HostTo(asm.BE, acc, asm.Word),
			asm.Mov.Imm32(tmp, int32(every)),
			asm.Mod.Reg32(acc, tmp),
			asm.JNE.Imm(acc, 0, "count"),
			asm.Mov.Imm(up, 1),
			asm.Ja.Label("count"),
		)
	}
	return out
}

// label names the place of a filter's instruction.
func label(i int) string { return fmt.Sprint(i) }

// networkOrder is a constant as a load of two bytes on this machine finds it.
func networkOrder(v uint16) int32 {
	return int32(binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, v)))
}

// lookup leaves this CPU's counts in R0.
func lookup(counts int, symbol string) asm.Instructions {
	return asm.Instructions{
		asm.StoreImm(asm.R10, -4, 0, asm.Word).WithSymbol(symbol),
		asm.Mov.Reg(asm.R2, asm.R10),
		asm.Add.Imm(asm.R2, -4),
		asm.LoadMapPtr(asm.R1, counts),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "pass"), // never so, but the verifier does not know
	}
}

// increment adds one to a count. Only this CPU writes it, and no other run of the program comes in between.
func increment(offset int16) asm.Instructions {
	return asm.Instructions{
		asm.LoadMem(asm.R1, asm.R0, offset, asm.DWord),
		asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R0, offset, asm.R1, asm.DWord),
	}
}

// translate makes one instruction of a classic filter, the ith, into those that do the same on the bytes of a frame.
func translate(one bpf.Instruction, i int) (asm.Instructions, error) {
	switch c := one.(type) {
	case bpf.LoadAbsolute:
		return translateLoad(c)
	case bpf.LoadMemShift: // the length of an IPv4 header
		out, err := translateLoad(bpf.LoadAbsolute{Off: c.Off, Size: 1})
		if err != nil {
			return nil, err
		}
		out[len(out)-1].Dst = idx // the accumulator stays as it is
		return append(out, asm.And.Imm(idx, 0xf), asm.LSh.Imm(idx, 2)), nil
	case bpf.LoadIndirect:
		if c.Off < macs {
			return nil, errors.New("it reads the addresses by an index")
		}
		out, err := translateLoad(bpf.LoadAbsolute(c))
		if err != nil {
			return nil, err
		}
		return append(asm.Instructions{asm.Mov.Reg(asm.R3, layer), asm.Add.Reg(asm.R3, idx)}, from(out, asm.R3)...), nil
	case bpf.LoadExtension:
		switch c.Num {
		case bpf.ExtVLANTagPresent:
			return asm.Instructions{asm.Mov.Reg(acc, tag), asm.RSh.Imm(acc, 16)}, nil
		case bpf.ExtVLANTag:
			return asm.Instructions{asm.Mov.Reg(acc, tag), asm.And.Imm(acc, 0xffff)}, nil
		}
	case bpf.ALUOpConstant:
		switch c.Op {
		case bpf.ALUOpAnd:
			return asm.Instructions{asm.And.Imm32(acc, int32(c.Val))}, nil
		case bpf.ALUOpShiftRight:
			return asm.Instructions{asm.RSh.Imm32(acc, int32(c.Val))}, nil
		}
	case bpf.Jump:
		return asm.Instructions{asm.Ja.Label(label(i + 1 + int(c.Skip)))}, nil
	case bpf.JumpIf:
		then, other := label(i+1+int(c.SkipTrue)), label(i+1+int(c.SkipFalse))
		op, found := jumps[c.Cond]
		if found {
			return asm.Instructions{op.Imm32(acc, int32(c.Val), then), asm.Ja.Label(other)}, nil
		}
	case bpf.RetConstant:
		if c.Val == 0 {
			return asm.Instructions{asm.Ja.Label("foreign")}, nil
		}
		return asm.Instructions{asm.Ja.Label("ours")}, nil
	}
	return nil, fmt.Errorf("%v has no translation", one)
}

var jumps = map[bpf.JumpTest]asm.JumpOp{
	bpf.JumpEqual:          asm.JEq,
	bpf.JumpNotEqual:       asm.JNE,
	bpf.JumpGreaterThan:    asm.JGT,
	bpf.JumpLessThan:       asm.JLT,
	bpf.JumpGreaterOrEqual: asm.JGE,
	bpf.JumpLessOrEqual:    asm.JLE,
	bpf.JumpBitsSet:        asm.JSet,
}

var sizes = map[int]asm.Size{1: asm.Byte, 2: asm.Half, 4: asm.Word}

// from makes a load begin at another pointer.
func from(load asm.Instructions, pointer asm.Register) asm.Instructions {
	for i := range load {
		if load[i].Src == layer {
			load[i].Src = pointer
		}
	}
	return load
}

// translateLoad reads bytes of the frame; a frame that has not so many is none of ours, as for the filter.
func translateLoad(c bpf.LoadAbsolute) (asm.Instructions, error) {
	from := layer
	switch {
	case c.Off > 1<<14:
		return nil, errors.New("it looks too far into the frame")
	case int(c.Off)+c.Size <= macs:
		from = data
	case c.Off < macs:
		return nil, errors.New("it reads an address and the type at once")
	}
	out := asm.Instructions{
		asm.Mov.Reg(tmp, from),
		asm.Add.Imm(tmp, int32(c.Off)+int32(c.Size)),
		asm.JGT.Reg(tmp, end, "foreign"),
		asm.LoadMem(acc, from, int16(c.Off), sizes[c.Size]),
	}
	if c.Size > 1 {
		out = append(out, asm.HostTo(asm.BE, acc, sizes[c.Size]))
	}
	return out, nil
}
