// SPDX-License-Identifier: GPL-2.0
/* Methods by name: their arguments, and how they make a plan. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Servers that a search for the best sequence may look at: a few seconds. */
#define MAX_SEARCH 500000000ull

/*
 * Passes over the trees of a shuffle, after the first, that build them again.
 */
#define PASSES 2

/* More than auto uses of the numbers behind the seed of a tree. */
#define SEEDS_A_TREE 64

static const char *const methods[] = {
	"existing", "unicast", "unicast:random", "unicast:rotate", "rs:",
	"rs:best", "ars", "irs", "steiner", "mib", "mc", "m2", "exact", "auto", "srs",
	"srs:safe", "getparent", "getparent:1", "stripes:", NULL
};

const char *const *aggt_methods(void)
{
	return methods;
}

struct build;

/**
 * struct method - how a plan is made
 * @name: up to a colon
 * @digits: it needs labels with digits; else it works in all topologies
 * @check: looks at what follows the colon
 * @run: fills the plan
 * @tree: connects one tree, if @run does one after the other
 * @plain: the same, needing nothing but the tree
 */
struct method {
	const char *name;
	bool digits;
	int (*check)(struct build *b, struct aggt_err *err);
	int (*run)(struct aggt_plan *plan, struct build *b,
		   struct aggt_err *err);
	int (*tree)(struct build *b, struct aggt_tree *tree);
	int (*plain)(struct aggt_tree *tree);
};

/**
 * struct build - a job on its way through a method
 * @method: the method
 * @topo: the topology
 * @job: what is asked for
 * @arg: what follows the colon in the method's name
 * @symbol: of rs
 * @best: the symbols are still to be found
 * @number: of Camdoop's tree, counted from 0
 * @seed: of the tree at hand
 */
struct build {
	const struct method *method;
	const struct aggt_topo *topo;
	const struct aggt_job *job;
	const char *arg;
	unsigned int symbol[AGGT_MAX_DIMS];
	bool best;
	unsigned int number;
	uint64_t seed;
};

/* Each tree draws random numbers independently of the others. */
static uint64_t tree_seed(const struct aggt_job *job, size_t i)
{
	return job->seed + i * 0xd1342543de82ef95ULL;
}

static int tree_existing(struct build *b, struct aggt_tree *tree)
{
	tree->aggregates = false;
	return aggt_build_unicast(tree, "", b->seed);
}

static int tree_unicast(struct build *b, struct aggt_tree *tree)
{
	return aggt_build_unicast(tree, b->arg, b->seed);
}

static int tree_getparent(struct build *b, struct aggt_tree *tree)
{
	return *b->arg ? aggt_build_camdoop(tree, b->number) :
			 aggt_build_getparent(tree);
}

static int tree_exact(struct build *b, struct aggt_tree *tree)
{
	if (b->job->objective == AGGT_TRAFFIC)
		return aggt_build_optimum(tree, b->job);
	return aggt_build_optimum_time(tree, b->job) < 0 ? -1 : 0;
}

static int plain_steiner(struct aggt_tree *tree)
{
	return aggt_build_steiner(tree, UINT64_MAX);
}

static int tree_rs(struct build *b, struct aggt_tree *tree)
{
	return aggt_build_rs(tree, b->symbol);
}

static int check_none(struct build *b, struct aggt_err *err)
{
	if (!*b->arg)
		return 0;
	aggt_err_set(err, "method %s: takes nothing after the colon",
		     b->job->method);
	return -1;
}

static int need_digits(const struct build *b, struct aggt_err *err);

static int check_unicast(struct build *b, struct aggt_err *err)
{
	if (!*b->arg)
		return 0;
	if (!strcmp(b->arg, "random") || !strcmp(b->arg, "rotate"))
		return need_digits(b, err);
	aggt_err_set(err, "method %s: expected unicast, unicast:random or unicast:rotate",
		     b->job->method);
	return -1;
}

static int check_srs(struct build *b, struct aggt_err *err)
{
	if (!*b->arg || !strcmp(b->arg, "safe"))
		return 0;
	aggt_err_set(err, "method %s: expected srs or srs:safe",
		     b->job->method);
	return -1;
}

static int check_getparent(struct build *b, struct aggt_err *err)
{
	unsigned int n = aggt_camdoop_trees(b->topo);

	if (!*b->arg)
		return 0;
	b->number = *b->arg - '1';
	if (!b->arg[1] && b->number < n)
		return 0;
	if (n)
		aggt_err_set(err, "method %s: expected getparent or getparent:1 to getparent:%u",
			     b->job->method, n);
	else
		aggt_err_set(err, "method %s: the trees without a common link are those of camcube:X,Y,Z with X, Y and Z at least 3, not of %s",
			     b->job->method, b->topo->name);
	return -1;
}

/* aggt_job_check() has done it. */
static int check_stripes(struct build *b, struct aggt_err *err)
{
	(void)b;
	(void)err;
	return 0;
}

/* Symbols are single digits, or numbers separated by commas. */
static int check_rs(struct build *b, struct aggt_err *err)
{
	bool commas = strchr(b->arg, ',');
	const char *at = b->arg;
	unsigned int n = 0, seen = 0;

	b->best = !strcmp(b->arg, "best");
	if (b->best)
		return 0;
	while (isdigit((unsigned char)*at)) {
		unsigned long symbol = *at - '0';
		char *end = (char *)at + 1;

		if (commas)
			symbol = strtoul(at, &end, 10);
		if (symbol >= b->topo->dims || seen & 1u << symbol)
			break;
		seen |= 1u << symbol;
		b->symbol[n++] = symbol;
		at = end;
		if (commas && *at == ',')
			at++;
	}
	if (!*at && n == b->topo->dims)
		return 0;
	aggt_err_set(err, "method %s: expected 'best' or every dimension of 0..%u once",
		     b->job->method, b->topo->dims - 1);
	return -1;
}

/*
 * The sizes of flows depend on the order of merging, except for these deltas.
 */
static int check_exact(struct build *b, struct aggt_err *err)
{
	if (check_none(b, err))
		return -1;
	if (b->job->delta == 0 || b->job->delta == 1)
		return 0;
	aggt_err_set(err, "method exact: knows delta 0 and 1 only, not %g; use auto",
		     b->job->delta);
	return -1;
}

static struct aggt_tree *blank(struct build *b, size_t i,
			       struct aggt_err *err)
{
	struct aggt_tree *tree = aggt_tree_new(b->topo, b->job,
					       b->job->receivers[i]);

	if (!tree)
		aggt_err_nomem(err);
	b->seed = tree_seed(b->job, i);
	return tree;
}

/* One tree, by the method's own function. */
static int run_one(struct aggt_plan *plan, struct build *b, size_t i,
		   struct aggt_err *err)
{
	struct aggt_tree *tree = blank(b, i, err);

	plan->tree[i] = tree;
	if (!tree)
		return -1;
	if ((b->method->plain ? b->method->plain(tree) :
				b->method->tree(b, tree)) ||
	    aggt_tree_finish(tree)) {
		aggt_err_nomem(err);
		return -1;
	}
	plan->aggregates = tree->aggregates;
	return 0;
}

static int run_each(struct aggt_plan *plan, struct build *b,
		    struct aggt_err *err)
{
	size_t i;

	for (i = 0; i < plan->n_trees; i++)
		if (run_one(plan, b, i, err))
			return -1;
	return 0;
}

/* Refuse jobs that are too large for a method that tries everything. */
static int beyond(const struct build *b, size_t i, const char *instead,
		  struct aggt_err *err)
{
	aggt_err_set(err,
		     "method %s: %zu senders to v%u in %s are beyond its limit; use %s",
		     b->job->method, b->job->n_senders, b->job->receivers[i],
		     b->topo->name, instead);
	return -1;
}

static int find_sequence(struct build *b, size_t i, struct aggt_err *err)
{
	struct aggt_sequence best = { .cost = INFINITY, .limit = MAX_SEARCH };
	struct aggt_tree *tree = blank(b, i, err);
	int ret;

	if (!tree)
		return -1;
	ret = aggt_best_sequence(tree, b->job, &best);
	aggt_tree_free(tree);
	if (ret) {
		aggt_err_nomem(err);
		return -1;
	}
	memcpy(b->symbol, best.symbol, sizeof(b->symbol));
	return best.sure ? 0 : beyond(b, i, "ars or auto", err);
}

static int run_rs(struct aggt_plan *plan, struct build *b,
		  struct aggt_err *err)
{
	size_t i;

	for (i = 0; i < plan->n_trees; i++)
		if ((b->best && find_sequence(b, i, err)) ||
		    run_one(plan, b, i, err))
			return -1;
	return 0;
}

/* As run_each(), but first see that no tree is beyond the limit. */
static int run_exact(struct aggt_plan *plan, struct build *b,
		     struct aggt_err *err)
{
	size_t i;

	if (b->job->objective == AGGT_TIME) {
		if (aggt_optimum_time_work(b->topo, b->job) <= 1)
			return run_each(plan, b, err);
		return beyond(b, 0, "auto", err);
	}
	for (i = 0; i < plan->n_trees; i++) {
		struct aggt_tree *tree = blank(b, i, err);
		double work;

		if (!tree)
			return -1;
		work = aggt_optimum_work(tree);
		aggt_tree_free(tree);
		if (work > 1)
			return beyond(b, i, "auto", err);
	}
	return run_each(plan, b, err);
}

static int run_srs(struct aggt_plan *plan, struct build *b,
		   struct aggt_err *err)
{
	return aggt_build_srs(plan, b->job, *b->arg, err);
}

/* The default bound leaves room for two hops out of the path; time has none. */
static int auto_bound(const struct build *b, aggt_node receiver,
		      uint32_t *bound, struct aggt_err *err)
{
	uint32_t longest = 0;
	size_t i;

	for (i = 0; i < b->job->n_senders; i++) {
		uint32_t d = aggt_topo_distance(b->topo, b->job->senders[i],
						receiver);

		if (b->job->max_depth && d > b->job->max_depth) {
			aggt_err_set(err, "depth %u: sender %s is %u hops from %s",
				     b->job->max_depth,
				     aggt_label(b->topo,
						b->job->senders[i]).text, d,
				     aggt_label(b->topo, receiver).text);
			return -1;
		}
		if (d > longest)
			longest = d;
	}
	*bound = b->job->max_depth ? b->job->max_depth :
		 b->job->objective == AGGT_TIME ? AGGT_DEPTH_NONE : longest + 2;
	return 0;
}

static int run_stripes(struct aggt_plan *plan, struct build *b,
		       struct aggt_err *err)
{
	bool rule = !b->topo->graph, camdoop = !b->topo->fault.n &&
		    plan->n_trees <= aggt_camdoop_trees(b->topo);
	uint32_t i;

	for (i = 0; i < plan->n_trees; i++) {
		struct aggt_tree *tree = blank(b, 0, err);

		plan->tree[i] = tree;
		if (!tree)
			return -1;
		if ((rule && aggt_build_stripe(tree, i)) ||
		    (camdoop && aggt_build_camdoop(tree, i)) ||
		    ((rule || camdoop) && aggt_tree_finish(tree))) {
			aggt_err_nomem(err);
			return -1;
		}
	}
	return rule || camdoop ? 0 : aggt_pack(plan->tree, plan->n_trees,
					       b->job, err);
}

/* The best tree to receiver @i, the one that there is among them. */
static int auto_tree(struct aggt_plan *plan, struct build *b, size_t i,
		     const struct aggt_loads *others, unsigned int pass,
		     struct aggt_err *err)
{
	struct aggt_auto ask = {
		.topo = b->topo, .job = b->job, .others = others,
		.receiver = b->job->receivers[i],
		.seed = tree_seed(b->job, i) + pass * SEEDS_A_TREE,
	};

	if (auto_bound(b, ask.receiver, &ask.bound, err))
		return -1;
	plan->tree[i] = aggt_build_auto(&ask, plan->tree[i], err);
	plan->skipped |= ask.skipped;
	return plan->tree[i] ? 0 : -1;
}

static int nomem(struct aggt_err *err)
{
	aggt_err_nomem(err);
	return -1;
}

/* The end of tree @i, which is not in @others, with their traffic. */
static int time_among(const struct aggt_plan *plan, const struct build *b,
		      size_t i, const struct aggt_loads *others, double *end)
{
	struct aggt_metrics m;

	if (aggt_measure_time(plan->tree[i], b->job, others, &m))
		return -1;
	*end = m.time;
	return 0;
}

/* When the last tree of all in @loads ends. */
static int last_end(const struct aggt_plan *plan, const struct build *b,
		    struct aggt_loads *loads, double *last)
{
	double end;
	size_t i;

	for (i = 0, *last = 0; i < plan->n_trees; i++) {
		if (aggt_loads_drop(loads, plan->tree[i], b->job) ||
		    time_among(plan, b, i, loads, &end) ||
		    aggt_loads_tree(loads, plan->tree[i], b->job))
			return -1;
		*last = fmax(*last, end);
	}
	return 0;
}

/*
 * Build each tree that ends last again, now that all others are known. Its
 * links are not busier then than the busiest was before, so no plan ends later.
 */
static int auto_again(struct aggt_plan *plan, struct build *b,
		      struct aggt_loads *loads, unsigned int pass,
		      struct aggt_err *err)
{
	double last, end;
	size_t i;

	if (last_end(plan, b, loads, &last))
		return nomem(err);
	for (i = 0; i < plan->n_trees; i++) {
		if (aggt_loads_drop(loads, plan->tree[i], b->job) ||
		    time_among(plan, b, i, loads, &end))
			return nomem(err);
		if (end >= last * (1 - 1e-9) &&
		    auto_tree(plan, b, i, loads, pass, err))
			return -1;
		if (aggt_loads_tree(loads, plan->tree[i], b->job))
			return nomem(err);
	}
	return 0;
}

static int auto_in_time(struct aggt_plan *plan, struct build *b,
			struct aggt_loads *loads, struct aggt_err *err)
{
	unsigned int pass;
	size_t i;

	for (i = 0; i < plan->n_trees; i++) {
		if (auto_tree(plan, b, i, loads, 0, err))
			return -1;
		if (aggt_loads_tree(loads, plan->tree[i], b->job))
			return nomem(err);
	}
	for (pass = 1; plan->n_trees > 1 && pass <= PASSES; pass++)
		if (auto_again(plan, b, loads, pass, err))
			return -1;
	return 0;
}

/* Each receiver gets the best tree, SRS's of the whole shuffle included. */
static int run_auto(struct aggt_plan *plan, struct build *b,
		    struct aggt_err *err)
{
	struct aggt_loads loads;
	size_t i;
	int ret;

	if (plan->n_trees > 1 && aggt_topo_digits(b->topo) &&
	    aggt_build_srs(plan, b->job, false, err))
		return -1;
	plan->predicted = 0;
	if (b->job->objective == AGGT_TIME) {
		if (aggt_loads_init(&loads))
			return nomem(err);
		ret = auto_in_time(plan, b, &loads, err);
		aggt_loads_free(&loads);
		return ret;
	}
	for (i = 0; i < plan->n_trees; i++)
		if (auto_tree(plan, b, i, NULL, 0, err))
			return -1;
	return 0;
}

static const struct method table[] = {
	{ "existing", false, check_none, run_each, .tree = tree_existing },
	{ "unicast", false, check_unicast, run_each, .tree = tree_unicast },
	{ "rs", true, check_rs, run_rs, .tree = tree_rs },
	{ "ars", true, check_none, run_each, .plain = aggt_build_ars },
	{ "irs", true, check_none, run_each, .plain = aggt_build_irs },
	{ "steiner", false, check_none, run_each, .plain = plain_steiner },
	{ "mib", true, check_none, run_each, .plain = aggt_build_mib },
	{ "mc", true, check_none, run_each, .plain = aggt_build_mc },
	{ "m2", true, check_none, run_each, .plain = aggt_build_m2 },
	{ "exact", true, check_exact, run_exact, .tree = tree_exact },
	{ "auto", false, check_none, run_auto, .tree = NULL },
	{ "srs", true, check_srs, run_srs, .tree = NULL },
	{ "getparent", false, check_getparent, run_each,
	  .tree = tree_getparent },
	{ "stripes", false, check_stripes, run_stripes, .tree = NULL },
};

static int need_digits(const struct build *b, struct aggt_err *err)
{
	char works[96] = "";
	size_t i, len = 0;

	if (aggt_topo_digits(b->topo))
		return 0;
	for (i = 0; i < ARRAY_SIZE(table) && len < sizeof(works); i++)
		if (!table[i].digits)
			len += snprintf(works + len, sizeof(works) - len,
					"%s%s", len ? ", " : "",
					table[i].name);
	aggt_err_set(err, "method %s: needs labels with digits, which %s does not have; methods that work there: %s",
		     b->job->method, b->topo->name, works);
	return -1;
}

static const struct method *find_method(struct build *b, struct aggt_err *err)
{
	const char *name = b->job->method;
	size_t i, len = strcspn(name, ":");

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		if (strlen(table[i].name) != len ||
		    strncmp(table[i].name, name, len))
			continue;
		b->arg = name[len] ? name + len + 1 : name + len;
		if (table[i].digits && need_digits(b, err))
			return NULL;
		return table[i].check(b, err) ? NULL : &table[i];
	}
	aggt_err_set(err, "method %s: unknown", name);
	return NULL;
}

int aggt_method_run(struct aggt_plan *plan, const struct aggt_job *job,
		    struct aggt_err *err)
{
	struct build b = { .topo = plan->topo, .job = job };

	b.method = find_method(&b, err);
	return b.method ? b.method->run(plan, &b, err) : -1;
}
