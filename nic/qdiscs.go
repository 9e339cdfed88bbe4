package nic

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/vishvananda/netlink"
)

// QueueQdisc is a qdisc that frames wait in, and the transmit queue that it feeds.
type QueueQdisc struct {
	Queue int // -1: all of the device's
	Qdisc
	OneQueue bool // it feeds one queue only, so that it may hand over several frames at once (TCQ_F_ONETXQUEUE)
}

// Qdiscs reads the qdiscs that frames wait in: the children of a root mq, each with its queue, or the root qdisc. Nothing is returned for a device
// without one (noqueue, noop), where frames wait nowhere. into is reused, so that a reader that asks often allocates nothing. errors.Is(err,
// ErrNotFound) holds once the interface is gone.
func (d *Device) Qdiscs(into []QueueQdisc) ([]QueueQdisc, error) {
	list := into[:0]
	var root QueueQdisc
	var handle uint32
	multi := false
	err := d.nl.talk(request(unix.RTM_GETQDISC, unix.NLM_F_DUMP, tcmsg(d.index, 0)...), func(_ uint16, b []byte) error {
		m, err := parseTC(b)
		if err != nil || int(native.Uint32(b[4:])) != d.index { // older kernels dump all interfaces
			return err
		}
		switch parent := native.Uint32(b[12:]); {
		case parent == netlink.HANDLE_ROOT:
			root, handle = QueueQdisc{Queue: -1, Qdisc: m.stats}, m.handle
			multi = m.stats.Kind == "mq" || m.stats.Kind == "mqprio"
		case parent>>16 == handle>>16 && parent&0xffff >= 1 && multi:
			list = append(list, QueueQdisc{Queue: int(parent&0xffff) - 1, Qdisc: m.stats, OneQueue: true})
		}
		return nil
	})
	switch {
	case err == unix.ENODEV:
		err = ErrNotFound
	case err == nil && multi:
		slices.SortFunc(list, func(a, b QueueQdisc) int { return a.Queue - b.Queue })
		if tx, _, ok := d.realQueues(); ok && tx < len(list) { // mq has a child for each queue that was allocated
			list = list[:tx]
		}
		return list, nil
	case err == nil && root.Kind != "" && root.Kind != "noqueue" && root.Kind != "noop":
		if tx, _, ok := d.realQueues(); ok && tx == 1 {
			root.Queue, root.OneQueue = 0, true
		}
		return append(list, root), nil
	case err == nil: // an interface that is gone has none either
		_, err = d.linkMsg(d.index)
	}
	if err != nil {
		return nil, fmt.Errorf("qdiscs of %s: %w", d.Name(), err)
	}
	return list, nil
}

// Limits are a transmit queue's byte queue limits, in bytes.
type Limits struct {
	InFlight, Limit uint64 // the device has, and may have at present
}

// Limits returns the byte queue limits of a transmit queue; errors.Is(err, ErrNotSupported) where the driver uses none, as of InFlight.
func (d *Device) Limits(queue int) (l Limits, err error) {
	if l.InFlight, err = d.InFlight(queue); err != nil {
		return Limits{}, err
	}
	if l.Limit, err = d.bql(queue, "limit"); err != nil {
		return Limits{}, fmt.Errorf("byte queue limit of %s queue %d: %w", d.Name(), queue, err)
	}
	return l, nil
}
