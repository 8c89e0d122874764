// SPDX-License-Identifier: GPL-2.0
/*
 * The Steiner tree heuristic of paper 000, 5.1: a minimum spanning tree of
 * the members, its edges replaced by shortest paths, cycles left out.
 */
#include <stdlib.h>

#include "graph.h"

static uint64_t arcs_looked_at(const struct aggt_topo *topo)
{
	return topo->graph ? topo->graph->work : 0;
}

/* Prim's algorithm from the receiver; ties go to the member named first. */
int aggt_build_steiner(struct aggt_tree *tree, uint64_t budget)
{
	uint64_t members = 0, before = arcs_looked_at(tree->topo);
	uint32_t v, last = 0, n = tree->n, left = n - 1;
	uint32_t *near = calloc(n, sizeof(*near));
	uint32_t *dist = malloc(n * sizeof(*dist));
	int ret = -1;

	if (!near || !dist)
		goto out;
	for (v = 0; v < n; v++)
		dist[v] = UINT32_MAX - 1;
	for (dist[0] = UINT32_MAX; left; left--) {
		uint32_t best = 0;

		members += n;
		if (members + arcs_looked_at(tree->topo) - before > budget) {
			ret = AGGT_BEYOND;
			goto out;
		}
		for (v = 1; v < n; v++) {
			uint32_t d;

			if (dist[v] == UINT32_MAX)
				continue;
			d = aggt_path_links(tree->topo, tree->code[v],
					    tree->code[last]);
			if (d < dist[v]) {
				dist[v] = d;
				near[v] = last;
			}
			if (dist[v] < dist[best])
				best = v;
		}
		dist[best] = UINT32_MAX;
		last = best;
		if (tree->parent[best] == AGGT_NONE &&
		    aggt_tree_route(tree, best, tree->code[near[best]], NULL))
			goto out;
	}
	ret = 0;
out:
	free(near);
	free(dist);
	return ret;
}
