// SPDX-License-Identifier: GPL-2.0
/*
 * The auto method: builds by every other method and by local search, measures
 * each tree at the job's delta and sizes, keeps the cheapest in the bound.
 */
#include <math.h>
#include <stdlib.h>

#include "internal.h"

/* Edges that the searches for all trees of a plan may look at: seconds. */
#define BUDGET 250000000ull

/* Searches for a tree, with different draws. */
#define MAX_SEARCHES 24

/* Share of the exact method's limit that is worth it here. */
#define EXACT_WORK 0.05

/* Inputs that searches for the earliest end may look at: a second or two. */
#define EARLY_BUDGET 100000000ull

/* Of these, in proportion to the square of the senders, and how many searches. */
#define EARLY_WORK 20000
#define EARLY_SEARCHES 8

/* Share of the limit of the exact method for time: up to ten servers. */
#define EXACT_TIME_WORK 0.12

/* Servers that searches for sequences may look at in a plan: some seconds. */
#define MAX_SEQUENCES 300000000ull

/* Around failures, sequences are all tried up to this many dimensions. */
#define MAX_PERMUTED 4

/**
 * struct contest - trees for one receiver
 * @topo: the topology
 * @job: what is asked for
 * @receiver: of the trees
 * @bound: on the depth
 * @others: traffic of the trees that there are already
 * @best: the cheapest so far
 * @metrics: its
 * @deep: the shallowest of those beyond the bound, in case there is no other:
 *	ways around failures can be longer than any bound foresaw
 * @deep_metrics: its
 * @err: why a tree cannot be led around failures
 */
struct contest {
	const struct aggt_topo *topo;
	const struct aggt_job *job;
	aggt_node receiver;
	uint32_t bound;
	const struct aggt_loads *others;
	struct aggt_tree *best;
	struct aggt_metrics metrics;
	struct aggt_tree *deep;
	struct aggt_metrics deep_metrics;
	struct aggt_err *err;
};

/* With another objective than traffic, times are 0. */
static bool better(const struct aggt_metrics *a, const struct aggt_metrics *b)
{
	double slack = 1e-9 * (1 + b->time);

	if (a->time < b->time - slack || a->time > b->time + slack)
		return a->time < b->time;
	slack = 1e-9 * (1 + b->cost);
	if (a->cost < b->cost - slack || a->cost > b->cost + slack)
		return a->cost < b->cost;
	if (a->depth != b->depth)
		return a->depth < b->depth;
	return a->links < b->links;
}

static void keep(struct aggt_tree **slot, struct aggt_metrics *metrics,
		 struct aggt_tree *tree, const struct aggt_metrics *m)
{
	aggt_tree_free(*slot);
	*slot = tree;
	*metrics = *m;
}

static int measure(const struct contest *c, struct aggt_tree *tree,
		   struct aggt_metrics *m)
{
	if (aggt_measure(tree, c->job, NULL, m))
		return -1;
	if (c->job->objective == AGGT_TRAFFIC)
		return 0;
	if (c->topo->agents && aggt_tree_lean(tree, c->job))
		return -1;
	return aggt_measure_time(tree, c->job, c->others, m);
}

/* Repair and measure a built tree, keep it if it wins. Takes @tree over. */
static int enter(struct contest *c, struct aggt_tree *tree, int built)
{
	struct aggt_metrics m;

	if (built || aggt_tree_finish(tree)) {
		aggt_err_nomem(c->err);
		aggt_tree_free(tree);
		return -1;
	}
	if (aggt_tree_repair(tree, c->err)) {
		aggt_tree_free(tree);
		return 0;
	}
	if (measure(c, tree, &m)) {
		aggt_err_nomem(c->err);
		aggt_tree_free(tree);
		return -1;
	}
	if (m.depth <= c->bound && (!c->best || better(&m, &c->metrics)))
		keep(&c->best, &c->metrics, tree, &m);
	else if (m.depth > c->bound &&
		 (!c->deep || m.depth < c->deep_metrics.depth))
		keep(&c->deep, &c->deep_metrics, tree, &m);
	else
		aggt_tree_free(tree);
	return 0;
}

static struct aggt_tree *blank(const struct contest *c)
{
	struct aggt_tree *tree = aggt_tree_new(c->topo, c->job, c->receiver);

	if (!tree)
		aggt_err_nomem(c->err);
	return tree;
}

static int try_plain(struct contest *c)
{
	static int (*const build[])(struct aggt_tree *tree) = {
		aggt_build_irs, aggt_build_ars, aggt_build_steiner,
		aggt_build_mib, aggt_build_mc, aggt_build_m2,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(build); i++) {
		struct aggt_tree *tree = blank(c);

		if (!tree || enter(c, tree, build[i](tree)))
			return -1;
	}
	return 0;
}

static int try_unicast(struct contest *c, uint64_t seed)
{
	static const char *const variant[] = { "", "random", "rotate" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(variant); i++) {
		struct aggt_tree *tree = blank(c);

		if (!tree || enter(c, tree, aggt_build_unicast(tree, variant[i],
							       seed)))
			return -1;
	}
	return 0;
}

/* Try all orders of symbol[at..]. */
static int try_sequences(struct contest *c, unsigned int *symbol,
			 unsigned int at)
{
	unsigned int i, swap;

	if (at == c->topo->dims) {
		struct aggt_tree *tree = blank(c);

		return tree ? enter(c, tree, aggt_build_rs(tree, symbol)) : -1;
	}
	for (i = at; i < c->topo->dims; i++) {
		swap = symbol[at];
		symbol[at] = symbol[i];
		symbol[i] = swap;
		if (try_sequences(c, symbol, at + 1))
			return -1;
		symbol[i] = symbol[at];
		symbol[at] = swap;
	}
	return 0;
}

/*
 * The best of all sequences if it beats what there is. What its tree costs once
 * it is led around failures is not known before.
 */
static int try_best_sequence(struct contest *c)
{
	struct aggt_sequence best = {
		.cost = c->best ? c->metrics.cost : INFINITY,
		.limit = MAX_SEQUENCES / c->job->n_receivers,
	};
	struct aggt_tree *tree;
	unsigned int d;

	if (c->topo->fault.n && c->topo->dims <= MAX_PERMUTED) {
		for (d = 0; d < c->topo->dims; d++)
			best.symbol[d] = d;
		return try_sequences(c, best.symbol, 0);
	}
	tree = blank(c);
	if (!tree)
		return -1;
	if (aggt_best_sequence(tree, c->job, &best)) {
		aggt_err_nomem(c->err);
		aggt_tree_free(tree);
		return -1;
	}
	if (best.found)
		return enter(c, tree, aggt_build_rs(tree, best.symbol));
	aggt_tree_free(tree);
	return 0;
}

static int try_exact(struct contest *c)
{
	struct aggt_tree *tree;

	if (c->job->delta != 0)
		return 0;
	tree = blank(c);
	if (!tree)
		return -1;
	if (aggt_exact_work(tree) > EXACT_WORK) {
		aggt_tree_free(tree);
		return 0;
	}
	return enter(c, tree, aggt_build_exact(tree, c->job));
}

static uint32_t longest_distance(const struct contest *c)
{
	uint32_t longest = 0;
	size_t i;

	for (i = 0; i < c->job->n_senders; i++) {
		uint32_t d = aggt_topo_distance(c->topo, c->receiver,
						c->job->senders[i]);

		if (d > longest)
			longest = d;
	}
	return longest;
}

/*
 * On each hop the search counts the largest flow that it has seen and lambda
 * times all of them. lambda = delta / (1 - delta) is exact where flows join one
 * after the other; flows that join in pairs shrink more, so smaller ones are
 * tried too. A tighter bound than asked for can lead to a better tree.
 */
static int try_search(struct contest *c, uint64_t seed, uint64_t budget)
{
	static const double share[] = { 1, 0, 0.5, 0.2 };
	uint32_t tight = longest_distance(c) + 2;
	double delta = c->job->delta;
	uint64_t used = 0;
	unsigned int i;

	for (i = 0; i < MAX_SEARCHES && used < budget; i++) {
		struct aggt_grow how = { .bound = c->bound, .seed = seed + i,
					 .budget = budget - used };
		struct aggt_tree *tree = blank(c);

		if (!tree)
			return -1;
		if (i / ARRAY_SIZE(share) % 2 && tight < c->bound)
			how.bound = tight;
		if (delta > 0)
			how.lambda = share[i % ARRAY_SIZE(share)] * delta /
				     (delta < 1 ? 1 - delta : 1e-6);
		if (enter(c, tree, aggt_build_grow(tree, c->job, &how)))
			return -1;
		used += how.work;
	}
	return 0;
}

/* Searches differ in the order of the senders and in what they draw. */
static int try_early(struct contest *c, uint64_t seed)
{
	uint64_t n = c->job->n_senders, budget = EARLY_WORK * n * n, used = 0;
	unsigned int i;

	if (budget > EARLY_BUDGET / c->job->n_receivers)
		budget = EARLY_BUDGET / c->job->n_receivers;
	for (i = 0; i < EARLY_SEARCHES && used < budget; i++) {
		struct aggt_grow how = { .bound = c->bound, .seed = seed + i,
					 .budget = budget / EARLY_SEARCHES };
		struct aggt_tree *tree = blank(c);

		if (!tree ||
		    enter(c, tree, aggt_build_early(tree, c->job, &how)))
			return -1;
		used += how.work;
	}
	return 0;
}

/* The optimum of a small network, else what is found. */
static int try_fast(struct contest *c, uint64_t seed)
{
	struct aggt_tree *tree;

	if (c->topo->agents)
		return 0;
	if (aggt_exact_time_work(c->topo) < EXACT_TIME_WORK &&
	    (c->job->delta == 0 || c->job->delta == 1)) {
		tree = blank(c);
		if (!tree ||
		    enter(c, tree, aggt_build_exact_time(tree, c->job)))
			return -1;
	}
	return try_early(c, seed);
}

/* Candidates that make little traffic. */
static int try_cheap(struct contest *c, uint64_t seed)
{
	return try_exact(c) ||
	       try_search(c, seed, BUDGET / c->job->n_receivers) ||
	       try_best_sequence(c) ? -1 : 0;
}

/* All that there is with digits; the searches are for their codes, too. */
static int try_digits(struct contest *c, uint64_t seed)
{
	if (try_plain(c) || try_unicast(c, seed))
		return -1;
	return c->job->objective == AGGT_TRAFFIC ? try_cheap(c, seed) :
						   try_fast(c, seed);
}

static int build_unicast(struct aggt_tree *tree)
{
	return aggt_build_unicast(tree, "", 0);
}

static int try_graph(struct contest *c)
{
	static int (*const build[])(struct aggt_tree *tree) = {
		aggt_build_getparent, aggt_build_steiner, build_unicast,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(build); i++) {
		struct aggt_tree *tree = blank(c);

		if (!tree || enter(c, tree, build[i](tree)))
			return -1;
	}
	return 0;
}

struct aggt_tree *aggt_build_auto(const struct aggt_topo *topo,
				  const struct aggt_job *job,
				  aggt_node receiver, uint32_t bound,
				  uint64_t seed, struct aggt_tree *given,
				  const struct aggt_loads *others,
				  struct aggt_err *err)
{
	struct contest c = { .topo = topo, .job = job, .receiver = receiver,
			     .bound = bound, .others = others, .err = err };

	if ((given && enter(&c, given, 0)) ||
	    (aggt_topo_digits(topo) ? try_digits(&c, seed) : try_graph(&c))) {
		aggt_tree_free(c.best);
		aggt_tree_free(c.deep);
		return NULL;
	}
	if (!c.best)
		return c.deep;
	aggt_tree_free(c.deep);
	return c.best;
}
