// SPDX-License-Identifier: GPL-2.0
/* Random frames with right checksums and small errors, to a node with entries:
 * many bind, are acknowledged and merge. Afterwards the node must still serve
 * and free all memory. SEED=n repeats a run, FUZZ_SECONDS=n makes it longer.
 * The runner reads the kernel's log for faults.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/aggnet_packet.h>

#include "../lib/inet_sum.h"
#include "harness.h"
#include "nl_node.h"

#define JOBS		4
#define CHILDREN	6	/* 10.0.0.2 and the following ones */
#define HEADERS		(sizeof(struct ethhdr) + sizeof(struct iphdr) + \
			 sizeof(struct udphdr))

/* A child's channel, as far as valid packets need it. */
struct child {
	uint64_t nonce;
	uint64_t acceptor;
	uint32_t seq;
};

FIXTURE(raw) {
	struct nl nl;
	unsigned int seed;
	int wire;
	uint8_t mac[6];
	struct child child[JOBS][CHILDREN];
	union {
		uint8_t bytes[2048];
		struct ethhdr eth;
	} frame;
	unsigned int sent, answers, merged;
};

#define SELF	FIXTURE_DATA(raw)

static unsigned int some(SELF *self, unsigned int n)
{
	return rand_r(&self->seed) % n;
}

static bool rarely(SELF *self)
{
	return !some(self, 40);
}

/* --- checksums ----------------------------------------------------------- */

static uint32_t crc32c(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint32_t crc = ~0u;
	int bit;

	while (len--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	return ~crc;
}

static void put_tag(struct aggnet_hdr *hdr, size_t body)
{
	struct {
		struct aggnet_hdr hdr;
		uint32_t crc;
	} __attribute__((packed, aligned(4))) in;

	in.hdr = *hdr;
	in.hdr.hop = 0;
	in.hdr.tag = 0;
	in.crc = htonl(crc32c(hdr + 1, body));
	hdr->tag = htobe64(crc32c(&in, sizeof(in)));
}

/* --- packets -------------------------------------------------------------- */

static uint64_t random64(SELF *self)
{
	return (uint64_t)rand_r(&self->seed) << 32 ^ rand_r(&self->seed);
}

static size_t put_records(SELF *self, uint8_t *at, unsigned int n)
{
	size_t used = 0;

	for (; n; n--) {
		uint8_t klen = 1 + some(self, some(self, 8) ? 8 : 200);
		uint8_t vlen = some(self, some(self, 8) ? 9 : 20);

		if (used + 2 + klen + vlen > 1384)
			break;
		at[used] = rarely(self) ? 0 : klen;
		at[used + 1] = vlen;
		memset(at + used + 2, 'a' + some(self, 26), klen);
		memset(at + used + 2 + klen, some(self, 256), vlen);
		used += 2 + klen + vlen;
	}
	return used;
}

static size_t put_data(SELF *self, struct child *c, struct aggnet_data *data)
{
	unsigned int n = 1 + some(self, 12);
	size_t len = put_records(self, (uint8_t *)(data + 1), n);

	*data = (struct aggnet_data) {
		.seq = htonl(some(self, 8) ? c->seq++ :
			     c->seq - 300 + some(self, 600)),
		.records = htons(rarely(self) ? some(self, 65536) : n),
		.represents = htobe64(rarely(self) ? random64(self) : n),
	};
	return sizeof(*data) + len;
}

/* Make a packet's body, with a wrong field now and then. Return: its length */
static size_t put_body(SELF *self, struct child *c, uint8_t type, void *body)
{
	size_t i;

	memset(body, 0, 300);
	switch (type) {
	case AGGNET_OPEN:
		*(struct aggnet_open *)body = (struct aggnet_open) {
			.function = rarely(self) ? some(self, 8) :
						   AGGNET_FN_SUM,
			.vtype = AGGNET_VTYPE_INT64,
		};
		return sizeof(struct aggnet_open);
	case AGGNET_DATA:
		return put_data(self, c, body);
	case AGGNET_FIN:
		*(struct aggnet_fin *)body = (struct aggnet_fin) {
			.final = htonl(c->seq - some(self, 2)),
			.weight = htonl(some(self, 3)),
			.records = htobe64(some(self, 100)),
		};
		return sizeof(struct aggnet_fin);
	case AGGNET_ABORT:
		/*
		 * Use it rarely: afterwards the channel takes no other packet.
		 */
		*(struct aggnet_abort *)body = (struct aggnet_abort) {
			.reason = htonl(some(self, 20)),
		};
		return sizeof(struct aggnet_abort);
	case AGGNET_PROBE:
		return 0;
	}
	for (i = 0; i < 64; i++)
		((uint8_t *)body)[i] = some(self, 256);
	return type == AGGNET_ACK ? sizeof(struct aggnet_ack) :
	       type == AGGNET_ACCEPT ? sizeof(struct aggnet_accept) :
	       type == AGGNET_DONE ? sizeof(struct aggnet_done) :
	       sizeof(struct aggnet_rst);
}

static uint8_t some_type(SELF *self)
{
	static const uint8_t often[] = { AGGNET_OPEN, AGGNET_PROBE,
		AGGNET_PROBE, AGGNET_DATA, AGGNET_DATA, AGGNET_DATA };

	if (some(self, 40))
		return often[some(self, sizeof(often))];
	return some(self, 4) ? AGGNET_FIN : some(self, 12);
}

static void put_lower(SELF *self, uint32_t src, size_t len)
{
	struct iphdr *ip = (struct iphdr *)(&self->frame.eth + 1);
	struct udphdr *uh = (struct udphdr *)(ip + 1);

	memcpy(self->frame.eth.h_dest, self->mac, 6);
	memset(self->frame.eth.h_source, 2, 6);
	self->frame.eth.h_proto = htons(ETH_P_IP);
	*uh = (struct udphdr) {
		.source = htons(49152),
		.dest = htons(AGGNET_UDP_PORT),
		.len = htons(sizeof(*uh) + len + (rarely(self) ? 5 : 0)),
	};
	*ip = (struct iphdr) {
		.version = 4,
		.ihl = 5,
		.tot_len = htons(sizeof(*ip) + sizeof(*uh) + len -
				 (rarely(self) ? some(self, len) : 0)),
		.frag_off = htons(rarely(self) ? some(self, 65536) : 0x4000),
		.ttl = rarely(self) ? 1 : 64,
		.protocol = IPPROTO_UDP,
		.saddr = src,
		.daddr = addr(IDENTITY),
	};
	uh->check = inet_udp_sum(ip, uh, sizeof(*uh) + len);
	ip->check = inet_sum(ip);
}

/* Make a frame in @self->frame. Return: its length */
static size_t put_frame(SELF *self)
{
	struct aggnet_hdr *hdr = (void *)(self->frame.bytes + HEADERS);
	unsigned int job = some(self, JOBS), n = some(self, CHILDREN);
	struct child *c = &self->child[job][n];
	uint32_t src = htonl(ntohl(addr(IDENTITY)) + 1 + n);
	uint8_t type = some_type(self);
	size_t len;

	if (type == AGGNET_OPEN && (!c->nonce || rarely(self))) {
		*c = (struct child) { .nonce = random64(self) };
		c->seq = AGGNET_SEQ_FIRST;
	}
	len = put_body(self, c, type, hdr + 1);
	if (rarely(self))
		len += some(self, 64);
	*hdr = (struct aggnet_hdr) {
		.version = rarely(self) ? some(self, 256) : AGGNET_VERSION,
		.type = type,
		.hop = some(self, 65),
		.flags = htons(some(self, 4) ? AGGNET_F_ACK :
			       1u << some(self, 16)),
		.length = htons(len + (rarely(self) ? some(self, 9) : 0)),
		.incast_id = htobe64((uint64_t)job << 32 |
				     ntohl(addr(IDENTITY))),
		.instance = htonl(rarely(self) ? some(self, 3) : 1),
		.src = rarely(self) ? addr(OTHER) : src,
		.dst = type == AGGNET_OPEN ? 0 : addr(IDENTITY),
		.src_nonce = htobe64(c->nonce),
		.dst_nonce = htobe64(type == AGGNET_OPEN ? 0 :
				     c->acceptor ^ rarely(self)),
	};
	put_tag(hdr, len);
	if (rarely(self))
		hdr->tag ^= 1;
	put_lower(self, src, sizeof(*hdr) + len);
	return HEADERS + sizeof(*hdr) + len + (rarely(self) ? 30 : 0);
}

/* An answer names the acceptor's nonce; frames that have it are accepted. */
static void listen_to(SELF *self)
{
	union {
		uint8_t bytes[2048];
		uint64_t align;
	} in;
	const struct aggnet_hdr *hdr = (void *)(in.bytes + HEADERS);
	ssize_t len;

	while ((len = recv(self->wire, in.bytes, sizeof(in.bytes),
			   MSG_DONTWAIT)) > 0) {
		unsigned int n = ntohl(hdr->dst) - ntohl(addr(IDENTITY)) - 1;
		unsigned int job = be64toh(hdr->incast_id) >> 32;

		if (len < (ssize_t)(HEADERS + sizeof(*hdr)) ||
		    hdr->src != addr(IDENTITY) || n >= CHILDREN ||
		    job >= JOBS)
			continue;
		self->answers++;
		if (hdr->type == AGGNET_ACCEPT)
			self->child[job][n].acceptor =
				be64toh(hdr->src_nonce);
	}
}

/* --- the node ---------------------------------------------------------------- */

/* Add a receiver of some children, with or without a list of them. */
static int receive(struct nl *nl, uint32_t job)
{
	nl_begin(nl, AGGNET_CMD_TREE_ADD, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID,
	       (uint64_t)job << 32 | ntohl(addr(IDENTITY)));
	nl_u32(nl, AGGNET_A_TREE_INSTANCE, 1);
	nl_u32(nl, AGGNET_A_TREE_CONTRIBUTORS, CHILDREN - 2);
	nl_u32(nl, AGGNET_A_TREE_SOURCES, CHILDREN - 2 + job % 2);
	nl_u64(nl, AGGNET_A_TREE_MEMORY, 1 << (17 + job));
	nl_u32(nl, AGGNET_A_TREE_GIVE_UP, 2000000);
	return nl_talk(nl);
}

static int withdraw(struct nl *nl, uint32_t job)
{
	nl_begin(nl, AGGNET_CMD_TREE_DEL, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID,
	       (uint64_t)job << 32 | ntohl(addr(IDENTITY)));
	return nl_talk(nl);
}

static int device_mac(int fd, const char *name, uint8_t *mac)
{
	struct ifreq ifr = { 0 };

	strncpy(ifr.ifr_name, name, IFNAMSIZ - 1);
	if (ioctl(fd, SIOCGIFHWADDR, &ifr))
		return -1;
	memcpy(mac, ifr.ifr_hwaddr.sa_data, 6);
	return 0;
}

FIXTURE_SETUP(raw)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET };
	const char *seed = getenv("SEED");
	uint32_t job;

	self->seed = seed ? strtoul(seed, NULL, 0) : time(NULL);
	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, system("ip route add 10.0.0.0/24 dev p0 && "
			    "sysctl -qw net.ipv4.conf.all.rp_filter=0 && "
			    "for i in 2 3 4 5 6 7; do ip neigh add 10.0.0.$i "
			    "lladdr 02:02:02:02:02:02 dev p0 || exit; done"));
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, node_identity(&self->nl, IDENTITY));
	ASSERT_EQ(0, port_add(&self->nl, "p0"));
	for (job = 0; job < JOBS; job++)
		ASSERT_EQ(0, receive(&self->nl, job));
	self->wire = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_IP));
	ASSERT_LE(0, self->wire);
	at.sll_protocol = htons(ETH_P_IP);
	at.sll_ifindex = ifindex("q0");
	ASSERT_EQ(0, bind(self->wire, (struct sockaddr *)&at, sizeof(at)));
	ASSERT_EQ(0, device_mac(self->wire, "p0", self->mac));
}

FIXTURE_TEARDOWN(raw)
{
	close(self->wire);
	nl_close(&self->nl);
}

static bool memory_is_free(struct nl *nl)
{
	return memory_used(nl) == 0;
}

/* Replace an entry by a new one: an aborted entry accepts nothing any more. */
static int renew(SELF *self, uint32_t job, bool again)
{
	struct nl *nl = &self->nl;
	int err;

	nl_begin(nl, AGGNET_CMD_TREE_GET, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID,
	       (uint64_t)job << 32 | ntohl(addr(IDENTITY)));
	err = nl_talk(nl);
	if (err)
		return err;
	self->merged += nl_get_u64(nl, AGGNET_A_TREE_RECORDS_IN);
	memset(self->child[job], 0, sizeof(self->child[job]));
	err = withdraw(nl, job);
	return err || !again ? err : receive(nl, job);
}

TEST_F_TIMEOUT(raw, frames, LONG)
{
	const char *text = getenv("FUZZ_SECONDS");
	unsigned int seconds = text ? strtoul(text, NULL, 0) : 8;
	time_t end = time(NULL) + seconds;
	struct nl *nl = &self->nl;
	uint32_t job;

	TH_LOG("SEED=%u FUZZ_SECONDS=%u", self->seed, seconds);
	/* Send a least number on a slow machine, too. */
	while (time(NULL) < end || self->sent < 2000) {
		size_t len = put_frame(self);

		self->sent += send(self->wire, self->frame.bytes, len, 0) > 0;
		listen_to(self);
		if (self->sent % 300)
			continue;
		ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_STATS_GET));
		ASSERT_EQ(0, renew(self, some(self, JOBS), true));
	}
	for (job = 0; job < JOBS; job++)
		ASSERT_EQ(0, renew(self, job, false));
	EXPECT_LT(0, self->answers);
	EXPECT_LT(0, self->merged);
	TH_LOG("%u frames, %u answers, %u records merged", self->sent,
	       self->answers, self->merged);
	EXPECT_TRUE(within(nl, memory_is_free));
}

TEST_HARNESS_MAIN
