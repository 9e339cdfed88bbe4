package meter

import "fmt"

// Regime is what decides the rate: where frames wait, and for what.
type Regime string

// The regimes. RegimeUnknown is where the instruments do not say: it is never guessed.
const (
	RegimeUnknown Regime = "-"
	Direct        Regime = "direct"  // the queue is empty: each frame goes straight to the driver
	Queued        Regime = "queued"  // frames wait in the queue
	Bulking       Regime = "bulking" // and several are handed to the driver at once
	Limited       Regime = "limited" // by the link, byte queue limits or the driver
)

// Signs are what the instruments showed over a while. A nil pointer is not known.
type Signs struct {
	Sending bool
	Bypass  bool    // the frames take the way past the queue
	Queue   string  // kind of the qdisc that frames wait in, "" where there is none
	Looks   int     // at the queue
	Waiting float64 // share of them that found frames in it
	Backlog float64 // frames in it, on the average

	Requeues, Overlimits float64  // a second: the driver took none, the shaper let none go
	NotTaken             float64  // kicks a second that the driver, or a full queue, answered with ENOBUFS
	Bulk                 *float64 // frames of a dequeue, on the average: only the trace point tells
	Percent              *float64 // of the link's speed
	Link                 string   // that speed in words

	OneQueue        bool // the qdisc may hand over several frames at once
	FrameBytes      float64
	InFlight, Limit *float64 // bytes of byte queue limits on the average: in the device, and allowed
}

// Bounds of the regimes.
const (
	emptyBelow  = 0.1  // share of looks: less is an empty queue
	fewLooks    = 5    // with less nothing is said
	linkFull    = 99.0 // per cent
	oftenEnough = 10.0 // a second: rarer refusals decide nothing
)

// RegimeOf says which regime rules, and why in words. Where the signs do not tell it is RegimeUnknown, and why says what is missing.
func RegimeOf(s Signs) (r Regime, why string) {
	switch {
	case !s.Sending:
		return RegimeUnknown, "nothing is sent"
	case s.Bypass:
		return s.bypass()
	case s.Queue == "":
		if s.fullLink() {
			return Limited, s.atLink() + "; there is no queue to wait in"
		}
		return Direct, "no queue to wait in (noqueue): each frame goes straight to the driver"
	case s.Looks < fewLooks:
		return RegimeUnknown, "too few looks at the queue yet"
	case s.Waiting < emptyBelow:
		if s.fullLink() { // an engine that paces below it, or a device with a deep ring of its own
			return Limited, s.atLink() + "; the queue is empty: frames wait in the device"
		}
		return Direct, fmt.Sprintf("the queue was empty in %s of the looks: frames go straight to the driver", share(1-s.Waiting))
	}
	backlog := "backlog " + Number(s.Backlog, 1)
	if s.Waiting < 0.95 {
		backlog += " in " + share(s.Waiting) + " of the looks"
	}
	if s.Bulk != nil {
		backlog += ", " + Number(*s.Bulk, 1) + " frames a bulk"
	}
	if limit := s.limit(); limit != "" {
		return Limited, limit + "; " + backlog
	}
	switch {
	case s.Bulk != nil && *s.Bulk > 1.05:
		return Bulking, backlog
	case s.Bulk == nil && s.provesBulks():
		return Bulking, backlog + fmt.Sprintf("; byte queue limits leave room for %s frames at once", Number((*s.Limit-*s.InFlight)/s.FrameBytes, 1))
	}
	return Queued, backlog
}

// bypass is the way past the queue.
func (s Signs) bypass() (Regime, string) {
	switch {
	case s.fullLink():
		return Limited, s.atLink()
	case s.NotTaken >= oftenEnough:
		return Limited, fmt.Sprintf("the driver is the limit: it took nothing %s times a second", Number(s.NotTaken, 0))
	}
	return Direct, "the bypass leads past the queue: each frame goes straight to the driver"
}

// limit says what frames wait for, "" where that is not known.
func (s Signs) limit() string {
	switch {
	case s.fullLink():
		return s.atLink()
	case s.Queue == "tbf" || s.Queue == "htb":
		if s.Overlimits >= oftenEnough && s.Waiting >= 0.5 {
			return fmt.Sprintf("the shaper is the limit: it held frames back %s times a second", Number(s.Overlimits, 0))
		}
	case s.Requeues >= oftenEnough:
		return fmt.Sprintf("the driver is the limit: it gave frames back %s times a second (requeues)", Number(s.Requeues, 0))
	case s.InFlight != nil && s.Limit != nil && s.FrameBytes > 0 && *s.Limit > 0 && *s.Limit-*s.InFlight < s.FrameBytes && s.Waiting >= 0.5:
		return fmt.Sprintf("byte queue limits are the limit: %s of %s bytes are in the device", Number(*s.InFlight, 0), Number(*s.Limit, 0))
	}
	return ""
}

// provesBulks says whether a standing backlog meets room for several frames: the kernel then takes several (try_bulk_dequeue_skb).
func (s Signs) provesBulks() bool {
	return s.OneQueue && s.InFlight != nil && s.Limit != nil && s.FrameBytes > 0 && s.Waiting >= 0.5 && s.Backlog >= 2 && *s.Limit-*s.InFlight >= 2*s.FrameBytes
}

func (s Signs) fullLink() bool { return s.Percent != nil && *s.Percent >= linkFull }

func (s Signs) atLink() string {
	return fmt.Sprintf("the link is the limit: %s %% of %s", Number(*s.Percent, 1), s.Link)
}

// share prints a share as a percentage; neither almost all nor almost none is shown as all or none.
func share(f float64) string {
	switch {
	case f < 1 && f > 0.99:
		return "over 99 %"
	case f > 0 && f < 0.01:
		return "under 1 %"
	}
	return Number(100*f, 0) + " %"
}
