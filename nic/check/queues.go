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
