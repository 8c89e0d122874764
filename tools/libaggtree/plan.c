// SPDX-License-Identifier: GPL-2.0
/* Plans: checks the job, runs the method for each receiver, adds up costs. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static const char *const methods[] = {
	"existing", "unicast", "unicast:random", "unicast:rotate", "rs:", "ars",
	"irs", "srs", "srs:safe", NULL
};

const char *const *aggt_methods(void)
{
	return methods;
}

/**
 * struct build - a job on its way through a method
 * @topo: the topology
 * @job: what is asked for
 * @arg: what follows the colon in the method's name
 * @symbol: of rs
 * @rng: seeded
 */
struct build {
	const struct aggt_topo *topo;
	const struct aggt_job *job;
	const char *arg;
	unsigned int symbol[AGGT_MAX_DIMS];
	struct aggt_rng rng;
};

static int tree_existing(struct build *b, struct aggt_tree *tree)
{
	tree->aggregates = false;
	return aggt_build_unicast(tree, "", &b->rng);
}

static int tree_unicast(struct build *b, struct aggt_tree *tree)
{
	return aggt_build_unicast(tree, b->arg, &b->rng);
}

static int tree_rs(struct build *b, struct aggt_tree *tree)
{
	return aggt_build_rs(tree, b->symbol);
}

static int tree_ars(struct build *b, struct aggt_tree *tree)
{
	(void)b;
	return aggt_build_ars(tree);
}

static int tree_irs(struct build *b, struct aggt_tree *tree)
{
	(void)b;
	return aggt_build_irs(tree);
}

static int check_none(struct build *b, struct aggt_err *err)
{
	if (!*b->arg)
		return 0;
	aggt_err_set(err, "method %s: takes nothing after the colon",
		     b->job->method);
	return -1;
}

static int check_unicast(struct build *b, struct aggt_err *err)
{
	if (!*b->arg || !strcmp(b->arg, "random") || !strcmp(b->arg, "rotate"))
		return 0;
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

/* Symbols are single digits, or numbers separated by commas. */
static int check_rs(struct build *b, struct aggt_err *err)
{
	bool commas = strchr(b->arg, ',');
	const char *at = b->arg;
	unsigned int n = 0, seen = 0;

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
	aggt_err_set(err, "method %s: expected every dimension of 0..%u once",
		     b->job->method, b->topo->dims - 1);
	return -1;
}

static const struct method {
	const char *name;
	int (*check)(struct build *b, struct aggt_err *err);
	int (*tree)(struct build *b, struct aggt_tree *tree);
} table[] = {
	{ "existing", check_none, tree_existing },
	{ "unicast", check_unicast, tree_unicast },
	{ "rs", check_rs, tree_rs },
	{ "ars", check_none, tree_ars },
	{ "irs", check_none, tree_irs },
	{ "srs", check_srs, NULL },
};

static const struct method *find_method(struct build *b, struct aggt_err *err)
{
	const char *name = b->job->method;
	size_t i, len = strcspn(name, ":");

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		if (strlen(table[i].name) != len ||
		    strncmp(table[i].name, name, len))
			continue;
		b->arg = name[len] ? name + len + 1 : name + len;
		return table[i].check(b, err) ? NULL : &table[i];
	}
	aggt_err_set(err, "method %s: unknown", name);
	return NULL;
}

static int check_servers(const struct aggt_topo *topo, const char *what,
			 const aggt_node *node, size_t n, struct aggt_err *err)
{
	struct aggt_map seen;
	int ret = -1;
	size_t i;

	if (!n) {
		aggt_err_set(err, "%ss: none given", what);
		return -1;
	}
	if (aggt_map_init(&seen, n)) {
		aggt_err_nomem(err);
		return -1;
	}
	for (i = 0; i < n; i++) {
		uint32_t *slot = aggt_map_slot(&seen, node[i]);

		if (node[i] >= topo->servers) {
			aggt_err_set(err, "%s v%u: %s has v0..v%u", what,
				     node[i], topo->name, topo->servers - 1);
			goto out;
		}
		if (*slot != AGGT_NONE) {
			aggt_err_set(err, "%s v%u: named twice", what, node[i]);
			goto out;
		}
		*slot = i;
	}
	ret = 0;
out:
	aggt_map_free(&seen);
	return ret;
}

static int check_job(const struct aggt_topo *topo, const struct aggt_job *job,
		     struct aggt_err *err)
{
	size_t i;

	if (!(job->delta >= 0 && job->delta <= 1)) {
		aggt_err_set(err, "delta %g: must be within 0 and 1",
			     job->delta);
		return -1;
	}
	for (i = 0; job->sizes && i < job->n_senders; i++) {
		if (job->sizes[i] >= 0 && job->sizes[i] < 1e300)
			continue;
		aggt_err_set(err, "size of sender v%u: %g is not a size",
			     job->senders[i], job->sizes[i]);
		return -1;
	}
	if (check_servers(topo, "sender", job->senders, job->n_senders, err) ||
	    check_servers(topo, "receiver", job->receivers, job->n_receivers,
			  err))
		return -1;
	return 0;
}

static int build_each(struct aggt_plan *plan, struct build *b,
		      const struct method *method, struct aggt_err *err)
{
	size_t i;

	for (i = 0; i < plan->n_trees; i++) {
		struct aggt_tree *tree = aggt_tree_new(b->topo, b->job,
						       b->job->receivers[i]);

		plan->tree[i] = tree;
		if (!tree || method->tree(b, tree) || aggt_tree_finish(tree)) {
			aggt_err_nomem(err);
			return -1;
		}
		plan->aggregates = tree->aggregates;
	}
	return 0;
}

static int measure_all(struct aggt_plan *plan, const struct aggt_job *job)
{
	struct aggt_metrics *sum = &plan->metrics;
	struct aggt_usage usage;
	size_t i;
	int ret = -1;

	if (aggt_usage_init(&usage))
		return -1;
	for (i = 0; i < plan->n_trees; i++) {
		struct aggt_metrics *m = &plan->tree_metrics[i];

		if (aggt_measure(plan->tree[i], job, &usage, m))
			goto out;
		sum->cost += m->cost;
		sum->existing += m->existing;
		if (m->depth > sum->depth)
			sum->depth = m->depth;
	}
	sum->saving = sum->existing > 0 ? 1 - sum->cost / sum->existing : 0;
	sum->links = usage.links.n;
	sum->aggregating = usage.aggregating;
	sum->added = usage.added;
	ret = 0;
out:
	aggt_usage_free(&usage);
	return ret;
}

static struct aggt_plan *plan_new(const struct aggt_topo *topo, size_t n)
{
	struct aggt_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return NULL;
	plan->topo = topo;
	plan->aggregates = true;
	plan->n_trees = n;
	plan->tree = calloc(n, sizeof(*plan->tree));
	plan->tree_metrics = calloc(n, sizeof(*plan->tree_metrics));
	if (!plan->tree || !plan->tree_metrics) {
		aggt_plan_free(plan);
		return NULL;
	}
	return plan;
}

struct aggt_plan *aggt_plan_build(const struct aggt_topo *topo,
				  const struct aggt_job *job,
				  struct aggt_err *err)
{
	struct build b = { .topo = topo, .job = job };
	const struct method *method;
	struct aggt_plan *plan;
	int ret;

	method = find_method(&b, err);
	if (!method || check_job(topo, job, err))
		return NULL;
	plan = plan_new(topo, job->n_receivers);
	if (!plan) {
		aggt_err_nomem(err);
		return NULL;
	}
	aggt_rng_seed(&b.rng, job->seed);
	if (method->tree)
		ret = build_each(plan, &b, method, err);
	else
		ret = aggt_build_srs(plan, job, *b.arg, err);
	if (!ret && (measure_all(plan, job) || aggt_plan_derive(plan))) {
		aggt_err_nomem(err);
		ret = -1;
	}
	if (ret) {
		aggt_plan_free(plan);
		return NULL;
	}
	return plan;
}

void aggt_plan_free(struct aggt_plan *plan)
{
	size_t i;

	if (!plan)
		return;
	for (i = 0; plan->tree && i < plan->n_trees; i++)
		aggt_tree_free(plan->tree[i]);
	free(plan->tree);
	free(plan->tree_metrics);
	free(plan->entry);
	free(plan->sw_entry);
	free(plan->children);
	free(plan);
}

bool aggt_plan_aggregates(const struct aggt_plan *plan)
{
	return plan->aggregates;
}

size_t aggt_plan_trees(const struct aggt_plan *plan)
{
	return plan->n_trees;
}

const struct aggt_tree *aggt_plan_tree(const struct aggt_plan *plan, size_t i)
{
	return plan->tree[i];
}

const struct aggt_metrics *aggt_plan_tree_metrics(const struct aggt_plan *plan,
						  size_t i)
{
	return &plan->tree_metrics[i];
}

const struct aggt_metrics *aggt_plan_metrics(const struct aggt_plan *plan)
{
	return &plan->metrics;
}

double aggt_plan_predicted(const struct aggt_plan *plan)
{
	return plan->predicted;
}
