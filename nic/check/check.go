package check

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"wirespeed/nic"
)

// State is the outcome of a check. Only Bad and Warn are to be mended.
type State int

// The outcomes, the worst last.
const (
	OK      State = iota
	Info          // worth knowing, and nothing to mend: a fact of the machine, or a matter of taste
	Unknown       // could not be read
	Warn          // costs something, or makes figures unsteady
	Bad           // costs much, or makes figures wrong
)

var stateNames = [...]string{"ok", "info", "unknown", "warn", "bad"}

func (s State) String() string { return stateNames[s] }

// MarshalText is the state's name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Sure is how well it is known that the thing costs speed.
type Sure string

// From a fact to a belief.
const (
	Certain Sure = "certain"           // follows from how the thing works, or was measured many times
	Likely  Sure = "likely"            // measured by others, on other hardware
	Depends Sure = "depends"           // on driver and load: try both
	Small   Sure = "certain but small" // a few nanoseconds a frame
)

// Finding is what one check has found.
type Finding struct {
	ID      string `json:"id"`
	Group   string `json:"group"`
	Title   string `json:"title"`
	State   State  `json:"state"`
	Seen    string `json:"seen"` // what was found, or why it could not be
	Why     string `json:"why"`  // why it costs, or would
	Sure    Sure   `json:"sure"`
	Mend    string `json:"mend"`    // a command for the shell, or words; "" where there is nothing to mend
	Fixable bool   `json:"fixable"` // by Mend

	Changes []Change `json:"-"`
}

// Change is one setting of the device that mends something, in the words of nic.Setting.
type Change struct{ Setting, Value string }

func (c Change) String() string { return c.Setting + " " + c.Value }

// check is one line of the table: its function turns facts into a verdict.
type check struct {
	id, group, title string
	sure             Sure
	why              string
	judge            func(f *Facts) verdict
}

// verdict is the part of a finding that depends on the facts.
type verdict struct {
	state   State
	seen    string
	mend    string
	why     string // "" leaves the table's
	sure    Sure   // "" leaves the table's
	changes []Change
}

func ok(format string, a ...any) verdict { return verdict{state: OK, seen: fmt.Sprintf(format, a...)} }

func info(format string, a ...any) verdict {
	return verdict{state: Info, seen: fmt.Sprintf(format, a...)}
}

func warn(format string, a ...any) verdict {
	return verdict{state: Warn, seen: fmt.Sprintf(format, a...)}
}

func bad(format string, a ...any) verdict {
	return verdict{state: Bad, seen: fmt.Sprintf(format, a...)}
}

// unknown is what could not be read; those without the rights for it are told which.
func unknown(err error) verdict {
	text := err.Error()
	if denied(err) && !strings.Contains(text, "CAP_") {
		text += " (needs root)"
	}
	return verdict{state: Unknown, seen: text}
}

// missing is the verdict for something that the kernel has nothing to say about: words of what that means, or unknown for any other reason.
func missing(err error, absent verdict) verdict {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, nic.ErrNotSupported) {
		return absent
	}
	return unknown(err)
}

func denied(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, nic.ErrNotPermitted)
}

func (v verdict) by(format string, a ...any) verdict {
	v.mend = fmt.Sprintf(format, a...)
	return v
}

func (v verdict) because(why string, sure Sure) verdict {
	v.why, v.sure = why, sure
	return v
}

func (v verdict) change(setting, value string) verdict {
	v.changes = append(v.changes, Change{setting, value})
	return v
}

// Judge holds facts against the table: the machine's part, and the device's if the facts have one.
func Judge(f *Facts) []Finding {
	table := machine
	if f.Device != nil {
		table = slices.Concat(device, machine)
	}
	findings := make([]Finding, len(table))
	for i, c := range table {
		v := c.judge(f)
		findings[i] = Finding{
			ID: c.id, Group: c.group, Title: c.title, State: v.state, Seen: v.seen, Why: c.why, Sure: c.sure, Mend: v.mend,
			Fixable: len(v.changes) > 0, Changes: v.changes,
		}
		if v.why != "" {
			findings[i].Why, findings[i].Sure = v.why, v.sure
		}
	}
	return findings
}

// Count counts the findings of a state.
func Count(findings []Finding, s State) (n int) {
	for _, f := range findings {
		if f.State == s {
			n++
		}
	}
	return n
}

// ToMend tells whether anything is.
func ToMend(findings []Finding) bool { return Count(findings, Bad)+Count(findings, Warn) > 0 }

// Words are the whole answer in one line: how many are to be mended, unknown and good.
func Words(findings []Finding) string {
	parts := []string{"nothing to mend"}
	if m := Count(findings, Bad) + Count(findings, Warn); m > 0 {
		parts[0] = fmt.Sprintf("%d to mend", m)
	}
	if u := Count(findings, Unknown); u > 0 {
		parts = append(parts, fmt.Sprintf("%d unknown", u))
	}
	return strings.Join(append(parts, fmt.Sprintf("%d good", Count(findings, OK))), ", ")
}

// GoodGroup are the titles of what is good in one group.
type GoodGroup struct {
	Group  string
	Titles []string
}

// Good lists what is good by groups, in the order of the findings.
func Good(findings []Finding) (groups []GoodGroup) {
	for _, f := range findings {
		if f.State != OK {
			continue
		}
		i := slices.IndexFunc(groups, func(g GoodGroup) bool { return g.Group == f.Group })
		if i < 0 {
			i, groups = len(groups), append(groups, GoodGroup{Group: f.Group})
		}
		groups[i].Titles = append(groups[i].Titles, f.Title)
	}
	return groups
}

// Mended is one change that was tried.
type Mended struct {
	ID string // of the finding
	Change
	Now string
	Err error
}

// Mend makes all the changes that findings to be mended carry, each once, and goes on where one fails. set changes a setting of the device,
// in such a way that it can be put back, and returns what it then is.
func Mend(findings []Finding, set func(setting, value string) (now string, err error)) []Mended {
	var done []Mended
	for _, f := range findings {
		if f.State != Bad && f.State != Warn {
			continue
		}
		for _, c := range f.Changes {
			if slices.ContainsFunc(done, func(m Mended) bool { return m.Change == c }) {
				continue
			}
			now, err := set(c.Setting, c.Value)
			done = append(done, Mended{f.ID, c, now, err})
		}
	}
	return done
}

// list joins words and says how many more there are.
func list(words []string, most int) string {
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), len(words)-most)
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if one == "CPU" || one == "IRQ" {
		return fmt.Sprintf("%d %ss", n, one)
	}
	return fmt.Sprintf("%d %ss", n, one)
}
