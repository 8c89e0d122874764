// SPDX-License-Identifier: GPL-2.0
/* Children of the protocol that only send: they make all packets before the clock
 * starts. Prints the seconds of sending them, and what was sent, as JSON.
 * Usage: child [OPTION...] SELF ACCEPTOR
 *   -l LOAD       workload: LAYOUT:VTYPE:KEY-BYTES:KEYS
 *   -p PACKETS    DATA of all children together
 *   -c CHILDREN   their identities are SELF and those after it
 *   -j JOB, -i INSTANCE  job ID (1) and epoch of the tree
 *   -k KEY        32 hex digits
 *   -b            no handshake and no window, for programs that do not answer
 */
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/sender.h"
#include "wire.h"
#include "workload.h"

#define WAIT_MS		2000
#define NONCE		0x1234567890abcdefULL
#define PACKET_MAX	1536

/**
 * struct form - the fields by which a DATA that asks for an ACK differs
 */
struct form {
	__be16 flags;
	__be64 tag;
};

struct packet {
	u8 bytes[PACKET_MAX] __attribute__((aligned(8)));
	u32 len;
	struct form form[2];	/* without and with AGGNET_F_ACK */
};

struct child {
	struct aggnet_sender s;
	struct aggnet_segment segment[AGGNET_WINDOW];
	struct aggnet_pkt base;		/* the fields that all packets share */
	struct packet *packet;
	u32 end;			/* sequence behind the last packet */
	u64 records;
	bool finished;			/* its FIN is taken */
	char control[CMSG_SPACE(sizeof(struct in_pktinfo))];
};

/**
 * struct crowd - all children, with one socket
 */
struct crowd {
	int fd;
	struct sockaddr_in to;
	struct aggnet_secret key;
	struct perf_load load;
	struct perf_result result;
	struct child child[PERF_CHILDREN];
	u32 children;
	u32 packets;			/* of each */
	u32 turn;			/* the child that sends next */
	bool blast;
};

/* --- packets ---------------------------------------------------------------- */

static void seal(const struct crowd *crowd, struct packet *p,
		 struct aggnet_pkt *pkt, u16 flags)
{
	struct aggnet_hdr *hdr = (void *)p->bytes;
	struct form *form = &p->form[!!(flags & AGGNET_F_ACK)];

	pkt->flags = flags;
	perf_seal(&crowd->key, hdr, pkt);
	form->flags = hdr->flags;
	form->tag = hdr->tag;
}

static void make_packet(struct crowd *crowd, struct child *c,
			struct perf_feed *feed, u32 number)
{
	struct packet *p = &c->packet[number];
	struct aggnet_data *data = (void *)(p->bytes + sizeof(struct aggnet_hdr));
	struct aggnet_pkt pkt = c->base;
	u32 records;

	pkt.type = AGGNET_DATA;
	pkt.length = sizeof(*data) + perf_fill(feed, (u8 *)(data + 1),
					       PERF_PAYLOAD, &records);
	*data = (struct aggnet_data) {
		.seq = cpu_to_be32(AGGNET_SEQ_FIRST + number),
		.records = cpu_to_be16(records),
		.weight = cpu_to_be16(crowd->load.shape.layout ==
				      AGGNET_LAYOUT_SORTED),
		.represents = cpu_to_be64(records),
	};
	c->records += records;
	p->len = sizeof(struct aggnet_hdr) + pkt.length;
	seal(crowd, p, &pkt, AGGNET_F_ACK);
	seal(crowd, p, &pkt, 0);
}

static void make_packets(struct crowd *crowd)
{
	/* A record has at least 4 bytes. */
	u64 most = crowd->load.keys ?:
		   (u64)crowd->packets * (PERF_PAYLOAD / 4);
	u64 *seen = calloc(most / 64 + 1, sizeof(*seen));
	u32 i, n;

	if (!seen)
		perf_die("memory for the keys");
	for (i = 0; i < crowd->children; i++) {
		struct child *c = &crowd->child[i];
		struct perf_feed feed = {
			.load = &crowd->load,
			.result = &crowd->result,
			.seen = seen,
			.random = i + 1,
		};

		c->packet = calloc(crowd->packets, sizeof(*c->packet));
		if (!c->packet)
			perf_die("memory for the packets");
		for (n = 0; n < crowd->packets; n++)
			make_packet(crowd, c, &feed, n);
	}
	free(seen);
}

/* --- control packets -------------------------------------------------------- */

static void address_from(struct child *c, struct msghdr *msg)
{
	struct in_pktinfo info = { .ipi_spec_dst.s_addr = c->base.src };
	struct cmsghdr *cmsg;

	msg->msg_control = c->control;
	msg->msg_controllen = sizeof(c->control);
	cmsg = CMSG_FIRSTHDR(msg);
	cmsg->cmsg_level = IPPROTO_IP;
	cmsg->cmsg_type = IP_PKTINFO;
	cmsg->cmsg_len = CMSG_LEN(sizeof(info));
	memcpy(CMSG_DATA(cmsg), &info, sizeof(info));
}

static void send_control(struct crowd *crowd, struct child *c, u8 type,
			 const void *body, u16 len)
{
	u8 buf[sizeof(struct aggnet_hdr) + 64] __attribute__((aligned(8)));
	struct iovec iov = { buf, sizeof(struct aggnet_hdr) + len };
	struct aggnet_pkt pkt = c->base;
	struct msghdr msg = {
		.msg_name = &crowd->to,
		.msg_namelen = sizeof(crowd->to),
		.msg_iov = &iov,
		.msg_iovlen = 1,
	};

	pkt.type = type;
	pkt.length = len;
	if (len)
		memcpy(buf + sizeof(struct aggnet_hdr), body, len);
	perf_seal(&crowd->key, (void *)buf, &pkt);
	address_from(c, &msg);
	if (sendmsg(crowd->fd, &msg, 0) < 0)
		perf_die("sendmsg");
}

static void take_ack(struct child *c, const struct aggnet_pkt *pkt)
{
	const struct aggnet_ack *ack = (const void *)pkt->body;

	c->s.una = be32_to_cpu(ack->cum);
	c->s.credit = be32_to_cpu(ack->credit);
	c->s.flight = c->s.nxt - c->s.una;
	c->finished = pkt->flags & AGGNET_F_FIN;
}

/* Take a packet, if there is one. Return: its type, 0: there is none */
static u8 receive(struct crowd *crowd)
{
	u8 buf[2048] __attribute__((aligned(8)));
	struct aggnet_pkt pkt;
	struct child *c;
	ssize_t len;
	u32 n;

	len = recv(crowd->fd, buf, sizeof(buf), MSG_DONTWAIT);
	if (len < 0)
		return 0;
	if (aggnet_parse_header(buf, len, &pkt) != AGGNET_PARSE_OK ||
	    !aggnet_tag_ok(&crowd->key, (void *)buf)) {
		fprintf(stderr, "child: a packet is malformed\n");
		exit(1);
	}
	n = be32_to_cpu(pkt.dst) - be32_to_cpu(crowd->child[0].base.src);
	if (n >= crowd->children)
		return pkt.type;
	c = &crowd->child[n];
	if (pkt.type == AGGNET_ACCEPT) {
		c->base.dst_nonce = pkt.src_nonce;
		c->base.dst = pkt.src;
	} else if (pkt.type == AGGNET_ACK) {
		take_ack(c, &pkt);
	}
	return pkt.type;
}

static void await(struct crowd *crowd, u8 type, const char *what)
{
	struct pollfd pfd = { .fd = crowd->fd, .events = POLLIN };

	while (receive(crowd) != type) {
		if (poll(&pfd, 1, WAIT_MS) <= 0) {
			fprintf(stderr, "child: no %s\n", what);
			exit(1);
		}
	}
}

static void handshake(struct crowd *crowd, struct child *c)
{
	const struct aggnet_shape *shape = &crowd->load.shape;
	struct aggnet_open open = {
		.function = shape->function,
		.vtype = shape->vtype,
		.layout = shape->layout,
		.elements = cpu_to_be64(shape->elements),
	};
	__be32 dst = c->base.dst;

	c->base.dst = 0;
	send_control(crowd, c, AGGNET_OPEN, &open, sizeof(open));
	c->base.dst = dst;
	await(crowd, AGGNET_ACCEPT, "ACCEPT");
	send_control(crowd, c, AGGNET_PROBE, NULL, 0);
	await(crowd, AGGNET_ACK, "ACK");
}

static void finish(struct crowd *crowd, struct child *c)
{
	struct aggnet_fin fin = {
		.final = cpu_to_be32(c->end),
		.weight = cpu_to_be32(1),
		.records = cpu_to_be64(c->records),
		.members = cpu_to_be32(aggnet_member(be32_to_cpu(c->base.src))),
	};

	send_control(crowd, c, AGGNET_FIN, &fin, sizeof(fin));
	while (!c->finished)
		await(crowd, AGGNET_ACK, "ACK of FIN");
}

/* --- DATA ------------------------------------------------------------------- */

static bool may_send(const struct crowd *crowd, const struct child *c)
{
	return c->s.nxt != c->end &&
	       (crowd->blast || aggnet_sender_may_add(&c->s));
}

/* Take the next packet of a child, in the form that the module would send. */
static struct packet *take_packet(const struct crowd *crowd, struct child *c)
{
	u32 seq = aggnet_sender_add(&c->s, 0);
	struct packet *p = &c->packet[seq - AGGNET_SEQ_FIRST];
	struct aggnet_hdr *hdr = (void *)p->bytes;
	bool ask;

	ask = c->s.nxt == c->end ||
	      (!crowd->blast && aggnet_sender_wants_ack(&c->s));
	if (ask)
		aggnet_sender_ask(&c->s, seq);
	hdr->flags = p->form[ask].flags;
	hdr->tag = p->form[ask].tag;
	return p;
}

/* Send packets of the children in turns. Return: how many */
static u32 send_batch(struct crowd *crowd)
{
	struct mmsghdr msg[PERF_BATCH] = {};
	struct iovec iov[PERF_BATCH];
	u32 n = 0, idle = 0;

	for (; n < PERF_BATCH && idle < crowd->children; crowd->turn++) {
		struct child *c = &crowd->child[crowd->turn % crowd->children];
		struct packet *p;

		if (!may_send(crowd, c)) {
			idle++;
			continue;
		}
		idle = 0;
		p = take_packet(crowd, c);
		iov[n] = (struct iovec){ p->bytes, p->len };
		msg[n].msg_hdr = (struct msghdr) {
			.msg_name = &crowd->to,
			.msg_namelen = sizeof(crowd->to),
			.msg_iov = &iov[n],
			.msg_iovlen = 1,
		};
		address_from(c, &msg[n++].msg_hdr);
	}
	if (n && sendmmsg(crowd->fd, msg, n, 0) != (int)n)
		perf_die("sendmmsg");
	return n;
}

static bool all_sent(const struct crowd *crowd)
{
	const struct child *c = crowd->child;
	u32 i;

	for (i = 0; i < crowd->children; i++, c++)
		if ((crowd->blast ? c->s.nxt : c->s.una) != c->end)
			return false;
	return true;
}

static void send_all(struct crowd *crowd)
{
	while (!all_sent(crowd)) {
		u32 sent = send_batch(crowd);

		if (crowd->blast)
			continue;
		if (!sent)
			await(crowd, AGGNET_ACK, "ACK");
		while (receive(crowd))
			;
	}
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void open_socket(struct crowd *crowd, __be32 to)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons(AGGNET_UDP_PORT),
	};
	int size = 8 << 20;

	crowd->fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (crowd->fd < 0 || bind(crowd->fd, (void *)&a, sizeof(a)))
		perf_die("socket");
	setsockopt(crowd->fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	setsockopt(crowd->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	/* Not connected: answers come from the port of the channel. */
	crowd->to = a;
	crowd->to.sin_addr.s_addr = to;
}

static void add_child(struct crowd *crowd, __be32 first, u32 number, u32 job,
		      u32 instance)
{
	struct child *c = &crowd->child[number];

	/* No packet is lost here, so nothing narrows the congestion window. */
	aggnet_sender_init(&c->s, c->segment, AGGNET_WINDOW, AGGNET_SEQ_FIRST);
	c->s.cwnd.cwnd = c->s.cwnd.max;
	c->end = AGGNET_SEQ_FIRST + crowd->packets;
	c->base = (struct aggnet_pkt) {
		.src = cpu_to_be32(be32_to_cpu(first) + number),
		.dst = crowd->to.sin_addr.s_addr,
		.incast_id = (u64)job << 32 |
			     be32_to_cpu(crowd->to.sin_addr.s_addr),
		.instance = instance,
		.hop = AGGNET_HOP_MAX,
		.src_nonce = NONCE + number,
	};
}

static void usage(void)
{
	fprintf(stderr, "usage: child [OPTION...] SELF ACCEPTOR\n");
	exit(2);
}

/**
 * struct options - of the command line
 */
struct options {
	const char *load;
	u32 job;
	u32 instance;
};

static struct options read_options(struct crowd *crowd, int argc, char **argv)
{
	struct options o = { .load = "keyed:int64:8:4096", .job = 1 };
	int opt;

	while ((opt = getopt(argc, argv, "l:p:c:j:i:k:b")) != -1) {
		switch (opt) {
		case 'l':
			o.load = optarg;
			break;
		case 'p':
			crowd->packets = strtoul(optarg, NULL, 0);
			break;
		case 'c':
			crowd->children = strtoul(optarg, NULL, 0);
			break;
		case 'j':
			o.job = strtoul(optarg, NULL, 0);
			break;
		case 'i':
			o.instance = strtoul(optarg, NULL, 0);
			break;
		case 'k':
			crowd->key = perf_key(optarg);
			break;
		case 'b':
			crowd->blast = true;
			break;
		default:
			usage();
		}
	}
	return o;
}

int main(int argc, char **argv)
{
	static struct crowd crowd = { .children = 1, .packets = 6000 };
	struct options o = read_options(&crowd, argc, argv);
	double start;
	u32 i;

	if (optind + 2 != argc || !crowd.children ||
	    crowd.children > PERF_CHILDREN)
		usage();
	crowd.load = perf_load(o.load);
	crowd.packets /= crowd.children;
	open_socket(&crowd, perf_addr(argv[optind + 1]));
	for (i = 0; i < crowd.children; i++)
		add_child(&crowd, perf_addr(argv[optind]), i, o.job,
			  o.instance);
	for (i = 0; i < crowd.children && !crowd.blast; i++)
		handshake(&crowd, &crowd.child[i]);
	make_packets(&crowd);
	start = now();
	send_all(&crowd);
	printf("{\"seconds\": %.9f, \"packets\": %u, \"elements\": %llu, ",
	       now() - start, crowd.packets * crowd.children,
	       crowd.result.records * perf_elements(&crowd.load));
	perf_result_print(&crowd.result);
	printf("}\n");
	for (i = 0; i < crowd.children && !crowd.blast; i++)
		finish(&crowd, &crowd.child[i]);
	return 0;
}
