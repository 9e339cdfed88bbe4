package control

import "wirespeed/engine/meter"

// regimeWord is the regime as of the last look, "" where it is not known. The caller holds mu.
func (r *Run) regimeWord() string {
	if r.gauged == nil {
		return ""
	}
	return ruling(r.gauged.Regime)
}

// regimeOf is the regime that ruled between two looks, from what the instruments saw in between; "" where they do not say. The caller holds mu.
func (r *Run) regimeOf(from, to look, percent *float64) string {
	f := frameSetting{bytes: r.sent(from, to).Size(), segmented: r.rows.slots() == "segmented"}
	out := r.inst.figures(to.at, from.at, f)
	s := r.signs(&out, f, from, to)
	if percent != nil && r.engDev.Speed > 0 {
		s.Percent, s.Link = percent, speedWords(r.engDev.Speed)
	}
	out.rule(s)
	return ruling(out.Regime)
}

// ruling is a regime as a word, "" for one that is not known.
func ruling(regime meter.Regime) string {
	if regime == meter.RegimeUnknown {
		return ""
	}
	return string(regime)
}
