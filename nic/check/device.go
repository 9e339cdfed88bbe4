package check

import (
	"fmt"

	"wirespeed/nic"
)

// device is the table of what is checked of an interface, in the order of what it costs.
var device = []check{
	{"link", "link", "link", Certain, "without a carrier nothing leaves; half duplex and a slow speed bound the rate", judgeLink},
	{"pause", "link", "flow control", Certain, "the other side may stop us: pause frames have eaten a fifth of a link with every drop counter at zero", judgePause},
	{"pcie", "link", "PCIe", Certain, "the bus carries each frame and a descriptor for it", judgePCIe},
	{"numa", "link", "NUMA node", Likely, "frames, descriptors and interrupts cross the link between the sockets", judgeNode},
	{"mtu", "link", "MTU", Certain, "it bounds the size of frames", judgeMTU},

	{"rings", "queues", "TX ring", Likely, "a short ring is full before the completions of its frames are worked off: 1000 descriptors or more", judgeRings},
	{"irq", "queues", "TX interrupts", Certain, "completions of all queues compete for one CPU, and it sends less itself", judgeIRQs},
	{"xps", "queues", "XPS", Certain, "without a map of its own several senders can hit one queue and its lock", judgeXPS},
	{"queues", "queues", "TX queues", Certain, "one sender a queue: more senders than queues share a lock", judgeQueues},
	{"coalesce", "queues", "coalescing", Likely, "an interrupt for every frame or two: 3.9 Mpps against 5.5 with 30 us on one 10G driver", judgeCoalesce},
	{"bql", "queues", "BQL", Certain, "a small limit keeps the device's ring empty and stops bulks", judgeBQL},

	{"qdisc", "path", "qdisc", Certain, "a shaper holds frames back on the qdisc path; the bypass does not pass it", judgeQdisc},
	{"sockets", "path", "packet sockets", Certain, "on the qdisc path and on receive each frame is copied for it", judgeSockets},
	{"promisc", "path", "promiscuous", Certain, "frames for others are received, too", judgePromiscuous},
	{"xdp", "path", "XDP", Depends, "a program runs for each frame that arrives; the generic mode is slow", judgeXDP},
	{"filters", "path", "tc filters", Certain, "a classifier runs for each frame", judgeFilters},
	{"firewall", "path", "firewall", Certain, "a chain at the device runs for each frame, on both paths", judgeFirewall},

	{"driver", "driver", "driver", Depends, "versions of driver and firmware differ in speed: note them with the figures", judgeDriver},
	{"module", "driver", "module", Small, "a module costs a jump more for each call into it, and cache", judgeModule},
	{"offloads", "driver", "offloads", Depends, "checksums in software cost with segmented bursts, copies without scatter-gather", judgeOffloads},
}

// setting is one that was read, or the verdict about one that was not.
func (f *Facts) setting(name string) (Setting, error) {
	s, found := f.Device.Settings[name]
	if !found {
		return s, fmt.Errorf("%s has no %s: %w", f.Device.Name, name, nic.ErrNotSupported)
	}
	return s, s.Err
}

// fix adds a change if the setting can be changed here.
func (f *Facts) fix(v verdict, name, value string) verdict {
	if s, found := f.Device.Settings[name]; found && s.Why == "" {
		return v.change(name, value)
	}
	return v
}

// driver is its name for a sentence.
func (f *Facts) driver() string {
	if d := f.Device.Link.V.Driver; d != "" {
		return d
	}
	return f.Device.Name
}

// software tells that nothing is behind the interface, for certain.
func (f *Facts) software() bool { return f.Device.Hardware.Err == nil && !f.Device.Hardware.V }

func (f *Facts) guest() bool { return f.Hypervisor.Err == nil && f.Hypervisor.V != "" }

// ethAll is ETH_P_ALL.
const ethAll = 3
