/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Simulate the transfers of a plan packet by packet. A directed link sends one
 * packet per slot, or per several slots if it is slower, first come first
 * served, through as many queues as it has. The simulation uses the plan's
 * entries and hops, not its metrics.
 */
#ifndef TREE_PACKETS_H
#define TREE_PACKETS_H

#include "tree_verify.h"

/* Packets by which a flow may be ahead of what the next end has sent. */
#define PACKETS_WINDOW 64

/* Copies that leave a switch behind link number @after of a flow. */
struct packets_branch {
	uint32_t after;
	uint32_t flow;
};

/* A flow from one end to the next, or its copies from a switch on. */
struct packets_flow {
	struct packets_branch *branch;
	uint32_t n_branches;
	uint32_t link[128];
	uint32_t n_links;
	uint32_t to;		/* flow of the next end, or none */
	uint32_t tree;
	double out;		/* size */
	double sum;		/* of its inputs and its sender's own size */
	double max;
	uint32_t waits;		/* inputs of unknown size */
	uint64_t n;
	uint64_t sent;
	uint64_t got;
};

struct packets_link {
	uint64_t name;
	unsigned int slots;	/* per packet */
	unsigned int left;	/* of the current packet */
	uint32_t *queue;	/* of flows */
	size_t head, tail, room;
};

struct packets {
	const struct aggt_topo *topo;
	const struct aggt_plan *plan;
	bool pipelined;
	unsigned int (*slots)(uint32_t a, uint32_t b);
	struct packets_flow *flow;
	uint32_t n_flows;
	struct packets_link *link;
	uint32_t n_links;
};

#define PACKETS_NONE UINT32_MAX

static inline uint32_t packets_link(struct packets *p, uint64_t kind,
				    uint64_t a, uint64_t b)
{
	uint64_t name = kind << 60 | a << 30 | b;
	uint32_t i;

	for (i = 0; i < p->n_links; i++)
		if (p->link[i].name == name)
			return i;
	p->link = realloc(p->link, (i + 1) * sizeof(*p->link));
	memset(&p->link[i], 0, sizeof(*p->link));
	p->link[i].name = name;
	p->link[i].slots = p->slots ? p->slots(a, b) : 1;
	p->n_links++;
	return i;
}

static inline void packets_cross(struct packets *p, struct packets_flow *f,
				 uint64_t kind, uint64_t a, uint64_t b)
{
	f->link[f->n_links++] = packets_link(p, kind, a, b);
}

/* The links of a hop in a graph, which numbers switches behind the servers. */
static inline void packets_hop(struct packets *p, struct packets_flow *f,
			       aggt_node from, aggt_node to)
{
	uint32_t servers = aggt_topo_servers(p->topo), at = from, next, i;

	for (i = 0; at != to; i++, at = next) {
		next = aggt_topo_hop_switch(p->topo, from, to, i);
		next = next == AGGT_NONE ? to : servers + next;
		packets_cross(p, f, 6, at, next);
	}
}

/* The links from one end to the next one of the tree. */
static inline void packets_way(struct packets *p, struct packets_flow *f,
			       aggt_node from, aggt_node to)
{
	const struct aggt_tree *tree = aggt_plan_tree(p->plan, f->tree);
	uint32_t v = aggt_tree_find(tree, from), up;
	bool agents = aggt_topo_agents(p->topo);
	unsigned int dim = 0;

	if (agents)
		packets_cross(p, f, 1, from, 0);
	for (; v != aggt_tree_find(tree, to); v = up) {
		uint32_t a = aggt_tree_server(tree, v), b;

		up = aggt_tree_parent(tree, v);
		b = aggt_tree_server(tree, up);
		if (agents || !aggt_topo_digits(p->topo)) {
			if (agents)
				packets_cross(p, f, 2, a, b);
			else
				packets_hop(p, f, a, b);
			continue;
		}
		verify_differ(p->topo, a, b, &dim);
		packets_cross(p, f, 3, a, dim);
		packets_cross(p, f, 4, b, dim);
	}
	if (agents)
		packets_cross(p, f, 5, to, 0);
}

static inline double packets_own(const struct packets *p,
				 const struct aggt_entry *e)
{
	const struct aggt_job *job = aggt_plan_job(p->plan);
	size_t i;

	for (i = 0; i < job->n_senders; i++)
		if (job->senders[i] == e->server)
			return aggt_plan_aggregates(p->plan) ?
			       verify_size(job, i) :
			       (job->sizes ? job->sizes[i] : 1) *
			       (job->tasks ? job->tasks[i] : 1);
	return 0;
}

static inline void packets_input(struct packets_flow *f, double size)
{
	f->sum += size;
	if (size > f->max)
		f->max = size;
}

/* Compute sizes from the leaves down. */
static inline void packets_sizes(struct packets *p)
{
	double delta = aggt_plan_job(p->plan)->delta;
	double packet = aggt_plan_job(p->plan)->packet;
	uint32_t i, left = p->n_flows;

	for (i = 0; i < p->n_flows; i++)
		if (p->flow[i].to != PACKETS_NONE)
			p->flow[p->flow[i].to].waits++;
	for (i = 0; left; i = (i + 1) % p->n_flows) {
		struct packets_flow *f = &p->flow[i];

		if (f->waits)
			continue;
		f->waits = UINT32_MAX;
		left--;
		f->out = f->max + delta * (f->sum - f->max);
		f->n = ceil(f->out / packet - 1e-6);
		if (f->to == PACKETS_NONE)
			continue;
		packets_input(&p->flow[f->to], f->out);
		p->flow[f->to].waits--;
	}
}

static inline const struct aggt_entry *packets_entry(const struct packets *p,
						     uint32_t tree,
						     aggt_node server)
{
	size_t n, i;
	const struct aggt_entry *e = aggt_plan_entries(p->plan, &n);

	for (i = 0; e[i].tree != tree || e[i].server != server; i++)
		;
	return &e[i];
}

static inline void packets_spread(struct packets *p, uint32_t flow,
				  const struct aggt_entry *end,
				  const struct aggt_entry *at, aggt_node except,
				  unsigned int hops);

/*
 * Copies at a server that is not their end, behind a switch. A server does not
 * send them back to that switch: they go to their end by IP.
 */
static inline void packets_onward(struct packets *p, uint32_t flow,
				  const struct aggt_entry *end, aggt_node at,
				  uint32_t sw, unsigned int hops)
{
	const struct aggt_entry *e = packets_entry(p, end->tree, at);
	unsigned int dim = 0;
	aggt_node next;

	if (!hops || e->flags & AGGT_RECEIVER)
		return;
	if (e->sw != sw) {
		packets_cross(p, &p->flow[flow], 3, at, e->level);
		if (hops > 1)
			packets_spread(p, flow, end, e, AGGT_NONE, hops - 2);
		return;
	}
	for (; at != end->parent_end; at = next) {
		next = aggt_topo_next_hop(p->topo, at, end->parent_end);
		verify_differ(p->topo, at, next, &dim);
		packets_cross(p, &p->flow[flow], 3, at, dim);
		packets_cross(p, &p->flow[flow], 4, next, dim);
	}
}

/* At the switch behind a server: by all its exits but @except, and back. */
static inline void packets_spread(struct packets *p, uint32_t flow,
				  const struct aggt_entry *end,
				  const struct aggt_entry *at, aggt_node except,
				  unsigned int hops)
{
	uint32_t after = p->flow[flow].n_links - 1, copy;
	const struct aggt_switch_entry *exit;
	struct packets_flow *f;
	size_t n, i;

	/* A flow with its own path is there already. */
	while (except != AGGT_NONE &&
	       p->flow[flow].link[after] !=
	       packets_link(p, 3ull, at->server, at->level))
		after--;
	exit = aggt_plan_switch_entries(p->plan, &n);
	for (i = 0; i < n; i++) {
		if (exit[i].sw != at->sw || exit[i].tree != at->tree ||
		    exit[i].server == at->server || exit[i].server == except)
			continue;
		copy = p->n_flows++;
		p->flow = realloc(p->flow, p->n_flows * sizeof(*p->flow));
		f = &p->flow[flow];
		f->branch = realloc(f->branch, (f->n_branches + 1) *
				    sizeof(*f->branch));
		f->branch[f->n_branches++] =
			(struct packets_branch){ after, copy };
		f = &p->flow[copy];
		memset(f, 0, sizeof(*f));
		f->to = PACKETS_NONE;
		f->tree = at->tree;
		packets_cross(p, f, 4, exit[i].server, at->level);
		if (exit[i].server != end->parent_end)
			packets_onward(p, copy, end, exit[i].server, at->sw,
				       hops);
	}
}

/* The copies of all flows, as the module's switches and servers make them. */
static inline void packets_copies(struct packets *p)
{
	const struct aggt_entry *e, *at;
	uint32_t flow = 0;
	unsigned int hops;
	size_t n, i;

	e = aggt_plan_entries(p->plan, &n);
	for (i = 0; i < n; i++) {
		if (!(e[i].flags & AGGT_END) || e[i].flags & AGGT_RECEIVER)
			continue;
		hops = e[i].links + 2;
		for (at = &e[i]; at->server != e[i].parent_end; hops -= 2) {
			packets_spread(p, flow, &e[i], at, at->parent,
				       hops - 1);
			at = packets_entry(p, at->tree, at->parent);
		}
		flow++;
	}
}

static inline void packets_flows(struct packets *p)
{
	size_t n, i, k;
	const struct aggt_entry *e = aggt_plan_entries(p->plan, &n);
	uint32_t *of = calloc(n, sizeof(*of));

	p->flow = calloc(n, sizeof(*p->flow));
	for (i = 0; i < n; i++)
		of[i] = e[i].flags & AGGT_END && !(e[i].flags & AGGT_RECEIVER) ?
			p->n_flows++ : PACKETS_NONE;
	for (i = 0; i < n; i++) {
		struct packets_flow *f = &p->flow[of[i]];

		if (of[i] == PACKETS_NONE)
			continue;
		f->tree = e[i].tree;
		f->to = PACKETS_NONE;
		for (k = 0; k < n; k++)
			if (e[k].tree == e[i].tree &&
			    e[k].server == e[i].parent_end)
				f->to = of[k];
		packets_input(f, packets_own(p, &e[i]));
		packets_way(p, f, e[i].server, e[i].parent_end);
	}
	free(of);
	packets_sizes(p);
	if (aggt_plan_job(p->plan)->copies)
		packets_copies(p);
}

static inline void packets_queue(struct packets *p, uint32_t link,
				 uint32_t flow)
{
	struct packets_link *l = &p->link[link];

	if (l->tail == l->room) {
		l->room = 2 * l->room + 64;
		l->queue = realloc(l->queue, l->room * sizeof(*l->queue));
	}
	l->queue[l->tail++] = flow;
}

/* Do the inputs of a flow suffice for its next packet? */
static inline bool packets_there(const struct packets *p, uint32_t flow)
{
	const struct packets_flow *f = &p->flow[flow];
	uint64_t next = p->pipelined ? f->sent + 1 : f->n;
	uint32_t i;

	for (i = 0; i < p->n_flows && aggt_plan_aggregates(p->plan); i++)
		if (p->flow[i].to == flow &&
		    p->flow[i].got * f->n < next * p->flow[i].n)
			return false;
	return true;
}

/* Has the end that merges this flow space for one more packet? */
static inline bool packets_room(const struct packets *p, uint32_t flow)
{
	const struct packets_flow *f = &p->flow[flow];
	double done = 1, part;
	uint32_t i;

	if (!p->pipelined || !aggt_plan_aggregates(p->plan))
		return true;
	if (f->to != PACKETS_NONE) {
		const struct packets_flow *to = &p->flow[f->to];

		done = to->n ? (double)to->sent / to->n : 1;
	}
	for (i = 0; i < p->n_flows && f->to == PACKETS_NONE; i++) {
		const struct packets_flow *g = &p->flow[i];

		part = g->n ? (double)g->got / g->n : 1;
		if (g->tree == f->tree && g->to == f->to && part < done)
			done = part;
	}
	return f->sent < done * f->n + PACKETS_WINDOW;
}

static inline void packets_inject(struct packets *p, uint32_t flow)
{
	struct packets_flow *f = &p->flow[flow];
	const struct packets_link *l = &p->link[f->link[0]];
	size_t i, waiting = 0;

	for (i = l->head; i < l->tail; i++)
		waiting += l->queue[i] == flow;
	for (; waiting < 2 && f->sent < f->n && packets_there(p, flow) &&
	       packets_room(p, flow); waiting++) {
		f->sent++;
		packets_queue(p, f->link[0], flow);
	}
}

/* Send a packet of a link to the next queue of its path. Return: its flow */
static inline uint32_t packets_send(struct packets *p, uint32_t link)
{
	struct packets_link *l = &p->link[link];

	if (l->head == l->tail)
		return PACKETS_NONE;
	if (!l->left)
		l->left = l->slots;
	return --l->left ? PACKETS_NONE : l->queue[l->head++];
}

static inline void packets_arrive(struct packets *p, uint32_t link,
				  uint32_t flow)
{
	struct packets_flow *f = &p->flow[flow];
	uint32_t i = 0, b;

	while (f->link[i] != link)
		i++;
	for (b = 0; b < f->n_branches; b++)
		if (f->branch[b].after == i)
			packets_queue(p, p->flow[f->branch[b].flow].link[0],
				      f->branch[b].flow);
	if (i + 1 == f->n_links)
		f->got++;
	else
		packets_queue(p, f->link[i + 1], flow);
}

static inline bool packets_done(const struct packets *p)
{
	uint32_t i;

	for (i = 0; i < p->n_flows; i++)
		if (p->flow[i].got < p->flow[i].n)
			return false;
	return true;
}

static inline uint64_t packets_run(struct packets *p)
{
	uint32_t *sent = calloc(p->n_links + 1, sizeof(*sent));
	uint64_t slot;
	uint32_t i, k;

	for (slot = 0; !packets_done(p) && slot < 1000000; slot++) {
		for (i = 0; i < p->n_flows; i++)
			packets_inject(p, (i + slot) % p->n_flows);
		for (i = 0; i < p->n_links; i++)
			sent[i] = packets_send(p, i);
		for (i = 0; i < p->n_links; i++) {
			k = (i + slot) % p->n_links;
			if (sent[k] != PACKETS_NONE)
				packets_arrive(p, k, sent[k]);
		}
	}
	free(sent);
	return slot;
}

/**
 * packets_time_by - the time at which the last packet of a plan arrives
 * @topo: the topology
 * @plan: the plan; its job has a packet size
 * @slots: slots per packet on the link between two vertices of a graph; NULL: 1
 *
 * Return: the time, in units of a link's time for traffic of 1.
 */
static inline double packets_time_by(const struct aggt_topo *topo,
				     const struct aggt_plan *plan,
				     unsigned int (*slots)(uint32_t a,
							   uint32_t b))
{
	const struct aggt_job *job = aggt_plan_job(plan);
	struct packets p = { .topo = topo, .plan = plan,
			     .pipelined = job->pipelined, .slots = slots };
	uint64_t used;
	uint32_t i;

	packets_flows(&p);
	used = packets_run(&p);
	for (i = 0; i < p.n_links; i++)
		free(p.link[i].queue);
	for (i = 0; i < p.n_flows; i++)
		free(p.flow[i].branch);
	free(p.link);
	free(p.flow);
	return used * job->packet;
}

/** packets_time - the same if all links have the same rate. */
static inline double packets_time(const struct aggt_topo *topo,
				  const struct aggt_plan *plan)
{
	return packets_time_by(topo, plan, NULL);
}

#endif /* TREE_PACKETS_H */
