// SPDX-License-Identifier: GPL-2.0
/* The userspace program that the module is compared with: an acceptor that checks,
 * merges and acknowledges with the module's own cores, behind recvmmsg() and
 * sendto(). It ends when the FIN of all children is taken, and prints its result as
 * JSON.
 * Usage: merger [OPTION...] SELF
 *   -l LOAD       workload: LAYOUT:VTYPE:KEY-BYTES:KEYS
 *   -c CHILDREN   their identities are those after SELF
 *   -k KEY        32 hex digits
 *   -g            datagrams that UDP_GRO has joined, up to 64 KB in a message
 */
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/aggtable.h"
#include "core/record.h"
#include "wire.h"
#include "workload.h"

#define CHUNKS		8192
#define NONCE		0xfedcba0987654321ULL
#define MESSAGE_MAX	65536

struct merger {
	int fd;
	__be32 self;
	struct aggnet_secret key;
	struct perf_load load;
	struct aggnet_table table;
	struct aggnet_rxwin win[PERF_CHILDREN];
	u32 children;
	u32 finished;
	u64 messages;
	u64 datagrams;
	struct perf_result result;
};

static void answer(struct merger *m, const struct aggnet_pkt *pkt,
		   const struct sockaddr_in *to, u8 type, u16 flags,
		   const void *body, u16 len)
{
	u8 buf[256] __attribute__((aligned(8)));
	struct aggnet_pkt reply = *pkt;

	reply.type = type;
	reply.flags = flags;
	reply.length = len;
	reply.src = m->self;
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
			const struct aggnet_rxwin *win,
			const struct sockaddr_in *to)
{
	struct aggnet_ack ack;

	aggnet_rxwin_ack(win, &ack);
	ack.credit = cpu_to_be32(win->cum + AGGNET_CREDITS);
	answer(m, pkt, to, AGGNET_ACK,
	       pkt->type == AGGNET_FIN ? AGGNET_F_FIN : 0, &ack, sizeof(ack));
}

static void accept_child(struct merger *m, const struct aggnet_pkt *pkt,
			 const struct sockaddr_in *to)
{
	const struct aggnet_accept accept = {
		.max_payload = cpu_to_be16(PERF_PAYLOAD),
		.max_records = cpu_to_be16(aggnet_max_records(&m->load.shape,
							      PERF_PAYLOAD)),
	};

	answer(m, pkt, to, AGGNET_ACCEPT, 0, &accept, sizeof(accept));
}

static void take_data(struct merger *m, const struct aggnet_pkt *pkt,
		      struct aggnet_rxwin *win)
{
	const struct aggnet_data *data = (const void *)pkt->body;
	u32 records = be16_to_cpu(data->records);
	u32 seq = be32_to_cpu(data->seq);

	if (aggnet_rxwin_test(win, seq) != AGGNET_SEQ_NEW)
		return;
	if (aggnet_parse_records(&m->load.shape, false,
				 pkt->body + sizeof(*data),
				 pkt->length - sizeof(*data),
				 aggnet_max_records(&m->load.shape,
						    PERF_PAYLOAD)) !=
	    (int)records)
		return;
	aggnet_table_merge(&m->table, pkt->body + sizeof(*data), records,
			   be64_to_cpu(data->represents), false);
	aggnet_rxwin_mark(win, seq);
}

static void take(struct merger *m, const u8 *buf, size_t len,
		 const struct sockaddr_in *from)
{
	struct aggnet_pkt pkt;
	u32 n;

	m->datagrams++;
	if (aggnet_parse_header(buf, len, &pkt) != AGGNET_PARSE_OK ||
	    pkt.src != from->sin_addr.s_addr ||
	    !aggnet_tag_ok(&m->key, (const void *)buf))
		return;
	n = be32_to_cpu(pkt.src) - be32_to_cpu(m->self) - 1;
	if (n >= m->children)
		return;
	if (pkt.type == AGGNET_OPEN) {
		accept_child(m, &pkt, from);
		return;
	}
	if (pkt.type == AGGNET_DATA) {
		take_data(m, &pkt, &m->win[n]);
		if (!(pkt.flags & AGGNET_F_ACK))
			return;
	}
	m->finished += pkt.type == AGGNET_FIN;
	acknowledge(m, &pkt, &m->win[n], from);
}

/* --- socket ----------------------------------------------------------------- */

/* Bytes of each datagram of a message; the last one may be shorter. */
static size_t datagram_bytes(struct msghdr *msg, size_t len)
{
	struct cmsghdr *cmsg;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg))
		if (cmsg->cmsg_level == IPPROTO_UDP &&
		    cmsg->cmsg_type == UDP_GRO)
			return *(int *)CMSG_DATA(cmsg);
	return len;
}

static void take_message(struct merger *m, struct msghdr *msg, size_t len)
{
	size_t each = datagram_bytes(msg, len), off;
	const u8 *buf = msg->msg_iov->iov_base;

	m->messages++;
	for (off = 0; off < len; off += each)
		take(m, buf + off, len - off < each ? len - off : each,
		     msg->msg_name);
}

static void run(struct merger *m)
{
	static u8 buf[PERF_BATCH][MESSAGE_MAX] __attribute__((aligned(8)));
	static char control[PERF_BATCH][CMSG_SPACE(sizeof(int))];
	struct sockaddr_in from[PERF_BATCH];
	struct mmsghdr msg[PERF_BATCH] = {};
	struct iovec iov[PERF_BATCH];
	int i, n;

	for (i = 0; i < PERF_BATCH; i++) {
		iov[i] = (struct iovec){ buf[i], sizeof(buf[i]) };
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
		msg[i].msg_hdr.msg_name = &from[i];
		msg[i].msg_hdr.msg_control = control[i];
	}
	while (m->finished < m->children) {
		for (i = 0; i < PERF_BATCH; i++) {
			msg[i].msg_hdr.msg_namelen = sizeof(from[i]);
			msg[i].msg_hdr.msg_controllen = sizeof(control[i]);
		}
		n = recvmmsg(m->fd, msg, PERF_BATCH, MSG_WAITFORONE, NULL);
		if (n < 0)
			perf_die("recvmmsg");
		for (i = 0; i < n; i++)
			take_message(m, &msg[i].msg_hdr, msg[i].msg_len);
	}
}

static void open_socket(struct merger *m, bool gro)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons(AGGNET_UDP_PORT),
		.sin_addr.s_addr = m->self,
	};
	int size = 8 << 20, one = 1;

	m->fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (m->fd < 0 || bind(m->fd, (void *)&a, sizeof(a)))
		perf_die("socket");
	setsockopt(m->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	if (gro && setsockopt(m->fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one)))
		perf_die("UDP_GRO");
}

/* --- table ------------------------------------------------------------------ */

static void make_table(struct merger *m)
{
	static u64 seed[AGGNET_SEED_WORDS];
	unsigned int i;

	for (i = 0; i < AGGNET_SEED_WORDS; i++)
		seed[i] = (i + 1) * 0x9e3779b97f4a7c15ULL;
	if (aggnet_table_init(&m->table, &m->load.shape,
			      (u64)CHUNKS * AGGNET_CHUNK, seed))
		perf_die("table");
	for (i = 0; i < CHUNKS; i++)
		aggnet_table_grow(&m->table, aggnet_chunk_alloc());
}

static void print_table(struct merger *m)
{
	static u8 buf[PERF_PAYLOAD];
	u64 represents;
	u32 records;

	while (aggnet_table_pack(&m->table, buf, sizeof(buf), ~0u, &records,
				 &represents)) {
		perf_result_add(&m->load, &m->result, buf, records);
		m->result.records += represents;
	}
	printf("{\"messages\": %llu, \"datagrams\": %llu, ", m->messages,
	       m->datagrams);
	perf_result_print(&m->result);
	printf("}\n");
}

static void usage(void)
{
	fprintf(stderr, "usage: merger [OPTION...] SELF\n");
	exit(2);
}

int main(int argc, char **argv)
{
	static struct merger m = { .children = 1 };
	const char *load = "keyed:int64:8:4096";
	bool gro = false;
	unsigned int i;
	int opt;

	while ((opt = getopt(argc, argv, "l:c:k:g")) != -1) {
		switch (opt) {
		case 'l':
			load = optarg;
			break;
		case 'c':
			m.children = strtoul(optarg, NULL, 0);
			break;
		case 'k':
			m.key = perf_key(optarg);
			break;
		case 'g':
			gro = true;
			break;
		default:
			usage();
		}
	}
	if (optind + 1 != argc || m.children > PERF_CHILDREN)
		usage();
	m.self = perf_addr(argv[optind]);
	m.load = perf_load(load);
	make_table(&m);
	for (i = 0; i < m.children; i++)
		aggnet_rxwin_init(&m.win[i], AGGNET_SEQ_FIRST);
	open_socket(&m, gro);
	printf("ready\n");
	fflush(stdout);
	run(&m);
	print_table(&m);
	return 0;
}
