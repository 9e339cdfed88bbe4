package control

import (
	"fmt"

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
	said := fmt.Sprintf("sink xdp on %s, in the driver (native mode)", r.rxLink.Name)
	if s.Sink.Why != "" {
		said = fmt.Sprintf("sink xdp on %s, after the driver (generic mode saves less): %s", r.rxLink.Name, s.Sink.Why)
	}
	r.mu.Lock()
	b := r.bench()
	r.mu.Unlock()
	b.Config = now
	if knob.SinkSlows(b) {
		said += ": slower here, for veth drops frames to a foreign MAC sooner"
	}
	r.log.add("", said)
}
