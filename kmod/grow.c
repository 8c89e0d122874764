// SPDX-License-Identifier: GPL-2.0
/* Growth: Bloom tables with more members than they were made for. */
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/sched.h>

#include "bloom.h"
#include "grow.h"
#include "link.h"
#include "netns.h"
#include "tree.h"
#include "trees.h"

/* Bits that are enough for the members; as many as before: it cannot grow. */
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

/* A table has the IDs of exactly those entries in force that name its link. */
static bool grow_fill(struct aggnet_net *an, const struct aggnet_link *link,
		      struct aggnet_bloom *bloom)
{
	const struct aggnet_trees *trees = aggnet_trees_in_force(an);
	struct aggnet_tree *tree;
	u32 pos = 0;

	while ((tree = aggnet_trees_next(trees, &pos)))
		if (aggnet_tree_marks(tree, link->ifindex, link->neighbour) &&
		    aggnet_bloom_insert(bloom, tree->conf.incast_id))
			return false;
	return true;
}

static struct aggnet_bloom *grow_alloc(struct aggnet_net *an,
				       const struct aggnet_link *link,
				       u32 bits, u8 hashes)
{
	struct aggnet_bloom *bloom;

	if (!aggnet_memory_charge(an, aggnet_link_memory(bits)))
		return NULL;
	bloom = aggnet_bloom_alloc(bits, hashes, get_random_u64());
	if (bloom && grow_fill(an, link, bloom))
		return bloom;
	aggnet_bloom_free(bloom);
	aggnet_memory_uncharge(an, aggnet_link_memory(bits));
	return NULL;
}

/* Readers may be in the old table: it goes with grow_settle(). */
static bool grow_link(struct aggnet_net *an, struct aggnet_link *link)
{
	struct aggnet_bloom *old = aggnet_link_bloom(an, link);
	u32 bits = old->mask + 1, more = grow_bits(link, old);
	struct aggnet_bloom *bloom;

	bloom = more == bits ? NULL : grow_alloc(an, link, more, old->hashes);
	if (!bloom)
		return false;
	rcu_assign_pointer(link->bloom, bloom);
	link->old = old;
	link->capacity *= more / bits;
	aggnet_stat_inc(an, bloom_grown);
	return true;
}

/* Wait for the readers of all tables that were replaced, once. */
static void grow_settle(struct aggnet_net *an)
{
	struct aggnet_link *link;

	synchronize_rcu();
	list_for_each_entry(link, &an->links, list) {
		if (!link->old)
			continue;
		aggnet_memory_uncharge(an,
				       aggnet_link_memory(link->old->mask + 1));
		aggnet_bloom_free(link->old);
		link->old = NULL;
	}
}

void aggnet_links_grow(struct aggnet_net *an)
{
	struct aggnet_link *link;
	bool waits = false;

	lockdep_assert_held(&an->lock);
	list_for_each_entry(link, &an->links, list) {
		if (!link->capacity ||
		    aggnet_link_bloom(an, link)->members <= link->capacity)
			continue;
		cond_resched();
		if (grow_link(an, link)) {
			waits = true;
			continue;
		}
		/* There may be room when the old tables of others have gone. */
		if (waits)
			grow_settle(an);
		waits = waits && grow_link(an, link);
		if (!waits)
			aggnet_stat_inc(an, bloom_crowded);
	}
	if (waits)
		grow_settle(an);
}
