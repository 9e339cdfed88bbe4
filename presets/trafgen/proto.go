package trafgen

import "slices"

// proto is a protocol that has a header function.
type proto struct {
	id     protoID
	name   string
	layer  int
	below  protoID // what is put below it where nothing is; none: nothing
	fields []field
	flags  []bareWord
}

type protoID uint8

const (
	none protoID = iota
	pEth
	pPause
	pPFC
	pVLAN
	pMPLS
	pARP
	pIP4
	pIP6
	pICMP4
	pICMP6
	pUDP
	pTCP
	pDNS
	pRecord // of dns(), in front of its data
	pQuery  // likewise
)

// field is a field of a header. Fields may overlap.
type field struct {
	names []string
	at    int // bytes from the header's begin; a VLAN tag's first field lies before it
	len   int // bytes, 0: as long as what it is set to
	shift int // of the value within the bytes, for fields of less than whole bytes
	mask  uint32
	kind  valueKind // what it is set to, besides a number where it has 1, 2 or 4 bytes
}

// bareWord is a word alone that sets fields.
type bareWord struct {
	name   string
	fields []int
	values []int64
}

// some is a field of some bits in len bytes.
func some(names []string, at, len, shift int, mask uint32) field {
	return field{names: names, at: at, len: len, shift: shift, mask: mask}
}

// names are the words for a field.
func names(n ...string) []string { return n }

// The fields that are set by more than a file's words, by their index.
const (
	ethDst, ethSrc, ethType                     = 0, 1, 2
	vlanTPID, vlanEtherType                     = 0, 5
	mplsLast                                    = 2
	arpHType, arpPType, arpHLen, arpPLen, arpOp = 0, 1, 2, 3, 4
	arpSHA, arpSPA, arpTPA                      = 5, 6, 8
	ip4Ver, ip4IHL, ip4Len                      = 0, 1, 5
	ip4Proto, ip4Sum, ip4Src, ip4Dst            = 12, 13, 14, 15
	ip6Ver, ip6Len, ip6Next, ip6Src, ip6Dst     = 0, 3, 4, 6, 7
	icmpSum                                     = 2
	udpDst, udpLen, udpSum                      = 1, 2, 3
	tcpDst, tcpDoff, tcpSum                     = 1, 4, 5
	dnsQR, dnsCount                             = 1, 9
	recName, recType, recClass, recTTL, recLen  = 0, 1, 2, 3, 4
	recData                                     = 5
)

// protos are all header functions, by their names.
var protos = map[string]*proto{}

func init() {
	for _, p := range []*proto{&eth, &pause, &pfc, &vlan, &mpls, &arp, &ip4, &ip6, &icmp4, &icmp6, &udp, &tcp, &dns} {
		protos[p.name] = p
	}
	for alias, of := range map[string]*proto{"ip4": &ip4, "ip6": &ip6, "icmp4": &icmp4, "icmp6": &icmp6} {
		protos[alias] = of
	}
}

// find is the index of a field's name, -1 if there is none.
func (p *proto) find(name string) int {
	return slices.IndexFunc(p.fields, func(f field) bool { return slices.Contains(f.names, name) })
}

func (p *proto) flag(name string) *bareWord {
	for i := range p.flags {
		if p.flags[i].name == name {
			return &p.flags[i]
		}
	}
	return nil
}

// words are all names of fields and flags, for an error.
func (p *proto) words() []string {
	var out []string
	for _, f := range p.fields {
		out = append(out, f.names...)
	}
	for _, f := range p.flags {
		out = append(out, f.name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var eth = proto{id: pEth, name: "eth", layer: 2, fields: []field{
	{names: names("da", "daddr"), len: 6, kind: isMAC},
	{names: names("sa", "saddr"), at: 6, len: 6, kind: isMAC},
	{names: names("type", "etype", "prot", "proto"), at: 12, len: 2},
}}

var pause = proto{id: pPause, name: "pause", layer: 2, below: pEth, fields: []field{
	{names: names("code"), len: 2},
	{names: names("time"), at: 2, len: 2},
}}

var pfc = proto{id: pPFC, name: "pfc", layer: 2, below: pEth, fields: func() []field {
	f := []field{{names: names("code"), len: 2}, {names: names("prio", "pri"), at: 2, len: 2}}
	for i := range 8 {
		f = append(f, field{at: 2, len: 2, shift: i, mask: 1 << i})
	}
	for i := range 8 {
		f = append(f, field{at: 4 + 2*i, len: 2})
	}
	return f
}()}

// Of pfc: the first of its eight bits and of its eight times.
const (
	pfcPrio, pfcPrio0, pfcTime0 = 1, 2, 10
)

var vlan = proto{
	id: pVLAN, name: "vlan", layer: 2, below: pEth,
	fields: []field{
		{names: names("tpid", "prot", "proto"), at: -2, len: 2}, // where the header before has its EtherType
		{names: names("tci"), len: 2},
		some(names("pcp"), 0, 2, 13, 0xe000),
		some(names("dei", "cfi"), 0, 2, 12, 0x1000),
		some(names("id"), 0, 2, 0, 0xfff),
		{at: 2, len: 2}, // the EtherType of what follows
	},
	flags: []bareWord{{"1q", []int{vlanTPID}, []int64{0x8100}}, {"1ad", []int{vlanTPID}, []int64{0x88a8}}},
}

var mpls = proto{id: pMPLS, name: "mpls", layer: 2, below: pEth, fields: []field{
	some(names("label", "lbl"), 0, 4, 12, 0xfffff000),
	some(names("tc", "tclass", "exp"), 0, 4, 9, 0xe00),
	some(names("last"), 0, 4, 8, 0x100),
	some(names("ttl"), 0, 4, 0, 0xff),
}}

var arp = proto{
	id: pARP, name: "arp", layer: 2, below: pEth,
	fields: []field{
		{names: names("htype"), len: 2},
		{names: names("ptype"), at: 2, len: 2},
		{at: 4, len: 1},
		{at: 5, len: 1},
		{names: names("op", "oper"), at: 6, len: 2},
		{names: names("sha", "smac"), at: 8, len: 6, kind: isMAC},
		{names: names("spa", "sip"), at: 14, len: 4, kind: isIPv4},
		{names: names("tha", "tmac"), at: 18, len: 6, kind: isMAC},
		{names: names("tpa", "tip"), at: 24, len: 4, kind: isIPv4},
	},
	flags: []bareWord{{"request", []int{arpOp}, []int64{1}}, {"req", []int{arpOp}, []int64{1}}, {"reply", []int{arpOp}, []int64{2}}},
}

var ip4 = proto{
	id: pIP4, name: "ipv4", layer: 3, below: pEth,
	fields: []field{
		some(names("ver", "version"), 0, 1, 4, 0xf0),
		some(names("ihl"), 0, 1, 0, 0x0f),
		some(names("dscp"), 1, 1, 2, 0xfc),
		some(names("ecn"), 1, 1, 0, 0x03),
		{names: names("tos"), at: 1, len: 1},
		{names: names("len", "length"), at: 2, len: 2},
		{names: names("id"), at: 4, len: 2},
		some(names("flags"), 6, 2, 13, 0xe000),
		some(nil, 6, 2, 13, 0x2000), // mf
		some(nil, 6, 2, 14, 0x4000), // df
		some(names("frag"), 6, 2, 0, 0x1fff),
		{names: names("ttl"), at: 8, len: 1},
		{names: names("proto", "prot"), at: 9, len: 1},
		{names: names("csum"), at: 10, len: 2},
		{names: names("sa", "saddr"), at: 12, len: 4, kind: isIPv4},
		{names: names("da", "daddr"), at: 16, len: 4, kind: isIPv4},
	},
	flags: []bareWord{{"mf", []int{8}, []int64{1}}, {"df", []int{9}, []int64{1}}},
}

var ip6 = proto{id: pIP6, name: "ipv6", layer: 3, below: pEth, fields: []field{
	some(names("ver", "version"), 0, 4, 28, 0xf0000000),
	some(names("tc", "tclass", "class"), 0, 4, 20, 0x0ff00000),
	some(names("flow", "fl"), 0, 4, 0, 0x000fffff),
	{names: names("len", "length"), at: 4, len: 2},
	{names: names("nexthdr", "nh"), at: 6, len: 1},
	{names: names("hoplimit", "hl", "ttl"), at: 7, len: 1},
	{names: names("sa", "saddr"), at: 8, len: 16, kind: isIPv6},
	{names: names("da", "daddr"), at: 24, len: 16, kind: isIPv6},
}}

var icmp4 = proto{
	id: pICMP4, name: "icmpv4", layer: 4, below: pIP4,
	fields: []field{
		{names: names("type"), len: 1},
		{names: names("code"), at: 1, len: 1},
		{names: names("csum"), at: 2, len: 2},
		{names: names("id"), at: 4, len: 2},
		{names: names("seq"), at: 6, len: 2},
		{names: names("addr"), at: 4, len: 4, kind: isIPv4},
		{names: names("mtu"), at: 6, len: 2},
	},
	flags: []bareWord{{"echorequest", []int{0, 1}, []int64{8, 0}}, {"echoreply", []int{0, 1}, []int64{0, 0}}},
}

var icmp6 = proto{
	id: pICMP6, name: "icmpv6", layer: 4, below: pIP6,
	fields: []field{
		{names: names("type"), len: 1},
		{names: names("code"), at: 1, len: 1},
		{names: names("csum"), at: 2, len: 2},
	},
	flags: []bareWord{{"echorequest", []int{0}, []int64{128}}, {"echoreply", []int{0}, []int64{129}}},
}

var udp = proto{id: pUDP, name: "udp", layer: 4, below: pIP4, fields: []field{
	{names: names("sport", "sp"), len: 2},
	{names: names("dport", "dp"), at: 2, len: 2},
	{names: names("len", "length"), at: 4, len: 2},
	{names: names("csum"), at: 6, len: 2},
}}

var tcp = proto{
	id: pTCP, name: "tcp", layer: 4, below: pIP4,
	fields: append([]field{
		{names: names("sport", "sp"), len: 2},
		{names: names("dport", "dp"), at: 2, len: 2},
		{names: names("seq"), at: 4, len: 4},
		{names: names("ackseq", "aseq"), at: 8, len: 4},
		some(names("doff", "hlen"), 12, 2, 12, 0xf000),
		{names: names("csum"), at: 16, len: 2},
		{names: names("win", "window"), at: 14, len: 2},
		{names: names("urgptr"), at: 18, len: 2},
	}, func() (f []field) {
		for i := range 8 {
			f = append(f, some(nil, 12, 2, i, 1<<i))
		}
		return f
	}()...),
	flags: func() (f []bareWord) {
		for i, n := range names("fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr") {
			f = append(f, bareWord{n, []int{8 + i}, []int64{1}})
		}
		return append(f, bareWord{"ecn", []int{8 + 6}, []int64{1}})
	}(),
}

var dns = proto{id: pDNS, name: "dns", layer: 7, below: pUDP, fields: []field{
	{names: names("id"), len: 2},
	some(names("qr"), 2, 2, 15, 0x8000),
	some(names("op", "oper"), 2, 2, 11, 0x7800),
	some(names("aa", "aanswer"), 2, 2, 10, 0x0400),
	some(names("trunc"), 2, 2, 9, 0x0200),
	some(names("rdesired"), 2, 2, 8, 0x0100),
	some(names("ravail"), 2, 2, 7, 0x80),
	some(names("zero"), 2, 2, 4, 0x30),
	some(names("rc", "rcode"), 2, 2, 0, 0xf),
	{names: names("qdcount"), at: 4, len: 2},
	{names: names("ancount"), at: 6, len: 2},
	{names: names("nscount"), at: 8, len: 2},
	{names: names("arcount"), at: 10, len: 2},
}}

var query = proto{id: pQuery, name: "query", fields: []field{
	{names: names("name"), kind: isText},
	{names: names("type"), len: 2},
	{names: names("class"), at: 2, len: 2},
}}

var record = proto{id: pRecord, name: "answer", fields: []field{
	{names: names("name"), kind: isText},
	{names: names("type"), len: 2},
	{names: names("class"), at: 2, len: 2},
	{names: names("ttl"), at: 4, len: 4},
	{names: names("len", "length"), at: 8, len: 2},
	{names: names("data"), at: 10, kind: isText},
}}

// sections are the words of dns() that begin a record.
var sections = map[string]section{
	"query": dnsQuery, "qry": dnsQuery, "answer": dnsAnswer, "ans": dnsAnswer, "auth": dnsAuth, "add": dnsAdd,
}

// etherTypes are what stands in front of a protocol, ipProtos likewise in an IP header.
var (
	etherTypes = map[protoID]int64{
		pARP: 0x0806, pIP4: 0x0800, pIP6: 0x86dd, pMPLS: 0x8847, pVLAN: 0x8100, pPause: 0x8808, pPFC: 0x8808,
	}
	ipProtos  = map[protoID]int64{pIP4: 4, pIP6: 41, pICMP4: 1, pUDP: 17, pTCP: 6}
	ip6Protos = map[protoID]int64{pICMP6: 58, pUDP: 17, pTCP: 6}
)
