package nic

func (v *view) qdiscSettings() []Setting { return nil }
