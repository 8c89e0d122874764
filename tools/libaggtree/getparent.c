// SPDX-License-Identifier: GPL-2.0
/*
 * Trees by the next hop of each point alone, as Camdoop's getParent has them,
 * and with one more rule where servers have switches between them: flows that
 * meet at a switch merge at the sender there that is named first.
 */
#include <stdlib.h>

#include "graph.h"

/**
 * struct getparent - such a tree in the making
 * @tree: the tree
 * @topo: its topology
 * @root: the receiver
 * @head: switch -> vertex of the sender that is named first of those behind it
 */
struct getparent {
	struct aggt_tree *tree;
	const struct aggt_topo *topo;
	uint32_t root;
	struct aggt_map head;
};

/*
 * The parent of @v: the head of the first switch on its path where the head is
 * nearer than the next hop; else the next hop. Heads that are found on the path
 * were named earlier and go the same path from that switch on, so no cycle
 * arises.
 */
static int find_parent(struct getparent *g, uint32_t v, aggt_code *parent)
{
	uint32_t from = (uint32_t)g->tree->code[v], at = from;
	uint32_t next, left, *head;

	*parent = g->topo->ops->next_hop(g->topo, from, g->root);
	next = (uint32_t)*parent;
	left = aggt_graph_dist(g->topo, next, g->root);
	while ((at = aggt_graph_up(g->topo, at, g->root)) >=
	       g->topo->servers) {
		head = aggt_map_slot(&g->head, at);
		if (!head)
			return -1;
		if (*head == AGGT_NONE) {
			*head = v;
			continue;
		}
		/* From the switch down to its head, or on to the next hop. */
		if (aggt_graph_dist(g->topo, (uint32_t)g->tree->code[*head],
				    g->root) -
		    aggt_graph_dist(g->topo, at, g->root) <
		    aggt_graph_dist(g->topo, at, g->root) - left) {
			*parent = g->tree->code[*head];
			break;
		}
	}
	return 0;
}

int aggt_build_getparent(struct aggt_tree *tree)
{
	struct getparent g = { .tree = tree, .topo = tree->topo };
	aggt_code parent;
	uint32_t v, up;
	int ret = -1;

	/* With digits there is a switch for each hop, so none to meet at. */
	if (!tree->topo->graph)
		return aggt_build_unicast(tree, "", 0);
	g.root = (uint32_t)tree->code[0];
	if (aggt_map_init(&g.head, 0))
		return -1;
	for (v = 1; v < tree->n; v++) {
		if (find_parent(&g, v, &parent))
			goto out;
		up = aggt_tree_add(tree, parent);
		if (up == AGGT_NONE)
			goto out;
		tree->parent[v] = up;
	}
	ret = 0;
out:
	aggt_map_free(&g.head);
	return ret;
}
