/*
 * Bare C counterparts for .ci/pacer, .ci/peers and .ci/vmlab-engine: what the kernel gives without any engine around it, and an
 * independent look at what arrived. They share no code with wirespeed.
 *
 *   pacer pace DEV PPS SECONDS                 one 60-byte frame each 1/PPS s: sleep to 20 us before, spin, sendto() past the qdisc
 *   pacer loop DEV SECONDS SIZE KIND PATH [N]  a transmit ring as fast as it goes, the same frame over and over; KIND is linear, plain or
 *                                              segmented (N frames a slot), PATH is bypass or qdisc
 *   pacer gaps DEV PPS SECONDS                 a receive ring with the kernel's time stamps: |gap - 1/PPS| of frames to UDP port 9 as
 *                                              "frames drops median_us p99_us worst_us"; the first tenth of a second does not count
 *   pacer check FILE SIZE FIRST COUNT          every frame of a capture: length, addresses, IP and UDP checksums, pktgen header, and
 *                                              sequence numbers from FIRST, without a gap, COUNT of them
 *
 * The destination is 02:00:00:00:00:fe, which is nobody's. Exit status: 0 good, 1 not, 2 wrong usage.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

enum { ETH = 14, IP = 20, UDP = 8, HEAD = ETH + IP + UDP };

static void die(const char *what) {
	perror(what);
	exit(1);
}

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* ---------------------------------------------------------------- frames */

static uint32_t sum(const uint8_t *b, int n) {
	uint32_t s = 0;
	for (; n > 1; n -= 2, b += 2)
		s += b[0] << 8 | b[1];
	return n ? s + (b[0] << 8) : s;
}

static uint16_t fold(uint32_t s) {
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return s;
}

static void put16(uint8_t *b, unsigned v) {
	b[0] = v >> 8;
	b[1] = v;
}

/* pseudo is the sum of the pseudo header of the UDP datagram in the IPv4 frame f. */
static uint32_t pseudo(const uint8_t *f, int udp_len) { return sum(f + ETH + 12, 8) + 17 + udp_len; }

/* build makes a frame of size bytes; partial leaves the UDP checksum to whoever cuts it. */
static void build(uint8_t *f, int size, int partial) {
	static const uint8_t head[HEAD] = {
		2, 0, 0, 0, 0, 0xfe, 2, 0, 0, 0, 0, 1, 8, 0,                                /* Ethernet */
		0x45, 0, 0, 0, 0, 0, 0, 0, 32, 17, 0, 0, 198, 18, 0, 1, 198, 18, 0, 2,      /* IPv4, TTL 32 */
		0, 9, 0, 9, 0, 0, 0, 0,                                                     /* UDP */
	};
	static const uint8_t magic[4] = {0xbe, 0x9b, 0xe9, 0x55};
	memset(f, 0, size);
	memcpy(f, head, HEAD);
	memcpy(f + HEAD, magic, 4);
	put16(f + ETH + 2, size - ETH);
	put16(f + ETH + IP + 4, size - ETH - IP);
	put16(f + ETH + 10, ~fold(sum(f + ETH, IP)));
	uint32_t s = pseudo(f, size - ETH - IP);
	put16(f + ETH + IP + 6, partial ? fold(s) : ~fold(s + sum(f + ETH + IP, size - ETH - IP)));
}

/* ---------------------------------------------------------------- sockets */

static int packet_socket(const char *dev, int protocol, struct sockaddr_ll *to) {
	int fd = socket(AF_PACKET, SOCK_RAW, 0); /* deaf until it is bound */
	if (fd < 0)
		die("socket");
	memset(to, 0, sizeof *to);
	to->sll_family = AF_PACKET;
	to->sll_protocol = htons(protocol);
	to->sll_ifindex = if_nametoindex(dev);
	if (!to->sll_ifindex)
		die(dev);
	return fd;
}

static void option(int fd, int level, int name, const void *v, socklen_t n, const char *what) {
	if (setsockopt(fd, level, name, v, n))
		die(what);
}

static int pace(const char *dev, double pps, double seconds) {
	struct sockaddr_ll to;
	int fd = packet_socket(dev, 0, &to), on = 1;
	uint8_t frame[60];
	build(frame, sizeof frame, 0);
	option(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on, "PACKET_QDISC_BYPASS");
	if (bind(fd, (void *)&to, sizeof to))
		die("bind");
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	int64_t start = now() + 1000000, count = seconds * pps;
	for (int64_t i = 0; i < count; i++) {
		int64_t at = start + (int64_t)(i * 1e9 / pps);
		if (at - now() > 50000) {
			struct timespec t = {(at - 20000) / 1000000000, (at - 20000) % 1000000000};
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		}
		while (now() < at)
			;
		if (send(fd, frame, sizeof frame, 0) < 0 && errno != ENOBUFS)
			die("send");
	}
	return 0;
}

/* ---------------------------------------------------------------- the ring as fast as it goes */

static int loop(const char *dev, double seconds, int size, const char *kind, const char *path, int segments) {
	struct sockaddr_ll to;
	int fd = packet_socket(dev, 0, &to), on = 1, version = TPACKET_V3, buffer = 8 << 20;
	int cut = !strcmp(kind, "segmented"), payload = size - HEAD, len = cut ? HEAD + segments * payload : size;
	struct virtio_net_hdr vnet = {0};
	uint8_t *frame = malloc(len);
	build(frame, len, cut);
	if (strcmp(kind, "plain"))
		vnet.hdr_len = len; /* all of it is copied into the linear part of the buffer */
	if (cut) {
		vnet.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
		vnet.gso_type = VIRTIO_NET_HDR_GSO_UDP_L4;
		vnet.gso_size = payload;
		vnet.csum_start = ETH + IP;
		vnet.csum_offset = 6;
	}
	option(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version, "PACKET_VERSION");
	option(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on, "PACKET_VNET_HDR");
	if (!strcmp(path, "bypass"))
		option(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on, "PACKET_QDISC_BYPASS");
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof buffer);

	const int data = TPACKET_ALIGN(sizeof(struct tpacket3_hdr));
	unsigned slot = 256;
	while (slot < data + sizeof vnet + len)
		slot *= 2;
	struct tpacket_req3 req = {.tp_frame_size = slot, .tp_frame_nr = cut ? 64 : 512};
	req.tp_block_size = slot > 4096 ? slot : 4096;
	req.tp_block_nr = req.tp_frame_nr / (req.tp_block_size / slot);
	option(fd, SOL_PACKET, PACKET_TX_RING, &req, sizeof req, "PACKET_TX_RING");
	uint8_t *ring = mmap(NULL, (size_t)slot * req.tp_frame_nr, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (ring == MAP_FAILED)
		die("mmap");
	if (bind(fd, (void *)&to, sizeof to))
		die("bind");
	for (unsigned i = 0; i < req.tp_frame_nr; i++) {
		struct tpacket3_hdr *h = (void *)(ring + i * slot);
		memcpy((uint8_t *)h + data, &vnet, sizeof vnet);
		memcpy((uint8_t *)h + data + sizeof vnet, frame, len);
		h->tp_len = sizeof vnet + len;
		h->tp_next_offset = 0;
	}
	unsigned head = 0, batch = cut ? req.tp_frame_nr / 2 : 128;
	for (int64_t end = now() + (int64_t)(seconds * 1e9); now() < end;) {
		for (unsigned n = 0; n < batch; n++) {
			volatile uint32_t *status = &((struct tpacket3_hdr *)(ring + head * slot))->tp_status;
			if (*status & (TP_STATUS_SEND_REQUEST | TP_STATUS_SENDING))
				break;
			if (*status & TP_STATUS_WRONG_FORMAT) {
				fprintf(stderr, "the kernel refused a slot\n");
				return 1;
			}
			__atomic_store_n(status, TP_STATUS_SEND_REQUEST, __ATOMIC_RELEASE);
			head = (head + 1) % req.tp_frame_nr;
		}
		if (send(fd, NULL, 0, MSG_DONTWAIT) < 0 && errno != ENOBUFS && errno != EAGAIN)
			die("send");
	}
	return 0;
}

/* ---------------------------------------------------------------- gaps at the receiver */

static int ascending(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static int gaps(const char *dev, double pps, double seconds) {
	struct sockaddr_ll from;
	int fd = packet_socket(dev, ETH_P_IP, &from), on = 1, version = TPACKET_V3;
	option(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version, "PACKET_VERSION");
	option(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on, "SO_TIMESTAMPNS"); /* stamp at the door, not in the ring */
	struct tpacket_req3 req = {.tp_block_size = 1 << 18, .tp_block_nr = 64, .tp_frame_size = 2048, .tp_retire_blk_tov = 20};
	req.tp_frame_nr = req.tp_block_size / req.tp_frame_size * req.tp_block_nr;
	option(fd, SOL_PACKET, PACKET_RX_RING, &req, sizeof req, "PACKET_RX_RING");
	uint8_t *ring = mmap(NULL, (size_t)req.tp_block_size * req.tp_block_nr, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		die("mmap");
	if (bind(fd, (void *)&from, sizeof from))
		die("bind");

	size_t most = pps * seconds * 1.5 + 1000, n = 0, frames = 0;
	double *error = malloc(most * sizeof *error);
	int64_t last = 0, first = 0, nominal = 1e9 / pps, end = now() + (int64_t)(seconds * 1e9);
	unsigned block = 0;
	for (; now() < end;) {
		struct tpacket_block_desc *b = (void *)(ring + (size_t)block * req.tp_block_size);
		if (!(__atomic_load_n(&b->hdr.bh1.block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) {
			struct pollfd p = {.fd = fd, .events = POLLIN};
			poll(&p, 1, 50);
			continue;
		}
		uint8_t *at = (uint8_t *)b + b->hdr.bh1.offset_to_first_pkt;
		for (unsigned i = 0; i < b->hdr.bh1.num_pkts; i++) {
			struct tpacket3_hdr *h = (void *)at;
			const uint8_t *f = at + h->tp_mac;
			at += h->tp_next_offset;
			if (h->tp_snaplen < HEAD || f[ETH + 9] != 17 || f[ETH + IP + 2] != 0 || f[ETH + IP + 3] != 9)
				continue;
			int64_t t = h->tp_sec * 1000000000LL + h->tp_nsec;
			frames++;
			if (!first)
				first = t;
			if (last && t - first > 100000000 && n < most) {
				double e = (t - last - nominal) / 1e3;
				error[n++] = e < 0 ? -e : e;
			}
			last = t;
		}
		__atomic_store_n(&b->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
		block = (block + 1) % req.tp_block_nr;
	}
	struct tpacket_stats_v3 stats = {0};
	socklen_t len = sizeof stats;
	getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len);
	if (n == 0) {
		fprintf(stderr, "no frames\n");
		return 1;
	}
	qsort(error, n, sizeof *error, ascending);
	printf("%zu %u %.3f %.3f %.3f\n", frames, stats.tp_drops, error[n / 2], error[(size_t)(n * 0.99)], error[n - 1]);
	return 0;
}

/* ---------------------------------------------------------------- an independent decoder */

static uint32_t get32(const uint8_t *b) { return (uint32_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3]; }

/* fault says what is wrong with a frame, NULL if nothing is. */
static const char *fault(const uint8_t *f, unsigned len, unsigned size, uint32_t seq) {
	static char text[80];
	if (len != size)
		return snprintf(text, sizeof text, "%u bytes, want %u", len, size), text;
	if (f[12] != 8 || f[13] != 0 || f[ETH] != 0x45)
		return "not IPv4 without options";
	if ((unsigned)(f[ETH + 2] << 8 | f[ETH + 3]) != size - ETH)
		return "IP length";
	if (fold(sum(f + ETH, IP)) != 0xffff)
		return "IP checksum";
	unsigned udp = f[ETH + IP + 4] << 8 | f[ETH + IP + 5];
	if (f[ETH + 9] != 17 || udp != size - ETH - IP)
		return "UDP length";
	if (!(f[ETH + IP + 6] | f[ETH + IP + 7]))
		return "no UDP checksum";
	if (fold(pseudo(f, udp) + sum(f + ETH + IP, udp)) != 0xffff)
		return "UDP checksum";
	if (get32(f + HEAD) != 0xbe9be955)
		return "pktgen magic";
	if (get32(f + HEAD + 4) != seq)
		return snprintf(text, sizeof text, "sequence %u, want %u", get32(f + HEAD + 4), seq), text;
	return NULL;
}

static int check(const char *name, unsigned size, uint32_t seq, unsigned count) {
	FILE *in = fopen(name, "rb");
	uint32_t head[6], record[4];
	static uint8_t f[1 << 17];
	if (!in)
		die(name);
	if (fread(head, sizeof head, 1, in) != 1 || (head[0] != 0xa1b2c3d4 && head[0] != 0xa1b23c4d)) {
		fprintf(stderr, "%s: no pcap file of this byte order\n", name);
		return 1;
	}
	unsigned n = 0, bad = 0;
	for (; fread(record, sizeof record, 1, in) == 1; n++) {
		if (record[2] > sizeof f || fread(f, 1, record[2], in) != record[2])
			break;
		const char *why = record[2] < HEAD + 8 ? "cut short" : fault(f, record[3], size, seq + n);
		if (why && bad++ < 3)
			printf("frame %u: %s\n", n + 1, why);
	}
	printf("%u frames, %u bad, %u expected\n", n, bad, count);
	return bad || n != count;
}

int main(int n, char **v) {
	const char *mode = n > 1 ? v[1] : "";
	if (!strcmp(mode, "pace") && n == 5)
		return pace(v[2], atof(v[3]), atof(v[4]));
	if (!strcmp(mode, "loop") && n >= 7)
		return loop(v[2], atof(v[3]), atoi(v[4]), v[5], v[6], n > 7 ? atoi(v[7]) : 1);
	if (!strcmp(mode, "gaps") && n == 5)
		return gaps(v[2], atof(v[3]), atof(v[4]));
	if (!strcmp(mode, "check") && n == 6)
		return check(v[2], atoi(v[3]), atoi(v[4]), atoi(v[5]));
	fprintf(stderr, "usage: pacer pace|loop|gaps|check ... (see the head of its source)\n");
	return 2;
}
