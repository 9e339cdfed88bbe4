package ui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirespeed/ui/control"
)

// counterPane shows what moved in the last second: pause frames, interrupts, softirqs and the driver's own counters. What stands still is left out.
type counterPane struct {
	scroller
	search  input
	typing  bool
	earlier string // the search before this one is typed
}

func (o *counterPane) low() bool { return false }

func (o *counterPane) hints(k KeyMap) []hint {
	if o.typing {
		return []hint{{k.Accept, "search"}, {k.Cancel, "leave"}}
	}
	return []hint{{k.Close, "close"}, {k.Filter, "search"}, {k.Down, "down"}, {k.PageDown, "page"}}
}

func (o *counterPane) press(m *model, msg tea.KeyMsg) tea.Cmd {
	k := m.keys
	switch {
	case o.typing && key.Matches(msg, k.Accept):
		o.typing = false
	case o.typing && key.Matches(msg, k.Cancel):
		o.typing = false
		o.search.set(o.earlier)
	case o.typing:
		o.search.update(msg, k)
		o.top = 0
	case key.Matches(msg, k.Filter):
		o.typing, o.earlier = true, o.search.String()
		o.search = given(o.earlier)
	case key.Matches(msg, k.Close), key.Matches(msg, k.Counters):
		m.overlay = nil
	case key.Matches(msg, k.Pause): // whose effect is watched here
		return m.openPause()
	default:
		o.scroller.press(k, msg)
	}
	return nil
}

func (o *counterPane) rows(m *model, w, h int) []string {
	if h < 1 {
		return nil
	}
	th := m.theme
	remark := th.Glyphs.key(m.keys.Filter) + " search"
	word := strings.ToLower(strings.TrimSpace(o.search.String()))
	if word != "" && !o.typing {
		remark = "search: " + clean(word)
	}
	out := []string{rule(th, w, "what moves, per second", remark)}
	if o.typing {
		r := newRow(w)
		r.put(th.Key, " "+th.Glyphs.key(m.keys.Filter))
		o.search.draw(r, th)
		out = append(out, r.full())
	}
	out = out[:min(len(out), h)]
	var lines []string
	heading := ""
	for _, c := range countersOf(m.view) {
		if word != "" && !strings.Contains(strings.ToLower(c.group+" "+c.name), word) {
			continue
		}
		if c.group != heading {
			heading = c.group
			lines = append(lines, newRow(w).put(th.Dim, " "+clean(heading)).full())
		}
		r := newRow(w)
		r.clip(th.Text, "   "+clean(c.name), max(w-32, 8), th.Glyphs.Cut).pad(max(w-32, 0))
		r.right(th.Strong, c.value, 14).put(th.Dim, "  ").clip(th.Dim, clean(c.remark), 15, th.Glyphs.Cut)
		lines = append(lines, r.full())
	}
	if len(lines) == 0 {
		text := "   nothing moves"
		if word != "" {
			text = "   nothing that moves matches"
		}
		lines = []string{newRow(w).put(th.Dim, text).full()}
	}
	return append(out, o.cut(lines, h-len(out))...)
}

// counter is a line of the pane.
type counter struct{ group, name, value, remark string }

// countersOf are all lines of a look.
func countersOf(v *control.View) (list []counter) {
	if v == nil || v.Facts == nil {
		return nil
	}
	f := v.Facts
	add := func(where, name string, rate float64, remark string) {
		list = append(list, counter{where, name, rateText(rate), remark})
	}
	pause := "pause frames"
	if f.PauseRx == nil && f.PauseTx == nil {
		list = append(list, counter{pause, "received and sent", unknown, ""})
	}
	if f.PauseRx != nil {
		add(pause, "received", *f.PauseRx, "")
	}
	if f.PauseTx != nil {
		add(pause, "sent", *f.PauseTx, "")
	}
	for _, i := range f.IRQs {
		if i.PerSecond > 0 {
			add("interrupts", i.Name, i.PerSecond, cpuWords(i.On))
		}
	}
	for _, s := range f.SoftIRQs {
		add("softirqs", s.Kind, s.PerSecond, cpuWords([]int{s.CPU}))
	}
	for _, c := range f.Counters {
		add("the driver's counters", c.Name, c.PerSecond, "")
	}
	if f.CarrierChanges != nil {
		list = append(list, counter{"link", "carrier changes since the interface was made", group(*f.CarrierChanges), "in all"})
	}
	return list
}

// rateText prints so many a second; slow ones keep a decimal.
func rateText(perSecond float64) string {
	if perSecond > 0 && perSecond < 10 {
		return groupf(perSecond, 1)
	}
	return groupf(perSecond, 0)
}

// cpuWords prints where something ran, the busiest first.
func cpuWords(cpus []int) string {
	if len(cpus) == 0 {
		return ""
	}
	var words []string
	for _, c := range cpus[:min(len(cpus), 4)] {
		words = append(words, fmt.Sprint(c))
	}
	return "cpu " + strings.Join(words, " ")
}
