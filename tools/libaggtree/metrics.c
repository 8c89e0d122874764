// SPDX-License-Identifier: GPL-2.0
/*
 * What a tree costs: flows merged from the leaves down at the aggregation
 * ratio delta, links and servers in use.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* A hop crosses two links: server to switch, switch to server. */
#define HOP_LINKS 2

/* What is kept about a server in struct aggt_usage. */
#define IS_AGGREGATING	0x1
#define IS_ADDED	0x2

struct flow {
	double sum;
	double max;
	uint32_t inputs;
};

static void flow_add(struct flow *flow, double size)
{
	flow->sum += size;
	if (size > flow->max)
		flow->max = size;
	flow->inputs++;
}

static double flow_out(const struct flow *flow, double delta)
{
	return flow->max + delta * (flow->sum - flow->max);
}

int aggt_usage_init(struct aggt_usage *usage)
{
	memset(usage, 0, sizeof(*usage));
	if (aggt_map_init(&usage->links, 0))
		return -1;
	if (aggt_map_init(&usage->servers, 0)) {
		aggt_map_free(&usage->links);
		return -1;
	}
	return 0;
}

void aggt_usage_free(struct aggt_usage *usage)
{
	aggt_map_free(&usage->links);
	aggt_map_free(&usage->servers);
}

/* A server has one link a dimension, so (label, dimension) names the link. */
static int use_link(struct aggt_usage *usage, aggt_code code, unsigned int dim)
{
	uint32_t *slot = aggt_map_slot(&usage->links, aggt_tag(code, dim));

	if (!slot)
		return -1;
	*slot = 0;
	return 0;
}

static int use_server(struct aggt_usage *usage, aggt_code code,
		      uint32_t what)
{
	uint32_t *slot = aggt_map_slot(&usage->servers, code);

	if (!slot)
		return -1;
	if (*slot == AGGT_NONE)
		*slot = 0;
	usage->aggregating += what & ~*slot & IS_AGGREGATING ? 1 : 0;
	usage->added += what & ~*slot & IS_ADDED ? 1 : 0;
	*slot |= what;
	return 0;
}

static unsigned int hop_dim(const struct aggt_topo *topo, aggt_code diff)
{
	unsigned int d = 0;

	while (!(diff & topo->mask[d]))
		d++;
	return d;
}

static int use_vertex(struct aggt_usage *usage, const struct aggt_tree *tree,
		      uint32_t v, const struct flow *flow)
{
	aggt_code code = tree->code[v], up = tree->code[tree->parent[v]];
	unsigned int dim = hop_dim(tree->topo, code ^ up);
	uint32_t what = 0;

	if (flow->inputs > 1 && tree->aggregates)
		what |= IS_AGGREGATING;
	if (tree->sender[v] == AGGT_NONE)
		what |= IS_ADDED;
	return use_link(usage, code, dim) || use_link(usage, up, dim) ||
	       use_server(usage, code, what);
}

/* Merge all flows; vertices are ordered parents first. */
static struct flow *merge(const struct aggt_tree *tree,
			  const struct aggt_job *job)
{
	double delta = tree->aggregates ? job->delta : 1;
	struct flow *flow = calloc(tree->n, sizeof(*flow));
	uint32_t v;

	if (!flow)
		return NULL;
	for (v = tree->n; v--; ) {
		if (tree->sender[v] != AGGT_NONE)
			flow_add(&flow[v], aggt_job_size(job, tree->sender[v],
							 delta));
		if (v)
			flow_add(&flow[tree->parent[v]],
				 flow_out(&flow[v], delta));
	}
	return flow;
}

static double unicast_cost(const struct aggt_tree *tree,
			   const struct aggt_job *job)
{
	double cost = 0;
	uint32_t v;

	for (v = 1; v < tree->n; v++)
		if (tree->sender[v] != AGGT_NONE)
			cost += HOP_LINKS * aggt_job_size(job, tree->sender[v],
							  1) *
				aggt_weight(tree->topo,
					    tree->code[v] ^ tree->code[0]);
	return cost;
}

static int tree_depth(const struct aggt_tree *tree, uint32_t *most)
{
	uint32_t *depth = malloc(tree->n * sizeof(*depth));
	uint32_t v;

	if (!depth)
		return -1;
	depth[0] = 0;
	*most = 0;
	for (v = 1; v < tree->n; v++) {
		depth[v] = depth[tree->parent[v]] + 1;
		if (depth[v] > *most)
			*most = depth[v];
	}
	free(depth);
	return 0;
}

static int measure_use(const struct aggt_tree *tree, const struct flow *flow,
		       struct aggt_usage *total, struct aggt_metrics *m)
{
	struct aggt_usage own;
	uint32_t v;
	int ret = -1;

	if (aggt_usage_init(&own))
		return -1;
	for (v = 1; v < tree->n; v++)
		if (use_vertex(&own, tree, v, &flow[v]) ||
		    (total && use_vertex(total, tree, v, &flow[v])))
			goto out;
	m->links = own.links.n;
	m->aggregating = own.aggregating;
	m->added = own.added;
	ret = 0;
out:
	aggt_usage_free(&own);
	return ret;
}

int aggt_measure(const struct aggt_tree *tree, const struct aggt_job *job,
		 struct aggt_usage *usage, struct aggt_metrics *m)
{
	double delta = tree->aggregates ? job->delta : 1;
	struct flow *flow = merge(tree, job);
	uint32_t v;
	int ret;

	if (!flow)
		return -1;
	memset(m, 0, sizeof(*m));
	for (v = 1; v < tree->n; v++)
		m->cost += HOP_LINKS * flow_out(&flow[v], delta);
	m->existing = unicast_cost(tree, job);
	m->saving = m->existing > 0 ? 1 - m->cost / m->existing : 0;
	ret = tree_depth(tree, &m->depth);
	if (!ret)
		ret = measure_use(tree, flow, usage, m);
	free(flow);
	return ret;
}

int aggt_root_flow(const struct aggt_tree *tree, const struct aggt_job *job,
		   double *size)
{
	struct flow *flow = merge(tree, job);

	if (!flow)
		return -1;
	*size = flow_out(&flow[0], job->delta);
	free(flow);
	return 0;
}
