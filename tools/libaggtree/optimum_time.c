// SPDX-License-Identifier: GPL-2.0
/*
 * The earliest end on small networks by dynamic programming over the sets of
 * vertices that trees span, so that no two subtrees share a server.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Servers of a network, all of which may relay, and its dimensions. */
#define MAX_POINTS	12
#define MAX_DIMS	4

/* Links of a hop. */
#define HOP_LINKS	2

/**
 * struct sets - the tables
 *
 * If servers wait for their inputs, the value of a link is when it is done with
 * all its flows, and that of a tree when its root begins to send. Else @limit
 * says what a link may bring: its value is what it brings, and that of a tree
 * is its height, found for one height after the other.
 *
 * @tree: the tree to connect
 * @job: delta 0 or 1, packets, whether servers wait
 * @n: vertices of the network
 * @root: the receiver
 * @members: set of the senders and the receiver
 * @size: of senders' flows, by vertex
 * @flow: what leaves a tree, by the set that it spans
 * @limit: of a link
 * @tried: how many limits there were
 * @height: of the trees that are looked for
 * @changed: a tree was found since this was last false
 * @span: [set * MAX_POINTS + root], value of the best tree
 * @near: [vertex][dimension * sets + set], of the best tree that spans the set
 *	and has its root at the other end of the link
 * @link: [vertex][dimension * sets + set], of the link there with trees that
 *	span the set, whatever their roots
 * @all: likewise, of all links of lower dimensions together
 * @port: dimension of a hop, AGGT_NONE if it is not one
 */
struct sets {
	struct aggt_tree *tree;
	const struct aggt_job *job;
	uint32_t n;
	uint32_t root;
	uint32_t members;
	double size[MAX_POINTS];
	double *flow;
	double limit;
	int tried;
	double height;
	bool changed;
	double *span;
	double *near[MAX_POINTS];
	double *link[MAX_POINTS];
	double *all[MAX_POINTS];
	uint32_t port[MAX_POINTS][MAX_POINTS];
};

static uint32_t all_sets(const struct sets *x)
{
	return 1u << x->n;
}

static uint32_t dims(const struct sets *x)
{
	return x->tree->topo->dims;
}

/* Of a link that brings @rest and then a tree of value @end that spans @set. */
static double one_more(const struct sets *x, double rest, uint32_t set,
		       double end)
{
	if (x->job->pipelined)
		return end < x->height && rest + x->flow[set] <= x->limit ?
		       rest + x->flow[set] : INFINITY;
	end += (HOP_LINKS - 1) * x->job->packet;
	return (end > rest ? end : rest) + x->flow[set];
}

/* The set of the last tree on a link if that is done as early as can be. */
static uint32_t last_tree(const struct sets *x, uint32_t v, uint32_t d,
			  uint32_t set, double *value)
{
	const double *link = x->link[v] + d * all_sets(x);
	const double *near = x->near[v] + d * all_sets(x);
	uint32_t part, found = 0;
	double end;

	*value = set ? INFINITY : 0;
	for (part = set; part; part = (part - 1) & set) {
		if (link[set ^ part] >= *value || near[part] == INFINITY)
			continue;
		end = one_more(x, link[set ^ part], part, near[part]);
		if (end >= *value)
			continue;
		*value = end;
		found = part;
	}
	return found;
}

/* The root of the best tree that spans a set, at the other end of a link. */
static uint32_t near_root(const struct sets *x, uint32_t v, uint32_t d,
			  uint32_t set, double *value)
{
	uint32_t c, found = AGGT_NONE;

	*value = INFINITY;
	for (c = 0; c < x->n; c++) {
		double end = x->span[set * MAX_POINTS + c];

		if (!(set >> c & 1) || x->port[c][v] != d || end >= *value)
			continue;
		*value = end;
		found = c;
	}
	return found;
}

/* How a set is best divided into dimension @d and lower ones. */
static uint32_t link_share(const struct sets *x, uint32_t v, uint32_t d,
			   uint32_t set, double *value)
{
	const double *link = x->link[v] + d * all_sets(x);
	const double *lower = x->all[v] + d * all_sets(x);
	uint32_t part = set, found = 0;

	*value = INFINITY;
	for (;; part = (part - 1) & set) {
		double end = fmax(link[part], lower[set ^ part]);

		if (end < *value) {
			*value = end;
			found = part;
		}
		if (!part)
			return found;
	}
}

/* What comes to a vertex from trees that span @set. */
static void fill_inputs(struct sets *x, uint32_t v, uint32_t set)
{
	uint32_t d;

	x->all[v][set] = set ? INFINITY : 0;
	for (d = 0; d < dims(x); d++) {
		last_tree(x, v, d, set, &x->link[v][d * all_sets(x) + set]);
		link_share(x, v, d, set,
			   &x->all[v][(d + 1) * all_sets(x) + set]);
	}
}

/* A vertex with one input that does not send passes packets on. */
static uint32_t only_child(const struct sets *x, uint32_t v, uint32_t set,
			   double *value)
{
	uint32_t c, found = AGGT_NONE;

	*value = INFINITY;
	for (c = 0; c < x->n && !x->job->pipelined; c++) {
		double end = x->span[set * MAX_POINTS + c] +
			     HOP_LINKS * x->job->packet;

		if (!(set >> c & 1) || x->port[c][v] == AGGT_NONE ||
		    x->members >> v & 1 || end >= *value)
			continue;
		*value = end;
		found = c;
	}
	return found;
}

static void fill_tree(struct sets *x, uint32_t set, uint32_t v)
{
	uint32_t above = set & ~(1u << v);
	double *value = &x->span[set * MAX_POINTS + v], passed, end;

	fill_inputs(x, v, above);
	end = x->all[v][dims(x) * all_sets(x) + above];
	only_child(x, v, above, &passed);
	if (!above && !(x->members >> v & 1))
		end = INFINITY;
	if (!x->job->pipelined) {
		*value = fmin(end, passed);
	} else if (end <= x->limit && x->height < *value) {
		*value = x->height;
		x->changed = true;
	}
}

static void fill(struct sets *x)
{
	uint32_t set, v, d;

	for (set = 1; set < all_sets(x); set++) {
		for (v = 0; v < x->n; v++)
			if (set >> v & 1)
				fill_tree(x, set, v);
		for (v = 0; v < x->n; v++)
			for (d = 0; d < dims(x); d++)
				near_root(x, v, d, set,
					  &x->near[v][d * all_sets(x) + set]);
	}
}

static void forget(struct sets *x)
{
	size_t i;

	for (i = 0; i < (size_t)all_sets(x) * MAX_POINTS; i++)
		x->span[i] = INFINITY;
}

/* The best tree with all members, whatever else is in it. */
static uint32_t best_set(const struct sets *x, double *value)
{
	uint32_t set, found = 0;

	*value = INFINITY;
	for (set = 1; set < all_sets(x); set++) {
		double end = x->span[set * MAX_POINTS + x->root];

		if ((set & x->members) != x->members || end >= *value)
			continue;
		*value = end;
		found = set;
	}
	return found;
}

/* The lowest tree with no link above the limit. Return: its height. */
static double lowest(struct sets *x)
{
	double height;

	forget(x);
	x->changed = true;
	for (x->height = 0; x->changed; x->height++) {
		x->changed = false;
		fill(x);
		best_set(x, &height);
		if (height <= x->height)
			return height;
	}
	return INFINITY;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* What links can bring, the least first. Return: how many values there are. */
static uint32_t fill_loads(const struct sets *x, double *load)
{
	uint32_t set, v, n = 0, unique = 0;
	double most = 0;

	for (v = 0; v < x->n; v++)
		most = fmax(most, x->size[v]);
	for (set = 0; set < all_sets(x); set++) {
		for (v = 0, load[n] = 0; v < x->n; v++)
			if (set >> v & 1)
				load[n] += x->size[v];
		n += load[n] >= most;
	}
	qsort(load, n, sizeof(*load), by_value);
	for (set = 0; set < n; set++)
		if (!unique || load[set] > load[unique - 1])
			load[unique++] = load[set];
	return unique;
}

static double lowest_within(struct sets *x, double load)
{
	x->tried++;
	x->limit = load * (1 + 1e-12);
	return lowest(x);
}

/*
 * The least limit from number @i on below number @n that has a tree lower than
 * @height: a larger limit never makes trees higher. Return: it, @n if none has.
 */
static uint32_t next_limit(struct sets *x, const double *load, uint32_t i,
			   uint32_t n, double *height)
{
	double below = *height;

	while (i < n) {
		uint32_t middle = i + (n - i) / 2;
		double lower = lowest_within(x, load[middle]);

		if (lower < below) {
			*height = lower;
			n = middle;
		} else {
			i = middle + 1;
		}
	}
	return n;
}

/* For each height that is worth it, the least that links have to bring. */
static int find_limit(struct sets *x)
{
	double *load = malloc(all_sets(x) * sizeof(*load));
	double latency = HOP_LINKS * x->job->packet, best = INFINITY;
	double limit = INFINITY, height = INFINITY;
	uint32_t i = 0, n, next;

	if (!load)
		return -1;
	n = fill_loads(x, load);
	for (;;) {
		while (n && load[n - 1] >= best)
			n--;
		next = next_limit(x, load, i, n, &height);
		if (next == n)
			break;
		i = next + 1;
		if (load[next] + latency * height >= best)
			continue;
		best = load[next] + latency * height;
		limit = load[next];
	}
	free(load);
	lowest_within(x, limit);
	return 0;
}

static int hang(struct sets *x, uint32_t set, uint32_t v, uint32_t up);

/* Hang the trees that come by one link. */
static int hang_link(struct sets *x, uint32_t v, uint32_t d, uint32_t set)
{
	uint32_t part;
	double value;

	for (; set; set ^= part) {
		part = last_tree(x, v, d, set, &value);
		if (!part ||
		    hang(x, part, near_root(x, v, d, part, &value), v))
			return -1;
	}
	return 0;
}

static int hang_all(struct sets *x, uint32_t v, uint32_t set)
{
	uint32_t d = dims(x), above = 0, share[MAX_DIMS];
	double value;

	/* Other heights came by since. */
	do {
		fill_inputs(x, v, above);
		above = (above - set) & set;
	} while (above);
	while (d--) {
		share[d] = link_share(x, v, d, set, &value);
		set ^= share[d];
	}
	for (d = 0; d < dims(x); d++)
		if (hang_link(x, v, d, share[d]))
			return -1;
	return 0;
}

/* Connect the best tree that spans a set, from its root on. */
static int hang(struct sets *x, uint32_t set, uint32_t v, uint32_t up)
{
	const struct aggt_topo *topo = x->tree->topo;
	uint32_t above = set & ~(1u << v), i, child;
	double height = x->height, passed;
	int ret;

	i = aggt_tree_add(x->tree, aggt_encode(topo, v));
	if (i == AGGT_NONE)
		return -1;
	if (v != x->root)
		x->tree->parent[i] = aggt_tree_at(x->tree,
						  aggt_encode(topo, up));
	child = only_child(x, v, above, &passed);
	if (child != AGGT_NONE && passed == x->span[set * MAX_POINTS + v])
		return hang(x, above, child, v);
	x->height = x->span[set * MAX_POINTS + v];
	ret = hang_all(x, v, above);
	x->height = height;
	return ret;
}

static void sets_free(struct sets *x)
{
	uint32_t v;

	for (v = 0; v < x->n; v++) {
		free(x->near[v]);
		free(x->link[v]);
		free(x->all[v]);
	}
	free(x->flow);
	free(x->span);
}

static int sets_alloc(struct sets *x)
{
	size_t sets = all_sets(x);
	uint32_t v;

	x->flow = calloc(sets, sizeof(*x->flow));
	x->span = malloc(sets * MAX_POINTS * sizeof(*x->span));
	for (v = 0; v < x->n; v++) {
		x->near[v] = malloc(dims(x) * sets * sizeof(double));
		x->link[v] = malloc(dims(x) * sets * sizeof(double));
		x->all[v] = malloc((dims(x) + 1) * sets * sizeof(double));
		if (!x->near[v] || !x->link[v] || !x->all[v])
			return -1;
	}
	if (!x->flow || !x->span)
		return -1;
	forget(x);
	return 0;
}

/* The network, which hops work, and what leaves the members of a set. */
static void describe(struct sets *x)
{
	const struct aggt_topo *topo = x->tree->topo;
	uint32_t a, b, v, set;

	for (a = 0; a < x->n; a++) {
		for (b = 0; b < x->n; b++) {
			aggt_code from = aggt_encode(topo, a);
			aggt_code to = aggt_encode(topo, b);

			x->port[a][b] = topo->ops->port(topo, from, to);
			if (x->port[a][b] != AGGT_NONE &&
			    !aggt_hop_ok(topo, from, to))
				x->port[a][b] = AGGT_NONE;
		}
		v = aggt_tree_at(x->tree, aggt_encode(topo, a));
		if (v == AGGT_NONE)
			continue;
		x->members |= 1u << a;
		if (v)
			x->size[a] = aggt_vertex_size(x->tree, x->job, v,
						      x->job->delta);
		else
			x->root = a;
	}
	for (set = 0; set < all_sets(x); set++)
		for (v = 0; v < x->n; v++)
			if (set >> v & 1)
				x->flow[set] = x->job->delta ?
					x->flow[set] + x->size[v] :
					fmax(x->flow[set], x->size[v]);
}

/* Three times as much with each server more. */
double aggt_optimum_time_work(const struct aggt_topo *topo,
			      const struct aggt_job *job)
{
	double work = job->n_receivers;
	uint32_t n;

	if (topo->agents || !aggt_topo_digits(topo) || topo->dims > MAX_DIMS)
		return INFINITY;
	for (n = MAX_POINTS; n > topo->servers; n--)
		work /= 3;
	return topo->servers > MAX_POINTS ? INFINITY : work;
}

int aggt_build_optimum_time(struct aggt_tree *tree, const struct aggt_job *job)
{
	struct sets x = { .tree = tree, .job = job,
			  .n = tree->topo->servers };
	uint32_t set, v, n = tree->n;
	double value;
	int ret = -1;

	if (sets_alloc(&x))
		goto out;
	describe(&x);
	if (!job->pipelined)
		fill(&x);
	else if (find_limit(&x))
		goto out;
	set = best_set(&x, &value);
	if (set && hang(&x, set, x.root, AGGT_NONE))
		goto out;
	ret = x.tried;
	/* Those that failures cut off are named when the tree is repaired. */
	for (v = 1; v < n && ret >= 0; v++)
		if (tree->parent[v] == AGGT_NONE &&
		    aggt_tree_route(tree, v, tree->code[0], NULL))
			ret = -1;
out:
	sets_free(&x);
	return ret;
}
