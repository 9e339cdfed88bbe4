package knob

import (
	"errors"

	"wirespeed/engine"
	"wirespeed/nic"
)

// Errors that callers tell apart with errors.Is. Their texts never show: each error that wraps one is a whole sentence.
var (
	ErrUsage       = errors.New("usage")       // a wrong word, a value out of range
	ErrUnavailable = errors.New("unavailable") // the knob has no effect on this device
)

// Bench is what knobs read and turn: one sending device with its engine's configuration. ui/control makes it.
// Knobs of the stream read and change Config only, so that a whole command line can be folded into one Config before the engine exists.
type Bench struct {
	Config engine.Config // present configuration (a copy)
	Device engine.Device
	NIC    *nic.Device // nil where there is no device yet
	RxMAC  *[6]byte    // the receiving device's address, nil without one
	Lab    bool

	// Apply puts a changed configuration into effect; nil before the engine exists (then Config is simply replaced).
	Apply func(engine.Config) error
}

// Group is where the panel shows a knob.
type Group string

// The groups, in the panel's order.
const (
	Stream   Group = "stream"
	Way      Group = "path"
	Headers  Group = "headers"
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

	get    func(b *Bench) string
	set    func(b *Bench, text string) error // changes b.Config only
	turn   func(b *Bench, steps int, coarse bool) string
	detail func(b *Bench) string
	reason func(b *Bench) string
}

// All returns the knobs in the panel's order.
func All() []Knob { panic("todo") }

// Find returns the knob of a name.
func Find(name string) (Knob, error) { panic("todo") }

// Get prints the present value in the form that Set reads back.
func (k Knob) Get(b *Bench) string { panic("todo") }

// Detail is the value's meaning beside it in the panel: "60 B (64 with FCS, 84 on the wire)", "-" where there is none.
func (k Knob) Detail(b *Bench) string { panic("todo") }

// Unavailable is the reason why the knob cannot be turned here, "" if it can.
func (k Knob) Unavailable(b *Bench) string { panic("todo") }

// Check says what text would mean ("1,200,000 pps, 833.3 ns/packet, 806 Mbit/s L1, 80.6 %") or, as an error, why it is refused. Nothing changes.
func (k Knob) Check(b *Bench, text string) (meaning string, err error) { panic("todo") }

// Set turns the knob and returns the way back. A refused value changes nothing.
func (k Knob) Set(b *Bench, text string) (undo func() error, err error) { panic("todo") }

// Turn returns the value that steps further is (negative: less), within the range. coarse takes bigger steps.
func (k Knob) Turn(b *Bench, steps int, coarse bool) string { panic("todo") }
