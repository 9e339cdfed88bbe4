package knob

import (
	"slices"
	"strings"
)

// traceWords are the values of the knob trace.
var traceWords = []string{"off", "bulk", "device", "bulk-all", "device-all"}

// traces is the knob of the kernel's trace points. What it turns is no part of the stream, and costs some of its rate.
var traces = []Knob{{
	Name: "trace", Group: Way, Local: true, words: traceWords,
	Help: "watch frames at the kernel's trace points, a tenth of each second or (-all) every one, at a cost that is measured: how many leave the queue at once (bulk), " +
		"how many the device has, and for how long (device); root only",
	Default: "`off`", Values: "`off`, `bulk`, `device`, `bulk-all`, `device-all`",
	get: func(b *Bench) string {
		if b.Trace == "" {
			return traceWords[0]
		}
		return b.Trace
	},
	set: func(b *Bench, text string) error {
		if !slices.Contains(traceWords, text) {
			return usage("trace %q: use %s%s", text, strings.Join(traceWords, ", "), didYouMean(text, traceWords))
		}
		if b.Trace = text; text == traceWords[0] {
			b.Trace = ""
		}
		return nil
	},
	turn: func(b *Bench, steps int, _ bool) string {
		now := b.Trace
		if now == "" {
			now = traceWords[0]
		}
		return cycle(traceWords, now, steps)
	},
	detail: func(b *Bench) string {
		if b.Trace == "" {
			return ""
		}
		return "costs some of the rate"
	},
}}
