package nic

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// queueFile is a file of a transmit queue, below the interface's directory in /sys.
func queueFile(queue int, name string) string { return "queues/tx-" + strconv.Itoa(queue) + "/" + name }

// readQueue reads a queue's file; that there is no such queue is said in words.
func (d *Device) readQueue(queue int, name string) (string, error) {
	s, err := d.readSys(queueFile(queue, name))
	if isMissing(err) {
		if tx, _, ok := d.realQueues(); ok && (queue < 0 || queue >= tx) {
			return "", fmt.Errorf("%w: no transmit queue %d, the last is %d", ErrNotSupported, queue, tx-1)
		}
	}
	return s, err
}

// isMissing tells that there is no such file though the interface is there.
func isMissing(err error) bool {
	return errors.Is(err, ErrNotSupported) && errors.Is(err, os.ErrNotExist)
}

// InFlight returns the bytes that the device owns on a transmit queue (BQL inflight); errors.Is(err, ErrNotSupported) without BQL. A driver
// without BQL may have the files in /sys nevertheless: it is told by a limit that is still 0 on all queues though frames were sent. So ask
// anew each time: "not supported" may become a number.
func (d *Device) InFlight(queue int) (uint64, error) {
	n, err := d.bql(queue, "inflight")
	used := true
	if err == nil && n == 0 {
		used, err = d.usesBQL(queue)
	}
	if !used || isMissing(err) {
		return 0, &reason{text: d.kind() + " does not use byte queue limits", is: ErrNotSupported}
	}
	if err != nil {
		return 0, fmt.Errorf("bytes in flight of %s queue %d: %w", d.Name(), queue, err)
	}
	return n, nil
}

// bql reads one of a queue's byte queue limits.
func (d *Device) bql(queue int, name string) (uint64, error) {
	s, err := d.readQueue(queue, "byte_queue_limits/"+name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(s, 10, 64)
}

// usesBQL tells whether the limit of any queue, the given one first, was ever raised from 0, or no frame was sent yet. The kernel raises it
// at the first completion (lib/dynamic_queue_limits.c).
func (d *Device) usesBQL(first int) (bool, error) {
	if limit, err := d.bql(first, "limit"); err != nil || limit > 0 {
		return true, err
	}
	tx, _, _ := d.realQueues()
	for q := range tx {
		if limit, err := d.bql(q, "limit"); err != nil || limit > 0 {
			return true, err
		}
	}
	c, err := d.Counters()
	return err != nil || c.TxPackets == 0, err
}

// XPS returns the CPUs whose frames go to a transmit queue (xps_cpus), ascending, nil where the map is empty. errors.Is(err,
// ErrNotSupported) for a device of one queue, where there is nothing to choose.
func (d *Device) XPS(queue int) ([]int, error) {
	mask, err := d.xps(queue)
	if err == nil {
		var cpus []int
		if cpus, err = parseMask(mask); err == nil {
			return cpus, nil
		}
	}
	return nil, fmt.Errorf("XPS of %s queue %d: %w", d.Name(), queue, err)
}

// xps reads a queue's mask as the kernel writes it.
func (d *Device) xps(queue int) (string, error) {
	mask, err := d.readQueue(queue, "xps_cpus")
	if isMissing(err) {
		return "", fmt.Errorf("%w: it has one transmit queue", ErrNotSupported)
	}
	return mask, err
}

// SetXPS makes exactly the given CPUs send on queue, none if cpus is empty, and returns the way back to the map that it found. It does not
// take the CPUs away from other queues: where a CPU is in several maps, the flow decides. The map is read back, and put back at once where
// the kernel took another. errors.Is(err, ErrNotPermitted) where the files belong to the host's root, ErrNotSupported on a device of one
// queue. restore returns nil for an interface that is gone.
func (d *Device) SetXPS(queue int, cpus []int) (restore func() error, err error) {
	fail := func(err error) error { return fmt.Errorf("set XPS of %s queue %d: %w", d.Name(), queue, err) }
	before, err := d.xps(queue)
	if err != nil {
		return nil, fail(err)
	}
	mask, err := formatMask(cpus)
	if err != nil {
		return nil, fail(err)
	}
	restore = func() error {
		err := d.writeSys(queueFile(queue, "xps_cpus"), before)
		if err == nil || errors.Is(err, ErrNotFound) {
			return nil
		}
		return fmt.Errorf("restore XPS of %s queue %d to %s: %w", d.Name(), queue, before, err)
	}
	switch err := d.writeSys(queueFile(queue, "xps_cpus"), mask); {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EOVERFLOW):
		return nil, fail(fmt.Errorf("this machine has not all of CPUs %v: %w", cpus, err))
	case err != nil:
		return nil, fail(err)
	}
	want := slices.Sorted(slices.Values(cpus))
	got, err := d.XPS(queue)
	if err == nil && !slices.Equal(slices.Compact(want), got) {
		err = fail(fmt.Errorf("asked for CPUs %v, the kernel took %v", want, got))
	}
	if err != nil {
		return nil, errors.Join(err, restore())
	}
	return restore, nil
}
