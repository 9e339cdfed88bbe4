package control

import "wirespeed/engine/meter"

// regimeWord is the regime as of the last look, "" where it is not known. The caller holds mu.
func (r *Run) regimeWord() string {
	if r.gauged == nil || r.gauged.Regime == meter.RegimeUnknown {
		return ""
	}
	return string(r.gauged.Regime)
}
