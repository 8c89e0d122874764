// SPDX-License-Identifier: GPL-2.0
/* Ethernet frames with an aggnet packet, and random changes of them. */
#include <arpa/inet.h>
#include <asm/byteorder.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>

#include "../lib/random.h"
#include "core/tag.h"
#include "frame.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static unsigned long long state;

void seed(uint64_t number)
{
	state = number;
}

uint64_t draw(void)
{
	return splitmix64(&state);
}

static struct iphdr *ip_of(const struct frame *f)
{
	return (struct iphdr *)(f->bytes + FRAME_ETH);
}

static struct udphdr *udp_of(const struct frame *f)
{
	return (struct udphdr *)(f->bytes + FRAME_ETH + FRAME_IP);
}

static struct aggnet_hdr *hdr_of(const struct frame *f)
{
	return (struct aggnet_hdr *)(f->bytes + FRAME_HEAD);
}

/* Bytes of header and body. */
static size_t size_of(const struct frame *f)
{
	return f->len - FRAME_HEAD;
}

bool frame_ours(const struct frame *f)
{
	const struct iphdr *ip = ip_of(f);

	return f->len >= sizeof(struct aggnet_hdr) + FRAME_HEAD &&
	       f->len <= FRAME_MAX - 128 && ip->ihl == 5 &&
	       ip->protocol == IPPROTO_UDP && !(ip->frag_off & htons(0x3fff)) &&
	       f->len == ntohs(ip->tot_len) + (size_t)FRAME_ETH &&
	       udp_of(f)->dest == htons(AGGNET_UDP_PORT);
}

/* Sum words in network order; carries may be added in any order. */
static uint64_t sum(uint64_t start, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint32_t word;

	for (; len >= sizeof(word); p += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		start += word;
	}
	word = 0;
	memcpy(&word, p, len);
	return start + word;
}

static uint16_t fold(uint64_t s)
{
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return (uint16_t)~s;
}

static void put_ip(struct frame *f)
{
	struct iphdr *ip = ip_of(f);

	ip->tot_len = htons((uint16_t)(f->len - FRAME_ETH));
	ip->check = 0;
	ip->check = fold(sum(0, ip, ip->ihl * 4u));
}

static void put_udp_sum(struct frame *f)
{
	uint16_t len = (uint16_t)(FRAME_UDP + size_of(f));
	struct udphdr *uh = udp_of(f);
	uint64_t pseudo;

	pseudo = sum((uint64_t)htons(IPPROTO_UDP) + htons(len),
		     &ip_of(f)->saddr, 8);
	uh->check = 0;
	uh->check = fold(sum(pseudo, uh, len));
	if (!uh->check)
		uh->check = 0xffff;
}

void frame_settle(struct frame *f)
{
	udp_of(f)->len = htons((uint16_t)(FRAME_UDP + size_of(f)));
	put_ip(f);
	put_udp_sum(f);
}

static void put_tag(struct frame *f, bool random)
{
	static const struct aggnet_secret none;
	struct aggnet_hdr *h = hdr_of(f);
	uint16_t flags = ntohs(h->flags) & (uint16_t)~AGGNET_F_TAG;

	h->flags = htons(random ? flags | AGGNET_F_TAG : flags);
	h->tag = cpu_to_be64(random ? draw() :
			     aggnet_tag(&none, h,
					aggnet_digest(&none, h + 1,
						      size_of(f) - sizeof(*h))));
}

void frame_open(struct frame *f, uint32_t child, uint32_t receiver,
		uint32_t job, uint32_t instance, bool keyed)
{
	struct aggnet_hdr *h = hdr_of(f);

	memset(f, 0, sizeof(*f));
	f->len = FRAME_HEAD + sizeof(*h) + sizeof(struct aggnet_open);
	*(uint16_t *)(f->bytes + 12) = htons(ETHERTYPE_IP);
	*ip_of(f) = (struct iphdr) {
		.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP,
		.frag_off = htons(0x4000), .saddr = child, .daddr = receiver,
	};
	udp_of(f)->source = htons((uint16_t)(49152 + draw() % 16384));
	udp_of(f)->dest = htons(AGGNET_UDP_PORT);
	*h = (struct aggnet_hdr) {
		.version = AGGNET_VERSION,
		.type = AGGNET_OPEN,
		.hop = 60,
		.flags = htons(AGGNET_F_ANY),
		.length = htons(sizeof(struct aggnet_open)),
		.incast_id = cpu_to_be64((uint64_t)job << 32 | ntohl(receiver)),
		.instance = htonl(instance),
		.src = child,
		.src_nonce = draw(),
	};
	put_tag(f, keyed);
	frame_settle(f);
}

/*
 * --- one function for each kind of change
 * --------------------------------------
 */

static enum verdict cut_header(struct frame *f)
{
	f->len = FRAME_HEAD + draw() % sizeof(struct aggnet_hdr);
	frame_settle(f);
	return REFUSED;
}

static enum verdict cut_body(struct frame *f)
{
	size_t body = size_of(f) - sizeof(struct aggnet_hdr);

	if (!body)
		return AGAIN;
	f->len -= 1 + draw() % body;
	frame_settle(f);
	return REFUSED;
}

static enum verdict lie_udp_length(struct frame *f)
{
	struct udphdr *uh = udp_of(f);

	frame_settle(f);
	uh->len = htons((uint16_t)(ntohs(uh->len) - 1 - draw() % 40));
	return REFUSED;
}

static enum verdict lie_length(struct frame *f)
{
	struct aggnet_hdr *h = hdr_of(f);

	h->length = htons((uint16_t)(ntohs(h->length) + 1 + draw() % 65535));
	frame_settle(f);
	return REFUSED;
}

static enum verdict lie_version(struct frame *f)
{
	hdr_of(f)->version += (uint8_t)(1 + draw() % 255);
	frame_settle(f);
	return REFUSED;
}

static enum verdict lie_type(struct frame *f)
{
	uint8_t type = (uint8_t)draw();

	if (type == hdr_of(f)->type)
		return AGAIN;
	hdr_of(f)->type = type;
	frame_settle(f);
	return REFUSED;
}

static enum verdict lie_flags(struct frame *f)
{
	hdr_of(f)->flags ^= htons((uint16_t)(1u << draw() % 16));
	frame_settle(f);
	return REFUSED;
}

static enum verdict lie_bits(struct frame *f)
{
	uint8_t *packet = f->bytes + FRAME_HEAD;
	unsigned int n = 1 + (unsigned int)draw() % 8;
	struct frame before = *f;

	while (n--)
		packet[draw() % size_of(f)] ^= (uint8_t)(1u << draw() % 8);
	/* The tag does not cover what nodes on the way change. */
	hdr_of(f)->hop = hdr_of(&before)->hop;
	hdr_of(f)->fallback = hdr_of(&before)->fallback;
	if (!memcmp(f->bytes, before.bytes, f->len))
		return AGAIN;
	frame_settle(f);
	return REFUSED;
}

/* A bit of the datagram changes on a link, and the checksum stays. */
static enum verdict corrupt(struct frame *f)
{
	frame_settle(f);
	f->bytes[FRAME_HEAD + draw() % size_of(f)] ^= 0x10;
	return REFUSED;
}

static enum verdict no_sum(struct frame *f)
{
	frame_settle(f);
	udp_of(f)->check = 0;
	return REFUSED;
}

static enum verdict foreign_tree(struct frame *f)
{
	struct aggnet_hdr *h = hdr_of(f);

	h->incast_id ^= cpu_to_be64((1 + draw() % 0xffffffff) << 32);
	put_tag(f, ntohs(h->flags) & AGGNET_F_TAG);
	frame_settle(f);
	return REFUSED;
}

/* A control packet with nonces from the wire and a tag that is made up. */
static enum verdict forge(struct frame *f)
{
	static const struct { uint8_t type, size; } made[] = {
		{ AGGNET_ACCEPT, sizeof(struct aggnet_accept) },
		{ AGGNET_ACK, sizeof(struct aggnet_ack) },
		{ AGGNET_RST, sizeof(struct aggnet_rst) },
		{ AGGNET_DONE, sizeof(struct aggnet_done) },
		{ AGGNET_ABORT, sizeof(struct aggnet_abort) },
		{ AGGNET_FIN, sizeof(struct aggnet_fin) },
		{ AGGNET_PROBE, 0 },
	};
	unsigned int i = (unsigned int)draw() % COUNT(made), k;
	struct aggnet_hdr *h = hdr_of(f);
	uint8_t *body = (uint8_t *)(h + 1);

	h->type = made[i].type;
	h->length = htons(made[i].size);
	f->len = FRAME_HEAD + sizeof(*h) + made[i].size;
	for (k = 0; k < made[i].size; k++)
		body[k] = 0;
	/* Use a reason that exists, so that only the tag is wrong. */
	if (made[i].size >= 4)
		body[3] = 1;
	h->tag = draw();
	frame_settle(f);
	return REFUSED;
}

/* A packet without a tag, with a right CRC, in a tree that has a key. */
static enum verdict without_key(struct frame *f)
{
	put_tag(f, false);
	frame_settle(f);
	return REFUSED;
}

static enum verdict spoof(struct frame *f)
{
	ip_of(f)->saddr ^= htonl(1u << draw() % 8);
	frame_settle(f);
	return REFUSED;
}

static enum verdict replay(struct frame *f)
{
	frame_settle(f);
	return HARMLESS;
}

static enum verdict other_way(struct frame *f)
{
	hdr_of(f)->hop = (uint8_t)draw();
	hdr_of(f)->fallback = (uint8_t)(draw() % __AGGNET_FALLBACK_MAX);
	frame_settle(f);
	return HARMLESS;
}

static enum verdict padding(struct frame *f)
{
	size_t n = 1 + draw() % 64;

	if (f->len + n > FRAME_ETH + ETHERMTU)
		return AGAIN;
	frame_settle(f);
	memset(f->bytes + f->len, 0x55, n);
	f->len += n;
	return HARMLESS;
}

static enum verdict ip_options(struct frame *f)
{
	uint8_t *at = f->bytes + FRAME_ETH + FRAME_IP;

	if (f->len + 4 > FRAME_ETH + ETHERMTU)
		return AGAIN;
	frame_settle(f);
	memmove(at + 4, at, f->len - FRAME_ETH - FRAME_IP);
	memset(at, 1, 4);	/* no operation */
	f->len += 4;
	ip_of(f)->ihl++;
	put_ip(f);
	return HARMLESS;
}

static enum verdict ip_length(struct frame *f)
{
	frame_settle(f);
	f->len -= 1 + draw() % 32;
	return BAD_IP;
}

static enum verdict ip_sum(struct frame *f)
{
	frame_settle(f);
	ip_of(f)->check ^= htons((uint16_t)(1u << draw() % 16));
	return BAD_IP;
}

/* Two fragments that make a whole packet; only IP of the socket joins them. */
static enum verdict fragments(struct frame *f, struct frame *second)
{
	size_t cut = (FRAME_UDP + size_of(f)) / 2 & ~7ul;
	uint16_t id = (uint16_t)draw();

	frame_settle(f);
	*second = *f;
	ip_of(f)->id = ip_of(second)->id = id;
	second->len -= cut;
	memmove(udp_of(second), f->bytes + FRAME_ETH + FRAME_IP + cut,
		second->len - FRAME_ETH - FRAME_IP);
	f->len = FRAME_ETH + FRAME_IP + cut;
	ip_of(f)->frag_off = htons(0x2000);
	ip_of(second)->frag_off = htons((uint16_t)(cut / 8));
	put_ip(f);
	put_ip(second);
	return REFUSED;
}

enum verdict mutate(struct frame *f, struct frame *second, bool keyed)
{
	static enum verdict (*const ways[])(struct frame *f) = {
		cut_header, cut_body, lie_udp_length, lie_length, lie_version,
		lie_type, lie_flags, lie_bits, lie_bits, lie_bits, corrupt,
		no_sum, foreign_tree, forge, forge, forge, spoof, replay,
		replay, other_way, padding, ip_options, ip_length, ip_sum,
	};
	unsigned int i = (unsigned int)draw() % (COUNT(ways) + 2);

	second->len = 0;
	if (i < COUNT(ways))
		return ways[i](f);
	if (i == COUNT(ways))
		return fragments(f, second);
	return keyed ? without_key(f) : AGAIN;
}
