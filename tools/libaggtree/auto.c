// SPDX-License-Identifier: GPL-2.0
/*
 * The auto method: builds by every other method and by local search, measures
 * each tree at the job's delta and sizes, keeps the cheapest in the bound.
 */
#include <math.h>
#include <stdlib.h>

#include "copies.h"
#include "internal.h"

/* Members and arcs that steiner may look at in a plan: a second or so. */
#define STEINER_BUDGET 300000000ull

/* Edges that the searches for all trees of a plan may look at: seconds. */
#define BUDGET 250000000ull

/* Searches for a tree, with different draws. */
#define MAX_SEARCHES 24

/* Share of the exact method's limit that is worth it here. */
#define EXACT_WORK 0.05

/* Inputs that searches for the earliest end may look at: a second or two. */
#define EARLY_BUDGET 100000000ull

/*
 * Of these, in proportion to the square of the senders, and the number of
 * searches.
 */
#define EARLY_WORK 20000
#define EARLY_SEARCHES 8

/* Share of the limit of the exact method for time: up to ten servers. */
#define EXACT_TIME_WORK 0.12

/* Limit for all trees of a plan together: a second or two. */
#define MAX_EXACT_TIME_WORK 0.3

/* Servers that searches for sequences may look at in a plan: some seconds. */
#define MAX_SEQUENCES 300000000ull

/* Around failures, sequences are all tried up to this many dimensions. */
#define MAX_PERMUTED 4

/**
 * struct contest - the trees compared for one receiver
 * @ask: the request
 * @best: the cheapest so far
 * @metrics: its metrics
 * @deep: the shallowest of those beyond the bound, in case there is no other:
 *	paths around failures can be longer than any bound
 * @deep_metrics: its metrics
 * @err: why a tree cannot avoid failures
 */
struct contest {
	struct aggt_auto *ask;
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
	if (aggt_measure(tree, c->ask->job, NULL, m))
		return -1;
	if (c->ask->job->objective == AGGT_TRAFFIC)
		return 0;
	if (c->ask->topo->agents && aggt_tree_lean(tree, c->ask->job))
		return -1;
	return aggt_measure_time(tree, c->ask->job, c->ask->others, m);
}

/* Whether a built tree leads around failures, and its switches lose nothing. */
static bool usable(const struct contest *c, struct aggt_tree *tree)
{
	return !aggt_tree_repair(tree, c->err) &&
	       !aggt_copies_refuse(tree, c->ask->job, c->err);
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
	if (!usable(c, tree)) {
		aggt_tree_free(tree);
		return 0;
	}
	if (measure(c, tree, &m)) {
		aggt_err_nomem(c->err);
		aggt_tree_free(tree);
		return -1;
	}
	if (m.depth <= c->ask->bound && (!c->best || better(&m, &c->metrics)))
		keep(&c->best, &c->metrics, tree, &m);
	else if (m.depth > c->ask->bound &&
		 (!c->deep || m.depth < c->deep_metrics.depth))
		keep(&c->deep, &c->deep_metrics, tree, &m);
	else
		aggt_tree_free(tree);
	return 0;
}

static struct aggt_tree *blank(const struct contest *c)
{
	const struct aggt_auto *ask = c->ask;
	struct aggt_tree *tree = aggt_tree_new(ask->topo, ask->job,
					       ask->receiver);

	if (!tree)
		aggt_err_nomem(c->err);
	return tree;
}

static int try_all(struct contest *c,
		   int (*const build[])(struct aggt_tree *tree), size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct aggt_tree *tree = blank(c);

		if (!tree || enter(c, tree, build[i](tree)))
			return -1;
	}
	return 0;
}

/* Unlike other methods it takes a search from each member. */
static int try_steiner(struct contest *c)
{
	struct aggt_tree *tree = blank(c);
	int built;

	if (!tree)
		return -1;
	built = aggt_build_steiner(tree, STEINER_BUDGET /
				   c->ask->job->n_receivers);
	if (built != AGGT_BEYOND)
		return enter(c, tree, built);
	aggt_tree_free(tree);
	c->ask->skipped |= AGGT_NO_STEINER;
	return 0;
}

static int try_plain(struct contest *c)
{
	static int (*const stages[])(struct aggt_tree *tree) = {
		aggt_build_irs, aggt_build_ars,
	};
	static int (*const clusters[])(struct aggt_tree *tree) = {
		aggt_build_mib, aggt_build_mc, aggt_build_m2,
	};

	return try_all(c, stages, ARRAY_SIZE(stages)) || try_steiner(c) ||
	       try_all(c, clusters, ARRAY_SIZE(clusters)) ? -1 : 0;
}

static int try_unicast(struct contest *c)
{
	static const char *const variant[] = { "", "random", "rotate" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(variant); i++) {
		struct aggt_tree *tree = blank(c);

		if (!tree || enter(c, tree, aggt_build_unicast(tree, variant[i],
							       c->ask->seed)))
			return -1;
	}
	return 0;
}

/* Try all orders of symbol[at..]. */
static int try_sequences(struct contest *c, unsigned int *symbol,
			 unsigned int at)
{
	unsigned int i, swap;

	if (at == c->ask->topo->dims) {
		struct aggt_tree *tree = blank(c);

		return tree ? enter(c, tree, aggt_build_rs(tree, symbol)) : -1;
	}
	for (i = at; i < c->ask->topo->dims; i++) {
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
 * Take the best sequence if it costs less than the best tree. The cost of a
 * tree that avoids failures is known only after building it.
 */
static int try_best_sequence(struct contest *c)
{
	struct aggt_sequence best = {
		.cost = c->best ? c->metrics.cost : INFINITY,
		.limit = MAX_SEQUENCES / c->ask->job->n_receivers,
	};
	struct aggt_tree *tree;
	unsigned int d;

	if (c->ask->topo->fault.n && c->ask->topo->dims <= MAX_PERMUTED) {
		for (d = 0; d < c->ask->topo->dims; d++)
			best.symbol[d] = d;
		return try_sequences(c, best.symbol, 0);
	}
	tree = blank(c);
	if (!tree)
		return -1;
	if (aggt_best_sequence(tree, c->ask->job, &best)) {
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

	if (c->ask->job->delta != 0)
		return 0;
	tree = blank(c);
	if (!tree)
		return -1;
	if (aggt_optimum_work(tree) > EXACT_WORK) {
		aggt_tree_free(tree);
		return 0;
	}
	return enter(c, tree, aggt_build_optimum(tree, c->ask->job));
}

static uint32_t longest_distance(const struct contest *c)
{
	uint32_t longest = 0;
	size_t i;

	for (i = 0; i < c->ask->job->n_senders; i++) {
		uint32_t d = aggt_topo_distance(c->ask->topo, c->ask->receiver,
						c->ask->job->senders[i]);

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
static int try_search(struct contest *c, uint64_t budget)
{
	static const double share[] = { 1, 0, 0.5, 0.2 };
	uint32_t tight = longest_distance(c) + 2;
	double delta = c->ask->job->delta;
	uint64_t used = 0;
	unsigned int i;

	for (i = 0; i < MAX_SEARCHES && used < budget; i++) {
		struct aggt_grow how = { .bound = c->ask->bound,
					 .seed = c->ask->seed + i,
					 .budget = budget - used };
		struct aggt_tree *tree = blank(c);

		if (!tree)
			return -1;
		if (i / ARRAY_SIZE(share) % 2 && tight < c->ask->bound)
			how.bound = tight;
		if (delta > 0)
			how.lambda = share[i % ARRAY_SIZE(share)] * delta /
				     (delta < 1 ? 1 - delta : 1e-6);
		if (enter(c, tree, aggt_build_grow(tree, c->ask->job, &how)))
			return -1;
		used += how.work;
	}
	return 0;
}

/* Searches differ in the order of the senders and in random choices. */
static int try_early(struct contest *c)
{
	uint64_t n = c->ask->job->n_senders, budget = EARLY_WORK * n * n, used = 0;
	unsigned int i;

	if (budget > EARLY_BUDGET / c->ask->job->n_receivers)
		budget = EARLY_BUDGET / c->ask->job->n_receivers;
	for (i = 0; i < EARLY_SEARCHES && used < budget; i++) {
		struct aggt_grow how = { .bound = c->ask->bound, .seed = c->ask->seed + i,
					 .budget = budget / EARLY_SEARCHES,
					 .one_exit = c->ask->job->copies &&
						     i % 4 < 3 };
		struct aggt_tree *tree = blank(c);

		if (!tree ||
		    enter(c, tree, aggt_build_early(tree, c->ask->job, &how)))
			return -1;
		used += how.work;
	}
	return 0;
}

/* The optimum of a small network; for several trees there may be no time. */
static int try_optimum_time(struct contest *c)
{
	const struct aggt_job *job = c->ask->job;
	double work = aggt_optimum_time_work(c->ask->topo, job);
	struct aggt_tree *tree;

	if ((job->delta != 0 && job->delta != 1) ||
	    work / job->n_receivers >= EXACT_TIME_WORK)
		return 0;
	if (work >= MAX_EXACT_TIME_WORK) {
		c->ask->skipped |= AGGT_NO_EXACT;
		return 0;
	}
	tree = blank(c);
	if (!tree)
		return -1;
	return enter(c, tree,
		     aggt_build_optimum_time(tree, job) < 0 ? -1 : 0);
}

/* The optimum if it is known, else the best tree found. */
static int try_fast(struct contest *c)
{
	if (c->ask->topo->agents)
		return 0;
	return try_optimum_time(c) || try_early(c) ? -1 : 0;
}

/* Candidates that make little traffic. */
static int try_cheap(struct contest *c)
{
	return try_exact(c) ||
	       try_search(c, BUDGET / c->ask->job->n_receivers) ||
	       try_best_sequence(c) ? -1 : 0;
}

/* All that there is with digits; the searches are for their codes, too. */
static int try_digits(struct contest *c)
{
	if (try_plain(c) || try_unicast(c))
		return -1;
	return c->ask->job->objective == AGGT_TRAFFIC ? try_cheap(c) :
						   try_fast(c);
}

static int build_unicast(struct aggt_tree *tree)
{
	return aggt_build_unicast(tree, "", 0);
}

static int try_rounds(struct contest *c)
{
	struct aggt_tree *tree = blank(c);
	int built;

	if (!tree)
		return -1;
	built = aggt_build_rounds(tree, c->ask->job,
				  EARLY_BUDGET / c->ask->job->n_receivers);
	if (built != AGGT_BEYOND)
		return enter(c, tree, built);
	aggt_tree_free(tree);
	return 0;
}

/* One stripe: a chain where servers have one link. */
static int try_pack(struct contest *c)
{
	struct aggt_job job = *c->ask->job;
	struct aggt_tree *tree;

	if ((uint64_t)c->ask->topo->servers * job.n_senders *
	    job.n_receivers > EARLY_BUDGET)
		return 0;
	tree = blank(c);
	if (!tree)
		return -1;
	job.receivers = &tree->receiver;
	job.n_receivers = 1;
	if (!aggt_pack(&tree, 1, &job, c->err))
		return enter(c, tree, 0);
	aggt_tree_free(tree);
	return -1;
}

/* Trees that end early: the first one if servers wait for all inputs. */
static int try_early_graph(struct contest *c)
{
	if (c->ask->job->objective == AGGT_TRAFFIC)
		return 0;
	return try_rounds(c) || try_pack(c) ? -1 : 0;
}

static int try_graph(struct contest *c)
{
	static int (*const next_hops[])(struct aggt_tree *tree) = {
		aggt_build_getparent, build_unicast,
	};

	return try_all(c, next_hops, 1) || try_steiner(c) ||
	       try_all(c, next_hops + 1, 1) || try_early_graph(c) ? -1 : 0;
}

struct aggt_tree *aggt_build_auto(struct aggt_auto *ask,
				  struct aggt_tree *given,
				  struct aggt_err *err)
{
	struct contest c = { .ask = ask, .err = err };

	if ((given && enter(&c, given, 0)) ||
	    (aggt_topo_digits(ask->topo) ? try_digits(&c) : try_graph(&c))) {
		aggt_tree_free(c.best);
		aggt_tree_free(c.deep);
		return NULL;
	}
	if (!c.best)
		return c.deep;
	aggt_tree_free(c.deep);
	return c.best;
}
