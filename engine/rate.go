package engine

import "math/big"

// Rate is how fast the stream is asked to be. It keeps its unit: 40% stays 40 % when size or speed change. The zero value is max.
type Rate struct{ text string }

// ParseRate reads the rate grammar of DESIGN.md section 5; the error says what is wrong and what would be right.
func ParseRate(s string) (Rate, error) { panic("todo") }

// String returns the rate as it was entered.
func (r Rate) String() string { panic("todo") }

// IsMax says whether the rate has no schedule.
func (r Rate) IsMax() bool { panic("todo") }

// PPS is the rate in frames per second for frames of size bytes (without FCS) on dev. Nil for max.
// Percent without a speed is an error that gives why.
func (r Rate) PPS(size int, dev Device) (*big.Rat, error) { panic("todo") }
