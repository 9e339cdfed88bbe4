package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"wirespeed/nic/check"
	"wirespeed/presets/knob"
)

// Check prints what a check has found on o.Out, for people ("line") or as one JSON object. device is "" for the machine alone; mended is what
// was changed before the findings were made. errors.Is(err, knob.ErrUsage) holds for another format.
func Check(o Options, device string, findings []check.Finding, mended []check.Mended) error {
	var err error
	switch o.Format {
	case "", "line":
		_, err = io.WriteString(o.Out, checkText(device, findings, mended))
	case "json":
		w := jsonWriter{out: o.Out}
		err = w.put(newCheck(device, findings, mended, time.Now()))
	default:
		return checkFormat(o.Format)
	}
	if err != nil {
		return quietly(err)
	}
	return nil
}

// checkFormat is a usage error of one line.
type checkFormat string

func (f checkFormat) Error() string {
	return fmt.Sprintf("format %q: check has line and json", string(f))
}
func (f checkFormat) Is(target error) bool { return target == knob.ErrUsage }

// Columns of the text: state, title, and the rest of 80.
const (
	stateWidth = 9
	titleWidth = 19
	groupWidth = 9
	textWidth  = 80 - stateWidth - titleWidth - 1
)

// checkText is the text: what is to be mended first and in full, then what is not known, what is worth knowing, and in one paragraph what is good.
func checkText(device string, findings []check.Finding, mended []check.Mended) string {
	var b strings.Builder
	b.WriteString(checkHead(device, findings) + "\n")
	if len(mended) > 0 {
		b.WriteString("\n")
	}
	for _, m := range mended {
		if m.Err != nil {
			row(&b, "NOT DONE", m.Change.String(), m.Err.Error())
			continue
		}
		row(&b, "mended", m.Setting, m.Now)
	}
	for _, s := range []check.State{check.Bad, check.Warn} {
		for _, f := range findings {
			if f.State != s {
				continue
			}
			b.WriteString("\n")
			row(&b, strings.ToUpper(s.String()), f.Title, f.Seen)
			row(&b, "", "", fmt.Sprintf("%s (%s)", f.Why, f.Sure))
			for i, command := range strings.Split(f.Mend, "; ") {
				fixable := ""
				if i == 0 && f.Fixable {
					fixable = "--fix, or:"
				}
				fmt.Fprintf(&b, "%*s%*s  > %s\n", stateWidth, "", titleWidth-3, fixable, command) // never broken: it is to be copied
			}
		}
	}
	for _, s := range []check.State{check.Unknown, check.Info} {
		if check.Count(findings, s) > 0 {
			b.WriteString("\n")
		}
		for _, f := range findings {
			if f.State == s {
				row(&b, s.String(), f.Title, f.Seen)
			}
		}
	}
	writeGood(&b, findings)
	return b.String()
}

// writeGood prints a line of titles for each group.
func writeGood(b *strings.Builder, findings []check.Finding) {
	groups := check.Good(findings)
	if len(groups) > 0 {
		b.WriteString("\n")
	}
	state := "good"
	for _, g := range groups {
		name := g.Group
		for line := range strings.SplitSeq(wrap(strings.Join(g.Titles, ", "), 80-stateWidth-groupWidth), "\n") {
			fmt.Fprintf(b, "%-*s%-*s%s\n", stateWidth, state, groupWidth, name, line)
			state, name = "", ""
		}
	}
}

// checkHead is the first line: the whole answer.
func checkHead(device string, findings []check.Finding) string {
	what := "this machine"
	if device != "" {
		what = device + " and this machine"
	}
	return what + ": " + check.Words(findings)
}

// row prints a state, a title and a text that is broken to fit.
func row(b *strings.Builder, state, title, text string) {
	for i, line := range strings.Split(wrap(text, textWidth), "\n") {
		if i > 0 {
			state, title = "", ""
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-*s%-*s %s", stateWidth, state, titleWidth, title, line), " ") + "\n")
	}
}

// wrap breaks a text at blanks, but for that of "5 %", and within what is longer than a line.
func wrap(text string, width int) string {
	const noBreak = "\u00a0%"
	return strings.ReplaceAll(ansi.Wrap(strings.ReplaceAll(text, " %", noBreak), width, ""), noBreak, " %")
}

type (
	checkJSON struct {
		Type     string          `json:"type"`
		T        string          `json:"t"`
		Device   *string         `json:"device"` // null for the machine alone
		Good     bool            `json:"good"`   // nothing is to be mended
		ToMend   int             `json:"to_mend"`
		Unknown  int             `json:"unknown"`
		Findings []check.Finding `json:"findings"`
		Mended   []mendedJSON    `json:"mended"`
	}

	mendedJSON struct {
		ID      string  `json:"id"`
		Setting string  `json:"setting"`
		Asked   string  `json:"asked"`
		Now     *string `json:"now"`
		Error   *string `json:"error"`
	}
)

func newCheck(device string, findings []check.Finding, mended []check.Mended, at time.Time) checkJSON {
	o := checkJSON{
		Type: "check", T: stamp(at), Device: word(device), Good: !check.ToMend(findings), Unknown: check.Count(findings, check.Unknown),
		ToMend: check.Count(findings, check.Bad) + check.Count(findings, check.Warn), Findings: findings, Mended: []mendedJSON{},
	}
	for _, m := range mended {
		j := mendedJSON{ID: m.ID, Setting: m.Setting, Asked: m.Value, Now: word(m.Now)}
		if m.Err != nil {
			j.Error = word(m.Err.Error())
		}
		o.Mended = append(o.Mended, j)
	}
	return o
}
