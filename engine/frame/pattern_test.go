package frame

import "testing"

func TestFilterKnowsWhatVaries(t *testing.T) {
	all := varied()
	for name, s := range all {
		if s.Outer != 0 || s.VLAN != 0 {
			continue // the judge has no tags to give
		}
		t.Run(name, func(t *testing.T) {
			j := newJudge(t, s)
			m, err := NewMill(s, 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			at := NewMoment(1, 2, 3)
			for i := range uint32(200) {
				b := make([]byte, m.Size())
				m.Put(b, 0, &at, i, i)
				if !j.passes(b) {
					t.Fatalf("frame %d does not pass: %x", i, b)
				}
			}
			foreign := built(t, with(v4(60), func(s *Spec) { s.SrcMAC[5] ^= 0xff }))
			if s.Vary.SrcMAC.On {
				foreign[23] = 89 // OSPF
			}
			if j.passes(foreign) {
				t.Errorf("a foreign frame passes: %x", foreign)
			}
		})
	}
}

func TestPatternOfPackets(t *testing.T) {
	p := Packet{Bytes: make([]byte, 60), Fields: []Field{{Offset: 20, Len: 4, Op: Random, To: 1<<32 - 1}}, Sums: []Checksum{{At: 24, From: 14, To: 34, Pseudo: -1}}}
	for i := range p.Bytes {
		p.Bytes[i] = byte(i)
	}
	j := newJudge(t, Spec{Pattern: p.Pattern()})
	b := make([]byte, 60)
	for n := range uint64(50) {
		if p.Next(b, n); !j.passes(b) {
			t.Fatalf("%x does not pass", b)
		}
	}
	if b[50]++; j.passes(b) {
		t.Errorf("%x passes", b)
	}
	short := Packet{Bytes: make([]byte, 60), Fields: []Field{{Offset: 0, Len: 55, Op: Random}}}
	if p := short.Pattern(); p != nil {
		t.Errorf("five known bytes make a pattern: %+v", p)
	}
}
