package ui

import (
	"slices"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// pauseKnob is the knob of flow control.
const pauseKnob = "pause"

// pauseText shows flow control and walks through its sensible settings: nothing is changed before it is applied, for the link may flap.
type pauseText struct {
	next  string  // what would be applied, "" nothing yet
	under overlay // what it was opened over and gives back
}

// pauseWalk are the settings in the order of the key.
var pauseWalk = []string{"off", "rx", "tx", "rx+tx", "autoneg"}

// openPause opens it with the setting after the present one.
func (m *model) openPause() tea.Cmd {
	o := &pauseText{under: m.overlay}
	o.walk(m)
	m.overlay = o
	return nil
}

// walk chooses the next setting, unless none can be applied.
func (o *pauseText) walk(m *model) {
	k := knobOf(m.view0(), pauseKnob)
	if k == nil || k.Reason != "" {
		return
	}
	at := slices.Index(pauseWalk, o.next)
	if o.next == "" {
		at = slices.Index(pauseWalk, k.Value)
	}
	o.next = pauseWalk[(at+1)%len(pauseWalk)]
	if o.next == k.Value && len(pauseWalk) > 1 {
		o.next = pauseWalk[(at+2)%len(pauseWalk)]
	}
}

func (o *pauseText) low() bool { return false }

func (o *pauseText) hints(k KeyMap) []hint {
	if o.next == "" {
		return []hint{{k.Close, "close"}}
	}
	return []hint{{k.Apply, "apply " + o.next}, {k.Pause, "next"}, {k.Close, "leave it"}}
}

func (o *pauseText) press(m *model, msg tea.KeyMsg) tea.Cmd {
	k := m.keys
	switch {
	case key.Matches(msg, k.Close):
		m.overlay = o.under
	case key.Matches(msg, k.Pause):
		o.walk(m)
	case key.Matches(msg, k.Apply):
		m.overlay = o.under
		if o.next == "" {
			return nil
		}
		value := o.next
		return m.enqueue(job{do: func(r runner) outcome {
			said, err := r.Do(pauseKnob + " " + value)
			return outcome{said: said, err: err, knob: pauseKnob, value: value}
		}})
	}
	return nil
}

func (o *pauseText) rows(m *model, w, h int) []string {
	th, d := m.theme, m.view0().Device
	lines := []string{rule(th, w, "flow control", clean(d.Link.Name))}
	say := func(k ink, text string) {
		for _, s := range wrap(text, w-2) {
			lines = append(lines, newRow(w).put(k, " "+s).full())
		}
	}
	k := knobOf(m.view0(), pauseKnob)
	switch {
	case k == nil:
		say(th.Text, "pause frames "+textOr(clean(d.Pause)))
	case k.Reason != "":
		say(th.Text, "pause frames "+textOr(clean(k.Value))+": it cannot be set here")
		say(th.Warn, clean(k.Reason))
	default:
		row := newRow(w)
		row.put(th.Text, " pause frames ").put(th.Strong, textOr(m.value(*k))).put(th.Dim, "   "+shortDetail(k.Value, k.Detail))
		lines = append(lines, row.full(), blanks(w))
		row = newRow(w)
		row.put(th.Text, " next ")
		for _, word := range pauseWalk {
			if word == o.next {
				row.put(th.Pick, " "+th.Glyphs.Pick+" "+word+" ")
			} else {
				row.put(th.Dim, "   "+word+" ")
			}
		}
		lines = append(lines, row.full(), blanks(w))
		say(th.Key, th.Glyphs.key(m.keys.Apply)+" applies it: the link may go down for a second or two, and the run goes on when it is back")
	}
	lines = append(lines, blanks(w))
	say(th.Text, "A receiver that cannot keep up may stop the sender with pause frames (IEEE 802.3x): rx obeys them, tx sends them, autoneg leaves it to both ends. While that is on, what you measure can be the other end.")
	say(th.Text, "What is changed here comes back when the session ends.")
	return lines[:min(len(lines), h)]
}
