package knob

import (
	"errors"
	"fmt"
	"strings"

	"wirespeed/engine"
)

// lineError is a whole sentence for the operator that callers can still tell apart.
type lineError struct {
	text string
	kind error
}

func (e lineError) Error() string { return e.text }

// Is reports the kind; what is unavailable is a matter of usage too (exit code 2), a want of rights is not.
func (e lineError) Is(target error) bool {
	return target == e.kind || target == ErrUsage && e.kind != engine.ErrNotPermitted
}

// usage makes an error of kind ErrUsage.
func usage(format string, args ...any) error {
	return lineError{fmt.Sprintf(format, args...), ErrUsage}
}

// usageError keeps the engine's own error, which already names limit and way out, and adds the kind.
type usageError struct{ error }

func (e usageError) Is(target error) bool { return target == ErrUsage }
func (e usageError) Unwrap() error        { return e.error }

// refused marks another room's error as one of usage.
func refused(err error) error {
	if errors.Is(err, ErrUsage) {
		return err
	}
	return usageError{err}
}

// didYouMean is ": did you mean X?" for the candidate nearest to a mistyped word, else "".
func didYouMean(word string, candidates []string) string {
	lower := strings.ToLower(word)
	best, bestDist := "", 1+max(1, len(word)/3)
	for _, c := range candidates {
		d := distance(lower, c)
		if len(lower) >= 2 && strings.HasPrefix(c, lower) {
			d = min(d, 1)
		}
		if d < bestDist {
			best, bestDist = c, d
		}
	}
	if best == "" {
		return ""
	}
	return ": did you mean " + best + "?"
}

// distance counts the insertions, deletions, replacements and swaps of neighbours that make b of a (optimal string alignment).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
