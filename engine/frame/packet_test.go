package frame_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirespeed/engine/frame"
)

func TestFieldValues(t *testing.T) {
	tests := []struct {
		name string
		f    frame.Field
		want []uint64 // of frames 0, 1, 2 ...
	}{
		{"increment goes around", frame.Field{Len: 1, From: 1, To: 3, Step: 1}, []uint64{1, 2, 3, 1, 2}},
		{"a step that does not divide the range", frame.Field{Len: 1, From: 10, To: 14, Step: 2}, []uint64{10, 12, 14, 11, 13, 10}},
		{"increment from within", frame.Field{Len: 2, From: 10, To: 13, Step: 1, Start: 2}, []uint64{12, 13, 10, 11}},
		{"decrement begins at the top", frame.Field{Len: 1, Op: frame.Decrement, From: 1, To: 3, Step: 1}, []uint64{3, 2, 1, 3}},
		{"a value for some frames", frame.Field{Len: 1, To: 1, Step: 1, Every: 3}, []uint64{0, 0, 0, 1, 1, 1, 0}},
		{"a step of more than the range", frame.Field{Len: 1, To: 3, Step: 6}, []uint64{0, 2, 0, 2}},
		{"all 64 bits", frame.Field{Len: 8, To: 1<<64 - 1, Step: 1 << 63, Start: 1}, []uint64{1, 1<<63 + 1, 1}},
		{"a list with a lead-in", frame.Field{Len: 1, Op: frame.List, Values: []uint64{9, 1, 2}, Again: 1}, []uint64{9, 1, 2, 1, 2, 1}},
		{"one value", frame.Field{Len: 1, From: 7, To: 7, Step: 1}, []uint64{7, 7}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []uint64
			for n := range tt.want {
				got = append(got, tt.f.Value(uint64(n)))
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("values (-want +got):\n%s", d)
			}
		})
	}
}

func TestFieldFarAlong(t *testing.T) {
	f := frame.Field{Len: 8, From: 5, To: 1<<63 + 7, Step: 1<<62 + 1}
	slow := uint64(0)
	for range 1000 {
		slow = (slow + f.Step) % (f.To - f.From + 1)
	}
	if got := f.Value(1000); got != f.From+slow {
		t.Errorf("value %d, want %d", got, f.From+slow)
	}
}

func TestRandomFieldIsEven(t *testing.T) {
	f := frame.Field{Len: 1, Op: frame.Random, From: 10, To: 19}
	var hits [256]int
	const n = 100_000
	for i := range uint64(n) {
		hits[f.Value(i)]++
	}
	for v, h := range hits {
		if in := v >= 10 && v <= 19; in && (h < n/10*9/10 || h > n/10*11/10) || !in && h != 0 {
			t.Errorf("value %d came %d times of %d", v, h, n)
		}
	}
}

func TestMaskLeavesOtherBits(t *testing.T) {
	p := frame.Packet{
		Bytes:  []byte{0xff, 0xf0, 0x00},
		Fields: []frame.Field{{Offset: 0, Len: 2, Mask: 0x0fff, From: 0x123, To: 0x124, Step: 1}},
	}
	b := make([]byte, 3)
	p.Next(b, 1)
	if want := []byte{0xf1, 0x24, 0x00}; !bytes.Equal(b, want) {
		t.Errorf("%x, want %x", b, want)
	}
}

func TestPacketValidate(t *testing.T) {
	field := func(f frame.Field) frame.Packet {
		return frame.Packet{Bytes: make([]byte, 60), Fields: []frame.Field{f}}
	}
	sum := func(s frame.Checksum) frame.Packet {
		return frame.Packet{Bytes: make([]byte, 60), Sums: []frame.Checksum{s}}
	}
	tests := []struct {
		name string
		p    frame.Packet
		want string
	}{
		{"a byte", field(frame.Field{Len: 1, To: 255, Step: 1}), ""},
		{"beyond the frame", field(frame.Field{Offset: 58, Len: 4, To: 1}), "field at byte 58 of 4 bytes: the frame has 60"},
		{"nine bytes", field(frame.Field{Len: 9, To: 1}), "field at byte 0: 9 bytes: 1 to 8"},
		{"many random bytes", field(frame.Field{Len: 40, Op: frame.Random}), ""},
		{"more than the byte holds", field(frame.Field{Len: 1, To: 256}), "field at byte 0: 0 to 256: 0 to 255, the lower first"},
		{"more than the mask holds", field(frame.Field{Len: 2, Mask: 0xfff, To: 4096}), "field at byte 0: 0 to 4096: 0 to 4095, the lower first"},
		{"a mask with a gap", field(frame.Field{Len: 1, Mask: 5, To: 1}), "field at byte 0: mask 0x5 is not a run of bits in 1 bytes"},
		{"upside down", field(frame.Field{Len: 1, From: 2, To: 1}), "field at byte 0: 2 to 1: 0 to 255, the lower first"},
		{"an empty list", field(frame.Field{Len: 1, Op: frame.List}), "field at byte 0: no values to go through"},
		{"begins outside", field(frame.Field{Len: 1, To: 3, Start: 4}), "field at byte 0: it begins outside of 0 to 3"},
		{"a sum", sum(frame.Checksum{At: 24, From: 14, To: 34, Pseudo: -1}), ""},
		{"a sum beyond", sum(frame.Checksum{At: 59, From: 14, To: 34, Pseudo: -1}), "checksum at byte 59: the frame has 60"},
		{"over too much", sum(frame.Checksum{At: 24, From: 14, To: 64, Pseudo: -1}), "checksum at byte 24 over bytes 14 to 64: the frame has 60"},
		{"no IPv6 header there", sum(frame.Checksum{At: 24, From: 14, To: 34, Pseudo: 30, V6: true}), "checksum at byte 24: no IP header at byte 30: the frame has 60 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := tt.p.Validate(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
