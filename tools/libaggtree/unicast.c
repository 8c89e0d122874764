// SPDX-License-Identifier: GPL-2.0
/*
 * Unicast trees: each sender's flow takes its own shortest path and follows the
 * tree from where it meets it.
 */
#include <string.h>

#include "internal.h"

static void order_down(const struct aggt_topo *topo, unsigned int first,
		       unsigned int *order)
{
	unsigned int i;

	for (i = 0; i < topo->dims; i++)
		order[i] = (first + topo->dims - i) % topo->dims;
}

static void order_random(const struct aggt_topo *topo, struct aggt_rng *rng,
			 unsigned int *order)
{
	unsigned int i;

	for (i = 0; i < topo->dims; i++) {
		unsigned int j = aggt_rng_below(rng, i + 1);

		order[i] = order[j];
		order[j] = i;
	}
}

int aggt_build_unicast(struct aggt_tree *tree, const char *variant,
		       uint64_t seed)
{
	const struct aggt_topo *topo = tree->topo;
	unsigned int order[AGGT_MAX_DIMS];
	uint32_t v, n = tree->n;
	struct aggt_rng rng;

	aggt_rng_seed(&rng, seed);
	for (v = 1; v < n; v++) {
		if (tree->parent[v] != AGGT_NONE)
			continue;
		if (!strcmp(variant, "random"))
			order_random(topo, &rng, order);
		else if (!strcmp(variant, "rotate"))
			order_down(topo, aggt_rng_below(&rng, topo->dims), order);
		if (aggt_tree_route(tree, v, tree->code[0],
				    *variant ? order : NULL))
			return -1;
	}
	return 0;
}
