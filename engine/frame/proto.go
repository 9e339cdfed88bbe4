package frame

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Proto is what a frame carries.
type Proto uint8

// The protocols: UDP, TCP (a segment with SYN), ICMP (an echo request, ICMPv6 on IPv6), and ARP (a request).
const (
	UDP Proto = iota
	TCP
	ICMP
	ARP
)

// Protos are the words of the protocols, as their values index them.
var Protos = []string{"udp", "tcp", "icmp", "arp"}

// String returns the protocol's word.
func (p Proto) String() string { return Protos[p] }

// Ports says whether the protocol has ports.
func (p Proto) Ports() bool { return p == UDP || p == TCP }

// header is the length of the protocol's header behind that of IP.
func (p Proto) header() int { return [...]int{udpLen, tcpLen, icmpLen, 0}[p] }

// Labels are the labels of an MPLS stack, the outermost first. The zero value is no stack.
type Labels [maxLabels]uint32 // each plus one, so that 0 is none

// The bounds of an MPLS stack (RFC 3032): labels have 20 bits. So many are enough for any lab.
const (
	maxLabels = 4
	maxLabel  = 1<<20 - 1
)

// ParseLabels reads labels: "100" or "100,200", outermost first, or "none".
func ParseLabels(s string) (Labels, error) {
	var l Labels
	if s == "none" {
		return l, nil
	}
	parts := strings.Split(s, ",")
	if len(parts) > maxLabels {
		return l, fmt.Errorf("mpls %s: %d labels: at most %d", s, len(parts), maxLabels)
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil || n > maxLabel {
			return Labels{}, fmt.Errorf("mpls %q: a label is a number from 0 to %d, as in 100 or 100,200 (outermost first), or none", s, maxLabel)
		}
		l[i] = uint32(n) + 1
	}
	return l, nil
}

// Depth is how many labels there are.
func (l Labels) Depth() int {
	n := 0
	for n < maxLabels && l[n] != 0 {
		n++
	}
	return n
}

// String prints the labels as ParseLabels reads them.
func (l Labels) String() string {
	if l.Depth() == 0 {
		return "none"
	}
	var parts []string
	for _, v := range l[:l.Depth()] {
		parts = append(parts, strconv.Itoa(int(v-1)))
	}
	return strings.Join(parts, ",")
}

// ParsePayload reads what is to follow the headers and returns it as a Spec keeps it: "zero" (kept as ""), "pattern" (the bytes 0, 1, 2 ... 255, 0 ...),
// "random" (the same bytes in each frame), or "hex:" and bytes that are repeated.
func ParsePayload(s string) (string, error) {
	switch s {
	case "zero":
		return "", nil
	case "pattern", "random":
		return s, nil
	}
	digits, ok := strings.CutPrefix(s, "hex:")
	if !ok {
		return "", fmt.Errorf("payload %q: use zero, pattern, random or hex:DIGITS", s)
	}
	digits, err := ParseHex(digits)
	if err != nil {
		return "", fmt.Errorf("payload: %w", err)
	}
	return "hex:" + digits, nil
}

// maxHex bounds bytes in hexadecimal: as long as a jumbo frame.
const maxHex = 9234

// ParseHex reads bytes in hexadecimal, with blanks, colons or 0x where people put them, and returns the digits alone, in lower case.
func ParseHex(s string) (string, error) {
	digits := strings.NewReplacer("0x", "", "0X", "", " ", "", ":", "", "-", "", ",", "", "\t", "").Replace(s)
	b, err := hex.DecodeString(digits)
	var wrong hex.InvalidByteError
	switch {
	case errors.As(err, &wrong):
		return "", fmt.Errorf("hex: %q is no hexadecimal digit", rune(wrong))
	case errors.Is(err, hex.ErrLength):
		return "", fmt.Errorf("hex: %d digits: a byte has two", len(digits))
	case len(b) == 0:
		return "", errors.New("hex: no bytes")
	case len(b) > maxHex:
		return "", fmt.Errorf("hex: %d bytes: at most %d", len(b), maxHex)
	}
	return hex.EncodeToString(b), nil
}

// payload is n bytes of what a Spec's Payload says.
func payload(what string, n int) []byte {
	b := make([]byte, n)
	switch {
	case what == "":
	case what == "pattern":
		for i := range b {
			b[i] = byte(i)
		}
	case what == "random":
		for i := range b {
			b[i] = byte(Mix64(payloadSeed, uint64(i)))
		}
	default:
		bytes, err := hex.DecodeString(strings.TrimPrefix(what, "hex:"))
		for i := 0; err == nil && len(bytes) > 0 && i < n; i += len(bytes) {
			copy(b[i:], bytes)
		}
	}
	return b
}

// payloadSeed is any number: the random payload is to be the same in every run.
const payloadSeed = 2544
