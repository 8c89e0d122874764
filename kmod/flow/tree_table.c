// SPDX-License-Identifier: GPL-2.0
/* Table of a namespace's entries; a plan replaces it as a whole. */
#include <linux/log2.h>
#include <linux/random.h>
#include <linux/sched.h>

#include "flow/tree.h"
#include "flow/tree_table.h"
#include "mem.h"
#include "netns.h"

#define TREES_SLOTS_MIN	8

/*
 * A keyed hash of the family that aggtable.c uses, as users can choose incast IDs:
 * they cannot choose IDs with the same slot.
 */
static u32 trees_home(const struct aggnet_tree_table *trees, u64 incast_id)
{
	u64 h = ((u32)incast_id + trees->seed[0]) *
		((incast_id >> 32) + trees->seed[1]);
	u32 top = h >> 32;

	/* Without this permutation IDs at equal distances would collide often. */
	top *= 2 * top + 1;
	return (u64)top * (trees->mask + 1ULL) >> 32;
}

/* Find an entry of @incast_id from slot @pos on. */
static struct aggnet_tree *trees_probe(const struct aggnet_tree_table *trees,
				       u64 incast_id, u32 *pos)
{
	struct aggnet_tree *tree;

	/* Each run of taken slots ends with a free one, so the loop ends. */
	for (; (tree = READ_ONCE(trees->slot[*pos & trees->mask])); (*pos)++)
		if (tree->conf.incast_id == incast_id)
			break;
	return tree;
}

struct aggnet_tree *
aggnet_tree_table_first(const struct aggnet_tree_table *trees, u64 incast_id)
{
	u32 pos;

	if (!trees)
		return NULL;
	pos = trees_home(trees, incast_id);
	return trees_probe(trees, incast_id, &pos);
}

u32 aggnet_tree_table_links(const struct aggnet_tree_table *trees,
			    u64 incast_id)
{
	u32 pos = trees_home(trees, incast_id), n = 0;

	for (; trees_probe(trees, incast_id, &pos); pos++)
		n++;
	return n;
}

struct aggnet_tree *
aggnet_tree_table_by_link(const struct aggnet_tree_table *trees, u64 incast_id,
			  u32 ifindex, __be32 neighbour)
{
	struct aggnet_tree *tree;
	u32 pos;

	if (!trees)
		return NULL;
	pos = trees_home(trees, incast_id);
	for (; (tree = trees_probe(trees, incast_id, &pos)); pos++)
		if (tree->conf.link_ifindex == ifindex &&
		    tree->conf.link_neighbour == neighbour)
			break;
	return tree;
}

bool aggnet_tree_marks(const struct aggnet_tree *tree, u32 ifindex,
		       __be32 neighbour)
{
	return tree->conf.scheme == AGGNET_SCHEME_BLOOM &&
	       tree->conf.link_ifindex == ifindex &&
	       tree->conf.link_neighbour == neighbour;
}

bool aggnet_tree_table_has(const struct aggnet_tree_table *trees,
			   const struct aggnet_tree *tree)
{
	struct aggnet_tree *found;
	u32 pos;

	if (!trees)
		return false;
	pos = trees_home(trees, tree->conf.incast_id);
	for (; (found = trees_probe(trees, tree->conf.incast_id, &pos)); pos++)
		if (found == tree)
			break;
	return found;
}

struct aggnet_tree *aggnet_tree_table_find(struct aggnet_net *an, u64 incast_id)
{
	return aggnet_tree_table_first(rcu_dereference_check(an->trees,
				       lockdep_is_held(&an->lock)), incast_id);
}

struct aggnet_tree *aggnet_tree_table_get(struct aggnet_net *an, u64 incast_id)
{
	struct aggnet_tree *tree;

	rcu_read_lock();
	tree = aggnet_tree_table_find(an, incast_id);
	/* It may have left the table, and its last reference be dropped. */
	if (tree && !refcount_inc_not_zero(&tree->ref))
		tree = NULL;
	rcu_read_unlock();
	return tree;
}

struct aggnet_tree *
aggnet_tree_table_next(const struct aggnet_tree_table *trees, u32 *pos)
{
	struct aggnet_tree *tree = NULL;

	while (trees && !tree && *pos <= trees->mask)
		tree = trees->slot[(*pos)++];
	return tree;
}

struct aggnet_tree_table *aggnet_tree_table_in_force(struct aggnet_net *an)
{
	return rcu_dereference_protected(an->trees,
					 lockdep_is_held(&an->lock));
}

static struct aggnet_tree_table *trees_alloc(u32 slots)
{
	struct aggnet_tree_table *trees;

	trees = aggnet_zalloc(struct_size(trees, slot, slots),
			      GFP_KERNEL_ACCOUNT);
	if (!trees)
		return NULL;
	trees->mask = slots - 1;
	get_random_bytes(trees->seed, sizeof(trees->seed));
	return trees;
}

static struct aggnet_tree_table *
trees_clone(const struct aggnet_tree_table *from, u32 slots)
{
	struct aggnet_tree_table *trees = trees_alloc(slots);
	struct aggnet_tree *tree;
	u32 pos = 0;

	if (!trees)
		return NULL;
	while ((tree = aggnet_tree_table_next(from, &pos))) {
		cond_resched();
		aggnet_tree_table_insert(trees, tree);
	}
	return trees;
}

struct aggnet_tree_table *
aggnet_tree_table_copy(const struct aggnet_tree_table *from)
{
	u32 count = from ? from->count : 0;

	/* Shrink the table after many entries were withdrawn. */
	return trees_clone(from, max_t(u32, TREES_SLOTS_MIN,
				       roundup_pow_of_two(2 * count + 2)));
}

size_t aggnet_tree_table_bytes(const struct aggnet_tree_table *trees)
{
	return struct_size(trees, slot, trees->mask + 1);
}

bool aggnet_tree_table_room(const struct aggnet_tree_table *trees)
{
	return trees && 2 * (trees->count + 1) <= trees->mask + 1;
}

int aggnet_tree_table_reserve(struct aggnet_tree_table **trees)
{
	struct aggnet_tree_table *more;

	if (aggnet_tree_table_room(*trees))
		return 0;
	more = trees_clone(*trees, 2 * ((*trees)->mask + 1));
	if (!more)
		return -ENOMEM;
	aggnet_free(*trees);
	*trees = more;
	return 0;
}

void aggnet_tree_table_insert(struct aggnet_tree_table *trees,
			      struct aggnet_tree *tree)
{
	u32 pos = trees_home(trees, tree->conf.incast_id);

	while (trees->slot[pos & trees->mask])
		pos++;
	/* Readers of a table in force find the complete entry, or none. */
	smp_store_release(&trees->slot[pos & trees->mask], tree);
	trees->count++;
}

/* Move entries to a freed slot, so that no run of slots has a hole. */
static void trees_close(struct aggnet_tree_table *trees, u32 gap)
{
	struct aggnet_tree *tree;
	u32 pos = gap, home;

	while ((tree = trees->slot[++pos & trees->mask])) {
		home = trees_home(trees, tree->conf.incast_id);
		if (((pos - home) & trees->mask) < ((pos - gap) & trees->mask))
			continue;
		trees->slot[gap & trees->mask] = tree;
		gap = pos;
	}
	trees->slot[gap & trees->mask] = NULL;
}

void aggnet_tree_table_remove(struct aggnet_tree_table *trees, u64 incast_id)
{
	u32 pos = trees_home(trees, incast_id);

	while (trees_probe(trees, incast_id, &pos)) {
		trees_close(trees, pos);
		trees->count--;
	}
}

struct aggnet_tree_table *
aggnet_tree_table_publish(struct aggnet_net *an,
			  struct aggnet_tree_table *trees)
{
	return rcu_replace_pointer(an->trees, trees,
				   lockdep_is_held(&an->lock));
}

void aggnet_tree_table_free(struct aggnet_tree_table *trees)
{
	if (trees)
		kvfree_rcu(trees, rcu);
}

void aggnet_tree_table_kill_all(struct aggnet_net *an)
{
	struct aggnet_tree_table *old = aggnet_tree_table_publish(an, NULL);
	struct aggnet_tree *tree;
	u32 pos = 0;

	while ((tree = aggnet_tree_table_next(old, &pos))) {
		cond_resched();
		aggnet_tree_kill(tree, AGGNET_R_WITHDRAWN);
	}
	aggnet_tree_table_free(old);
}
