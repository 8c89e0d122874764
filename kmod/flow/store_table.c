// SPDX-License-Identifier: GPL-2.0
/* Store of most trees: a table by key, whose chunks all contributors share. Decides
 * the credit of each, and what to do when chunks run short.
 */
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/skbuff.h>

#include "core/fault.h"
#include "core/packet.h"
#include "flow/channel.h"
#include "flow/growth.h"
#include "flow/store.h"
#include "flow/tree.h"

#define TABLE_CHUNKS_START	32	/* of a new tree, if its limit allows */

/* --- memory --------------------------------------------------------------- */

static u64 table_size(struct aggnet_tree *tree)
{
	u64 least = (u64)aggnet_tree_chunks_min(tree) * AGGNET_CHUNK;

	return least > tree->conf.memory ? 0 :
	       aggnet_table_overhead(tree->conf.memory);
}

/* Update how many contributors each block of a dense vector must have. */
static void table_expect(struct aggnet_tree *tree)
{
	const struct aggnet_tree_conf *conf = &tree->conf;
	u32 planned = conf->contributors - !!conf->writers;

	if (conf->shape.layout == AGGNET_LAYOUT_DENSE)
		tree->store.table.expected = conf->writers +
			max(planned, tree->acceptor.bound_total);
}

static int table_init(struct aggnet_tree *tree)
{
	u64 seed[ARRAY_SIZE(tree->store.table.seed)];
	int err;

	get_random_bytes(seed, sizeof(seed));
	err = aggnet_table_init(&tree->store.table, &tree->conf.shape,
				tree->conf.memory, seed);
	memzero_explicit(seed, sizeof(seed));
	if (err)
		return err;
	aggnet_fault_from(&tree->store.table, &tree->an->fault);
	table_expect(tree);
	return 0;
}

static int table_fill(struct aggnet_tree *tree)
{
	u32 least = aggnet_tree_chunks_min(tree);
	u32 start = min_t(u64, max_t(u32, least, TABLE_CHUNKS_START),
			  tree->conf.memory / AGGNET_CHUNK);
	int err;

	return aggnet_growth_add(tree, start, &err) < least ? err : 0;
}

static void table_free(struct aggnet_tree *tree)
{
	struct aggnet_table table;

	spin_lock_bh(&tree->lock);
	table = tree->store.table;
	memset(&tree->store.table, 0, sizeof(tree->store.table));
	spin_unlock_bh(&tree->lock);
	aggnet_table_free(&table);
}

/* --- room ------------------------------------------------------------------ */

/*
 * Free chunks on which there is no claim. Each credit has a claim, each child that
 * waits for one, each contributor that has not come yet, and the local writers
 * together. @own: number of claims that are the caller's own (0 or 1)
 */
static u32 table_chunks(const struct aggnet_tree *tree, u32 own)
{
	const struct aggnet_acceptor *a = &tree->acceptor;
	u32 due = tree->conf.contributors - (a->bound_total - a->unplanned);
	u32 claimed = (a->credits + a->no_credit + due - own) *
		      tree->packet.chunks;
	u32 free = tree->store.table.free;

	return free > claimed ? free - claimed : 0;
}

/* Are there enough for the records of any packet? */
static bool table_has_room(const struct aggnet_tree *tree, u32 own)
{
	return table_chunks(tree, own) >= tree->packet.chunks;
}

static bool table_fits(const struct aggnet_tree *tree,
		       const struct aggnet_child *c)
{
	return table_has_room(tree, !!c);
}

/* Does a child or a writer wait for room that is not there? */
static bool table_lacks_room(const struct aggnet_tree *tree)
{
	bool claims = tree->acceptor.waits_for_credit ||
		      tree->writers.joined > tree->writers.done;

	return (claims && !table_has_room(tree, 1)) ||
	       (aggnet_acceptor_refuses(tree) && !table_has_room(tree, 0));
}

/*
 * Room is short: grow, or emit records. @refused: a child or a writer got no room at
 * all; then emit even if many chunks are free, as idle credits may claim them all.
 */
static void table_press(struct aggnet_tree *tree, struct aggnet_run *run,
			bool refused)
{
	const struct aggnet_table *t = &tree->store.table;

	if (tree->dead || aggnet_growth_ask(tree))
		return;
	if (!tree->pressure && t->keys &&
	    (refused || t->free < t->chunks / 2)) {
		tree->pressure = true;
		run->wake = true;	/* a reader may take records */
	}
}

static void table_reclaim(struct aggnet_tree *tree, struct aggnet_run *run)
{
	bool own = tree->acceptor.no_credit && !aggnet_acceptor_refuses(tree);
	const struct aggnet_table *t = &tree->store.table;

	/* An empty table ends the pressure: the next refusal starts it again. */
	if (!t->keys ||
	    (t->free >= t->chunks / 2 && table_has_room(tree, own)))
		tree->pressure = false;
	if (tree->acceptor.waits_for_credit)
		aggnet_acceptor_feed(tree, run);
	if (tree->writers.joined > tree->writers.done &&
	    table_has_room(tree, 1))
		run->wake = true;
}

static void table_relieve(struct aggnet_tree *tree, struct aggnet_run *run)
{
	/* Growth may have added some chunks before memory ran out. */
	table_reclaim(tree, run);
	if (!table_lacks_room(tree))
		return;
	table_press(tree, run, true);
	if (aggnet_tree_may_emit(tree))
		aggnet_uplink_push(tree, run);
}

/* --- children -------------------------------------------------------------- */

/* Emit records to make room; the child asks again. */
static void table_refuse(struct aggnet_tree *tree, __be32 id,
			 struct aggnet_run *run)
{
	tree->acceptor.refused = true;
	tree->acceptor.refused_at = jiffies;
	table_press(tree, run, true);
	if (aggnet_tree_may_emit(tree))
		aggnet_uplink_push(tree, run);
}

static void table_bind(struct aggnet_tree *tree, struct aggnet_child *c,
		       bool extra)
{
	table_expect(tree);
}

/*
 * Credits for which there is memory. While a refused child may ask again, one is
 * kept for it beside the claim of @c: what was freed for it must not go to a child
 * that is idle.
 */
static u32 table_credits(const struct aggnet_tree *tree,
			 const struct aggnet_child *c)
{
	u32 room = table_chunks(tree, c->no_credit) / tree->packet.chunks;

	return room - (room > c->no_credit && aggnet_acceptor_refuses(tree));
}

/*
 * Grant only credit for which chunks are there: an equal share of all chunks except
 * those of two packets, which idle credit must not claim, and never beyond the
 * window. If a child gets none, pressure frees chunks and aggnet_acceptor_feed()
 * comes back to it.
 */
static u32 table_grant(struct aggnet_tree *tree, const struct aggnet_child *c,
		       struct aggnet_run *run)
{
	u32 all = tree->store.table.chunks / tree->packet.chunks - 2;
	u32 share = all / max(tree->conf.contributors, tree->acceptor.bound);
	u32 have = aggnet_child_outstanding(c);
	u32 room = table_credits(tree, c);
	u32 target, more;

	target = clamp_t(u32, share, 1, AGGNET_CREDITS);
	more = target > have ? min(target - have, room) : 0;
	more = min(more, AGGNET_WINDOW - 1 - (c->credit - c->win.cum));
	if (target > have + more)
		table_press(tree, run, !(have + more));
	return more;
}

/* --- records --------------------------------------------------------------- */

static void table_added(struct aggnet_tree *tree, struct aggnet_run *run,
			u32 records, u64 represents)
{
	struct aggnet_table *t = &tree->store.table;

	aggnet_tree_count(tree, records, represents);
	if (t->free < t->chunks / 4)
		table_press(tree, run, false);
	if (tree->local.reader && aggnet_table_ripe(t, 1))
		run->wake = true;
}

static bool table_merge(struct aggnet_tree *tree, const struct aggnet_child *c,
			const struct aggnet_pkt *pkt, struct aggnet_run *run)
{
	const struct aggnet_data *data = (const void *)pkt->body;
	u64 represents = be64_to_cpu(data->represents);
	u32 records = be16_to_cpu(data->records);

	aggnet_table_merge_equal(&tree->store.table, pkt->body + sizeof(*data),
				 records, represents, pkt->lengths);
	table_added(tree, run, records, represents);
	return true;
}

/* Records may have taken fewer chunks than their credit had reserved. */
static void table_moved(struct aggnet_tree *tree, struct aggnet_run *run)
{
	if (unlikely(tree->acceptor.waits_for_credit) &&
	    table_has_room(tree, 1))
		aggnet_acceptor_feed(tree, run);
}

/* Room for one packet, or 0. Then records are emitted: for poll() here, for write()
 * by the caller.
 */
static u32 table_room(struct aggnet_tree *tree, const struct aggnet_local *local,
		      bool poll, struct aggnet_run *run)
{
	if (table_has_room(tree, 1))
		return AGGNET_PAYLOAD_MAX;
	table_press(tree, run, true);
	if (poll && aggnet_tree_may_emit(tree))
		aggnet_uplink_push(tree, run);
	return 0;
}

static int table_write(struct aggnet_tree *tree,
		       const struct aggnet_local *local, const u8 *data,
		       u32 len, u32 records, struct aggnet_run *run)
{
	aggnet_table_merge(&tree->store.table, data, records, records, true);
	table_added(tree, run, records, records);
	return 0;
}

/* Do records leave now, even if more may be merged into them? */
static bool table_drains(const struct aggnet_tree *tree)
{
	return tree->state >= AGGNET_TREE_CLOSING || tree->flushing ||
	       tree->pressure;
}

static bool table_ready(const struct aggnet_tree *tree, u32 records)
{
	return table_drains(tree) ||
	       aggnet_table_ripe(&tree->store.table, records);
}

static u32 table_pack(struct aggnet_tree *tree, u8 *buf, u32 room,
		      u32 max_records, u32 *records, u64 *represents)
{
	struct aggnet_table *t = &tree->store.table;

	if (table_drains(tree))
		return aggnet_table_pack(t, buf, room, max_records, records,
					 represents);
	return aggnet_table_pack_ripe(t, buf, room, max_records, records,
				      represents);
}

/* --- what a table does not need -------------------------------------------- */

static bool table_fin(struct aggnet_tree *tree, const struct aggnet_child *c,
		      u32 weight, struct aggnet_run *run)
{
	return true;
}

static void table_close(struct aggnet_tree *tree)
{
}

static void table_shut(struct aggnet_tree *tree,
		       const struct aggnet_local *local)
{
}

static void table_go_on(struct aggnet_tree *tree, struct aggnet_run *run)
{
}

const struct aggnet_store_ops aggnet_store_table = {
	.shared = true,
	.size = table_size,
	.init = table_init,
	.fill = table_fill,
	.free = table_free,
	.fits = table_fits,
	.refuse = table_refuse,
	.bind = table_bind,
	.grant = table_grant,
	.merge = table_merge,
	.fin = table_fin,
	.close = table_close,
	.room = table_room,
	.write = table_write,
	.shut = table_shut,
	.ready = table_ready,
	.pack = table_pack,
	.moved = table_moved,
	.reclaim = table_reclaim,
	.relieve = table_relieve,
	.go_on = table_go_on,
};
