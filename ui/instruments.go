package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirespeed/engine/meter"
	"wirespeed/ui/control"
)

// instrumentPane shows where frames wait and for what:
//
//	── instruments ─────────────────────────────── 66 looks a second, 0.4 % of a CPU ──
//	 direct   queued   bulking  ▸LIMITED◂   for 0:12
//	 the link is the limit: 100.0 % of 100 Mbit/s; backlog 505.0
//	 17:03:12 direct → limited, after `rate max`
//	 in the kernel 505 frames: what is in our slots, queue, device and completions together
//	 queue  qdisc      waiting  backlog: mean     max     bytes   drops/s requeues/s overlimits/s
//	   all  tbf          100 %         505.0   512.0   30,300         0          0       90,000
//	 queue  in the device: mean   max   most   limit   bytes of limit
type instrumentPane struct{ scroller }

func (o *instrumentPane) low() bool { return false }

func (o *instrumentPane) hints(k KeyMap) []hint {
	return []hint{{k.Close, "close"}, {k.Instruments, "close"}, {k.Down, "down"}}
}

func (o *instrumentPane) press(m *model, msg tea.KeyMsg) tea.Cmd {
	switch {
	case key.Matches(msg, m.keys.Close), key.Matches(msg, m.keys.Instruments):
		m.overlay = nil
	case key.Matches(msg, m.keys.Mark): // what a regime is worth is two marks: also from here
		return m.mark()
	case key.Matches(msg, m.keys.StartStop):
		return m.startStop()
	case key.Matches(msg, m.keys.Path):
		return m.switchPath()
	default:
		o.scroller.press(m.keys, msg)
	}
	return nil
}

func (o *instrumentPane) rows(m *model, w, h int) []string {
	if h < 1 || m.view == nil {
		return nil
	}
	th := m.theme
	i := m.view.Instruments
	if i == nil {
		return []string{rule(th, w, "instruments", ""), newRow(w).put(th.Dim, "   nothing was looked at yet").full()}
	}
	remark := ""
	if i.PerSecond > 0 {
		remark = fmt.Sprintf("%s looks a second, %s %% of a CPU", groupf(i.PerSecond, 0), groupf(100*i.Cost, 1))
	}
	lines := m.regimeRows(i, w)
	lines = append(lines, m.qdiscGaugeRows(i, w)...)
	lines = append(lines, m.deviceGaugeRows(i, w)...)
	lines = append(append(lines, blanks(w)), m.traceRows(i, w)...)
	return append([]string{rule(th, w, "instruments", remark)}, o.cut(lines, h-1)...)
}

// regimeRows say which regime rules, why, and what it followed.
func (m *model) regimeRows(i *control.Instruments, w int) []string {
	th, v := m.theme, m.view
	r := newRow(w).put(th.Dim, " regime ")
	for _, g := range []meter.Regime{meter.Direct, meter.Queued, meter.Bulking, meter.Limited} {
		if g == i.Regime {
			r.put(th.Text, " ").put(th.Badge, " "+strings.ToUpper(string(g))+" ")
		} else {
			r.put(th.Text, "  ").put(th.Dim, string(g)).put(th.Text, " ")
		}
	}
	if i.Regime == meter.RegimeUnknown {
		r.put(th.Warn, "  "+unknown+" not known")
	} else if !i.Since.IsZero() {
		r.put(th.Dim, "   for ").put(th.Text, clockText(v.At.Sub(i.Since)))
	}
	out := []string{r.full()}
	for _, s := range wrap(clean(i.RegimeWhy), w-3) {
		out = append(out, newRow(w).put(th.Strong, "   "+s).full())
	}
	shown := i.Changes
	if room := 3; len(shown) > room {
		shown = shown[len(shown)-room:]
	}
	for n := len(shown) - 1; n >= 0; n-- {
		c := shown[n]
		k := th.Dim
		if v.At.Sub(c.At) < 10*time.Second {
			k = th.Warn
		}
		r := newRow(w).put(k, "   "+c.At.Format("15:04:05")+" "+string(c.From)+" "+th.Glyphs.To+" "+string(c.To))
		if c.After != "" {
			r.put(k, " after `"+clean(c.After)+"`")
		}
		out = append(out, r.full())
	}
	if len(shown) == 0 {
		out = append(out, newRow(w).put(th.Dim, "   it has not changed yet").full())
	}
	return append(out, blanks(w))
}

// gaugeColumn is a heading and what stands below it.
type gaugeColumn struct {
	title string
	width int
	text  string
}

// gaugeTable puts one line of columns, or their heading, as far as there is room.
func gaugeTable(w int, k ink, cols []gaugeColumn, heading bool) string {
	r := newRow(w)
	for _, c := range cols {
		if r.w+c.width > w {
			break
		}
		s := c.text
		if heading {
			s = c.title
		}
		r.right(k, s, c.width)
	}
	return r.full()
}

// qdiscGaugeRows are the queues that frames wait in before the device.
func (m *model) qdiscGaugeRows(i *control.Instruments, w int) (out []string) {
	th := m.theme
	note := "packets"
	idle := 0
	for n, q := range i.Qdiscs {
		if n > 0 && q.MaxBytes == 0 && q.Drops+q.Requeues+q.Overlimits == 0 && q.AllDrops+q.AllReqs == 0 {
			idle++
			continue
		}
		queue := "all"
		if q.Queue >= 0 {
			queue = strconv.Itoa(q.Queue)
		}
		if q.Computed {
			note = "packets computed from bytes: a super-frame counts as one"
		}
		cols := []gaugeColumn{
			{"queue", 6, queue},
			{"qdisc", 12, clean(q.Kind)},
			{"waiting", 9, shareText(q.Waiting)},
			{"backlog", 10, groupf(q.Mean, 1)},
			{"most", 9, groupf(q.Max, 0)},
			{"requeues/s", 12, groupf(q.Requeues, 0)},
			{"drops/s", 9, groupf(q.Drops, 0)},
			{"overlimits/s", 13, groupf(q.Overlimits, 0)},
			{"bytes", 11, groupf(q.MeanBytes, 0)},
			{"most bytes", 12, groupf(q.MaxBytes, 0)},
			{"drops", 10, group(q.AllDrops)},
		}
		if n == 0 {
			out = append(out, gaugeTable(w, th.Dim, cols, true))
		}
		out = append(out, gaugeTable(w, th.Text, cols, false))
	}
	if idle > 0 {
		out = append(out, newRow(w).put(th.Dim, "   and "+strconv.Itoa(idle)+" more, in which nothing waited").full())
	}
	head := newRow(w).put(th.Title, " in the queue")
	if len(i.Qdiscs) == 0 {
		head.put(th.Dim, "  "+unknown+"  ").clip(th.Dim, clean(i.Why), w-20, th.Glyphs.Cut)
	} else {
		head.put(th.Dim, ", "+note)
	}
	return append(append([]string{head.full()}, out...), blanks(w))
}

// deviceGaugeRows are the frames that the device owns, and those in the kernel, which are more.
func (m *model) deviceGaugeRows(i *control.Instruments, w int) (out []string) {
	th := m.theme
	head := newRow(w).put(th.Title, " in the device")
	if len(i.Devices) == 0 {
		head.put(th.Dim, "  "+unknown+"  ").clip(th.Dim, clean(i.DeviceWhy), w-20, th.Glyphs.Cut)
	} else {
		head.put(th.Dim, ", frames by byte queue limits")
	}
	out = append(out, head.full())
	for n, d := range i.Devices {
		cols := []gaugeColumn{
			{"queue", 6, strconv.Itoa(d.Queue)},
			{"on average", 12, groupf(d.Mean, 1)},
			{"most", 9, groupf(d.Max, 0)},
			{"ever", 9, groupf(d.Most, 0)},
			{"limit", 10, groupf(d.Limit, 0)},
			{"bytes", 11, groupf(d.MeanBytes, 0)},
			{"of limit", 11, groupf(d.LimitBytes, 0)},
		}
		if n == 0 {
			out = append(out, gaugeTable(w, th.Dim, cols, true))
		}
		out = append(out, gaugeTable(w, th.Text, cols, false))
	}
	if i.RingFull != "" {
		out = append(out, newRow(w).put(th.Warn, "   "+clean(i.RingFull)).full())
	}
	kernel := newRow(w).put(th.Title, " in the kernel").put(th.Text, "  "+group(uint64(max(i.InKernel, 0)))+" frames")
	kernel.put(th.Dim, " in slots that have not come back: queue, device and completions together")
	return append(append(out, blanks(w)), kernel.full())
}

func shareText(f float64) string {
	if f > 0 && f < 0.005 {
		return "<1 %"
	}
	return groupf(100*f, 0) + " %"
}
