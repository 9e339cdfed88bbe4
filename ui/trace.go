package ui

import (
	"strconv"
	"time"

	"wirespeed/ui/control"
)

// traceRows are what the kernel's trace points showed, and what that costs.
func (m *model) traceRows(i *control.Instruments, w int) []string {
	th, t := m.theme, i.Trace
	head := newRow(w).put(th.Title, " trace points")
	if t == nil {
		head.put(th.Dim, "  off: ").put(th.Key, "trace bulk").put(th.Dim, " shows how many leave at once, ").put(th.Key, "trace device").put(th.Dim, " how long the device has them")
		return []string{head.full()}
	}
	head.put(th.Text, "  "+clean(t.What))
	cost := "cost not known: " + t.CostWhy
	if t.Cost != nil {
		cost = "while it watches it costs " + groupf(100**t.Cost, 1) + " % of the pps (" + groupf(*t.CostPPS, 0) + ")"
		if t.CostWhy != "" {
			cost = t.CostWhy
		}
	}
	head.put(th.Dim, ", ").clip(th.Dim, clean(cost), w, th.Glyphs.Cut)
	out := []string{head.full()}
	for _, bad := range []string{t.Err, t.Blind} {
		if bad != "" {
			out = append(out, newRow(w).put(th.Warn, "   "+clean(bad)).full())
		}
	}
	if b := t.Bulks; b != nil {
		mean := unknown
		if b.Dequeues > 0 {
			mean = groupf(b.Mean(), 2)
		}
		r := newRow(w).put(th.Text, "   "+group(b.Dequeues)+" dequeues, ").put(th.Strong, mean).put(th.Text, " frames each, at most "+group(b.Max))
		out = append(out, r.put(th.Dim, ", "+group(b.Lost)+" events lost").full())
		ends := b.Ends()
		r = newRow(w).put(th.Dim, "   bulks of")
		for n, end := range ends {
			if b.Histogram[n] == 0 {
				continue
			}
			name := strconv.FormatUint(end, 10)
			if n > 0 && end-ends[n-1] > 1 {
				name = strconv.FormatUint(ends[n-1]+1, 10) + "-" + name
			}
			if n == len(ends)-1 {
				name = "over " + strconv.FormatUint(ends[n-1], 10)
			}
			share := groupf(100*float64(b.Histogram[n])/float64(b.Dequeues), 0)
			r.put(th.Dim, "  "+name+": ").put(th.Text, share+" %")
		}
		out = append(out, r.full())
	}
	if d := t.Device; d != nil {
		r := newRow(w).put(th.Text, "   "+group(d.Frames)+" frames, in the device ").put(th.Strong, groupf(d.InMean, 1)).put(th.Text, " on average, at most "+strconv.Itoa(d.InMax))
		out = append(out, r.put(th.Dim, ", "+group(d.Lost)+" events lost").full())
		if d.Released > 0 {
			r = newRow(w).put(th.Text, "   "+lapText(d.LapMean)+" on average to the release, at most "+lapText(d.LapMax))
			out = append(out, r.put(th.Dim, " (it may wait for a softirq)").full())
		}
		if d.Stuck > 0 && d.Lost == 0 { // else a release may be among what was lost
			out = append(out, newRow(w).put(th.Bad, "   "+strconv.Itoa(d.Stuck)+" never left: the oldest went in "+groupf(d.Oldest.Seconds(), 1)+" s ago").full())
		}
	}
	return out
}

// lapText prints a time in the device in ms, as the classic tool does.
func lapText(d time.Duration) string { return groupf(d.Seconds()*1e3, 3) + " ms" }
