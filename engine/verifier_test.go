package engine

import (
	"slices"
	"testing"
	"time"

	"wirespeed/engine/frame"
)

func received(t *testing.T, e *Engine) Received {
	t.Helper()
	r, ok, err := e.Received()
	if err != nil || !ok {
		t.Fatalf("ok %v, %v", ok, err)
	}
	return r
}

func verifying(t *testing.T, tx Device, rate string) Config {
	cfg := base(t, tx, rate)
	cfg.Verify = true
	return cfg
}

// Every kind of slot and path; two runs on one receiver, of which the second begins at 1 again.
func TestEveryFrameOfARunIsVerified(t *testing.T) {
	tx, rx := pair(t, 2)
	for _, c := range []struct {
		name   string
		change func(*Config)
	}{
		{"bypass", func(*Config) {}},
		{"qdisc, two workers", func(c *Config) { c.Path, c.Queues, c.CPUs = QdiscPath, 2, allowedCPUs }},
		{"plain slots", func(c *Config) { c.Slot = SlotPlain }},
		{"a VLAN tag", func(c *Config) { c.Frame.VLAN, c.Frame.Size = 7, 64 }},
		{"a mix of sizes", func(c *Config) {
			m, ok, err := frame.ParseMix("64:7,594:4,1518:1")
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			c.Frame.Sizes, c.Frame.Size = m, m.Most()
		}},
		{"as long as may be", func(c *Config) { c.Frame.Size = 1514 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := verifying(t, tx, "50kpps")
			c.change(&cfg)
			e := started(t, tx, rx, cfg, Limit{Count: 3000})
			for run := uint64(1); run <= 2; run++ {
				s := finish(t, e, 20*time.Second)
				r := received(t, e)
				if want := 3000 * run; r.Counts.Received != want || r.Missing != 0 || r.Duplicates != 0 || r.Reordered != 0 || r.Corrupt != 0 || r.Arrived != want ||
					s.Arrived.Count != want || r.Lost() != 0 || r.Unclear != "" {
					t.Fatalf("run %d: arrived %d, unclear %q, %+v", run, s.Arrived.Count, r.Unclear, r.Counts)
				}
				if l := r.Latency; l == nil || l.Negative != 0 || l.Quantiles().N+l.Untimed != 3000*run || l.Quantiles().Min <= 0 || l.ClockErrNS <= 0 {
					t.Errorf("run %d: latency %+v, %+v", run, l.Quantiles(), *l)
				}
				if run == 1 {
					if err := e.Start(Limit{Count: 3000}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if r := received(t, e); r.Restarts != uint64(cfg.Queues) || len(r.Flows) != cfg.Queues {
				t.Errorf("%d restarts, %d flows", r.Restarts, len(r.Flows))
			}
		})
	}
}

func TestFramesThatTellNothingAreSaidToBeUnclear(t *testing.T) {
	tx, rx := pair(t, 2)
	for _, c := range []struct {
		name   string
		change func(*Config)
		clear  bool
	}{
		{"60 bytes, two workers", func(c *Config) { c.Queues = 2 }, true},
		{"no room for a number", func(c *Config) { c.Frame.VLAN = 7 }, false},
		{"room for a number only, one worker", func(c *Config) { c.Frame.VLAN, c.Frame.Size = 7, 62 }, true},
		{"room for a number only, two workers", func(c *Config) { c.Frame.VLAN, c.Frame.Size, c.Queues = 7, 62, 2 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := verifying(t, tx, "10kpps")
			c.change(&cfg)
			e := started(t, tx, rx, cfg, Limit{Count: 200})
			finish(t, e, 10*time.Second)
			if r := received(t, e); (r.Unclear == "") != c.clear || r.Arrived != 200 {
				t.Errorf("unclear %q, arrived %d", r.Unclear, r.Arrived)
			}
		})
	}
}

// Switched on in the middle of a run, the account begins there; switched to counting and back, it begins anew.
func TestTheReceiverMayBeTurnedWhileFramesFlow(t *testing.T) {
	tx, rx := pair(t, 1)
	cfg := base(t, tx, "20kpps")
	e := started(t, tx, rx, cfg, Limit{})
	for _, verify := range []bool{true, false, true} {
		cfg.Verify = verify
		if err := e.Apply(cfg); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := e.Received(); ok != verify || err != nil {
			t.Errorf("verify %v: ok %v, %v", verify, ok, err)
		}
	}
	for end := time.Now().Add(20 * time.Second); received(t, e).Counts.Received < 100 && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	if err := e.Stop(); err != nil {
		t.Fatal(err)
	}
	if r := received(t, e); r.Counts.Received < 100 || r.Missing != 0 || r.Restarts != 0 {
		t.Errorf("%+v", r.Counts)
	}
}

func TestTheReaderKeepsOffTheWorkersCPUs(t *testing.T) {
	dev := Device{CPUs: []int{0, 1, 2, 3}}
	for _, c := range []struct {
		queues     int
		cpus, want []int
	}{
		{1, []int{0}, []int{1, 2, 3}},
		{2, []int{1, 3}, []int{0, 2}},
		{1, []int{1, 3}, []int{0, 2, 3}},
		{4, []int{0, 1, 2, 3}, []int{0, 1, 2, 3}}, // no other is left
	} {
		cfg := Config{Queues: c.queues, CPUs: c.cpus}
		if got := readerCPUs(cfg.freeCPUs(dev), dev); !slices.Equal(got, c.want) {
			t.Errorf("workers %d on %v: readers on %v, want %v", c.queues, c.cpus, got, c.want)
		}
	}
}
