// SPDX-License-Identifier: GPL-2.0
/* Growth of the buffer of a tree by chunks, up to the limit of the entry. */
#include <linux/jiffies.h>
#include <linux/skbuff.h>

#include "flow/channel.h"
#include "flow/growth.h"
#include "flow/timers.h"
#include "flow/tree.h"
#include "mem.h"

#define GROWTH_STEP	128	/* chunks that one work item adds, at most */
#define GROWTH_AGAIN	(HZ / 2)	/* next attempt after a failed one */
#define GROWTH_SOON	(HZ / 50)	/* if it takes longer, memory is short */

/*
 * Growth charges its allocations to a control group, which may be at its limit, so
 * an allocation may take long. Each namespace has one work item, so that it delays
 * only its own trees. The exit of a namespace waits for one allocation at most.
 */
static struct workqueue_struct *growth_wq;

int aggnet_growth_init(void)
{
	growth_wq = alloc_workqueue("aggnet_grow", WQ_UNBOUND, 0);
	return growth_wq ? 0 : -ENOMEM;
}

void aggnet_growth_exit(void)
{
	destroy_workqueue(growth_wq);
}

u32 aggnet_growth_add(struct aggnet_tree *tree, u32 n, int *err)
{
	u32 added = 0;
	void *chunk;
	bool taken;

	*err = -ENOSPC;
	for (; added < n; added++) {
		chunk = aggnet_chunk_alloc();
		if (!chunk) {
			*err = -ENOMEM;
			break;
		}
		if (!aggnet_memory_charge(tree->an, AGGNET_CHUNK))
			goto free;
		spin_lock_bh(&tree->lock);
		taken = tree->state < AGGNET_TREE_DONE &&
			aggnet_table_grow(&tree->store.table, chunk);
		if (taken)
			aggnet_tree_charged(tree, AGGNET_CHUNK);
		spin_unlock_bh(&tree->lock);
		if (!taken)
			goto uncharge;
	}
	return added;
uncharge:
	aggnet_memory_uncharge(tree->an, AGGNET_CHUNK);
free:
	aggnet_chunk_free(chunk);
	return added;
}

/* Chunks to add; none if the transfer has ended, as its buffer may be freed. */
static u32 growth_step(struct aggnet_tree *tree)
{
	u64 n = 0;

	spin_lock_bh(&tree->lock);
	if (tree->state < AGGNET_TREE_DONE)
		n = min_t(u64, tree->store.table.chunks,
			  tree->conf.memory / AGGNET_CHUNK -
			  tree->store.table.chunks);
	spin_unlock_bh(&tree->lock);
	return min_t(u64, n, GROWTH_STEP);
}

static void growth_run(struct aggnet_tree *tree)
{
	u32 n = growth_step(tree);
	struct mem_cgroup *payer;
	struct aggnet_run run;
	int err;

	payer = aggnet_payer_set(tree->memory.payer);
	n -= aggnet_growth_add(tree, n, &err);
	aggnet_payer_set(payer);
	aggnet_run_begin(tree, &run);
	tree->grow.failed = n;
	tree->grow.again = jiffies + GROWTH_AGAIN;
	/* Serve what waits for room, with the new chunks or by emitting records. */
	if (tree->state < AGGNET_TREE_DONE) {
		tree->store.ops->relieve(tree, &run);
		if (aggnet_tree_may_emit(tree))
			aggnet_uplink_push(tree, &run);
	}
	aggnet_run_end(tree, &run);
}

/* Put a tree on the list, which holds a reference. Return: true: it was not there */
static bool growth_list(struct aggnet_net *an, struct aggnet_tree *tree)
{
	bool added;

	spin_lock_bh(&an->grow_lock);
	added = list_empty(&tree->grow.list);
	if (added) {
		aggnet_tree_get(tree);
		list_add_tail(&tree->grow.list, &an->grow_list);
	}
	spin_unlock_bh(&an->grow_lock);
	return added;
}

static struct aggnet_tree *growth_next(struct aggnet_net *an)
{
	struct aggnet_tree *tree;

	spin_lock_bh(&an->grow_lock);
	tree = list_first_entry_or_null(&an->grow_list, struct aggnet_tree,
					grow.list);
	if (tree)
		list_del_init(&tree->grow.list);
	spin_unlock_bh(&an->grow_lock);
	return tree;
}

/*
 * Do one step for the tree that has waited longest, and queue the item again for
 * the others, behind the items of other namespaces. The namespace's exit waits for
 * its last tree, which this item may free, and then for the item
 * (aggnet_growth_stop()).
 */
static void growth_work(struct work_struct *work)
{
	struct aggnet_net *an = container_of(work, struct aggnet_net,
					     grow_work);
	struct aggnet_tree *tree = growth_next(an);

	if (!tree)
		return;
	growth_run(tree);
	aggnet_tree_put(tree);
	queue_work(growth_wq, &an->grow_work);
}

/* Return: true: the queued growth may add chunks soon */
static bool growth_queue(struct aggnet_tree *tree)
{
	unsigned long soon = tree->grow.asked + GROWTH_SOON;

	if (!growth_list(tree->an, tree)) {
		if (!time_before(jiffies, soon))
			return false;
		/* The timer may be armed for an earlier request. */
		aggnet_timers_tree(tree, soon - jiffies);
		return true;
	}
	tree->grow.asked = jiffies;
	queue_work(growth_wq, &tree->an->grow_work);
	aggnet_timers_tree(tree, GROWTH_SOON);
	return true;
}

bool aggnet_growth_ask(struct aggnet_tree *tree)
{
	if (tree->store.table.chunks >= tree->conf.memory / AGGNET_CHUNK)
		return false;
	/* After a failure wait for GROWTH_AGAIN. */
	if (tree->grow.failed && time_before(jiffies, tree->grow.again))
		return false;
	return growth_queue(tree);
}

void aggnet_growth_cancel(struct aggnet_tree *tree)
{
	struct aggnet_net *an = tree->an;
	bool listed;

	spin_lock_bh(&an->grow_lock);
	listed = !list_empty(&tree->grow.list);
	list_del_init(&tree->grow.list);
	spin_unlock_bh(&an->grow_lock);
	if (listed)
		aggnet_tree_put(tree);
}

void aggnet_growth_start(struct aggnet_net *an)
{
	spin_lock_init(&an->grow_lock);
	INIT_LIST_HEAD(&an->grow_list);
	INIT_WORK(&an->grow_work, growth_work);
}

void aggnet_growth_stop(struct aggnet_net *an)
{
	cancel_work_sync(&an->grow_work);
}
