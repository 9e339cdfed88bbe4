package far

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Report is what a sink counts, since it was started. A nil figure is not known. Frames of ours are those with the pktgen header.
type Report struct {
	Session uint64   `json:"session"` // random, of this start of the sink: with another one the counts have begun anew
	Elapsed float64  `json:"elapsed_s"`
	Device  string   `json:"device"`
	How     string   `json:"how"` // "count", "verify", "xdp (native)"
	PPS     *float64 `json:"pps"` // frames of ours per second, lately

	Received *uint64 `json:"received"` // all frames, by the device's counter
	Dropped  *uint64 `json:"dropped"`  // by the device, likewise
	Arrived  *uint64 `json:"arrived"`  // frames of ours

	Verified   *uint64 `json:"verified"` // of them, seen and found right, each number once
	Lost       *uint64 `json:"lost"`
	Duplicates *uint64 `json:"duplicates"`
	Reordered  *uint64 `json:"reordered"`
	Corrupt    *uint64 `json:"corrupt"`
	Unseen     *uint64 `json:"unseen"` // the receiver could not keep up with: neither lost nor verified
}

// Bounds of a report.
const (
	maxReport = 2048 // bytes, sealed
	maxText   = 64   // characters of a text
)

// encode makes the JSON object of a report.
func (r Report) encode() ([]byte, error) {
	r.clean()
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if len(text) > maxReport-tagLen {
		return nil, fmt.Errorf("report: %d bytes, at most %d", len(text), maxReport-tagLen)
	}
	return text, nil
}

// decode reads the JSON object of a report. Fields that this version does not know are passed over.
func decode(text []byte) (Report, error) {
	var r Report
	if len(text) > maxReport {
		return Report{}, errors.New("report: too long")
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return Report{}, fmt.Errorf("report: %w", err)
	}
	r.clean()
	return r, nil
}

// clean makes the texts fit for a screen and drops figures that are none.
func (r *Report) clean() {
	r.Device, r.How = printable(r.Device), printable(r.How)
	if r.PPS != nil && !(*r.PPS >= 0 && *r.PPS < 1e15) { // NaN too
		r.PPS = nil
	}
	if !(r.Elapsed >= 0 && r.Elapsed < 1e15) {
		r.Elapsed = 0
	}
}

// printable is a text with nothing in it that a terminal would do anything about but show it.
func printable(text string) string {
	n := 0
	return strings.Map(func(c rune) rune {
		if n++; n > maxText {
			return -1
		}
		if c == unicode.ReplacementChar || !unicode.IsPrint(c) || unicode.Is(unicode.Mn, c) {
			return '?'
		}
		return c
	}, text)
}
