package control

import (
	"context"
	"fmt"
	"time"

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
	p, err := presets.Load(name)
	if err != nil {
		return "", err
	}
	// All that it will do is tried on a copy before anything changes.
	b := r.Bench()
	if why := knob.LacksAll(b, p.Needs); why != "" {
		return "", usage("preset %s: %s", p.Name, why)
	}
	if _, err := knob.SetAll(b, p.Knobs); err != nil {
		return "", err
	}
	if err := knob.Rehearse(b, p.Steps, nil); err != nil {
		return "", err
	}
	if err := r.turnAll("preset "+p.Name, p.Knobs); err != nil {
		return "", err
	}
	ctx, run := r.newSteps()
	switch {
	case len(p.Steps) == 0:
		return "preset " + p.Name, nil
	case run == nil:
		return "preset " + p.Name + ": its steps wait for frames: start, and call it again", nil
	}
	r.spawn(func() { r.playSteps(ctx, p.Name, p.Steps) })
	return fmt.Sprintf("preset %s: %d steps", p.Name, len(p.Steps)), nil
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

// Progress is where the steps of a preset or a script are.
type Progress struct {
	Name  string // of the preset; "script"
	At    int    // the step under way, from 0
	Steps []string
	Until time.Time // the end of a wait, zero in another step
}

// newSteps ends the steps of an earlier preset and gives the life of new ones: a part of the run under way, whose context is nil where there is none.
func (r *Run) newSteps() (ctx, run context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.endSteps != nil {
		r.endSteps()
		r.endSteps = nil
	}
	if r.ctx == nil || r.ctx.Err() != nil {
		return nil, nil
	}
	ctx, r.endSteps = context.WithCancel(r.ctx)
	return ctx, r.ctx
}

// progressed puts one step in the place of another, nil for none; steps that another preset has ended change nothing more.
func (r *Run) progressed(old, next *Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.progress == old || old == nil {
		r.progress = next
	}
}
