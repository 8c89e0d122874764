// SPDX-License-Identifier: GPL-2.0
/* Store of trees whose contributors send their keys in order. Each contributor has a
 * run, with memory of its own: how much, when all runs are known, and its credit.
 */
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/skbuff.h>

#include "core/fault.h"
#include "core/packet.h"
#include "flow/channel.h"
#include "flow/local.h"
#include "flow/store.h"
#include "flow/tree.h"

static u32 runs_planned(const struct aggnet_tree *tree)
{
	const struct aggnet_tree_conf *conf = &tree->conf;

	return conf->contributors - !!conf->writers + conf->writers;
}

static u32 runs_slots(const struct aggnet_tree *tree)
{
	return runs_planned(tree) * tree->store.slots +
	       tree->store.extras * tree->store.extra_slots;
}

/*
 * The runs of planned contributors are as long as memory allows; up to half of it
 * is kept for unplanned children, whose planned end is away. The subtree of a
 * contributor with w sources has at most w - 1 ends that only merge, so at most 2w
 * - 2 unplanned children come in the subtree's place or beside it.
 */
static u64 runs_size(struct aggnet_tree *tree)
{
	const struct aggnet_tree_conf *conf = &tree->conf;
	u32 stride = aggnet_runs_stride(tree->packet.max_taken);
	u32 fit = (u32)min_t(u64, conf->memory, S32_MAX) / stride;
	u32 planned = runs_planned(tree);
	u32 extra = 2 * (conf->sources - conf->contributors);
	u32 spare = min_t(u64, (u64)AGGNET_RUN_MIN * extra, fit / 2);
	u32 slots = AGGNET_RUN_MAX;

	while (slots > AGGNET_RUN_MIN && (u64)planned * slots + spare > fit)
		slots /= 2;
	if ((u64)planned * slots > fit)
		return 0;
	spare = fit - planned * slots;
	tree->store.slots = slots;
	tree->store.extras = min_t(u32, extra, spare / AGGNET_RUN_MIN);
	tree->store.extra_slots = AGGNET_RUN_MAX;
	while ((u64)tree->store.extras * tree->store.extra_slots > spare)
		tree->store.extra_slots /= 2;
	return aggnet_runs_size(&conf->shape, planned + tree->store.extras,
				runs_slots(tree), tree->packet.max_taken);
}

/*
 * Once the known weights of the runs add up to all sources, bind no other child.
 */
static void runs_cover(struct aggnet_tree *tree)
{
	struct aggnet_runs *runs = &tree->store.runs;

	if (!runs->open || runs->weight < tree->conf.sources)
		return;
	tree->acceptor.open = false;
	aggnet_runs_close(runs);
}

static int runs_init(struct aggnet_tree *tree)
{
	struct aggnet_runs *runs = &tree->store.runs;
	u32 i;
	int err;

	err = aggnet_runs_init(runs, &tree->conf.shape,
			       runs_planned(tree) + tree->store.extras,
			       runs_slots(tree), tree->packet.max_taken);
	if (err)
		return err;
	aggnet_fault_from(runs, &tree->an->fault);
	/* All writers together are one source: the first has its weight. */
	for (i = 0; i < tree->conf.writers; i++) {
		aggnet_runs_begin(runs, tree->store.slots, 0, true);
		aggnet_runs_weigh(runs, i, !i);
	}
	runs_cover(tree);
	return 0;
}

/* @init has allocated all memory. */
static int runs_fill(struct aggnet_tree *tree)
{
	return 0;
}

static void runs_free(struct aggnet_tree *tree)
{
	struct aggnet_runs runs;

	spin_lock_bh(&tree->lock);
	runs = tree->store.runs;
	memset(&tree->store.runs, 0, sizeof(tree->store.runs));
	spin_unlock_bh(&tree->lock);
	aggnet_runs_free(&runs);
}

/*
 * The number of runs is fixed: name the child as the reason if the transfer fails.
 */
static void runs_refuse(struct aggnet_tree *tree, __be32 id,
			struct aggnet_run *run)
{
	if (aggnet_tree_is_receiver(tree))
		tree->acceptor.refused_child = id;
}

static void runs_bind(struct aggnet_tree *tree, struct aggnet_child *c,
		      bool extra)
{
	u32 slots = extra ? tree->store.extra_slots : tree->store.slots;
	int run;

	run = aggnet_runs_begin(&tree->store.runs, slots, AGGNET_SEQ_FIRST,
				false);
	c->run = run;
	WARN_ON_ONCE(run < 0);
}

/* Packets to add to a child's credit: none, or at least half of its run. */
static u32 runs_more(const struct aggnet_tree *tree,
		     const struct aggnet_child *c)
{
	u32 more = aggnet_runs_limit(&tree->store.runs, c->run) - c->credit;

	return more > tree->store.runs.run[c->run].mask / 2 ? more : 0;
}

static bool runs_fits(const struct aggnet_tree *tree,
		      const struct aggnet_child *c)
{
	return c ? runs_more(tree, c) :
		   tree->acceptor.unplanned < tree->store.extras;
}

static u32 runs_grant(struct aggnet_tree *tree, const struct aggnet_child *c,
		      struct aggnet_run *run)
{
	return runs_more(tree, c);
}

static bool runs_broken(struct aggnet_tree *tree,
			const struct aggnet_child *c, struct aggnet_run *run)
{
	aggnet_tree_abort(tree, run, AGGNET_R_PROTOCOL, aggnet_tree_self(tree),
			  c->id, 0);
	return false;
}

static bool runs_weigh(struct aggnet_tree *tree, const struct aggnet_child *c,
		       u32 weight)
{
	/*
	 * The weight is known now, so sources that the child does not have may come
	 * by another path: give them time, unless some were missing already.
	 */
	if (!tree->store.runs.run[c->run].given &&
	    aggnet_tree_covered(tree) >= tree->conf.sources)
		tree->acceptor.bound_at = jiffies;
	if (!aggnet_runs_weigh(&tree->store.runs, c->run, weight))
		return false;
	runs_cover(tree);
	return true;
}

static bool runs_merge(struct aggnet_tree *tree, const struct aggnet_child *c,
		       const struct aggnet_pkt *pkt, struct aggnet_run *run)
{
	const struct aggnet_data *data = (const void *)pkt->body;
	u64 represents = be64_to_cpu(data->represents);

	if (aggnet_runs_store(&tree->store.runs, c->run, be32_to_cpu(data->seq),
			      pkt->body + sizeof(*data),
			      pkt->length - sizeof(*data), represents) ||
	    !runs_weigh(tree, c, be16_to_cpu(data->weight)))
		return runs_broken(tree, c, run);
	aggnet_tree_count(tree, be16_to_cpu(data->records), represents);
	return true;
}

static bool runs_wakes(const struct aggnet_tree *tree)
{
	u32 i;

	for (i = 0; i < tree->conf.writers; i++)
		if (!tree->store.runs.run[i].finished &&
		    aggnet_runs_slack(&tree->store.runs, i))
			return true;
	return false;
}

static void runs_reclaim(struct aggnet_tree *tree, struct aggnet_run *run)
{
	if (tree->acceptor.waits_for_credit)
		aggnet_acceptor_feed(tree, run);
	if (!tree->store.full || !runs_wakes(tree))
		return;
	/* A writer that still finds no room sets it again. */
	tree->store.full = false;
	run->wake = true;
}

static void runs_moved(struct aggnet_tree *tree, struct aggnet_run *run)
{
	struct aggnet_runs *runs = &tree->store.runs;

	runs_reclaim(tree, run);
	if (tree->local.reader && (runs->ready || !aggnet_runs_held(runs)))
		run->wake = true;
}

static bool runs_fin(struct aggnet_tree *tree, const struct aggnet_child *c,
		     u32 weight, struct aggnet_run *run)
{
	if (!runs_weigh(tree, c, weight))
		return runs_broken(tree, c, run);
	aggnet_runs_finish(&tree->store.runs, c->run);
	runs_moved(tree, run);
	return true;
}

static void runs_close(struct aggnet_tree *tree)
{
	aggnet_runs_close(&tree->store.runs);
}

static u32 runs_room(struct aggnet_tree *tree, const struct aggnet_local *local,
		     bool poll, struct aggnet_run *run)
{
	const struct aggnet_runs *runs = &tree->store.runs;
	u32 room = poll ? aggnet_runs_slack(runs, local->run) :
			  aggnet_runs_space(runs, local->run);

	tree->store.full |= !room;
	return room;
}

static int runs_write(struct aggnet_tree *tree,
		      const struct aggnet_local *local, const u8 *data,
		      u32 len, u32 records, struct aggnet_run *run)
{
	int err;

	err = aggnet_runs_append(&tree->store.runs, local->run, data, len);
	if (!err)
		aggnet_tree_count(tree, records, records);
	return err;
}

static void runs_shut(struct aggnet_tree *tree,
		      const struct aggnet_local *local)
{
	aggnet_runs_finish(&tree->store.runs, local->run);
}

/* They are collected for a packet before. */
static bool runs_ready(const struct aggnet_tree *tree, u32 records)
{
	return tree->store.runs.ready;
}

static u32 runs_pack(struct aggnet_tree *tree, u8 *buf, u32 room,
		     u32 max_records, u32 *records, u64 *represents)
{
	return aggnet_runs_pack(&tree->store.runs, buf, room, max_records,
				records, represents);
}

/* Runs do not grow. */
static void runs_relieve(struct aggnet_tree *tree, struct aggnet_run *run)
{
}

static void runs_go_on(struct aggnet_tree *tree, struct aggnet_run *run)
{
	aggnet_runs_advance(&tree->store.runs);
	runs_moved(tree, run);
	if (aggnet_tree_may_emit(tree))
		aggnet_uplink_push(tree, run);
}

const struct aggnet_store_ops aggnet_store_runs = {
	.weighs = true,
	.size = runs_size,
	.init = runs_init,
	.fill = runs_fill,
	.free = runs_free,
	.fits = runs_fits,
	.refuse = runs_refuse,
	.bind = runs_bind,
	.grant = runs_grant,
	.merge = runs_merge,
	.fin = runs_fin,
	.close = runs_close,
	.room = runs_room,
	.write = runs_write,
	.shut = runs_shut,
	.ready = runs_ready,
	.pack = runs_pack,
	.moved = runs_moved,
	.reclaim = runs_reclaim,
	.relieve = runs_relieve,
	.go_on = runs_go_on,
};
