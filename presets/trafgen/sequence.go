package trafgen

import (
	"math"
	"math/bits"

	"wirespeed/engine/frame"
)

// byteCounter is dinc() or ddec() as a byte: trafgen moves it before each frame, the first too, in eight bits and with C's idea of a remainder.
// Such a sequence may begin outside of what it then repeats.
func byteCounter(at int, e *elem) frame.Field {
	f := frame.Field{Offset: at, Len: 1, Op: frame.List}
	span := int(e.to - e.from + 1)
	now := byte(e.from)
	if e.what == countDown {
		now = byte(e.to)
	}
	var seen [256]int // index in Values + 1
	for {
		moved := int(now - byte(e.from))
		if e.what == countUp {
			moved += int(e.step)
		} else {
			moved -= int(e.step)
		}
		now = byte(moved%span) + byte(e.from)
		if seen[now] > 0 {
			f.Again = seen[now] - 1
			return f
		}
		f.Values = append(f.Values, uint64(now))
		seen[now] = len(f.Values)
	}
}

// counterField is dinc() of a header's field: its value, then each time (value + step) modulo (max + 1), and min where that is less. All is
// computed in 32 bits and cut to the field. mask are the field's bits, 0 all of n bytes; start is the value that the field had.
func counterField(at, n int, mask, start uint32, v *value) ([]frame.Field, error) {
	width := 8 * n
	if mask != 0 {
		width = bits.OnesCount32(mask)
	}
	most := uint64(1)<<width - 1
	f := frame.Field{Offset: at, Len: n, Mask: uint64(mask), Op: frame.Increment, To: most, Step: uint64(v.step)}
	limit := v.max
	if limit == 0 {
		limit = math.MaxUint32 - 1
	}
	next := func(x uint32) uint32 { return max(uint32(uint64(x+v.step)%(uint64(limit)+1)), v.min) }
	if v.ruled {
		start = v.min
	}
	if v.min == 0 && limit >= math.MaxUint32-1 {
		// The modulus is one less than 2^32, which a field of fewer bits never sees, and one of 32 only if the sequence meets the missing value.
		if width == 32 && v.step == 1 && limit != math.MaxUint32 && start != math.MaxUint32 {
			f.To--
		}
		if f.Start = uint64(start) & most; v.step == 1 || !meets(start, v.step, math.MaxUint32) {
			return []frame.Field{f}, nil
		}
	}
	if v.min == 0 && uint64(v.max) <= most && uint64(v.step)+uint64(v.max) <= math.MaxUint32 && v.max != 0 {
		f.To = uint64(v.max)
		return []frame.Field{f}, nil
	}
	if v.step == 1 && v.max != 0 && uint64(v.max) <= most {
		f.From, f.To = uint64(v.min), uint64(v.max)
		return []frame.Field{f}, nil
	}
	// Anything else is a list, up to the first value that was there before.
	f = frame.Field{Offset: at, Len: n, Mask: uint64(mask), Op: frame.List}
	seen := map[uint32]int{}
	for x := start; ; x = next(x) {
		if again, ok := seen[x]; ok {
			f.Again = again
			return []frame.Field{f}, nil
		}
		if seen[x] = len(f.Values); len(f.Values) >= maxValues {
			return nil, v.pos.errorf("dinc(%d, %d, %d) goes through more than %d values before it repeats", v.min, v.max, v.step, maxValues)
		}
		f.Values = append(f.Values, uint64(x)&most)
	}
}

// meets says whether a sequence comes to a value soon.
func meets(x, step, value uint32) bool {
	for range maxValues {
		if x += step; x == value {
			return true
		}
	}
	return false
}
