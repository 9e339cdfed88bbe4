package knob

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"wirespeed/engine"
	"wirespeed/engine/frame"
)

// ReadPackets reads the packets of a trafgen file, as they are sent from a device with a MAC address, and says what an operator will wonder about. The
// room that knows the language sets it, before any knob is turned; nil where nobody does.
var ReadPackets func(path string, mac frame.MAC) (packets []frame.Packet, notes []string, err error)

// The endings of files whose frames can be sent.
var (
	captureEnds = []string{".pcap", ".pcapng", ".cap"}
	trafgenEnds = []string{".cfg", ".trafgen"}
)

// Sendable says whether a path is, by its ending, a file whose frames the knob file sends.
func Sendable(path string) bool { return IsCapture(path) || hasEnd(path, trafgenEnds) }

// IsCapture says whether a path is, by its ending, a capture.
func IsCapture(path string) bool { return hasEnd(path, captureEnds) }

func hasEnd(path string, ends []string) bool {
	for _, e := range ends {
		if strings.EqualFold(filepath.Ext(path), e) {
			return true
		}
	}
	return false
}

// loads are the files read last, so that one is read once for a command line that is rehearsed before it is carried out.
var loads struct {
	sync.Mutex
	list []loaded // newest last
}

type loaded struct {
	path string
	size int64
	at   time.Time // of its last change
	mac  frame.MAC
	load *engine.Load
}

// keptLoads bounds them: captures can be large.
const keptLoads = 2

// openLoad reads a file, or gives what it was read as before if it has not changed since.
func openLoad(path string, mac frame.MAC) (*engine.Load, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, usage("file %s: no such file", path)
	}
	loads.Lock()
	defer loads.Unlock()
	for _, l := range loads.list {
		if l.path == path && l.size == info.Size() && l.at.Equal(info.ModTime()) && l.mac == mac {
			return l.load, nil
		}
	}
	var load *engine.Load
	switch {
	case IsCapture(path):
		load, err = engine.OpenCapture(path)
	case !hasEnd(path, trafgenEnds):
		return nil, usage("file %s: the ending says what it is: %s", path, strings.Join(append(captureEnds, trafgenEnds...), ", "))
	case ReadPackets == nil:
		return nil, usage("file %s: trafgen files are not read yet", path)
	default:
		load = &engine.Load{Name: path}
		load.Packets, load.Notes, err = ReadPackets(path, mac)
	}
	if err != nil {
		return nil, refused(err)
	}
	loads.list = append(loads.list, loaded{path, info.Size(), info.ModTime(), mac, load})
	if len(loads.list) > keptLoads {
		loads.list = loads.list[1:]
	}
	return load, nil
}

// forever is the number of loops that has no end.
const forever = "forever"

// files are the knobs of frames that come from a file.
var files = []Knob{
	{
		Name: "file", Group: File, Local: true,
		Help:    "a capture whose frames are sent again, or a trafgen file, in the place of the frames that size and the headers describe",
		Default: "`none`", Values: "`none`, or a path that ends in " + strings.Join(append(captureEnds, trafgenEnds...), ", "),
		words: []string{"none"},
		get: func(b *Bench) string {
			if b.Config.Load == nil {
				return "none"
			}
			return b.Config.Load.Name
		},
		set: func(b *Bench, text string) error {
			if text == "none" {
				b.Config.Load = nil
				return nil
			}
			l, err := openLoad(text, b.Device.MAC)
			if err != nil {
				return err
			}
			b.Config.Load = l
			return nil
		},
		detail: func(b *Bench) string {
			if b.Config.Load == nil {
				return ""
			}
			parts := append([]string{b.Config.Load.About()}, b.Config.Load.Left(b.Device)...)
			return strings.Join(parts, ", ")
		},
	},
	{
		Name: "loop", Group: File,
		Help:    "times that a capture is sent; the run ends after the last",
		Default: "1", Values: "1 and more, or `forever`; from the next start on",
		words:  []string{forever},
		reason: noCapture,
		get: func(b *Bench) string {
			if b.Config.Replay.Loops == 0 {
				return forever
			}
			return strconv.FormatUint(b.Config.Replay.Loops, 10)
		},
		set: func(b *Bench, text string) error {
			if text == forever {
				b.Config.Replay.Loops = 0
				return nil
			}
			n, err := number("loop", text, 1, 1<<31-1)
			if err != nil {
				return usage("%v, or forever", err)
			}
			b.Config.Replay.Loops = uint64(n)
			return nil
		},
	},
	{
		Name: "timing", Group: File,
		Help:    "when the frames of a capture leave: as rate says, or at the times at which they were captured, so many times as fast",
		Default: "`rate`", Values: "`rate`, `capture`, or a factor: `2x`, `0.1x`",
		words:  []string{"rate", "capture"},
		reason: noCapture,
		get: func(b *Bench) string {
			switch t := b.Config.Replay.Timing; t {
			case 0:
				return "rate"
			case 1:
				return "capture"
			default:
				return strconv.FormatFloat(t, 'f', -1, 64) + "x"
			}
		},
		set: func(b *Bench, text string) error {
			switch text {
			case "rate":
				b.Config.Replay.Timing = 0
				return nil
			case "capture":
				b.Config.Replay.Timing = 1
				return nil
			}
			digits, found := strings.CutSuffix(text, "x")
			f, err := strconv.ParseFloat(digits, 64)
			if !found || err != nil || strings.Trim(digits, "0123456789.") != "" || f < 1/float64(engine.MaxTiming) || f > engine.MaxTiming {
				return usage("timing %q: use rate, capture, or a factor of its speed from 0.000001x to 1000000x, as in 2x", text)
			}
			b.Config.Replay.Timing = f
			return nil
		},
		detail: func(b *Bench) string {
			t := b.Config.Replay.Timing
			if t == 0 {
				return ""
			}
			l := b.Config.Load.Capture
			return fmt.Sprintf("%s a loop", short(time.Duration(float64(l.Time(l.Len()-1))/t)))
		},
	},
}

// noCapture is the reason why a knob of captures has no effect.
func noCapture(b *Bench) string {
	if b.Config.Load == nil || b.Config.Load.Capture == nil {
		return "no capture is sent: choose one with file"
	}
	return ""
}
