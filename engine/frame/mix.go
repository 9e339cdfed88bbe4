package frame

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Mix is the sizes of a stream whose frames are not all of one size, and in which order they come. It is immutable. ParseMix returns the same Mix for
// the same text, so that Specs stay comparable.
type Mix struct {
	text    string
	sizes   []int    // without FCS, each once
	order   []uint16 // of a round, as indices into sizes; nil: random, all sizes as often
	lengths Lengths
}

// Names are the mixes that have a name, with what they stand for.
var Names = []struct{ Name, Weights, About string }{
	{"imix", "64:7,594:4,1518:1", "the classic simple IMIX: IP packets of 40, 576 and 1500 bytes"},
	{"imix-570", "64:7,570:4,1518:1", "the same as test sets have it: 570 with FCS in the middle"},
	{"tolly", "64:55,78:5,576:17,1518:23", "the mix of the Tolly Group, in percent"},
}

// Bounds of a mix.
const (
	maxRound = 1 << 16 // frames in a round
	maxSize  = 65535 + ethernetLen + 2*vlanLen
)

var mixes sync.Map // text -> *Mix

// ParseMix reads sizes of frames:
//
//	imix, imix-570, tolly      by name
//	64:7,594:4,1518:1          SIZE:WEIGHT, sizes with FCS as mixes are written everywhere; evenly interleaved
//	60,128,1514                a list, one after the other, without FCS (64fcs is with)
//	60..1514, 60..1514 step 64 a range, one after the other, around at its end
//	random 60..1514            a range, evenly distributed
//
// A single size is no Mix: ok is false, and the text is for ParseSize. The error is one line.
func ParseMix(text string) (m *Mix, ok bool, err error) {
	text = strings.Join(strings.Fields(text), " ")
	weights := text
	for _, n := range Names {
		if text == n.Name {
			weights = n.Weights
		}
	}
	switch {
	case strings.Contains(weights, ":"):
		m, err = parseWeights(text, weights)
	case strings.Contains(text, ".."):
		m, err = parseRange(text)
	case strings.Contains(text, ","):
		m, err = parseList(text)
	default:
		return nil, false, nil
	}
	if err != nil {
		return nil, true, err
	}
	for _, i := range m.order {
		m.lengths = m.lengths.Plus(OneSize(m.sizes[i]))
	}
	if m.order == nil {
		for _, s := range m.sizes {
			m.lengths = m.lengths.Plus(OneSize(s))
		}
	}
	kept, _ := mixes.LoadOrStore(m.text, m)
	return kept.(*Mix), true, nil
}

// parseOne reads one of several sizes.
func parseOne(text, part string) (int, error) {
	n, err := ParseSize(part)
	if err != nil {
		return 0, fmt.Errorf("size %s: %w", text, err)
	}
	if n > maxSize {
		return 0, fmt.Errorf("size %s: %s: no frame is longer than %d bytes", text, part, maxSize)
	}
	return n, nil
}

func parseWeights(text, weights string) (*Mix, error) {
	m := &Mix{text: text}
	var counts []uint64
	total := uint64(0)
	for part := range strings.SplitSeq(weights, ",") {
		size, weight, found := strings.Cut(strings.TrimSpace(part), ":")
		if !found {
			return nil, fmt.Errorf("size %s: %q has no weight: write each as SIZE:WEIGHT, as in 64:7,594:4,1518:1 (sizes with FCS)", text, part)
		}
		n, err := parseOne(text, strings.TrimSuffix(size, "fcs")+"fcs")
		if err != nil {
			return nil, err
		}
		w, err := strconv.ParseUint(weight, 10, 32)
		if err != nil || w == 0 {
			return nil, fmt.Errorf("size %s: weight %q: a whole number from 1", text, weight)
		}
		if slices.Contains(m.sizes, n) {
			return nil, fmt.Errorf("size %s: %s is there twice: add up its weights", text, size)
		}
		m.sizes, counts, total = append(m.sizes, n), append(counts, w), total+w
	}
	divisor := counts[0]
	for _, c := range counts {
		for c != 0 {
			divisor, c = c, divisor%c
		}
	}
	if total /= divisor; total > maxRound {
		return nil, fmt.Errorf("size %s: the weights add up to %d: at most %d", text, total, maxRound)
	}
	for i := range counts {
		counts[i] /= divisor
	}
	m.order = Interleave(counts)
	return m, nil
}

func parseRange(text string) (*Mix, error) {
	rest, random := strings.CutPrefix(text, "random ")
	bounds, step, stepped := strings.Cut(rest, " step ")
	from, to, _ := strings.Cut(bounds, "..")
	lo, err := parseOne(text, strings.TrimSpace(from))
	if err != nil {
		return nil, err
	}
	hi, err := parseOne(text, strings.TrimSpace(to))
	if err != nil {
		return nil, err
	}
	by := 1
	if stepped {
		n, err := strconv.ParseUint(step, 10, 16)
		if err != nil || n == 0 || random {
			return nil, fmt.Errorf("size %s: a range is 60..1514, 60..1514 step 64 or random 60..1514", text)
		}
		by = int(n)
	}
	if lo >= hi {
		return nil, fmt.Errorf("size %s: a range goes from the smaller size to the larger", text)
	}
	m := &Mix{text: text}
	for n := lo; n <= hi; n += by {
		m.sizes = append(m.sizes, n)
	}
	if !random {
		m.order = inTurn(len(m.sizes))
	}
	return m, nil
}

func parseList(text string) (*Mix, error) {
	m := &Mix{text: strings.ReplaceAll(text, " ", "")}
	for part := range strings.SplitSeq(m.text, ",") {
		n, err := parseOne(text, part)
		if err != nil {
			return nil, err
		}
		at := slices.Index(m.sizes, n)
		if at < 0 {
			at = len(m.sizes)
			m.sizes = append(m.sizes, n)
		}
		m.order = append(m.order, uint16(at))
	}
	return m, nil
}

func inTurn(n int) []uint16 {
	order := make([]uint16, n)
	for i := range order {
		order[i] = uint16(i)
	}
	return order
}

// Interleave is the order of one round in which index i comes weights[i] times, as evenly spread as can be: each time the one that is furthest behind
// its share. The weights, of which there must be one, add up to no more than 65,536.
func Interleave(weights []uint64) []uint16 {
	total := int64(0)
	for _, w := range weights {
		total += int64(w)
	}
	if slices.Min(weights) == slices.Max(weights) { // also where there are thousands
		return inTurn(len(weights))
	}
	order := make([]uint16, 0, total)
	credit := make([]int64, len(weights))
	for range total {
		best := 0
		for i := range credit {
			credit[i] += int64(weights[i])
			if credit[i] > credit[best] {
				best = i
			}
		}
		credit[best] -= total
		order = append(order, uint16(best))
	}
	return order
}

// String returns the mix as it was entered.
func (m *Mix) String() string { return m.text }

// Least is the smallest size, in bytes without FCS.
func (m *Mix) Least() int { return slices.Min(m.sizes) }

// Most is the largest size, in bytes without FCS.
func (m *Mix) Most() int { return slices.Max(m.sizes) }

// index is which of the sizes frame n has. seed makes random ones differ between streams.
func (m *Mix) index(n, seed uint64) int {
	if m.order == nil {
		return int(spread(Mix64(seed, n), uint64(len(m.sizes)-1)))
	}
	return int(m.order[n%uint64(len(m.order))])
}
