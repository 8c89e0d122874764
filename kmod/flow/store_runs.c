// SPDX-License-Identifier: GPL-2.0
/* Sorted trees: runs of contributors in place of the table: how much memory
 * each has, when all of them are there, what a child may send.
 */
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/skbuff.h>

#include "flow/local.h"
#include "flow/store_runs.h"

static u32 sorted_planned(const struct aggnet_tree *tree)
{
	const struct aggnet_tree_conf *conf = &tree->conf;

	return conf->contributors - !!conf->writers + conf->writers;
}

/*
 * Planned contributors have runs as long as memory allows; up to half of it is
 * for children whose planned end is away. A contributor of w sources stands for
 * a tree of at most w - 1 ends without records of their own above w sources, so
 * at most 2w - 2 unplanned children come in its subtree's place or beside it.
 */
bool aggnet_sorted_size(struct aggnet_tree *tree)
{
	const struct aggnet_tree_conf *conf = &tree->conf;
	u32 stride = aggnet_runs_stride(tree->packet.max_taken);
	u32 fit = (u32)min_t(u64, conf->memory, S32_MAX) / stride;
	u32 planned = sorted_planned(tree);
	u32 extra = 2 * (conf->sources - conf->contributors);
	u32 spare = min_t(u64, (u64)AGGNET_RUN_MIN * extra, fit / 2);
	u32 slots = AGGNET_RUN_MAX;

	while (slots > AGGNET_RUN_MIN && (u64)planned * slots + spare > fit)
		slots /= 2;
	if ((u64)planned * slots > fit)
		return false;
	spare = fit - planned * slots;
	tree->store.slots = slots;
	tree->store.extras = min_t(u32, extra, spare / AGGNET_RUN_MIN);
	tree->store.extra_slots = AGGNET_RUN_MAX;
	while ((u64)tree->store.extras * tree->store.extra_slots > spare)
		tree->store.extra_slots /= 2;
	return true;
}

static u32 sorted_slots(const struct aggnet_tree *tree)
{
	return sorted_planned(tree) * tree->store.slots +
	       tree->store.extras * tree->store.extra_slots;
}

u64 aggnet_sorted_bytes(const struct aggnet_tree *tree)
{
	return aggnet_runs_size(&tree->conf.shape,
				sorted_planned(tree) + tree->store.extras,
				sorted_slots(tree), tree->packet.max_taken);
}

/*
 * With the sources of all runs whose weight is known none is missing: from now on
 * no other child is taken.
 */
static void sorted_cover(struct aggnet_tree *tree)
{
	struct aggnet_runs *runs = &tree->store.runs;

	if (!runs->open || runs->weight < tree->conf.sources)
		return;
	tree->acceptor.open = false;
	aggnet_runs_close(runs);
}

int aggnet_sorted_init(struct aggnet_tree *tree)
{
	struct aggnet_runs *runs = &tree->store.runs;
	u32 i;
	int err;

	err = aggnet_runs_init(runs, &tree->conf.shape,
			       sorted_planned(tree) + tree->store.extras,
			       sorted_slots(tree), tree->packet.max_taken);
	if (err)
		return err;
	/* All writers are one source. */
	for (i = 0; i < tree->conf.writers; i++) {
		aggnet_runs_begin(runs, tree->store.slots, 0, true);
		aggnet_runs_weigh(runs, i, !i);
	}
	sorted_cover(tree);
	return 0;
}

bool aggnet_sorted_fits(const struct aggnet_tree *tree)
{
	return tree->acceptor.unplanned < tree->store.extras;
}

void aggnet_sorted_bind(struct aggnet_tree *tree, struct aggnet_child *c,
			bool extra)
{
	u32 slots = extra ? tree->store.extra_slots : tree->store.slots;
	int run;

	run = aggnet_runs_begin(&tree->store.runs, slots, AGGNET_SEQ_FIRST,
				false);
	c->run = run;
	WARN_ON_ONCE(run < 0);
}

u32 aggnet_sorted_more(const struct aggnet_tree *tree,
		       const struct aggnet_child *c)
{
	u32 more = aggnet_runs_limit(&tree->store.runs, c->run) - c->credit;

	return more > tree->store.runs.run[c->run].mask / 2 ? more : 0;
}

static bool sorted_broken(struct aggnet_tree *tree,
			  const struct aggnet_child *c,
			  struct aggnet_run *run)
{
	aggnet_tree_abort(tree, run, AGGNET_R_PROTOCOL, aggnet_tree_self(tree),
			  c->id, 0);
	return false;
}

static bool sorted_weigh(struct aggnet_tree *tree,
			 const struct aggnet_child *c, u32 weight)
{
	/*
	 * A source that is not among its own may come here from now on. Where one
	 * was missing already, this is no news.
	 */
	if (!tree->store.runs.run[c->run].given &&
	    aggnet_tree_covered(tree) >= tree->conf.sources)
		tree->acceptor.bound_at = jiffies;
	if (!aggnet_runs_weigh(&tree->store.runs, c->run, weight))
		return false;
	sorted_cover(tree);
	return true;
}

static void sorted_fault(struct aggnet_tree *tree)
{
	u32 fault = aggnet_tree_fault(tree);

	if (unlikely(fault))
		tree->store.runs.fault = fault;
}

bool aggnet_sorted_data(struct aggnet_tree *tree, struct aggnet_child *c,
			const struct aggnet_pkt *pkt, struct aggnet_run *run)
{
	const struct aggnet_data *data = (const void *)pkt->body;
	u64 represents = be64_to_cpu(data->represents);

	sorted_fault(tree);
	if (aggnet_runs_store(&tree->store.runs, c->run, be32_to_cpu(data->seq),
			      pkt->body + sizeof(*data),
			      pkt->length - sizeof(*data), represents) ||
	    !sorted_weigh(tree, c, be16_to_cpu(data->weight)))
		return sorted_broken(tree, c, run);
	aggnet_tree_count(tree, be16_to_cpu(data->records), represents);
	aggnet_sorted_moved(tree, run);
	return true;
}

bool aggnet_sorted_fin(struct aggnet_tree *tree, struct aggnet_child *c,
		       const struct aggnet_pkt *pkt, struct aggnet_run *run)
{
	const struct aggnet_fin *fin = (const void *)pkt->body;

	if (!sorted_weigh(tree, c, be32_to_cpu(fin->weight)))
		return sorted_broken(tree, c, run);
	aggnet_runs_finish(&tree->store.runs, c->run);
	aggnet_sorted_moved(tree, run);
	return true;
}

int aggnet_sorted_write(struct aggnet_tree *tree, u32 run, const u8 *data,
			u32 len, u32 records)
{
	int err;

	sorted_fault(tree);
	err = aggnet_runs_append(&tree->store.runs, run, data, len);
	if (!err)
		aggnet_tree_count(tree, records, records);
	return err;
}

bool aggnet_sorted_writable(struct aggnet_tree *tree, u32 run)
{
	bool slack = aggnet_runs_slack(&tree->store.runs, run);

	tree->store.full |= !slack;
	return slack;
}

static bool sorted_wakes(const struct aggnet_tree *tree)
{
	u32 i;

	for (i = 0; i < tree->conf.writers; i++)
		if (!tree->store.runs.run[i].finished &&
		    aggnet_runs_slack(&tree->store.runs, i))
			return true;
	return false;
}

void aggnet_sorted_reclaim(struct aggnet_tree *tree, struct aggnet_run *run)
{
	if (tree->acceptor.waits_for_credit)
		aggnet_acceptor_feed(tree, run);
	if (!tree->store.full || !sorted_wakes(tree))
		return;
	/* Writers that find no room say so again. */
	tree->store.full = false;
	run->wake = true;
}

void aggnet_sorted_moved(struct aggnet_tree *tree, struct aggnet_run *run)
{
	aggnet_sorted_reclaim(tree, run);
	if (tree->local.reader &&
	    (tree->store.runs.ready || !aggnet_runs_held(&tree->store.runs)))
		run->wake = true;
}

void aggnet_sorted_go_on(struct aggnet_tree *tree, struct aggnet_run *run)
{
	aggnet_runs_advance(&tree->store.runs);
	aggnet_sorted_moved(tree, run);
	if (aggnet_tree_may_emit(tree))
		aggnet_uplink_push(tree, run);
}
