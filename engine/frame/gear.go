package frame

import (
	"encoding/binary"
	"math/bits"
)

// gear is a Field on the move: it knows its present value, so that the next one takes an addition and no division.
type gear struct {
	f     Field
	shift int
	anew  bool // its value is made of the frame's number each time
	links []link

	moved, by uint64 // how far the value is from where it began, and how far it moves from frame to frame of this worker
	count     uint64 // of values; 0 for all of 64 bits
}

// cog is the gear of a field that counts up or down in two or four bytes that lie evenly in what checksums cover: nearly all that headers need.
type cog struct {
	at, to, by, count uint64 // value of the next frame, largest value, how far on the one after it is, number of values
	offset            int
	four              bool
	a, b              int // checksums that cover it
	f                 Field
}

// cog makes one of g if it can be one. none is the index of no checksum.
func (g *gear) cog(none int) (cog, bool) {
	f := g.f
	c := cog{offset: f.Offset, four: f.Len == 4, a: none, b: none, f: f}
	if g.anew || f.Mask != 0 || f.Len != 2 && f.Len != 4 || len(g.links) > 2 {
		return c, false
	}
	for i, l := range g.links {
		if l.swap {
			return c, false
		}
		if i == 0 {
			c.a = l.sum
		} else {
			c.b = l.sum
		}
	}
	return c, true
}

// seek makes the value of frame n the next.
func (c *cog) seek(n, stride uint64) {
	f := c.f
	c.at, c.to, c.count = f.Value(n), f.To, f.To-f.From+1
	f.Start = 0
	c.by = f.moved(stride)
	if f.Op == Decrement && c.by > 0 { // down is up by the rest
		c.by = c.count - c.by
	}
}

// turn writes the next value and adds it to the checksums that cover it.
func (c *cog) turn(b []byte, total []uint32) {
	v := uint32(c.at)
	if c.at += c.by; c.at > c.to {
		c.at -= c.count
	}
	if c.four {
		binary.BigEndian.PutUint32(b[c.offset:], v)
		v = Halves(v)
	} else {
		binary.BigEndian.PutUint16(b[c.offset:], uint16(v))
	}
	total[c.a] += v
	total[c.b] += v
}

// link is a checksum that covers a field. Numbers at an odd place count with their bytes swapped (RFC 1071, 2.B).
type link struct {
	sum  int
	swap bool
}

// gearsOf makes the gears of fields, none of which may lie partly inside what one of sums covers.
func gearsOf(fields []Field, sums []Checksum) []gear {
	out := make([]gear, len(fields))
	for i, f := range fields {
		g := &out[i]
		g.f, g.shift = f, bits.TrailingZeros64(f.mask())
		switch {
		case f.Len > 8: // turn knows
		case f.Op == Random, f.Op == List, f.Every > 1:
			g.anew = true
		}
		for k, s := range sums {
			if from, in := s.covers(f); in {
				g.links = append(g.links, link{k, (f.Offset+f.Len-from)%2 == 1})
			}
		}
	}
	return out
}

// covers says whether f is in what s sums up, and where the run of bytes begins that it is in.
func (s Checksum) covers(f Field) (from int, in bool) {
	for _, r := range s.runs() {
		if f.Offset >= r[0] && f.Offset+f.Len <= r[1] {
			return r[0], true
		}
	}
	return 0, false
}

// runs are the bytes that s sums up: first and end of each run.
func (s Checksum) runs() [][2]int {
	runs := [][2]int{{s.From, s.To}}
	switch {
	case s.Pseudo < 0:
	case s.V6:
		runs = append(runs, [2]int{s.Pseudo + 8, s.Pseudo + 40})
	default:
		runs = append(runs, [2]int{s.Pseudo + 12, s.Pseudo + 20})
	}
	return runs
}

// independent says whether p can be made by adding up: no field touches another or a checksum or is cut by the end of what is summed up, and no
// checksum is summed up by another.
func independent(p *Packet) bool {
	used := make([]bool, len(p.Bytes))
	take := func(from, to int) bool {
		for i := from; i < to; i++ {
			if used[i] {
				return false
			}
			used[i] = true
		}
		return true
	}
	for _, s := range p.Sums {
		if !take(s.At, s.At+2) {
			return false
		}
	}
	for i := range p.Fields {
		f := &p.Fields[i]
		if !take(f.Offset, f.Offset+f.Len) {
			return false
		}
		for _, s := range p.Sums {
			n := 0
			for _, r := range s.runs() {
				if f.Offset < r[1] && f.Offset+f.Len > r[0] {
					if f.Offset < r[0] || f.Offset+f.Len > r[1] {
						return false
					}
					n++
				}
			}
			if n > 1 { // the runs overlap
				return false
			}
		}
	}
	for i, s := range p.Sums {
		for k, other := range p.Sums {
			for n, r := range other.runs() {
				// Its own place is taken as zero where it is summed up as a whole, once.
				own := i == k && n == 0 && s.At >= r[0] && s.At+2 <= r[1]
				if !own && s.At < r[1] && s.At+2 > r[0] {
					return false
				}
			}
		}
	}
	return true
}

// clear makes the bits of the field zero.
func (f *Field) clear(b []byte) {
	b = b[f.Offset : f.Offset+f.Len]
	if f.Len > 8 {
		clear(b)
		return
	}
	f.write(b, 0)
}

// seek makes the value of frame n the next.
func (g *gear) seek(n, stride uint64) {
	if g.f.Len > 8 {
		return
	}
	if g.count = g.f.To - g.f.From + 1; g.anew {
		return
	}
	g.moved = g.f.moved(n)
	step := g.f
	step.Start = 0
	g.by = step.moved(stride)
}

// turn writes the value of frame n, which is the next, and adds it to the checksums that cover it.
func (g *gear) turn(b []byte, n uint64, total []uint32) {
	f := &g.f
	if f.Len > 8 {
		f.put(b, n)
		g.count16(Fold(Sum(b[f.Offset:f.Offset+f.Len])), f.Len%2 == 1, total)
		return
	}
	var v uint64
	switch {
	case g.anew:
		v = f.Value(n)
	case f.Op == Decrement:
		v = f.To - g.advance()
	default:
		v = f.From + g.advance()
	}
	w := v << g.shift
	if f.Mask != 0 {
		f.write(b[f.Offset:f.Offset+f.Len], v)
	} else {
		switch f.Len {
		case 1:
			b[f.Offset] = byte(w)
		case 2:
			binary.BigEndian.PutUint16(b[f.Offset:], uint16(w))
		case 4:
			binary.BigEndian.PutUint32(b[f.Offset:], uint32(w))
		case 8:
			binary.BigEndian.PutUint64(b[f.Offset:], w)
		default:
			f.write(b[f.Offset:f.Offset+f.Len], v)
		}
	}
	if len(g.links) > 0 {
		g.count16(Fold(uint32(w>>48)+uint32(w>>32&0xffff)+uint32(w>>16&0xffff)+uint32(w&0xffff)), false, total)
	}
}

// advance returns how far the value is and moves on.
func (g *gear) advance() uint64 {
	v := g.moved
	if g.count == 0 {
		g.moved += g.by
	} else if left := g.count - v; g.by >= left {
		g.moved = g.by - left
	} else {
		g.moved = v + g.by
	}
	return v
}

// count16 adds a field's sum to those of the checksums. odd says that it was summed up from its first byte although it has an odd number: then its last
// byte counts for the upper half.
func (g *gear) count16(sum uint16, odd bool, total []uint32) {
	for _, l := range g.links {
		s := sum
		if l.swap != odd {
			s = bits.ReverseBytes16(s)
		}
		total[l.sum] += uint32(s)
	}
}
