package knob

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"wirespeed/engine"
	"wirespeed/nic"
)

// Errors that callers tell apart with errors.Is. Their texts never show: each error that wraps one is a whole sentence.
var (
	ErrUsage       = errors.New("usage")       // a wrong word, a value out of range
	ErrUnavailable = errors.New("unavailable") // the knob has no effect on this device; such an error is ErrUsage too
)

// Bench is what knobs read and turn: one sending device with its engine's configuration. ui/control makes it.
// Knobs read and change Config and Settings only, so that a whole command line can be folded into one state before the engine exists.
type Bench struct {
	Config engine.Config // present configuration (a copy)
	Device engine.Device
	RxMAC  *[6]byte // the receiving device's address, nil without one
	Lab    bool
	Rx     Receiving

	// Link is the speed of the link, in bit/s, that the operator has stated or, in the lab, made; 0 is none. OwnSpeed is what the device says.
	Link        uint64
	OwnSpeed    uint64 // 0 is unknown
	OwnSpeedWhy string // why it is

	Trace string // what is watched at the kernel's trace points, "" nothing

	// Settings are the device's own, as the kernel said last, or as they are to be; nil before a device is open. The slice is never written to.
	Settings []nic.Value

	// Apply puts a changed configuration into effect; nil before the engine exists (then Config is simply replaced).
	Apply func(engine.Config) error
	// SetNIC changes a setting of the device and returns what it then is, and the way back (nil is none); nil where it is only to be written down in
	// Settings: in rehearsals, and before a run is open.
	SetNIC func(name, text string) (now string, undo func() error, err error)
	// SetLink makes or states the link; nil where it is only to be written down.
	SetLink func(speed uint64) error
	// SetTrace watches something else, "" nothing; nil where it is only to be written down.
	SetTrace func(what string) error
}

// Group is where the panel shows a knob.
type Group string

// The groups, in the panel's order.
const (
	Stream   Group = "stream"
	Way      Group = "path"
	Headers  Group = "headers"
	File     Group = "file"
	NICGroup Group = "nic"
)

// Knob is one thing an operator can set; see DESIGN.md section 3. Declared once, in this package.
type Knob struct {
	Name    string
	Group   Group
	Help    string // one line
	Default string // as the README's table prints it
	Values  string // the grammar or range, as the README's table prints it

	Numeric bool // has an order: can be swept
	Family  bool // one of any number: irq[0], feature.NAME; it has no flag
	Local   bool // belongs to a machine more than to an experiment: a preset keeps it only where it was changed

	words []string // values that completion offers

	get    func(b *Bench) string
	set    func(b *Bench, text string) error // changes b.Config, or b.Settings, only
	turn   func(b *Bench, steps int, coarse bool) string
	detail func(b *Bench) string // nil: the value says all
	means  func(b *Bench) string // longer than detail, while a value is typed; nil: detail
	reason func(b *Bench) string // nil: always available
	denied func(b *Bench) bool   // whether the reason is a want of rights; nil: never
}

// All returns the knobs that there are on every device, in the panel's order. The slice is the caller's.
func All() []Knob {
	return slices.Concat(stream, way, link, sinks, traces, headers, content, files, device)
}

// Find returns the knob of a name. errors.Is(err, ErrUsage) holds where there is none.
func Find(name string) (Knob, error) {
	for _, k := range All() {
		if k.Name == name {
			return k, nil
		}
	}
	if k, ok := member(name); ok {
		return k, nil
	}
	if hint, ok := elsewhere[name]; ok {
		return Knob{}, usage("%s", hint)
	}
	return Knob{}, usage("no knob %q%s", name, didYouMean(name, names()))
}

// names are the names of all knobs, in order.
func names() []string {
	var names []string
	for _, k := range All() {
		names = append(names, k.Name)
	}
	return names
}

// Get prints the present value in the form that Set reads back.
func (k Knob) Get(b *Bench) string { return k.get(b) }

// Known tells whether the value is known; the device's settings may not be.
func (k Knob) Known(b *Bench) bool { return k.Group != NICGroup || k.get(b) != unknown }

// Detail is the value's meaning beside it in the panel: "60 B (64 with FCS, 84 on the wire)", "-" where there is none.
func (k Knob) Detail(b *Bench) string {
	if k.detail == nil {
		return "-"
	}
	if d := k.detail(b); d != "" {
		return d
	}
	return "-"
}

// Unavailable is the reason why the knob cannot be turned here, "" if it can. Its value can be read all the same.
func (k Knob) Unavailable(b *Bench) string {
	if k.reason == nil {
		return ""
	}
	return k.reason(b)
}

// Check says what text would mean ("1,200,000 pps, 833.3 ns/packet, 806 Mbit/s L1, 80.6 %") or, as an error of one line, why it is refused.
// Nothing changes.
func (k Knob) Check(b *Bench, text string) (meaning string, err error) {
	next, err := k.with(b, text)
	if err != nil {
		return "", err
	}
	try := next
	if k.means != nil {
		return k.means(&try), nil
	}
	if d := k.Detail(&try); d != "-" {
		return d, nil
	}
	return k.get(&try), nil
}

// Set turns the knob and returns the way back, which puts the whole configuration back as it was: call it before anything else is turned.
// A refused value changes nothing. errors.Is: ErrUsage for a wrong value, ErrUnavailable where the knob cannot be turned here; else the engine's.
func (k Knob) Set(b *Bench, text string) (undo func() error, err error) {
	next, err := k.with(b, text)
	if err != nil {
		return nil, err
	}
	return b.put(next)
}

// Turn returns the value that steps further is (negative: less), within the range. coarse takes bigger steps. A knob without steps, and a turn
// that would be refused, return the present value.
func (k Knob) Turn(b *Bench, steps int, coarse bool) string {
	now := k.get(b)
	if k.turn == nil || k.Unavailable(b) != "" {
		return now
	}
	text := k.turn(b, steps, coarse)
	if _, err := k.with(b, text); err != nil {
		return now
	}
	return text
}

// with returns the bench on which the knob has another value, or why it cannot have it.
func (k Knob) with(b *Bench, text string) (Bench, error) {
	try := *b
	if err := k.try(&try, text); err != nil {
		return Bench{}, err
	}
	if err := restream(&try); err != nil {
		return Bench{}, err
	}
	if err := try.fits(b); err != nil {
		return Bench{}, err
	}
	return try, nil
}

// fits says why a bench cannot be brought about from now, one of the same device, nil if it can.
func (b *Bench) fits(now *Bench) error {
	if err := b.misfit(now); err != nil {
		return err
	}
	if err := b.Config.Validate(b.Device); err != nil {
		return refused(err)
	}
	return nil
}

// try sets the knob on b, limits that span knobs left out.
func (k Knob) try(b *Bench, text string) error {
	now, why := k.get(b), k.Unavailable(b)
	err := k.set(b, text)
	if why != "" && (err != nil || k.get(b) != now) {
		kind := ErrUnavailable
		if k.denied != nil && k.denied(b) {
			kind = engine.ErrNotPermitted
		}
		return lineError{fmt.Sprintf("%s %s: %s", k.Name, text, why), kind}
	}
	return err
}

// put brings about the state of another bench of the same device: its settings first, then its configuration through the engine, where there
// is one. If one of it fails the rest is undone. undo brings the present state back.
func (b *Bench) put(next Bench) (undo func() error, err error) {
	old := *b
	// A link comes before the rate that may be a percentage of it, and goes after it.
	relink := func(from, to uint64, now bool) error {
		if b.SetLink == nil || from == to || now != (to != 0) {
			return nil
		}
		return b.SetLink(to)
	}
	if err := relink(old.Link, next.Link, true); err != nil {
		return nil, RefusedByNIC(err)
	}
	turned := Differences(b.Settings, next.Settings)
	var undos []func() error
	back := func() error {
		var errs []error
		for _, u := range slices.Backward(undos) {
			errs = append(errs, u())
		}
		return errors.Join(errs...)
	}
	if old.Link != next.Link {
		undos = append(undos, func() error { return relink(next.Link, old.Link, false) })
	}
	if b.SetNIC != nil && len(turned) > 0 {
		next.Settings = slices.Clone(next.Settings)
		for _, s := range turned {
			now, u, err := b.SetNIC(s.Knob, s.Value)
			if err != nil {
				return nil, errors.Join(RefusedByNIC(err), back())
			}
			if u != nil {
				undos = append(undos, u)
			}
			i := slices.IndexFunc(next.Settings, func(v nic.Value) bool { return v.Name == s.Knob })
			next.Settings[i].Now = now
		}
	}
	stream := len(turned) == 0 && old.Trace == next.Trace || !reflect.DeepEqual(b.Config, next.Config)
	if stream && b.Apply != nil {
		if err := b.Apply(next.Config); err != nil {
			return nil, errors.Join(err, back())
		}
	}
	if err := relink(old.Link, next.Link, false); err != nil {
		return nil, errors.Join(RefusedByNIC(err), back())
	}
	retrace := func(from, to string) error {
		if b.SetTrace == nil || from == to {
			return nil
		}
		return b.SetTrace(to)
	}
	if err := retrace(old.Trace, next.Trace); err != nil {
		return nil, errors.Join(err, back())
	}
	keep := func(s Bench) {
		b.Config, b.Device, b.Settings, b.Link, b.Trace = s.Config, s.Device, s.Settings, s.Link, s.Trace
	}
	keep(next)
	return func() error {
		if err := errors.Join(retrace(next.Trace, old.Trace), relink(next.Link, old.Link, true)); err != nil {
			return err
		}
		if stream && b.Apply != nil {
			if err := b.Apply(old.Config); err != nil {
				return err
			}
		}
		err := back()
		keep(old)
		return err
	}, nil
}

// RefusedByNIC gives an error of the device the kinds of this package.
func RefusedByNIC(err error) error {
	switch {
	case errors.Is(err, nic.ErrValue):
		return refused(err)
	case errors.Is(err, nic.ErrNotSupported):
		return lineError{err.Error(), ErrUnavailable}
	}
	return err
}

// Words are the values that a key walks through, nil where there are none.
func (k Knob) Words(b *Bench) []string {
	if s, ok := b.setting(k.Name); ok && len(s.Values) > 0 {
		return slices.Clone(s.Values)
	}
	return slices.Clone(k.words)
}
