// SPDX-License-Identifier: GPL-2.0
/* Plans: checks the job, runs the method, adds up what the trees cost. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

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

/* The bound that was asked for; auto's default is never exceeded. */
static int check_depth(const struct aggt_plan *plan, const struct aggt_job *job,
		       struct aggt_err *err)
{
	size_t i;

	for (i = 0; i < plan->n_trees && job->max_depth; i++) {
		if (plan->tree_metrics[i].depth <= job->max_depth)
			continue;
		aggt_err_set(err, "method %s: the tree of v%u is %u hops deep, allowed are %u",
			     job->method, job->receivers[i],
			     plan->tree_metrics[i].depth, job->max_depth);
		return -1;
	}
	return 0;
}

struct aggt_plan *aggt_plan_build(const struct aggt_topo *topo,
				  const struct aggt_job *job,
				  struct aggt_err *err)
{
	struct aggt_plan *plan;
	int ret;

	if (check_job(topo, job, err))
		return NULL;
	plan = plan_new(topo, job->n_receivers);
	if (!plan) {
		aggt_err_nomem(err);
		return NULL;
	}
	ret = aggt_method_run(plan, job, err);
	if (!ret && (measure_all(plan, job) || aggt_plan_derive(plan))) {
		aggt_err_nomem(err);
		ret = -1;
	}
	if (!ret)
		ret = check_depth(plan, job, err);
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
