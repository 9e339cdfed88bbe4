package frame

import (
	"encoding/binary"
	"math/bits"
)

// Next writes frame n of p, counted from 0, to b, which must have len(p.Bytes) bytes. It is the definition of what a packet is: every step of it is
// made anew from n. What sends at full speed must come to the same bytes.
func (p *Packet) Next(b []byte, n uint64) {
	copy(b, p.Bytes)
	for i := range p.Fields {
		p.Fields[i].put(b, n)
	}
	for _, s := range p.Sums {
		s.put(b)
	}
}

// put writes the field's value of frame n.
func (f *Field) put(b []byte, n uint64) {
	b = b[f.Offset : f.Offset+f.Len]
	if f.Len > 8 {
		f.noise(b, n)
		return
	}
	f.write(b, f.Value(n))
}

// write puts a value into the field's bytes b; bits outside of the mask stay.
func (f *Field) write(b []byte, v uint64) {
	mask := f.mask()
	v = v << bits.TrailingZeros64(mask) & mask
	for i := f.Len - 1; i >= 0; i-- {
		b[i] = b[i]&^byte(mask) | byte(v)
		mask >>= 8
		v >>= 8
	}
}

// Value is what the field holds in frame n, of a field of at most 8 bytes.
func (f *Field) Value(n uint64) uint64 {
	if f.Every > 1 {
		n /= f.Every
	}
	switch f.Op {
	case List:
		if k := uint64(len(f.Values)); n >= k {
			again := uint64(f.Again)
			n = again + (n-again)%(k-again)
		}
		return f.Values[n]
	case Random:
		return f.From + spread(Mix64(f.Seed, n), f.To-f.From)
	}
	moved := f.moved(n)
	if f.Op == Decrement {
		return f.To - moved
	}
	return f.From + moved
}

// moved is (Start + n*Step) modulo the number of values.
func (f *Field) moved(n uint64) uint64 {
	count := f.To - f.From + 1
	if count == 0 { // all 64 bits
		return f.Start + n*f.Step
	}
	hi, lo := bits.Mul64(n%count, f.Step%count)
	rest := bits.Rem64(hi, lo, count)
	start := f.Start % count
	if rest >= count-start {
		return rest - (count - start)
	}
	return rest + start
}

// noise fills a long random field.
func (f *Field) noise(b []byte, n uint64) {
	if f.Every > 1 {
		n /= f.Every
	}
	words := uint64(len(b)+7) / 8
	var w [8]byte
	for i := range words {
		binary.BigEndian.PutUint64(w[:], Mix64(f.Seed, n*words+i))
		copy(b[8*i:], w[:])
	}
}

// Mix64 is number n of the sequence of random numbers of a seed: splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
// 2014), which can be entered anywhere.
func Mix64(seed, n uint64) uint64 {
	z := seed + (n+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// spread brings 64 random bits evenly to 0..most.
func spread(r, most uint64) uint64 {
	if most == ^uint64(0) {
		return r
	}
	hi, _ := bits.Mul64(r, most+1)
	return hi
}

// put makes the checksum anew.
func (s Checksum) put(b []byte) {
	b[s.At], b[s.At+1] = 0, 0
	binary.BigEndian.PutUint16(b[s.At:], s.of(b))
}

// of is the checksum of a frame whose own two bytes are zero.
func (s Checksum) of(b []byte) uint16 {
	sum := uint32(Fold(Sum(b[s.From:s.To])))
	if s.Pseudo >= 0 {
		addresses := b[s.Pseudo+12 : s.Pseudo+20]
		if s.V6 {
			addresses = b[s.Pseudo+8 : s.Pseudo+40]
		}
		sum += Sum(addresses) + uint32(s.Proto) + Halves(uint32(s.To-s.From))
	}
	if s.NonZero {
		return UDPChecksum(sum)
	}
	return ^Fold(sum)
}
