// Package nic reads and changes one network interface: its link, counters, flow control, qdisc, transmit queues, interrupts and every
// setting of the driver that decides speed; and it puts back what it changed.
//
// A [Device] is a thin handle over kernel calls: rtnetlink for the link, counters and qdiscs, ethtool's netlink family for the driver (its
// ioctl for the driver's own counters, which have no other way), /sys/class/net for speed, transmit queues, BQL and XPS, /proc for
// interrupts. Nothing is cached but what cannot change (the index, the driver and the directory in /sys), so every answer is the kernel's
// present one. A value that the kernel does not know, or that it makes up, is reported as unknown together with a reason in words.
//
// What can be changed is a [Setting], read and written as text, with the reason in the driver's own terms where it cannot be. Whoever
// changes more than a lab's devices does it through a [Guard], which owns the journal: it is on the disk before the change is made, one for
// a device, locked while a session lasts. [RestoreAll] puts back what a session left that could not do so itself.
//
// What it does not do: it sends and receives no frames, knows nothing of the engine, and decides nothing. A method of Device that changes
// the interface returns the way back, and its caller calls it.
//
// All of a process's threads must be in one network namespace, the one whose /sys is mounted; a Device belongs to the namespace it was
// opened in. Its methods, and a Guard's, may be called from any goroutine and block for one exchange with the kernel: microseconds, but as
// long as another program holds the kernel's rtnl lock (a NIC's reset takes a second). Only [Device.Watch] starts a goroutine, which ends
// with its context, with the interface or in [Device.Close].
package nic
