package control

import (
	"fmt"

	"wirespeed/nic"
	"wirespeed/nic/check"
	"wirespeed/nic/host"
)

// Check looks at the sending device and at this machine, as `wirespeed check DEV` does: half a second and more. A run under way goes on, and does
// not count as other load.
func (r *Run) Check() ([]check.Finding, error) { return r.parts.check(r.o.Device) }

// checkDevice looks through a handle of its own: the run's belongs to the run.
func checkDevice(name string) ([]check.Finding, error) {
	d, err := nic.Open(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	facts, err := check.Look(host.Live(), d)
	if err != nil {
		return nil, err
	}
	return check.Judge(facts), nil
}

// checkWords is the line check: what is to be mended goes into the log, a finding a line.
func (r *Run) checkWords() (string, error) {
	findings, err := r.Check()
	if err != nil {
		return "", err
	}
	for _, f := range findings {
		if f.State == check.Bad || f.State == check.Warn {
			r.log.add("", fmt.Sprintf("%s: %s: %s; mend it: %s", f.State, f.Title, f.Seen, f.Mend))
		}
	}
	return "check: " + check.Words(findings), nil
}
