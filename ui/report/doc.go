// Package report is the headless front end: one run as lines, JSON or CSV on a stream, flushed line by line, until the run ends, the
// context is cancelled or the reader goes away. It decides nothing about the run and computes no figure; package control does.
//
// # Formats
//
//   - line: the classic line per whole sample and its warning on a line of its own, and the two lines of the Result at the end. A sample
//     that belongs to no epoch has no line.
//   - json: one object per line: sample, event, and summary last (DESIGN.md section 6). What is not known is null.
//   - csv: a header and one row per sample, one column per scalar of the JSON sample, named by its path (tx.pps). Lists (queues, gaps)
//     have no column; each knob has one. What is not known is an empty cell.
//
// Only json carries events on its stream; the others have them on the log.
//
// [Check] prints the findings of a sanity check instead: line is for people, what is to be mended first, in 80 columns; json is one object.
//
// # Threading
//
// One goroutine, the caller's: it sleeps until the next sample is due, at absolute times, so that lateness does not add up.
package report
