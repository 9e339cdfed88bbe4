// Package plot draws measured points as an SVG picture: some panels above each other over one axis, each with its own scale, series of points
// with their error, levels to compare them with, and places on the axis that have a name. It needs no browser's help: no script, no font, no
// outside file.
//
// It computes nothing but places on the page; what is drawn, and what it is called, is the caller's. A value that is no number is a gap in its
// series, never a zero. The same chart gives the same bytes.
//
// Threading: one pure function.
package plot
