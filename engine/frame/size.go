package frame

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// What a frame takes on the wire besides its own bytes, in bytes (IEEE 802.3-2022: 3.1.1 for the packet, 4.4.2 for the gap).
const (
	FCS      = 4  // frame check sequence; the kernel does not count it
	Preamble = 8  // 7 of preamble and the start frame delimiter
	Gap      = 12 // between packets, 96 bit times

	// Smallest is the shortest frame, without FCS: minFrameSize, 64, less the FCS.
	Smallest = 60
)

// L is the length in bytes with FCS of a frame of size bytes without it. A frame that is too short is padded.
func L(size int) int { return max(Smallest, size) + FCS }

// Wire is what a frame of size bytes without FCS takes on the wire, in byte times: L, preamble and gap.
func Wire(size int) int { return L(size) + Preamble + Gap }

// MaxPPS is the most frames of size bytes without FCS per second on a link of speed bit/s: 1,488,095.24 for 60 bytes on 1 Gbit/s. It is
// exact, and the caller's own to change.
func MaxPPS(speed uint64, size int) *big.Rat {
	r := new(big.Rat).SetUint64(speed)
	return r.Quo(r, big.NewRat(8*int64(Wire(size)), 1))
}

// BpsL1 is what pps frames of size bytes without FCS take of a link, in bit/s, preamble and gap included.
func BpsL1(pps float64, size int) float64 { return pps * 8 * float64(Wire(size)) }

// BpsL2 is the same in bit/s of frames with their FCS.
func BpsL2(pps float64, size int) float64 { return pps * 8 * float64(L(size)) }

// MinSize is the smallest size for frames with the layers of s: 60, or more where the headers need it. s.Size does not matter.
func MinSize(s Spec) int { return max(Smallest, s.headers()) }

// Least is the size of the smallest frames of s.
func (s Spec) Least() int {
	if s.Sizes != nil {
		return s.Sizes.Least()
	}
	return s.Size
}

// MaxSize is the largest size that an MTU allows: the Ethernet header comes on top, and a VLAN tag (0: none) too, because the kernel
// does not count it (packet_snd in net/packet/af_packet.c).
func MaxSize(mtu int, vlan uint16) int {
	if vlan != 0 {
		return mtu + ethernetLen + vlanLen
	}
	return mtu + ethernetLen
}

// ParseSize reads a size: bytes without FCS ("60", "1514"), or with it ("64fcs"). It returns bytes without FCS, at least 60; what the
// layers and the MTU allow is for MinSize and MaxSize.
func ParseSize(s string) (int, error) {
	digits, fcs := strings.CutSuffix(s, "fcs")
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("size %q: not a number of bytes, as in 60 or 64fcs (with FCS)", s)
	}
	size := int(n)
	if fcs {
		size -= FCS
	}
	if size < Smallest {
		return 0, fmt.Errorf("size %s: the smallest frame has %d bytes, %d with FCS", s, Smallest, Smallest+FCS)
	}
	return size, nil
}
