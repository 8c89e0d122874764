// SPDX-License-Identifier: GPL-2.0
/*
 * CamCube: servers in a torus of three dimensions, linked to both neighbours
 * in each of them, without switches.
 */
#include <stdio.h>

#include "graph.h"

#define DIMS 3

static uint32_t coordinate(const struct aggt_topo *topo, aggt_node server,
			   unsigned int dim)
{
	return server / topo->stride[dim] % topo->radix[dim];
}

static aggt_node with_coordinate(const struct aggt_topo *topo, aggt_node server,
				 unsigned int dim, uint32_t place)
{
	return server + (place - coordinate(topo, server, dim)) *
			topo->stride[dim];
}

/* The neighbour that is one place further on the ring of a dimension. */
static aggt_node step(const struct aggt_topo *topo, aggt_node server,
		      unsigned int dim)
{
	uint32_t place = coordinate(topo, server, dim) + 1;

	return with_coordinate(topo, server, dim, place % topo->radix[dim]);
}

static int parse(struct aggt_topo *topo, const char *args,
		 struct aggt_err *err)
{
	uint64_t servers = 1;
	uint32_t size[DIMS];
	unsigned int d;
	aggt_node v;

	if (aggt_parse_numbers(args, size, DIMS, NULL) != DIMS ||
	    size[0] < 2 || size[1] < 2 || size[2] < 2) {
		aggt_err_set(err, "camcube:%s: expected camcube:X,Y,Z, each 2 at least",
			     args);
		return -1;
	}
	snprintf(topo->name, sizeof(topo->name), "camcube:%u,%u,%u", size[0],
		 size[1], size[2]);
	for (d = 0; d < DIMS; d++) {
		topo->radix[d] = size[d];
		topo->stride[d] = (uint32_t)servers;
		servers *= size[d];
		if (servers > AGGT_GRAPH_VERTICES)
			break;
	}
	if (aggt_graph_start(topo, servers, 0, err))
		return -1;
	for (v = 0; v < servers; v++)
		for (d = 0; d < DIMS; d++)
			/* On a ring of two both neighbours are the same. */
			if ((size[d] > 2 || !coordinate(topo, v, d)) &&
			    aggt_graph_link(topo, v, step(topo, v, d), 0, err))
				return -1;
	return aggt_graph_finish(topo, err);
}

/* The straight line between two servers, squared. */
static uint64_t line(const struct aggt_topo *topo, aggt_node a, aggt_node b)
{
	uint64_t sum = 0;
	unsigned int d;

	for (d = 0; d < DIMS; d++) {
		uint32_t size = topo->radix[d];
		uint64_t off = (coordinate(topo, a, d) + size -
				coordinate(topo, b, d)) % size;

		if (off > size - off)
			off = size - off;
		sum += off * off;
	}
	return sum;
}

/*
 * Camdoop's getParent: of the neighbours that are a hop nearer the one that is
 * nearest in space.
 */
static aggt_code next_hop(const struct aggt_topo *topo, aggt_code from,
			  aggt_code to)
{
	const struct aggt_graph *graph = topo->graph;
	uint32_t dist = aggt_graph_dist(topo, (uint32_t)from, (uint32_t)to);
	uint64_t least = UINT64_MAX;
	aggt_code best = to;
	uint32_t i;

	if (!dist || dist == AGGT_NONE)
		return to;
	for (i = graph->first[from]; i < graph->first[from + 1]; i++) {
		const struct aggt_arc *arc = &graph->arc[i];
		uint64_t away = line(topo, arc->to, (aggt_node)to);

		if (!aggt_arc_ok(topo, arc->to, arc->link) || away >= least ||
		    aggt_graph_dist(topo, arc->to, (uint32_t)to) != dist - 1)
			continue;
		least = away;
		best = arc->to;
	}
	return best;
}

unsigned int aggt_camdoop_trees(const struct aggt_topo *topo)
{
	if (topo->ops != &aggt_camcube_ops || topo->radix[0] < 3 ||
	    topo->radix[1] < 3 || topo->radix[2] < 3)
		return 0;
	return 2 * DIMS;
}

/*
 * The parent of @v in the tree that enters the root along dimension @dim, from
 * the one side or, with @back, the other. Outside the plane of the root it is
 * one step nearer in the last dimension from @dim on, in turn, in which they
 * differ; in the plane it is the next server around the ring, outside of it. So
 * a server leaves by another link in each of the six trees.
 */
static aggt_node camdoop_parent(const struct aggt_topo *topo, aggt_node root,
				aggt_node v, unsigned int dim, bool back)
{
	unsigned int i = DIMS, d = dim;
	uint32_t place;

	if (coordinate(topo, v, dim) != coordinate(topo, root, dim))
		do
			d = (dim + --i) % DIMS;
		while (coordinate(topo, v, d) == coordinate(topo, root, d));
	place = coordinate(topo, v, d) + (back ? 1 : topo->radix[d] - 1);
	return with_coordinate(topo, v, d, place % topo->radix[d]);
}

int aggt_build_camdoop(struct aggt_tree *tree, unsigned int number)
{
	aggt_node root = (aggt_node)tree->code[0];
	uint32_t v, up;

	for (v = 1; v < tree->n; v++) {
		up = aggt_tree_add(tree, camdoop_parent(tree->topo, root,
						(aggt_node)tree->code[v],
						number % DIMS, number >= DIMS));
		if (up == AGGT_NONE)
			return -1;
		tree->parent[v] = up;
	}
	return 0;
}

const struct aggt_topo_ops aggt_camcube_ops = {
	.kind = "camcube",
	.form = "camcube:X,Y,Z",
	.parse = parse,
	.encode = aggt_graph_encode,
	.decode = aggt_graph_decode,
	.neighbours = aggt_graph_neighbours,
	.distance = aggt_graph_distance,
	.path_links = aggt_graph_path_links,
	.next_hop = next_hop,
	.hop_links = aggt_graph_hop_links,
	.hop_link = aggt_graph_hop_link,
	.switch_between = aggt_graph_switch_between,
	.port = aggt_graph_port,
};
