// Package nic reads and changes one network interface: its link, counters, flow control, root qdisc and transmit queues.
//
// A [Device] is a thin handle over kernel calls: rtnetlink for the link, counters and qdiscs, ethtool's ioctl for the driver and flow
// control, /sys/class/net for speed, transmit queues, BQL and XPS. Nothing is cached but what cannot change (the index, the driver and
// the directory in /sys), so every answer is the kernel's present one. A value that the kernel does not know, or that it makes up, is
// reported as unknown together with a reason in words.
//
// What it does not do: it sends and receives no frames, knows nothing of the engine, and decides nothing. A method that changes the
// interface returns the way back, and its caller calls it.
//
// All of a process's threads must be in one network namespace, the one whose /sys is mounted; a Device belongs to the namespace it was
// opened in. Its methods may be called from any goroutine and block for one exchange with the kernel: microseconds, but as long as
// another program holds the kernel's rtnl lock (a NIC's reset takes a second). Only [Device.Watch] starts a goroutine, which ends with
// its context, with the interface or in [Device.Close].
package nic
