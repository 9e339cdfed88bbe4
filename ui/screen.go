package ui

import (
	"strings"

	"wirespeed/ui/control"
)

// View draws the screen: at most height lines of at most width cells, whatever the size.
func (m *model) View() string {
	if !m.drawn {
		m.screen = strings.Join(m.lines(m.width, m.height), "\n")
		m.drawn = true
	}
	return m.screen
}

// lines draws the whole screen.
func (m *model) lines(w, h int) []string {
	switch {
	case w <= 0 || h <= 0:
		return nil
	case m.view == nil:
		return []string{newRow(w).put(m.theme.Dim, " wirespeed").String()}
	case w < 80 || h < 24:
		return m.compact(w, h)
	}
	return m.full(w, h)
}

// plan is how many lines each part of the screen gets.
type plan struct {
	digits         int // height of the large number
	gap            int // blank lines around it
	panelW         int
	queues, ladder int // lines of the table; of the ladder beside it, 0: short, below
	marks, log     int
}

const ladderWidth = 42

// planFor divides the height: what must be there first, the rest is for the charts and the table.
func planFor(w, h, queues, rungs int) plan {
	p := plan{digits: 3, panelW: 32, queues: 1 + min(max(queues, 1), 2), log: 1}
	if w >= 110 && h >= 36 {
		p.digits, p.gap, p.panelW, p.marks, p.log = 5, 1, 40, 2, 2
		p.queues, p.ladder = max(1+min(max(queues, 1), 8), rungs), rungs
	}
	if h >= 50 {
		p.log, p.queues = 4, max(1+min(max(queues, 1), 16), rungs)
	}
	if w >= 160 {
		p.panelW = 52
	}
	return p
}

// full is the screen at 80 by 24 and above.
func (m *model) full(w, h int) []string {
	p := planFor(w, h, len(m.view.Queues), len(rungs(m.view.Ladder)))
	out := append(m.headerRows(w), m.classicRows(w)...)
	if p.gap > 0 {
		out = append(out, "")
	}
	out = append(out, m.streamRows(w, p.digits)...)
	if p.gap > 0 {
		out = append(out, "")
	}
	out = append(out, m.rxRow(w))
	top := len(out)

	var foot []string
	if p.ladder > 0 {
		p.queues = max(p.queues, len(rungs(m.view.Ladder)))
		left := w - ladderWidth
		table := append([]string{rule(m.theme, left, "queues", m.view.Placement)}, m.queueRows(left, p.queues)...)
		words, rest := m.gapRows(left, p.queues+1-len(table))
		ladder := append([]string{rule(m.theme, ladderWidth, "ladder", "frames")}, m.ladderRows(ladderWidth)...)
		foot = append(foot, filled(beside(append(table, words...), left, ladder), w, p.queues+1)...)
		foot = append(foot, m.gapRow(w, rest))
	} else {
		foot = append(foot, filled(m.queueRows(w, p.queues), w, p.queues)...)
		foot = append(foot, m.ladderShort(w)...)
	}
	if p.marks > 0 {
		foot = append(foot, m.markRows(w)...)
	}
	foot = append(foot, m.logRows(w, p.log)...)
	foot = append(foot, m.hintRow(w))

	body := h - top - len(foot)
	out = append(out, m.bodyRows(w, body, p)...)
	out = append(out, foot...)
	return m.overlaid(out, w, top)
}

// bodyRows are the charts beside the panel.
func (m *model) bodyRows(w, h int, p plan) []string {
	if h <= 0 {
		return nil
	}
	chartW := w - p.panelW
	return beside(m.chartRows(chartW, h), chartW, m.panelRows(p.panelW, h))
}

// chartRows are one or two charts above their common axis of time.
func (m *model) chartRows(w, h int) []string {
	v, th := m.view, m.theme
	w -= 2 // clear of the panel
	var out []string
	marks := 1
	if h >= 14 {
		marks = 2
	}
	switch plots := h - 1 - marks; {
	case plots >= 9 && m.charts == showBoth:
		upper := plots / 2
		out = append(ppsChart.draw(v, w, upper, th), nsChart.draw(v, w, plots-upper, th)...)
	case plots >= 3 && m.charts == showPPS:
		out = ppsChart.draw(v, w, plots, th)
	case plots >= 3:
		out = nsChart.draw(v, w, plots, th)
	default:
		return nil
	}
	out = append(append(out, markRows(v, w, marks, th)...), timeRow(w, th))
	for i := range out {
		out[i] += "  "
	}
	return out
}

// hintRow is the last line: the keys that help now.
func (m *model) hintRow(w int) string {
	th := m.theme
	hints := m.keys.mainHints(running(m.view))
	if m.overlay != nil {
		hints = m.overlay.hints(m.keys)
	}
	r := newRow(w)
	for _, h := range hints {
		name := th.Glyphs.key(h.key)
		if r.w+cells(name)+cells(h.word)+3 > w {
			break
		}
		r.put(th.Text, " ").put(th.Key, name).put(th.Dim, " "+h.word+" ")
	}
	return r.String()
}

// overlaid lays the overlay over the lines from top on, or over the last ones.
func (m *model) overlaid(lines []string, w, top int) []string {
	if m.overlay == nil {
		return lines
	}
	last := len(lines) - 1 // the help line stays
	if m.overlay.low() {
		n := min(3, last)
		copy(lines[last-n:last], m.overlay.rows(m, w, n))
		return lines
	}
	copy(lines[top:last], filled(m.overlay.rows(m, w, last-top), 0, last-top))
	return lines
}

// compact is the screen below 80 by 24: the number first, then line by line what else there is room for.
func (m *model) compact(w, h int) []string {
	if h == 1 {
		if m.overlay != nil && m.overlay.low() {
			return m.overlay.rows(m, w, 1)
		}
		return []string{m.oneRow(w)}
	}
	out := []string{m.oneRow(w)}
	add := func(need int, lines ...string) {
		if len(out)+len(lines) <= h-1 && h >= need {
			out = append(out, lines...)
		}
	}
	device, rest := m.deviceRow(w)
	add(4, device)
	add(5, m.averageRow(w))
	add(6, m.askedRow(w))
	if k := m.panel.current(m.view.Knobs); k != nil {
		add(3, m.knobRow(w, *k))
	}
	add(8, m.ladderShort(w)...)
	add(10, m.streamRow(w, rest))
	add(7, m.logRows(w, 1)...)
	if rest := h - 1 - len(out); rest >= 5 && w >= 40 {
		out = append(out, m.chartRows(w+2, rest)...)
	} else if rest >= 3 && w >= 20 {
		out = append(out, m.panelRows(w, rest)...)
	}
	out = append(out, m.hintRow(w))
	for i := range out {
		out[i] = newRow(w).put(ink{}, out[i]).String()
	}
	if len(out) < 3 && m.overlay != nil {
		return m.overlay.rows(m, w, h)
	}
	return m.overlaid(out, w, 1)
}

// oneRow is all in one line, for the smallest screens.
func (m *model) oneRow(w int) string {
	v, th := m.view, m.theme
	k, state := stateText(v.State, th)
	sign, word, _ := strings.Cut(state, " ")
	r := newRow(w)
	r.put(k, sign).put(th.TX, " "+rate(v.Fast.TX)+" pps").put(th.Text, "  "+nsOr(v.Fast.TX.NS)+" ns")
	if m.frozen {
		r.put(th.Badge, " FROZEN ")
	}
	if v.Device.Lab {
		r.put(th.Text, "  LAB")
	}
	if v.Device.Shaped {
		r.put(th.Text, " SHAPED")
	}
	r.put(k, "  "+word)
	if m.note.text != "" && m.height == 1 {
		r.put(th.Text, "  ").clip(th.Title, m.note.text, w-r.w, th.Glyphs.Cut)
	}
	return r.full()
}

func (m *model) averageRow(w int) string {
	v, th := m.view, m.theme
	avg := unknown
	if v.Epoch.N > 0 {
		avg = ppsText(v.Epoch.PPS)
	}
	value, _, k := m.variation()
	return newRow(w).put(th.Dim, " avg ").put(th.Mean, avg).put(th.Dim, "  var ").put(k, value).put(th.Dim, " ns  RX ").put(th.RX, rate(v.Fast.RX)).full()
}

func (m *model) askedRow(w int) string {
	v, th := m.view, m.theme
	asked := "max"
	if v.Target != nil {
		asked = ppsText(*v.Target) + " pps"
	}
	wire := unknown
	if v.Fast.TX.Percent != nil {
		wire = groupf(*v.Fast.TX.Percent, 1)
	}
	return newRow(w).put(th.Dim, " asked ").put(th.Text, asked).put(th.Dim, "  wirespeed ").put(th.Text, wire+" %").
		put(th.Dim, "  ").put(th.Text, bitText(v.Fast.TX.BpsL1)).put(th.Dim, " Mbit/s L1").full()
}

func (m *model) knobRow(w int, k control.Knob) string {
	th := m.theme
	r := newRow(w).put(th.Pick, " "+th.Glyphs.Pick+" "+clean(k.Name)+" ")
	if k.Reason != "" {
		return r.put(th.Dim, clean(k.Reason)).full()
	}
	value := m.value(k)
	return r.put(th.Strong, value).put(th.Dim, "  "+shortDetail(value, k.Detail)).full()
}
