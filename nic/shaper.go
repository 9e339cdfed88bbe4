package nic

import (
	"fmt"
	"time"
)

// What Ethernet adds to a frame as the kernel counts it: 4 bytes of FCS and 20 of preamble and gap. The smallest takes 84 on the wire.
const (
	wireOverhead = 24
	wireLeast    = 84
)

const (
	// shaperSlack is how long the shaper may be late without loss of rate: the kernel's timers are, and a sender that is off its CPU. A link
	// that was idle sends as much at once, which is 0.5 % of the first second.
	shaperSlack = 5 * time.Millisecond
	// shaperLimit is more than all rings hold: the sender is held back by its ring, and nothing is dropped.
	shaperLimit = 64 << 20
)

// FastestShaper is the fastest link that Shaper can be, in bit/s: struct tc_ratespec has 32 bits for bytes per second.
const FastestShaper = 34_000_000_000

// Shaper is the value of the setting "qdisc" that makes a link of so many bit/s of a device, wire bytes counted as on Ethernet: frames wait for it in
// the root qdisc. mtu is the device's. A super-frame is charged as one frame, so only whole frames may be sent.
func Shaper(speed uint64, mtu int) string {
	bucket := max(uint64(float64(speed)/8*shaperSlack.Seconds()), 2*uint64(mtu+14+4+wireOverhead))
	return fmt.Sprintf("tbf rate %s burst %d limit %d overhead %d mpu %d", formatTCRate(speed/8), bucket, shaperLimit, wireOverhead, wireLeast)
}
