package ui

import (
	"fmt"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirespeed/presets"
	"wirespeed/presets/knob"
	"wirespeed/ui/control"
)

// packetPane shows the next frame: its headers in words, its bytes, and its sizes.
type packetPane struct {
	scroller
	seen framed
}

// framed is a frame that was asked for, or why there is none.
type framed struct {
	name  string // of the preset that it is of, "" for the present settings
	done  bool
	view  control.FrameView
	err   error
	lacks string // what the machine lacks for the preset
}

type frameMsg struct {
	to  overlay
	got framed
}

// openPacket opens the pane.
func (m *model) openPacket() tea.Cmd {
	o := &packetPane{}
	m.overlay = o
	return m.askFrame(o, nil)
}

// askFrame makes the next frame outside of the loop: of the present settings, or of those with a preset, whose file may have to be read.
func (m *model) askFrame(to overlay, p *presets.Preset) tea.Cmd {
	run, v := m.run, m.view0()
	n, at := v.Ladder.Ring, v.At
	return m.work.do(func() tea.Msg { return frameMsg{to, frameWith(run.Bench(), p, n, at)} })
}

func frameWith(b *knob.Bench, p *presets.Preset, n uint64, at time.Time) (got framed) {
	got.done = true
	if p != nil {
		got.name, n = p.Name, 0
		if got.lacks = knob.LacksAll(b, p.Needs); got.lacks != "" {
			return got
		}
		if _, got.err = knob.SetAll(b, p.Knobs); got.err != nil {
			return got
		}
	}
	got.view, got.err = control.NextFrame(b, n, at)
	return got
}

func (o *packetPane) low() bool { return false }

func (o *packetPane) hints(k KeyMap) []hint {
	return []hint{{k.Close, "close"}, {k.Reset, "the next one"}, {k.Down, "down"}, {k.PageDown, "page"}}
}

func (o *packetPane) press(m *model, msg tea.KeyMsg) tea.Cmd {
	k := m.keys
	switch {
	case key.Matches(msg, k.Close), key.Matches(msg, k.Packet):
		m.overlay = nil
	case key.Matches(msg, k.Reset):
		return m.askFrame(o, nil)
	default:
		o.scroller.press(k, msg)
	}
	return nil
}

func (o *packetPane) rows(m *model, w, h int) []string {
	if h < 1 {
		return nil
	}
	th := m.theme
	var lines []string
	switch {
	case !o.seen.done:
	case o.seen.err != nil:
		for _, s := range wrap(clean(o.seen.err.Error()), w-4) {
			lines = append(lines, newRow(w).put(th.Bad, " "+s).full())
		}
	default:
		lines = append(lines, newRow(w).put(th.Strong, " "+sizeWords(o.seen.view)).full())
		lines = append(lines, layerRows(th, w, o.seen.view)...)
		lines = append(lines, "")
		lines = append(lines, hexRows(th, w, o.seen.view.Bytes)...)
	}
	lines = o.cut(lines, h-1)
	remark := o.seen.view.What
	if o.lines > o.page {
		remark += "  " + th.Glyphs.key(m.keys.Down) + " more"
	}
	return append([]string{rule(th, w, "the next frame", remark)}, lines...)
}

// sizeWords are the sizes that people mean by one.
func sizeWords(v control.FrameView) string {
	return fmt.Sprintf("%d B (%d with FCS, %d on the wire)", v.Size, v.FCS, v.Wire)
}

// layerRows are the headers of a frame in words.
func layerRows(th *Theme, w int, v control.FrameView) (out []string) {
	const nameW = 11
	for _, l := range v.Layers {
		for i, s := range wrap(clean(l.Text), max(w-nameW-1, 10)) {
			r := newRow(w)
			if i == 0 {
				r.put(th.Key, " "+clean(l.Name))
			}
			out = append(out, r.pad(nameW).put(th.Text, s).full())
		}
		if l.Faults != "" {
			for _, s := range wrap(clean(l.Faults), max(w-nameW-1, 10)) {
				out = append(out, newRow(w).pad(nameW).put(th.Warn, s).full())
			}
		}
	}
	return out
}

// hexRows are the bytes of a frame, sixteen a line, or eight where there is less room.
func hexRows(th *Theme, w int, b []byte) (out []string) {
	per := 16
	if w < 72 {
		per = 8
	}
	for at := 0; at < len(b); at += per {
		part := b[at:min(at+per, len(b))]
		hex, text := "", ""
		for i, c := range part {
			if i == 8 {
				hex += " "
			}
			hex += fmt.Sprintf("%02x ", c)
			if c < 0x20 || c > 0x7e {
				c = '.'
			}
			text += string(rune(c))
		}
		out = append(out, newRow(w).put(th.Dim, fmt.Sprintf(" %04x  ", at)).put(th.Text, hex).pad(7+3*per+2).put(th.Dim, text).full())
	}
	return out
}
