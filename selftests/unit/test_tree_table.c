// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the table of entries: it finds every entry that was added, and
 * no choice of incast IDs makes long chains.
 */
#include <linux/random.h>
#include "flow/tree.h"
#include "flow/tree_table.h"

#include "../uapi/harness.h"

#define SEED	0x74726565
#define IDS	8192
#define SECRETS	32	/* under one secret in nine equal distances crowd */

/* Distances of incast IDs: receivers, jobs, and jobs beyond a mask's bits. */
static const u64 distance[] = { 1, 1ull << 32, 1ull << 44, 1ull << 51 };

static struct aggnet_tree_table *fill(struct aggnet_tree *tree, u64 step)
{
	struct aggnet_tree_table *trees = aggnet_tree_table_copy(NULL);
	u32 i;

	for (i = 0; i < IDS; i++) {
		if (aggnet_tree_table_reserve(&trees))
			return NULL;
		tree[i].conf.incast_id = 0x0a000001 + i * step;
		aggnet_tree_table_insert(trees, &tree[i]);
	}
	return trees;
}

/* The longest sequence of used slots. */
static u32 longest_run(const struct aggnet_tree_table *trees)
{
	u32 pos, run = 0, longest = 0;

	for (pos = 0; pos <= trees->mask; pos++) {
		run = trees->slot[pos] ? run + 1 : 0;
		longest = max(longest, run);
	}
	return longest;
}

TEST(equal_distances_do_not_crowd)
{
	struct aggnet_tree *tree = calloc(IDS, sizeof(*tree));
	struct aggnet_tree_table *trees, *copy;
	unsigned int i, k;

	ASSERT_NE(NULL, tree);
	shim_random_seed(SEED);
	for (i = 0; i < ARRAY_SIZE(distance); i++) {
		trees = fill(tree, distance[i]);
		ASSERT_NE(NULL, trees);
		for (k = 0; k < SECRETS; k++) {
			copy = aggnet_tree_table_copy(trees);
			ASSERT_NE(NULL, copy);
			EXPECT_GT(IDS / 256, longest_run(copy));
			aggnet_tree_table_free(copy);
		}
		aggnet_tree_table_free(trees);
	}
	free(tree);
}

TEST(has_what_is_left)
{
	struct aggnet_tree *tree = calloc(IDS, sizeof(*tree));
	struct aggnet_tree_table *trees, *copy;
	u32 i;

	ASSERT_NE(NULL, tree);
	shim_random_seed(SEED);
	trees = fill(tree, distance[1]);
	ASSERT_NE(NULL, trees);
	EXPECT_EQ(IDS, trees->count);
	for (i = 0; i < IDS; i += 3)
		aggnet_tree_table_remove(trees, tree[i].conf.incast_id);
	EXPECT_EQ(IDS - DIV_ROUND_UP(IDS, 3), trees->count);
	/* A copy draws its own secret. */
	copy = aggnet_tree_table_copy(trees);
	ASSERT_NE(NULL, copy);
	EXPECT_NE(trees->seed[0], copy->seed[0]);
	EXPECT_EQ(trees->count, copy->count);
	for (i = 0; i < IDS; i++) {
		ASSERT_EQ(i % 3 != 0, aggnet_tree_table_has(trees, &tree[i]));
		ASSERT_EQ(i % 3 != 0, aggnet_tree_table_has(copy, &tree[i]));
		ASSERT_EQ(i % 3 != 0,
			  aggnet_tree_table_links(copy,
						  tree[i].conf.incast_id));
	}
	aggnet_tree_table_free(trees);
	aggnet_tree_table_free(copy);
	EXPECT_EQ(0, shim_alloc_live);
	free(tree);
}

TEST_HARNESS_MAIN
