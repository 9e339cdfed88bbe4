package check

import (
	"fmt"
	"strconv"

	"wirespeed/nic/host"
)

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
