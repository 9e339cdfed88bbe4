package knob

import (
	"slices"

	"wirespeed/engine"
	"wirespeed/engine/frame"
)

// Setting is one knob and its value as text.
type Setting struct{ Knob, Value string }

// Defaults is the configuration before anyone has set anything (DESIGN.md section 6), for a device and, where there is one, the receiver's address.
func Defaults(dev engine.Device, rx *[6]byte, lab bool) engine.Config {
	c := engine.Config{
		Frame: frame.Spec{
			Size:    frame.Smallest,
			SrcMAC:  dev.MAC,
			SrcIP:   defaultSrc4,
			DstIP:   defaultDst4,
			SrcPort: defaultPort,
			DstPort: defaultPort,
		},
		Replay:  engine.Replay{Loops: 1},
		Burst:   1,
		Queues:  1,
		CPUs:    firstCPUs(dev, 1),
		Receive: lab || rx != nil,
	}
	if rx != nil {
		c.Frame.DstMAC = *rx
	}
	return c
}

// SetAll sets several knobs as one change and returns the way back. The order of different knobs does not matter: they are set in the panel's
// order, and limits that span knobs are held against the outcome only ("--vlan 5 --size 1518" and the reverse). Of one knob, the last setting wins,
// but each must be right. A refused setting changes nothing.
func SetAll(b *Bench, settings []Setting) (undo func() error, err error) {
	for _, s := range settings {
		if _, err := Find(s.Knob); err != nil {
			return nil, err
		}
	}
	try := *b
	for _, k := range inOrder(settings) {
		for _, s := range settings {
			if s.Knob != k.Name {
				continue
			}
			if err := k.try(&try, s.Value); err != nil {
				return nil, err
			}
		}
	}
	if err := restream(&try); err != nil {
		return nil, err
	}
	if err := try.fits(b); err != nil {
		return nil, err
	}
	return b.put(try)
}

// deciding are the knobs that make others unavailable, or that the limits of others come from, the most important last.
var deciding = []string{"channels", "proto", "hex", "timing", "file"}

// inOrder are the knobs that settings may turn: all, and of the families those that are named.
func inOrder(settings []Setting) []Knob {
	isLink := func(k Knob) bool { return k.Name == "link" }
	list := slices.Concat(link, slices.DeleteFunc(All(), isLink)) // it turns others by itself, unless they are set too
	// What decides which other knobs there are comes first: a value that would be ignored is refused.
	slices.SortStableFunc(list, func(a, b Knob) int { return slices.Index(deciding, b.Name) - slices.Index(deciding, a.Name) })
	for _, s := range settings {
		k, ok := member(s.Knob)
		if ok && !slices.ContainsFunc(list, func(l Knob) bool { return l.Name == k.Name }) {
			list = append(list, k)
		}
	}
	return list
}

// Settings returns the present values as a preset keeps them: all but what belongs to the machine and was left as it was, what cannot be
// turned here, and the device's settings that this session has not changed.
func Settings(b *Bench) []Setting {
	fresh := *b
	fresh.Config = Defaults(b.Device, b.RxMAC, b.Lab)
	fresh.Config.Queues = b.Config.Queues
	fresh.Config.CPUs = firstCPUs(b.Device, b.Config.Queues)
	fresh.Link, fresh.Trace = 0, ""
	var out []Setting
	for _, k := range On(b) {
		v := k.get(b)
		if s, ok := b.setting(k.Name); k.Group == NICGroup && (!ok || !s.Ours) { // irq is kept as the irq[i] it set
			continue
		}
		if k.Unavailable(b) != "" || k.Local && v == k.get(&fresh) {
			continue
		}
		out = append(out, Setting{k.Name, v})
	}
	return out
}
