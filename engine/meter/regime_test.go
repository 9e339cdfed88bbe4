package meter

import "testing"

func TestRegimeOf(t *testing.T) {
	f := func(x float64) *float64 { return &x }
	base := Signs{Sending: true, Queue: "pfifo_fast", Looks: 60, OneQueue: true, FrameBytes: 60}
	with := func(change func(*Signs)) Signs {
		s := base
		change(&s)
		return s
	}
	for _, c := range []struct {
		name  string
		signs Signs
		want  Regime
		why   string
	}{
		{"nothing is sent", Signs{}, RegimeUnknown, "nothing is sent"},
		{"no looks yet", with(func(s *Signs) { s.Looks = 4 }), RegimeUnknown, "too few looks at the queue yet"},
		{"an empty queue", base, Direct, "the queue was empty in 100 % of the looks: frames go straight to the driver"},
		{"an almost empty one", with(func(s *Signs) { s.Waiting = 0.004 }), Direct, "the queue was empty in over 99 % of the looks: frames go straight to the driver"},
		{"no queue", with(func(s *Signs) { s.Queue, s.Looks = "", 0 }), Direct, "no queue to wait in (noqueue): each frame goes straight to the driver"},
		{"the bypass", with(func(s *Signs) { s.Bypass, s.Looks = true, 0 }), Direct, "the bypass leads past the queue: each frame goes straight to the driver"},
		{"a backlog now and then", with(func(s *Signs) { s.Waiting, s.Backlog = 0.4, 1.25 }), Queued, "backlog 1.2 in 40 % of the looks"},
		{"a standing backlog", with(func(s *Signs) { s.Waiting, s.Backlog = 1, 38 }), Queued, "backlog 38.0"},
		{"without BQL nothing proves bulks", with(func(s *Signs) { s.Waiting, s.Backlog = 1, 380 }), Queued, "backlog 380.0"},
		{"a shaper of the whole device does not bulk", with(func(s *Signs) {
			s.Waiting, s.Backlog, s.OneQueue, s.InFlight, s.Limit = 1, 38, false, f(100), f(3000)
		}), Queued, "backlog 38.0"},
		{"bulks, seen", with(func(s *Signs) { s.Waiting, s.Backlog, s.Bulk = 1, 38, f(7.94) }), Bulking, "backlog 38.0, 7.9 frames a bulk"},
		{"single frames, seen, whatever BQL would allow", with(func(s *Signs) {
			s.Waiting, s.Backlog, s.Bulk, s.InFlight, s.Limit = 1, 38, f(1), f(100), f(3000)
		}), Queued, "backlog 38.0, 1.0 frames a bulk"},
		{"bulks, proved by BQL", with(func(s *Signs) {
			s.Waiting, s.Backlog, s.InFlight, s.Limit = 1, 38, f(2400), f(3000)
		}), Bulking, "backlog 38.0; byte queue limits leave room for 10.0 frames at once"},
		{"room for one frame proves nothing", with(func(s *Signs) {
			s.Waiting, s.Backlog, s.InFlight, s.Limit = 1, 38, f(2920), f(3000)
		}), Queued, "backlog 38.0"},
		{"BQL is full", with(func(s *Signs) {
			s.Waiting, s.Backlog, s.InFlight, s.Limit = 1, 38, f(2990), f(3000)
		}), Limited, "byte queue limits are the limit: 2,990 of 3,000 bytes are in the device; backlog 38.0"},
		{
			"the driver gives back", with(func(s *Signs) { s.Waiting, s.Backlog, s.Requeues = 0.97, 200, 28498 }), Limited,
			"the driver is the limit: it gave frames back 28,498 times a second (requeues); backlog 200.0",
		},
		{"rare requeues decide nothing", with(func(s *Signs) { s.Waiting, s.Backlog, s.Requeues = 1, 200, 3 }), Queued, "backlog 200.0"},
		{
			"the link", with(func(s *Signs) {
				s.Waiting, s.Backlog, s.Percent, s.Link, s.Bulk = 1, 505, f(99.98), "100 Mbit/s", f(7.9)
			}), Limited,
			"the link is the limit: 100.0 % of 100 Mbit/s; backlog 505.0, 7.9 frames a bulk",
		},
		{"not quite the link", with(func(s *Signs) { s.Waiting, s.Backlog, s.Percent, s.Link = 1, 505, f(95), "100 Mbit/s" }), Queued, "backlog 505.0"},
		{
			"the link, with an empty queue", with(func(s *Signs) { s.Percent, s.Link = f(100), "1 Gbit/s" }), Limited,
			"the link is the limit: 100.0 % of 1 Gbit/s; the queue is empty: frames wait in the device",
		},
		{"the link, on the bypass", with(func(s *Signs) { s.Bypass, s.Percent, s.Link = true, f(100), "1 Gbit/s" }), Limited, "the link is the limit: 100.0 % of 1 Gbit/s"},
		{
			"the link, without a queue", with(func(s *Signs) { s.Queue, s.Percent, s.Link = "", f(100), "1 Gbit/s" }), Limited,
			"the link is the limit: 100.0 % of 1 Gbit/s; there is no queue to wait in",
		},
		{"the driver, on the bypass", with(func(s *Signs) { s.Bypass, s.NotTaken = true, 12000 }), Limited, "the driver is the limit: it took nothing 12,000 times a second"},
		{
			"a shaper of unknown speed", with(func(s *Signs) { s.Queue, s.Waiting, s.Backlog, s.Overlimits = "tbf", 1, 500, 90000 }), Limited,
			"the shaper is the limit: it held frames back 90,000 times a second; backlog 500.0",
		},
		{"a shaper that holds back some", with(func(s *Signs) { s.Queue, s.Waiting, s.Backlog, s.Overlimits = "tbf", 0.2, 3, 900 }), Queued, "backlog 3.0 in 20 % of the looks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r, why := RegimeOf(c.signs); r != c.want || why != c.why {
				t.Errorf("%s: %s\nwant %s: %s", r, why, c.want, c.why)
			}
		})
	}
}
