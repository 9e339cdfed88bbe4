package control

import (
	"wirespeed/engine"
	"wirespeed/presets/knob"
)

// SinkView is what drops our frames at the receiving device, and what it has counted since it was switched on.
type SinkView = engine.SinkSnapshot

// saySink tells in the log what a sink that has just been switched on is, and whether it costs more than it saves. The caller holds cmd, or is
// open.
func (r *Run) saySink(was, now engine.Config) {
	if !now.Sink.XDP || was.Sink == now.Sink {
		return
	}
	var s engine.Snapshot
	r.eng.Snapshot(&s)
	if s.Sink == nil {
		return
	}
	where := "in the driver (native mode)"
	if s.Sink.Why != "" {
		where = "after the driver, in generic mode, which saves less: " + s.Sink.Why
	}
	r.log.add("", "sink xdp on "+r.rxLink.Name+" counts and drops our frames "+where)
	r.mu.Lock()
	b := r.bench()
	r.mu.Unlock()
	b.Config = now
	if knob.SinkSlows(b) {
		r.log.add("", "this sink makes it slower: veth drops frames to a foreign MAC sooner; it saves where they go to "+r.rxLink.Name+"'s own")
	}
}
