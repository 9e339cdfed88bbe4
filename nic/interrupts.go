package nic

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Interrupt is a line of /proc/interrupts: one interrupt and how often each CPU took it.
type Interrupt struct {
	IRQ    int // -1 for the kernel's own (NMI, LOC, ...), which Name then names
	Name   string
	PerCPU map[int]uint64 // since boot, by CPU; only CPUs that are online
}

// Total is the sum over the CPUs.
func (i Interrupt) Total() (sum uint64) {
	for _, n := range i.PerCPU {
		sum += n
	}
	return sum
}

// parseInterrupts reads /proc/interrupts: a heading with the CPUs, then NUMBER: COUNT... CHIP HWIRQ-TRIGGER NAME[, NAME...]. Lines that are
// otherwise are passed over. A name may have spaces; what is before it differs between chips, so the name is all behind the last column
// that tells the trigger.
func parseInterrupts(b []byte) []Interrupt {
	var cpus []int
	var list []Interrupt
	for line := range bytes.Lines(b) {
		words := strings.Fields(string(line))
		if cpus == nil {
			if cpus = headingCPUs(words); cpus == nil {
				return nil
			}
			continue
		}
		if i, ok := parseInterrupt(words, cpus); ok {
			list = append(list, i)
		}
	}
	return list
}

// trigger is the column before the name: "27-edge", "0-edge", "Edge", "Level", "fasteoi".
var trigger = regexp.MustCompile(`(?i)(^|-)(edge|level|fasteoi)$`)

func parseInterrupt(words []string, cpus []int) (Interrupt, bool) {
	if len(words) == 0 || !strings.HasSuffix(words[0], ":") {
		return Interrupt{}, false
	}
	label := strings.TrimSuffix(words[0], ":")
	i := Interrupt{IRQ: -1, Name: label, PerCPU: make(map[int]uint64, len(cpus))}
	if n, err := strconv.ParseUint(label, 10, 31); err == nil {
		i.IRQ, i.Name = int(n), ""
	}
	words = words[1:]
	for _, cpu := range cpus {
		if len(words) == 0 { // ERR and MIS have one number
			break
		}
		n, err := strconv.ParseUint(words[0], 10, 64)
		if err != nil {
			break
		}
		i.PerCPU[cpu] = n
		words = words[1:]
	}
	if i.IRQ < 0 || len(words) == 0 {
		return i, i.IRQ < 0
	}
	name := words[len(words)-1:]
	for at := len(words) - 2; at >= 0; at-- {
		if trigger.MatchString(words[at]) {
			name = words[at+1:]
			break
		}
	}
	i.Name = strings.Join(name, " ")
	return i, true
}

// Interrupts reads all of /proc/interrupts.
func Interrupts() ([]Interrupt, error) {
	b, err := os.ReadFile("/proc/interrupts")
	if err != nil {
		return nil, fmt.Errorf("interrupts: %w", err)
	}
	return parseInterrupts(b), nil
}

// QueueIRQ is an interrupt of the device and the queue that it serves.
type QueueIRQ struct {
	Interrupt
	Queue  int    // -1 where the name tells none (link changes, a mailbox)
	Tx, Rx bool   // which side it serves; both for one that serves both, or that does not tell
	CPUs   string // where it may run (smp_affinity_list), "" unknown
}

// Interrupts reads the device's interrupts, by number, with their counts since boot; none for a software device.
func (d *Device) Interrupts() ([]QueueIRQ, error) {
	if d.sys != nil { // no bus, no interrupts: /proc/interrupts is long, and need not be read
		if _, err := d.sys.read("device/uevent"); errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
	}
	all, err := Interrupts()
	if err != nil {
		return nil, err
	}
	l, err := d.Link()
	if err != nil {
		return nil, fmt.Errorf("interrupts of %w", err)
	}
	list := ownIRQs(all, d.irqNumbers(), l.Name, l.TxQueues)
	for i := range list {
		if b, err := os.ReadFile(affinityFile(list[i].IRQ)); err == nil {
			list[i].CPUs = strings.TrimSpace(string(b))
		}
	}
	return list, nil
}

func affinityFile(irq int) string { return "/proc/irq/" + strconv.Itoa(irq) + "/smp_affinity_list" }

// irqNumbers are the interrupts of the device below the interface, as its bus knows them. A virtio device has those of the PCI device that it
// sits on.
func (d *Device) irqNumbers() (list []int) {
	if d.sys == nil {
		return nil
	}
	for _, dir := range []string{"device", "device/.."} {
		names, err := d.sys.list(dir + "/msi_irqs")
		if err == nil {
			for _, name := range names {
				if n, err := strconv.Atoi(name); err == nil {
					list = append(list, n)
				}
			}
			return list
		}
		if s, err := d.sys.read(dir + "/irq"); err == nil {
			if n, err := strconv.Atoi(s); err == nil && n > 0 {
				return []int{n}
			}
		}
	}
	return nil
}

// queueName finds the side and the number of a queue at the end of an interrupt's name: eth0-tx-0, eth0-TxRx-3, virtio1-output.0,
// mlx5_comp2@pci:0000:01:00.0, ens5-Tx-Rx-1, i40e-eth0-TxRx-0.
var queueName = regexp.MustCompile(`(?i)[-_.](tx-?rx|rx-?tx|tx|rx|output|input|comp|fp|queue|q)[-_.]?(\d+)(@.*)?$`)

// ownIRQs picks a device's interrupts out of all: those that its bus names (the numbers), or without any those whose name begins with the
// interface's. One that names no queue on a device with one queue and no better serves that queue.
func ownIRQs(all []Interrupt, numbers []int, dev string, txQueues int) (list []QueueIRQ) {
	for _, i := range all {
		own := slices.Contains(numbers, i.IRQ) && i.IRQ >= 0
		if len(numbers) == 0 {
			own = i.IRQ >= 0 && (i.Name == dev || strings.HasPrefix(i.Name, dev+"-"))
		}
		if !own || i.Name == "" {
			continue
		}
		q := QueueIRQ{Interrupt: i, Queue: -1}
		if m := queueName.FindStringSubmatch(i.Name); m != nil {
			if n, err := strconv.Atoi(m[2]); err == nil {
				q.Queue = n
			}
			side := strings.ToLower(m[1])
			q.Tx = side != "rx" && side != "input"
			q.Rx = side != "tx" && side != "output"
		}
		list = append(list, q)
	}
	serves := slices.ContainsFunc(list, func(q QueueIRQ) bool { return q.Queue >= 0 && q.Tx })
	if !serves && txQueues == 1 {
		for i := range list {
			if list[i].Queue < 0 && (len(list) == 1 || list[i].Name == dev) {
				list[i].Queue, list[i].Tx, list[i].Rx = 0, true, true
			}
		}
	}
	slices.SortFunc(list, func(a, b QueueIRQ) int { return a.IRQ - b.IRQ })
	return list
}
