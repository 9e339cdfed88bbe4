// Package control is one run as both front ends show it: what is asked (commands, scripts, presets as they run), what is read (engine,
// devices, process) and what follows from it (samples, epochs, marks, ladder, log). It draws nothing and knows no terminal; the console
// and package ui/report each pull a View per tick.
//
// # Who owns what
//
// A Run owns the device handles, the engine and every change it made to the device; Close puts all of it back, once, from any goroutine.
// A View is made by Tick and never changed afterwards: it may be kept, passed on and read without a lock.
//
// # Threads and locks
//
// Run.cmd is held by whoever changes the run (Start, Stop, Do, placement) and may be held for seconds, while a ring drains. Run.mu guards
// the figures and is held for a look at the counters only, so a tick never waits for a command. Who needs both takes cmd first. These
// goroutines belong to a Run: one that watches the link (started in New, ended by Close), one that waits for the engine's end, one for
// the engine's events and, with a script, one that types it (started in Start; they end with the run, and Close waits for them). A far end adds the one of its
// connection (engine/far). A FarEnd, the receiving side of two machines, is not a Run: it has a server's goroutines and those of its receiver.
//
// # Two cadences
//
// Each Tick makes a fast sample since the tick before (the console ticks at 4 Hz). The classic line, its epoch and its average take one
// sample per Options.Interval, on a grid of absolute times since the start, so that lateness does not add up. A sample in which a change fell mixes two
// regimes: it belongs to no epoch.
package control
