package knob

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirespeed/engine"
)

// The words of the knobs that choose, as Config's values index them.
var (
	pathWords    = []string{engine.Bypass.String(), engine.QdiscPath.String()}
	segmentWords = []string{engine.SegmentSoftware.String(), engine.SegmentDevice.String(), engine.SegmentOff.String()}
	slotWords    = []string{engine.SlotAuto.String(), engine.SlotLinear.String(), engine.SlotPlain.String(), engine.SlotSegmented.String()}
	receiveWords = []string{"off", "count", "verify"}
)

// way are the knobs that say which way the frames take through the machine.
var way = []Knob{
	choice(Knob{
		Name: "path", Group: Way,
		Help:    "the way to the driver: bypass goes straight there, qdisc through the queueing discipline",
		Default: "`bypass`",
		words:   pathWords,
		detail: func(b *Bench) string {
			if b.Config.Path == engine.Bypass {
				return "straight to the driver"
			}
			return "through the queueing discipline"
		},
	},
		func(c engine.Config) int { return int(c.Path) },
		func(c *engine.Config, i int) { c.Path = engine.Path(i) }),
	choice(Knob{
		Name: "segment", Group: Way,
		Help:    "who cuts a burst that is handed over as one super-frame: the kernel, the device, or nobody (frames back to back)",
		Default: "`software`",
		words:   segmentWords,
		detail: func(b *Bench) string {
			switch c := b.Config; {
			case c.Segment == engine.SegmentOff:
				return "bursts are frames back to back"
			case c.Path == engine.Bypass:
				return "not on the bypass: it drops what must be cut"
			case c.Burst == 1:
				return "nothing to cut at burst 1"
			case c.Uncut() != "":
				return "nothing to cut: " + c.Uncut()
			case c.Segment == engine.SegmentDevice:
				return "the device cuts: verify at the peer"
			}
			return "the kernel cuts"
		},
	},
		func(c engine.Config) int { return int(c.Segment) },
		func(c *engine.Config, i int) { c.Segment = engine.Segment(i) }),
	choice(Knob{
		Name: "slot", Group: Way,
		Help:    "how frames stand in the ring: copied (linear), by reference (plain), a super-frame for each burst (segmented), or what is fastest",
		Default: "`auto`",
		words:   slotWords,
		detail: func(b *Bench) string {
			switch c := b.Config; {
			case c.Slot != engine.SlotSegmented || c.Segmentable():
			case c.Uncut() != "":
				return "linear: " + c.Uncut() + ", which segments cannot carry"
			default:
				return "linear: segments need path qdisc and a burst"
			}
			return ""
		},
	},
		func(c engine.Config) int { return int(c.Slot) },
		func(c *engine.Config, i int) { c.Slot = engine.Slot(i) }),
	{
		Name: "queues", Group: Way, Numeric: true,
		Help:    "transmit queues in use, one worker each",
		Default: "1", Values: "1 to the device's",
		get: func(b *Bench) string { return strconv.Itoa(b.Config.Queues) },
		set: func(b *Bench, text string) error {
			n, err := number("queues", text, 1, b.Device.Queues)
			if err != nil {
				return usage("%v (%s has no more)", err, b.Device.Name)
			}
			follow := slices.Equal(b.Config.CPUs, firstCPUs(b.Device, b.Config.Queues))
			b.Config.Queues = n
			if follow { // nobody chose other CPUs: a new worker gets one of its own
				b.Config.CPUs = firstCPUs(b.Device, n)
			}
			return nil
		},
		turn: func(b *Bench, steps int, _ bool) string {
			return strconv.Itoa(between(1, add(b.Config.Queues, steps), b.Device.Queues))
		},
		detail: func(b *Bench) string { return "of " + strconv.Itoa(b.Device.Queues) },
		reason: func(b *Bench) string {
			if b.Device.Queues > 1 {
				return ""
			}
			return b.Device.Name + " has one transmit queue"
		},
	},
	choice(Knob{
		Name: "receiver", Group: Way, Local: true,
		Help:    "what arrives at the receiving device: count it, or verify: read each frame for loss, order, duplicates, faults and latency",
		Default: "`count` with `--rx` and in the lab, else `off`",
		words:   receiveWords,
		detail: func(b *Bench) string {
			switch {
			case !b.Config.Receive:
				return "what arrives is not known"
			case b.Config.Verify:
				return "each frame is read: costs some rate"
			}
			return "counted, not looked at"
		},
		reason: func(b *Bench) string {
			if b.Lab || b.RxMAC != nil {
				return ""
			}
			return "there is no receiving device: name one with --rx DEV"
		},
	},
		func(c engine.Config) int {
			switch {
			case c.Receive && c.Verify:
				return 2
			case c.Receive:
				return 1
			}
			return 0
		},
		func(c *engine.Config, i int) { c.Receive, c.Verify = i > 0, i == 2 }),
	{
		Name: "cpus", Group: Way, Local: true,
		Help:    "the CPUs that the workers are pinned to, in turn",
		Default: "the first allowed, one for each queue",
		Values:  "a list: `0-1,3`, or `auto`: the first allowed again",
		words:   []string{"auto"},
		get:     func(b *Bench) string { return engine.FormatCPUs(b.Config.CPUs) },
		set: func(b *Bench, text string) error {
			list, err := parseCPUs(text, b)
			if err != nil {
				return err
			}
			b.Config.CPUs = list
			return nil
		},
		turn: func(b *Bench, steps int, _ bool) string {
			now := engine.FormatCPUs(b.Config.CPUs)
			if len(b.Config.CPUs) != 1 {
				return now // a list is typed, not turned
			}
			var words []string
			for _, c := range b.Device.CPUs {
				words = append(words, strconv.Itoa(c))
			}
			return cycle(words, now, steps)
		},
		detail: func(b *Bench) string {
			cpus, workers := len(b.Config.CPUs), b.Config.Queues
			switch {
			case cpus < workers:
				return fmt.Sprintf("shared by %d workers", workers)
			case cpus > workers:
				return engine.FormatCPUs(b.Config.CPUs[:workers]) + " in use"
			}
			return "of " + engine.FormatCPUs(b.Device.CPUs)
		},
	},
}

// choice completes a knob that is one of k.words, which turn round and round.
func choice(k Knob, get func(engine.Config) int, set func(*engine.Config, int)) Knob {
	k.Values = "`" + strings.Join(k.words, "`, `") + "`"
	k.get = func(b *Bench) string { return k.words[get(b.Config)] }
	k.set = func(b *Bench, text string) error {
		i := slices.Index(k.words, text)
		if i < 0 {
			return usage("%s %q: use %s%s", k.Name, text, strings.Join(k.words, " or "), didYouMean(text, k.words))
		}
		set(&b.Config, i)
		return nil
	}
	k.turn = func(b *Bench, steps int, _ bool) string { return cycle(k.words, k.get(b), steps) }
	return k
}

// firstCPUs are the CPUs of that many workers before anyone has chosen: the first allowed.
func firstCPUs(dev engine.Device, workers int) []int {
	return slices.Clone(dev.CPUs[:min(workers, len(dev.CPUs))])
}

// parseCPUs reads a list of CPUs that are all among those allowed, each once.
func parseCPUs(text string, b *Bench) ([]int, error) {
	if text == "auto" {
		return firstCPUs(b.Device, b.Config.Queues), nil
	}
	allowed := engine.FormatCPUs(b.Device.CPUs)
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err1 := strconv.ParseUint(from, 10, 16)
		last, err2 := strconv.ParseUint(to, 10, 16)
		if err1 != nil || err2 != nil || first > last {
			return nil, usage("cpus %q: not a list of CPUs: write it as 0-1,3", text)
		}
		for c := int(first); c <= int(last); c++ {
			if !slices.Contains(b.Device.CPUs, c) {
				return nil, usage("cpus %s: this process may not use CPU %d: choose from %s (see taskset -p)", text, c, allowed)
			}
			if slices.Contains(list, c) {
				return nil, usage("cpus %s: CPU %d is named twice: name each CPU once", text, c)
			}
			list = append(list, c)
		}
	}
	return list, nil
}
