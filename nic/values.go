package nic

// Value is a setting and what it is.
type Value struct {
	Setting
	Now  string // as Read returns it, "" unknown
	Ours bool   // this session has changed it (told by Guard.Values alone)
}

// Values lists the settings of Settings with their present values, all from one look: as cheap as Settings.
func (d *Device) Values() []Value {
	v := d.view()
	var list []Value
	for _, s := range v.settings() {
		if !s.sending() {
			continue
		}
		text, err := s.readIn(v)
		if err != nil {
			text = ""
		}
		list = append(list, Value{Setting: s, Now: text})
	}
	return list
}

// Values are those of the device, and which of them this session has changed. It waits while a setting is being changed.
func (g *Guard) Values() []Value {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := g.d.Values()
	for i := range list {
		for _, e := range g.j.Changes {
			list[i].Ours = list[i].Ours || e.Name == list[i].Name
		}
	}
	return list
}
