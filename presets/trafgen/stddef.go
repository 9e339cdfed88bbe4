package trafgen

import "strings"

// stddef is the file that #include <stddef.h> takes: the names of trafgen's own, with their numbers (IEEE 802, IANA and linux/if_ether.h).
var stddef = func() string {
	var b strings.Builder
	for _, group := range stddefNumbers {
		words := strings.Fields(group.names)
		for i := 0; i < len(words); i += 2 {
			b.WriteString("#define " + group.prefix + words[i] + " " + words[i+1] + "\n")
		}
	}
	return b.String() + stddefMacros
}()

var stddefNumbers = []struct{ prefix, names string }{
	{"ETH_P_", `
		LOOP 0x0060  PUP 0x0200  PUPAT 0x0201  IP 0x0800  X25 0x0805  ARP 0x0806  BPQ 0x08FF  IEEEPUP 0x0a00  IEEEPUPAT 0x0a01
		BATMAN 0x4305  DEC 0x6000  DNA_DL 0x6001  DNA_RC 0x6002  DNA_RT 0x6003  LAT 0x6004  DIAG 0x6005  CUST 0x6006  SCA 0x6007
		TEB 0x6558  RARP 0x8035  ATALK 0x809B  AARP 0x80F3  8021Q 0x8100  IPX 0x8137  IPV6 0x86DD  PAUSE 0x8808  SLOW 0x8809
		WCCP 0x883E  PPP_DISC 0x8863  PPP_SES 0x8864  MPLS_UC 0x8847  MPLS_MC 0x8848  ATMMPOA 0x884c  LINK_CTL 0x886c  ATMFATE 0x8884
		PAE 0x888E  AOE 0x88A2  8021AD 0x88A8  802_EX1 0x88B5  TIPC 0x88CA  8021AH 0x88E7  1588 0x88F7  FCOE 0x8906  TDLS 0x890D
		FIP 0x8914  QINQ1 0x9100  QINQ2 0x9200  QINQ3 0x9300  EDSA 0xDADA  AF_IUCV 0xFBFB  802_3 0x0001  AX25 0x0002  802_2 0x0004
		SNAP 0x0005  DDCMP 0x0006  WAN_PPP 0x0007  PPP_MP 0x0008  LOCALTALK 0x0009  CAN 0x000C  CANFD 0x000D  PPPTALK 0x0010
		TR_802_2 0x0011  MOBITEX 0x0015  CONTROL 0x0016  IRDA 0x0017  ECONET 0x0018  HDLC 0x0019  ARCNET 0x001A  DSA 0x001B
		TRAILER 0x001C  PHONET 0x00F5  IEEE802154 0x00F6  CAIF 0x00F7`},
	{"ETH_", `
		ALEN 6  HLEN 14  ZLEN 60  DATA_LEN 1500  FRAME_LEN 1514  FCS_LEN 4`},
	{"INADDR_", `
		BROADCAST 0xffffffff  LOOPBACK 0x7f000001  UNSPEC_GROUP 0xe0000000  ALLHOSTS_GROUP 0xe0000001  ALLRTRS_GROUP 0xe0000002
		MAX_LOCAL_GROUP 0xe00000ff`},
	{"IPPROTO_", `
		ICMP 1  IGMP 2  IPIP 4  TCP 6  EGP 8  PUP 12  UDP 17  IDP 22  DCCP 33  RSVP 46  GRE 47  IPV6 41  ESP 50  AH 51  BEETPH 94
		PIM 103  COMP 108  SCTP 132  UDPLITE 136`},
	{"IPV6_", `
		ALEN 16  VERSION 6  HDR_OFF_DEFAULT 14`},
	{"IP_", `
		ALEN 4  VERSION 4  TTL_DEFAULT 64  HDR_OFF_DEFAULT 14`},
	{"ICMP_", `
		ECHOREPLY 0  DEST_UNREACH 3  SOURCE_QUENCH 4  REDIRECT 5  ECHO 8  TIME_EXCEEDED 11  PARAMETERPROB 12  TIMESTAMP 13
		TIMESTAMPREPLY 14  INFO_REQUEST 15  INFO_REPLY 16  ADDRESS 17  ADDRESSREPLY 18  NET_UNREACH 0  HOST_UNREACH 1  PROT_UNREACH 2
		PORT_UNREACH 3  FRAG_NEEDED 4  SR_FAILED 5  NET_UNKNOWN 6  HOST_UNKNOWN 7  HOST_ISOLATED 8  NET_ANO 9  HOST_ANO 10
		NET_UNR_TOS 11  HOST_UNR_TOS 12  PKT_FILTERED 13  PREC_VIOLATION 14  PREC_CUTOFF 15  REDIR_NET 0  REDIR_HOST 1  REDIR_NETTOS 2
		REDIR_HOSTTOS 3  EXC_TTL 0  EXC_FRAGTIME 1`},
	{"NR_", `
		ICMP_UNREACH 15`},
	{"TCP_", `
		RESERVED_BITS 0x0F00  DATA_OFFSET 0xF000`},
}

// stddefMacros are those that are no numbers.
const stddefMacros = `
#define ETH_SRC_RAND drnd(ETH_ALEN)
#define ETH_DST_RAND drnd(ETH_ALEN)
#define IP_SRC_RAND drnd(IP_ALEN)
#define IP_DST_RAND drnd(IP_ALEN)
#define IP_ID_RAND drnd(2)
#define IP_CSUM_DEFAULT csumip(IP_HDR_OFF_DEFAULT, 33)
#define IPV6_SRC_RAND drnd(IPV6_ALEN)
#define IPV6_DST_RAND drnd(IPV6_ALEN)
#define TCP_SEQ_RAND drnd(4)
#define TCP_ACK_RAND drnd(4)
#define TCP_SRC_RAND drnd(2)
#define TCP_DST_RAND drnd(2)
#define TCP_CSUM_DEFAULT csumtcp(IP_HDR_OFF_DEFAULT, 34)
#define TCP_FLAG_CWR (1 << 7)
#define TCP_FLAG_ECE (1 << 6)
#define TCP_FLAG_URG (1 << 5)
#define TCP_FLAG_ACK (1 << 4)
#define TCP_FLAG_PSH (1 << 3)
#define TCP_FLAG_RST (1 << 2)
#define TCP_FLAG_SYN (1 << 1)
#define TCP_FLAG_FIN (1 << 0)
#define JOIN(x, y) x ## y
#define IF_0(x) 
#define IF_1(x) x
#define IF(bit, x) JOIN(IF_, bit)(x)
#define IF_ELSE_0(x, y) y
#define IF_ELSE_1(x, y) x
#define IF_ELSE(bit, x, y) JOIN(IF_ELSE_, bit)(x, y)
#define be16(x) c16(x)
#define be32(x) c32(x)
#define be64(x) c64(x)
`
