package trafgen

// packet is one { ... } of a file as it is written.
type packet struct {
	pos   Pos
	cpus  *[2]int64 // cpu(A-B), nil without
	elems []elem
}

// elem is one thing in a packet.
type elem struct {
	pos  Pos
	what kind

	data []byte // literal; of fill its byte
	n    int    // bytes of it

	from, to int64 // of a checksum; of a counter its ends
	step     int64 // of a counter
	sum      sumKind

	proto    *proto // of a header
	settings []setting
}

type kind uint8

const (
	literal kind = iota
	fill         // data[0], n times
	compileRandom
	runRandom
	countUp
	countDown
	checksum
	header
)

// sumKind is which checksum.
type sumKind uint8

const (
	sumIP sumKind = iota
	sumUDP
	sumTCP
	sumUDP6
	sumTCP6
	sumICMP6
)

// setting is one FIELD=VALUE of a header function, a flag alone, or a part of dns().
type setting struct {
	pos   Pos
	field int // index in the protocol's fields
	index int // FIELD[index:length]; length 0: the field
	len   int
	value value
	part  *part // of dns(): query(), answer() ...
}

// part is a record within dns().
type part struct {
	section  section
	proto    *proto
	settings []setting
}

// section is where a DNS record belongs; records are sorted by it.
type section uint8

const (
	dnsQuery section = iota
	dnsAnswer
	dnsAuth
	dnsAdd
)

// value is what a field is set to.
type value struct {
	pos   Pos
	what  valueKind
	num   int64
	data  []byte // of an address, a string, a name of DNS
	ruled bool   // min and max are given
	min   uint32
	max   uint32
	step  uint32
}

type valueKind uint8

const (
	isNumber valueKind = iota
	isMAC
	isIPv4
	isIPv6
	isText
	isBytes // of a DNS record, as they are
	isDinc
	isDrnd
)
