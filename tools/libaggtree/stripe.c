// SPDX-License-Identifier: GPL-2.0
/*
 * Stripes: several trees to one receiver that carry an equal part of every flow
 * each, by different links.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cut.h"
#include "internal.h"

#define METHOD "stripes"

/* What follows the name of the method; NULL: it is another one. */
static const char *method_arg(const struct aggt_job *job)
{
	const char *arg = job->method + strlen(METHOD);

	if (strncmp(job->method, METHOD, strlen(METHOD)) ||
	    (*arg && *arg != ':'))
		return NULL;
	return *arg ? arg + 1 : arg;
}

bool aggt_job_striped(const struct aggt_job *job)
{
	return method_arg(job);
}

uint32_t aggt_job_trees(const struct aggt_job *job)
{
	const char *arg = method_arg(job);
	unsigned long n;
	char *end;

	if (!arg)
		return job->n_receivers;
	n = strtoul(arg, &end, 10);
	return isdigit((unsigned char)*arg) && !*end && n <= AGGT_STRIPES ? n :
									    0;
}

int aggt_stripes_check(const struct aggt_topo *topo, const struct aggt_job *job,
		       struct aggt_err *err)
{
	uint32_t n = aggt_job_trees(job);

	if (!aggt_job_striped(job))
		return 0;
	if (!n)
		aggt_err_set(err, "method %.64s: expected stripes:N with N from 1 to %u",
			     job->method, AGGT_STRIPES);
	else if (job->n_receivers > 1)
		aggt_err_set(err, "method %s: all trees lead to one receiver, %zu are given",
			     job->method, job->n_receivers);
	else if (topo->agents)
		aggt_err_set(err, "method %s: a server of %s has one link, which each tree would use",
			     job->method, topo->name);
	else if (!topo->graph && n > topo->dims)
		aggt_err_set(err, "method %s: the servers of %s have %u links: there are at most as many trees without a common link",
			     job->method, topo->name, topo->dims);
	else
		return 0;
	return -1;
}

/* Digit @dim of a server, counted from the receiver's. */
static unsigned int digit(const struct aggt_tree *tree, aggt_node v,
			  unsigned int dim)
{
	const struct aggt_topo *topo = tree->topo;
	unsigned int radix = topo->radix[dim];

	return (aggt_topo_digit(topo, v, dim) + radix -
		aggt_topo_digit(topo, tree->receiver, dim)) % radix;
}

/* The server with 1 less in digit @dim, which comes before 0 at the radix. */
static aggt_node one_less(const struct aggt_tree *tree, aggt_node v,
			  unsigned int dim)
{
	unsigned int radix = tree->topo->radix[dim];
	unsigned int place = aggt_topo_digit(tree->topo, v, dim);

	return aggt_topo_with_digit(tree->topo, v, dim,
				    (place + radix - 1) % radix);
}

/*
 * The parent of @v in tree @number: 1 less in the first digit below @number, in
 * turn, that is not 0; but digit @number itself has precedence if it is 0. So
 * no two trees have @v decrease the same digit, and a server is the parent, by
 * a level, of one other only.
 */
static aggt_node stripe_parent(const struct aggt_tree *tree, aggt_node v,
			       uint32_t number)
{
	unsigned int dims = tree->topo->dims, i, dim;

	if (!digit(tree, v, number))
		return one_less(tree, v, number);
	for (i = 1; i < dims; i++) {
		dim = (number + dims - i) % dims;
		if (digit(tree, v, dim))
			return one_less(tree, v, dim);
	}
	return one_less(tree, v, number);
}

int aggt_build_stripe(struct aggt_tree *tree, uint32_t number)
{
	aggt_node up;
	uint32_t v, i;

	for (v = 1; v < tree->n; v++) {
		up = stripe_parent(tree, aggt_decode(tree->topo, tree->code[v]),
				   number);
		i = aggt_tree_add(tree, aggt_encode(tree->topo, up));
		if (i == AGGT_NONE)
			return -1;
		tree->parent[v] = i;
	}
	return 0;
}

/* Links of a server that work; each has a switch of its own. */
static uint32_t working_links(const struct aggt_topo *topo, aggt_node server)
{
	unsigned int dim;
	uint32_t n = 0;

	for (dim = 0; dim < topo->dims; dim++)
		n += aggt_topo_link_ok(topo, server, dim);
	return n;
}

static double bound_of_digits(const struct aggt_plan *plan)
{
	const struct aggt_job *job = &plan->job;
	uint32_t links, least = working_links(plan->topo, job->receivers[0]);
	size_t i;

	for (i = 0; i < job->n_senders; i++) {
		links = working_links(plan->topo, job->senders[i]);
		if (links < least)
			least = links;
	}
	return least;
}

/* Rates of the description are in bit/s, those of the bound in the job's. */
static int bound_of_graph(const struct aggt_plan *plan, double *bound)
{
	const struct aggt_job *job = &plan->job;
	uint64_t unit = aggt_cut_unit(plan->topo, job), least;
	struct aggt_cut cut;

	if (aggt_cut_init(&cut, plan->topo))
		return -1;
	aggt_cut_rates(&cut, unit);
	least = aggt_cut_least(&cut, job, UINT64_MAX);
	*bound = (double)least / (double)unit;
	aggt_cut_free(&cut);
	return 0;
}

/* All trees with flows of 1 that do not grow where they merge. */
static int load_all(const struct aggt_plan *plan, struct aggt_loads *loads)
{
	struct aggt_job job = plan->job;
	size_t i;

	job.sizes = NULL;
	job.tasks = NULL;
	job.delta = 0;
	for (i = 0; i < plan->n_trees; i++)
		if (aggt_loads_tree(loads, plan->tree[i], &job))
			return -1;
	return 0;
}

int aggt_stripes_measure(struct aggt_plan *plan)
{
	struct aggt_stripes *stripes = &plan->stripes;
	struct aggt_loads loads;
	uint32_t i;
	int ret = -1;

	if (aggt_loads_init(&loads))
		return -1;
	memset(stripes, 0, sizeof(*stripes));
	stripes->n = plan->n_trees;
	stripes->share = 1;
	if (load_all(plan, &loads))
		goto out;
	for (i = 0; i < 2 * loads.link.n; i++)
		if (loads.load[i].traffic > stripes->stress)
			stripes->stress = loads.load[i].traffic + 0.5;
	if (!plan->topo->graph)
		stripes->bound = bound_of_digits(plan);
	else if (bound_of_graph(plan, &stripes->bound))
		goto out;
	/* A receiver that is the only sender has no flow to wait for. */
	if (stripes->stress)
		stripes->share = stripes->n /
				 (loads.most.time * stripes->bound);
	ret = 0;
out:
	aggt_loads_free(&loads);
	return ret;
}

const struct aggt_stripes *aggt_plan_stripes(const struct aggt_plan *plan)
{
	return plan->stripes.n ? &plan->stripes : NULL;
}
