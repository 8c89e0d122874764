// SPDX-License-Identifier: GPL-2.0
/* The userspace program that the module is compared with: an acceptor that
 * checks, merges and acknowledges with the module's own cores, behind
 * recvmmsg() and sendto().
 * Usage: merger SELF KEY PACKETS (ends when so many DATA are merged)
 */
#include <string.h>
#include <sys/socket.h>

#include "core/aggtable.h"
#include "core/record.h"
#include "wire.h"

#define CHUNKS		8192
#define CREDITS		64
#define NONCE		0xfedcba0987654321ULL

struct merger {
	int fd;
	struct aggnet_secret key;
	struct aggnet_table table;
	struct aggnet_rxwin win;
	u32 merged;
	u32 packets;
};

static void answer(struct merger *m, const struct aggnet_pkt *pkt,
		   const struct sockaddr_in *to, u8 type, const void *body,
		   u16 len)
{
	u8 buf[256] __attribute__((aligned(8)));
	struct aggnet_pkt reply = *pkt;

	reply.type = type;
	reply.flags = 0;
	reply.length = len;
	reply.src = pkt->dst;
	reply.dst = pkt->src;
	reply.src_nonce = NONCE;
	reply.dst_nonce = pkt->src_nonce;
	reply.echo = pkt->stamp;
	memcpy(buf + sizeof(struct aggnet_hdr), body, len);
	perf_seal(&m->key, (void *)buf, &reply);
	if (sendto(m->fd, buf, sizeof(struct aggnet_hdr) + len, 0,
		   (const void *)to, sizeof(*to)) < 0)
		perf_die("sendto");
}

static void acknowledge(struct merger *m, const struct aggnet_pkt *pkt,
			const struct sockaddr_in *to)
{
	struct aggnet_ack ack;

	aggnet_rxwin_ack(&m->win, &ack);
	ack.credit = cpu_to_be32(m->win.cum + CREDITS);
	answer(m, pkt, to, AGGNET_ACK, &ack, sizeof(ack));
}

static const struct aggnet_shape perf_shape = { .function = AGGNET_FN_SUM };

static void take_data(struct merger *m, const struct aggnet_pkt *pkt)
{
	const struct aggnet_data *data = (const void *)pkt->body;
	u32 records = be16_to_cpu(data->records);
	u32 seq = be32_to_cpu(data->seq);

	if (aggnet_rxwin_test(&m->win, seq) != AGGNET_SEQ_NEW)
		return;
	if (aggnet_parse_records(&perf_shape, false, pkt->body + sizeof(*data),
				 pkt->length - sizeof(*data),
				 aggnet_max_records(&perf_shape,
						    PERF_PAYLOAD)) !=
	    (int)records)
		return;
	aggnet_table_merge(&m->table, pkt->body + sizeof(*data), records,
			   be64_to_cpu(data->represents), false);
	aggnet_rxwin_mark(&m->win, seq);
	m->merged++;
}

static void take(struct merger *m, const u8 *buf, size_t len,
		 const struct sockaddr_in *from)
{
	struct aggnet_accept accept = {
		.max_payload = cpu_to_be16(PERF_PAYLOAD),
		.max_records = cpu_to_be16(aggnet_max_records(&perf_shape,
							      PERF_PAYLOAD)),
	};
	struct aggnet_pkt pkt;

	if (aggnet_parse_header(buf, len, &pkt) != AGGNET_PARSE_OK ||
	    pkt.src != from->sin_addr.s_addr ||
	    !aggnet_tag_ok(&m->key, (const void *)buf))
		return;
	if (pkt.type == AGGNET_OPEN) {
		pkt.dst = 0;
		answer(m, &pkt, from, AGGNET_ACCEPT, &accept, sizeof(accept));
		return;
	}
	if (pkt.type == AGGNET_DATA) {
		take_data(m, &pkt);
		if (!(pkt.flags & AGGNET_F_ACK))
			return;
	}
	acknowledge(m, &pkt, from);
}

static void run(struct merger *m)
{
	static u8 buf[PERF_BATCH][2048] __attribute__((aligned(8)));
	struct sockaddr_in from[PERF_BATCH];
	struct mmsghdr msg[PERF_BATCH] = {};
	struct iovec iov[PERF_BATCH];
	int i, n;

	for (i = 0; i < PERF_BATCH; i++) {
		iov[i] = (struct iovec){ buf[i], sizeof(buf[i]) };
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
		msg[i].msg_hdr.msg_name = &from[i];
	}
	while (m->merged < m->packets) {
		for (i = 0; i < PERF_BATCH; i++)
			msg[i].msg_hdr.msg_namelen = sizeof(from[i]);
		n = recvmmsg(m->fd, msg, PERF_BATCH, MSG_WAITFORONE, NULL);
		if (n < 0)
			perf_die("recvmmsg");
		for (i = 0; i < n; i++)
			take(m, buf[i], msg[i].msg_len, &from[i]);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons(AGGNET_UDP_PORT),
	};
	static u64 seed[AGGNET_KEY_MAX / 8 + 4];
	struct merger m = {};
	int size = 8 << 20;
	unsigned int i;

	if (argc != 4) {
		fprintf(stderr, "usage: merger SELF KEY PACKETS\n");
		return 2;
	}
	a.sin_addr.s_addr = perf_addr(argv[1]);
	m.key = perf_key(argv[2]);
	m.packets = strtoul(argv[3], NULL, 0);
	for (i = 0; i < sizeof(seed) / sizeof(*seed); i++)
		seed[i] = (i + 1) * 0x9e3779b97f4a7c15ULL;
	if (aggnet_table_init(&m.table, &perf_shape,
			      (u64)CHUNKS * AGGNET_CHUNK, seed))
		perf_die("table");
	for (i = 0; i < CHUNKS; i++)
		aggnet_table_grow(&m.table, aggnet_chunk_alloc());
	aggnet_rxwin_init(&m.win, AGGNET_SEQ_FIRST);
	m.fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (m.fd < 0 || bind(m.fd, (void *)&a, sizeof(a)))
		perf_die("socket");
	setsockopt(m.fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	printf("ready\n");
	fflush(stdout);
	run(&m);
	printf("%u packets, %u keys\n", m.merged, m.table.keys);
	return 0;
}
