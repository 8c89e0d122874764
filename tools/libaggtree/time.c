// SPDX-License-Identifier: GPL-2.0
/*
 * When a transfer ends: how much each directed link carries, and how long
 * merging servers wait for their inputs.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Tag of a server's link where points are switches. */
#define ACCESS	61

/* Directions: towards the core of the network, and back. */
#define UP	0
#define DOWN	1

int aggt_loads_init(struct aggt_loads *loads)
{
	memset(loads, 0, sizeof(*loads));
	return aggt_map_init(&loads->link, 0);
}

void aggt_loads_free(struct aggt_loads *loads)
{
	aggt_map_free(&loads->link);
	free(loads->load);
}

static int make_room(struct aggt_loads *loads, uint32_t links)
{
	uint32_t room = 2 * loads->room + 64;
	double *load;

	if (links <= loads->room)
		return 0;
	load = realloc(loads->load, 2 * room * sizeof(*load));
	if (!load)
		return -1;
	loads->load = load;
	loads->room = room;
	return 0;
}

static int add_load(struct aggt_loads *loads, uint64_t link,
		    unsigned int direction, double traffic)
{
	uint32_t *slot = aggt_map_slot(&loads->link, link);
	double *load;

	if (!slot || make_room(loads, loads->link.n))
		return -1;
	if (*slot == AGGT_NONE) {
		*slot = loads->link.n - 1;
		loads->load[2 * *slot] = 0;
		loads->load[2 * *slot + 1] = 0;
	}
	load = &loads->load[2 * *slot + direction];
	*load += traffic;
	if (*load > loads->most)
		loads->most = *load;
	return 0;
}

static int load_hop(struct aggt_loads *loads, const struct aggt_tree *tree,
		    uint32_t v, double traffic)
{
	aggt_code from = tree->code[v], to = tree->code[tree->parent[v]];
	uint32_t i, n = aggt_hop_links(tree->topo, from, to);
	uint64_t link;
	bool back;

	for (i = 0; i < n; i++) {
		link = tree->topo->ops->hop_link(tree->topo, from, to, i,
						 &back);
		if (add_load(loads, link, back ? DOWN : UP, traffic))
			return -1;
	}
	return 0;
}

static bool merges(const struct aggt_tree *tree, const struct aggt_flow *flow,
		   uint32_t v)
{
	return tree->aggregates && flow[v].inputs > 1;
}

/* Is it the switch's own server that merges, with this flow among the inputs? */
static bool stays(const struct aggt_tree *tree, const struct aggt_job *job,
		  const struct aggt_flow *flow, uint32_t v, uint32_t s)
{
	aggt_node server = job->senders[s];

	return server == tree->receiver ||
	       (v && merges(tree, flow, v) &&
		server == aggt_tree_leans(tree, v));
}

/* Where points are switches: the links between a switch and its servers. */
static int load_access(struct aggt_loads *loads, const struct aggt_tree *tree,
		       const struct aggt_job *job,
		       const struct aggt_flow *flow, uint32_t v)
{
	double delta = tree->aggregates ? job->delta : 1;
	aggt_node server = aggt_tree_leans(tree, v);
	double in = flow[v].in, size;
	uint32_t s;

	for (s = tree->sender[v]; s != AGGT_NONE; s = tree->more[s]) {
		size = aggt_job_size(job, s, delta);
		if (!stays(tree, job, flow, v, s)) {
			if (add_load(loads, aggt_tag(job->senders[s], ACCESS),
				     UP, size))
				return -1;
		} else if (v) {
			in -= size;
		}
	}
	if (v && !merges(tree, flow, v))
		return 0;
	if (v && add_load(loads, aggt_tag(server, ACCESS), UP, flow[v].out))
		return -1;
	return add_load(loads, aggt_tag(server, ACCESS), DOWN, in);
}

static int load_tree(struct aggt_loads *loads, const struct aggt_tree *tree,
		     const struct aggt_job *job, const struct aggt_flow *flow)
{
	uint32_t v;

	for (v = 0; v < tree->n; v++)
		if ((v && load_hop(loads, tree, v, flow[v].out)) ||
		    (tree->topo->agents &&
		     load_access(loads, tree, job, flow, v)))
			return -1;
	return 0;
}

int aggt_loads_tree(struct aggt_loads *loads, const struct aggt_tree *tree,
		    const struct aggt_job *job)
{
	struct aggt_flow *flow = aggt_flows(tree, job);
	int ret = flow ? load_tree(loads, tree, job, flow) : -1;

	free(flow);
	return ret;
}

/* Links from the sender that has most of them on its way to the receiver. */
static int longest_way(const struct aggt_tree *tree,
		       const struct aggt_flow *flow, uint32_t *longest)
{
	uint32_t access = tree->topo->agents, links, v;
	uint32_t *way = malloc(tree->n * sizeof(*way));

	if (!way)
		return -1;
	way[0] = access;
	*longest = 0;
	for (v = 0; v < tree->n; v++) {
		if (v)
			way[v] = way[tree->parent[v]] +
				 aggt_hop_links(tree->topo, tree->code[v],
						tree->code[tree->parent[v]]) +
				 (merges(tree, flow, v) ? 2 * access : 0);
		links = way[v] + access;
		if (tree->sender[v] != AGGT_NONE && links > *longest)
			*longest = links;
	}
	free(way);
	return 0;
}

/**
 * struct arrival - a flow that arrives at a merging server
 * @link: by which one; with agents there is one
 * @at: when its first packet could be there
 * @size: of the flow
 */
struct arrival {
	uint64_t link;
	double at;
	double size;
};

/**
 * struct wait - how long merging servers wait, from the leaves down
 * @tree: the tree
 * @job: the job
 * @flow: of its vertices
 * @first: first child of a vertex
 * @next: next child of the same parent
 * @ready: when a vertex begins to send
 * @arrival: room for all inputs of a vertex
 * @n: arrivals at the vertex at hand
 * @fan_in: most flows that arrive by one link
 */
struct wait {
	const struct aggt_tree *tree;
	const struct aggt_job *job;
	const struct aggt_flow *flow;
	uint32_t *first;
	uint32_t *next;
	double *ready;
	struct arrival *arrival;
	size_t n;
	uint32_t fan_in;
};

static void wait_free(struct wait *w)
{
	free(w->first);
	free(w->next);
	free(w->ready);
	free(w->arrival);
}

static int wait_init(struct wait *w)
{
	const struct aggt_tree *tree = w->tree;
	uint32_t v;

	w->first = malloc(tree->n * sizeof(*w->first));
	w->next = malloc(tree->n * sizeof(*w->next));
	w->ready = malloc(tree->n * sizeof(*w->ready));
	w->arrival = malloc((tree->n + tree->n_senders) *
			    sizeof(*w->arrival));
	if (!w->first || !w->next || !w->ready || !w->arrival)
		return -1;
	for (v = 0; v < tree->n; v++)
		w->first[v] = AGGT_NONE;
	for (v = 1; v < tree->n; v++) {
		w->next[v] = w->first[tree->parent[v]];
		w->first[tree->parent[v]] = v;
	}
	return 0;
}

static int by_link_and_time(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	if (x->link != y->link)
		return x->link < y->link ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void add_arrival(struct wait *w, uint64_t link, double at, double size)
{
	w->arrival[w->n++] = (struct arrival){ link, at, size };
}

/* With agents all that arrives comes down to the server that merges. */
static void collect_child(struct wait *w, uint32_t c)
{
	const struct aggt_topo *topo = w->tree->topo;
	aggt_code from = w->tree->code[c];
	aggt_code to = w->tree->code[w->tree->parent[c]];
	uint32_t links = aggt_hop_links(topo, from, to);
	uint64_t last = 0;

	if (topo->agents)
		links++;
	else
		last = topo->ops->hop_link(topo, from, to, links - 1, NULL);
	add_arrival(w, last, w->ready[c] + (links - 1) * w->job->packet,
		    w->flow[c].out);
}

static void collect(struct wait *w, uint32_t v)
{
	const struct aggt_tree *tree = w->tree;
	uint32_t c, s;

	w->n = 0;
	for (c = w->first[v]; c != AGGT_NONE; c = w->next[c])
		collect_child(w, c);
	for (s = tree->sender[v]; tree->topo->agents && s != AGGT_NONE;
	     s = tree->more[s])
		if (!stays(tree, w->job, w->flow, v, s))
			add_arrival(w, 0, w->job->packet,
				    aggt_job_size(w->job, s, w->job->delta));
}

/* A link is busy with one flow after the other, as they come. */
static double last_arrival(struct wait *w)
{
	double end = 0, last = 0;
	uint32_t fan_in = 0;
	size_t i;

	qsort(w->arrival, w->n, sizeof(*w->arrival), by_link_and_time);
	for (i = 0; i < w->n; i++) {
		const struct arrival *a = &w->arrival[i];

		if (i && a->link != a[-1].link) {
			end = 0;
			fan_in = 0;
		}
		end = (a->at > end ? a->at : end) + a->size;
		if (end > last)
			last = end;
		if (++fan_in > w->fan_in)
			w->fan_in = fan_in;
	}
	return last;
}

/* A server with one input passes its packets on, the others wait for all. */
static double when_ready(struct wait *w, uint32_t v)
{
	const struct aggt_topo *topo = w->tree->topo;
	double packet = w->job->packet, last;
	uint32_t c = w->first[v];

	collect(w, v);
	last = last_arrival(w);
	if (!v)
		return last;
	if (merges(w->tree, w->flow, v))
		return last + topo->agents * packet;
	if (c == AGGT_NONE)
		return topo->agents * packet;
	return w->ready[c] + packet * aggt_hop_links(topo, w->tree->code[c],
						    w->tree->code[v]);
}

/* When the receiver has all if each merging server waits for its inputs. */
static int last_flow(struct wait *w, double *end)
{
	uint32_t v;

	if (wait_init(w))
		return -1;
	for (v = w->tree->n; v--; )
		w->ready[v] = when_ready(w, v);
	*end = w->ready[0];
	return 0;
}

/* The most that a link of a tree carries, with what others bring. */
static double most_together(const struct aggt_loads *own,
			    const struct aggt_loads *others)
{
	const struct aggt_map *map = &own->link;
	double load, most = own->most;
	uint32_t i, k, way;

	for (i = 0; i <= map->mask; i++) {
		if (map->key[i] == UINT64_MAX)
			continue;
		k = aggt_map_get(&others->link, map->key[i]);
		for (way = UP; k != AGGT_NONE && way <= DOWN; way++) {
			load = own->load[2 * map->val[i] + way];
			if (load > 0)
				load += others->load[2 * k + way];
			if (load > most)
				most = load;
		}
	}
	return most;
}

static int measure(const struct aggt_tree *tree, const struct aggt_job *job,
		   const struct aggt_flow *flow,
		   const struct aggt_loads *others, struct aggt_metrics *m)
{
	struct wait w = { .tree = tree, .job = job, .flow = flow };
	struct aggt_loads own;
	uint32_t links;
	double end;
	int ret = -1;

	if (aggt_loads_init(&own))
		return -1;
	if (load_tree(&own, tree, job, flow) ||
	    longest_way(tree, flow, &links) || last_flow(&w, &end))
		goto out;
	m->bottleneck = own.most;
	m->fan_in = tree->aggregates ? w.fan_in : 0;
	m->latency = links * job->packet;
	m->time = job->pipelined || !tree->aggregates ?
		  m->bottleneck + m->latency : end;
	if (others)
		aggt_time_together(m, job, most_together(&own, others),
				   tree->aggregates);
	ret = 0;
out:
	wait_free(&w);
	aggt_loads_free(&own);
	return ret;
}

int aggt_measure_time(const struct aggt_tree *tree, const struct aggt_job *job,
		      const struct aggt_loads *others, struct aggt_metrics *m)
{
	struct aggt_flow *flow = aggt_flows(tree, job);
	int ret;

	if (!flow)
		return -1;
	ret = measure(tree, job, flow, others, m);
	free(flow);
	return ret;
}

/* Trees share links, so all flows of the busiest one have to pass first. */
void aggt_time_together(struct aggt_metrics *sum, const struct aggt_job *job,
			double bottleneck, bool aggregates)
{
	double least = bottleneck;

	sum->bottleneck = bottleneck;
	if (job->pipelined || !aggregates)
		least += sum->latency;
	if (sum->time < least)
		sum->time = least;
}
