package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

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
