package presets

import (
	"os"
	"path/filepath"

	"wirespeed/engine/frame"
	"wirespeed/presets/knob"
	"wirespeed/presets/trafgen"
)

func init() { knob.ReadPackets = readTrafgen } // knob does not know the language

// readTrafgen reads a trafgen file.
func readTrafgen(path string, mac frame.MAC) (packets []frame.Packet, notes []string, err error) {
	f, err := trafgen.Read(path)
	if err != nil {
		return nil, nil, err
	}
	const seed = 1 // the same random bytes in each run
	packets, warnings, err := f.Compile(trafgen.Device{MAC: mac}, seed)
	for _, w := range warnings {
		notes = append(notes, w.String())
	}
	return packets, notes, err
}

// fileText is what to look at where frames come from a file.
const fileText = "Look at the frames themselves first (v), then at the ladder: what such frames cost, and whether all of them arrive."

// ofFile is the preset that sends what a file holds. A trafgen file is read here, so that what is wrong with it is said wherever it is chosen.
func ofFile(path string) (Preset, error) {
	if _, err := os.Stat(path); err != nil {
		return Preset{}, problem(ErrNotFound, "preset %s: no such file", path)
	}
	p := Preset{
		Name: filepath.Base(path), Path: path, Title: "The frames of " + filepath.Base(path), Text: fileText,
		Knobs: []knob.Setting{{Knob: "file", Value: path}},
	}
	if !knob.IsCapture(path) {
		f, err := trafgen.Read(path)
		if err != nil {
			return Preset{}, problem(err, "%v", err)
		}
		p.Title += ": " + f.About()
	}
	return p, nil
}
