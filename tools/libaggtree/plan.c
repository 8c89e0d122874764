// SPDX-License-Identifier: GPL-2.0
/* Plans: the job's trees by its method, repaired, measured, as entries. */
#include <stdlib.h>
#include <string.h>

#include "copies.h"
#include "internal.h"

/* When the trees end, one by one and, in the sum, together. */
static int measure_times(struct aggt_plan *plan, const struct aggt_job *job)
{
	struct aggt_metrics *sum = &plan->metrics;
	struct aggt_loads total;
	size_t i;
	int ret = -1;

	if (aggt_loads_init(&total))
		return -1;
	for (i = 0; i < plan->n_trees; i++) {
		struct aggt_metrics *m = &plan->tree_metrics[i];

		if (aggt_measure_time(plan->tree[i], job, NULL, m) ||
		    aggt_loads_tree(&total, plan->tree[i], job))
			goto out;
		if (m->fan_in > sum->fan_in)
			sum->fan_in = m->fan_in;
		if (m->latency > sum->latency)
			sum->latency = m->latency;
		if (m->time > sum->time)
			sum->time = m->time;
	}
	aggt_time_together(sum, job, total.most, plan->aggregates);
	ret = 0;
out:
	aggt_loads_free(&total);
	return ret;
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
		sum->leaning += m->leaning;
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

struct aggt_plan *aggt_plan_new(const struct aggt_topo *topo,
				const struct aggt_job *job,
				struct aggt_err *err)
{
	struct aggt_plan *plan = calloc(1, sizeof(*plan));
	size_t n = aggt_job_trees(job);

	if (!plan) {
		aggt_err_nomem(err);
		return NULL;
	}
	plan->topo = topo;
	plan->aggregates = true;
	plan->n_trees = n;
	plan->tree = calloc(n, sizeof(*plan->tree));
	plan->tree_metrics = calloc(n, sizeof(*plan->tree_metrics));
	if (aggt_job_copy(&plan->job, job) || !plan->tree ||
	    !plan->tree_metrics) {
		aggt_err_nomem(err);
		aggt_plan_free(plan);
		return NULL;
	}
	return plan;
}

/* The bound that was asked for; auto's default is never exceeded. */
static int check_depth(const struct aggt_plan *plan, struct aggt_err *err)
{
	const struct aggt_job *job = &plan->job;
	size_t i;

	for (i = 0; i < plan->n_trees && job->max_depth; i++) {
		if (plan->tree_metrics[i].depth <= job->max_depth)
			continue;
		aggt_err_set(err, "method %s: the tree of %s is %u hops deep, allowed are %u",
			     job->method,
			     aggt_label(plan->topo,
					plan->tree[i]->receiver).text,
			     plan->tree_metrics[i].depth, job->max_depth);
		return -1;
	}
	return 0;
}

/*
 * The job of one tree: a stripe has a part of each flow. Return: 0, or -1
 * without memory; @part is to be freed.
 */
static int tree_job(const struct aggt_plan *plan, struct aggt_job *job,
		    double **part)
{
	size_t i;

	*job = plan->job;
	*part = NULL;
	if (!aggt_job_striped(job))
		return 0;
	*part = malloc(job->n_senders * sizeof(**part));
	if (!*part)
		return -1;
	for (i = 0; i < job->n_senders; i++)
		(*part)[i] = (job->sizes ? job->sizes[i] : 1) /
			     (double)plan->n_trees;
	job->sizes = *part;
	return 0;
}

static int measure(struct aggt_plan *plan)
{
	struct aggt_job job;
	double *part;
	int ret = -1;

	if (!tree_job(plan, &job, &part) &&
	    (!part || !aggt_stripes_measure(plan)))
		ret = measure_all(plan, &job) || measure_times(plan, &job) ?
		      -1 : 0;
	free(part);
	return ret;
}

int aggt_plan_complete(struct aggt_plan *plan, struct aggt_err *err)
{
	size_t i;

	for (i = 0; i < plan->n_trees; i++) {
		if (aggt_tree_repair(plan->tree[i], err) ||
		    aggt_copies_refuse(plan->tree[i], &plan->job, err))
			return -1;
		if (plan->topo->agents &&
		    aggt_tree_lean(plan->tree[i], &plan->job)) {
			aggt_err_nomem(err);
			return -1;
		}
	}
	if (measure(plan) || aggt_plan_derive(plan)) {
		aggt_err_nomem(err);
		return -1;
	}
	return aggt_plan_check_links(plan, err);
}

/* In a graph links may be missing; repairs detect the others. */
static int check_paths(const struct aggt_topo *topo, const struct aggt_job *job,
		       struct aggt_err *err)
{
	size_t i, k;

	for (k = 0; !aggt_topo_digits(topo) && k < job->n_receivers; k++) {
		for (i = 0; i < job->n_senders; i++) {
			if (aggt_topo_distance(topo, job->senders[i],
					       job->receivers[k]) != AGGT_NONE)
				continue;
			aggt_err_set(err, "sender %s: failures cut it off from receiver %s",
				     aggt_label(topo, job->senders[i]).text,
				     aggt_label(topo, job->receivers[k]).text);
			return -1;
		}
	}
	return 0;
}

struct aggt_plan *aggt_plan_build(const struct aggt_topo *topo,
				  const struct aggt_job *job,
				  struct aggt_err *err)
{
	struct aggt_plan *plan;

	if (aggt_job_check(topo, job, err) || check_paths(topo, job, err))
		return NULL;
	plan = aggt_plan_new(topo, job, err);
	if (!plan)
		return NULL;
	if (!aggt_method_run(plan, &plan->job, err) &&
	    !aggt_plan_complete(plan, err) && !check_depth(plan, err))
		return plan;
	aggt_plan_free(plan);
	return NULL;
}

void aggt_plan_free(struct aggt_plan *plan)
{
	size_t i;

	if (!plan)
		return;
	for (i = 0; plan->tree && i < plan->n_trees; i++)
		aggt_tree_free(plan->tree[i]);
	aggt_job_free(&plan->job);
	free(plan->tree);
	free(plan->tree_metrics);
	free(plan->entry);
	free(plan->sw_entry);
	free(plan->children);
	free(plan);
}

const struct aggt_job *aggt_plan_job(const struct aggt_plan *plan)
{
	return &plan->job;
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

struct aggt_flow *aggt_plan_flows(const struct aggt_plan *plan, size_t i)
{
	struct aggt_flow *flow = NULL;
	struct aggt_job job;
	double *part;

	if (!tree_job(plan, &job, &part))
		flow = aggt_flows(plan->tree[i], &job);
	free(part);
	return flow;
}

double aggt_plan_predicted(const struct aggt_plan *plan)
{
	return plan->predicted;
}

const char *aggt_plan_skipped(const struct aggt_plan *plan)
{
	static const char *const names[] = {
		[AGGT_NO_STEINER] = "steiner",
		[AGGT_NO_EXACT] = "exact",
		[AGGT_NO_STEINER | AGGT_NO_EXACT] = "exact, steiner",
	};

	return names[plan->skipped];
}
