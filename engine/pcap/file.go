package pcap

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// Bounds of what is held in memory.
const (
	MaxBytes   = 2 << 30 // of frames
	MaxRecords = 1 << 25
	maxFrame   = 65535 + 22 // a frame longer than any that can be sent
	shortest   = 14         // an Ethernet header
)

// lenBits are the low bits of an index entry: the length of a frame; above them stands its offset.
const lenBits = 20

// File is a capture in memory.
type File struct {
	bytes   []byte
	index   []uint64 // offset and length of each frame
	times   []int64  // ns since the first frame, never falling
	lengths [maxFrame + 1]uint32

	Snapped  int  // records left out because less of them was captured than was on the wire
	Runts    int  // records left out because they are shorter than an Ethernet header
	Giants   int  // records left out because they are longer than any frame
	Foreign  int  // records left out because they were captured on something else than Ethernet
	Broken   bool // the file ends within a record
	Backward int  // records whose time was before that of the one in front: sent together with that
}

// Len is how many frames there are.
func (f *File) Len() int { return len(f.index) }

// Frame returns the bytes of frame i, without FCS. They must not be changed.
func (f *File) Frame(i int) []byte {
	e := f.index[i]
	at := e >> lenBits
	return f.bytes[at : at+e&(1<<lenBits-1)]
}

// Size is the length of frame i in bytes.
func (f *File) Size(i int) int { return int(f.index[i] & (1<<lenBits - 1)) }

// Time is when frame i was captured, in ns since the first one.
func (f *File) Time(i int) int64 { return f.times[i] }

// Lengths calls yield with each length in bytes that there is, and how many frames have it, the shortest first.
func (f *File) Lengths(yield func(size int, frames uint64) bool) {
	for size, n := range f.lengths {
		if n > 0 && !yield(size, uint64(n)) {
			return
		}
	}
}

// ErrNotCapture is wrapped where a file is neither pcap nor pcapng.
var ErrNotCapture = errors.New("not a capture")

// Open reads a file whole. Errors are one line without the file's name.
func Open(path string) (*File, error) {
	r, err := os.Open(path)
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, err
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errors.New("is a directory")
	}
	return Read(r, info.Size())
}

// Read reads a capture to its end. size is how many bytes to expect, 0 where that is not known.
func Read(r io.Reader, size int64) (*File, error) {
	f := &File{bytes: make([]byte, 0, min(max(size, 0), MaxBytes))}
	in := &input{r: bufio.NewReaderSize(r, int(min(max(size, 1<<12), 1<<20)))}
	magic, err := in.r.Peek(4)
	if err != nil {
		return nil, fmt.Errorf("%w: %d bytes", ErrNotCapture, len(magic))
	}
	switch m := binary.LittleEndian.Uint32(magic); {
	case m == blockSection:
		err = f.readNG(in)
	case magic[0] == 0x1f && magic[1] == 0x8b:
		err = fmt.Errorf("%w: it is packed with gzip: gunzip it first", ErrNotCapture)
	default:
		err = f.readClassic(in, magic)
	}
	if err != nil {
		return nil, err
	}
	if len(f.index) == 0 {
		return nil, fmt.Errorf("no frame that can be sent%s", f.left())
	}
	first := f.times[0]
	last := int64(0)
	for i, t := range f.times {
		if t-first < last {
			f.Backward++
		}
		last = max(last, t-first)
		f.times[i] = last
	}
	return f, nil
}

// left says what was left out, "" for nothing.
func (f *File) left() string {
	s := ""
	for _, w := range f.Left() {
		s += ", " + w
	}
	return s
}

// Left says in words what of the file is not sent; nil for nothing.
func (f *File) Left() []string {
	var out []string
	say := func(n int, what string) {
		if n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, what))
		}
	}
	say(f.Snapped, "cut when captured")
	say(f.Runts, "shorter than an Ethernet header")
	say(f.Giants, "longer than any frame")
	say(f.Foreign, "not of Ethernet")
	if f.Broken {
		out = append(out, "the last one broken off")
	}
	return out
}

// input reads with a count, for errors.
type input struct {
	r  *bufio.Reader
	at int64
}

// take reads n bytes to b. io.EOF means that there was nothing, io.ErrUnexpectedEOF that there was less.
func (in *input) take(b []byte) error {
	n, err := io.ReadFull(in.r, b)
	in.at += int64(n)
	return err
}

// skip passes over n bytes.
func (in *input) skip(n int) error {
	k, err := in.r.Discard(n)
	in.at += int64(k)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// add reads the frame of a record that holds caplen bytes of origlen, and leaves it out where it cannot be sent. ns is its time.
func (f *File) add(in *input, caplen, origlen uint32, ns int64) error {
	switch {
	case caplen < origlen:
		f.Snapped++
	case caplen < shortest:
		f.Runts++
	case caplen > maxFrame:
		f.Giants++
	case len(f.index) == MaxRecords:
		return fmt.Errorf("more than %d records: cut it with editcap -c", MaxRecords)
	case len(f.bytes)+int(caplen) > MaxBytes:
		return fmt.Errorf("more than %d bytes of frames: cut it with editcap -c", MaxBytes)
	default:
		at := len(f.bytes)
		f.bytes = append(f.bytes, make([]byte, caplen)...)
		if err := in.take(f.bytes[at:]); err != nil {
			f.bytes = f.bytes[:at]
			return unexpected(err)
		}
		f.index = append(f.index, uint64(at)<<lenBits|uint64(caplen))
		f.times = append(f.times, ns)
		f.lengths[caplen]++
		return nil
	}
	return in.skip(int(min(caplen, math.MaxInt32)))
}

// unexpected makes an end within a record of any end.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// ended books how reading came to an end: at the end of a record, or within one.
func (f *File) ended(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		f.Broken = true
		return nil
	}
	return err
}
