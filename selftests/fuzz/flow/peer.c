// SPDX-License-Identifier: GPL-2.0
/* See peer.h. */
#include <linux/skbuff.h>

#include "core/record.h"
#include "core/tag.h"
#include "peer.h"
#include "world.h"

struct peer peer_of(struct aggnet_tree *tree, u32 id, u64 nonce)
{
	return (struct peer){ .tree = tree, .id = htonl(id), .nonce = nonce };
}

struct peer peer_as(struct aggnet_tree *tree, u32 node, u64 nonce)
{
	return peer_of(tree, ntohl(world.node[node].an.identity), nonce);
}

struct peer peer_acceptor(struct aggnet_tree *tree)
{
	struct peer p = peer_as(tree, ACCEPTOR, 0x1234);

	p.node_nonce = tree->up.nonce;
	return p;
}

static void peer_deliver(struct peer *p, u16 length)
{
	struct aggnet_hdr *hdr = &p->last.hdr;
	struct aggnet_pkt pkt;

	INSIST(aggnet_parse_header(hdr, sizeof(*hdr) + length, &pkt) ==
	       AGGNET_PARSE_OK, "the peer's packet has no form");
	aggnet_tree_rx(p->tree, &pkt, hdr);
}

void peer_say(struct peer *p, u8 type, u16 flags, const void *body, u16 length)
{
	const struct aggnet_tree_conf *conf = &p->tree->conf;
	struct aggnet_hdr *hdr = &p->last.hdr;
	struct aggnet_pkt pkt = {
		.type = type,
		.hop = AGGNET_HOP_MAX,
		.flags = flags,
		.length = length,
		.incast_id = conf->incast_id,
		.instance = conf->instance,
		.attempt = conf->attempt,
		.src = p->id,
		.dst = type == AGGNET_OPEN ? 0 : p->tree->an->identity,
		.src_nonce = p->nonce,
		.dst_nonce = type == AGGNET_OPEN ? 0 : p->node_nonce,
		.stamp = ++p->stamp,
		.echo = p->echo,
		.round = p->round,
		.fallback = p->fallback,
	};

	memset(&p->last, 0, sizeof(p->last));
	aggnet_put_header(hdr, &pkt);
	if (length)
		memcpy(p->last.body, body, length);
	hdr->tag = cpu_to_be64(aggnet_tag(&conf->key, hdr,
					  aggnet_digest(&conf->key,
							p->last.body, length)));
	peer_deliver(p, length);
}

void peer_replay(struct peer *p)
{
	peer_deliver(p, be16_to_cpu(p->last.hdr.length));
}

void peer_ask(struct peer *p, u16 flags)
{
	const struct aggnet_shape *shape = &p->tree->conf.shape;
	const struct aggnet_open open = {
		.function = shape->function,
		.vtype = shape->vtype,
		.layout = shape->layout,
		.k = cpu_to_be16(shape->k),
		.direction = p->tree->conf.direction,
		.persist = p->tree->conf.persist,
		.elements = cpu_to_be64(shape->elements),
	};

	world.packets = 0;
	peer_say(p, AGGNET_OPEN, flags, &open, sizeof(open));
}

void peer_bind(struct peer *p)
{
	struct aggnet_pkt answer = {};

	INSIST(peer_hears(p, &answer) && answer.type == AGGNET_ACCEPT,
	       "the peer is not accepted");
	p->node_nonce = answer.src_nonce;
	peer_say(p, AGGNET_PROBE, 0, NULL, 0);
	INSIST(peer_hears(p, &answer) && answer.type == AGGNET_ACK,
	       "the peer is not bound");
}

void peer_open(struct peer *p)
{
	peer_ask(p, 0);
	peer_bind(p);
}

/* A record whose key rises with the sequence, which fits any tree's order. */
void peer_data(struct peer *p, u32 seq)
{
	const struct aggnet_value one = aggnet_value_s64(1);
	const u8 key[] = { 0, seq - AGGNET_SEQ_FIRST };
	struct {
		struct aggnet_data data;
		u8 record[16];
	} body = {
		.data.seq = cpu_to_be32(seq),
		.data.records = cpu_to_be16(1),
		.data.weight = cpu_to_be16(p->tree->store.ops->weighs),
		.data.represents = cpu_to_be64(1),
	};
	size_t len = aggnet_record_put(body.record, key, sizeof(key), &one);

	peer_say(p, AGGNET_DATA, 0, &body, sizeof(body.data) + len);
}

void peer_fin(struct peer *p, u32 final)
{
	const struct aggnet_fin fin = {
		.final = cpu_to_be32(final),
		.weight = cpu_to_be32(1),
		.records = cpu_to_be64(final - AGGNET_SEQ_FIRST),
		.members = cpu_to_be32(aggnet_member(ntohl(p->id))),
	};

	peer_say(p, AGGNET_FIN, 0, &fin, sizeof(fin));
}

void peer_accept(struct peer *p, u8 hop)
{
	const struct aggnet_accept accept = {
		.max_payload = cpu_to_be16(AGGNET_PAYLOAD_MIN),
		.max_records = cpu_to_be16(64),
		.hop = hop,
		.direction = p->tree->conf.direction,
	};

	peer_say(p, AGGNET_ACCEPT, 0, &accept, sizeof(accept));
}

void peer_ack(struct peer *p, u16 flags, u32 cum, u32 credit)
{
	const struct aggnet_ack ack = {
		.cum = cpu_to_be32(cum),
		.credit = cpu_to_be32(credit),
	};

	peer_say(p, AGGNET_ACK, flags, &ack, sizeof(ack));
}

void peer_done(struct peer *p)
{
	const struct aggnet_done done = { .sources = cpu_to_be32(1) };

	peer_say(p, AGGNET_DONE, 0, &done, sizeof(done));
}

void peer_rst(struct peer *p, u32 reason)
{
	const struct aggnet_rst rst = {
		.reason = cpu_to_be32(reason),
		.instance = cpu_to_be32(p->tree->conf.instance),
		.attempt = cpu_to_be32(p->tree->conf.attempt),
	};

	peer_say(p, AGGNET_RST, 0, &rst, sizeof(rst));
}

bool peer_hears(struct peer *p, struct aggnet_pkt *pkt)
{
	const struct packet *one = world.packet[0];

	if (!world.packets)
		return false;
	INSIST(aggnet_parse_header(one->bytes, one->len, pkt) == AGGNET_PARSE_OK,
	       "a node's packet has no form");
	p->echo = pkt->stamp;
	world_lose(0);
	return true;
}
