// SPDX-License-Identifier: GPL-2.0
/*
 * Trees by local search. An edge stands for all shortest ways between its
 * ends, so a newcomer can join it at any label in between.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/**
 * struct vertex - of the tree that is searched
 * @child: first child
 * @next: sibling
 * @prev: sibling, or the parent if it is the first child
 * @depth: hops to the receiver
 * @height: hops to the deepest below
 * @mark: number of the walk that saw it last
 * @used: false on the free list, which is linked by @next
 * @load: sizes at and below it, together
 * @heavy: the largest of them
 * @push: what a heavier flow adds on the way down from here
 * @pushed: number of the search that @push is of
 */
struct vertex {
	uint32_t child;
	uint32_t next;
	uint32_t prev;
	uint32_t depth;
	uint32_t height;
	uint32_t mark;
	bool used;
	double load;
	double heavy;
	double push;
	uint64_t pushed;
};

/**
 * struct grow - a search
 * @topo: the topology
 * @code: labels
 * @parent: AGGT_NONE while a vertex is not attached
 * @v: the rest of the vertices: the receiver, senders, then servers that were added
 * @n: how many slots of @v are in use or on the free list
 * @room: of @v and the scratch arrays
 * @terminals: receiver and senders
 * @free: list of slots
 * @size: of the terminals' flows, the largest being 1; the receiver's stays
 * @sized: whether they differ
 * @lambda: what a flow adds to a hop beside the largest of all there
 * @bound: on the depth
 * @rng: for ties and orders
 * @walk: number of the last walk
 * @search: number of the last search for a place
 * @off: scratch: where a label differs from each vertex's
 * @stack: scratch
 * @work: edges looked at so far
 */
struct grow {
	const struct aggt_topo *topo;
	aggt_code *code;
	uint32_t *parent;
	struct vertex *v;
	uint32_t n;
	uint32_t room;
	uint32_t terminals;
	uint32_t free;
	double *size;
	bool sized;
	double lambda;
	uint32_t bound;
	struct aggt_rng rng;
	uint32_t walk;
	uint64_t search;
	aggt_code *off;
	uint32_t *stack;
	uint64_t work;
};

/** struct place - where a subtree could hang: on the edge above @edge. */
struct place {
	uint32_t edge;
	uint32_t hops;
	uint32_t depth;
	double cost;
};

static unsigned int hops(const struct grow *g, uint32_t a, uint32_t b)
{
	return aggt_weight(g->topo, g->code[a] ^ g->code[b]);
}

static uint32_t new_vertex(struct grow *g, aggt_code code)
{
	uint32_t i = g->free;

	/* Added servers are inner vertices, so there are never more of them. */
	if (i != AGGT_NONE)
		g->free = g->v[i].next;
	else
		i = g->n++;
	memset(&g->v[i], 0, sizeof(g->v[i]));
	g->code[i] = code;
	g->parent[i] = AGGT_NONE;
	g->v[i].child = AGGT_NONE;
	g->v[i].next = AGGT_NONE;
	g->v[i].prev = AGGT_NONE;
	g->v[i].used = true;
	return i;
}

static void free_vertex(struct grow *g, uint32_t i)
{
	g->v[i].used = false;
	g->parent[i] = AGGT_NONE;
	g->v[i].next = g->free;
	g->free = i;
}

static void link_child(struct grow *g, uint32_t i, uint32_t parent)
{
	struct vertex *v = &g->v[i], *p = &g->v[parent];

	g->parent[i] = parent;
	v->prev = AGGT_NONE;
	v->next = p->child;
	if (v->next != AGGT_NONE)
		g->v[v->next].prev = i;
	p->child = i;
}

static void unlink_child(struct grow *g, uint32_t i)
{
	struct vertex *v = &g->v[i];

	if (v->next != AGGT_NONE)
		g->v[v->next].prev = v->prev;
	if (v->prev != AGGT_NONE)
		g->v[v->prev].next = v->next;
	else
		g->v[g->parent[i]].child = v->next;
	g->parent[i] = AGGT_NONE;
	v->next = AGGT_NONE;
	v->prev = AGGT_NONE;
}

static void move_children(struct grow *g, uint32_t from, uint32_t to)
{
	uint32_t c;

	while ((c = g->v[from].child) != AGGT_NONE) {
		unlink_child(g, c);
		link_child(g, c, to);
	}
}

static bool is_added(const struct grow *g, uint32_t i)
{
	return i >= g->terminals;
}

/* Walk the subtree of @top: mark it, set depths on the way down. */
static uint32_t walk_down(struct grow *g, uint32_t top, uint32_t depth)
{
	uint32_t done = 0, n = 0, mark = ++g->walk;

	g->v[top].depth = depth;
	g->stack[n++] = top;
	while (done < n) {
		uint32_t i = g->stack[done++], c;

		g->v[i].mark = mark;
		for (c = g->v[i].child; c != AGGT_NONE; c = g->v[c].next) {
			g->v[c].depth = g->v[i].depth + hops(g, i, c);
			g->stack[n++] = c;
		}
	}
	return n;
}

static double own_size(const struct grow *g, uint32_t i)
{
	return is_added(g, i) ? 0 : g->size[i];
}

/* Heights and loads of a subtree, over the order that walk_down() left. */
static void walk_up(struct grow *g, uint32_t n)
{
	uint32_t i, c;

	while (n--) {
		struct vertex *v = &g->v[i = g->stack[n]];

		v->height = 0;
		v->load = own_size(g, i);
		v->heavy = v->load;
		for (c = v->child; c != AGGT_NONE; c = g->v[c].next) {
			uint32_t h = g->v[c].height + hops(g, i, c);

			v->load += g->v[c].load;
			if (g->v[c].heavy > v->heavy)
				v->heavy = g->v[c].heavy;
			if (h > v->height)
				v->height = h;
		}
	}
}

/* What is below @i has changed: find the largest flows on the way down anew. */
static void lift(struct grow *g, uint32_t i)
{
	bool changed = true;
	double heavy;
	uint32_t c;

	while (g->sized && i && i != AGGT_NONE) {
		heavy = own_size(g, i);
		for (c = g->v[i].child; c != AGGT_NONE; c = g->v[c].next)
			if (g->v[c].heavy > heavy)
				heavy = g->v[c].heavy;
		if (heavy == g->v[i].heavy && !changed)
			return;
		changed = heavy != g->v[i].heavy;
		g->v[i].heavy = heavy;
		i = g->parent[i];
	}
}

/*
 * What a flow of size @heavy adds below @i, where it may become the largest.
 * Whoever has as large a flow has one all the way down.
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
		sum += hops(g, i, g->parent[i]) * (heavy - g->v[i].heavy);
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

static struct place weigh_one(struct grow *g, uint32_t x, uint32_t i)
{
	uint32_t up = i ? g->parent[i] : 0;

	return weigh(g, x, i, aggt_differs(g->topo, g->code[x] ^ g->code[i]),
		     aggt_differs(g->topo, g->code[x] ^ g->code[up]));
}

/* The best place for @x among the vertices that the last walk did not see. */
static struct place find_place(struct grow *g, uint32_t x, bool shuffle)
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

/* @b, a child of @a, has the same label: make them one. */
static uint32_t fuse(struct grow *g, uint32_t a, uint32_t b)
{
	uint32_t up;

	unlink_child(g, b);
	if (is_added(g, b)) {
		move_children(g, b, a);
		free_vertex(g, b);
		return a;
	}
	up = g->parent[a];
	unlink_child(g, a);
	move_children(g, a, b);
	link_child(g, b, up);
	g->v[b].depth = g->v[a].depth;
	free_vertex(g, a);
	return b;
}

/* The label on the edge above @i nearest to @code, the upper one of equals. */
static aggt_code meeting_point(const struct grow *g, uint32_t i, aggt_code code)
{
	aggt_code below = g->code[i], above = g->code[g->parent[i]];
	unsigned int d;

	for (d = 0; d < g->topo->dims; d++)
		if (!((below ^ code) & g->topo->mask[d]))
			above ^= (above ^ code) & g->topo->mask[d];
	return above;
}

/* Link @x, an unattached subtree, to the edge above @i. */
static uint32_t join(struct grow *g, uint32_t x, uint32_t i)
{
	uint32_t up, at = i;

	if (i) {
		aggt_code meet = meeting_point(g, i, g->code[x]);

		up = g->parent[i];
		if (meet == g->code[up]) {
			at = up;
		} else if (meet != g->code[i]) {
			at = meet == g->code[x] ? x : new_vertex(g, meet);
			unlink_child(g, i);
			link_child(g, i, at);
			link_child(g, at, up);
			g->v[at].depth = g->v[up].depth + hops(g, at, up);
		}
	}
	if (at == x)
		return x;
	link_child(g, x, at);
	if (g->code[at] == g->code[x])
		return fuse(g, at, x);
	return x;
}

static uint32_t attach(struct grow *g, uint32_t x, uint32_t i)
{
	x = join(g, x, i);
	lift(g, x);
	lift(g, g->parent[x]);
	return x;
}

/* An added server that nobody or only one needs is no longer worth its place. */
static void tidy(struct grow *g, uint32_t p)
{
	uint32_t up, only;

	while (is_added(g, p) && g->v[p].child == AGGT_NONE) {
		up = g->parent[p];
		unlink_child(g, p);
		free_vertex(g, p);
		p = up;
	}
	only = g->v[p].child;
	if (!is_added(g, p) || g->v[only].next != AGGT_NONE)
		return;
	up = g->parent[p];
	unlink_child(g, only);
	unlink_child(g, p);
	free_vertex(g, p);
	link_child(g, only, up);
	if (g->v[only].depth != g->v[up].depth + hops(g, up, only))
		walk_down(g, only, g->v[up].depth + hops(g, up, only));
}

/*
 * Take the subtree of @x off and hang it where it is cheapest. Its old place
 * is still there, perhaps as a point on an edge, so the tree cannot get worse.
 */
static void regraft(struct grow *g, uint32_t x)
{
	uint32_t at, n, parent = g->parent[x];
	struct place p;

	unlink_child(g, x);
	lift(g, parent);
	tidy(g, parent);
	n = walk_down(g, x, 0);
	walk_up(g, n);
	p = find_place(g, x, true);
	x = attach(g, x, p.edge);
	at = g->parent[x];
	if (at != AGGT_NONE)
		walk_down(g, x, g->v[at].depth + hops(g, at, x));
	else
		walk_down(g, 0, 0);
}

/* What a hop of the edge above @i costs. */
static double weight(const struct grow *g, uint32_t i)
{
	return g->v[i].heavy + g->lambda * g->v[i].load;
}

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
			sum = weight(g, i);
		for (e = g->v[i].child; e != AGGT_NONE; e = g->v[e].next)
			if ((g->code[e] & mask) == digit)
				sum += weight(g, e);
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

/* Give each added server the label that suits its neighbours best. */
static void relabel(struct grow *g, uint32_t *order)
{
	uint32_t n = walk_down(g, 0, 0), k;

	walk_up(g, n);
	memcpy(order, g->stack, n * sizeof(*order));
	for (k = 0; k < n; k++) {
		uint32_t c, i = order[k];
		aggt_code code = 0;
		unsigned int d;

		if (!g->v[i].used || g->parent[i] == AGGT_NONE)
			continue;
		if (is_added(g, i)) {
			for (d = 0; d < g->topo->dims; d++)
				code |= majority(g, i, d);
			if (fits(g, i, code))
				g->code[i] = code;
		}
		g->v[i].depth = g->v[g->parent[i]].depth +
				hops(g, i, g->parent[i]);
		if (!is_added(g, i))
			continue;
		while (is_added(g, i) && (c = same_label(g, i)) != AGGT_NONE)
			i = fuse(g, i, c);
		if (g->code[i] == g->code[g->parent[i]])
			fuse(g, g->parent[i], i);
	}
	walk_up(g, walk_down(g, 0, 0));
}

static double total(struct grow *g)
{
	double sum = 0;
	uint32_t i;

	walk_up(g, walk_down(g, 0, 0));
	for (i = 1; i < g->n; i++)
		if (g->v[i].used)
			sum += hops(g, i, g->parent[i]) * weight(g, i);
	return sum;
}

/* Whether @p still holds for @x: the edge may have been split since. */
static bool still_there(struct grow *g, uint32_t x, const struct place *p)
{
	if (!g->v[p->edge].used ||
	    (p->edge && g->parent[p->edge] == AGGT_NONE))
		return false;
	return weigh_one(g, x, p->edge).cost <= p->cost;
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
			struct place p = weigh_one(g, i, edge[k]);

			if (p.cost < best[i].cost)
				best[i] = p;
		}
	}
	g->work += n * (uint64_t)g->terminals;
}

/* The largest flows first, so that none is pushed; then who is cheapest. */
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
		best[i] = weigh_one(g, i, 0);
	}
	for (left = g->terminals - 1; left; ) {
		uint32_t x = next_to_insert(g, best), edge[3], up;

		if (!still_there(g, x, &best[x])) {
			best[x] = find_place(g, x, false);
			continue;
		}
		edge[0] = x;
		edge[1] = best[x].edge;
		attach(g, x, best[x].edge);
		up = g->parent[x];
		g->v[x].depth = g->v[up].depth + hops(g, up, x);
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
		relabel(g, order);
		n = walk_down(g, 0, 0);
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

/* Next label on the way to @to: one that is in the tree if there is any. */
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
	uint32_t k, n = walk_down(g, 0, 0);

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
		new_vertex(g, tree->code[i]);
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
