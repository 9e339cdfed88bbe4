package presets

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"wirespeed/presets/knob"
)

// Errors that callers tell apart with errors.Is. A file that cannot be understood, and a name that cannot be one, are knob.ErrUsage.
var (
	ErrNotFound = errors.New("no such preset") // such an error is knob.ErrUsage too
	ErrExists   = errors.New("preset exists")
)

// Preset is one experiment.
type Preset struct {
	Name  string
	Title string         // one line
	Text  string         // what to look at; lines end in "\n", the last one does not
	Needs []knob.Need    // what it cannot do without
	Knobs []knob.Setting // in the panel's order, each knob at most once
	Steps []knob.Step    // their Where names the place in the file

	Path string // of its file, "" for an embedded one
	Err  error  // in List only: why this one cannot be used, one line
}

//go:embed builtin/*.toml
var builtin embed.FS

const (
	ext     = ".toml"
	maxFile = 1 << 20 // bytes; a preset is some hundred
)

// isPath says whether an argument is a file rather than a name.
func isPath(arg string) bool { return strings.ContainsRune(arg, '/') || strings.HasSuffix(arg, ext) }

// Load returns the preset of a name, embedded or the user's, or of a file: an argument with a / or the ending .toml. A capture
// or a trafgen file is a preset that sends it; what is in it is for the knob to find out. errors.Is: ErrNotFound,
// and knob.ErrUsage for whatever the user can put right.
func Load(nameOrPath string) (Preset, error) {
	if isRecord(nameOrPath) {
		return ofRecord(nameOrPath)
	}
	if knob.Sendable(nameOrPath) {
		return ofFile(nameOrPath)
	}
	if isPath(nameOrPath) {
		return loadFile(nameOrPath, nameOrPath)
	}
	if p, ok, err := loadBuiltin(nameOrPath); ok {
		return p, err
	}
	if err := CheckName(nameOrPath); err != nil {
		return Preset{}, err
	}
	if dir, ok := userDir(); ok {
		p, err := loadFile(filepath.Join(dir, nameOrPath+ext), nameOrPath)
		if !errors.Is(err, ErrNotFound) {
			return p, err
		}
	}
	return Preset{}, problem(ErrNotFound, "no preset %q: wirespeed presets lists them, and a file needs a / or an ending: %s, .cfg, .trafgen, .pcap, .pcapng", nameOrPath, ext)
}

// List returns all presets, the embedded first, each kind by name. One that cannot be used has its Err set and does not hide the others; the
// error is for the user's folder as a whole.
func List() ([]Preset, error) {
	var list []Preset
	entries, err := builtin.ReadDir("builtin")
	if err != nil {
		return nil, fmt.Errorf("list embedded presets: %w", err)
	}
	for _, e := range entries {
		p, _, err := loadBuiltin(strings.TrimSuffix(e.Name(), ext))
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	dir, ok := userDir()
	if !ok {
		return list, nil
	}
	entries, err = os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	}
	if err != nil {
		return list, fmt.Errorf("list your presets: %w", err)
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ext)
		if !ok || strings.HasPrefix(name, ".") || e.IsDir() {
			continue
		}
		file := filepath.Join(dir, e.Name())
		p, err := loadFile(file, name)
		if isBuiltin(name) {
			err = problem(ErrExists, "%s: %s is the name of an embedded preset: rename the file, or give its path", file, name)
		}
		if err != nil {
			p = Preset{Name: name, Path: file, Err: err}
		}
		list = append(list, p)
	}
	return list, nil
}

// Complete returns what a line at the ":" prompt can become by one more word, names of presets included.
func Complete(prefix string) []string {
	start, ok := strings.CutPrefix(prefix, string(knob.DoPreset)+" ")
	if !ok {
		return knob.Complete(prefix)
	}
	list, _ := List() // an unreadable folder completes to what there is
	var lines []string
	for _, p := range list {
		if p.Err == nil && strings.HasPrefix(p.Name, strings.TrimLeft(start, " ")) {
			lines = append(lines, string(knob.DoPreset)+" "+p.Name)
		}
	}
	return lines
}

func isBuiltin(name string) bool {
	_, err := fs.Stat(builtin, "builtin/"+name+ext)
	return err == nil
}

func loadBuiltin(name string) (p Preset, ok bool, err error) {
	data, err := builtin.ReadFile("builtin/" + name + ext)
	if err != nil {
		return Preset{}, false, nil
	}
	p, err = decode("preset "+name, data)
	p.Name = name
	return p, true, err
}

// loadFile reads a user's file. arg is what the user called it.
func loadFile(file, arg string) (Preset, error) {
	f, err := os.Open(file)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return Preset{}, problem(ErrNotFound, "preset %s: no such file", arg)
		}
		return Preset{}, problem(err, "preset %s: %v", arg, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return Preset{}, problem(err, "preset %s: %v", arg, err)
	case len(data) > maxFile:
		return Preset{}, problem(nil, "preset %s: longer than %d bytes: this is no preset", arg, maxFile)
	}
	p, err := decode(file, data)
	p.Name, p.Path = strings.TrimSuffix(filepath.Base(file), ext), file
	return p, err
}

// userDir is the folder of the user's presets; ok is false where the user has no home.
func userDir() (dir string, ok bool) {
	config, err := os.UserConfigDir()
	if err != nil {
		return "", false
	}
	return filepath.Join(config, "wirespeed", "presets"), true
}
