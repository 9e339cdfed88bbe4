package engine

import (
	"fmt"

	"wirespeed/engine/tpacket"
)

// kind is how frames stand in slots.
type kind uint8

const (
	linear    kind = iota // a frame a slot, copied by the kernel into the linear part of its buffer
	plain                 // a frame a slot, the kernel refers to the ring's pages
	segmented             // a super-frame a slot, cut into frames behind the queueing discipline
)

// String returns the kind's word.
func (k kind) String() string { return [...]string{"linear", "plain", "segmented"}[k] }

// lane is one ring as a worker uses it: the slots tail..head-1, counted since it was opened, are the kernel's, all others are ours. A worker has
// one for frames and one for super-frames, and fills one at a time.
type lane struct {
	ring       *tpacket.Ring
	head, tail uint64
	headSlot   int
	tailSlot   int
	content    []uint64 // what stands in a slot: serial of the plan, kind, frames
	have       []int32  // bytes of that, where frames of one plan differ in length
	refusals   int      // of the slot at tail
	pending    bool     // the last slot posted waits for another kick
}

func newLane(r *tpacket.Ring) lane {
	return lane{ring: r, content: make([]uint64, r.Slots()), have: make([]int32, r.Slots())}
}

// key packs what stands in a slot into one word; the number of frames takes the lowest byte.
func key(serial uint64, k kind, frames int) uint64 { return serial<<16 | uint64(k)<<8 | uint64(frames) }

func framesIn(key uint64) uint64 { return key & 0xff }

func (l *lane) free() int { return len(l.content) - int(l.head-l.tail) }

func (l *lane) empty() bool { return l.head == l.tail }

// stage puts the slot at head behind those that post gives to the kernel.
func (l *lane) stage(first int) {
	if l.headSlot != first {
		l.ring.Stage(l.headSlot)
	}
	l.head++
	if l.headSlot++; l.headSlot == len(l.content) {
		l.headSlot = 0
	}
}

// post gives the kernel all slots from the first one staged on; there must be one.
func (l *lane) post(first int) { l.ring.Post(first) }

// reap takes back the slots that the kernel has let go of, in order, and returns the frames in them. refused means that the kernel
// stands at the slot at tail because it could make no frame of it.
func (l *lane) reap() (frames uint64, refused bool) {
	slot, left := l.tailSlot, l.head-l.tail
	for ; left > 0; left-- {
		var free bool
		if free, refused = l.ring.Look(slot); !free || refused {
			break
		}
		frames += framesIn(l.content[slot])
		if slot++; slot == len(l.content) {
			slot = 0
		}
	}
	if frames > 0 { // not slot != tailSlot: a whole ring may have come back
		l.refusals = 0
	}
	l.tailSlot, l.tail = slot, l.head-left
	return frames, refused
}

// repost offers a refused slot again as it is. After maxRefusals it gives up: the frame itself must be at fault.
func (l *lane) repost() error {
	if l.refusals++; l.refusals > maxRefusals {
		return fmt.Errorf("the kernel refused a slot %d times (TP_STATUS_WRONG_FORMAT)", maxRefusals)
	}
	l.ring.Post(l.tailSlot)
	l.pending = true
	return nil
}

// maxRefusals of one slot, then the worker fails.
const maxRefusals = 3

// kicked notes, after a kick, whether the last slot was looked at; if not, it leaves with another kick.
func (l *lane) kicked() {
	last := l.headSlot - 1
	if last < 0 {
		last = len(l.content) - 1
	}
	l.pending = !l.empty() && l.ring.Requested(last)
}

// refused says whether the kernel stopped at one of the slots it has.
func (l *lane) refused() bool {
	slot := l.tailSlot
	for range l.head - l.tail {
		if l.ring.Refused(slot) {
			return true
		}
		if slot++; slot == len(l.content) {
			slot = 0
		}
	}
	return false
}
