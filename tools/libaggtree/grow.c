// SPDX-License-Identifier: GPL-2.0
/*
 * Trees by local search. An edge represents all shortest paths between its
 * ends, so a new vertex can join it at any label in between.
 */
#include <stdlib.h>
#include <string.h>

#include "grow.h"

/*
 * Take the subtree of @x off and hang it where it is cheapest. Its old place
 * is still there, perhaps as a point on an edge, so the tree cannot get worse.
 */
static void regraft(struct grow *g, uint32_t x)
{
	uint32_t at, n, parent = g->parent[x];
	struct place p;

	aggt_grow_unlink(g, x);
	aggt_grow_lift(g, parent);
	aggt_grow_tidy(g, parent);
	n = aggt_grow_walk_down(g, x, 0);
	aggt_grow_walk_up(g, n);
	p = aggt_grow_find(g, x, true);
	x = aggt_grow_attach(g, x, p.edge);
	at = g->parent[x];
	if (at != AGGT_NONE)
		aggt_grow_walk_down(g, x, g->v[at].depth + grow_hops(g, at, x));
	else
		aggt_grow_walk_down(g, 0, 0);
}

static double total(struct grow *g)
{
	double sum = 0;
	uint32_t i;

	aggt_grow_walk_up(g, aggt_grow_walk_down(g, 0, 0));
	for (i = 1; i < g->n; i++)
		if (g->v[i].used)
			sum += grow_hops(g, i, g->parent[i]) *
			       grow_weight(g, i);
	return sum;
}

/* Whether @p still holds for @x: the edge may have been split since. */
static bool still_there(struct grow *g, uint32_t x, const struct place *p)
{
	if (!g->v[p->edge].used ||
	    (p->edge && g->parent[p->edge] == AGGT_NONE))
		return false;
	return aggt_grow_weigh(g, x, p->edge).cost <= p->cost;
}

/* Offer the edges above the @n vertices of @edge to all that wait. */
static void offer(struct grow *g, struct place *best, const uint32_t *edge,
		  unsigned int n)
{
	uint32_t i;

	for (i = 1; i < g->terminals; i++) {
		unsigned int k;

		if (g->parent[i] != AGGT_NONE)
			continue;
		for (k = 0; k < n; k++) {
			struct place p = aggt_grow_weigh(g, i, edge[k]);

			if (p.cost < best[i].cost)
				best[i] = p;
		}
	}
	g->work += n * (uint64_t)g->terminals;
}

/* The largest flows first, so that none is pushed; then the cheapest. */
static uint32_t next_to_insert(const struct grow *g, const struct place *best)
{
	uint32_t i, x = 0;

	for (i = 1; i < g->terminals; i++) {
		if (g->parent[i] != AGGT_NONE)
			continue;
		if (!x || g->size[i] > g->size[x] ||
		    (g->size[i] == g->size[x] && best[i].cost < best[x].cost))
			x = i;
	}
	return x;
}

/* Attach all senders, one after the other. */
static int insert_all(struct grow *g)
{
	struct place *best = malloc(g->terminals * sizeof(*best));
	uint32_t i, left;

	if (!best)
		return -1;
	g->walk++;
	for (i = 1; i < g->terminals; i++) {
		g->v[i].load = g->size[i];
		g->v[i].heavy = g->size[i];
		best[i] = aggt_grow_weigh(g, i, 0);
	}
	for (left = g->terminals - 1; left; ) {
		uint32_t x = next_to_insert(g, best), edge[3], up;

		if (!still_there(g, x, &best[x])) {
			best[x] = aggt_grow_find(g, x, false);
			continue;
		}
		edge[0] = x;
		edge[1] = best[x].edge;
		aggt_grow_attach(g, x, best[x].edge);
		up = g->parent[x];
		g->v[x].depth = g->v[up].depth + grow_hops(g, up, x);
		edge[2] = up;
		offer(g, best, edge, g->v[edge[1]].used ? 3 : 1);
		left--;
	}
	free(best);
	return 0;
}

static void shuffle(struct grow *g, uint32_t *order, uint32_t n)
{
	uint32_t i, j, swap;

	for (i = n; i > 1; ) {
		j = aggt_rng_below(&g->rng, i--);
		swap = order[i];
		order[i] = order[j];
		order[j] = swap;
	}
}

/* Regraft and relabel until nothing improves for some passes. */
static int improve(struct grow *g, uint64_t budget)
{
	uint32_t *order = malloc(g->room * sizeof(*order));
	double best = total(g), now;
	unsigned int idle = 0;
	uint32_t i, n;

	if (!order)
		return -1;
	while (idle < 4 && g->work < budget) {
		aggt_grow_relabel(g, order);
		n = aggt_grow_walk_down(g, 0, 0);
		memcpy(order, g->stack, n * sizeof(*order));
		shuffle(g, order, n);
		for (i = 0; i < n && g->work < budget; i++)
			if (g->v[order[i]].used &&
			    g->parent[order[i]] != AGGT_NONE)
				regraft(g, order[i]);
		now = total(g);
		idle = now < best - 1e-9 * best ? 0 : idle + 1;
		best = now;
	}
	free(order);
	return 0;
}

/* Next label on the path to @to: one that is in the tree if there is any. */
static aggt_code step(const struct aggt_tree *tree, aggt_code at, aggt_code to)
{
	const struct aggt_topo *topo = tree->topo;
	aggt_code next = to;
	unsigned int d;

	for (d = 0; d < topo->dims; d++) {
		if (!((at ^ to) & topo->mask[d]))
			continue;
		next = at ^ ((at ^ to) & topo->mask[d]);
		if (aggt_tree_at(tree, next) != AGGT_NONE)
			break;
	}
	return next;
}

/* Turn edges into hops, from the receiver down. */
static int expand(struct grow *g, struct aggt_tree *tree)
{
	uint32_t k, n = aggt_grow_walk_down(g, 0, 0);

	for (k = 1; k < n; k++) {
		uint32_t from = g->stack[k];
		aggt_code at = g->code[from], to = g->code[g->parent[from]];
		uint32_t i = aggt_tree_add(tree, at), next;

		if (i == AGGT_NONE)
			return -1;
		while (i && tree->parent[i] == AGGT_NONE) {
			at = step(tree, at, to);
			next = aggt_tree_add(tree, at);
			if (next == AGGT_NONE)
				return -1;
			tree->parent[i] = next;
			i = at == to ? 0 : next;
		}
	}
	return 0;
}

static void read_sizes(struct grow *g, const struct aggt_tree *tree,
		       const struct aggt_job *job)
{
	double most = 0;
	uint32_t i;

	g->size[0] = 0;
	for (i = 1; i < tree->n; i++) {
		g->size[i] = aggt_vertex_size(tree, job, i, job->delta);
		if (g->size[i] > most)
			most = g->size[i];
		g->sized |= g->size[i] != g->size[1];
	}
	for (i = 1; i < tree->n; i++)
		g->size[i] = g->sized ? g->size[i] / most : 1;
}

static int grow_init(struct grow *g, const struct aggt_tree *tree,
		     const struct aggt_job *job)
{
	uint32_t i;

	g->terminals = tree->n;
	g->free = AGGT_NONE;
	g->room = 2 * tree->n + 2;
	g->code = malloc(g->room * sizeof(*g->code));
	g->parent = malloc(g->room * sizeof(*g->parent));
	g->v = malloc(g->room * sizeof(*g->v));
	g->off = malloc(g->room * sizeof(*g->off));
	g->stack = malloc(g->room * sizeof(*g->stack));
	g->size = malloc(tree->n * sizeof(*g->size));
	if (!g->code || !g->parent || !g->v || !g->off || !g->stack ||
	    !g->size)
		return -1;
	read_sizes(g, tree, job);
	for (i = 0; i < tree->n; i++)
		aggt_grow_add(g, tree->code[i]);
	return 0;
}

int aggt_build_grow(struct aggt_tree *tree, const struct aggt_job *job,
		    struct aggt_grow *how)
{
	struct grow g = {
		.topo = tree->topo,
		.lambda = how->lambda,
		.bound = how->bound,
		.search = 1,
	};
	int ret = -1;

	aggt_rng_seed(&g.rng, how->seed);
	if (!grow_init(&g, tree, job) && !insert_all(&g) &&
	    !improve(&g, how->budget) && !expand(&g, tree))
		ret = 0;
	how->work = g.work;
	free(g.code);
	free(g.parent);
	free(g.v);
	free(g.off);
	free(g.stack);
	free(g.size);
	return ret;
}
