// SPDX-License-Identifier: GPL-2.0
/* A child of the protocol that only sends: it makes all packets before the
 * clock starts, and prints the seconds of sending them.
 * Usage: child SELF ACCEPTOR RECEIVER JOB INSTANCE KEY KEYS PACKETS [blast]
 *   blast: no handshake and no window, for programs that do not answer
 */
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "wire.h"

#define WAIT_MS		2000
#define NONCE		0x1234567890abcdefULL

struct child {
	int fd;
	struct sockaddr_in to;
	struct aggnet_secret key;
	struct aggnet_pkt base;		/* the fields that all packets share */
	u8 *packet;
	u32 packets;
	u32 una;			/* in packets from the first */
	u32 credit;
};

static u64 draw(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	return z ^ (z >> 31);
}

static void make_records(u8 *p, u64 *state, u32 keys)
{
	u64 key, value;
	int i;

	for (i = 0; i < PERF_RECORDS; i++, p += PERF_RECORD) {
		key = draw(state) % keys;
		value = draw(state) >> 2 | 1ULL << 61;
		p[0] = PERF_KEY;
		p[1] = PERF_VALUE;
		memcpy(p + 2, &key, PERF_KEY);
		memcpy(p + 2 + PERF_KEY, &value, PERF_VALUE);
	}
}

static void make_packets(struct child *c, u32 keys)
{
	struct aggnet_pkt pkt = c->base;
	u64 state = 1;
	u32 i;

	pkt.type = AGGNET_DATA;
	pkt.length = PERF_BODY;
	c->packet = malloc((size_t)c->packets * PERF_PACKET);
	if (!c->packet)
		perf_die("memory for the packets");
	for (i = 0; i < c->packets; i++) {
		struct aggnet_hdr *hdr = (void *)(c->packet + i * PERF_PACKET);
		struct aggnet_data *data = (void *)(hdr + 1);

		*data = (struct aggnet_data) {
			.seq = cpu_to_be32(AGGNET_SEQ_FIRST + i),
			.records = cpu_to_be16(PERF_RECORDS),
			.represents = cpu_to_be64(PERF_RECORDS),
		};
		make_records((u8 *)(data + 1), &state, keys);
		pkt.flags = (i & 7) == 7 || i + 1 == c->packets ?
			    AGGNET_F_ACK : 0;
		perf_seal(&c->key, hdr, &pkt);
	}
}

static void send_control(struct child *c, u8 type, const void *body, u16 len)
{
	u8 buf[sizeof(struct aggnet_hdr) + 64] __attribute__((aligned(8)));
	struct aggnet_pkt pkt = c->base;

	pkt.type = type;
	pkt.length = len;
	memcpy(buf + sizeof(struct aggnet_hdr), body, len);
	perf_seal(&c->key, (void *)buf, &pkt);
	if (sendto(c->fd, buf, sizeof(struct aggnet_hdr) + len, 0,
		   (void *)&c->to, sizeof(c->to)) < 0)
		perf_die("sendto");
}

/* Take answers up to the next one of this type. */
static bool receive(struct child *c, u8 type, int flags)
{
	u8 buf[2048] __attribute__((aligned(8)));
	const struct aggnet_ack *ack;
	struct aggnet_pkt pkt;
	ssize_t len;

	len = recv(c->fd, buf, sizeof(buf), flags);
	if (len < 0 || aggnet_parse_header(buf, len, &pkt) != AGGNET_PARSE_OK ||
	    !aggnet_tag_ok(&c->key, (void *)buf))
		return false;
	if (pkt.type == AGGNET_ACCEPT) {
		c->base.dst_nonce = pkt.src_nonce;
		c->base.dst = pkt.src;
	} else if (pkt.type == AGGNET_ACK) {
		ack = (const void *)pkt.body;
		c->una = be32_to_cpu(ack->cum) - AGGNET_SEQ_FIRST;
		c->credit = be32_to_cpu(ack->credit) - AGGNET_SEQ_FIRST;
	}
	return pkt.type == type;
}

static void expect(struct child *c, u8 type, const char *what)
{
	struct pollfd pfd = { .fd = c->fd, .events = POLLIN };

	while (!receive(c, type, MSG_DONTWAIT)) {
		if (poll(&pfd, 1, WAIT_MS) <= 0) {
			fprintf(stderr, "child: no %s\n", what);
			exit(1);
		}
	}
}

static void handshake(struct child *c)
{
	struct aggnet_open open = { .function = AGGNET_FN_SUM };
	__be32 dst = c->base.dst;

	c->base.dst = 0;
	send_control(c, AGGNET_OPEN, &open, sizeof(open));
	c->base.dst = dst;
	expect(c, AGGNET_ACCEPT, "ACCEPT");
	send_control(c, AGGNET_PROBE, &open, 0);
	expect(c, AGGNET_ACK, "ACK");
}

static u32 send_batch(struct child *c, u32 from, u32 n)
{
	struct mmsghdr msg[PERF_BATCH] = {};
	struct iovec iov[PERF_BATCH];
	int sent;
	u32 i;

	for (i = 0; i < n; i++) {
		iov[i].iov_base = c->packet + (size_t)(from + i) * PERF_PACKET;
		iov[i].iov_len = PERF_PACKET;
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
		msg[i].msg_hdr.msg_name = &c->to;
		msg[i].msg_hdr.msg_namelen = sizeof(c->to);
	}
	sent = sendmmsg(c->fd, msg, n, 0);
	if (sent < 0)
		perf_die("sendmmsg");
	return sent;
}

static void send_all(struct child *c, bool blast)
{
	u32 nxt = 0, room;

	while (nxt < c->packets || (!blast && c->una < c->packets)) {
		bool heard = false;

		room = blast ? c->packets : c->credit;
		room = room < c->packets ? room - nxt : c->packets - nxt;
		if (room)
			nxt += send_batch(c, nxt, room < PERF_BATCH ? room :
					  PERF_BATCH);
		if (blast)
			continue;
		while (receive(c, AGGNET_ACK, MSG_DONTWAIT))
			heard = true;
		/*
		 * The last packet within the credit did not ask for an answer.
		 */
		if (!room && !heard) {
			send_control(c, AGGNET_PROBE, c->packet, 0);
			expect(c, AGGNET_ACK, "ACK");
		}
	}
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void open_socket(struct child *c, __be32 self, __be32 to)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons(AGGNET_UDP_PORT),
		.sin_addr.s_addr = self,
	};
	int size = 8 << 20;

	c->fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (c->fd < 0 || bind(c->fd, (void *)&a, sizeof(a)))
		perf_die("socket");
	setsockopt(c->fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	setsockopt(c->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	/* Not connected: answers come from the port of the channel. */
	c->to = a;
	c->to.sin_addr.s_addr = to;
}

int main(int argc, char **argv)
{
	bool blast = argc == 10 && !strcmp(argv[9], "blast");
	struct child c = {};
	double start;

	if (argc != 9 && !blast) {
		fprintf(stderr, "usage: child SELF ACCEPTOR RECEIVER JOB INSTANCE KEY KEYS PACKETS [blast]\n");
		return 2;
	}
	c.base.src = perf_addr(argv[1]);
	c.base.dst = perf_addr(argv[2]);
	c.base.incast_id = strtoull(argv[4], NULL, 0) << 32 |
			   be32_to_cpu(perf_addr(argv[3]));
	c.base.instance = strtoul(argv[5], NULL, 0);
	c.base.hop = AGGNET_HOP_MAX;
	c.base.src_nonce = NONCE;
	c.key = perf_key(argv[6]);
	c.packets = strtoul(argv[8], NULL, 0);
	open_socket(&c, c.base.src, c.base.dst);
	if (!blast)
		handshake(&c);
	make_packets(&c, strtoul(argv[7], NULL, 0));
	start = now();
	send_all(&c, blast);
	printf("%.9f\n", now() - start);
	return 0;
}
