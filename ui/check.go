package ui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirespeed/nic/check"
)

// checkPane shows what `wirespeed check DEV` finds: what is to be mended first, in full, with the command that mends it.
type checkPane struct {
	scroller
	looking  bool // a look is under way
	findings []check.Finding
	err      error
}

// checkMsg is the end of a look for a pane.
type checkMsg struct {
	pane     *checkPane
	findings []check.Finding
	err      error
}

// openCheck opens the pane and begins a look.
func (m *model) openCheck() tea.Cmd {
	o := &checkPane{}
	m.overlay = o
	return o.look(m)
}

// look has the run look at machine and device: half a second and more. One at a time.
func (o *checkPane) look(m *model) tea.Cmd {
	if o.looking {
		return nil
	}
	o.looking = true
	run := m.run
	return m.work.do(func() tea.Msg {
		findings, err := run.Check()
		return checkMsg{o, findings, err}
	})
}

// take shows the end of a look; what was seen before stays until then.
func (o *checkPane) take(msg checkMsg) { o.looking, o.findings, o.err = false, msg.findings, msg.err }

func (o *checkPane) low() bool { return false }

func (o *checkPane) hints(k KeyMap) []hint {
	return []hint{{k.Close, "close"}, {k.Reset, "look again"}, {k.Down, "down"}, {k.PageDown, "page"}}
}

func (o *checkPane) press(m *model, msg tea.KeyMsg) tea.Cmd {
	k := m.keys
	switch {
	case key.Matches(msg, k.Close), key.Matches(msg, k.Check):
		m.overlay = nil
	case key.Matches(msg, k.Reset):
		return o.look(m)
	default:
		o.scroller.press(k, msg)
	}
	return nil
}

func (o *checkPane) rows(m *model, w, h int) []string {
	if h < 1 {
		return nil
	}
	th := m.theme
	title := "check " + clean(m.view0().Device.Link.Name) + " and this machine"
	remark := ""
	var lines []string
	switch {
	case o.findings == nil && o.err == nil:
		lines = []string{newRow(w).put(th.Dim, "   looking: it takes a second").full()}
	case o.err != nil:
		for _, s := range wrap(clean(o.err.Error()), w-4) {
			lines = append(lines, newRow(w).put(th.Bad, "   "+s).full())
		}
	default:
		remark = check.Words(o.findings)
		lines = findingRows(th, w, o.findings)
	}
	if o.looking && o.findings != nil {
		remark += ", looking again"
	}
	lines = o.cut(lines, h-1)
	if o.lines > o.page {
		remark += "  " + th.Glyphs.key(m.keys.Down) + " more"
	}
	return append([]string{rule(th, w, title, strings.TrimSpace(remark))}, lines...)
}

// Columns of a finding: its state, its title, and the rest is text.
const (
	checkState = 10
	checkTitle = 20
)

// findingRows are all findings: those to be mended, each with why and how; then what is not known, what is worth knowing, and in a few lines what
// is good.
func findingRows(th *Theme, w int, findings []check.Finding) (out []string) {
	entry := func(k ink, state, title string, texts ...string) {
		for i, text := range texts {
			style := th.Text
			if i > 0 {
				style = th.Dim
			}
			for j, s := range wrap(clean(text), max(w-checkState-checkTitle-1, 12)) {
				r := newRow(w)
				if i == 0 && j == 0 {
					r.put(k, " "+state).pad(checkState).put(th.Strong, clean(title))
				}
				out = append(out, r.pad(checkState+checkTitle).put(style, s).full())
			}
		}
	}
	inks := map[check.State]ink{check.Bad: th.Bad, check.Warn: th.Warn, check.Unknown: th.Warn, check.Info: th.Dim}
	for _, state := range []check.State{check.Bad, check.Warn, check.Unknown, check.Info} {
		for _, f := range findings {
			switch {
			case f.State != state:
			case state == check.Unknown || state == check.Info:
				entry(inks[state], state.String(), f.Title, f.Seen)
			default:
				entry(inks[state], strings.ToUpper(state.String()), f.Title, f.Seen, fmt.Sprintf("%s (%s)", f.Why, f.Sure))
				for _, command := range strings.Split(f.Mend, "; ") { // cut where it is too long: wirespeed check prints it whole
					out = append(out, newRow(w).pad(checkState).put(th.Dim, "> ").clip(th.Key, clean(command), w-checkState-2, th.Glyphs.Cut).full())
				}
				for _, c := range f.Changes {
					out = append(out, newRow(w).pad(checkState).put(th.Dim, "here, and back when the session ends:  ").put(th.Key, clean(":"+c.String())).full())
				}
			}
		}
	}
	for _, g := range check.Good(findings) {
		entry(th.Good, "good", g.Group, strings.Join(g.Titles, ", "))
	}
	return out
}
