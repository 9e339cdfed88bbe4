package presets

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Save keeps a preset as one of the user's own and returns its file. The name must be new: errors.Is(err, ErrExists) holds for one of the
// user's own, which Replace would overwrite, and for an embedded one, which nothing overwrites. The file is there whole or not at all.
func Save(name string, p Preset) (path string, err error) { return save(name, p, false) }

// Replace is Save that may overwrite one of the user's own presets.
func Replace(name string, p Preset) (path string, err error) { return save(name, p, true) }

func save(name string, p Preset, replace bool) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	if isBuiltin(name) {
		return "", problem(ErrExists, "preset %s is embedded: save it under another name", name)
	}
	dir, ok := userDir()
	if !ok {
		return "", errors.New("save preset: no home directory: set HOME or XDG_CONFIG_HOME")
	}
	path := filepath.Join(dir, name+ext)
	data := Marshal(p)
	// What cannot be loaded again is not written.
	if again, err := decode(path, data); err != nil {
		return "", fmt.Errorf("save preset: %w", err)
	} else if !bytes.Equal(Marshal(again), data) {
		return "", problem(nil, "save preset %s: its text does not survive a file", name)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("save preset: %w", err)
	}
	if err := write(path, data, replace); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return "", problem(ErrExists, "preset %s exists: take another name, or overwrite it: save %s replace", name, name)
		}
		return "", fmt.Errorf("save preset: %w", err)
	}
	return path, nil
}

// write makes the file at once: a temporary one in the same folder gets its name when it is whole. Without replace, fs.ErrExist where
// there is one of that name.
func write(path string, data []byte, replace bool) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".*.tmp") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already where it was renamed
	if _, err = tmp.Write(data); err == nil {
		err = tmp.Sync()
	}
	if err := errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	if replace {
		return os.Rename(tmp.Name(), path)
	}
	return os.Link(tmp.Name(), path) // refuses an existing name, unlike rename
}
