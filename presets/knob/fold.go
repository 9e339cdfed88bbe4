package knob

import (
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
	for _, k := range All() {
		for _, s := range settings {
			if s.Knob != k.Name {
				continue
			}
			if err := k.try(&try, s.Value); err != nil {
				return nil, err
			}
		}
	}
	if err := try.Config.Validate(b.Device); err != nil {
		return nil, refused(err)
	}
	old := b.Config
	if err := b.put(try.Config); err != nil {
		return nil, err
	}
	return func() error { return b.put(old) }, nil
}

// Settings returns the present values as a preset keeps them: all but what belongs to the machine and was left as it was, and what cannot be
// turned here.
func Settings(b *Bench) []Setting {
	fresh := *b
	fresh.Config = Defaults(b.Device, b.RxMAC, b.Lab)
	fresh.Config.Queues = b.Config.Queues
	fresh.Config.CPUs = firstCPUs(b.Device, b.Config.Queues)
	var out []Setting
	for _, k := range All() {
		v := k.get(b)
		if k.Unavailable(b) != "" || k.Local && v == k.get(&fresh) {
			continue
		}
		out = append(out, Setting{k.Name, v})
	}
	return out
}
