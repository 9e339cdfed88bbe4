package control

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wirespeed/engine/far"
)

func TestFarSide(t *testing.T) {
	n := func(v uint64) *uint64 { return &v }
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	report := far.Report{Session: 1, Device: "eth1", How: "verify", Arrived: n(1000), Lost: n(7), Reordered: n(2)}
	base := &far.Report{Session: 1, Arrived: n(100), Lost: n(4), Reordered: n(2)}
	late := func(a far.Answer) far.Answer { a.At = now.Add(-300 * time.Millisecond); return a }
	for _, c := range []struct {
		name   string
		answer far.Answer
		base   *far.Report
		taken  uint64
		moving bool
		far    *uint64
		gaps   []string
	}{
		{
			"all arrived", late(far.Answer{Report: report}), base, 900, false, n(900),
			[]string{"far eth1: 900 arrived, 3 lost (0.3 s ago; a:1, verify)"},
		},
		{
			"some did not", late(far.Answer{Report: report}), base, 903, false, n(900),
			[]string{"far eth1: 900 arrived, 3 lost (0.3 s ago; a:1, verify)", "taken, not at the far end: 3 frames lost between the two"},
		},
		{
			"while frames flow they are on the way", late(far.Answer{Report: report}), base, 950, true, n(900),
			[]string{"far eth1: 900 arrived, 3 lost (0.3 s ago; a:1, verify)"},
		},
		{
			"of another sender", late(far.Answer{Report: report}), base, 899, false, n(900),
			[]string{"far eth1: 900 arrived, 3 lost (0.3 s ago; a:1, verify)", "far end above taken: 1 frame of another sender there"},
		},
		{
			"a loss that came after all", late(far.Answer{Report: far.Report{Session: 1, Device: "eth1", How: "verify", Arrived: n(100), Lost: n(3)}}), base, 0, false,
			n(0),
			[]string{"far eth1: 0 arrived, 0 lost (0.3 s ago; a:1, verify)"},
		},
		{
			"counted only", late(far.Answer{Report: far.Report{Session: 1, Device: "eth1", How: "count", Arrived: n(200)}}), base, 100, false, n(100),
			[]string{"far eth1: 100 arrived (0.3 s ago; a:1, count)"},
		},
		{
			"unknown there", late(far.Answer{Report: far.Report{Session: 1, Device: "eth1", How: "count"}}), base, 100, false, nil,
			[]string{"far eth1: arrived - (0.3 s ago; a:1, count)"},
		},
		{
			"lost the connection", late(far.Answer{Report: report, Err: errors.New("no answer")}), base, 900, false, nil,
			[]string{"far a:1 unknown: no answer (0.3 s ago)"},
		},
		{
			"never there",
			far.Answer{Err: errors.New("no such host")},
			nil, 900, false, nil,
			[]string{"far a:1 unknown: no such host (never heard of)"},
		},
		{
			"came late", late(far.Answer{Report: report}), nil, 900, false, nil,
			[]string{"far a:1 unknown: connected after the start: its counts begin elsewhere (r begins them anew) (0.3 s ago)"},
		},
		{
			"another sink", late(far.Answer{Report: report}), &far.Report{Session: 2, Arrived: n(0)}, 900, false, nil,
			[]string{"far a:1 unknown: the sink was started anew: its counts begin elsewhere (r begins them anew) (0.3 s ago)"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newFarSide("a:1", c.answer, c.base, false, now)
			l := Ladder{Taken: c.taken}
			s.farGap(&l, circumstances{moving: c.moving}, false)
			if diff := cmp.Diff(Ladder{Taken: c.taken, Far: c.far, HasFar: true, Gaps: c.gaps}, l); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
