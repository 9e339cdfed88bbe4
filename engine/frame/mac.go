package frame

import (
	"fmt"
	"net"
)

// MAC is an Ethernet address; comparable, unlike net.HardwareAddr.
type MAC [6]byte

// Broadcast is the address of every station.
var Broadcast = MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// ParseMAC reads six bytes in hexadecimal, written 02:00:00:00:00:01, 02-00-00-00-00-01 or 0200.0000.0001. Unicast, multicast and
// broadcast are all valid as a destination; a source must be Unicast, which Spec.Validate checks.
func ParseMAC(s string) (MAC, error) {
	hw, err := net.ParseMAC(s)
	if err != nil || len(hw) != len(MAC{}) {
		return MAC{}, fmt.Errorf("MAC %q: not six bytes in hexadecimal, as in 02:00:00:00:00:01", s)
	}
	return MAC(hw), nil
}

// String returns the address as 02:00:00:00:00:01.
func (m MAC) String() string { return net.HardwareAddr(m[:]).String() }

// Unicast says whether the address can belong to one station: it has no group bit and is not all zeros.
func (m MAC) Unicast() bool { return m[0]&1 == 0 && m != MAC{} }

// Multicast says whether the address is that of a group; Broadcast is one.
func (m MAC) Multicast() bool { return m[0]&1 != 0 }
