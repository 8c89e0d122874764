// SPDX-License-Identifier: GPL-2.0
/* Labels of added servers, as suit their neighbours best. */
#include <string.h>

#include "grow.h"

/*
 * The digit of dimension @d that most neighbours of @i have, weighed with what
 * flows from or to them. Ties: the parent's, or any if that is as good.
 */
static aggt_code majority(struct grow *g, uint32_t i, unsigned int d)
{
	aggt_code mask = g->topo->mask[d];
	uint32_t c, e, up = g->parent[i], ties = 1;
	aggt_code best = g->code[up] & mask;
	double most = -1;
	bool any = g->lambda == 0 && g->bound == AGGT_DEPTH_NONE;

	for (c = up; c != AGGT_NONE; c = c == up ? g->v[i].child : g->v[c].next) {
		aggt_code digit = g->code[c] & mask;
		double sum = 0;

		if (c == up || digit == (g->code[up] & mask))
			sum = grow_weight(g, i);
		for (e = g->v[i].child; e != AGGT_NONE; e = g->v[e].next)
			if ((g->code[e] & mask) == digit)
				sum += grow_weight(g, e);
		if (sum < most || (sum == most && (!any || digit == best)))
			continue;
		if (sum == most && aggt_rng_below(&g->rng, ++ties))
			continue;
		if (sum > most)
			ties = 1;
		most = sum;
		best = digit;
	}
	return best;
}

/* Whether all below @i stays within the bound if its label becomes @code. */
static bool fits(const struct grow *g, uint32_t i, aggt_code code)
{
	uint32_t c, up = g->parent[i];
	uint32_t depth = g->v[up].depth +
			 aggt_weight(g->topo, code ^ g->code[up]);

	if (g->bound == AGGT_DEPTH_NONE)
		return true;
	for (c = g->v[i].child; c != AGGT_NONE; c = g->v[c].next)
		if (depth + g->v[c].height +
		    aggt_weight(g->topo, code ^ g->code[c]) > g->bound)
			return false;
	return true;
}

static uint32_t same_label(const struct grow *g, uint32_t i)
{
	uint32_t c;

	for (c = g->v[i].child; c != AGGT_NONE; c = g->v[c].next)
		if (g->code[c] == g->code[i])
			return c;
	return AGGT_NONE;
}

void aggt_grow_relabel(struct grow *g, uint32_t *order)
{
	uint32_t n = aggt_grow_walk_down(g, 0, 0), k;

	aggt_grow_walk_up(g, n);
	memcpy(order, g->stack, n * sizeof(*order));
	for (k = 0; k < n; k++) {
		uint32_t c, i = order[k];
		aggt_code code = 0;
		unsigned int d;

		if (!g->v[i].used || g->parent[i] == AGGT_NONE)
			continue;
		if (grow_added(g, i)) {
			for (d = 0; d < g->topo->dims; d++)
				code |= majority(g, i, d);
			if (fits(g, i, code))
				g->code[i] = code;
		}
		g->v[i].depth = g->v[g->parent[i]].depth +
				grow_hops(g, i, g->parent[i]);
		if (!grow_added(g, i))
			continue;
		while (grow_added(g, i) && (c = same_label(g, i)) != AGGT_NONE)
			i = aggt_grow_fuse(g, i, c);
		if (g->code[i] == g->code[g->parent[i]])
			aggt_grow_fuse(g, g->parent[i], i);
	}
	aggt_grow_walk_up(g, aggt_grow_walk_down(g, 0, 0));
}
