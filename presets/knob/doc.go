// Package knob is the registry of everything an operator can set, and the command language that sets it.
//
// A knob is declared once, in stream.go, way.go or headers.go. From that one declaration come the control panel, the ":" command line, the
// flags, the keys of presets, the "knobs" of the JSON output and the README's table. Values travel as text in the form that Get prints and Set
// reads back, so a saved preset, a recorded session and a typed line are the same words.
//
// What it does not do: it never touches a socket. A knob of the stream changes an engine.Config value; Bench.Apply, which the run supplies, puts
// it into effect. Limits that span knobs (size against MTU, queues against the device) are engine.Config.Validate's: the engine owns them.
//
// The language is split in two: ParseLine and ParseScript know words and their number, and need no device; Command.Check and Rehearse try the values on a
// copy of a Bench, so that a whole script is refused before its first frame.
//
// Threading: the registry is read-only after init. A Bench belongs to its caller; nothing here locks or starts a goroutine.
package knob
