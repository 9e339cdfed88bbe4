package engine

import (
	"errors"
	"strings"
	"testing"
	"time"

	"wirespeed/engine/xdp"
)

// maySink says whether this process may load BPF; where not, it asserts that the engine says so and goes on without a sink.
func maySink(t *testing.T, tx, rx Device) bool {
	t.Helper()
	if xdp.Available() == nil {
		return true
	}
	cfg := base(t, tx, "20kpps")
	e := started(t, tx, rx, cfg, Limit{Count: 1000})
	with := cfg
	with.Sink.XDP = true
	if err := e.Apply(with); !errors.Is(err, ErrNotPermitted) || !strings.Contains(err.Error(), "run") || strings.Contains(err.Error(), "\n") {
		t.Errorf("refused: %v", err)
	}
	if e.Config().Sink.XDP {
		t.Error("a refused sink is in the configuration")
	}
	if s := finish(t, e, 20*time.Second); s.Arrived.Count != 1000 || s.Sink != nil {
		t.Errorf("%d arrived, sink %+v", s.Arrived.Count, s.Sink)
	}
	if _, err := Open(tx, &rx, with); !errors.Is(err, ErrNotPermitted) {
		t.Errorf("open: %v", err)
	}
	return false
}

// TestSinkCountsToTheFrame: with the sink on from the start, switched on and off while frames flow, in front of a receiver and without one,
// what arrived is what the sender's device counted.
func TestSinkCountsToTheFrame(t *testing.T) {
	for _, c := range []struct {
		name  string
		edit  func(c *Config)
		while func(t *testing.T, e *Engine)
		sink  func(s *SinkSnapshot) bool
	}{
		{"from the start", func(c *Config) { c.Sink.XDP = true }, nil, func(s *SinkSnapshot) bool { return s.Ours == 20000 && s.Passed == 0 }},
		{
			"without a receiver", func(c *Config) { c.Sink = Sink{true, 100}; c.Receive = false }, nil,
			func(s *SinkSnapshot) bool { return s.Ours == 20000 && s.Passed == 200 },
		},
		{
			"every tenth goes up", func(c *Config) { c.Sink = Sink{true, 10} }, nil,
			func(s *SinkSnapshot) bool { return s.Ours == 20000 && s.Passed == 2000 },
		},
		{"switched while frames flow", func(*Config) {}, func(t *testing.T, e *Engine) {
			for i := range 6 {
				time.Sleep(30 * time.Millisecond)
				cfg := e.Config()
				cfg.Sink = Sink{XDP: i%2 == 0, Every: 7}
				if !cfg.Sink.XDP {
					cfg.Sink.Every = 0
				}
				if err := e.Apply(cfg); err != nil {
					t.Fatal(err)
				}
			}
		}, nil},
		{"another stream while frames flow", func(c *Config) { c.Sink.XDP = true }, func(t *testing.T, e *Engine) {
			for i := range 5 {
				time.Sleep(30 * time.Millisecond)
				cfg := e.Config()
				cfg.Frame.SrcPort += uint16(i)
				if err := e.Apply(cfg); err != nil {
					t.Fatal(err)
				}
			}
		}, func(s *SinkSnapshot) bool { return s.Ours == 20000 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			tx, rx := pair(t, 1)
			if !maySink(t, tx, rx) {
				return
			}
			cfg := base(t, tx, "50kpps")
			c.edit(&cfg)
			before := counter(t, "v0", "tx_packets")
			e := started(t, tx, rx, cfg, Limit{Count: 20000})
			if c.while != nil {
				c.while(t, e)
			}
			s := finish(t, e, 20*time.Second)
			for end := time.Now().Add(10 * time.Second); s.Arrived.Count < 20000 && time.Now().Before(end); time.Sleep(time.Millisecond) {
				e.Snapshot(&s) // with XDP a veth pair has a ring between its ends, that is emptied later
			}
			dropped := counter(t, "v0", "tx_dropped") // and that may overflow while the machine is busy
			if sent := counter(t, "v0", "tx_packets") - before; !s.Arrived.OK || s.Arrived.Count != sent || sent+dropped != 20000 {
				t.Errorf("the device sent %d and dropped %d, %d arrived (known: %t)", sent, dropped, s.Arrived.Count, s.Arrived.OK)
			}
			if c.sink == nil {
				if s.Sink != nil {
					t.Errorf("sink %+v", s.Sink)
				}
			} else if s.Sink == nil || dropped == 0 && !c.sink(s.Sink) {
				t.Errorf("sink %+v", s.Sink)
			}
		})
	}
}
