package presets

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"

	"wirespeed/engine/pcap"
	"wirespeed/presets/knob"
)

// recordOf is one frame of a capture: lab.pcapng#3.
var recordOf = regexp.MustCompile(`^(.+)#(\d{1,8})$`)

// isRecord says whether an argument names one frame of a capture.
func isRecord(arg string) bool {
	m := recordOf.FindStringSubmatch(arg)
	return m != nil && knob.IsCapture(m[1])
}

// ofRecord is the preset that sends one frame of a capture over and over, as the bytes of the knob hex, so that rate, burst and size can be turned.
func ofRecord(arg string) (Preset, error) {
	m := recordOf.FindStringSubmatch(arg)
	path := m[1]
	f, err := pcap.Open(path)
	if err != nil {
		return Preset{}, problem(err, "preset %s: %v", path, err)
	}
	n, _ := strconv.Atoi(m[2])
	if n < 1 || n > f.Len() {
		return Preset{}, problem(nil, "preset %s: there are frames 1 to %d that can be sent", arg, f.Len())
	}
	b := f.Frame(n - 1)
	return Preset{
		Name: filepath.Base(arg), Path: path, Title: fmt.Sprintf("Frame %d of %s, over and over", n, filepath.Base(path)), Text: fileText,
		Knobs: []knob.Setting{{Knob: "size", Value: strconv.Itoa(max(60, len(b)))}, {Knob: "hex", Value: hex.EncodeToString(b)}},
	}, nil
}
