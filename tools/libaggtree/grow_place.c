// SPDX-License-Identifier: GPL-2.0
/* Places where a subtree can be attached, and the cost of each. */
#include "grow.h"

/*
 * The traffic that a flow of size @heavy adds below @i, where it may become the
 * largest. A vertex with an equal flow has one on all of its path down.
 */
static double push(struct grow *g, uint32_t i, double heavy)
{
	uint32_t n = 0;
	double sum = 0;

	for (; i && g->v[i].heavy < heavy; i = g->parent[i]) {
		if (g->v[i].pushed == g->search) {
			sum = g->v[i].push;
			break;
		}
		g->stack[n++] = i;
	}
	while (n--) {
		i = g->stack[n];
		sum += grow_hops(g, i, g->parent[i]) * (heavy - g->v[i].heavy);
		g->v[i].push = sum;
		g->v[i].pushed = g->search;
	}
	return sum;
}

/*
 * What it takes to hang @x on the edge above @i, where it may join at any
 * label between the ends: only digits that neither end has cost a hop.
 */
static struct place weigh(struct grow *g, uint32_t x, uint32_t i,
			  aggt_code off_child, aggt_code off_parent)
{
	uint32_t up = i ? g->parent[i] : 0;
	unsigned int shared = aggt_bits(off_parent & ~off_child);
	double heavy = g->v[x].heavy;
	struct place p = { .edge = i };

	p.hops = aggt_bits(off_child & off_parent);
	p.depth = g->v[up].depth + p.hops + shared;
	p.cost = p.hops * heavy + g->lambda * g->v[x].load * p.depth;
	if (g->sized && g->v[i].heavy < heavy)
		p.cost += shared * (heavy - g->v[i].heavy);
	if (g->sized)
		p.cost += push(g, up, heavy);
	if (g->bound != AGGT_DEPTH_NONE && p.depth + g->v[x].height > g->bound)
		p.cost = 1e300;
	return p;
}

struct place aggt_grow_weigh(struct grow *g, uint32_t x, uint32_t i)
{
	uint32_t up = i ? g->parent[i] : 0;

	return weigh(g, x, i, aggt_differs(g->topo, g->code[x] ^ g->code[i]),
		     aggt_differs(g->topo, g->code[x] ^ g->code[up]));
}

struct place aggt_grow_find(struct grow *g, uint32_t x, bool shuffle)
{
	struct place best = { .cost = 2e300 };
	aggt_code code = g->code[x];
	double heavy = g->v[x].heavy;
	uint32_t i, ties = 0;

	g->search++;
	for (i = 0; i < g->n; i++)
		g->off[i] = aggt_differs(g->topo, code ^ g->code[i]);
	for (i = 0; i < g->n; i++) {
		uint32_t up = i ? g->parent[i] : 0;
		struct place p;

		if (up == AGGT_NONE ||
		    aggt_bits(g->off[i] & g->off[up]) * heavy > best.cost ||
		    g->v[i].mark == g->walk)
			continue;
		p = weigh(g, x, i, g->off[i], g->off[up]);
		if (p.cost > best.cost)
			continue;
		if (p.cost == best.cost) {
			if (!shuffle && p.depth >= best.depth)
				continue;
			if (shuffle && aggt_rng_below(&g->rng, ++ties))
				continue;
		} else {
			ties = 1;
		}
		best = p;
	}
	g->work += g->n;
	return best;
}
