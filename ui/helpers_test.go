package ui

import (
	"flag"

	_ "github.com/charmbracelet/x/exp/golden" // registers -update
)

// updating says whether the tests shall write what they would compare with.
func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}
