// Package xdp is a sink in the driver: an XDP program that counts frames of ours and drops them before the kernel has made a buffer of
// them, so that the receiving side costs the least possible and answers nothing. The program is assembled here (cilium/ebpf, its asm
// package): no compiler is needed.
//
// What is ours is said by a classic packet filter, the one that the counting receiver has: it is translated instruction by instruction,
// so that both count the same frames. Others pass, and every Nth of ours may.
//
// The program is attached through a link, whose descriptor alone holds it: whatever ends the process, kill -9 included, detaches it.
// Native mode (in the driver) is tried first, then generic mode (after the driver, on a finished buffer), which saves less; Mode says
// which it is. A user namespace may load no BPF: errors.Is(err, ErrNotPermitted), with the way out in words.
//
// A Sink owns map, program and link; its methods may be called from any goroutine. The counts are kept for each CPU by the CPU itself.
package xdp
