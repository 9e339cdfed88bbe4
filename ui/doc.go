// Package ui is the console: it draws the views of one run and turns keys into command lines of it.
//
//	header          what sends, where to, in which state
//	classic line    instant, average, variation
//	TX in large     pps, ns/packet, asked beside achieved, bit/s, % of wirespeed
//	charts | knobs  pps and absolute ns/packet with epoch means | the panel
//	queues | ladder one row per worker | asked, ring, taken, device, arrived
//	marks, log, keys
//
// It measures nothing and knows no device: every number comes from a [control.View], and one that is not known there is
// drawn as "-". All changes go through the command language of [control.Run].
//
// Threading: bubbletea calls Update and View from one goroutine, which alone owns the model; neither does I/O, reads a
// clock or blocks. What may block (a look at the run, a command, the meaning of a typed value) is a command of bubbletea
// and comes back as a message; commands that change the run go one after the other, in the order of the keys.
package ui
