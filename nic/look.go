package nic

import "strings"

// Foreign is a setting that somebody else has changed.
type Foreign struct {
	Name     string
	From, To string
	Ours     bool // this session had set it: it will be left alone
}

// Look tells what somebody else (another ethtool, irqbalance) has changed since the last call; the first tells nothing. Call it once a second.
func (g *Guard) Look() []Foreign {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.saw
	g.look()
	if before == nil {
		return nil
	}
	var list []Foreign
	for _, s := range g.d.view().settings() {
		was, ok := before[s.Name]
		now, there := g.saw[s.Name]
		if !ok || !there || was == now || s.same != nil && s.same(was, now) || drifts(s.Name, g.saw) {
			continue
		}
		f := Foreign{Name: s.Name, From: was, To: now}
		for _, e := range g.j.Changes {
			f.Ours = f.Ours || e.Name == s.Name
		}
		list = append(list, f)
	}
	return list
}

// look keeps what all settings are now. The caller holds mu.
func (g *Guard) look() { g.saw = g.d.texts() }

// drifts tells of a number that the driver itself moves.
func drifts(name string, all map[string]string) bool {
	for _, side := range []string{"rx", "tx"} {
		if strings.HasPrefix(name, "coalesce."+side+"-") && all["coalesce.adaptive-"+side] == "on" {
			return true
		}
	}
	return false
}
