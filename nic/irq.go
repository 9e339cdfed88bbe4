package nic

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// irqs asks for the device's interrupts.
func (v *view) irqs() ([]QueueIRQ, error) {
	return once(v, "irqs", v.d.Interrupts)
}

// queueIRQ is the interrupt that tells of frames sent on a queue.
func (v *view) queueIRQ(queue int) (int, error) {
	list, err := v.irqs()
	if err != nil {
		return 0, err
	}
	for _, q := range list {
		if q.Queue == queue && q.Tx {
			return q.IRQ, nil
		}
	}
	if len(list) == 0 {
		return 0, &reason{text: v.d.kind() + " has no interrupts of its own", is: ErrNotSupported}
	}
	return 0, &reason{text: fmt.Sprintf("no interrupt of %s names transmit queue %d", v.d.kind(), queue), is: ErrNotSupported}
}

func (v *view) irqSettings() (list []Setting) {
	l, err := once(v, "link", v.d.Link)
	if err != nil {
		return nil
	}
	for q := range l.TxQueues {
		list = append(list, v.irqSetting(q))
	}
	return list
}

func (v *view) irqSetting(queue int) Setting {
	d, name := v.d, fmt.Sprintf("irq[%d]", queue)
	const help = "CPUs that may take this transmit queue's interrupt (smp_affinity_list)"
	irq, err := v.queueIRQ(queue)
	if err != nil {
		return unsupported(name, GroupIRQ, help, why(err))
	}
	s := Setting{Name: name, Group: GroupIRQ, Help: help, Range: "CPUs as 0-1,3"}
	if err := unix.Access(affinityFile(irq), unix.W_OK); err != nil {
		s.Why = "the file belongs to root (" + affinityFile(irq) + ")"
	}
	// The number is looked up each time: a driver that opens anew may get other interrupts.
	s.read = func(v *view) (string, error) {
		irq, err := v.queueIRQ(queue)
		if err != nil {
			return "", err
		}
		b, err := os.ReadFile(affinityFile(irq))
		return strings.TrimSpace(string(b)), irqError(err)
	}
	s.check = func(text string) error {
		cpus, err := parseList(text)
		if err == nil && len(cpus) == 0 {
			err = badValue(text, "at least one CPU")
		}
		return err
	}
	s.write = func(text string) error {
		if err := s.check(text); err != nil {
			return err
		}
		cpus, _ := parseList(text) // checked
		irq, err := d.view().queueIRQ(queue)
		if err != nil {
			return err
		}
		err = os.WriteFile(affinityFile(irq), []byte(formatList(cpus)), 0)
		if errors.Is(err, unix.EIO) {
			return &reason{text: "the kernel places this interrupt itself (a managed one): it cannot be moved", is: ErrNotSupported}
		}
		return badCPUs(cpus, irqError(err))
	}
	return s
}

func irqError(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: %w", ErrNotPermitted, err)
	}
	return err
}

// PlaceIRQs says where the interrupts of the transmit queues should run, the text of irq[i] for queue i. how is auto (queue i on the CPU of
// worker i), apart (on a CPU without a worker, the nearest behind it) or a list: CPU i of it is queue i's, from the start again when it is
// used up. workers are the workers' CPUs, cpus all that there are. errors.Is(err, ErrValue) where how is none of these, or nothing is apart.
func PlaceIRQs(how string, queues int, workers, cpus []int) ([]string, error) {
	var list []int
	switch how {
	case "auto":
		list = workers
	case "apart":
		var free []int
		for _, cpu := range cpus {
			if !slices.Contains(workers, cpu) {
				free = append(free, cpu)
			}
		}
		if len(free) == 0 {
			return nil, &reason{text: fmt.Sprintf("no CPU is apart: the workers run on all of %s", formatList(cpus)), is: ErrValue}
		}
		for q := range queues {
			near := free[0]
			if q < len(workers) {
				if at, _ := slices.BinarySearch(free, workers[q]); at < len(free) {
					near = free[at]
				}
			}
			list = append(list, near)
		}
	default:
		// One by one, in the order that was written: 1,0 is not 0,1 here.
		for part := range strings.SplitSeq(how, ",") {
			cpus, err := parseList(part)
			if err != nil || len(cpus) == 0 {
				return nil, badValue(how, "auto, apart, or CPUs as 0-1,3")
			}
			list = append(list, cpus...)
		}
	}
	if len(list) == 0 {
		return nil, &reason{text: "the workers are on no CPU yet", is: ErrValue}
	}
	texts := make([]string, queues)
	for q := range texts {
		texts[q] = formatList(list[q%len(list) : q%len(list)+1])
	}
	return texts, nil
}
