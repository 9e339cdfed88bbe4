package check

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirespeed/nic"
	"wirespeed/nic/host"
)

var (
	errDenied  = fmt.Errorf("/sys/x: %w", fs.ErrPermission)
	errMissing = fmt.Errorf("/sys/x: %w", fs.ErrNotExist)
	errNone    = fmt.Errorf("%w", nic.ErrNotSupported)
)

// good are the facts of a machine and a NIC that are set up as they should be: four CPUs on bare metal, four queues at 10 Gbit/s.
func good() *Facts {
	cpus := []int{0, 1, 2, 3}
	f := &Facts{Machine: Machine{
		CPUs: cpus, Config: know(host.Config{"FTRACE": "y"}, nil), Params: know([]string{"quiet"}, nil), Clock: know(host.Clock{Current: "tsc", Available: []string{"tsc", "hpet"}}, nil),
		Siblings: know(map[int][]int{0: {0}, 1: {1}, 2: {2}, 3: {3}}, nil), Nodes: know(map[int]int{0: 0, 1: 0, 2: 0, 3: 0}, nil),
		Governors: know(map[int]string{0: "performance", 1: "performance", 2: "performance", 3: "performance"}, nil),
		Idle:      know(host.IdleState{Name: "C1"}, nil), AllProcesses: true, Processes: know([]host.Process{{PID: 1, Name: "init"}}, nil),
		Load: know(Load{Busy: map[int]float64{0: 0.01, 1: 0, 2: 0, 3: 0}}, nil), Tracing: know(host.Tracing{Dir: "/sys/kernel/tracing"}, nil),
	}}
	d := &Device{
		Name: "eth1", Hardware: know(true, nil), Link: know(nic.Link{Name: "eth1", Driver: "ixgbe", MTU: 1500, Up: true, Carrier: true, Speed: 10e9, Duplex: "full", TxQueues: 4, RxQueues: 4, Qdisc: "mq"}, nil),
		Driver: know(Driver{"ixgbe", "6.12", "0x1", "0000:03:00.0"}, nil), PCIe: know(host.PCIe{Speed: 8, MaxSpeed: 8, Width: 8, MaxWidth: 8}, nil),
		Qdiscs: know([]string{"mq", "pfifo_fast"}, nil), Fastest: know(uint64(10e9), nil),
		Settings: map[string]Setting{
			"pause": {Value: "off"}, "rings.tx": {Value: "1024", Max: 4096}, "channels": {Value: "combined 4", Most: 4}, "governor": {Value: "performance"},
			"coalesce.tx-usecs": {Value: "30"}, "coalesce.rx-usecs": {Value: "30"},
			"feature.tx-scatter-gather": {Value: "on"}, "feature.tx-checksum-ip-generic": {Value: "on"}, "feature.tx-udp-segmentation": {Value: "off"},
		},
	}
	for q := range 4 {
		d.IRQs.V = append(d.IRQs.V, IRQ{q, 40 + q, fmt.Sprintf("eth1-TxRx-%d", q), []int{q}})
		d.Settings[fmt.Sprintf("xps[%d]", q)] = Setting{Value: fmt.Sprint(q)}
		d.Settings[fmt.Sprintf("irq[%d]", q)] = Setting{Value: fmt.Sprint(q)}
		d.Settings[fmt.Sprintf("bql.max[%d]", q)] = Setting{Value: "1879048192"}
	}
	f.Device = d
	return f
}

// set returns a plant that replaces settings.
func set(s Setting, names ...string) func(f *Facts) {
	return func(f *Facts) {
		for _, name := range names {
			f.Device.Settings[name] = s
		}
	}
}

func guest(f *Facts) { f.Hypervisor.V = "KVM" }

func link(change func(l *nic.Link)) func(f *Facts) {
	return func(f *Facts) { change(&f.Device.Link.V) }
}

func xps(maps ...string) func(f *Facts) {
	return func(f *Facts) {
		for q, m := range maps {
			f.Device.Settings[fmt.Sprintf("xps[%d]", q)] = Setting{Value: m}
		}
	}
}

func irqs(cpus ...[]int) func(f *Facts) {
	return func(f *Facts) {
		f.Device.IRQs.V = nil
		for q, c := range cpus {
			f.Device.IRQs.V = append(f.Device.IRQs.V, IRQ{Queue: q, Number: 40 + q, CPUs: c})
		}
	}
}

// planted are faults: what is put into good facts, and what the check makes of it. Every check has one that is bad or to be known, and one that
// cannot be read.
var planted = []struct {
	id, name string
	plant    func(f *Facts)
	want     State
	seen     string // part of it
	mend     string // part of it; none is asserted by "-"
	changes  []Change
}{
	{"link", "down", link(func(l *nic.Link) { l.Up = false }), Bad, "down", "ip link set eth1 up", nil},
	{"link", "no carrier", link(func(l *nic.Link) { l.Carrier = false }), Bad, "no carrier", "cable", nil},
	{"link", "half duplex", link(func(l *nic.Link) { l.Duplex, l.Speed = "half", 100e6 }), Bad, "100 Mbit/s, half", "autoneg on", nil},
	{"link", "slower than it can", link(func(l *nic.Link) { l.Speed = 1e9 }), Warn, "1 Gbit/s, the port can do 10 Gbit/s", "autoneg on", nil},
	{"link", "fiction", link(func(l *nic.Link) { l.Speed, l.SpeedWhy = 0, "veth has no speed" }), Info, "veth has no speed", "-", nil},
	{"link", "gone", func(f *Facts) { f.Device.Link.Err = nic.ErrNotFound }, Unknown, "no such device", "-", nil},

	{"pause", "negotiated", set(Setting{Value: "autoneg"}, "pause"), Bad, "autoneg", "ethtool -A eth1 autoneg off rx off tx off", []Change{{"pause", "off"}}},
	{"pause", "obeyed", set(Setting{Value: "rx"}, "pause"), Bad, "rx", "ethtool -A", []Change{{"pause", "off"}}},
	{"pause", "sent", set(Setting{Value: "tx"}, "pause"), Warn, "tx: we may stop", "ethtool -A", []Change{{"pause", "off"}}},
	{"pause", "may not be changed", set(Setting{Value: "rx+tx", Why: "needs CAP_NET_ADMIN"}, "pause"), Bad, "rx+tx", "ethtool -A", nil},
	{"pause", "negotiated off", set(Setting{Value: "autoneg off"}, "pause"), Info, "negotiated anew", "ethtool -A", nil},
	{"pause", "none", set(Setting{Err: errNone}, "pause"), OK, "ixgbe has none", "-", nil},
	{"pause", "not told", set(Setting{Err: errors.New("the kernel is ill")}, "pause"), Unknown, "ill", "-", nil},

	{"pcie", "half a slot", func(f *Facts) { f.Device.PCIe.V.Width = 1 }, Bad, "8 GT/s x1, the device can do 8 GT/s x8", "another slot", nil},
	{"pcie", "less than it can, and enough", func(f *Facts) { f.Device.PCIe.V.Width = 4 }, Info, "x4", "-", nil},
	{"pcie", "emulated", func(f *Facts) { guest(f); f.Device.PCIe.Err = errMissing }, Info, "emulates", "-", nil},
	{"pcie", "not told", func(f *Facts) { f.Device.PCIe.Err = errMissing }, Unknown, "/sys/x", "-", nil},
	{"pcie", "software", func(f *Facts) { f.Device.PCIe.Err, f.Device.Hardware.V = errMissing, false }, OK, "software device", "-", nil},

	{"numa", "the other node", func(f *Facts) {
		f.CPUs, f.Device.Node.V, f.Nodes.V = []int{0, 1, 2, 3, 4}, 1, map[int]int{0: 0, 1: 0, 2: 0, 3: 1, 4: 1}
	}, Warn, "device on node 1, CPUs 0-2 are not", "--cpus 3-4", nil},
	{"numa", "not readable", func(f *Facts) { f.Nodes.Err = errDenied }, Unknown, "permission", "-", nil},

	{"mtu", "short", link(func(l *nic.Link) { l.MTU = 1400 }), Info, "1414 bytes", "mtu 1500", nil},
	{"mtu", "gone", func(f *Facts) { f.Device.Link.Err = nic.ErrNotFound }, Unknown, "no such device", "-", nil},

	{"rings", "80", set(Setting{Value: "80", Max: 4096}, "rings.tx"), Bad, "80 of 4096", "ethtool -G eth1 tx 1024", []Change{{"rings.tx", "1024"}}},
	{"rings", "512", set(Setting{Value: "512", Max: 4096}, "rings.tx"), Warn, "512 of 4096", "ethtool -G eth1 tx 1024", []Change{{"rings.tx", "1024"}}},
	{"rings", "there could be a few more", set(Setting{Value: "80", Max: 512}, "rings.tx"), Bad, "80 of 512", "tx 512", []Change{{"rings.tx", "512"}}},
	{"rings", "all there are", set(Setting{Value: "256", Max: 256}, "rings.tx"), Info, "all there are", "-", nil},
	{"rings", "1000", set(Setting{Value: "1000", Max: 4096}, "rings.tx"), OK, "1000", "-", nil},
	{"rings", "not told", set(Setting{Err: errDenied}, "rings.tx"), Unknown, "needs root", "-", nil},
	{"rings", "nonsense", set(Setting{Value: "many"}, "rings.tx"), Unknown, "many", "-", nil},

	{
		"irq", "all on one CPU", irqs([]int{0}, []int{0}, []int{0}, []int{0}), Bad, "all 4 on CPU 0", "echo 1 >/proc/irq/41/smp_affinity_list; echo 2",
		[]Change{{"irq[1]", "1"}, {"irq[2]", "2"}, {"irq[3]", "3"}},
	},
	{"irq", "two on one CPU", irqs([]int{0}, []int{1}, []int{1}, []int{3}), Warn, "2 on 1", "echo 2 >/proc/irq/42", []Change{{"irq[2]", "2"}}},
	{"irq", "apart", irqs([]int{1}, []int{2}, []int{3}, []int{0}), OK, "apart from their senders", "-", nil},
	{"irq", "one of one", irqs([]int{3}), OK, "apart", "-", nil},
	{"irq", "names tell nothing", irqs(), Unknown, "names its transmit queues", "-", nil},
	{"irq", "software", func(f *Facts) { f.Device.IRQs.V, f.Device.Hardware.V = nil, false }, OK, "software device", "-", nil},
	{"irq", "not readable", func(f *Facts) { f.Device.IRQs.Err = errDenied }, Unknown, "permission", "-", nil},

	{"xps", "none, root", xps("none", "none", "none", "none"), Info, "a run with several senders makes one", "echo 8 >/sys/class/net/eth1/queues/tx-3/xps_cpus", nil},
	{"xps", "none, not root", set(Setting{Value: "none", Why: "the file belongs to root"}, "xps[0]", "xps[1]", "xps[2]", "xps[3]"), Warn, "no map", "xps_cpus", nil},
	{
		"xps", "two share a queue", xps("0-1", "none", "2", "3"), Warn, "share queues", "tx-1/xps_cpus",
		[]Change{{"xps[0]", "0"}, {"xps[1]", "1"}, {"xps[2]", "2"}, {"xps[3]", "3"}},
	},
	{"xps", "CPUs above 31", func(f *Facts) {
		f.CPUs = []int{0, 33, 64, 65}
		xps("none", "none", "none", "none")(f)
	}, Info, "no map", "echo 2,00000000 >/sys/class/net/eth1/queues/tx-1/xps_cpus; echo 1,00000000,00000000 >", nil},
	{"xps", "one queue", link(func(l *nic.Link) { l.TxQueues = 1 }), OK, "nothing to choose", "-", nil},
	{"xps", "not told", set(Setting{Err: errDenied}, "xps[2]"), Unknown, "permission", "-", nil},

	{
		"queues", "one of four",
		func(f *Facts) { f.Device.Link.V.TxQueues = 1 },
		Warn, "1 queue, 4 CPUs; there could be 4", "ethtool -L eth1 combined 4",
		[]Change{{"channels", "combined 4"}},
	},
	{"queues", "one of four, at 1 Gbit/s", link(func(l *nic.Link) { l.TxQueues, l.Speed = 1, 1e9 }), Info, "there could be 4", "ethtool -L", []Change{{"channels", "combined 4"}}},
	{"queues", "gone", func(f *Facts) { f.Device.Link.Err = nic.ErrNotFound }, Unknown, "no such device", "-", nil},

	{
		"coalesce", "off", set(Setting{Value: "0"}, "coalesce.tx-usecs", "coalesce.rx-usecs"), Warn, "off: tx-usecs 0, rx-usecs 0", "ethtool -C eth1 tx-usecs 30 rx-usecs 30",
		[]Change{{"coalesce.tx-usecs", "30"}, {"coalesce.rx-usecs", "30"}},
	},
	{"coalesce", "adaptive", func(f *Facts) {
		set(Setting{Value: "0"}, "coalesce.tx-usecs", "coalesce.rx-usecs")(f)
		set(Setting{Value: "on"}, "coalesce.adaptive-tx")(f)
	}, OK, "adaptive-tx on", "-", nil},
	{"coalesce", "by receive", set(Setting{Value: "0"}, "coalesce.tx-usecs"), OK, "rx-usecs 30", "-", nil},
	{"coalesce", "virtio", func(f *Facts) {
		set(Setting{Value: "0"}, "coalesce.tx-usecs", "coalesce.rx-usecs")(f)
		f.Device.Link.V.Driver = "virtio_net"
	}, OK, "tx-usecs 0", "-", nil},
	{"coalesce", "none", set(Setting{Err: errNone}, "coalesce.tx-usecs", "coalesce.rx-usecs"), OK, "ixgbe has none", "-", nil},
	{"coalesce", "not told", set(Setting{Err: errDenied}, "coalesce.tx-usecs"), Unknown, "permission", "-", nil},

	{"bql", "3000 bytes", set(Setting{Value: "3000"}, "bql.max[1]"), Warn, "at most 3000 bytes on 1 queue", "limit_max", []Change{{"bql.max[1]", "max"}}},
	{"bql", "not used", set(Setting{Err: errNone}, "bql.max[0]"), OK, "does not use it", "-", nil},
	{"bql", "not told", set(Setting{Err: errDenied}, "bql.max[0]"), Unknown, "permission", "-", nil},

	{"qdisc", "shaper below mq", func(f *Facts) { f.Device.Qdiscs.V = []string{"mq", "tbf"} }, Warn, "mq, tbf", "tc qdisc del dev eth1 root", nil},
	{"qdisc", "fq_codel", func(f *Facts) { f.Device.Qdiscs.V = []string{"fq_codel"} }, Info, "fq_codel", "pfifo_fast", nil},
	{"qdisc", "not told", func(f *Facts) { f.Device.Qdiscs.Err = errors.New("netlink: short") }, Unknown, "short", "-", nil},

	{"sockets", "a capture", func(f *Facts) { f.Device.Sockets.V = []Socket{{3, "tcpdump", 4711, false}} }, Bad, "tcpdump (process 4711)", "kill 4711", nil},
	{"sockets", "a capture of somebody", func(f *Facts) { f.Device.Sockets.V = []Socket{{Protocol: 3}} }, Bad, "owner not to be seen", "ss -0p", nil},
	{"sockets", "our own", func(f *Facts) { f.Device.Sockets.V = []Socket{{3, "wirespeed", 1, true}} }, OK, "nobody", "-", nil},
	{"sockets", "lldp", func(f *Facts) { f.Device.Sockets.V = []Socket{{0x88cc, "lldpd", 7, false}} }, Info, "lldpd (frames of type 0x88cc)", "-", nil},
	{"sockets", "not readable", func(f *Facts) { f.Device.Sockets.Err = errDenied }, Unknown, "permission", "-", nil},

	{"promisc", "on", func(f *Facts) { f.Device.Receive.V.Promiscuous = 2 }, Warn, "2 users", "promisc off", nil},
	{"promisc", "not told", func(f *Facts) { f.Device.Receive.Err = errDenied }, Unknown, "permission", "-", nil},
	{"xdp", "generic", func(f *Facts) { f.Device.Receive.V.XDP = "generic" }, Warn, "generic", "ip link set eth1 xdp off", nil},
	{"xdp", "native", func(f *Facts) { f.Device.Receive.V.XDP = "native" }, Info, "native", "xdp off", nil},
	{"xdp", "not told", func(f *Facts) { f.Device.Receive.Err = errDenied }, Unknown, "permission", "-", nil},
	{"filters", "egress", func(f *Facts) { f.Device.Filters.V = []string{"egress bpf"} }, Warn, "egress bpf", "tc filter del dev eth1 egress", nil},
	{"filters", "not told", func(f *Facts) { f.Device.Filters.Err = errDenied }, Unknown, "permission", "-", nil},
	{"firewall", "at the device", func(f *Facts) {
		f.Device.Chains.V = []Chain{{"netdev", "t", "out", hookEgress, []string{"eth1"}}}
	}, Warn, "egress netdev t out", "nft delete table netdev t", nil},
	{"firewall", "at another device", func(f *Facts) {
		f.Device.Chains.V = []Chain{{"netdev", "t", "out", hookEgress, []string{"eth2"}}}
	}, OK, "no chains", "-", nil},
	{"firewall", "above", func(f *Facts) { f.Device.Chains.V = []Chain{{Family: "inet", Table: "filter", Name: "input"}} }, Info, "1 chain: inet filter input", "-", nil},
	{"firewall", "iptables", func(f *Facts) { f.Device.Tables.V = []string{"ip nat"} }, Info, "ip nat", "-", nil},
	{"firewall", "not permitted", func(f *Facts) {
		f.Device.Chains.Err = fmt.Errorf("nftables: %w: needs CAP_NET_ADMIN", nic.ErrNotPermitted)
	}, Unknown, "nftables: not permitted: needs CAP_NET_ADMIN", "-", nil},

	{"driver", "not told", func(f *Facts) { f.Device.Driver.Err = errDenied }, Unknown, "permission", "-", nil},
	{"module", "a module", func(f *Facts) { f.Device.Module.V = true }, Info, "ixgbe is a module", "build", nil},
	{"module", "not told", func(f *Facts) { f.Device.Module.Err = errDenied }, Unknown, "permission", "-", nil},
	{"offloads", "no scatter-gather", set(Setting{Value: "off"}, "feature.tx-scatter-gather"), Info, "off: scatter-gather", "ethtool -K", nil},
	{"offloads", "not told", set(Setting{Err: errDenied}, "feature.tx-scatter-gather"), Unknown, "does not tell", "-", nil},

	{"load", "a hog", func(f *Facts) {
		f.Load.V = Load{Busy: map[int]float64{2: 0.95}, Top: []Busy{{host.Process{PID: 99, Name: "cc1"}, 0.9}}}
	}, Bad, "CPU 2 up to 95 % busy: cc1 90 %", "end cc1 (process 99)", nil},
	{"load", "a little", func(f *Facts) { f.Load.V = Load{Busy: map[int]float64{0: 0.15}} }, Warn, "CPU 0 up to 15 %", "--cpus", nil},
	{"load", "not on a sender's CPU", func(f *Facts) {
		f.Device.Link.V.TxQueues = 1
		f.Load.V.Busy = map[int]float64{3: 1}
	}, OK, "at most 0 %", "-", nil},
	{"load", "not readable", func(f *Facts) { f.Load.Err = errDenied }, Unknown, "permission", "-", nil},
	{"cgroup", "half a CPU", func(f *Facts) { f.Group.V = host.Group{Path: "/x", Limit: 0.5, File: "/sys/fs/cgroup/x/cpu.max"} }, Bad, "0.5 CPUs at most", "echo max >/sys/fs/cgroup/x/cpu.max", nil},
	{"cgroup", "more than there is", func(f *Facts) { f.Group.V.Limit = 8 }, OK, "no bound", "-", nil},
	{"cgroup", "not readable", func(f *Facts) { f.Group.Err = errDenied }, Unknown, "permission", "-", nil},
	{"governor", "powersave", func(f *Facts) { f.Governors.V[1] = "powersave" }, Warn, "powersave on CPU 1", "performance", []Change{{"governor", "performance"}}},
	{"governor", "none, guest", func(f *Facts) { guest(f); f.Governors.V = nil }, OK, "hypervisor", "-", nil},
	{"governor", "none", func(f *Facts) { f.Governors.V = nil }, Info, "no frequency scaling", "-", nil},
	{"governor", "not readable", func(f *Facts) { f.Governors.Err = errDenied }, Unknown, "permission", "-", nil},
	{"smt", "two on a core", func(f *Facts) {
		f.Device.Link.V.TxQueues = 2
		f.Siblings.V = map[int][]int{0: {0, 1}, 1: {0, 1}, 2: {2, 3}, 3: {2, 3}}
	}, Warn, "CPUs 0-1 share cores", "wirespeed eth1 --cpus 0,2", nil},
	{"smt", "more senders than cores", func(f *Facts) { f.Siblings.V = map[int][]int{0: {0, 1}, 1: {0, 1}, 2: {2, 3}, 3: {2, 3}} }, Info, "cannot have a core each", "-", nil},
	{"smt", "not readable", func(f *Facts) { f.Siblings.Err = errDenied }, Unknown, "permission", "-", nil},
	{"mitigations", "retpolines", func(f *Facts) { f.Mitigations.V = []string{"spectre_v2 retpolines"} }, Warn, "retpolines", "mitigations=off", nil},
	{"mitigations", "not readable", func(f *Facts) { f.Mitigations.Err = errDenied }, Unknown, "permission", "-", nil},
	{"idle", "deep", func(f *Facts) { f.Idle.V = host.IdleState{Name: "C6", Latency: 133000} }, Info, "C6, 133µs", "cpupower idle-set -D 20", nil},
	{"idle", "not readable", func(f *Facts) { f.Idle.Err = errDenied }, Unknown, "permission", "-", nil},
	{"turbo", "on", func(f *Facts) { f.Turbo.V = Turbo{true, "/sys/f", "1"} }, Info, "on", "echo 1 >/sys/f", nil},
	{"turbo", "not readable", func(f *Facts) { f.Turbo.Err = errDenied }, Unknown, "permission", "-", nil},
	{"vm", "a guest", func(f *Facts) { guest(f); f.Load.V.Steal = map[int]float64{0: 0.05} }, Info, "KVM, which took 5 %", "-", nil},
	{"vm", "not readable", func(f *Facts) { f.Hypervisor.Err = errDenied }, Unknown, "permission", "-", nil},

	{"tracing", "a tracer", func(f *Facts) { f.Tracing.V.Tracers = []string{"function"} }, Bad, "tracer function", "echo nop >/sys/kernel/tracing/current_tracer", nil},
	{"tracing", "events", func(f *Facts) { f.Tracing.V.Events = []string{"net:netif_rx", "net:x", "net:y"} }, Bad, "3 events on: net:netif_rx, net:x and 1 more", "echo >/sys/kernel/tracing/set_event", nil},
	{"tracing", "stack tracer, seen without root", func(f *Facts) { f.StackTracer.V, f.Tracing.Err = 1, errDenied }, Bad, "stack tracer", "stack_tracer_enabled=0", nil},
	{"tracing", "not root", func(f *Facts) { f.Tracing.Err = errDenied }, Unknown, "needs root", "-", nil},
	{"tracing", "not mounted", func(f *Facts) { f.Tracing.Err = errMissing }, Unknown, "not mounted", "-", nil},
	{"tracing", "not in the kernel", func(f *Facts) { f.Tracing.Err, f.Config.V = errMissing, host.Config{"NET": "y"} }, OK, "not in this kernel", "-", nil},
	{"clock", "hpet", func(f *Facts) { f.Clock.V.Current = "hpet" }, Bad, "hpet", "echo tsc >/sys/devices/system/clocksource", nil},
	{"clock", "hpet alone", func(f *Facts) { f.Clock.V = host.Clock{Current: "hpet", Available: []string{"hpet"}} }, Bad, "no tsc", "tsc=reliable", nil},
	{"clock", "kvm-clock with tsc", func(f *Facts) { f.Clock.V.Current = "kvm-clock" }, Warn, "kvm-clock", "echo tsc", nil},
	{"clock", "kvm-clock alone", func(f *Facts) { guest(f); f.Clock.V = host.Clock{Current: "kvm-clock"} }, Info, "no tsc", "-", nil},
	{"clock", "not readable", func(f *Facts) { f.Clock.Err = errDenied }, Unknown, "permission", "-", nil},
	{"irqbalance", "runs", func(f *Facts) { f.Processes.V = []host.Process{{PID: 5, Name: "irqbalance"}} }, Warn, "process 5", "systemctl stop irqbalance", nil},
	{"irqbalance", "in a container", func(f *Facts) { f.AllProcesses = false }, Unknown, "not to be seen", "-", nil},
	{"irqbalance", "not readable", func(f *Facts) { f.Processes.Err = errDenied }, Unknown, "permission", "-", nil},
	{"lockdep", "in", func(f *Facts) { f.Config.V["LOCKDEP"] = "y" }, Bad, "LOCKDEP", "without CONFIG_LOCKDEP", nil},
	{"lockdep", "by its functions", func(f *Facts) { noConfig(f); f.Symbols.V = map[string]bool{"lock_acquire": true} }, Bad, "LOCKDEP", "without", nil},
	{"lockdep", "not by its functions", noConfig, OK, "not in this kernel", "-", nil},
	{"kasan", "in", func(f *Facts) { f.Config.V["KASAN"] = "y" }, Bad, "KASAN", "without", nil},
	{"kmsan", "in", func(f *Facts) { f.Config.V["KMSAN"] = "y" }, Bad, "KMSAN", "without", nil},
	{"irqtrace", "in", func(f *Facts) { f.Config.V["IRQSOFF_TRACER"] = "y" }, Bad, "IRQSOFF_TRACER", "without", nil},
	{"debug", "in", func(f *Facts) { f.Config.V["DEBUG_OBJECTS"] = "y" }, Bad, "DEBUG_OBJECTS", "without", nil},
	{"lockdep", "not known", neither, Unknown, "permission", "-", nil},
	{"kasan", "not known", neither, Unknown, "permission", "-", nil},
	{"kmsan", "not known", neither, Unknown, "permission", "-", nil},
	{"irqtrace", "not known", neither, Unknown, "permission", "-", nil},
	{"debug", "not known", neither, Unknown, "permission", "-", nil},
	{"pagealloc", "asked for", func(f *Facts) { f.Params.V = []string{"debug_pagealloc=on"} }, Bad, "on", "debug_pagealloc=off", nil},
	{"pagealloc", "in, and not on", func(f *Facts) { f.Config.V["DEBUG_PAGEALLOC"] = "y" }, OK, "off", "-", nil},
	{"pagealloc", "on by default", func(f *Facts) {
		f.Config.V["DEBUG_PAGEALLOC"], f.Config.V["DEBUG_PAGEALLOC_ENABLE_DEFAULT"] = "y", "y"
	}, Bad, "on", "debug_pagealloc=off", nil},
	{"pagealloc", "in, default not known", func(f *Facts) { noConfig(f); f.Symbols.V = map[string]bool{"__kernel_map_pages": true} }, Unknown, "/sys/x", "-", nil},
	{"slub", "on", func(f *Facts) { f.Slab.V = []string{"poison"} }, Bad, "poison", "slab_debug=-", nil},
	{"slub", "asked for, not root", func(f *Facts) { f.Slab.Err, f.Params.V = errDenied, []string{"slub_debug=FZ"} }, Bad, "boot parameter", "slab_debug=-", nil},
	{"slub", "on by default, not root", func(f *Facts) { f.Slab.Err, f.Config.V["SLUB_DEBUG_ON"] = errDenied, "y" }, Bad, "SLUB_DEBUG_ON", "slab_debug=-", nil},
	{"slub", "off, not root", func(f *Facts) { f.Slab.Err = errDenied }, OK, "off", "-", nil},
	{"slub", "not known", func(f *Facts) { noConfig(f); f.Slab.Err = errDenied }, Unknown, "needs root", "-", nil},
	{"zeroing", "by default", func(f *Facts) { f.Config.V["INIT_ON_ALLOC_DEFAULT_ON"] = "y" }, Info, "init_on_alloc", "init_on_alloc=0", nil},
	{"zeroing", "default switched off", func(f *Facts) {
		f.Config.V["INIT_ON_ALLOC_DEFAULT_ON"], f.Params.V = "y", []string{"init_on_alloc=0"}
	}, OK, "no", "-", nil},
	{"zeroing", "not known", noConfig, Unknown, "/sys/x", "-", nil},
	{"cgroupsched", "on", func(f *Facts) { f.Group.V.Path = "/user.slice" }, Info, "/user.slice", "cgroup_disable=cpu", nil},
	{"cgroupsched", "not readable", func(f *Facts) { f.Group.Err = errDenied }, Unknown, "permission", "-", nil},
}

func noConfig(f *Facts) { f.Config = Known[host.Config]{Err: errMissing} }

func neither(f *Facts) {
	f.Config.Err, f.Symbols.Err = errDenied, errDenied
}

func find(t *testing.T, findings []Finding, id string) Finding {
	t.Helper()
	i := slices.IndexFunc(findings, func(f Finding) bool { return f.ID == id })
	if i < 0 {
		t.Fatalf("no check %s", id)
	}
	return findings[i]
}

func TestGood(t *testing.T) {
	for _, f := range Judge(good()) {
		if f.State != OK && f.ID != "driver" || f.Seen == "" || f.Why == "" || f.Sure == "" {
			t.Errorf("%+v", f)
		}
	}
}

func TestPlanted(t *testing.T) {
	states := make(map[string]map[State]bool)
	for _, c := range planted {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			f := good()
			c.plant(f)
			got := find(t, Judge(f), c.id)
			if got.State != c.want || !strings.Contains(got.Seen, c.seen) {
				t.Errorf("%v %q, want %v %q", got.State, got.Seen, c.want, c.seen)
			}
			if c.mend == "-" && got.Mend != "" || c.mend != "-" && !strings.Contains(got.Mend, c.mend) {
				t.Errorf("mend %q, want %q", got.Mend, c.mend)
			}
			if diff := cmp.Diff(c.changes, got.Changes); diff != "" || got.Fixable != (len(c.changes) > 0) {
				t.Errorf("changes (-want +got), fixable %v:\n%s", got.Fixable, diff)
			}
			if got.State >= Warn && got.Mend == "" {
				t.Error("it tells nothing to do")
			}
		})
		if states[c.id] == nil {
			states[c.id] = make(map[State]bool)
		}
		states[c.id][c.want] = true
	}
	// A check that is never planted is not tested.
	for _, c := range slices.Concat(device, machine) {
		s := states[c.id]
		if !s[Unknown] || !s[Bad] && !s[Warn] && !s[Info] && c.id != "driver" {
			t.Errorf("%s: planted are %v only", c.id, s)
		}
	}
}

func TestIDsAreUnique(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range slices.Concat(device, machine) {
		if seen[c.id] || len(c.title) > 18 {
			t.Errorf("%s: twice, or its title is too long: %q", c.id, c.title)
		}
		seen[c.id] = true
	}
}

// TestMachineAlone needs no device.
func TestMachineAlone(t *testing.T) {
	f := good()
	f.Device = nil
	got := Judge(f)
	if len(got) != len(machine) || ToMend(got) {
		t.Errorf("%d findings, %v", len(got), got)
	}
	f.Governors.V[0] = "powersave" // there is no guard without a device
	if g := find(t, Judge(f), "governor"); g.State != Warn || g.Fixable {
		t.Errorf("%+v", g)
	}
}

func TestMend(t *testing.T) {
	f := good()
	set(Setting{Value: "autoneg"}, "pause")(f)
	set(Setting{Value: "80", Max: 4096}, "rings.tx")(f)
	link(func(l *nic.Link) { l.Speed, l.TxQueues = 1e9, 1 })(f) // channels: could be, and need not be
	refused := errors.New("refused")
	var asked []Change
	done := Mend(Judge(f), func(setting, value string) (string, error) {
		asked = append(asked, Change{setting, value})
		if setting == "pause" {
			return "autoneg", refused
		}
		return value, nil
	})
	if diff := cmp.Diff([]Change{{"pause", "off"}, {"rings.tx", "1024"}}, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if len(done) != 2 || done[0].ID != "pause" || !errors.Is(done[0].Err, refused) || done[1].Now != "1024" || done[1].Err != nil {
		t.Errorf("%+v", done)
	}
}
