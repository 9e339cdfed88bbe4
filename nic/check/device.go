package check

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirespeed/nic"
	"wirespeed/nic/host"
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

func judgeLink(f *Facts) verdict {
	if f.Device.Link.Err != nil {
		return unknown(f.Device.Link.Err)
	}
	switch l := f.Device.Link.V; {
	case !l.Up:
		return bad("down").by("ip link set %s up", l.Name)
	case !l.Carrier:
		return bad("no carrier").by("check cable and the other side")
	case l.Duplex == "half":
		return bad("%s, half duplex", bits(l.Speed)).by("ethtool -s %s autoneg on", l.Name)
	case l.Speed == 0:
		return info("%s", l.SpeedWhy)
	case f.Device.Fastest.Err == nil && f.Device.Fastest.V > l.Speed:
		return warn("%s, the port can do %s", bits(l.Speed), bits(f.Device.Fastest.V)).by("ethtool -s %s autoneg on, and check the other side", l.Name)
	default:
		return ok("%s, %s duplex", bits(l.Speed), l.Duplex)
	}
}

// bits prints a speed.
func bits(n uint64) string {
	if n >= 1e9 {
		return strconv.FormatFloat(float64(n)/1e9, 'f', -1, 64) + " Gbit/s"
	}
	return strconv.FormatUint(n/1e6, 10) + " Mbit/s"
}

func judgePause(f *Facts) verdict {
	s, err := f.setting("pause")
	if err != nil {
		return missing(err, ok("%s has none", f.driver()))
	}
	v := verdict{mend: fmt.Sprintf("ethtool -A %s autoneg off rx off tx off", f.Device.Name)}
	switch s.Value {
	case "off":
		return ok("off")
	case "autoneg off":
		v.state, v.seen = Info, "off, but negotiated anew with each link up"
		return v
	case "tx", "autoneg tx":
		v.state, v.seen = Warn, s.Value+": we may stop the other side"
		v.why, v.sure = "a receiver that is too slow stops the sender: a rate measured here is not the sender's", Certain
	default:
		v.state, v.seen = Bad, s.Value
	}
	return f.fix(v, "pause", "off")
}

// driver is its name for a sentence.
func (f *Facts) driver() string {
	if d := f.Device.Link.V.Driver; d != "" {
		return d
	}
	return f.Device.Name
}

func judgePCIe(f *Facts) verdict {
	p := f.Device.PCIe
	switch {
	case p.Err != nil && f.software():
		return ok("a software device has none")
	case p.Err != nil && f.guest():
		return missing(p.Err, info("a bus that the hypervisor emulates: no width, no speed"))
	case p.Err != nil:
		return missing(p.Err, verdict{state: Unknown, seen: p.Err.Error()})
	}
	now := fmt.Sprintf("%g GT/s x%d", p.V.Speed, p.V.Width)
	best := fmt.Sprintf("%g GT/s x%d", p.V.MaxSpeed, p.V.MaxWidth)
	speed := float64(f.Device.Link.V.Speed)
	switch {
	case speed > 0 && p.V.Rate() < 1.2*speed && p.V.MaxRate() > p.V.Rate():
		return bad("%s, the device can do %s", now, best).by("another slot; lspci -vv tells LnkSta")
	case speed > 0 && p.V.Rate() < 1.2*speed:
		return warn("%s is little for %s", now, bits(uint64(speed)))
	case p.V.MaxRate() > p.V.Rate()*1.01:
		return info("%s, the device can do %s", now, best)
	}
	return ok("%s", now)
}

// software tells that nothing is behind the interface, for certain.
func (f *Facts) software() bool { return f.Device.Hardware.Err == nil && !f.Device.Hardware.V }

func (f *Facts) guest() bool { return f.Hypervisor.Err == nil && f.Hypervisor.V != "" }

func judgeNode(f *Facts) verdict {
	n := f.Device.Node
	switch {
	case n.Err != nil:
		return missing(n.Err, ok("no device with a node"))
	case f.Nodes.Err != nil:
		return unknown(f.Nodes.Err)
	case n.V < 0:
		return ok("one node, or none told")
	}
	var far, near []int
	for _, cpu := range f.workers() {
		if node, known := f.Nodes.V[cpu]; known && node != n.V {
			far = append(far, cpu)
		}
	}
	for _, cpu := range f.CPUs {
		if f.Nodes.V[cpu] == n.V {
			near = append(near, cpu)
		}
	}
	if len(far) == 0 {
		return ok("node %d, as the senders' CPUs", n.V)
	}
	v := warn("device on node %d, %s are not", n.V, cpuWord(far))
	if len(near) > 0 {
		v = v.by("wirespeed %s --cpus %s", f.Device.Name, host.FormatList(near[:min(len(near), len(f.workers()))]))
	}
	return v
}

func judgeMTU(f *Facts) verdict {
	if f.Device.Link.Err != nil {
		return unknown(f.Device.Link.Err)
	}
	switch mtu := f.Device.Link.V.MTU; {
	case mtu < 1500:
		return info("%d: no frames of more than %d bytes", mtu, mtu+14).by("ip link set %s mtu 1500", f.Device.Name)
	case mtu > 1500:
		return ok("%d: the other side must take it, too", mtu)
	default:
		return ok("1500")
	}
}

// ringLeast is the number of descriptors that a transmit ring should have, ringGood what is asked for then.
const ringLeast, ringGood = 1000, 1024

func judgeRings(f *Facts) verdict {
	s, err := f.setting("rings.tx")
	if err != nil {
		return missing(err, ok("%s has none", f.driver()))
	}
	n, err := strconv.ParseUint(s.Value, 10, 32)
	if err != nil {
		return unknown(fmt.Errorf("rings.tx is %q", s.Value))
	}
	seen := fmt.Sprintf("%d of %d descriptors", n, s.Max)
	good := min(max(s.Max, n), ringGood)
	v := warn("%s", seen)
	switch {
	case n >= ringLeast:
		return ok("%s", seen)
	case s.Max > 0 && n >= s.Max:
		return info("%s: all there are", seen)
	case n < 256:
		v.state = Bad
	}
	if s.Max == 0 {
		good = ringGood
	}
	return f.fix(v.by("ethtool -G %s tx %d", f.Device.Name, good), "rings.tx", strconv.FormatUint(good, 10))
}

func judgeIRQs(f *Facts) verdict {
	irqs := f.Device.IRQs
	if irqs.Err != nil {
		return missing(irqs.Err, ok("none"))
	}
	workers := f.workers()
	// Of each queue: it may be served by one interrupt together with others.
	where := make(map[int]int) // queues by CPU
	var places []string
	spread := 0
	for _, q := range irqs.V {
		places = append(places, fmt.Sprintf("%d on %s", q.Queue, host.FormatList(q.CPUs)))
		if len(q.CPUs) == 1 {
			where[q.CPUs[0]]++
		} else {
			spread++
		}
	}
	switch {
	case len(irqs.V) == 0 && f.software():
		return ok("a software device has none")
	case len(irqs.V) == 0:
		return unknown(fmt.Errorf("no interrupt of %s names its transmit queues", f.driver()))
	}
	seen := "queue " + list(places, 4)
	v := verdict{state: Warn, seen: seen}
	switch most := min(len(irqs.V), len(f.CPUs)); {
	case spread > 0 || len(where) >= most:
		return ok("%s: %s", seen, placeWord(irqs.V, workers))
	case len(where) == 1:
		v.state, v.seen = Bad, fmt.Sprintf("all %d on CPU %s", len(irqs.V), host.FormatList(irqs.V[0].CPUs))
	default:
		v.why, v.sure = "completions of some queues compete for a CPU while others have none", Certain
	}
	var mend []string
	for i, q := range irqs.V {
		if slices.Equal(q.CPUs, workers[i%len(workers):][:1]) {
			continue
		}
		cpu := strconv.Itoa(workers[i%len(workers)])
		mend = append(mend, fmt.Sprintf("echo %s >/proc/irq/%d/smp_affinity_list", cpu, q.Number))
		v = f.fix(v, fmt.Sprintf("irq[%d]", q.Queue), cpu)
	}
	v.mend = strings.Join(mend, "; ")
	return v
}

// placeWord says where completions run, seen from the senders: both ways have been measured faster, by the driver.
func placeWord(irqs []IRQ, workers []int) string {
	same, apart := 0, 0
	for _, q := range irqs {
		switch {
		case q.Queue >= len(workers) || len(q.CPUs) != 1:
		case q.CPUs[0] == workers[q.Queue]:
			same++
		default:
			apart++
		}
	}
	switch {
	case same > 0 && apart == 0:
		return "with their senders"
	case apart > 0 && same == 0:
		return "apart from their senders"
	}
	return "spread"
}

func judgeXPS(f *Facts) verdict {
	if f.Device.Link.Err != nil {
		return unknown(f.Device.Link.Err)
	}
	queues := f.Device.Link.V.TxQueues
	if queues < 2 {
		return ok("one queue: nothing to choose")
	}
	workers := f.workers()
	maps := make([][]int, queues)
	set, writable := false, true
	for q := range maps {
		s, err := f.setting(fmt.Sprintf("xps[%d]", q))
		if err != nil {
			return missing(err, ok("%s has none", f.driver()))
		}
		writable = writable && s.Why == ""
		if s.Value == "none" {
			continue
		}
		if maps[q], err = host.ParseList(s.Value); err != nil {
			return unknown(err)
		}
		set = set || len(maps[q]) > 0
	}
	var mend []string
	for q, cpu := range workers {
		mend = append(mend, fmt.Sprintf("echo %s >/sys/class/net/%s/queues/tx-%d/xps_cpus", mask(cpu), f.Device.Name, q))
	}
	switch {
	case !set && writable:
		return info("no map: a run with several senders makes one for its time").by("%s", strings.Join(mend, "; "))
	case !set && len(workers) < 2:
		return ok("no map, and one sender")
	}
	v := warn("no map").by("%s", strings.Join(mend, "; "))
	if set {
		used := make(map[int]bool)
		for _, cpu := range workers {
			var mine []int
			for q, m := range maps {
				if slices.Contains(m, cpu) {
					mine = append(mine, q)
				}
			}
			if len(mine) == 1 {
				used[mine[0]] = true
			}
		}
		if len(used) == len(workers) {
			return ok("each sender has a queue")
		}
		v.seen = "senders on " + cpuWord(workers) + " share queues, or are in no map"
	}
	for q, cpu := range workers {
		v = f.fix(v, fmt.Sprintf("xps[%d]", q), strconv.Itoa(cpu))
	}
	return v
}

// mask is one CPU as files of masks take it: words of 32 bits, the highest first.
func mask(cpu int) string {
	return fmt.Sprintf("%x", uint32(1)<<(cpu%32)) + strings.Repeat(",00000000", cpu/32)
}

func judgeQueues(f *Facts) verdict {
	if f.Device.Link.Err != nil {
		return unknown(f.Device.Link.Err)
	}
	l := f.Device.Link.V
	seen := fmt.Sprintf("%s, %s", plural(l.TxQueues, "queue"), plural(len(f.CPUs), "CPU"))
	s, err := f.setting("channels")
	could := min(s.Most, len(f.CPUs))
	if err != nil || l.TxQueues >= len(f.CPUs) || could <= l.TxQueues {
		return ok("%s", seen)
	}
	v := info("%s; there could be %d", seen, could)
	if l.Speed >= 10e9 { // what one CPU can fill needs no more
		v.state = Warn
	}
	return f.fix(v.by("ethtool -L %s combined %d", l.Name, could), "channels", fmt.Sprintf("combined %d", could))
}

func judgeCoalesce(f *Facts) verdict {
	var words, zero []string
	set := false
	for _, name := range []string{"tx-usecs", "tx-frames", "rx-usecs", "rx-frames", "adaptive-tx", "adaptive-rx"} {
		s, err := f.setting("coalesce." + name)
		if errors.Is(err, nic.ErrNotSupported) {
			continue
		}
		if err != nil {
			return unknown(err)
		}
		words = append(words, name+" "+s.Value)
		switch least := map[string]string{"tx-frames": "1", "rx-frames": "1"}[name]; s.Value {
		case "0", "off", least:
			if strings.HasSuffix(name, "usecs") {
				zero = append(zero, name)
			}
		default:
			set = true
		}
	}
	switch {
	case len(words) == 0:
		return ok("%s has none", f.driver())
	case set:
		return ok("%s", join(words[:min(4, len(words))]))
	case f.Device.Link.V.Driver == "virtio_net" || len(zero) == 0:
		return ok("%s", join(words[:min(4, len(words))]))
	}
	var args []string
	v := warn("off: %s", join(words[:min(4, len(words))]))
	for _, name := range zero {
		args = append(args, name+" 30")
		v = f.fix(v, "coalesce."+name, "30")
	}
	return v.by("ethtool -C %s %s", f.Device.Name, strings.Join(args, " "))
}

// smallLimit is a BQL limit, in bytes, that bounds bulks of small frames: the kernel chooses more by itself on a fast link.
const smallLimit = 32 << 10

func judgeBQL(f *Facts) verdict {
	var low []int
	var least uint64
	for q := range f.Device.Link.V.TxQueues {
		s, err := f.setting(fmt.Sprintf("bql.max[%d]", q))
		if err != nil {
			return missing(err, ok("%s does not use it", f.driver()))
		}
		n, err := strconv.ParseUint(s.Value, 10, 64)
		if err != nil {
			return unknown(fmt.Errorf("bql.max[%d] is %q", q, s.Value))
		}
		if n < smallLimit {
			low = append(low, q)
			least = n
		}
	}
	if len(low) == 0 {
		return ok("no small limit")
	}
	v := warn("at most %d bytes on %s", least, plural(len(low), "queue"))
	v.mend = fmt.Sprintf("echo max | tee /sys/class/net/%s/queues/tx-*/byte_queue_limits/limit_max", f.Device.Name)
	for _, q := range low {
		v = f.fix(v, fmt.Sprintf("bql.max[%d]", q), "max")
	}
	return v
}

// Kinds of qdiscs: those that hold frames back, and those that cost more than pfifo_fast.
var (
	shapers = []string{"tbf", "htb", "hfsc", "cbq", "netem", "cake", "etf", "taprio", "red", "sfb", "pie", "codel", "choke", "gred", "plug", "cbs"}
	heavy   = []string{"fq_codel", "fq", "sfq", "fq_pie", "drr", "qfq", "ets"}
)

func judgeQdisc(f *Facts) verdict {
	if f.Device.Qdiscs.Err != nil {
		return unknown(f.Device.Qdiscs.Err)
	}
	kinds := f.Device.Qdiscs.V
	if len(kinds) == 0 {
		kinds = []string{f.Device.Link.V.Qdisc}
	}
	seen := strings.Join(kinds, ", ")
	has := func(set []string) bool {
		return slices.ContainsFunc(kinds, func(k string) bool { return slices.Contains(set, k) })
	}
	switch {
	case has(shapers):
		return warn("%s", seen).by("tc qdisc del dev %s root", f.Device.Name)
	case has(heavy):
		return info("%s", seen).because("it costs more a frame than pfifo_fast on the qdisc path; the bypass does not pass it", Certain).
			by("tc qdisc replace dev %s root pfifo_fast, or path bypass", f.Device.Name)
	}
	return ok("%s", seen)
}

// ethAll is ETH_P_ALL.
const ethAll = 3

func judgeSockets(f *Facts) verdict {
	s := f.Device.Sockets
	if s.Err != nil {
		return unknown(s.Err)
	}
	var who, some []string
	var pids []string
	for _, socket := range s.V {
		name := socket.Owner
		if name == "" {
			name = "somebody"
		}
		switch {
		case socket.Own:
		case socket.Protocol == ethAll:
			if socket.PID != 0 {
				name = fmt.Sprintf("%s (process %d)", name, socket.PID)
				pids = append(pids, strconv.Itoa(socket.PID))
			}
			who = append(who, name)
		default:
			some = append(some, fmt.Sprintf("%s (frames of type %#04x)", name, socket.Protocol))
		}
	}
	slices.Sort(pids)
	switch pids = slices.Compact(pids); {
	case len(pids) > 0:
		return bad("all frames go to %s", list(who, 2)).by("kill %s", strings.Join(pids, " "))
	case len(who) > 0:
		return bad("%s for all frames, owner not to be seen", plural(len(who), "socket")).by("as root: ss -0p tells whose")
	case len(some) > 0:
		return info("%s", list(some, 2))
	}
	return ok("nobody captures")
}

func judgePromiscuous(f *Facts) verdict {
	switch r := f.Device.Receive; {
	case r.Err != nil:
		return unknown(r.Err)
	case r.V.Promiscuous > 0:
		return warn("on, for %s", plural(r.V.Promiscuous, "user")).by("ip link set %s promisc off, or end the capture", f.Device.Name)
	}
	return ok("off")
}

func judgeXDP(f *Facts) verdict {
	r := f.Device.Receive
	mend := fmt.Sprintf("ip link set %s xdp off", f.Device.Name)
	switch {
	case r.Err != nil:
		return unknown(r.Err)
	case r.V.XDP == "":
		return ok("none")
	case strings.Contains(r.V.XDP, "generic"):
		return warn("%s", r.V.XDP).by("%s", mend)
	}
	return info("%s", r.V.XDP).by("%s", mend)
}

func judgeFilters(f *Facts) verdict {
	switch t := f.Device.Filters; {
	case len(t.V) > 0:
		return warn("%s", list(t.V, 3)).by("tc filter del dev %s %s", f.Device.Name, strings.Fields(t.V[0])[0])
	case t.Err != nil:
		return unknown(t.Err)
	}
	return ok("none of tc's own (programs of BPF's tcx do not show)")
}

func judgeFirewall(f *Facts) verdict {
	var here, others []string
	for _, c := range f.Device.Chains.V {
		name := c.Family + " " + c.Table + " " + c.Name
		if c.Family == "netdev" && slices.Contains(c.Devices, f.Device.Name) {
			here = append(here, map[uint32]string{hookIngress: "ingress", hookEgress: "egress"}[c.Hook]+" "+name)
		} else if c.Family != "netdev" {
			others = append(others, name)
		}
	}
	others = append(others, f.Device.Tables.V...)
	switch {
	case len(here) > 0:
		var first string
		for _, c := range f.Device.Chains.V {
			if c.Family == "netdev" && slices.Contains(c.Devices, f.Device.Name) {
				first = c.Table
				break
			}
		}
		return warn("%s", list(here, 2)).by("nft delete table netdev %s", first)
	case f.Device.Chains.Err != nil:
		return unknown(f.Device.Chains.Err)
	case len(others) > 0:
		return info("%s: %s", plural(len(others), "chain"), list(others, 3)).because("frames that we send do not pass them; frames that arrive for this machine do", Certain)
	case f.Device.Tables.Err != nil:
		return unknown(f.Device.Tables.Err)
	}
	return ok("no chains")
}

func judgeDriver(f *Facts) verdict {
	d := f.Device.Driver
	if d.Err != nil {
		return missing(d.Err, info("%s", f.driver()))
	}
	words := []string{d.V.Name}
	if d.V.Version != "" {
		words = append(words, d.V.Version)
	}
	if d.V.Firmware != "" && d.V.Firmware != "N/A" {
		words = append(words, "firmware "+d.V.Firmware)
	}
	return info("%s", strings.Join(words, " "))
}

func judgeModule(f *Facts) verdict {
	switch m := f.Device.Module; {
	case m.Err != nil:
		return unknown(m.Err)
	case f.Device.Link.V.Driver == "" && f.software():
		return ok("the kernel's own")
	case f.Device.Link.V.Driver == "":
		return unknown(errors.New("the driver's name is not known"))
	case m.V:
		return info("%s is a module", f.driver()).by("build the kernel with the driver in it, if the last percent counts")
	}
	return ok("built in")
}

func judgeOffloads(f *Facts) verdict {
	on := func(names ...string) (yes, known bool) {
		for _, name := range names {
			if s, err := f.setting("feature." + name); err == nil {
				yes, known = yes || s.Value == "on", true
			}
		}
		return yes, known
	}
	sg, known := on("tx-scatter-gather")
	if !known {
		return unknown(fmt.Errorf("%s does not tell its features", f.driver()))
	}
	sums, _ := on("tx-checksum-ipv4", "tx-checksum-ip-generic")
	var off []string
	if !sg {
		off = append(off, "scatter-gather")
	}
	if !sums {
		off = append(off, "transmit checksums")
	}
	if len(off) > 0 {
		return info("off: %s", join(off)).by("ethtool -K %s sg on tx on, where the driver can", f.Device.Name)
	}
	if udp, _ := on("tx-udp-segmentation"); udp {
		return ok("scatter-gather, checksums; UDP segmentation is switched off for a run")
	}
	return ok("scatter-gather, checksums")
}
