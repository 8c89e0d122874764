// SPDX-License-Identifier: GPL-2.0
/*
 * The optimum of small instances by dynamic programming over sets of senders
 * (Dreyfus and Wagner), on the grid of the digits that members have.
 */
#include <stdlib.h>

#include "internal.h"

/* Steps and table cells that a call may take: about a second, 128 MiB. */
#define MAX_STEPS 1e9
#define MAX_CELLS 0x1000000

/* More than any path costs. */
#define FAR 1e300

/**
 * struct optimum - the tables
 *
 * An optimal tree needs no digit that no member has: mapping such digits to
 * one that is there makes no hop longer. So places are cells of the grid. Where
 * parts have failed, paths around them need the other digits, too.
 *
 * @topo: the topology
 * @tree: the tree to connect
 * @job: for sizes and delta
 * @digit: digit fields in use, by dimension
 * @n_digits: how many
 * @stride: of the grid
 * @places: cells of the grid
 * @next: where parts have failed: places that hops lead to, place by place
 * @first: index in @next of each place's, one more at the end
 * @m: senders other than the receiver, vertices 1..m
 * @size: what flows when the senders of a set are merged
 * @cost: [set * places + place], cheapest path to have the set merged there
 */
struct optimum {
	const struct aggt_topo *topo;
	struct aggt_tree *tree;
	const struct aggt_job *job;
	aggt_code *digit[AGGT_MAX_DIMS];
	uint32_t n_digits[AGGT_MAX_DIMS];
	size_t stride[AGGT_MAX_DIMS];
	size_t places;
	uint32_t *next;
	size_t *first;
	uint32_t m;
	double *size;
	double *cost;
};

static void optimum_free(struct optimum *x)
{
	unsigned int d;

	for (d = 0; d < AGGT_MAX_DIMS; d++)
		free(x->digit[d]);
	free(x->next);
	free(x->first);
	free(x->size);
	free(x->cost);
}

static void collect_digits(struct optimum *x, unsigned int d)
{
	uint32_t v, i;

	for (v = 0; v <= x->m; v++) {
		aggt_code f = x->tree->code[v] & x->topo->mask[d];

		for (i = 0; i < x->n_digits[d]; i++)
			if (x->digit[d][i] == f)
				break;
		x->digit[d][i] = f;
		x->n_digits[d] += i == x->n_digits[d];
	}
}

/* Which digits count, and how large the grid is; false without memory. */
static bool lay_grid(struct optimum *x, double *places)
{
	const struct aggt_topo *topo = x->topo;
	unsigned int d;
	uint32_t i;

	*places = 1;
	for (d = 0; d < topo->dims; d++) {
		x->digit[d] = malloc((x->m + 1 + topo->radix[d]) *
				     sizeof(aggt_code));
		if (!x->digit[d])
			return false;
		for (i = 0; topo->fault.n && i < topo->radix[d]; i++)
			x->digit[d][x->n_digits[d]++] = (aggt_code)i <<
							topo->shift[d];
		if (!topo->fault.n)
			collect_digits(x, d);
		x->stride[d] = *places;
		*places *= x->n_digits[d];
		if (*places > MAX_CELLS)
			*places = MAX_CELLS + 1.0;
	}
	return true;
}

static size_t place_of(const struct optimum *x, aggt_code code)
{
	size_t place = 0;
	unsigned int d;
	uint32_t i;

	for (d = 0; d < x->topo->dims; d++) {
		for (i = 0; x->digit[d][i] != (code & x->topo->mask[d]); i++)
			;
		place += i * x->stride[d];
	}
	return place;
}

static aggt_code code_of(const struct optimum *x, size_t place)
{
	aggt_code code = 0;
	unsigned int d;

	for (d = 0; d < x->topo->dims; d++)
		code |= x->digit[d][place / x->stride[d] % x->n_digits[d]];
	return code;
}

/* The hops that work. */
static int find_hops(struct optimum *x)
{
	size_t place, at, n = 0, most = 0;
	unsigned int d;
	uint32_t i;

	for (d = 0; d < x->topo->dims; d++)
		most += x->places * (x->n_digits[d] - 1);
	x->next = malloc((most + 1) * sizeof(*x->next));
	x->first = malloc((x->places + 1) * sizeof(*x->first));
	if (!x->next || !x->first)
		return -1;
	for (place = 0; place < x->places; place++) {
		x->first[place] = n;
		for (d = 0; d < x->topo->dims; d++) {
			at = place - place / x->stride[d] % x->n_digits[d] *
				     x->stride[d];
			for (i = 0; i < x->n_digits[d];
			     i++, at += x->stride[d])
				if (at != place &&
				    aggt_hop_ok(x->topo, code_of(x, place),
						code_of(x, at)))
					x->next[n++] = at;
		}
	}
	x->first[place] = n;
	return 0;
}

/* With delta 0 a set flows as its largest member, with 1 as their sum. */
static double set_size(const struct optimum *x, uint32_t set)
{
	double max = 0, sum = 0;
	uint32_t i;

	for (i = 0; i < x->m; i++) {
		double size;

		if (!(set & 1u << i))
			continue;
		size = aggt_vertex_size(x->tree, x->job, i + 1, x->job->delta);
		sum += size;
		if (size > max)
			max = size;
	}
	return max + x->job->delta * (sum - max);
}

/* Let a set move by the hops that work, until nothing gets any cheaper. */
static void spread_around(const struct optimum *x, double *cost, double hop)
{
	bool changed = true;
	size_t place, k;

	while (changed) {
		changed = false;
		for (place = 0; place < x->places; place++) {
			for (k = x->first[place]; k < x->first[place + 1]; k++) {
				if (cost[place] <= cost[x->next[k]] + hop)
					continue;
				cost[place] = cost[x->next[k]] + hop;
				changed = true;
			}
		}
	}
}

/* Let a set move: a hop costs the same everywhere, so dimension by dimension. */
static void spread(const struct optimum *x, double *cost, double hop)
{
	unsigned int d;
	size_t place, at;
	uint32_t i;

	for (d = 0; d < x->topo->dims; d++) {
		size_t step = x->stride[d], n = x->n_digits[d];

		for (place = 0; place < x->places; place++) {
			double least;

			if (place / step % n)
				continue;
			least = cost[place];
			for (i = 1, at = place + step; i < n; i++, at += step)
				if (cost[at] < least)
					least = cost[at];
			for (i = 0, at = place; i < n; i++, at += step)
				if (cost[at] > least + hop)
					cost[at] = least + hop;
		}
	}
}

static void fill(const struct optimum *x)
{
	uint32_t set, part;
	size_t place;

	for (set = 1; set < 1u << x->m; set++) {
		double *cost = x->cost + set * x->places;

		x->size[set] = set_size(x, set);
		for (place = 0; place < x->places; place++)
			cost[place] = FAR;
		if (!(set & (set - 1)))
			cost[place_of(x, x->tree->code[1 +
						__builtin_ctz(set)])] = 0;
		for (part = (set - 1) & set; part > (set ^ part);
		     part = (part - 1) & set) {
			const double *a = x->cost + part * x->places;
			const double *b = x->cost + (set ^ part) * x->places;

			for (place = 0; place < x->places; place++)
				if (a[place] + b[place] < cost[place])
					cost[place] = a[place] + b[place];
		}
		if (x->next)
			spread_around(x, cost, 2 * x->size[set]);
		else
			spread(x, cost, 2 * x->size[set]);
	}
}

static bool same(double a, double b)
{
	return a - b < 1e-9 * (1 + b) && b - a < 1e-9 * (1 + b);
}

/* The neighbour from which @set came to @place, or @place: it merged here. */
static size_t came_from(const struct optimum *x, uint32_t set, size_t place)
{
	const double *cost = x->cost + set * x->places;
	double hop = 2 * x->size[set];
	unsigned int d;
	size_t at, k;
	uint32_t i;

	if (hop == 0)
		return place;
	for (k = x->next ? x->first[place] : 0;
	     x->next && k < x->first[place + 1]; k++)
		if (same(cost[x->next[k]] + hop, cost[place]))
			return x->next[k];
	for (d = 0; d < x->topo->dims && !x->next; d++) {
		at = place - place / x->stride[d] % x->n_digits[d] *
			     x->stride[d];
		for (i = 0; i < x->n_digits[d]; i++, at += x->stride[d])
			if (at != place && same(cost[at] + hop, cost[place]))
				return at;
	}
	return place;
}

/* Go back from the whole set at the receiver and hang vertices on the tree. */
static int trace(const struct optimum *x, uint32_t set, size_t place,
		 uint32_t vertex)
{
	const double *cost;
	uint32_t part, up;
	size_t from;

	for (;;) {
		if (vertex && vertex <= x->m && set == 1u << (vertex - 1))
			return 0;
		from = came_from(x, set, place);
		if (from == place)
			break;
		up = vertex;
		vertex = aggt_tree_add(x->tree, code_of(x, from));
		if (vertex == AGGT_NONE)
			return -1;
		if (vertex && x->tree->parent[vertex] == AGGT_NONE)
			x->tree->parent[vertex] = up;
		place = from;
	}
	cost = x->cost + place;
	for (part = (set - 1) & set; part; part = (part - 1) & set)
		if (same(cost[part * x->places] +
			 cost[(set ^ part) * x->places],
			 cost[set * x->places]))
			return trace(x, part, place, vertex) ||
			       trace(x, set ^ part, place, vertex) ? -1 : 0;
	return 0;
}

/*
 * Senders without size cost nothing anywhere: plain routing will do. It does,
 * too, for those that failures cut off: the repair of the tree says so.
 */
static int route_rest(struct aggt_tree *tree, uint32_t m)
{
	uint32_t v;

	for (v = 1; v <= m; v++)
		if (tree->parent[v] == AGGT_NONE &&
		    aggt_tree_route(tree, v, tree->code[0], NULL))
			return -1;
	return 0;
}

double aggt_optimum_work(const struct aggt_tree *tree)
{
	struct optimum x = { .topo = tree->topo, .m = tree->n - 1,
			   .tree = (struct aggt_tree *)tree };
	double places, steps, cells;
	uint32_t i;

	if (!lay_grid(&x, &places))
		places = MAX_CELLS + 1.0;
	optimum_free(&x);
	for (i = 0, steps = places, cells = places; i < x.m; i++) {
		steps *= 3;
		cells *= 2;
	}
	/* Moving around failures takes a few looks at each hop. */
	for (i = 0; tree->topo->fault.n && i < tree->topo->dims; i++)
		steps += 4 * cells * tree->topo->radix[i];
	return cells > MAX_CELLS ? 2 : steps / MAX_STEPS;
}

int aggt_build_optimum(struct aggt_tree *tree, const struct aggt_job *job)
{
	struct optimum x = { .topo = tree->topo, .tree = tree, .job = job,
			   .m = tree->n - 1 };
	uint32_t all = (1u << x.m) - 1;
	size_t root;
	double places;
	int ret = -1;

	if (!lay_grid(&x, &places))
		goto out;
	x.places = places;
	x.size = calloc(all + 1, sizeof(*x.size));
	x.cost = malloc(((size_t)all + 1) * x.places * sizeof(*x.cost));
	if (!x.size || !x.cost || (tree->topo->fault.n && find_hops(&x)))
		goto out;
	fill(&x);
	root = place_of(&x, tree->code[0]);
	if (all && x.cost[all * x.places + root] < FAR &&
	    trace(&x, all, root, 0))
		goto out;
	ret = route_rest(tree, x.m);
out:
	optimum_free(&x);
	return ret;
}
