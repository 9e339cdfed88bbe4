package nic

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Root qdiscs as text: KIND [PARAMETER VALUE]..., in tc's words.

// qdiscParam is a parameter that is one number in an attribute of TCA_OPTIONS.
type qdiscParam struct {
	name  string
	attr  uint16
	time  bool // in microseconds
	rate  bool // in bytes per second
	short bool // of 16 bits
}

// qdiscParams are the parameters worth turning, by kind. Those of pfifo, bfifo, tbf and htb are no attributes, and are known by name only.
var qdiscParams = map[string][]qdiscParam{
	"default": nil, "noqueue": nil, "mq": nil, "pfifo_fast": nil,
	"pfifo": {{name: "limit"}}, "bfifo": {{name: "limit"}},
	"fq_codel": {
		{name: "limit", attr: nl.TCA_FQ_CODEL_LIMIT},
		{name: "flows", attr: nl.TCA_FQ_CODEL_FLOWS},
		{name: "quantum", attr: nl.TCA_FQ_CODEL_QUANTUM},
		{name: "target", attr: nl.TCA_FQ_CODEL_TARGET, time: true},
		{name: "interval", attr: nl.TCA_FQ_CODEL_INTERVAL, time: true},
	},
	"fq": {
		{name: "limit", attr: nl.TCA_FQ_PLIMIT},
		{name: "flow_limit", attr: nl.TCA_FQ_FLOW_PLIMIT},
		{name: "quantum", attr: nl.TCA_FQ_QUANTUM},
		{name: "maxrate", attr: nl.TCA_FQ_FLOW_MAX_RATE, rate: true},
	},
	"tbf": {{name: "rate", rate: true}, {name: "burst"}, {name: "limit"}, {name: "overhead", short: true}, {name: "mpu", short: true}},
	"htb": {{name: "rate", rate: true}},
}

const qdiscTakes = "default, noqueue, mq, pfifo_fast, pfifo or bfifo [limit N], fq_codel [limit N flows N quantum B target T interval T], " +
	"fq [limit N flow_limit N quantum B maxrate R], tbf rate R [burst B] [limit B] [overhead B] [mpu B], htb rate R"

// Places in struct tc_tbf_qopt: rate and peakrate (struct tc_ratespec, whose last word is bytes per second), limit, buffer, mtu.
const (
	sizeofRateSpec   = 12
	rateSpecOverhead = 2
	rateSpecMPU      = 6
	rateSpecRate     = 8
	tbfLimit         = 24
	tbfBuffer        = 28
	sizeofTbf        = 36
)

// nsPerTick is the unit of tc's times in messages (PSCHED_TICKS2NS).
const nsPerTick = 64

// parseQdisc reads a text into a kind with its options.
func parseQdisc(s string) (rootQdisc, error) {
	bad := badValue(s, qdiscTakes)
	words := strings.Fields(s)
	if len(words) == 0 {
		return rootQdisc{}, bad
	}
	r := rootQdisc{kind: words[0]}
	if r.kind == "default" { // Read adds what that is: "default (fq_codel)"
		if len(words) > 1 && !strings.HasPrefix(words[1], "(") {
			return rootQdisc{}, bad
		}
		return r, nil
	}
	params, ok := qdiscParams[r.kind]
	words = words[1:]
	if !ok || len(words)%2 != 0 {
		return rootQdisc{}, bad
	}
	values := make(map[string]uint64)
	for ; len(words) > 0; words = words[2:] {
		at := slices.IndexFunc(params, func(p qdiscParam) bool { return p.name == words[0] })
		if at < 0 {
			return rootQdisc{}, bad
		}
		p := params[at]
		n, err := p.parse(words[1])
		if _, twice := values[p.name]; err != nil || twice {
			return rootQdisc{}, bad
		}
		values[p.name] = n
		if p.attr != 0 {
			r.options = appendU32(r.options, p.attr, uint32(n))
		}
	}
	rate, hasRate := values["rate"]
	switch r.kind {
	case "pfifo", "bfifo":
		if limit, ok := values["limit"]; ok {
			r.options = u32Bytes(uint32(limit))
		}
	case "tbf":
		if !hasRate {
			return rootQdisc{}, bad
		}
		r.options = tbfOptions(rate, values["burst"], values["limit"], uint16(values["overhead"]), uint16(values["mpu"]))
	case "htb":
		if !hasRate {
			return rootQdisc{}, bad
		}
		const version, rate2quantum, class = 3, 10, 1
		glob := slices.Concat(u32Bytes(version), u32Bytes(rate2quantum), u32Bytes(class), u32Bytes(0), u32Bytes(0))
		r.rate, r.options = rate, appendAttr(nil, nl.TCA_HTB_INIT, glob)
	}
	return r, nil
}

func (p qdiscParam) parse(s string) (uint64, error) {
	switch {
	case p.time:
		t, err := time.ParseDuration(s)
		if err != nil || t < time.Microsecond || t > time.Hour {
			return 0, ErrValue
		}
		return uint64(t / time.Microsecond), nil
	case p.rate:
		return parseTCRate(s)
	}
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == 0 || p.short && n > math.MaxUint16 {
		return 0, ErrValue
	}
	return n, nil
}

func (p qdiscParam) format(n uint64) string {
	switch {
	case p.time:
		return (time.Duration(n) * time.Microsecond).String()
	case p.rate:
		return formatTCRate(n)
	}
	return strconv.FormatUint(n, 10)
}

var rateUnits = []struct {
	name string
	bits uint64
}{{"Gbit", 1e9}, {"Mbit", 1e6}, {"kbit", 1e3}, {"bit", 1}}

// parseTCRate reads "100Mbit" into bytes per second.
func parseTCRate(s string) (uint64, error) {
	for _, u := range rateUnits {
		number, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		x, err := strconv.ParseFloat(number, 64)
		bytes := x * float64(u.bits) / 8
		if err != nil || strings.Trim(number, "0123456789.") != "" || bytes < 1 || bytes > math.MaxUint32-1 {
			return 0, ErrValue
		}
		return uint64(math.Round(bytes)), nil
	}
	return 0, ErrValue
}

func formatTCRate(bytes uint64) string {
	bits := bytes * 8
	for _, u := range rateUnits {
		if bits%u.bits == 0 && bits >= u.bits {
			return strconv.FormatUint(bits/u.bits, 10) + u.name
		}
	}
	return strconv.FormatUint(bits, 10) + "bit"
}

// rateSpec is a struct tc_ratespec over Ethernet, without a table: the kernel computes.
func rateSpec(rate uint64) []byte {
	b := make([]byte, sizeofRateSpec)
	const linkLayerEthernet = 1
	b[1] = linkLayerEthernet
	native.PutUint32(b[rateSpecRate:], uint32(rate))
	return b
}

// ticks is how long some bytes take at a rate, in tc's unit.
func ticks(bytes, rate uint64) uint32 {
	return uint32(min(bytes*uint64(time.Second)/rate/nsPerTick, math.MaxUint32))
}

// tbfOptions takes 0 for a burst of 10 ms, at least 5 full frames, and for a limit of 50 ms more than that. A frame counts overhead bytes more than
// it has, and at least mpu.
func tbfOptions(rate, burst, limit uint64, overhead, mpu uint16) []byte {
	if burst == 0 {
		burst = max(rate/100, 5*1518)
	}
	if limit == 0 {
		limit = min(burst+rate/20, math.MaxUint32)
	}
	b := make([]byte, sizeofTbf)
	copy(b, rateSpec(rate))
	native.PutUint16(b[rateSpecOverhead:], overhead)
	native.PutUint16(b[rateSpecMPU:], mpu)
	native.PutUint32(b[tbfLimit:], uint32(limit))
	native.PutUint32(b[tbfBuffer:], ticks(burst, rate))
	return appendU32(appendAttr(nil, nl.TCA_TBF_PARMS, b), nl.TCA_TBF_BURST, uint32(burst))
}

// String prints what parseQdisc reads.
func (r rootQdisc) String() string {
	if r.handle == 0 {
		return "default (" + r.kind + ")"
	}
	out := r.kind
	add := func(p qdiscParam, n uint64) { out += " " + p.name + " " + p.format(n) }
	switch r.kind {
	case "pfifo", "bfifo":
		if len(r.options) >= 4 {
			add(qdiscParam{name: "limit"}, uint64(u32(r.options)))
		}
	case "htb":
		if r.rate > 0 {
			add(qdiscParam{name: "rate", rate: true}, r.rate)
		}
	case "tbf":
		for typ, v := range attrs(r.options) {
			if typ == nl.TCA_TBF_PARMS && len(v) >= sizeofTbf {
				rate := uint64(u32(v[rateSpecRate:]))
				add(qdiscParam{name: "rate", rate: true}, rate)
				overhead, mpu := uint64(native.Uint16(v[rateSpecOverhead:])), uint64(native.Uint16(v[rateSpecMPU:]))
				bucket := math.Round(float64(u32(v[tbfBuffer:])) * nsPerTick * float64(rate) / 1e9) // the kernel adds one frame's overhead
				add(qdiscParam{name: "burst"}, uint64(max(0, bucket-float64(overhead))))
				add(qdiscParam{name: "limit"}, uint64(u32(v[tbfLimit:])))
				if overhead > 0 {
					add(qdiscParam{name: "overhead"}, overhead)
				}
				if mpu > 0 {
					add(qdiscParam{name: "mpu"}, mpu)
				}
			}
		}
	default:
		for _, p := range qdiscParams[r.kind] {
			for typ, v := range attrs(r.options) {
				if typ == p.attr && (!p.rate || u32(v) != math.MaxUint32) { // all ones: no limit
					add(p, uint64(u32(v)))
				}
			}
		}
	}
	return out
}

// addHTBClass gives our htb its one class, which all frames go to.
func (d *Device) addHTBClass(handle uint32, rate uint64) error {
	msg := tcmsg(d.index, handle)
	native.PutUint32(msg[8:], handle|1)
	burst := ticks(max(rate/100, 5*1518), rate)
	// struct tc_htb_opt: rate, ceil, buffer, cbuffer, quantum, level, prio
	opt := slices.Concat(rateSpec(rate), rateSpec(rate), u32Bytes(burst), u32Bytes(burst), u32Bytes(60000), u32Bytes(0), u32Bytes(0))
	req := appendAttr(request(unix.RTM_NEWTCLASS, unix.NLM_F_CREATE|unix.NLM_F_ACK, msg...), unix.TCA_KIND, []byte("htb\x00"))
	req = appendAttr(req, unix.TCA_OPTIONS, appendAttr(nil, nl.TCA_HTB_PARMS, opt))
	said, err := d.nl.talkSaid(req, func(uint16, []byte) error { return nil })
	return d.routeError("the qdisc's class", said, err)
}

// htbRate is the rate of our htb's one class, in bytes per second; 0 if there is no such.
func (d *Device) htbRate() (rate uint64) {
	_ = d.nl.talk(request(unix.RTM_GETTCLASS, unix.NLM_F_DUMP, tcmsg(d.index, 0)...), func(_ uint16, b []byte) error {
		if len(b) < sizeofTcMsg || int(native.Uint32(b[4:])) != d.index || native.Uint32(b[12:]) == netlink.HANDLE_ROOT && native.Uint32(b[8:])&0xffff != 1 {
			return nil
		}
		for typ, v := range attrs(b[sizeofTcMsg:]) {
			if typ != unix.TCA_OPTIONS {
				continue
			}
			for typ, v := range attrs(v) {
				if typ == nl.TCA_HTB_PARMS && len(v) >= sizeofRateSpec {
					rate = uint64(u32(v[rateSpecRate:]))
				}
			}
		}
		return nil
	}) // no class, no rate
	return rate
}
