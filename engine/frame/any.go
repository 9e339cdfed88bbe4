package frame

import "golang.org/x/net/bpf"

// AnyFilter makes a classic BPF program for a raw packet socket that lets through UDP frames that carry the pktgen header, whoever sends
// them: ours, or those of the kernel's generator. IPv4 without options and whole, or IPv6 without extension headers; tagged or not (the
// socket does not see the tag). Frames too short for the header are not recognised.
func AnyFilter() ([]bpf.RawInstruction, error) {
	var v4, v6 block
	v4.want(12, 2, 0x0800)
	v4.want(14, 1, 0x45)
	v4.add(bpf.LoadAbsolute{Off: 20, Size: 2}, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0x3fff}) // no fragment; DF does not matter
	v4.equal(0)
	v4.want(23, 1, protocolUDP)
	v4.want(ethernetLen+ipv4Len+udpLen, 4, Magic)
	v4.add(bpf.RetConstant{Val: accept})
	v6.want(12, 2, 0x86dd)
	v6.want(20, 1, protocolUDP)
	v6.want(ethernetLen+ipv6Len+udpLen, 4, Magic)
	v6.add(bpf.RetConstant{Val: accept})
	return bpf.Assemble(append(append(v4.finish(), v6.finish()...), bpf.RetConstant{}))
}
