package nic

// Qdisc are the sums of the root qdisc.
type Qdisc struct {
	Kind                         string
	BacklogPackets, BacklogBytes uint64
	Drops, Requeues, Overlimits  uint64
}

// Qdisc reads them from the kernel.
func (d *Device) Qdisc() (Qdisc, error) { panic("todo") }

// QueueBytes returns the bytes each transmit queue has passed on, from the children of a root mq; errors.Is(err, ErrNotSupported) without one.
func (d *Device) QueueBytes() ([]uint64, error) { panic("todo") }

// InFlight returns the bytes that the device owns on a transmit queue (BQL inflight); errors.Is(err, ErrNotSupported) without BQL.
func (d *Device) InFlight(queue int) (uint64, error) { panic("todo") }

// XPS returns the CPUs whose frames go to a transmit queue, nil where the map is empty.
func (d *Device) XPS(queue int) ([]int, error) { panic("todo") }

// SetXPS makes exactly the given CPUs send on queue and returns the way back. ErrNotPermitted where the files belong to the host's root,
// ErrNotSupported on a device of one queue.
func (d *Device) SetXPS(queue int, cpus []int) (restore func() error, err error) { panic("todo") }

// Protected says in words why sending on the device would be dangerous: it carries the default route, or the operator's own ssh session.
// "" if it does not.
func (d *Device) Protected() (why string, err error) { panic("todo") }
