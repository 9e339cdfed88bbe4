package nic

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Errors of settings, for errors.Is.
var (
	// ErrValue is a text that a setting does not take; the message names what it takes.
	ErrValue = errors.New("no value for this setting")
	// ErrIgnored is a write that was taken without an error and changed nothing, as e1000e does with flow control while it is negotiated.
	ErrIgnored = errors.New("the driver took it and changed nothing")
)

// Groups of settings, in the order of a panel.
const (
	GroupPause    = "flow control"
	GroupRings    = "rings"
	GroupCoalesce = "coalesce"
	GroupQueues   = "queues"
	GroupQdisc    = "qdisc"
	GroupIRQ      = "interrupts"
	GroupFeatures = "features"
	GroupFlags    = "private flags"
	GroupLink     = "link"
	GroupHost     = "host"
)

// Setting is one thing of a device that can be read and changed, both as text. Its fields are as they were when it was found; Read and Write
// ask the kernel. To have a change put back, write through a [Guard].
type Setting struct {
	Name     string   // as knobs use it: pause, rings.tx, bql.max[0]
	Group    string   // one of Group...
	Help     string   // one line
	Range    string   // what Write takes, in words: "up to 4096"
	Values   []string // the values that a key walks through; nil for numbers and lists
	Min, Max uint64   // of a number; Max 0: no number, or the limit is not known
	Why      string   // why it cannot be changed here, in the driver's own terms; "" if it can
	Flaps    bool     // writing it may take the link down for a second

	ops
	d *Device
}

// ops are how a setting is read and written. What is saved must bring back exactly what was there, where the text for people says less.
type ops struct {
	read   func(*view) (string, error)
	check  func(text string) error     // whether it is a value at all; nil: on or off
	write  func(text string) error     // checks and writes; reading back is the caller's
	save   func(*view) (string, error) // nil: read
	load   func(saved string) error    // nil: write
	same   func(a, b string) bool      // whether two saved texts are the same setting; nil: ==
	exact  bool                        // what same calls the same is to be brought back nevertheless
	resets bool                        // writing it makes the driver reset others: interrupts, limits
}

// view is one look at a device: what several settings are read from is asked once.
type view struct {
	d     *Device
	asked map[string]func() (any, error)
}

func (d *Device) view() *view { return &view{d, make(map[string]func() (any, error))} }

// once asks at most once in a view.
func once[T any](v *view, what string, ask func() (T, error)) (T, error) {
	f, ok := v.asked[what]
	if !ok {
		answer, err := ask()
		f = func() (any, error) { return answer, err }
		v.asked[what] = f
	}
	answer, err := f()
	return answer.(T), err
}

// Settings lists what the device has, in the order of the groups, and of the usual ones also what it has not, with the reason in Why. It
// asks the kernel a dozen questions: a millisecond, more while others hold the rtnl lock.
func (d *Device) Settings() []Setting {
	v := d.view()
	return slices.DeleteFunc(v.settings(), func(s Setting) bool { return !s.sending() })
}

// sending tells whether a setting has to do with sending: of the offloads not all have.
func (s Setting) sending() bool {
	name, ok := strings.CutPrefix(s.Name, "feature.")
	return !ok || slices.Contains(sendingFeatures, name)
}

// settings are all, those too that have little to do with sending.
func (v *view) settings() []Setting {
	list := slices.Concat(
		v.pauseSettings(), v.numberSettings(), v.channelSettings(), v.queueSettings(), v.qdiscSettings(),
		v.irqSettings(), v.featureSettings(), v.flagSettings(), v.linkSettings(), v.governorSettings(),
	)
	for i := range list {
		list[i].d = v.d
	}
	return list
}

// texts reads what all settings are now, by name, in one look; those that cannot be read are not in it.
func (d *Device) texts() map[string]string {
	v := d.view()
	m := make(map[string]string)
	for _, s := range v.settings() {
		if text, err := s.readIn(v); err == nil {
			m[s.Name] = text
		}
	}
	return m
}

// Setting finds one by its name; errors.Is(err, ErrNotSupported) where the device has none of this name. One that is there and cannot be
// changed is found, with its Why.
func (d *Device) Setting(name string) (Setting, error) {
	list := d.view().settings()
	for _, s := range list {
		if s.Name == name {
			return s, nil
		}
	}
	var has []string
	family, _, _ := strings.Cut(strings.ReplaceAll(name, "[", "."), ".")
	for _, s := range list {
		if strings.HasPrefix(s.Name, family+".") || strings.HasPrefix(s.Name, family+"[") {
			has = append(has, s.Name)
		}
	}
	text := fmt.Sprintf("%s has no setting %s", d.Name(), name)
	if len(has) > 0 && len(has) <= 12 {
		text += "; it has " + strings.Join(has, ", ")
	}
	return Setting{}, &reason{text: text, is: ErrNotSupported}
}

// Read reads the present value from the kernel. Write takes what Read returns.
func (s Setting) Read() (string, error) { return s.readIn(s.d.view()) }

func (s Setting) readIn(v *view) (string, error) {
	text, err := s.read(v)
	if err != nil {
		return "", fmt.Errorf("%s of %s: %w", s.Name, s.d.Name(), err)
	}
	return text, nil
}

// Check tells whether Write would take a text, without asking the driver; errors.Is(err, ErrValue) if not, ErrNotSupported where the setting
// cannot be changed here. One that was not found on a device knows of no wrong text.
func (s Setting) Check(text string) (err error) {
	switch {
	case s.d == nil:
		return nil
	case s.Why != "":
		err = &reason{text: s.Why, is: ErrNotSupported}
	case s.check != nil:
		err = s.check(text)
	default:
		_, err = parseSwitch(text)
	}
	if err != nil {
		return fmt.Errorf("%s of %s: %w", s.Name, s.d.Name(), err)
	}
	return nil
}

// saved reads the value in the form that brings it back exactly.
func (s Setting) saved(v *view) (string, error) {
	if s.save == nil {
		return s.readIn(v)
	}
	text, err := s.save(v)
	if err != nil {
		return "", fmt.Errorf("%s of %s: %w", s.Name, s.d.Name(), err)
	}
	return text, nil
}

// bring brings back a saved value.
func (s Setting) bring(saved string) error {
	load := s.load
	if load == nil {
		load = s.write
	}
	if err := load(saved); err != nil {
		return fmt.Errorf("%s of %s: %w", s.Name, s.d.Name(), err)
	}
	return nil
}

// back tells whether a setting is what it was before, so that there is nothing to be put back.
func (s Setting) back(now, before string) bool {
	return now == before || !s.exact && s.equal(now, before)
}

func (s Setting) equal(a, b string) bool { return a == b || s.same != nil && s.same(a, b) }

// Write changes the setting and returns what it then is, which may be something near: a driver rounds ring sizes. errors.Is(err, ErrValue)
// for a text that it does not take, ErrIgnored where the driver says yes and does nothing, ErrNotSupported and ErrNotPermitted with the
// reason in words.
func (s Setting) Write(text string) (now string, err error) {
	fail := func(err error) (string, error) { return "", fmt.Errorf("%s of %s: %w", s.Name, s.d.Name(), err) }
	before, err := s.read(s.d.view())
	if err != nil {
		return fail(err)
	}
	if s.check != nil {
		err = s.check(text)
	}
	if err == nil {
		err = s.write(text)
	}
	if err != nil {
		return fail(err)
	}
	now, err = s.read(s.d.view())
	if err != nil {
		return fail(err)
	}
	if now == before && !s.asks(text, now) {
		return now, fmt.Errorf("%s of %s: %w: asked for %s, it is still %s", s.Name, s.d.Name(), ErrIgnored, text, now)
	}
	return now, nil
}

// asks tells whether a text that was written asks for the value that was read.
func (s Setting) asks(text, now string) bool {
	text = strings.Join(strings.Fields(text), " ")
	if text == now || s.same != nil && s.same(text, now) {
		return true
	}
	a, errA := strconv.ParseUint(text, 10, 64)
	b, errB := strconv.ParseUint(now, 10, 64)
	if errA == nil && errB == nil {
		return a == b
	}
	cpusA, errA := parseList(text)
	cpusB, errB := parseList(now)
	return errA == nil && errB == nil && slices.Equal(cpusA, cpusB) || strings.HasPrefix(now, text+" ")
}

// unsupported is a setting that the device has not, shown for its reason.
func unsupported(name, group, help, why string) Setting {
	err := &reason{text: why, is: ErrNotSupported}
	return Setting{Name: name, Group: group, Help: help, Why: why, ops: ops{
		read:  func(*view) (string, error) { return "", err },
		write: func(string) error { return err },
	}}
}

// why is the sentence of an error for Setting.Why.
func why(err error) string {
	var r *reason
	if errors.As(err, &r) {
		return r.text
	}
	return err.Error()
}

func badValue(text, takes string) error {
	return &reason{text: fmt.Sprintf("%q is no value: it takes %s", text, takes), is: ErrValue}
}

// parseNumber reads a whole number within limits; max 0 is no limit.
func parseNumber(text string, min, max uint64) (uint64, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 32)
	if err != nil || n < min || max > 0 && n > max {
		return 0, badValue(text, numberRange(min, max))
	}
	return n, nil
}

func numberRange(min, max uint64) string {
	if max == 0 {
		return fmt.Sprintf("a whole number from %d", min)
	}
	return fmt.Sprintf("%d .. %d", min, max)
}

// parseSwitch reads on or off.
func parseSwitch(text string) (bool, error) {
	switch strings.TrimSpace(text) {
	case "on":
		return true, nil
	case "off":
		return false, nil
	}
	return false, badValue(text, "on or off")
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// netAdmin says why a setting that takes CAP_NET_ADMIN cannot be changed, "" if it can.
func netAdmin() string {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&hdr, &data[0]); err != nil || data[0].Effective&(1<<unix.CAP_NET_ADMIN) != 0 {
		return ""
	}
	return "changing it needs CAP_NET_ADMIN"
}
