package control

import (
	"wirespeed/presets"
	"wirespeed/presets/knob"
)

// loadPreset gives a preset's knobs and steps.
func loadPreset(name string) ([]Setting, []Step, error) {
	p, err := presets.Load(name)
	return p.Knobs, p.Steps, err
}

// preset turns the knobs of a preset as one change and goes through its steps on its own time.
func (r *Run) preset(name string) (string, error) {
	settings, steps, err := loadPreset(name)
	if err != nil {
		return "", err
	}
	if err := r.turnAll("preset "+name, settings); err != nil {
		return "", err
	}
	if len(steps) == 0 {
		return "preset " + name, nil
	}
	r.mu.Lock()
	ctx := r.ctx
	r.mu.Unlock()
	if ctx == nil || ctx.Err() != nil {
		return "preset " + name + ": its steps wait for frames: start, and call it again", nil
	}
	r.spawn(func() { r.playSteps(ctx, steps) })
	return "preset " + name, nil
}

// save keeps the present knobs as a preset of the user's own.
func (r *Run) save(name string, replace bool) (string, error) {
	keep := presets.Save
	if replace {
		keep = presets.Replace
	}
	path, err := keep(name, presets.Preset{Name: name, Knobs: knob.Settings(r.Bench())})
	if err != nil {
		return "", err
	}
	said := "saved " + path
	r.log.add("", said)
	return said, nil
}
