// SPDX-License-Identifier: GPL-2.0
/* Cast: the ring of a stream, what fills it, and what it holds. */
#include <linux/align.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>

#include "core/packet.h"
#include "core/tag.h"
#include "flow/cast.h"
#include "flow/channel.h"
#include "flow/host.h"
#include "flow/local.h"
#include "flow/timers.h"
#include "flow/tree.h"
#include "mem.h"

/* --- memory ----------------------------------------------------------------- */

static u32 cast_window(u32 slots)
{
	return min_t(u32, slots, AGGNET_WINDOW);
}

static u64 cast_bytes(const struct aggnet_tree *tree, u32 slots)
{
	u64 branch = sizeof(struct aggnet_branch) +
		     cast_window(slots) * sizeof(struct aggnet_segment);

	return slots * (sizeof(struct aggnet_packed) + AGGNET_CAST_BODY) +
	       tree->conf.nchildren * branch;
}

/* Packets in the ring, 0: its memory is too short for the shortest one. */
static u32 cast_slots(const struct aggnet_tree *tree)
{
	return aggnet_fanout_fit(tree->conf.memory, AGGNET_CAST_BODY +
				 sizeof(struct aggnet_packed));
}

static u64 cast_size(struct aggnet_tree *tree)
{
	u32 slots = cast_slots(tree);

	return slots ? cast_bytes(tree, slots) : 0;
}

static int cast_init(struct aggnet_tree *tree)
{
	u32 slots = cast_slots(tree);
	struct aggnet_cast *cast = &tree->store.cast;
	struct aggnet_segment *segment;
	u32 i;

	cast->ring = aggnet_zalloc(tree->store.bytes, GFP_KERNEL_ACCOUNT);
	if (!cast->ring)
		return -ENOMEM;
	cast->branches = tree->conf.nchildren;
	cast->last = cast->branches + tree->conf.writers;
	cast->waits = true;
	cast->branch = (void *)(cast->ring + slots);
	segment = (void *)(cast->branch + cast->branches);
	cast->bodies = (void *)(segment + cast->branches * cast_window(slots));
	aggnet_fanout_init(&cast->fan, slots);
	for (i = 0; i < cast->branches; i++)
		aggnet_sender_init(&cast->branch[i].sender,
				   segment + i * cast_window(slots),
				   cast_window(slots), AGGNET_SEQ_FIRST);
	return 0;
}

/* @init has allocated all memory. */
static int cast_fill(struct aggnet_tree *tree)
{
	return 0;
}

/* Readers that have not taken the end mark may still do so. */
static void cast_free(struct aggnet_tree *tree)
{
	struct aggnet_cast *cast = &tree->store.cast;
	void *memory;

	spin_lock_bh(&tree->lock);
	memory = cast->ring;
	cast->ring = NULL;
	cast->bodies = NULL;
	cast->branch = NULL;
	cast->branches = 0;
	cast->bound = 0;
	cast->todo = 0;
	spin_unlock_bh(&tree->lock);
	aggnet_free(memory);
}

/* --- up: what has come, and room for more ------------------------------------ */

static void cast_answer(struct aggnet_tree *tree, u32 echo,
			struct aggnet_run *run)
{
	struct aggnet_fanout *fan = &tree->store.cast.fan;
	struct aggnet_ack ack;

	aggnet_rxwin_ack(&fan->win, &ack);
	fan->granted = aggnet_fanout_credit(fan);
	ack.credit = cpu_to_be32(fan->granted);
	aggnet_uplink_answer(tree, fan->ended ? AGGNET_F_FIN : 0, echo, &ack,
			     run);
}

/*
 * Has nothing of a round come, but of the first one? The parent has credit since the FIN
 * of the round before, so there is nothing to ask for.
 */
static bool cast_is_idle(const struct aggnet_tree *tree)
{
	const struct aggnet_cast *cast = &tree->store.cast;

	return tree->round && !cast->bytes && !cast->fan.ended &&
	       cast->fan.top == aggnet_fanout_cum(&cast->fan);
}

bool aggnet_cast_waits(const struct aggnet_tree *tree)
{
	return aggnet_tree_leads_down(tree) &&
	       tree->up.state == AGGNET_UP_BOUND &&
	       tree->state == AGGNET_TREE_OPEN &&
	       !aggnet_fanout_is_whole(&tree->store.cast.fan) &&
	       !cast_is_idle(tree);
}

void aggnet_cast_greet(struct aggnet_tree *tree, struct aggnet_run *run)
{
	if (aggnet_cast_waits(tree))
		cast_answer(tree, 0, run);
}

/* A child or a reader lacks @seq first: count those that lack the oldest one. */
static void cast_lacks(struct aggnet_cast *cast, u32 *least, u32 seq)
{
	if (aggnet_before(seq, *least)) {
		*least = seq;
		cast->last = 0;
	}
	cast->last += seq == *least;
}

/* The first packet that a child or a reader lacks, whether it has come or not. */
static u32 cast_least(struct aggnet_tree *tree)
{
	struct aggnet_cast *cast = &tree->store.cast;
	u32 least = aggnet_fanout_cum(&cast->fan);
	const struct aggnet_local *local;
	u32 i;

	cast->last = 0;
	for (i = 0; i < cast->branches; i++)
		cast_lacks(cast, &least, cast->branch[i].sender.una);
	list_for_each_entry(local, &tree->local.list, list)
		if (local != tree->local.reader)
			cast_lacks(cast, &least, local->seq);
	return least;
}

/* All are looked at only when the last one that lacked the oldest packet has it. */
void aggnet_cast_slide(struct aggnet_tree *tree, u32 seq, struct aggnet_run *run)
{
	struct aggnet_cast *cast = &tree->store.cast;
	struct aggnet_fanout *fan = &cast->fan;

	if (seq == fan->first && !--cast->last)
		aggnet_fanout_slide(fan, cast_least(tree));
	if (tree->store.full && aggnet_fanout_room(fan)) {
		tree->store.full = false;
		run->wake = true;
	}
	if (aggnet_cast_waits(tree) && aggnet_fanout_owes(fan))
		cast_answer(tree, 0, run);
}

/* --- the packets of the parent --------------------------------------------------- */

static void cast_put(struct aggnet_cast *cast, u32 seq, const void *body, u16 len,
		     u64 digest)
{
	*aggnet_cast_packed(cast, seq) = (struct aggnet_packed) {
		.digest = digest,
		.len = len,
	};
	memcpy(aggnet_cast_body(cast, seq), body, len);
	aggnet_fanout_take(&cast->fan, seq);
}

static void cast_fail(struct aggnet_tree *tree, enum aggnet_reason reason,
		      struct aggnet_run *run)
{
	aggnet_tree_abort(tree, run, reason, aggnet_tree_self(tree),
			  tree->up.peer, 0);
}

/*
 * Packets from @seq on are in order now. Return: false: their bytes do not follow
 * each other, so the tree was aborted
 */
static bool cast_join(struct aggnet_tree *tree, u32 seq, struct aggnet_run *run)
{
	struct aggnet_cast *cast = &tree->store.cast;

	for (; seq != aggnet_fanout_cum(&cast->fan); seq++) {
		if (be64_to_cpu(aggnet_cast_body(cast, seq)->represents) !=
		    cast->bytes) {
			cast_fail(tree, AGGNET_R_PROTOCOL, run);
			return false;
		}
		cast->bytes += aggnet_cast_len(cast, seq);
	}
	return true;
}

/* There is something to read: wake readers, unless none has taken all before. */
static void cast_wake(struct aggnet_cast *cast, struct aggnet_run *run)
{
	run->wake |= cast->waits;
	cast->waits = false;
}

/* Something came or the end is known: send it on. */
void aggnet_cast_moved(struct aggnet_tree *tree, struct aggnet_run *run)
{
	struct aggnet_cast *cast = &tree->store.cast;

	if (aggnet_fanout_is_whole(&cast->fan) && cast->bytes != cast->total) {
		cast_fail(tree, AGGNET_R_MISMATCH, run);
		return;
	}
	if (aggnet_fanout_is_whole(&cast->fan))
		cast_wake(cast, run);
	aggnet_branches_push(tree, run);
}

static bool cast_data_ok(struct aggnet_tree *tree, const struct aggnet_pkt *pkt)
{
	const struct aggnet_data *data = (const void *)pkt->body;

	switch (aggnet_fanout_test(&tree->store.cast.fan, be32_to_cpu(data->seq))) {
	case AGGNET_SEQ_DUP:
		aggnet_stat_inc(tree->an, duplicates);
		return false;
	case AGGNET_SEQ_OUTSIDE:
		aggnet_stat_inc(tree->an, drop_window);
		return false;
	case AGGNET_SEQ_NEW:
		break;
	}
	if (pkt->length <= sizeof(*data) + AGGNET_CAST_PAYLOAD)
		return true;
	aggnet_stat_inc(tree->an, drop_body);
	return false;
}

static void cast_data(struct aggnet_tree *tree, const struct aggnet_pkt *pkt,
		      struct aggnet_run *run)
{
	const struct aggnet_data *data = (const void *)pkt->body;
	struct aggnet_cast *cast = &tree->store.cast;
	u32 cum = aggnet_fanout_cum(&cast->fan);
	u32 seq = be32_to_cpu(data->seq);
	bool asks = pkt->flags & AGGNET_F_ACK || seq != cum;

	if (cast_data_ok(tree, pkt)) {
		cast_put(cast, seq, data, pkt->length, pkt->digest);
		tree->count.packets_in++;
		tree->count.bytes_in += pkt->length - sizeof(*data);
		/* A hole that closes is news, too. */
		asks |= aggnet_fanout_cum(&cast->fan) - cum > 1;
		cast->more = !asks;
		if (!cast_join(tree, cum, run))
			return;
		if (aggnet_fanout_cum(&cast->fan) != cum) {
			cast_wake(cast, run);
			aggnet_cast_moved(tree, run);
		}
	}
	if (asks && tree->state < AGGNET_TREE_DONE)
		cast_answer(tree, pkt->stamp, run);
}

static void cast_fin(struct aggnet_tree *tree, const struct aggnet_pkt *pkt,
		     struct aggnet_run *run)
{
	const struct aggnet_fin *fin = (const void *)pkt->body;
	struct aggnet_cast *cast = &tree->store.cast;
	bool again = cast->fan.ended;

	if (!aggnet_fanout_end(&cast->fan, be32_to_cpu(fin->final))) {
		cast_fail(tree, AGGNET_R_PROTOCOL, run);
		return;
	}
	if (!again) {
		cast->total = be64_to_cpu(fin->records);
		cast->check = be64_to_cpu(fin->check);
		cast->checked = pkt->flags & AGGNET_F_CHECK;
		tree->last = pkt->flags & AGGNET_F_LAST;
		cast->more = false;
		aggnet_cast_moved(tree, run);
	}
	if (tree->state < AGGNET_TREE_DONE)
		cast_answer(tree, pkt->stamp, run);
}

void aggnet_cast_rx(struct aggnet_tree *tree, const struct aggnet_pkt *pkt,
		    struct aggnet_run *run)
{
	if (tree->up.state < AGGNET_UP_BOUND ||
	    tree->state >= AGGNET_TREE_DONE)
		aggnet_stat_inc(tree->an, drop_state);
	else if (pkt->type == AGGNET_DATA)
		cast_data(tree, pkt, run);
	else
		cast_fin(tree, pkt, run);
}

/* --- rounds ---------------------------------------------------------------------- */

void aggnet_cast_next_round(struct aggnet_tree *tree, struct aggnet_run *run)
{
	struct aggnet_cast *cast = &tree->store.cast;
	u32 i;

	aggnet_fanout_next_round(&cast->fan);
	cast->bytes = 0;
	cast->check = 0;
	cast->checked = false;
	/* Readers have taken the end mark, and wait. */
	cast->waits = true;
	for (i = 0; i < cast->branches; i++) {
		cast->branch[i].fin = false;
		cast->branch[i].told = false;
		cast->branch[i].sender.rtt.backoff = 0;
	}
	tree->writers.done = 0;
	/* The root's process shut down between the two rounds. */
	if (tree->local.end_read)
		aggnet_cast_finish(tree, run);
}

/* --- the store of a tree that leads down --------------------------------------------- */

/*
 * An unplanned child would need the beginning, which may have left the ring. There
 * is no credit upward.
 */
static bool cast_fits(const struct aggnet_tree *tree,
		      const struct aggnet_child *c)
{
	return false;
}

static void cast_refuse(struct aggnet_tree *tree, __be32 id,
			struct aggnet_run *run)
{
}

/* It is planned, so it has a branch. */
static void cast_bind(struct aggnet_tree *tree, struct aggnet_child *c,
		      bool extra)
{
	struct aggnet_cast *cast = &tree->store.cast;

	c->run = cast->bound++;
	cast->branch[c->run].child = c;
}

static u32 cast_grant(struct aggnet_tree *tree, const struct aggnet_child *c,
		      struct aggnet_run *run)
{
	return 0;
}

static bool cast_merge(struct aggnet_tree *tree, const struct aggnet_child *c,
		       const struct aggnet_pkt *pkt, struct aggnet_run *run)
{
	return false;
}

/*
 * The child has everything, and so have all below it, or it is wrong. The FIN is the ACK
 * of a child whose ring is empty: its ACKs may have been lost, and the next round must
 * not wait for one.
 */
static bool cast_child_fin(struct aggnet_tree *tree, const struct aggnet_child *c,
			   u32 weight, struct aggnet_run *run)
{
	struct aggnet_cast *cast = &tree->store.cast;
	struct aggnet_branch *b = &cast->branch[c->run];
	u32 una = b->sender.una;
	struct aggnet_ack ack = {
		.cum = cpu_to_be32(b->sender.nxt),
		.credit = cpu_to_be32(b->sender.nxt + AGGNET_FANOUT_MIN),
	};

	if (!cast->fan.ended || b->sender.nxt != cast->fan.final) {
		aggnet_tree_abort(tree, run, AGGNET_R_PROTOCOL,
				  aggnet_tree_self(tree), c->id, 0);
		return false;
	}
	b->fin = true;
	b->told = true;
	aggnet_sender_ack(&b->sender, &ack, 0, aggnet_clock_us());
	if (b->sender.una != una)
		aggnet_cast_slide(tree, una, run);
	return true;
}

static void cast_close(struct aggnet_tree *tree)
{
}

static u32 cast_room(struct aggnet_tree *tree, const struct aggnet_local *local,
		     bool poll, struct aggnet_run *run)
{
	return 0;
}

static int cast_write(struct aggnet_tree *tree, const struct aggnet_local *local,
		      const u8 *data, u32 len, u32 records,
		      struct aggnet_run *run)
{
	return -EILSEQ;
}

static void cast_shut(struct aggnet_tree *tree,
		      const struct aggnet_local *local)
{
}

static bool cast_ready(const struct aggnet_tree *tree, u32 records)
{
	return false;
}

static u32 cast_pack(struct aggnet_tree *tree, u8 *buf, u32 room,
		     u32 max_records, u32 *records, u64 *represents)
{
	return 0;
}

static void cast_nothing(struct aggnet_tree *tree, struct aggnet_run *run)
{
}

const struct aggnet_store_ops aggnet_store_cast = {
	.shared = true,
	.size = cast_size,
	.init = cast_init,
	.fill = cast_fill,
	.free = cast_free,
	.fits = cast_fits,
	.refuse = cast_refuse,
	.bind = cast_bind,
	.grant = cast_grant,
	.merge = cast_merge,
	.fin = cast_child_fin,
	.close = cast_close,
	.room = cast_room,
	.write = cast_write,
	.shut = cast_shut,
	.ready = cast_ready,
	.pack = cast_pack,
	.moved = cast_nothing,
	.reclaim = cast_nothing,
	.relieve = cast_nothing,
	.go_on = aggnet_branches_go_on,
};
