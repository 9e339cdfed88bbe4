// Package meter is the arithmetic of the screen: from two readings of a counter to a rate with its error, from rates to the classic
// line, from the samples of an epoch to mean and deviation, from two epochs to a difference with a confidence interval, from a whole run
// to its Result. The formulas are those of DESIGN.md section 5.
//
// It reads no counter and no clock (Bracket is handed both as functions), knows no unit but frames, nanoseconds and seconds, and decides
// nothing: which samples are valid and where an epoch begins is for ui/control.
//
// All that counts is time per packet, in ns: at these speeds rates hide differences that times show, and times add up. A number that is
// not known is kept apart from zero, and no function returns or prints NaN or infinity.
//
// Values belong to their caller. Line and EpochBuilder change by Add and are for one goroutine; all else are pure functions.
package meter
