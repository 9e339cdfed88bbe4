//go:build !race

package real

const raceEnabled = false
