/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Verifier of plans, independent of the builders: it checks the structure of
 * trees, and costs with a simulator of servers and switches that follow the
 * entries. Points are servers or, with agents, switches with their servers. Of
 * a graph without digits it uses only which nodes are neighbours, and the
 * number of switches between two of them.
 */
#ifndef TREE_VERIFY_H
#define TREE_VERIFY_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/libaggtree/aggtree.h"

static char verify_text[256];

#define FAULT(...) \
	(snprintf(verify_text, sizeof(verify_text), __VA_ARGS__), verify_text)

/* Count the dimensions in which two labels differ; @dim: the last one. */
static inline unsigned int verify_differ(const struct aggt_topo *t,
					 uint32_t a, uint32_t b,
					 unsigned int *dim)
{
	unsigned int d, n = 0;

	for (d = 0; d < aggt_topo_dims(t); d++) {
		unsigned int radix = aggt_topo_radix(t, d);

		if (a % radix != b % radix) {
			n++;
			*dim = d;
		}
		a /= radix;
		b /= radix;
	}
	return n;
}

static inline uint32_t verify_per_point(const struct aggt_topo *t)
{
	return aggt_topo_agents(t) ?
	       aggt_topo_servers(t) / aggt_topo_switches(t) : 1;
}

/* Links of a hop in a graph: one more than the switches on it. */
static inline unsigned int verify_crossed(const struct aggt_topo *t, uint32_t a,
					  uint32_t b)
{
	unsigned int i = 0;

	while (aggt_topo_hop_switch(t, a, b, i) != AGGT_NONE)
		i++;
	return i + 1;
}

/* Links of a hop between two points, 0 if they are not neighbours. */
static inline unsigned int verify_links(const struct aggt_topo *t, uint32_t a,
					uint32_t b)
{
	aggt_node *list;
	unsigned int dim;
	size_t i, n;

	if (aggt_topo_digits(t))
		return verify_differ(t, a, b, &dim) != 1 ? 0 :
		       aggt_topo_agents(t) ? 1 : 2;
	list = aggt_topo_neighbours(t, a, &n);
	for (i = 0; i < n && list[i] != b; i++)
		;
	free(list);
	return i < n ? verify_crossed(t, a, b) : 0;
}

/*
 * Length of a shortest path in a graph, by Dijkstra: the nearest server settles
 * next and passes its distance to its neighbours.
 */
static inline double verify_shortest(const struct aggt_topo *t, uint32_t from,
				     uint32_t to)
{
	uint32_t v, n = aggt_topo_servers(t), at;
	double *far = malloc(n * sizeof(*far));
	char *settled = calloc(n, 1);
	double result;

	for (v = 0; v < n; v++)
		far[v] = v == from ? 0 : INFINITY;
	for (at = from; at != AGGT_NONE && at != to; ) {
		size_t i, degree;
		aggt_node *list = aggt_topo_neighbours(t, at, &degree);

		settled[at] = 1;
		for (i = 0; i < degree; i++)
			far[list[i]] = fmin(far[list[i]], far[at] +
					    verify_crossed(t, at, list[i]));
		free(list);
		for (at = AGGT_NONE, v = 0; v < n; v++)
			if (!settled[v] && far[v] < INFINITY &&
			    (at == AGGT_NONE || far[v] < far[at]))
				at = v;
	}
	result = far[to];
	free(far);
	free(settled);
	return result;
}

static inline long verify_sender(const struct aggt_topo *t,
				 const struct aggt_job *job, uint32_t point)
{
	size_t i;

	for (i = 0; i < job->n_senders; i++)
		if (job->senders[i] / verify_per_point(t) == point)
			return i;
	return -1;
}

/* Count the links on the tree from the point of one server to another's. */
static inline long verify_tree_links(const struct aggt_topo *t,
				     const struct aggt_tree *tree,
				     aggt_node from, aggt_node to)
{
	uint32_t at = aggt_tree_find(tree, from), up;
	uint32_t end = aggt_tree_find(tree, to);
	long links = 0;

	for (; at != end; at = up) {
		up = aggt_tree_parent(tree, at);
		links += verify_links(t, aggt_tree_server(tree, at),
				      aggt_tree_server(tree, up));
	}
	return links;
}

/* Count the hops on the tree between the points of two servers; -1: no path. */
static inline long verify_hops(const struct aggt_tree *tree, aggt_node from,
			       aggt_node to)
{
	uint32_t at = aggt_tree_find(tree, from);
	uint32_t end = aggt_tree_find(tree, to);
	long hops = 0;

	for (; at != end && at != AGGT_NONE; hops++)
		at = aggt_tree_parent(tree, at);
	return at == AGGT_NONE ? -1 : hops;
}

static inline double verify_size(const struct aggt_job *job, size_t i)
{
	double size = job->sizes ? job->sizes[i] : 1;

	return job->tasks ? size + job->delta * size * (job->tasks[i] - 1) :
			    size;
}

/*
 * Each vertex has one parent, edges have one hop, there is no cycle, every
 * sender is in the tree and every vertex is needed.
 */
static inline const char *verify_structure(const struct aggt_topo *t,
					   const struct aggt_job *job,
					   const struct aggt_tree *tree,
					   aggt_node receiver)
{
	size_t i, n = aggt_tree_size(tree), used = 1;
	uint32_t per = verify_per_point(t);
	char *needed = calloc(n, 1);
	const char *why = NULL;

	if (aggt_tree_server(tree, 0) != receiver / per ||
	    aggt_tree_parent(tree, 0) != AGGT_NONE)
		why = FAULT("vertex 0 is not receiver v%u", receiver);
	for (i = 0; i < n && !why; i++) {
		aggt_node v = aggt_tree_server(tree, i);
		bool sends = verify_sender(t, job, v) >= 0;
		size_t up = i, hops = 0;

		if (aggt_tree_find(tree, v * per) != i)
			why = FAULT("v%u is there twice", v);
		if (sends != aggt_tree_sends(tree, i))
			why = FAULT("v%u: sender %d?", v, sends);
		while (!why && sends && up && !needed[up]) {
			size_t next = aggt_tree_parent(tree, up);

			needed[up] = 1;
			used++;
			if (next >= n || hops++ > n)
				why = FAULT("v%u never reaches v%u", v,
					    receiver);
			else if (!verify_links(t, aggt_tree_server(tree, up),
					       aggt_tree_server(tree, next)))
				why = FAULT("v%u -> v%u is no hop",
					    aggt_tree_server(tree, up),
					    aggt_tree_server(tree, next));
			up = next;
		}
	}
	for (i = 0; i < job->n_senders && !why; i++)
		if (aggt_tree_find(tree, job->senders[i]) == AGGT_NONE)
			why = FAULT("v%u is not there", job->senders[i]);
	if (!why && used != n)
		why = FAULT("%zu vertices, %zu needed", n, used);
	free(needed);
	return why;
}

struct sim_node {
	double sum;
	double max;
	uint32_t got;
};

static inline int sim_entry_cmp(const void *key, const void *elem)
{
	const uint32_t *k = key;
	const struct aggt_entry *e = elem;

	if (k[0] != e->server)
		return k[0] < e->server ? -1 : 1;
	return k[1] < e->tree ? -1 : k[1] > e->tree;
}

static inline int sim_switch_cmp(const void *key, const void *elem)
{
	const uint32_t *k = key;
	const struct aggt_switch_entry *e = elem;

	if (k[0] != e->sw)
		return k[0] < e->sw ? -1 : 1;
	if (k[1] != e->tree)
		return k[1] < e->tree ? -1 : 1;
	return k[2] < e->server ? -1 : k[2] > e->server;
}

/* A flow of @size crosses a switch from @from to @to: two links. */
static inline bool sim_cross(const struct aggt_topo *t,
			     const struct aggt_switch_entry *sw, size_t n_sw,
			     const struct aggt_entry *e)
{
	uint32_t key[3] = { e->sw, e->tree, e->parent };
	const struct aggt_switch_entry *hit;
	unsigned int dim = 0;

	if (verify_differ(t, e->server, e->parent, &dim) != 1 ||
	    dim != e->level || aggt_topo_switch(t, e->server, dim) != e->sw)
		return false;
	hit = bsearch(key, sw, n_sw, sizeof(*sw), sim_switch_cmp);
	return hit && aggt_topo_switch_server(t, e->sw, hit->port) == e->parent;
}

/* Switches with servers forward a flow along the tree, one link per hop. */
static inline bool sim_pass(const struct aggt_topo *t,
			    const struct aggt_tree *tree,
			    const struct aggt_entry *e)
{
	uint32_t per = verify_per_point(t);

	return e->parent != AGGT_NONE && e->parent == e->parent_end &&
	       e->sw == e->server / per && !e->level &&
	       verify_hops(tree, e->server, e->parent) + 2 == e->links;
}

/* In a graph the ports are those of the hop. */
static inline bool sim_hop(const struct aggt_topo *t,
			   const struct aggt_entry *e)
{
	return verify_links(t, e->server, e->parent) &&
	       e->level < aggt_topo_ports(t, e->server) &&
	       e->parent_level < aggt_topo_ports(t, e->parent) &&
	       e->sw == aggt_topo_hop_switch(t, e->server, e->parent, 0);
}

/* Do the nodes between an end and its parent forward a flow? */
static inline bool sim_forward(const struct aggt_topo *t,
			       const struct aggt_plan *plan, uint32_t k,
			       const struct aggt_entry *e)
{
	size_t n;
	const struct aggt_switch_entry *sw = aggt_plan_switch_entries(plan, &n);

	if (!aggt_topo_digits(t))
		return sim_hop(t, e);
	return aggt_topo_agents(t) ? sim_pass(t, aggt_plan_tree(plan, k), e) :
				     sim_cross(t, sw, n, e);
}

/* Simulate tree @k from its entries alone; adds its traffic to @cost. */
static inline const char *sim_tree(const struct aggt_topo *t,
				   const struct aggt_job *job,
				   const struct aggt_plan *plan, uint32_t k,
				   double *cost)
{
	size_t n, i;
	const struct aggt_entry *e = aggt_plan_entries(plan, &n);
	struct sim_node *node = calloc(n, sizeof(*node));
	const char *why = NULL;
	double crossed = 0;
	bool done = false;

	for (i = 0; i < job->n_senders && !why; i++) {
		double size = verify_size(job, i);
		uint32_t key[2] = { job->senders[i], k };

		for (;;) {
			const struct aggt_entry *at;
			struct sim_node *s;

			at = bsearch(key, e, n, sizeof(*e), sim_entry_cmp);
			if (!at) {
				why = FAULT("v%u lacks an entry of tree %u",
					    key[0], k);
				break;
			}
			s = &node[at - e];
			s->sum += size;
			if (size > s->max)
				s->max = size;
			if (++s->got < at->contributors)
				break;
			if (s->got > at->contributors) {
				why = FAULT("v%u: flow %u of %u", key[0],
					    s->got, at->contributors);
				break;
			}
			if (at->flags & AGGT_RECEIVER) {
				done = true;
				break;
			}
			if (!sim_forward(t, plan, k, at)) {
				why = FAULT("v%u -> v%u: the switch does not",
					    key[0], at->parent);
				break;
			}
			size = s->max + job->delta * (s->sum - s->max);
			crossed += size * (aggt_topo_agents(t) ? at->links :
					   verify_links(t, at->server,
							at->parent));
			key[0] = at->parent;
		}
	}
	if (!why && !done)
		why = FAULT("tree %u: the receiver waits for ever", k);
	free(node);
	*cost += crossed;
	return why;
}

/* Check an entry's nearest ends, sources and links by walking its tree. */
static inline const char *verify_entry(const struct aggt_topo *t,
				       const struct aggt_plan *plan,
				       const struct aggt_entry *e)
{
	const struct aggt_tree *tree = aggt_plan_tree(plan, e->tree);
	const struct aggt_job *job = aggt_plan_job(plan);
	size_t n_e, i, listed = 0, sources = 0;
	const struct aggt_entry *all = aggt_plan_entries(plan, &n_e);
	uint32_t links = 0, me = aggt_tree_find(tree, e->server), up;
	bool merges = !aggt_topo_agents(t) ||
		      aggt_tree_leans(tree, me) == e->server;

	for (i = 0; i < job->n_senders; i++)
		sources += merges ? verify_hops(tree, job->senders[i],
						e->server) >= 0 :
				    job->senders[i] == e->server;
	if (!(e->flags & AGGT_RECEIVER) &&
	    !(e->flags & AGGT_LEANS) == (aggt_topo_agents(t) && merges))
		return FAULT("v%u: leant on?", e->server);
	if (sources != e->sources)
		return FAULT("v%u: %u sources, not %zu", e->server, e->sources,
			     sources);
	for (i = 0; i < n_e; i++)
		if (all[i].tree == e->tree && all[i].flags & AGGT_END &&
		    all[i].parent_end == e->server)
			if (listed >= e->n_children ||
			    e->children[listed++] != all[i].server)
				return FAULT("v%u: child v%u not listed",
					     e->server, all[i].server);
	if (listed != e->n_children)
		return FAULT("v%u: %zu children", e->server, e->n_children);
	for (up = me; up && !aggt_topo_agents(t); ) {
		uint32_t key[2];
		const struct aggt_entry *at;

		key[0] = aggt_tree_server(tree, up);
		up = aggt_tree_parent(tree, up);
		links += verify_links(t, key[0], aggt_tree_server(tree, up));
		key[0] = aggt_tree_server(tree, up);
		key[1] = e->tree;
		at = bsearch(key, all, n_e, sizeof(*all), sim_entry_cmp);
		if (at->flags & AGGT_END) {
			if (at->server != e->parent_end ||
			    links != e->links)
				return FAULT("v%u: %u links to v%u", e->server,
					     e->links, e->parent_end);
			break;
		}
	}
	return NULL;
}

/*
 * Links that a flow crosses without aggregation: by digits, on a shortest path
 * of a graph, or on the path of the tree of @plan. With agents: links between
 * the agents.
 */
static inline double verify_way(const struct aggt_topo *t,
				const struct aggt_job *job,
				const struct aggt_plan *plan, size_t i,
				size_t k)
{
	aggt_node from = job->senders[i], to = job->receivers[k];
	uint32_t per = verify_per_point(t);
	unsigned int dim;

	if (plan)
		return verify_tree_links(t, aggt_plan_tree(plan, k), from, to);
	if (!aggt_topo_digits(t))
		return verify_shortest(t, from, to);
	return verify_differ(t, from / per, to / per, &dim) *
	       (aggt_topo_agents(t) ? 1 : 2);
}

/* Every task's flow without merging; with @plan on the paths of its trees. */
static inline double verify_unmerged(const struct aggt_topo *t,
				     const struct aggt_job *job,
				     const struct aggt_plan *plan)
{
	double cost = 0, size, links;
	size_t i, k;

	for (k = 0; k < job->n_receivers; k++) {
		for (i = 0; i < job->n_senders; i++) {
			links = verify_way(t, job, plan, i, k);
			size = (job->sizes ? job->sizes[i] : 1) *
			       (job->tasks ? job->tasks[i] : 1);
			if (!aggt_topo_agents(t))
				cost += links * size;
			else if (job->senders[i] != job->receivers[k])
				cost += (links + 2) * size;
		}
	}
	return cost;
}

/* With agents: the flow that leaves vertex @v; @cost: the traffic behind it. */
static inline double verify_agent(const struct aggt_tree *tree,
				  const struct aggt_job *job, uint32_t v,
				  double *cost)
{
	double sum = 0, max = 0, size;
	size_t i, n = job->n_senders;

	for (i = 0; i < n + aggt_tree_size(tree); i++) {
		if (i >= n) {
			if (aggt_tree_parent(tree, i - n) != v)
				continue;
			size = verify_agent(tree, job, i - n, cost);
		} else {
			if (aggt_tree_find(tree, job->senders[i]) != v ||
			    job->senders[i] == aggt_tree_receiver(tree))
				continue;
			size = verify_size(job, i);
		}
		*cost += size;
		sum += size;
		if (size > max)
			max = size;
	}
	return max + job->delta * (sum - max);
}

/* Compare the costs that a plan states with flows merged along its trees. */
static inline const char *verify_costs(const struct aggt_topo *t,
				       const struct aggt_job *job,
				       const struct aggt_plan *plan,
				       double simulated)
{
	const struct aggt_metrics *m = aggt_plan_metrics(plan);
	double existing = verify_unmerged(t, job, NULL), cost = simulated;
	size_t k;

	if (fabs(existing - m->existing) > 1e-9 * (1 + existing))
		return FAULT("existing %g, not %g", m->existing, existing);
	if (!aggt_plan_aggregates(plan)) {
		cost = verify_unmerged(t, job, plan);
	} else if (aggt_topo_agents(t)) {
		if (fabs(simulated - m->cost - m->leaning) >
		    1e-9 * (1 + simulated))
			return FAULT("cost %g leaning %g, simulated %g",
				     m->cost, m->leaning, simulated);
		for (k = 0, cost = 0; k < job->n_receivers; k++) {
			double last = verify_agent(aggt_plan_tree(plan, k),
						   job, 0, &cost);

			cost += last;
		}
	}
	if (fabs(cost - m->cost) > 1e-9 * (1 + cost))
		return FAULT("cost %g, simulated %g", m->cost, cost);
	return NULL;
}

/**
 * verify_plan - check everything that a plan states
 * @t: its topology
 * @job: its job
 * @plan: the plan
 * @each: also check each entry against its tree (quadratic)
 *
 * Return: NULL or what is wrong.
 */
static inline const char *verify_plan(const struct aggt_topo *t,
				      const struct aggt_job *job,
				      const struct aggt_plan *plan, bool each)
{
	size_t k, i, n, trees = aggt_plan_trees(plan);
	const struct aggt_entry *e;
	const char *why = NULL;
	double cost = 0;

	if (trees != aggt_job_trees(job))
		return FAULT("%zu trees", trees);
	e = aggt_plan_entries(plan, &n);
	for (k = 0; k < trees && !why; k++) {
		/* Stripes have one receiver. */
		why = verify_structure(t, job, aggt_plan_tree(plan, k),
				       job->receivers[k % job->n_receivers]);
		if (!why && aggt_plan_aggregates(plan))
			why = sim_tree(t, job, plan, k, &cost);
	}
	for (i = 0; i < n && each && !why && aggt_plan_aggregates(plan); i++)
		why = verify_entry(t, plan, &e[i]);
	/* A stripe carries its part of each flow. */
	if (aggt_plan_stripes(plan))
		cost /= trees;
	return why ? why : verify_costs(t, job, plan, cost);
}

#endif /* TREE_VERIFY_H */
