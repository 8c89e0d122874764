// SPDX-License-Identifier: GPL-2.0
/*
 * What a tree costs: flows merged from the leaves down at the aggregation
 * ratio delta, links and servers in use.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* What is kept about a server in struct aggt_usage. */
#define IS_AGGREGATING	0x1
#define IS_ADDED	0x2

/* Tag of a server's link where points are switches. */
#define ACCESS	61

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

static int use_link(struct aggt_usage *usage, uint64_t link)
{
	uint32_t *slot = aggt_map_slot(&usage->links, link);

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

static int use_hop(struct aggt_usage *usage, const struct aggt_topo *topo,
		   aggt_code code, aggt_code up)
{
	uint32_t i, n = aggt_hop_links(topo, code, up);

	for (i = 0; i < n; i++)
		if (use_link(usage, topo->ops->hop_link(topo, code, up, i,
							    NULL)))
			return -1;
	return 0;
}

/* The links of a vertex's servers whose flows leave them. */
static int use_access(struct aggt_usage *usage, const struct aggt_tree *tree,
		      const struct aggt_job *job, uint32_t v)
{
	uint32_t s;

	if (!tree->topo->agents)
		return 0;
	if (!v && use_link(usage, aggt_tag(tree->receiver, ACCESS)))
		return -1;
	for (s = tree->sender[v]; s != AGGT_NONE; s = tree->more[s])
		if (use_link(usage, aggt_tag(job->senders[s], ACCESS)))
			return -1;
	return 0;
}

static int use_vertex(struct aggt_usage *usage, const struct aggt_tree *tree,
		      const struct aggt_job *job, uint32_t v,
		      const struct flow *flow)
{
	uint32_t what = 0;

	if (use_access(usage, tree, job, v))
		return -1;
	if (!v)
		return 0;
	if (flow->inputs > 1 && tree->aggregates)
		what |= IS_AGGREGATING;
	if (tree->sender[v] == AGGT_NONE)
		what |= IS_ADDED;
	return use_hop(usage, tree->topo, tree->code[v],
		       tree->code[tree->parent[v]]) ||
	       use_server(usage, tree->code[v], what);
}

/* Behind an agent the receiver's own flow does not leave it. */
static bool stays(const struct aggt_tree *tree, const struct aggt_job *job,
		  uint32_t s)
{
	return tree->topo->agents && job->senders[s] == tree->receiver;
}

/* Merge all flows; vertices are ordered parents first. */
static struct flow *merge(const struct aggt_tree *tree,
			  const struct aggt_job *job)
{
	double delta = tree->aggregates ? job->delta : 1;
	struct flow *flow = calloc(tree->n, sizeof(*flow));
	uint32_t v, s;

	if (!flow)
		return NULL;
	for (v = tree->n; v--; ) {
		for (s = tree->sender[v]; s != AGGT_NONE; s = tree->more[s])
			if (!stays(tree, job, s))
				flow_add(&flow[v], aggt_job_size(job, s, delta));
		if (v)
			flow_add(&flow[tree->parent[v]],
				 flow_out(&flow[v], delta));
	}
	return flow;
}

/* Each task's flow on its own, to the receiver and, with agents, from them. */
static double unicast_cost(const struct aggt_tree *tree,
			   const struct aggt_job *job)
{
	const struct aggt_topo *topo = tree->topo;
	unsigned int links;
	double cost = 0;
	uint32_t v, s;

	for (v = 0; v < tree->n; v++) {
		links = aggt_path_links(topo, tree->code[v], tree->code[0]);
		if (topo->agents)
			links += 2;
		for (s = tree->sender[v]; s != AGGT_NONE; s = tree->more[s])
			if (!stays(tree, job, s))
				cost += links * aggt_job_size(job, s, 1);
	}
	return cost;
}

/* Traffic between servers and their agents: up, and down to the receiver. */
static double access_cost(const struct aggt_tree *tree,
			  const struct aggt_job *job, const struct flow *flow)
{
	double delta = tree->aggregates ? job->delta : 1;
	double cost = flow_out(&flow[0], delta);
	uint32_t v, s;

	for (v = 0; v < tree->n; v++)
		for (s = tree->sender[v]; s != AGGT_NONE; s = tree->more[s])
			if (!stays(tree, job, s))
				cost += aggt_job_size(job, s, delta);
	return cost;
}

/*
 * Traffic between aggregating agents and the servers that they use: inputs go
 * to the server, the result returns. A sender keeps its own input; the receiver
 * takes all and returns nothing.
 */
static double leaning_cost(const struct aggt_tree *tree,
			   const struct aggt_job *job, const struct flow *flow)
{
	double cost = 0;
	uint32_t v, s;

	for (v = 0; v < tree->n && tree->aggregates; v++) {
		double merged = flow_out(&flow[v], job->delta);

		if (flow[v].inputs < 2)
			continue;
		cost += flow[v].sum + (v ? merged : -merged);
		for (s = tree->sender[v]; s != AGGT_NONE; s = tree->more[s])
			if (v && job->senders[s] == aggt_tree_leans(tree, v))
				cost -= 2 * aggt_job_size(job, s, job->delta);
	}
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

static int measure_use(const struct aggt_tree *tree,
		       const struct aggt_job *job, const struct flow *flow,
		       struct aggt_usage *total, struct aggt_metrics *m)
{
	struct aggt_usage own;
	uint32_t v;
	int ret = -1;

	if (aggt_usage_init(&own))
		return -1;
	for (v = 0; v < tree->n; v++)
		if (use_vertex(&own, tree, job, v, &flow[v]) ||
		    (total && use_vertex(total, tree, job, v, &flow[v])))
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
		m->cost += aggt_hop_links(tree->topo, tree->code[v],
					  tree->code[tree->parent[v]]) *
			   flow_out(&flow[v], delta);
	if (tree->topo->agents) {
		m->cost += access_cost(tree, job, flow);
		m->leaning = leaning_cost(tree, job, flow);
	}
	m->existing = unicast_cost(tree, job);
	m->saving = m->existing > 0 ? 1 - m->cost / m->existing : 0;
	ret = tree_depth(tree, &m->depth);
	if (!ret)
		ret = measure_use(tree, job, flow, usage, m);
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

struct aggt_flow *aggt_flows(const struct aggt_tree *tree,
			     const struct aggt_job *job)
{
	double delta = tree->aggregates ? job->delta : 1;
	struct aggt_flow *flows = malloc(tree->n * sizeof(*flows));
	struct flow *flow = merge(tree, job);
	uint32_t v;

	for (v = 0; flow && flows && v < tree->n; v++)
		flows[v] = (struct aggt_flow){ flow[v].sum,
					       flow_out(&flow[v], delta),
					       flow[v].inputs };
	if (!flow) {
		free(flows);
		flows = NULL;
	}
	free(flow);
	return flows;
}
