package meter

import "fmt"

// RingFull says that the driver's ring is what frames wait for, "" where it is not, or is not known: descriptors is the ring's length, most the largest
// number of frames seen in the device at once, limit what byte queue limits allow, waiting the share of looks that found a backlog. A frame takes one
// descriptor or two, and drivers keep some two dozen free (SOURCES.md S4, KERNEL.md: 118 or 234 of 256).
func RingFull(descriptors int, most, limit, waiting float64) string {
	if descriptors <= 0 || waiting < 0.5 || limit <= most+1 {
		return ""
	}
	for _, capacity := range []float64{float64(descriptors), float64(descriptors) / 2} {
		kept := 24 * capacity / float64(descriptors)
		if most <= capacity && most >= 0.95*(capacity-kept) {
			return fmt.Sprintf("the driver's ring is full at %s: a larger ring may help (rings.tx is %d)", Number(most, 0), descriptors)
		}
	}
	return ""
}
