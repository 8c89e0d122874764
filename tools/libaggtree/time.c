// SPDX-License-Identifier: GPL-2.0
/*
 * When a transfer ends: how much each directed link carries, and how long
 * merging servers wait for their inputs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "copies.h"
#include "graph.h"

/* Tag of a server's link where points are switches. */
#define ACCESS	61

/* Directions: towards the core of the network, and back. */
#define UP	0
#define DOWN	1

/* Passes over a tree in which copies of flows delay others. */
#define COPY_PASSES	4

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
	struct aggt_busy *load;

	if (links <= loads->room)
		return 0;
	load = realloc(loads->load, 2 * room * sizeof(*load));
	if (!load)
		return -1;
	loads->load = load;
	loads->room = room;
	return 0;
}

/* How much longer than one of the job's rate a link takes. */
static double slowness(const struct aggt_topo *topo, const struct aggt_job *job,
		       uint64_t link)
{
	uint64_t rate = topo->graph ? topo->graph->link[link].rate : 0;

	if (!rate)
		return 1;
	return (double)(job->rate ? job->rate : topo->graph->fastest) /
	       (double)rate;
}

static int add_load(struct aggt_loads *loads, uint64_t link,
		    unsigned int direction, double traffic, double slow)
{
	uint32_t *slot = aggt_map_slot(&loads->link, link);
	struct aggt_busy *load;

	if (!slot || make_room(loads, loads->link.n))
		return -1;
	if (*slot == AGGT_NONE) {
		*slot = loads->link.n - 1;
		memset(&loads->load[2 * *slot], 0, 2 * sizeof(*load));
	}
	load = &loads->load[2 * *slot + direction];
	load->traffic += traffic;
	load->time += traffic * slow;
	if (load->time > loads->most.time)
		loads->most = *load;
	return 0;
}

static int load_hop(struct aggt_loads *loads, const struct aggt_tree *tree,
		    const struct aggt_job *job, uint32_t v, double traffic)
{
	aggt_code from = tree->code[v], to = tree->code[tree->parent[v]];
	uint32_t i, n = aggt_hop_links(tree->topo, from, to);
	uint64_t link;
	bool back;

	for (i = 0; i < n; i++) {
		link = tree->topo->ops->hop_link(tree->topo, from, to, i,
						 &back);
		if (add_load(loads, link, back ? DOWN : UP, traffic,
			     slowness(tree->topo, job, link)))
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
				     UP, size, 1))
				return -1;
		} else if (v) {
			in -= size;
		}
	}
	if (v && !merges(tree, flow, v))
		return 0;
	if (v && add_load(loads, aggt_tag(server, ACCESS), UP, flow[v].out, 1))
		return -1;
	return add_load(loads, aggt_tag(server, ACCESS), DOWN, in, 1);
}

static int load_copies(struct aggt_loads *loads,
		       const struct aggt_copies *copies,
		       const struct aggt_flow *flow)
{
	size_t i;

	for (i = 0; i < copies->n; i++) {
		const struct aggt_copy *c = &copies->copy[i];

		if (add_load(loads, c->link, c->back ? DOWN : UP,
			     c->times * flow[c->of].out, 1))
			return -1;
	}
	return 0;
}

static int load_tree(struct aggt_loads *loads, const struct aggt_tree *tree,
		     const struct aggt_job *job, const struct aggt_flow *flow,
		     const struct aggt_copies *copies)
{
	uint32_t v;

	if (load_copies(loads, copies, flow))
		return -1;
	for (v = 0; v < tree->n; v++)
		if ((v && load_hop(loads, tree, job, v, flow[v].out)) ||
		    (tree->topo->agents &&
		     load_access(loads, tree, job, flow, v)))
			return -1;
	return 0;
}

int aggt_loads_tree(struct aggt_loads *loads, const struct aggt_tree *tree,
		    const struct aggt_job *job)
{
	struct aggt_flow *flow = aggt_flows(tree, job);
	struct aggt_copies copies;
	int ret = aggt_copies_find(&copies, tree, job);

	if (!flow || ret || load_tree(loads, tree, job, flow, &copies))
		ret = -1;
	aggt_copies_free(&copies);
	free(flow);
	return ret;
}

/**
 * struct hop - what a hop takes
 * @all: of a packet, by all its links
 * @last: of traffic of 1, by its last link
 * @slowest: likewise, by its slowest one
 * @link: name of the last one
 */
struct hop {
	double all;
	double last;
	double slowest;
	uint64_t link;
};

/* Of a vertex to its parent. Only graphs have links of different rates. */
static struct hop measure_hop(const struct aggt_tree *tree,
			      const struct aggt_job *job, uint32_t v)
{
	const struct aggt_topo *topo = tree->topo;
	aggt_code from = tree->code[v], to = tree->code[tree->parent[v]];
	uint32_t i, n = aggt_hop_links(topo, from, to);
	struct hop hop = { n * job->packet, 1, 1, 0 };

	if (!topo->agents)
		hop.link = topo->ops->hop_link(topo, from, to, n - 1, NULL);
	if (!topo->graph || !topo->graph->fastest)
		return hop;
	hop.all = 0;
	hop.slowest = 0;
	for (i = 0; i < n; i++) {
		hop.link = topo->ops->hop_link(topo, from, to, i, NULL);
		hop.last = slowness(topo, job, hop.link);
		hop.slowest = fmax(hop.slowest, hop.last);
		hop.all += hop.last * job->packet;
	}
	return hop;
}

static void drop(struct aggt_loads *loads, const struct aggt_loads *own)
{
	const struct aggt_map *map = &own->link;
	uint32_t i, k, side;

	for (i = 0; i <= map->mask; i++) {
		if (map->key[i] == UINT64_MAX)
			continue;
		k = aggt_map_get(&loads->link, map->key[i]);
		for (side = UP; side <= DOWN; side++) {
			const struct aggt_busy *less =
				&own->load[2 * map->val[i] + side];

			loads->load[2 * k + side].traffic -= less->traffic;
			loads->load[2 * k + side].time -= less->time;
		}
	}
}

int aggt_loads_drop(struct aggt_loads *loads, const struct aggt_tree *tree,
		    const struct aggt_job *job)
{
	struct aggt_loads own;
	int ret = -1;

	if (aggt_loads_init(&own))
		return -1;
	if (!aggt_loads_tree(&own, tree, job)) {
		drop(loads, &own);
		ret = 0;
	}
	aggt_loads_free(&own);
	return ret;
}

/* Of a packet, the longest path of a sender's to the receiver. */
static int longest_path(const struct aggt_tree *tree,
			const struct aggt_job *job,
			const struct aggt_flow *flow, double *longest)
{
	double access = tree->topo->agents * job->packet;
	double *path = malloc(tree->n * sizeof(*path));
	uint32_t v;

	if (!path)
		return -1;
	path[0] = access;
	*longest = 0;
	for (v = 0; v < tree->n; v++) {
		if (v)
			path[v] = path[tree->parent[v]] +
				 measure_hop(tree, job, v).all +
				 (merges(tree, flow, v) ? 2 * access : 0);
		if (tree->sender[v] != AGGT_NONE)
			*longest = fmax(*longest, path[v] + access);
	}
	free(path);
	return 0;
}

/**
 * struct arrival - a flow that arrives at a merging server
 * @link: by which one; with agents there is one
 * @at: when its first packet could be there
 * @busy: how long it keeps the link
 * @alone: how long it takes if it has its path to itself
 * @copy: the server drops or forwards it and does not wait for it
 */
struct arrival {
	uint64_t link;
	double at;
	double busy;
	double alone;
	bool copy;
};

/**
 * struct wait - how long merging servers wait, from the leaves down
 * @tree: the tree
 * @job: the job
 * @flow: of its vertices
 * @copies: that its switches make
 * @first: first child of a vertex
 * @next: next child of the same parent
 * @ready: when a vertex begins to send
 * @slow: the slowest link before it of the flow that it passes on; 0: it merges
 * @arrival: room for all inputs of a vertex
 * @n: arrivals at the vertex at hand
 * @fan_in: most flows that arrive by one link
 */
struct wait {
	const struct aggt_tree *tree;
	const struct aggt_job *job;
	const struct aggt_flow *flow;
	const struct aggt_copies *copies;
	uint32_t *first;
	uint32_t *next;
	double *ready;
	double *slow;
	struct arrival *arrival;
	size_t n;
	uint32_t fan_in;
};

static void wait_free(struct wait *w)
{
	free(w->first);
	free(w->next);
	free(w->ready);
	free(w->slow);
	free(w->arrival);
}

static int wait_init(struct wait *w)
{
	const struct aggt_tree *tree = w->tree;
	uint32_t v;

	w->first = malloc(tree->n * sizeof(*w->first));
	w->next = malloc(tree->n * sizeof(*w->next));
	w->ready = calloc(tree->n, sizeof(*w->ready));
	w->slow = calloc(tree->n, sizeof(*w->slow));
	w->arrival = malloc((tree->n + tree->n_senders + w->copies->n) *
			    sizeof(*w->arrival));
	if (!w->first || !w->next || !w->ready || !w->slow || !w->arrival)
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

/* With agents all flows come down to the server that merges. */
static void collect_child(struct wait *w, uint32_t c)
{
	const struct aggt_job *job = w->job;
	struct hop hop = measure_hop(w->tree, job, c);
	double size = w->flow[c].out, path = hop.all;

	path += (w->tree->topo->agents - hop.last) * job->packet;
	w->arrival[w->n++] = (struct arrival){
		.link = hop.link, .at = w->ready[c] + path,
		.busy = size * hop.last,
		.alone = size * fmax(hop.slowest, w->slow[c]),
	};
}

/* Of a server at the agent that merges. */
static void collect_own(struct wait *w, uint32_t s)
{
	double size = aggt_job_size(w->job, s, w->job->delta);

	w->arrival[w->n++] = (struct arrival){ .at = w->job->packet,
					       .busy = size, .alone = size };
}

/* Copies that come to @v; they leave their servers when they did before. */
static void collect_copies(struct wait *w, uint32_t v)
{
	const struct aggt_copy *c = w->copies->copy;
	size_t low = 0, high = w->copies->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (c[middle].at < v)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < w->copies->n && c[low].at == v; low++)
		w->arrival[w->n++] = (struct arrival){
			.link = c[low].link, .copy = true,
			.at = w->ready[c[low].of] +
			      (c[low].links - 1) * w->job->packet,
			.busy = c[low].times * w->flow[c[low].of].out,
		};
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
			collect_own(w, s);
	collect_copies(w, v);
}

/* A link carries one flow after the other, in the order of arrival. */
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
		end = fmax(a->at, end) + a->busy;
		if (a->copy)
			continue;
		last = fmax(last, fmax(end, a->at + a->alone));
		if (++fan_in > w->fan_in)
			w->fan_in = fan_in;
	}
	return last;
}

/*
 * A server with one input forwards its packets, the others wait for all inputs.
 */
static double when_ready(struct wait *w, uint32_t v)
{
	const struct aggt_topo *topo = w->tree->topo;
	double packet = w->job->packet, last;
	uint32_t c = w->first[v];
	struct hop hop;

	collect(w, v);
	last = last_arrival(w);
	if (!v)
		return last;
	if (merges(w->tree, w->flow, v))
		return last + topo->agents * packet;
	if (c == AGGT_NONE)
		return topo->agents * packet;
	hop = measure_hop(w->tree, w->job, c);
	w->slow[v] = fmax(hop.slowest, w->slow[c]);
	return w->ready[c] + hop.all;
}

/*
 * When the receiver has all if each merging server waits for its inputs. Copies
 * come from vertices that are computed later, too, so each pass uses their times
 * of the pass before.
 */
static int last_flow(struct wait *w, double *end)
{
	unsigned int pass;
	uint32_t v;

	if (wait_init(w))
		return -1;
	for (pass = 0; pass < (w->copies->n ? COPY_PASSES : 1); pass++)
		for (v = w->tree->n; v--; )
			w->ready[v] = when_ready(w, v);
	*end = w->ready[0];
	return 0;
}

/* The busiest link of a tree, including the load of other trees. */
static struct aggt_busy most_together(const struct aggt_loads *own,
				      const struct aggt_loads *others)
{
	const struct aggt_map *map = &own->link;
	struct aggt_busy load, most = own->most;
	const struct aggt_busy *other;
	uint32_t i, k, side;

	for (i = 0; i <= map->mask; i++) {
		if (map->key[i] == UINT64_MAX)
			continue;
		k = aggt_map_get(&others->link, map->key[i]);
		for (side = UP; k != AGGT_NONE && side <= DOWN; side++) {
			other = &others->load[2 * k + side];
			load = own->load[2 * map->val[i] + side];
			if (load.time > 0) {
				load.traffic += other->traffic;
				load.time += other->time;
			}
			if (load.time > most.time)
				most = load;
		}
	}
	return most;
}

static int measure(const struct aggt_tree *tree, const struct aggt_job *job,
		   const struct aggt_flow *flow,
		   const struct aggt_copies *copies,
		   const struct aggt_loads *others, struct aggt_metrics *m)
{
	struct wait w = { .tree = tree, .job = job, .flow = flow,
			  .copies = copies };
	struct aggt_loads own;
	double end;
	int ret = -1;

	if (aggt_loads_init(&own))
		return -1;
	if (load_tree(&own, tree, job, flow, copies) ||
	    longest_path(tree, job, flow, &m->latency) || last_flow(&w, &end))
		goto out;
	m->fan_in = tree->aggregates ? w.fan_in : 0;
	m->time = job->pipelined || !tree->aggregates ? 0 : end;
	aggt_time_together(m, job, others ? most_together(&own, others) :
			   own.most, tree->aggregates);
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
	struct aggt_copies copies;
	int ret = aggt_copies_find(&copies, tree, job);

	if (!flow || ret || measure(tree, job, flow, &copies, others, m))
		ret = -1;
	aggt_copies_free(&copies);
	free(flow);
	return ret;
}

/* Trees share links, so all flows of the busiest one have to pass first. */
void aggt_time_together(struct aggt_metrics *sum, const struct aggt_job *job,
			struct aggt_busy busiest, bool aggregates)
{
	double least = busiest.time;

	sum->bottleneck = busiest.time;
	sum->busiest = busiest.traffic;
	if (job->pipelined || !aggregates)
		least += sum->latency;
	if (sum->time < least)
		sum->time = least;
}
