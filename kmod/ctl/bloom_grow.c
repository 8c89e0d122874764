// SPDX-License-Identifier: GPL-2.0
/* Growth of Bloom tables that have more members than their capacity. */
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/sched.h>

#include "core/bloom.h"
#include "ctl/bloom_grow.h"
#include "flow/tree.h"
#include "flow/tree_table.h"
#include "net/link.h"
#include "netns.h"

/* Bits that are enough for the members; the present number if it cannot grow. */
static u32 grow_bits(const struct aggnet_link *link,
		     const struct aggnet_bloom *bloom)
{
	u64 capacity = link->capacity;
	u32 bits = bloom->mask + 1;

	while (capacity < bloom->members && bits < AGGNET_BLOOM_BITS_MAX) {
		capacity *= 2;
		bits *= 2;
	}
	return bits;
}

static bool grow_crowded(struct aggnet_net *an, const struct aggnet_link *link)
{
	return link->capacity &&
	       aggnet_link_bloom(an, link)->members > link->capacity;
}

static void grow_free(struct aggnet_net *an, struct aggnet_bloom *bloom)
{
	aggnet_memory_uncharge(an, aggnet_link_memory(bloom->mask + 1));
	aggnet_bloom_free(bloom);
}

/* Allocate a larger, empty table for the link. */
static bool grow_alloc(struct aggnet_net *an, struct aggnet_link *link)
{
	const struct aggnet_bloom *now = aggnet_link_bloom(an, link);
	u32 bits = grow_bits(link, now);

	if (bits == now->mask + 1 ||
	    aggnet_memory_room(an, aggnet_link_memory(bits)) != AGGNET_ROOM)
		return false;
	link->larger = aggnet_bloom_alloc(bits, now->hashes, get_random_u64());
	if (!link->larger)
		return false;
	if (aggnet_memory_charge(an, aggnet_link_memory(bits)))
		return true;
	aggnet_bloom_free(link->larger);
	link->larger = NULL;
	return false;
}

/* Allocate for as many links as there is memory. Return: true: for one at least */
static bool grow_begin(struct aggnet_net *an)
{
	struct aggnet_link *link;
	bool any = false;

	list_for_each_entry(link, &an->links, list) {
		cond_resched();
		if (grow_crowded(an, link))
			any |= grow_alloc(an, link);
	}
	return any;
}

/* Fill the new tables: each has the IDs of the entries that use its link. */
static void grow_fill(struct aggnet_net *an)
{
	const struct aggnet_tree_table *trees = aggnet_tree_table_in_force(an);
	struct aggnet_tree *tree;
	struct aggnet_link *link;
	u32 pos = 0;

	while ((tree = aggnet_tree_table_next(trees, &pos))) {
		cond_resched();
		link = aggnet_link_find(an, tree->conf.link_ifindex,
					tree->conf.link_neighbour);
		if (!link || !link->larger ||
		    !aggnet_tree_marks(tree, link->ifindex, link->neighbour) ||
		    !aggnet_bloom_insert(link->larger, tree->conf.incast_id))
			continue;
		grow_free(an, link->larger);
		link->larger = NULL;
	}
}

/* Readers may still use the old tables, which grow_settle() frees. */
static bool grow_publish(struct aggnet_net *an)
{
	struct aggnet_bloom *old;
	struct aggnet_link *link;
	bool any = false;

	list_for_each_entry(link, &an->links, list) {
		cond_resched();
		if (!link->larger)
			continue;
		old = aggnet_link_bloom(an, link);
		link->capacity *= (link->larger->mask + 1) / (old->mask + 1);
		rcu_assign_pointer(link->bloom, link->larger);
		link->larger = NULL;
		link->old = old;
		aggnet_stat_inc(an, bloom_grown);
		any = true;
	}
	return any;
}

/* Wait once for the readers of all tables that were replaced, and free these. */
static void grow_settle(struct aggnet_net *an)
{
	struct aggnet_link *link;

	synchronize_rcu();
	list_for_each_entry(link, &an->links, list) {
		cond_resched();
		if (!link->old)
			continue;
		grow_free(an, link->old);
		link->old = NULL;
	}
}

void aggnet_bloom_grow(struct aggnet_net *an)
{
	struct aggnet_link *link;

	lockdep_assert_held(&an->lock);
	/* Old tables that were freed may have made room for more links to grow. */
	while (grow_begin(an)) {
		grow_fill(an);
		if (!grow_publish(an))
			break;
		grow_settle(an);
	}
	list_for_each_entry(link, &an->links, list) {
		cond_resched();
		if (grow_crowded(an, link))
			aggnet_stat_inc(an, bloom_crowded);
	}
}
