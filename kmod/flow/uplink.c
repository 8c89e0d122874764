// SPDX-License-Identifier: GPL-2.0
/* Child's half of the channel to the next end on the path to the receiver: binding,
 * DATA and its retransmission, FIN.
 */
#include <linux/align.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/skbuff.h>

#include "core/accum.h"
#include "core/packet.h"
#include "core/tag.h"
#include "flow/channel.h"
#include "flow/host.h"
#include "flow/timers.h"
#include "flow/tree.h"
#include "mem.h"
#include "trace.h"

#define UPLINK_PROBE_MIN_US	50000u	/* first probe for DONE */
#define UPLINK_PROBE_MAX_US	1000000u
#define UPLINK_PROBE_SAME	8	/* probes before the time doubles */
#define UPLINK_ALIVE_MAX_US	1000000u
#define UPLINK_CREDIT_MAX_US	200000u	/* between requests of credit */
#define UPLINK_BIND_TRIES	4	/* PROBEs of full length without answer */

/* Each body begins with struct aggnet_data; keep it aligned for any payload. */
static size_t uplink_body_size(u32 payload)
{
	return ALIGN(sizeof(struct aggnet_data) + payload,
		     __alignof__(struct aggnet_data));
}

size_t aggnet_uplink_size(u32 slots, u32 payload)
{
	return slots * (sizeof(struct aggnet_packed) +
			sizeof(struct aggnet_segment) +
			uplink_body_size(payload));
}

int aggnet_uplink_init(struct aggnet_tree *tree, u32 slots, u32 payload)
{
	struct aggnet_uplink *up = &tree->up;
	struct aggnet_segment *segment;

	up->ring = aggnet_zalloc(aggnet_uplink_size(slots, payload),
				 GFP_KERNEL_ACCOUNT);
	if (!up->ring)
		return -ENOMEM;
	segment = (void *)(up->ring + slots);
	up->bodies = (u8 *)(segment + slots);
	up->max_payload = payload;
	aggnet_sender_init(&up->sender, segment, slots, AGGNET_SEQ_FIRST);
	return 0;
}

void aggnet_uplink_free(struct aggnet_tree *tree)
{
	aggnet_free(tree->up.ring);
}

static struct aggnet_packed *uplink_packed(const struct aggnet_uplink *up,
					   u32 seq)
{
	return &up->ring[aggnet_sender_slot(&up->sender, seq)];
}

static u8 *uplink_body(const struct aggnet_tree *tree, u32 seq)
{
	const struct aggnet_uplink *up = &tree->up;

	return up->bodies + aggnet_sender_slot(&up->sender, seq) *
			    uplink_body_size(tree->packet.max_payload);
}

/*
 * The planned path leads to the planned ends and to the receiver. An OPEN with
 * F_ANY may have reached another end by plain IP. Packets to such an end must be
 * plain IP, too: by the planned link they would reach the receiver, which drops
 * them.
 */
static enum aggnet_way uplink_way(const struct aggnet_tree *tree)
{
	const struct aggnet_uplink *up = &tree->up;

	return up->any && up->peer && up->peer != aggnet_tree_receiver(tree) ?
	       AGGNET_WAY_ROUND : AGGNET_WAY_UP;
}

static struct aggnet_pkt uplink_head(const struct aggnet_tree *tree, u8 type,
				     u16 flags, u16 length)
{
	const struct aggnet_uplink *up = &tree->up;

	return (struct aggnet_pkt) {
		.type = type,
		.flags = flags,
		.hop = up->hop,
		.length = length,
		.dst = up->peer,
		.src_nonce = up->nonce,
		.dst_nonce = up->peer_nonce,
		.stamp = aggnet_clock_us(),
		.round = type == AGGNET_OPEN ? 0 : tree->round,
	};
}

static void uplink_send(struct aggnet_tree *tree, u8 type, u16 flags,
			const void *body, u16 length, const u64 *digest,
			struct aggnet_run *run)
{
	struct aggnet_pkt pkt = uplink_head(tree, type, flags, length);

	aggnet_host_make(tree, run, &pkt, body, digest, uplink_way(tree));
}

void aggnet_uplink_answer(struct aggnet_tree *tree, u16 flags, u32 echo,
			  const struct aggnet_ack *ack, struct aggnet_run *run)
{
	struct aggnet_pkt pkt = uplink_head(tree, AGGNET_ACK,
					    AGGNET_F_DOWN | flags,
					    sizeof(*ack));

	pkt.echo = echo;
	aggnet_host_make(tree, run, &pkt, ack, NULL, uplink_way(tree));
}

static void uplink_send_open(struct aggnet_tree *tree,
			     struct aggnet_run *run)
{
	const struct aggnet_shape *shape = &tree->conf.shape;
	struct aggnet_uplink *up = &tree->up;
	struct aggnet_open body = {
		.function = shape->function,
		.vtype = shape->vtype,
		.layout = shape->layout,
		.scale = shape->scale,
		.k = cpu_to_be16(shape->k),
		.direction = tree->conf.direction,
		.persist = tree->conf.persist,
		.elements = cpu_to_be64(shape->elements),
	};

	/*
	 * An end that is further up than planned is also further away; and copies
	 * that a filter makes share the hops.
	 */
	up->hop = up->any || tree->conf.filter_size ? AGGNET_HOP_MAX :
						      tree->conf.hops + 2;
	uplink_send(tree, AGGNET_OPEN, up->any ? AGGNET_F_ANY : 0, &body,
		    sizeof(body), NULL, run);
}

/* The body of a PROBE of full length: the number of sources, without names. */
static struct aggnet_probe uplink_probe(struct aggnet_tree *tree)
{
	struct aggnet_uplink *up = &tree->up;

	up->sources = aggnet_tree_reach(tree);
	up->strayed |= up->sources != tree->conf.sources;
	return (struct aggnet_probe) {
		.sources = cpu_to_be32(up->sources + 1),
	};
}

static void uplink_send_probe(struct aggnet_tree *tree,
			      struct aggnet_run *run)
{
	struct {
		struct aggnet_probe probe;
		__be32 name[AGGNET_NAMES_MAX];
	} body = { .probe = uplink_probe(tree) };
	u16 length = sizeof(body.probe);

	if (tree->up.sources < tree->conf.sources) {
		body.probe.names = cpu_to_be32(tree->outcome.lost.n);
		memcpy(body.name, tree->outcome.lost.id, sizeof(body.name));
		length += tree->outcome.lost.n * sizeof(body.name[0]);
	}
	uplink_send(tree, AGGNET_PROBE, 0, &body, length, NULL, run);
}

void aggnet_uplink_tell(struct aggnet_tree *tree, bool again,
			struct aggnet_run *run)
{
	struct aggnet_uplink *up = &tree->up;

	if (up->state != AGGNET_UP_BOUND ||
	    tree->state >= AGGNET_TREE_WAITING)
		return;
	if ((again && up->strayed) || up->sources != aggnet_tree_reach(tree))
		uplink_send_probe(tree, run);
}

/*
 * Send a PROBE as long as the longest DATA: if it binds, DATA of that length
 * reaches the acceptor, whatever the MTU of the links between. Without an answer
 * try shorter ones, which fit MTUs of 1500, 1280 and 584.
 */
static void uplink_send_bind(struct aggnet_tree *tree, struct aggnet_run *run)
{
	static const u16 shorter[] = {
		AGGNET_PAYLOAD_USUAL, 1164, AGGNET_PAYLOAD_MIN
	};
	struct aggnet_uplink *up = &tree->up;
	u32 step = up->tries - UPLINK_BIND_TRIES;
	u32 payload = up->max_payload;

	/* The packets of a stream do not become shorter. */
	if (up->tries >= UPLINK_BIND_TRIES && !aggnet_tree_leads_down(tree)) {
		step = min_t(u32, step, ARRAY_SIZE(shorter) - 1);
		payload = shorter[step] - tree->conf.filter_size;
	}
	payload = max_t(u32, payload, AGGNET_PAYLOAD_MIN);
	up->max_payload = min(up->max_payload, payload);
	/* Nothing has been packed yet, so the rest of the first body is zero. */
	*(struct aggnet_probe *)up->bodies = uplink_probe(tree);
	uplink_send(tree, AGGNET_PROBE, 0, up->bodies,
		    sizeof(struct aggnet_data) + up->max_payload, NULL, run);
}

/* Packets by plain IP, of this node and those below, that no FIN has told yet. */
static void uplink_fell_back(struct aggnet_tree *tree)
{
	struct aggnet_uplink *up = &tree->up;
	enum aggnet_fallback why;
	u32 n;

	for (why = AGGNET_FALLBACK_LINK; why < __AGGNET_FALLBACK_MAX; why++) {
		n = tree->below[why];
		aggnet_add_most(&n, atomic_read(&tree->fallback[why]));
		up->by_plain_ip[why] = n - up->fell[why];
		up->fell[why] = n;
	}
}

/* If sources are missing, name them to the end that waits longest. */
static void uplink_send_fin(struct aggnet_tree *tree, struct aggnet_run *run)
{
	const struct aggnet_books *b = &tree->books;
	struct aggnet_uplink *up = &tree->up;
	enum aggnet_fallback why;
	u32 weight = b->weight + !!tree->conf.writers;
	struct {
		struct aggnet_fin fin;
		__be32 name[AGGNET_NAMES_MAX];
	} body = {
		.fin.final = cpu_to_be32(up->sender.nxt),
		.fin.weight = cpu_to_be32(weight),
		.fin.records = cpu_to_be64(b->records + b->local_records),
		.fin.partials = cpu_to_be32(b->partials),
		.fin.members = cpu_to_be32(aggnet_tree_members(tree)),
	};
	bool checked = aggnet_tree_is_checked(tree);
	u16 length = sizeof(body.fin);
	u16 flags = 0;

	/* This end is closed, so a repeated FIN has the same names and numbers. */
	if (!up->fin && weight < tree->conf.sources)
		aggnet_acceptor_lost(tree);
	if (!up->fin)
		uplink_fell_back(tree);
	up->fin = true;
	for (why = AGGNET_FALLBACK_LINK; why < __AGGNET_FALLBACK_MAX; why++)
		body.fin.by_plain_ip[why - AGGNET_FALLBACK_LINK] =
			cpu_to_be32(up->by_plain_ip[why]);
	if (weight < tree->conf.sources) {
		memcpy(body.name, tree->outcome.lost.id, sizeof(body.name));
		length += tree->outcome.lost.n * sizeof(body.name[0]);
	}
	if (checked) {
		body.fin.check = cpu_to_be64(b->check);
		flags |= AGGNET_F_CHECK;
	}
	if (tree->conf.persist && tree->last)
		flags |= AGGNET_F_LAST;
	uplink_send(tree, AGGNET_FIN, flags, &body, length, NULL, run);
}

static void uplink_send_abort(struct aggnet_tree *tree,
			      struct aggnet_run *run)
{
	struct aggnet_abort_body body;
	u16 length = aggnet_put_abort(tree, &body);

	uplink_send(tree, AGGNET_ABORT, 0, &body, length, NULL, run);
}

static u32 uplink_alive_us(const struct aggnet_tree *tree)
{
	return min_t(u64, tree->conf.give_up_ms * 250ULL, UPLINK_ALIVE_MAX_US);
}

/* Does this end wait for an answer of the acceptor? */
static bool uplink_owed(const struct aggnet_tree *tree)
{
	const struct aggnet_uplink *up = &tree->up;

	return up->state < AGGNET_UP_BOUND ||
	       !aggnet_sender_all_acked(&up->sender) ||
	       tree->state == AGGNET_TREE_CLOSING ||
	       tree->state == AGGNET_TREE_ABORTED || aggnet_tree_may_emit(tree);
}

/* Is DATA in flight that may have to be sent again? After an abort it is not. */
static bool uplink_in_flight(const struct aggnet_tree *tree)
{
	const struct aggnet_uplink *up = &tree->up;

	return up->state == AGGNET_UP_BOUND &&
	       !aggnet_sender_all_acked(&up->sender) &&
	       tree->state != AGGNET_TREE_ABORTED;
}

static void uplink_arm(struct aggnet_tree *tree)
{
	struct aggnet_uplink *up = &tree->up;
	u32 us;

	if (up->state == AGGNET_UP_IDLE)
		return;
	if (up->state == AGGNET_UP_FINISHED)
		us = min3(UPLINK_PROBE_MIN_US <<
			  min(up->tries / UPLINK_PROBE_SAME, 5),
			  UPLINK_PROBE_MAX_US, uplink_alive_us(tree));
	else if (uplink_in_flight(tree))
		us = aggnet_sender_rto_left(&up->sender, aggnet_clock_us());
	else if (uplink_owed(tree))
		us = aggnet_rtt_rto(&up->sender.rtt);
	else if (aggnet_cast_waits(tree))
		us = min(UPLINK_CREDIT_MAX_US, uplink_alive_us(tree));
	else
		us = uplink_alive_us(tree);
	aggnet_timers_uplink(tree, us);
}

void aggnet_uplink_start(struct aggnet_tree *tree, struct aggnet_run *run)
{
	struct aggnet_uplink *up = &tree->up;

	if (up->state != AGGNET_UP_IDLE || !up->sender.slots)
		return;
	up->state = AGGNET_UP_OPENING;
	up->tries = 0;
	up->peer = 0;
	up->peer_nonce = 0;
	up->nonce = get_random_u64();
	uplink_send_open(tree, run);
	uplink_arm(tree);
}

bool aggnet_uplink_is_peer(const struct aggnet_tree *tree,
			   const struct aggnet_pkt *pkt)
{
	const struct aggnet_uplink *up = &tree->up;

	return up->state >= AGGNET_UP_BINDING && pkt->src == up->peer &&
	       pkt->src_nonce == up->peer_nonce && pkt->dst_nonce == up->nonce;
}

/*
 * Hop limit for packets to the acceptor that an OPEN reached with @left hops. Plain
 * IP does not decrement the field, but links that heal and entries that come late
 * do, so the limit is never less than planned. With Bloom tables each hop may make
 * copies.
 */
static u8 uplink_hop(const struct aggnet_tree *tree, u8 left)
{
	const struct aggnet_tree_conf *conf = &tree->conf;
	u32 links = max_t(u32, tree->up.hop - left, conf->hops);

	if (conf->filter_size ||
	    (tree->up.any && conf->scheme != AGGNET_SCHEME_BLOOM))
		return AGGNET_HOP_MAX;
	return min_t(u32, links + 2, AGGNET_HOP_MAX);
}

static void uplink_accept(struct aggnet_tree *tree,
			  const struct aggnet_pkt *pkt,
			  struct aggnet_run *run)
{
	const struct aggnet_accept *accept = (const void *)pkt->body;
	u32 payload = be16_to_cpu(accept->max_payload);
	u32 records = be16_to_cpu(accept->max_records);
	struct aggnet_uplink *up = &tree->up;

	if (up->state != AGGNET_UP_OPENING || pkt->dst_nonce != up->nonce ||
	    accept->hop > up->hop) {
		aggnet_stat_inc(tree->an, drop_state);
		return;
	}
	if (payload < AGGNET_PAYLOAD_MIN || !records ||
	    accept->direction != tree->conf.direction) {
		aggnet_stat_inc(tree->an, drop_body);
		return;
	}
	if (pkt->echo)
		aggnet_rtt_sample(&up->sender.rtt,
				  aggnet_clock_us() - pkt->echo);
	up->state = AGGNET_UP_BINDING;
	up->peer = pkt->src;
	up->peer_nonce = pkt->src_nonce;
	up->peer_stamp = pkt->stamp;
	up->hop = uplink_hop(tree, accept->hop);
	up->max_payload = min(tree->packet.max_payload, payload);
	up->max_records = min(tree->packet.max_records, records);
	up->tries = 0;
	if (tree->state == AGGNET_TREE_ABORTED)
		uplink_send_abort(tree, run);
	else
		uplink_send_bind(tree, run);
	uplink_arm(tree);
}

/*
 * Is an RST for this channel? While the channel opens, any end on the path may have
 * a newer epoch; later only the acceptor counts. The RST of an acceptor that lost
 * its state cannot have its old nonce.
 */
static bool uplink_rst_ok(const struct aggnet_uplink *up,
			  const struct aggnet_pkt *pkt, bool epoch)
{
	if (up->state == AGGNET_UP_IDLE || pkt->dst_nonce != up->nonce)
		return false;
	return up->state == AGGNET_UP_OPENING ? epoch : pkt->src == up->peer;
}

/* The acceptor has not bound this end and will not: open again with a new nonce. */
static void uplink_rst(struct aggnet_tree *tree, const struct aggnet_pkt *pkt,
		       struct aggnet_run *run)
{
	const struct aggnet_rst *rst = (const void *)pkt->body;
	bool epoch = rst->reason == cpu_to_be32(AGGNET_RST_EPOCH);
	struct aggnet_uplink *up = &tree->up;

	if (!uplink_rst_ok(up, pkt, epoch)) {
		aggnet_stat_inc(tree->an, drop_peer);
		return;
	}
	if (epoch) {
		up->told = true;	/* a newer epoch ignores the ABORT */
		aggnet_tree_tell_epoch(tree, run);
		aggnet_tree_abort(tree, run, AGGNET_R_STALE, pkt->src,
				  aggnet_tree_self(tree), 0);
		return;
	}
	/* An acceptor does not refuse a bound channel: the RST is forged. */
	if (up->state > AGGNET_UP_BINDING && pkt->src_nonce == up->peer_nonce) {
		aggnet_stat_inc(tree->an, drop_state);
		return;
	}
	if (up->state != AGGNET_UP_BINDING) {
		/* Open a channel to the new incarnation, to send it the ABORT. */
		up->state = AGGNET_UP_IDLE;
		up->any = true;
		aggnet_tree_abort(tree, run, AGGNET_R_RESET,
				  aggnet_tree_self(tree), pkt->src, 0);
		/* A tree that has ended has told only the old incarnation. */
		if (tree->state == AGGNET_TREE_ABORTED && !up->told)
			aggnet_uplink_start(tree, run);
		return;
	}
	up->state = AGGNET_UP_IDLE;
	up->any |= rst->reason == cpu_to_be32(AGGNET_RST_CLOSED);
	aggnet_uplink_start(tree, run);
}

/*
 * A fresh ACK: the acceptor lives. Return: microseconds since the packet left
 * that the ACK answers, 0: not known
 */
static u32 uplink_heard(struct aggnet_tree *tree, const struct aggnet_pkt *pkt)
{
	struct aggnet_uplink *up = &tree->up;

	if (!aggnet_fresh(&up->peer_stamp, pkt->stamp, up->heard,
			  tree->conf.give_up_ms))
		return 0;
	up->heard = jiffies;
	/* FIN is repeated until DONE: its ACKs do not reset the interval. */
	if (up->state != AGGNET_UP_FINISHED)
		up->tries = 0;
	return pkt->echo ? max(aggnet_clock_us() - pkt->echo, 1u) : 0;
}

static void uplink_ack(struct aggnet_tree *tree, const struct aggnet_pkt *pkt,
		       struct aggnet_run *run)
{
	const struct aggnet_ack *ack = (const void *)pkt->body;
	struct aggnet_uplink *up = &tree->up;

	if (!aggnet_tree_takes_ack(tree, &up->sender, ack))
		return;
	if (up->state == AGGNET_UP_BINDING) {
		up->state = AGGNET_UP_BOUND;
		up->sender.rtt.backoff = 0;	/* progress: it is bound */
	}
	up->rooted |= !!(pkt->flags & AGGNET_F_ROOTED);
	aggnet_sender_ack(&up->sender, ack, uplink_heard(tree, pkt),
			  aggnet_clock_us());
	if (pkt->flags & AGGNET_F_FIN && up->state == AGGNET_UP_BOUND &&
	    tree->state == AGGNET_TREE_CLOSING &&
	    aggnet_sender_all_acked(&up->sender)) {
		up->state = AGGNET_UP_FINISHED;
		up->tries = 0;
		tree->state = AGGNET_TREE_WAITING;
	}
	aggnet_uplink_push(tree, run);
}

static void uplink_abort_rx(struct aggnet_tree *tree,
			    const struct aggnet_pkt *pkt,
			    struct aggnet_run *run)
{
	const struct aggnet_abort *body = (const void *)pkt->body;
	u32 reason = be32_to_cpu(body->reason);

	if (!reason || reason >= __AGGNET_R_MAX)
		reason = AGGNET_R_PROTOCOL;
	tree->up.told = true;
	if (tree->state < AGGNET_TREE_DONE) {
		tree->outcome.lost.n = 0;
		aggnet_acceptor_names(tree, pkt, sizeof(*body),
				      AGGNET_NAMES_MAX);
	}
	aggnet_tree_abort(tree, run, reason, body->origin, body->about,
			  be32_to_cpu(body->missing));
	if (!(pkt->flags & AGGNET_F_REPLY))
		uplink_send(tree, AGGNET_ABORT, AGGNET_F_REPLY, pkt->body,
			    pkt->length, NULL, run);
}

/*
 * The acceptor is done with @round. An end without sources is not waited for, so it
 * may have missed that others were.
 */
static void uplink_done(struct aggnet_tree *tree, u32 round, bool last,
			struct aggnet_run *run)
{
	if (round > tree->round &&
	    tree->books.weight + aggnet_tree_own_done(tree)) {
		aggnet_stat_inc(tree->an, drop_round);
		return;
	}
	/* DONE implies custody of a FIN that was sent, whose ACK may have been lost. */
	if (tree->state == AGGNET_TREE_WAITING ||
	    (tree->state == AGGNET_TREE_CLOSING && tree->up.fin)) {
		/* The FIN down has told whether the round is the last one. */
		if (aggnet_tree_leads_down(tree) && tree->conf.persist &&
		    last != tree->last) {
			aggnet_tree_abort(tree, run, AGGNET_R_PROTOCOL,
					  aggnet_tree_self(tree), tree->up.peer,
					  0);
			return;
		}
		tree->up.state = AGGNET_UP_FINISHED;
		tree->round = round;
		aggnet_tree_done(tree, last, run);
	} else if (tree->state != AGGNET_TREE_DONE) {
		aggnet_stat_inc(tree->an, drop_state);
	}
}

/*
 * A packet of another round. If the acceptor is in a later one, the rounds before that
 * are done here, too: DONE was lost, or comes later. Return: does the packet count?
 * What an ABORT says holds in any round.
 */
static bool uplink_catch_up(struct aggnet_tree *tree,
			    const struct aggnet_pkt *pkt,
			    struct aggnet_run *run)
{
	bool later = tree->conf.persist && pkt->round > tree->round &&
		     tree->state < AGGNET_TREE_DONE;

	if (later && pkt->type == AGGNET_DONE)
		return true;
	if (later)
		uplink_done(tree, pkt->round - 1, false, run);
	if (pkt->round == tree->round || pkt->type == AGGNET_ABORT)
		return true;
	aggnet_stat_inc(tree->an, drop_round);
	return false;
}

void aggnet_uplink_next_round(struct aggnet_tree *tree)
{
	struct aggnet_uplink *up = &tree->up;

	if (!up->sender.slots)
		return;
	up->state = AGGNET_UP_BOUND;
	up->fin = false;
	up->tries = 0;
	up->heard = jiffies;
	up->sender.rtt.backoff = 0;
	aggnet_sender_drop_credit(&up->sender);
	uplink_arm(tree);
}

/* DATA and FIN of a stream; the first one of a round ends the quiet before it. */
static void uplink_stream(struct aggnet_tree *tree, const struct aggnet_pkt *pkt,
			  struct aggnet_run *run)
{
	bool quiet = !aggnet_cast_waits(tree);

	uplink_heard(tree, pkt);
	aggnet_cast_rx(tree, pkt, run);
	if (quiet && aggnet_cast_waits(tree))
		uplink_arm(tree);
}

void aggnet_uplink_rx(struct aggnet_tree *tree, const struct aggnet_pkt *pkt,
		      struct aggnet_run *run)
{
	if (!tree->up.sender.slots) {
		aggnet_stat_inc(tree->an, drop_state);
		return;
	}
	if (pkt->type == AGGNET_ACCEPT) {
		uplink_accept(tree, pkt, run);
		return;
	}
	if (pkt->type == AGGNET_RST) {
		uplink_rst(tree, pkt, run);
		return;
	}
	if (!aggnet_uplink_is_peer(tree, pkt)) {
		aggnet_stat_inc(tree->an, drop_peer);
		return;
	}
	if (pkt->round != tree->round && !uplink_catch_up(tree, pkt, run))
		return;
	if (pkt->flags & AGGNET_F_DOWN) {
		uplink_stream(tree, pkt, run);
	} else if (pkt->type == AGGNET_ACK) {
		uplink_ack(tree, pkt, run);
		aggnet_cast_greet(tree, run);
	} else if (pkt->type == AGGNET_DONE) {
		uplink_done(tree, pkt->round, !tree->conf.persist ||
			    pkt->flags & AGGNET_F_LAST, run);
	} else {
		uplink_abort_rx(tree, pkt, run);
	}
}

/*
 * Blocks of a vector become ready a few at a time. While an ACK is due, wait until they
 * fill a packet: else each end on the path would send more and smaller packets than the
 * one below. The ACK sends what there is.
 */
static bool uplink_collects(const struct aggnet_tree *tree)
{
	const struct aggnet_uplink *up = &tree->up;

	return !aggnet_sender_all_acked(&up->sender) && up->full &&
	       !tree->store.ops->ready(tree, up->full);
}

/* May one more packet leave now? */
static bool uplink_open(const struct aggnet_tree *tree)
{
	const struct aggnet_uplink *up = &tree->up;

	return up->state == AGGNET_UP_BOUND &&
	       aggnet_sender_may_add(&up->sender) &&
	       aggnet_tree_may_emit(tree) && !uplink_collects(tree);
}

static void uplink_transmit(struct aggnet_tree *tree, u32 seq, u16 flags,
			    struct aggnet_run *run)
{
	const struct aggnet_packed *packed = uplink_packed(&tree->up, seq);

	if (tree->state != AGGNET_TREE_CLOSING)
		flags |= AGGNET_F_PARTIAL;
	uplink_send(tree, AGGNET_DATA, flags, uplink_body(tree, seq),
		    packed->len, &packed->digest, run);
}

/* Return: approximate number of instructions to make the packet */
static u32 uplink_pack(struct aggnet_tree *tree, u32 seq)
{
	struct aggnet_packed *packed = uplink_packed(&tree->up, seq);
	struct aggnet_data *data = (void *)uplink_body(tree, seq);
	struct aggnet_uplink *up = &tree->up;
	u64 represents;
	u32 records;
	u32 len;

	len = tree->store.ops->pack(tree, (u8 *)(data + 1), up->max_payload,
				    up->max_records, &records, &represents);
	data->seq = cpu_to_be32(seq);
	data->records = cpu_to_be16(records);
	/* Zero, unless the store has runs. */
	data->weight = cpu_to_be16(tree->store.runs.weight);
	data->represents = cpu_to_be64(represents);
	packed->len = sizeof(*data) + len;
	packed->digest = aggnet_digest(&tree->conf.key, data, packed->len);
	trace_aggnet_emit(tree, records, represents);
	tree->count.packets_out++;
	tree->count.bytes_out += len;
	tree->count.records_out += records;
	up->full = clamp(records * up->max_payload / max(len, 1u), 1u,
			 up->max_records);
	return records * aggnet_accum_cost(&tree->conf.shape) + 2 * len;
}

static void uplink_retransmit(struct aggnet_tree *tree, u32 seq,
			      struct aggnet_run *run)
{
	aggnet_sender_resent(&tree->up.sender, seq, aggnet_clock_us());
	aggnet_sender_ask(&tree->up.sender, seq);
	uplink_transmit(tree, seq, AGGNET_F_REXMIT | AGGNET_F_ACK, run);
	aggnet_stat_inc(tree->an, tx_retransmits);
	tree->count.rexmits++;
}

static u32 uplink_resend(struct aggnet_tree *tree, u32 burst,
			 struct aggnet_run *run)
{
	struct aggnet_sender *s = &tree->up.sender;
	u32 seq = s->una;

	for (; burst && aggnet_sender_find_lost(s, &seq); seq++) {
		if (!aggnet_sender_may_resend(s))
			return 0;
		uplink_retransmit(tree, seq, run);
		burst--;
	}
	return burst;
}

/* Must the packet that was made last ask for an ACK? The last one of the flow does. */
static bool uplink_asks(const struct aggnet_tree *tree)
{
	return aggnet_sender_wants_ack(&tree->up.sender) ||
	       !aggnet_tree_keys(tree);
}

/*
 * Make new packets, as many as one run of the lock may. Return: true: at least one
 */
static bool uplink_make(struct aggnet_tree *tree, struct aggnet_run *run)
{
	struct aggnet_uplink *up = &tree->up;
	struct aggnet_sender *s = &up->sender;
	u32 first = s->nxt;
	bool ask;
	u32 seq;

	while (up->burst && up->cost < AGGNET_COST_MAX && uplink_open(tree)) {
		up->burst--;
		up->cost += uplink_pack(tree, s->nxt);
		seq = aggnet_sender_add(s, aggnet_clock_us());
		ask = uplink_asks(tree);
		if (ask)
			aggnet_sender_ask(s, seq);
		uplink_transmit(tree, seq, ask ? AGGNET_F_ACK : 0, run);
	}
	up->stopped = up->burst && up->cost >= AGGNET_COST_MAX &&
		      uplink_open(tree);
	return s->nxt != first;
}

/*
 * Packets that did not ask relied on an ACK that lets others follow. It has come, and
 * none has followed.
 */
static void uplink_ask_rest(struct aggnet_tree *tree, struct aggnet_run *run)
{
	struct aggnet_sender *s = &tree->up.sender;

	if (!s->flight || aggnet_sender_awaits_ack(s))
		return;
	aggnet_sender_ask(s, s->nxt - 1);
	uplink_send_probe(tree, run);
}

static void uplink_push(struct aggnet_tree *tree, struct aggnet_run *run)
{
	struct aggnet_uplink *up = &tree->up;

	if (uplink_make(tree, run))
		tree->store.ops->reclaim(tree, run);
	uplink_ask_rest(tree, run);
	if (aggnet_sender_is_exhausted(&up->sender) &&
	    aggnet_tree_may_emit(tree)) {
		aggnet_tree_abort(tree, run, AGGNET_R_PROTOCOL,
				  aggnet_tree_self(tree),
				  aggnet_tree_self(tree), 0);
		return;
	}
	if (tree->state == AGGNET_TREE_CLOSING && !aggnet_tree_keys(tree) &&
	    aggnet_sender_all_acked(&up->sender) && !up->fin)
		uplink_send_fin(tree, run);
	uplink_arm(tree);
}

static bool uplink_pushes(const struct aggnet_tree *tree)
{
	return tree->up.state == AGGNET_UP_BOUND &&
	       tree->state != AGGNET_TREE_ABORTED;
}

/* Count what this run of the lock has made already. */
static void uplink_burst(struct aggnet_tree *tree, u32 burst,
			 struct aggnet_run *run)
{
	struct aggnet_uplink *up = &tree->up;
	u32 made = skb_queue_len(&run->packets);

	up->burst = burst;
	up->stopped = made >= AGGNET_BURST;
	if (up->stopped)
		return;
	up->burst = uplink_resend(tree, min(burst, AGGNET_BURST - made), run);
	uplink_push(tree, run);
}

void aggnet_uplink_push(struct aggnet_tree *tree, struct aggnet_run *run)
{
	if (uplink_pushes(tree))
		uplink_burst(tree, AGGNET_BURST, run);
}

void aggnet_uplink_go_on(struct aggnet_tree *tree, struct aggnet_run *run)
{
	bool stopped = tree->up.stopped;

	tree->up.stopped = false;
	if (stopped && uplink_pushes(tree))
		uplink_burst(tree, tree->up.burst, run);
}

void aggnet_uplink_abort(struct aggnet_tree *tree, struct aggnet_run *run)
{
	struct aggnet_uplink *up = &tree->up;

	if (!up->sender.slots)
		return;
	aggnet_uplink_start(tree, run);
	if (up->state >= AGGNET_UP_BINDING && !up->told)
		uplink_send_abort(tree, run);
	uplink_arm(tree);
}

static void uplink_rto(struct aggnet_tree *tree, struct aggnet_run *run)
{
	struct aggnet_sender *s = &tree->up.sender;

	if (aggnet_sender_expired(s, aggnet_clock_us()))
		uplink_retransmit(tree, s->una, run);
	aggnet_uplink_push(tree, run);
}

/*
 * The acceptor grants credit when there is some, but the ACK may be lost: an end
 * that waits for credit asks, at growing intervals, but often enough as a sign of
 * life.
 */
static void uplink_ask(struct aggnet_tree *tree, struct aggnet_run *run)
{
	u32 max = min(UPLINK_CREDIT_MAX_US, uplink_alive_us(tree));
	struct aggnet_rtt *rtt = &tree->up.sender.rtt;

	if (aggnet_tree_may_emit(tree) && 2 * aggnet_rtt_rto(rtt) <= max)
		aggnet_rtt_backoff(rtt);
	uplink_send_probe(tree, run);
}

static void uplink_expired_bound(struct aggnet_tree *tree,
				 struct aggnet_run *run)
{
	struct aggnet_uplink *up = &tree->up;

	if (!aggnet_sender_all_acked(&up->sender)) {
		uplink_rto(tree, run);
	} else if (tree->state == AGGNET_TREE_CLOSING && !aggnet_tree_keys(tree)) {
		aggnet_rtt_backoff(&up->sender.rtt);
		uplink_send_fin(tree, run);
	} else {
		uplink_ask(tree, run);
	}
}

static bool uplink_gave_up(const struct aggnet_tree *tree)
{
	return time_after(jiffies, tree->up.heard +
			  msecs_to_jiffies(tree->conf.give_up_ms));
}

/* The acceptor, if it has bound this end, must not wait for it. */
static void uplink_sleep(struct aggnet_tree *tree, struct aggnet_run *run)
{
	if (tree->up.state == AGGNET_UP_BINDING)
		uplink_send_fin(tree, run);
	aggnet_tree_sleep(tree);
}

void aggnet_uplink_expired(struct aggnet_tree *tree, struct aggnet_run *run)
{
	struct aggnet_uplink *up = &tree->up;

	if (tree->state == AGGNET_TREE_DONE)
		return;
	if (uplink_gave_up(tree) && aggnet_tree_bypassed(tree)) {
		uplink_sleep(tree, run);
		return;
	}
	if (uplink_gave_up(tree)) {
		aggnet_tree_abort(tree, run, AGGNET_R_TIMEOUT,
				  aggnet_tree_self(tree), up->peer, 0);
		return;
	}
	if (tree->state == AGGNET_TREE_ABORTED && up->told)
		return;
	if (up->tries < U8_MAX)
		up->tries++;
	switch (up->state) {
	case AGGNET_UP_OPENING:
		up->any |= up->tries >= AGGNET_ANY_AFTER;
		aggnet_rtt_backoff(&up->sender.rtt);
		uplink_send_open(tree, run);
		break;
	case AGGNET_UP_IDLE:
		return;
	default:
		if (tree->state == AGGNET_TREE_ABORTED) {
			aggnet_rtt_backoff(&up->sender.rtt);
			uplink_send_abort(tree, run);
		} else if (up->state == AGGNET_UP_BINDING) {
			aggnet_rtt_backoff(&up->sender.rtt);
			uplink_send_bind(tree, run);
		} else if (up->state == AGGNET_UP_FINISHED) {
			uplink_send_fin(tree, run);
		} else {
			uplink_expired_bound(tree, run);
		}
	}
	uplink_arm(tree);
}
