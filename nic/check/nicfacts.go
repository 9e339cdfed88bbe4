package check

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/safchain/ethtool"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"wirespeed/nic"
	"wirespeed/nic/host"
)

// Device are the facts of an interface.
type Device struct {
	Name     string
	Hardware Known[bool] // or a program's that looks like it; veth, lo and their like are not
	Link     Known[nic.Link]
	Settings map[string]Setting // by name
	IRQs     Known[[]IRQ]       // of the transmit queues, by queue
	Driver   Known[Driver]
	Module   Known[bool] // the driver is one, and not built in
	PCIe     Known[host.PCIe]
	Node     Known[int]      // NUMA node, -1 none
	Qdiscs   Known[[]string] // kinds, the root's first, each once
	Fastest  Known[uint64]   // bit/s that the port can do, 0 unknown
	Receive  Known[Receive]
	Filters  Known[[]string] // of tc: "egress bpf"
	Chains   Known[[]Chain]
	Tables   Known[[]string] // of the old iptables
	Sockets  Known[[]Socket]
}

// Setting is a setting of nic as it was read.
type Setting struct {
	Value string
	Max   uint64 // 0 unknown
	Most  int    // values that there are to choose from
	Why   string // why it cannot be changed, "" if it can
	Err   error  // why it could not be read
}

// IRQ is the interrupt that tells of sent frames.
type IRQ struct {
	Queue, Number int
	Name          string
	CPUs          []int // where it runs now: one, or all of those where it may
}

// Driver is what a driver says of itself.
type Driver struct{ Name, Version, Firmware, Bus string }

// Receive is what stands in the way of frames that arrive.
type Receive struct {
	Promiscuous int    // how many want to see frames for others
	XDP         string // how a program is attached: native, generic, offloaded; "" none
}

// Socket is a packet socket that hears the interface's frames.
type Socket struct {
	Protocol int
	Owner    string // "tcpdump", "" unknown
	PID      int
	Own      bool // this process's
}

// readDevice reads all of them.
func readDevice(root host.Root, d *nic.Device) *Device {
	f := &Device{Name: d.Name(), Settings: make(map[string]Setting)}
	f.Link = know(d.Link())
	if f.Link.Err == nil {
		f.Name = f.Link.V.Name
	}
	f.Hardware = know(isHardware(root, f.Name, d.Index()))
	for _, s := range d.Settings() {
		if s.Group == nic.GroupFlags || s.Group == nic.GroupFeatures && !slices.Contains(offloads, s.Name) {
			continue
		}
		value, err := s.Read()
		f.Settings[s.Name] = Setting{Value: value, Max: s.Max, Most: len(s.Values), Why: s.Why, Err: err}
	}
	f.IRQs = know(readIRQs(root, d))
	f.Driver, f.Fastest = readDriver(f.Name)
	f.Module = know(root.Loaded(f.Link.V.Driver))
	f.PCIe, f.Node = readBus(root, f.Driver)
	readTraffic(f, d.Index())
	f.Chains, f.Tables = readFirewall(root)
	f.Sockets = know(readSockets(root, d.Index()))
	return f
}

// isHardware tells whether something is behind the interface. /sys may show another network namespace's.
func isHardware(root host.Root, name string, index int) (bool, error) {
	dir := "sys/class/net/" + name
	switch n, err := root.Int(dir + "/ifindex"); {
	case err != nil:
		return false, err
	case n != index:
		return false, fmt.Errorf("/%s is another network namespace's", dir)
	}
	return root.Exists(dir + "/device")
}

func readIRQs(root host.Root, d *nic.Device) ([]IRQ, error) {
	all, err := d.Interrupts()
	if err != nil {
		return nil, err
	}
	var list []IRQ
	for _, q := range all {
		if !q.Tx || q.Queue < 0 {
			continue
		}
		cpus, effective, err := root.Affinity(q.IRQ)
		if err != nil {
			return nil, err
		}
		if len(effective) > 0 {
			cpus = effective
		}
		list = append(list, IRQ{q.Queue, q.IRQ, q.Name, cpus})
	}
	slices.SortFunc(list, func(a, b IRQ) int { return cmp.Compare(a.Queue, b.Queue) })
	return list, nil
}

// modes are the speeds, in Mbit/s, of the 31 link modes that ETHTOOL_GSET tells of (include/uapi/linux/ethtool.h); 0 is no speed. What came
// later, 25G and from 100G on, is not among them: then the fastest is too low, and says nothing.
var modes = [31]uint64{
	0: 10, 1: 10, 2: 100, 3: 100, 4: 1000, 5: 1000, 12: 10000, 15: 2500, 17: 1000, 18: 10000, 19: 10000, 20: 10000, 21: 20000, 22: 20000,
	23: 40000, 24: 40000, 25: 40000, 26: 40000, 27: 56000, 28: 56000, 29: 56000, 30: 56000,
}

func readDriver(name string) (driver Known[Driver], fastest Known[uint64]) {
	e, err := ethtool.NewEthtool()
	if err != nil {
		return Known[Driver]{Err: err}, Known[uint64]{Err: err}
	}
	defer e.Close()
	i, err := e.DriverInfo(name)
	driver = know(Driver{i.Driver, i.Version, i.FwVersion, i.BusInfo}, ethtoolError(err))
	var settings ethtool.EthtoolCmd // GetLinkSettings prints warnings on stdout
	_, err = e.CmdGet(&settings, name)
	fastest.Err = ethtoolError(err)
	for bit, mbit := range modes {
		if settings.Supported>>bit&1 != 0 {
			fastest.V = max(fastest.V, mbit*1e6)
		}
	}
	return driver, fastest
}

func ethtoolError(err error) error {
	switch {
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EINVAL):
		return fmt.Errorf("%w", nic.ErrNotSupported)
	case errors.Is(err, unix.EPERM):
		return fmt.Errorf("%w: needs CAP_NET_ADMIN", nic.ErrNotPermitted)
	}
	return err
}

func readBus(root host.Root, driver Known[Driver]) (pcie Known[host.PCIe], node Known[int]) {
	if driver.Err != nil {
		return Known[host.PCIe]{Err: driver.Err}, Known[int]{Err: driver.Err}
	}
	bus := driver.V.Bus
	if dir := "sys/bus/pci/devices/" + bus; bus != "" && fs.ValidPath(dir) && path.Dir(dir) == "sys/bus/pci/devices" {
		return know(root.PCIe(bus)), know(root.Int(dir + "/numa_node"))
	}
	err := fmt.Errorf("no PCI device: %w", fs.ErrNotExist)
	return Known[host.PCIe]{Err: err}, Known[int]{Err: err}
}

// readTraffic asks rtnetlink for what frames pass.
func readTraffic(f *Device, index int) {
	link, err := netlink.LinkByIndex(index)
	if err != nil {
		err = fmt.Errorf("link: %w", err)
		f.Receive.Err, f.Qdiscs.Err, f.Filters.Err = err, err, err
		return
	}
	f.Receive.V.Promiscuous = link.Attrs().Promisc
	if x := link.Attrs().Xdp; x != nil && x.Attached {
		f.Receive.V.XDP = map[uint32]string{1: "native", 2: "generic", 3: "offloaded", 4: "native and generic"}[x.AttachMode]
		if f.Receive.V.XDP == "" {
			f.Receive.V.XDP = "attached"
		}
	}
	qdiscs, err := netlink.QdiscList(link)
	f.Qdiscs.Err = err
	slices.SortStableFunc(qdiscs, func(a, b netlink.Qdisc) int { // the root first
		return cmp.Compare(b2i(b.Attrs().Parent == netlink.HANDLE_ROOT), b2i(a.Attrs().Parent == netlink.HANDLE_ROOT))
	})
	for _, q := range qdiscs {
		if kind := q.Type(); !slices.Contains(f.Qdiscs.V, kind) && kind != "clsact" && kind != "ingress" {
			f.Qdiscs.V = append(f.Qdiscs.V, kind)
		}
	}
	for _, at := range []struct {
		name   string
		parent uint32
	}{{"egress", netlink.HANDLE_MIN_EGRESS}, {"ingress", netlink.HANDLE_MIN_INGRESS}, {"root", netlink.HANDLE_ROOT}} {
		filters, err := netlink.FilterList(link, at.parent)
		if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EOPNOTSUPP) { // a root without classes takes none
			f.Filters.Err = fmt.Errorf("tc filters at %s: %w", at.name, err)
		}
		for _, filter := range filters {
			if s := at.name + " " + filter.Type(); !slices.Contains(f.Filters.V, s) {
				f.Filters.V = append(f.Filters.V, s)
			}
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// readSockets lists those that hear frames of the interface: bound to it or to all, and to a protocol.
func readSockets(root host.Root, index int) ([]Socket, error) {
	all, err := root.PacketSockets()
	if err != nil {
		return nil, missing404(err)
	}
	inodes := make(map[uint64]bool)
	for _, s := range all {
		inodes[s.Inode] = true
	}
	owners, _ := root.Owners(inodes) // names only
	var list []Socket
	for _, s := range all {
		if s.Protocol == 0 || !s.Running || s.Index != 0 && s.Index != index {
			continue
		}
		o := owners[s.Inode]
		list = append(list, Socket{Protocol: s.Protocol, Owner: o.Name, PID: o.PID, Own: o.PID == os.Getpid()})
	}
	return list, nil
}

// missing404 passes on the absence of /proc/net/packet, of a kernel without packet sockets, as no sockets.
func missing404(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// offloads are the features that are looked at.
var offloads = []string{"feature.tx-scatter-gather", "feature.tx-checksum-ipv4", "feature.tx-checksum-ip-generic", "feature.tx-udp-segmentation"}

func join(words []string) string { return strings.Join(words, ", ") }
