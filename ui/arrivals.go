package ui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirespeed/engine/meter"
	"wirespeed/ui/control"
)

// arrivalPane shows what a verifying receiver knows: what became of the frames, and how long they were on their way.
type arrivalPane struct{ scroller }

func (o *arrivalPane) low() bool { return false }

func (o *arrivalPane) hints(k KeyMap) []hint {
	return []hint{{k.Close, "close"}, {k.Down, "down"}, {k.PageDown, "page"}}
}

func (o *arrivalPane) press(m *model, msg tea.KeyMsg) tea.Cmd {
	if key.Matches(msg, m.keys.Close) || key.Matches(msg, m.keys.Arrivals) {
		m.overlay = nil
		return nil
	}
	o.scroller.press(m.keys, msg)
	return nil
}

func (o *arrivalPane) rows(m *model, w, h int) []string {
	if h < 1 {
		return nil
	}
	th, a := m.theme, m.view.Arrivals
	lines := wrapped(th, w, "Nobody looks at the frames that arrive. The knob `receiver verify` reads each of them: what is lost, out of order, twice or corrupt, "+
		"and how long it was on its way. It costs some rate.")
	switch {
	case a == nil:
	case w >= 110:
		left := w / 2
		lines = beside(m.fateRows(a, left), left, append(m.delayRows(a, w-left), m.barRows(a, w-left)...))
	default:
		const left = 36
		lines = append(beside(m.fateRows(a, left), left, m.delayRows(a, w-left)), m.barRows(a, w)...)
	}
	lines = o.cut(lines, h-1)
	remark := ""
	if o.lines > o.page {
		remark = th.Glyphs.key(m.keys.Down) + " more"
	}
	return append([]string{rule(th, w, "what arrives", remark)}, lines...)
}

func wrapped(th *Theme, w int, text string) (out []string) {
	for _, s := range wrap(text, w-4) {
		out = append(out, newRow(w).put(th.Text, "   "+s).full())
	}
	return out
}

// fateRows say what became of the frames.
func (m *model) fateRows(a *control.Arrivals, w int) []string {
	th := m.theme
	if a.Unclear != "" {
		return wrapped(th, w, "Not verified: "+clean(a.Unclear)+".")
	}
	out := []string{newRow(w).put(th.Dim, " frames since the start or reset").full()}
	row := func(name string, n *uint64, bad bool, remark string) {
		k := th.Text
		if bad && n != nil {
			k = countInk(th, *n)
		}
		r := newRow(w).put(th.Dim, "   "+name).pad(17)
		r.right(k, countOr(n), 15)
		if cells(remark) < w-r.w { // or it is left out: the number says it
			r.put(th.Dim, " "+remark)
		}
		out = append(out, r.full())
	}
	row("verified", a.Verified, false, "")
	row("lost", a.Lost, true, "")
	row("duplicates", &a.Duplicates, true, "")
	extent := ""
	if a.Reordered > 0 {
		extent = "by up to " + group(a.ExtentMax)
	}
	row("reordered", &a.Reordered, true, extent)
	row("corrupt", &a.Corrupt, true, faultText(a))
	limited := ""
	if a.NotSeen > 0 {
		limited = "receiver limited: our ring was full"
	}
	row("not seen by us", &a.NotSeen, true, limited)
	row("foreign", a.Foreign, false, "")
	if a.Late > 0 {
		row("too late", &a.Received.Late, true, "or duplicates")
	}
	return out
}

func faultText(a *control.Arrivals) string {
	var words []string
	for _, f := range []struct {
		n    uint64
		what string
	}{{a.BadLength, "length"}, {a.BadIPSum, "IP sum"}, {a.BadL4Sum, "checksum"}} {
		if f.n > 0 {
			words = append(words, f.what+" "+group(f.n))
		}
	}
	return strings.Join(words, ", ")
}

// delayRows are the figures of latency, of the last second and of the whole.
func (m *model) delayRows(a *control.Arrivals, w int) []string {
	th := m.theme
	if a.Whole == nil {
		return wrapped(th, w, "No latency: "+textOr(clean(a.NoDelay))+".")
	}
	const first = 10
	out := []string{newRow(w).put(th.Dim, " latency").pad(first).right(th.Dim, "last second", 14).right(th.Dim, "since start", 14).full()}
	row := func(name string, of func(*control.Delay) int64) {
		r := newRow(w).put(th.Dim, "   "+name).pad(first)
		for _, d := range []*control.Delay{a.Recent, a.Whole} {
			text := unknown
			if d != nil {
				text = control.DelayText(of(d), d.ResolutionNS)
			}
			r.right(th.Strong, text, 14)
		}
		out = append(out, r.full())
	}
	row("min", func(d *control.Delay) int64 { return d.Min })
	row("median", func(d *control.Delay) int64 { return d.Median })
	row("p99", func(d *control.Delay) int64 { return d.P99 })
	row("p99.9", func(d *control.Delay) int64 { return d.P999 })
	row("max", func(d *control.Delay) int64 { return d.Max })
	jitter := newRow(w).put(th.Dim, "   jitter").pad(first)
	text := unknown
	if a.Whole.JitterNS != nil {
		text = control.DelayText(int64(*a.Whole.JitterNS), a.Whole.ResolutionNS)
	}
	out = append(out, jitter.right(th.Strong, text, 14).put(th.Dim, "  RFC 3550, now").full())
	return append(out, newRow(w).put(th.Dim, fmt.Sprintf("   resolution %s, clocks within %d ns",
		control.DelayText(a.Whole.ResolutionNS, 1), a.Whole.ClockErrNS)).full())
}

// barRows are the distribution of the last second; of the whole where nothing came in it.
func (m *model) barRows(a *control.Arrivals, w int) []string {
	th := m.theme
	if a.Whole == nil {
		return nil
	}
	d, of := a.Recent, "last second"
	if d == nil {
		d, of = a.Whole, "since start"
	}
	out := []string{newRow(w).put(th.Dim, " "+of+", "+group(d.N)+" frames, from their batch's start to the kernel's stamp").full()}
	most := uint64(1)
	for _, b := range d.Bars {
		most = max(most, b.N)
	}
	for _, b := range d.Bars {
		r := newRow(w)
		r.right(th.Dim, barRange(b), 20).put(th.Dim, " ")
		share := 100 * float64(b.N) / float64(max(d.N, 1))
		room := w - 20 - 1 - 10
		length := int(float64(room)*float64(b.N)/float64(most) + 0.5)
		if b.N > 0 {
			length = max(length, 1)
		}
		r.put(th.RX, strings.Repeat(th.Glyphs.Block, max(0, min(length, room)))).pad(21 + room)
		out = append(out, r.right(th.Text, groupf(share, 3)+" %", 10).full())
	}
	return out
}

// barRange prints a range of times: "1 us to 2 us".
func barRange(b meter.Bar) string {
	return plainTime(b.From) + " to " + plainTime(b.To)
}

// plainTime prints an edge of a range: these are round.
func plainTime(ns int64) string {
	for _, u := range []struct {
		of   int64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}} {
		if ns >= u.of {
			return fmt.Sprintf("%d %s", ns/u.of, u.name)
		}
	}
	return fmt.Sprintf("%d ns", ns)
}
