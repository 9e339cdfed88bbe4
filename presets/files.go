package presets

import (
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

// ofFile is the preset that sends what a file holds.
func ofFile(path string) Preset {
	return Preset{Name: filepath.Base(path), Title: "Frames of " + path, Path: path, Knobs: []knob.Setting{{Knob: "file", Value: path}}}
}
