package knob

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"wirespeed/engine"
	"wirespeed/nic"
)

// The knobs of the device show what the kernel said last (Bench.Settings). Set writes the new value down there, and Bench.put carries out what
// differs, through Bench.SetNIC. So a whole command line is folded into one change before the device is touched, as with the stream's.

// asItIs is the default of all of them: a session changes nothing of its own accord.
const asItIs = "as it is"

// device are the knobs of the NIC that are looked for on every device, in the order of the panel.
var device = []Knob{
	pauseKnob,
	ordered(setting("rings.tx", "a number to the device's largest", "descriptors of each transmit queue's ring")),
	ordered(setting("rings.rx", "a number to the device's largest", "descriptors of each receive queue's ring")),
	ordered(setting("coalesce.tx-usecs", "microseconds", "microseconds a transmit interrupt may wait")),
	ordered(setting("coalesce.tx-frames", "frames", "frames a transmit interrupt may wait for")),
	ordered(setting("coalesce.rx-usecs", "microseconds", "microseconds a receive interrupt may wait")),
	ordered(setting("coalesce.rx-frames", "frames", "frames a receive interrupt may wait for")),
	setting("coalesce.adaptive-tx", "`on`, `off`", "whether the driver chooses the transmit times itself", "on", "off"),
	setting("coalesce.adaptive-rx", "`on`, `off`", "whether the driver chooses the receive times itself", "on", "off"),
	setting("channels", "`combined N`, `rx N tx N`, or N", "queues that the device has in use"),
	setting("qdisc", "`default`, `noqueue`, `mq`, `pfifo limit N`, `fq_codel`, `fq`, `tbf rate R` ...", "root qdisc: what queues frames on the qdisc path",
		"default", "noqueue", "mq", "pfifo_fast", "fq_codel", "fq"),
	irqKnob,
	ordered(setting("mtu", "bytes", "longest payload of a frame, in bytes")),
	ordered(setting("txqueuelen", "frames", "frames that a qdisc without a limit of its own holds")),
	setting("governor", "one that the machine has", "how the CPUs choose their frequency (cpufreq), all of them"),
}

// kind is a sort of knob that a device has any number of.
type kind struct {
	form   string // "irq[QUEUE]"
	match  *regexp.Regexp
	values string
	help   string
	words  []string
}

var kinds = []kind{
	{"irq[QUEUE]", regexp.MustCompile(`^irq\[\d{1,5}\]$`), "a list: `0-1,3`", "CPUs that may take a transmit queue's interrupt", nil},
	{"xps[QUEUE]", regexp.MustCompile(`^xps\[\d{1,5}\]$`), "a list: `0-1,3`, or `none`", "CPUs whose frames go to a transmit queue (XPS)", []string{"none"}},
	{"bql.min[QUEUE]", regexp.MustCompile(`^bql\.min\[\d{1,5}\]$`), "bytes", "least that byte queue limits let into the device", nil},
	{"bql.max[QUEUE]", regexp.MustCompile(`^bql\.max\[\d{1,5}\]$`), "bytes, or `max`", "most that byte queue limits let into the device", []string{"max"}},
	{"feature.NAME", regexp.MustCompile(`^feature\.[[:graph:]]{1,60}$`), "`on`, `off`", "an offload, by the name that ethtool -k shows", []string{"on", "off"}},
	{"priv.NAME", regexp.MustCompile(`^priv\.[[:graph:]]{1,60}$`), "`on`, `off`", "a private flag of the driver, by the name that ethtool --show-priv-flags shows", []string{"on", "off"}},
}

// Families are the knobs that a device has any number of, as the README and the help list them: Name is a form, "irq[QUEUE]".
func Families() []Knob {
	var list []Knob
	for _, f := range kinds {
		list = append(list, Knob{Name: f.form, Group: NICGroup, Help: f.help, Default: asItIs, Values: f.values, Family: true, Numeric: strings.HasPrefix(f.form, "bql.")})
	}
	return append(list, Knob{Name: streamForm, Group: Stream, Help: streamHelp, Default: "none", Values: streamValues, Family: true})
}

// member is the knob of a name that belongs to a family.
func member(name string) (Knob, bool) {
	if k, ok := streamKnob(name); ok {
		return k, true
	}
	for _, f := range kinds {
		if f.match.MatchString(name) {
			k := setting(name, f.values, f.help, f.words...)
			k.Family, k.Numeric = true, strings.HasPrefix(name, "bql.")
			return k, true
		}
	}
	return Knob{}, false
}

// On are all knobs of a bench: those of All, and the families' members that its device has.
func On(b *Bench) []Knob {
	all := All()
	for i, s := range b.Config.Streams {
		k, _ := streamKnob("stream[" + s.Name + "]")
		all = slices.Insert(all, len(stream)+i, k)
	}
	for _, s := range b.Settings {
		if k, ok := member(s.Name); ok {
			all = append(all, k)
		}
	}
	return all
}

// setting declares a knob that is one setting of the device. words are what it may offer where the device does not say.
func setting(name, values, help string, words ...string) Knob {
	return Knob{
		Name: name, Group: NICGroup, Help: help, Default: asItIs, Values: values, words: words,
		get: func(b *Bench) string {
			if s, ok := b.setting(name); ok && s.Now != "" {
				return s.Now
			}
			return unknown
		},
		set: func(b *Bench, text string) error { return b.write(name, text) },
		turn: func(b *Bench, steps int, coarse bool) string {
			s, _ := b.setting(name)
			return turnSetting(s, steps, coarse)
		},
		detail: func(b *Bench) string {
			s, _ := b.setting(name)
			return settingDetail(s)
		},
		reason: func(b *Bench) string { return b.why(name) },
	}
}

const unknown = "-"

// ordered marks a knob as one of numbers, which can be swept.
func ordered(k Knob) Knob {
	k.Numeric = true
	return k
}

// pauseKnob is flow control. Drivers take more forms than a key should walk through.
var pauseKnob = setting("pause", "`off`, `rx`, `tx`, `rx+tx`, `autoneg`",
	"Ethernet flow control: whether pause frames are obeyed (rx) and sent (tx)", "off", "rx", "tx", "rx+tx", "autoneg")

// setting is one of the device's.
func (b *Bench) setting(name string) (nic.Value, bool) {
	i := slices.IndexFunc(b.Settings, func(s nic.Value) bool { return s.Name == name })
	if i < 0 {
		return nic.Value{}, false
	}
	return b.Settings[i], true
}

// why says why a setting cannot be changed, "" if it can.
func (b *Bench) why(name string) string {
	s, ok := b.setting(name)
	switch {
	case b.Settings == nil:
		return "no device is open yet"
	case !ok:
		if _, will := b.coming(name); will {
			return ""
		}
		return b.Device.Name + " has no " + name + b.siblings(name)
	}
	return s.Why
}

// siblings names the members that the device has, where they are few.
func (b *Bench) siblings(name string) string {
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		return ""
	}
	var has []string
	for _, s := range b.Settings {
		if strings.HasPrefix(s.Name, name[:end+1]) {
			has = append(has, s.Name)
		}
	}
	if len(has) == 0 || len(has) > 12 {
		return ""
	}
	return "; it has " + strings.Join(has, ", ")
}

// write writes down what a setting is to be.
func (b *Bench) write(name, text string) error {
	text = strings.Join(strings.Fields(text), " ")
	i := slices.IndexFunc(b.Settings, func(s nic.Value) bool { return s.Name == name })
	var s nic.Value
	switch {
	case i >= 0:
		s = b.Settings[i]
	case text == unknown:
		return nil
	default:
		var ok bool
		if s, ok = b.coming(name); !ok {
			return usage("%s %s: %s", name, text, b.why(name))
		}
	}
	if text == s.Now || text == unknown && s.Now == "" {
		return nil
	}
	if q, ok := queueOf(name); ok && q >= b.Device.Queues {
		return usage("%s %s: with these channels %s has queues 0 to %d", name, text, b.Device.Name, b.Device.Queues-1)
	}
	if err := takes(s.Setting, text); err != nil {
		return err
	}
	b.Settings = slices.Clone(b.Settings) // others have the same slice
	if i < 0 {
		b.Settings = append(b.Settings, s)
		i = len(b.Settings) - 1
	}
	b.Settings[i].Now = text
	b.foresee(name, text)
	return nil
}

// foresee lets the limits of other knobs follow.
func (b *Bench) foresee(name, text string) {
	switch name {
	case "mtu":
		if n, err := strconv.Atoi(text); err == nil {
			b.Device.MTU = n
		}
	case "channels": // "combined 2", "rx 1 tx 2", "4"
		n, words := 0, strings.Fields(text)
		for i, w := range words {
			if x, err := strconv.Atoi(w); err == nil && (i == 0 || words[i-1] != "rx") {
				n += x
			}
		}
		if n > 0 {
			b.Device.Queues = n
		}
	}
}

// queueOf is the number of the queue that a setting is of.
func queueOf(name string) (queue int, ok bool) {
	_, number, found := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	queue, err := strconv.Atoi(number)
	return queue, found && err == nil
}

// coming is a setting of a queue that there will be, because channels are to be more: like its first sibling, its value not known yet.
func (b *Bench) coming(name string) (nic.Value, bool) {
	q, ok := queueOf(name)
	if !ok || q >= b.Device.Queues {
		return nic.Value{}, false
	}
	family, _, _ := strings.Cut(name, "[")
	s, ok := b.setting(family + "[0]")
	s.Name, s.Now, s.Ours = name, "", false
	return s, ok && s.Why == ""
}

// takes refuses what a setting certainly does not take; the rest is for the kernel to say.
func takes(s nic.Setting, text string) error {
	_, notNumber := strconv.ParseUint(text, 10, 32)
	n, _ := strconv.ParseUint(text, 10, 64)
	choice := s.Name == "pause" || strings.HasPrefix(s.Name, "coalesce.adaptive") || strings.HasPrefix(s.Name, "feature.") || strings.HasPrefix(s.Name, "priv.")
	switch {
	case text == "":
		return usage("%s needs a value: %s", s.Name, s.Range)
	case choice && len(s.Values) > 0 && !slices.Contains(s.Values, strings.Replace(text, "tx+rx", "rx+tx", 1)):
		if s.Name == "pause" && strings.HasPrefix(text, "autoneg ") {
			return nil
		}
		return usage("%s %q: use %s%s", s.Name, text, s.Range, didYouMean(text, s.Values))
	case numeric(s) && text != "max" && (notNumber != nil || n < s.Min || s.Max > 0 && n > s.Max):
		return usage("%s %s: use %s", s.Name, text, s.Range)
	}
	if err := s.Check(text); errors.Is(err, nic.ErrValue) {
		return refused(err)
	}
	return nil
}

// numeric tells whether a setting is a number.
func numeric(s nic.Setting) bool {
	return len(s.Values) == 0 && (s.Max > 0 || strings.HasPrefix(s.Range, "a whole number"))
}

// turnSetting is the value so many steps further: the next word, or a number. Fine steps are those that drivers keep (rings are rounded to 8), coarse
// ones double and halve.
func turnSetting(s nic.Value, steps int, coarse bool) string {
	if len(s.Values) > 0 {
		return cycle(s.Values, s.Now, steps)
	}
	now, err := strconv.Atoi(s.Now)
	if err != nil || !numeric(s.Setting) {
		return s.Now
	}
	top := int(min(s.Max, 1<<31-1))
	if top == 0 {
		top = 1<<31 - 1
	}
	step := 1
	switch {
	case strings.HasPrefix(s.Name, "rings."):
		step = 8
	case strings.HasPrefix(s.Name, "bql."):
		step = 1514
	}
	if !coarse {
		return strconv.Itoa(between(int(s.Min), add(now, steps*step), top))
	}
	for ; steps > 0 && now < top; steps-- {
		now = powerAbove(now)
	}
	for ; steps < 0 && now > int(s.Min); steps++ {
		now = powerBelow(now)
	}
	return strconv.Itoa(between(int(s.Min), now, top))
}

// settingDetail is the range beside a number, and whether a turn may take the link away.
func settingDetail(s nic.Value) string {
	var parts []string
	if numeric(s.Setting) && s.Max > 0 && s.Max < 1<<24 {
		parts = append(parts, fmt.Sprintf("of %d", s.Max))
	}
	if s.Name == "channels" {
		parts = append(parts, s.Range)
	}
	if s.Ours {
		parts = append(parts, "changed")
	}
	return strings.Join(parts, ", ")
}

// irqKnob places the interrupts of all transmit queues at once; irq[QUEUE] places one.
var irqKnob = Knob{
	Name: "irq", Group: NICGroup, Default: asItIs, words: []string{"auto", "apart"},
	Help:   "where the transmit queues' interrupts run: auto is queue i on the CPU of worker i, apart is on another CPU",
	Values: "`auto`, `apart`, or a list: CPU i of it is queue i's",
	get:    irqWord,
	set: func(b *Bench, text string) error {
		now := b.irqs()
		if text == irqWord(b) {
			return nil
		}
		if len(now) == 0 {
			if why := b.why("irq[0]"); why != "" {
				return usage("irq %s: %s", text, why)
			}
		}
		names := b.irqNames()
		texts, err := nic.PlaceIRQs(text, len(names), b.workerCPUs(), b.Device.CPUs)
		if err != nil {
			return usage("irq %s: %v", text, err)
		}
		for i, name := range names {
			if err := b.write(name, texts[i]); err != nil {
				return err
			}
		}
		return nil
	},
	turn: func(b *Bench, steps int, _ bool) string { return cycle([]string{"auto", "apart"}, irqWord(b), steps) },
	detail: func(b *Bench) string {
		now := b.irqs()
		if len(now) == 0 || len(now) > 8 {
			return ""
		}
		return "on CPU " + strings.Join(now, "; ")
	},
	reason: func(b *Bench) string { return b.why("irq[0]") },
}

// irqWord is the word or list that places the interrupts as they are.
func irqWord(b *Bench) string {
	now := b.irqs()
	if len(now) == 0 {
		return unknown
	}
	hows := []string{"auto", "apart"}
	var cpus []int
	for _, text := range now { // the shortest list that repeats to it
		cpu, err := strconv.Atoi(text)
		if err != nil {
			break
		}
		cpus = append(cpus, cpu)
		hows = append(hows, engine.FormatCPUs(cpus))
	}
	for _, how := range hows {
		if texts, err := nic.PlaceIRQs(how, len(now), b.workerCPUs(), b.Device.CPUs); err == nil && slices.Equal(texts, now) {
			return how
		}
	}
	return "mixed"
}

// irqs are the CPUs of each transmit queue's interrupt, of those that have one.
func (b *Bench) irqs() (list []string) {
	for _, name := range b.irqNames() {
		if s, _ := b.setting(name); s.Now != "" {
			list = append(list, s.Now)
		}
	}
	return list
}

// irqNames are the settings of the interrupts that irq places: of the queues that have one, and of those that there will be.
func (b *Bench) irqNames() (list []string) {
	for _, s := range b.Settings {
		if q, _ := queueOf(s.Name); strings.HasPrefix(s.Name, "irq[") && s.Now != "" && q < b.Device.Queues {
			list = append(list, s.Name)
		}
	}
	for q := len(list); q < b.Device.Queues; q++ {
		name := fmt.Sprintf("irq[%d]", q)
		if _, there := b.setting(name); there {
			continue // it has none, and will have none
		}
		if _, ok := b.coming(name); ok {
			list = append(list, name)
		}
	}
	return list
}

// workerCPUs are the CPUs of the workers.
func (b *Bench) workerCPUs() []int {
	cpus := make([]int, b.Config.Queues)
	for i := range cpus {
		if n := len(b.Config.CPUs); n > 0 {
			cpus[i] = b.Config.CPUs[i%n]
		}
	}
	return cpus
}

// Differences are the settings that are not the same in two states of one device, in the order in which they are to be set.
func Differences(was, to []nic.Value) (list []Setting) {
	for _, s := range to {
		i := slices.IndexFunc(was, func(w nic.Value) bool { return w.Name == s.Name })
		if i < 0 || was[i].Now != s.Now {
			list = append(list, Setting{s.Name, s.Now})
		}
	}
	return list
}
