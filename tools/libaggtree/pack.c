// SPDX-License-Identifier: GPL-2.0
/*
 * Trees of a graph that share the room on its links: each link has room for as
 * many trees as its rate allows, and trees grow hop by hop so that those that
 * follow still fit.
 */
#include <stdlib.h>
#include <string.h>

#include "cut.h"
#include "graph.h"

/* Orders of equal hops that are tried before trees get a lower rate. */
#define ORDERS 4

/* Links that searches for trees that fit may look at: a second or two. */
#define BUDGET 300000000ull

/* Parts of the rank of a candidate: relays last, short hops, near servers. */
#define RANK_RELAY 63
#define RANK_LINKS 52
#define RANK_DEPTH 28
#define RANK_ORDER ((1u << RANK_DEPTH) - 1)

/** struct candidate - a hop that could be added to a tree; least rank first. */
struct candidate {
	uint64_t rank;
	aggt_node from;
	aggt_node to;
};

/** struct unit - a rate for one tree: @rate / @parts. */
struct unit {
	uint64_t rate;
	uint32_t parts;
};

/**
 * struct pack - trees that are being packed
 * @topo: the topology
 * @job: the senders
 * @root: the receiver
 * @n: trees
 * @cut: the room that is left, in trees
 * @base: the rate of links without one
 * @work: links that searches for hops had looked at before
 * @parent: by tree and server: the next server, AGGT_NONE if there is none
 * @up: the same of the tree at hand
 * @later: trees that follow it
 * @before: room before the tree at hand
 * @checked: hops must leave room for those
 * @careful: hops that cross switches are checked in full
 * @sends: by server
 * @depth: by server of the tree at hand
 * @near: room for all servers
 * @way: directions of the links of the hop at hand
 * @links: how many
 * @heap: candidates of the tree at hand
 * @n_heap: how many
 * @room: that @heap has memory for
 * @order: number of the order of equal hops, 0: as they were found
 * @rng: draws other orders
 */
struct pack {
	const struct aggt_topo *topo;
	const struct aggt_job *job;
	aggt_node root;
	uint32_t n;
	struct aggt_cut cut;
	uint64_t base;
	uint64_t work;
	aggt_node *parent;
	aggt_node *up;
	uint32_t later;
	uint64_t *before;
	bool checked;
	bool careful;
	bool *sends;
	uint32_t *depth;
	aggt_code *near;
	size_t *way;
	uint32_t links;
	struct candidate *heap;
	size_t n_heap;
	size_t room;
	unsigned int order;
	struct aggt_rng rng;
};

static void pack_free(struct pack *p)
{
	aggt_cut_free(&p->cut);
	free(p->parent);
	free(p->before);
	free(p->sends);
	free(p->depth);
	free(p->near);
	free(p->way);
	free(p->heap);
}

static int pack_init(struct pack *p, const struct aggt_job *job, uint32_t n,
		     const struct aggt_topo *topo)
{
	size_t i, servers = topo->servers;

	memset(p, 0, sizeof(*p));
	p->topo = topo;
	p->job = job;
	p->root = job->receivers[0];
	p->n = n;
	p->base = aggt_cut_unit(topo, job);
	p->work = topo->graph->work;
	p->parent = malloc(n * servers * sizeof(*p->parent));
	p->before = malloc((2 * (size_t)topo->graph->n_links + 1) *
			   sizeof(*p->before));
	p->sends = calloc(servers, sizeof(*p->sends));
	p->depth = malloc(servers * sizeof(*p->depth));
	p->near = malloc(servers * sizeof(*p->near));
	p->way = malloc(topo->graph->n * sizeof(*p->way));
	aggt_rng_seed(&p->rng, job->seed);
	if (!p->parent || !p->before || !p->sends || !p->depth || !p->near || !p->way ||
	    aggt_cut_init(&p->cut, topo))
		return -1;
	for (i = 0; i < job->n_senders; i++)
		p->sends[job->senders[i]] = true;
	return 0;
}

/* ------------------------------------------------------------- candidates */

static int push(struct pack *p, struct candidate c)
{
	size_t i, up;

	if (p->n_heap == p->room) {
		size_t room = 2 * p->room + 64;
		struct candidate *heap = realloc(p->heap, room * sizeof(*heap));

		if (!heap)
			return -1;
		p->heap = heap;
		p->room = room;
	}
	for (i = p->n_heap++; i; i = up) {
		up = (i - 1) / 2;
		if (p->heap[up].rank <= c.rank)
			break;
		p->heap[i] = p->heap[up];
	}
	p->heap[i] = c;
	return 0;
}

static struct candidate pop(struct pack *p)
{
	struct candidate first = p->heap[0], last = p->heap[--p->n_heap];
	size_t i, child;

	for (i = 0; (child = 2 * i + 1) < p->n_heap; i = child) {
		if (child + 1 < p->n_heap &&
		    p->heap[child + 1].rank < p->heap[child].rank)
			child++;
		if (last.rank <= p->heap[child].rank)
			break;
		p->heap[i] = p->heap[child];
	}
	p->heap[i] = last;
	return first;
}

/* A server with one link relays nothing. */
static bool is_useful(const struct pack *p, aggt_node v)
{
	return p->sends[v] || aggt_graph_ports(p->topo->graph, v) > 1;
}

/* The hops to a server that has joined. */
static int offer(struct pack *p, aggt_node to)
{
	uint32_t i, n = aggt_graph_neighbours(p->topo, to, p->near);

	for (i = 0; i < n; i++) {
		struct candidate c = { .from = (aggt_node)p->near[i], .to = to };
		uint64_t order = p->order ? aggt_rng_next(&p->rng) : i;

		if (p->depth[c.from] != AGGT_NONE || !is_useful(p, c.from))
			continue;
		c.rank = (uint64_t)!p->sends[c.from] << RANK_RELAY |
			 (uint64_t)aggt_hop_links(p->topo, c.from, to) <<
			 RANK_LINKS |
			 (uint64_t)p->depth[to] << RANK_DEPTH |
			 (order & RANK_ORDER);
		if (push(p, c))
			return -1;
	}
	return 0;
}

/* ------------------------------------------------------------------- hops */

static void find_way(struct pack *p, aggt_node from, aggt_node to)
{
	uint32_t i, link;
	bool back;

	p->links = aggt_hop_links(p->topo, from, to);
	for (i = 0; i < p->links; i++) {
		link = aggt_graph_hop_link(p->topo, from, to, i, &back);
		p->way[i] = 2 * (size_t)link + back;
	}
}

/*
 * Has a link room for this tree? Where several hops of a tree cross it, those
 * of each tree that follows need as much.
 */
static bool has_room(const struct pack *p, size_t way)
{
	uint64_t used = p->before[way] - p->cut.room[way];

	return used * (p->later + 1) < p->before[way];
}

/* Take the room on the links of a hop, if there is any on all of them. */
static bool take_way(struct pack *p)
{
	uint32_t i;

	for (i = 0; i < p->links; i++)
		if (!has_room(p, p->way[i]))
			return false;
	for (i = 0; i < p->links; i++)
		p->cut.room[p->way[i]]--;
	return true;
}

static void give_way(struct pack *p)
{
	uint32_t i;

	for (i = 0; i < p->links; i++)
		p->cut.room[p->way[i]]++;
}

/* Is there a link to @v that has room? A quick answer for most candidates. */
static bool is_open(const struct pack *p, aggt_node v)
{
	const struct aggt_graph *graph = p->topo->graph;
	uint32_t i;

	for (i = graph->first[v]; i < graph->first[v + 1]; i++)
		if (has_room(p, aggt_cut_way(graph->arc[i].link,
					     graph->arc[i].to, v)))
			return true;
	return false;
}

/* Have these senders, with @beside, flows of @n trees to the sinks? */
static bool all_flow(struct pack *p, aggt_node beside, uint32_t n)
{
	const struct aggt_job *job = p->job;
	size_t i;

	for (i = 0; i < job->n_senders; i++)
		if (!p->cut.sink[job->senders[i]] &&
		    aggt_cut_flow(&p->cut, job->senders[i], beside, n) < n)
			return false;
	return true;
}

/*
 * Can all trees that follow still lead to the receiver? Only sets of servers
 * that the hop leaves have lost room; they contain @c->from, and neither
 * @c->to nor the receiver. One without a sender needs none.
 */
static bool others_fit(struct pack *p, const struct candidate *c)
{
	bool *sink = p->cut.sink, fit;

	if (!p->later)
		return true;
	sink[p->root] = true;
	sink[c->to] = true;
	fit = p->sends[c->from] ?
	      aggt_cut_flow(&p->cut, c->from, AGGT_NONE, p->later) >= p->later :
	      all_flow(p, c->from, p->later);
	sink[c->to] = false;
	sink[p->root] = false;
	return fit;
}

/*
 * The same for a hop that crosses switches, which are in sets without the
 * server behind them; and this tree must be able to get all senders, too.
 */
static bool all_fit(struct pack *p, const struct candidate *c)
{
	bool *sink = p->cut.sink, fit;
	aggt_node v;

	sink[p->root] = true;
	fit = all_flow(p, AGGT_NONE, p->later);
	for (v = 0; v < p->topo->servers; v++)
		sink[v] = p->depth[v] != AGGT_NONE || v == c->from;
	fit = fit && all_flow(p, AGGT_NONE, p->later + 1);
	memset(sink, 0, p->topo->servers * sizeof(*sink));
	return fit;
}

static bool accept(struct pack *p, const struct candidate *c)
{
	if (p->depth[c->from] != AGGT_NONE || !is_open(p, c->to))
		return false;
	find_way(p, c->from, c->to);
	if (!take_way(p))
		return false;
	if (!p->checked || (p->careful && p->links > 1 ? all_fit(p, c) :
							 others_fit(p, c)))
		return true;
	give_way(p);
	return false;
}

/* ------------------------------------------------------------------ trees */

static int join(struct pack *p, aggt_node v, aggt_node up)
{
	p->up[v] = up;
	p->depth[v] = up == AGGT_NONE ? 0 : p->depth[up] + 1;
	return offer(p, v);
}

/* Give the room back that relays took in vain. */
static void prune(struct pack *p)
{
	const struct aggt_job *job = p->job;
	aggt_node v;
	size_t i;

	/* From here on, those with a depth are not needed. */
	for (i = 0; i < job->n_senders; i++)
		for (v = job->senders[i];
		     v != AGGT_NONE && p->depth[v] != AGGT_NONE; v = p->up[v])
			p->depth[v] = AGGT_NONE;
	for (v = 0; v < p->topo->servers; v++) {
		if (v == p->root || p->depth[v] == AGGT_NONE)
			continue;
		find_way(p, v, p->up[v]);
		give_way(p);
		p->up[v] = AGGT_NONE;
	}
}

static bool is_beyond(const struct pack *p)
{
	return p->checked && p->cut.work + p->topo->graph->work - p->work >
			     BUDGET;
}

/* Return: 0, 1 if not all senders can join, or -1 without memory. */
static int grow(struct pack *p)
{
	size_t missing = p->job->n_senders - p->sends[p->root];

	memset(p->up, 0xff, p->topo->servers * sizeof(*p->up));
	memset(p->depth, 0xff, p->topo->servers * sizeof(*p->depth));
	memcpy(p->before, p->cut.room, 2 * (size_t)p->topo->graph->n_links *
				       sizeof(*p->before));
	p->n_heap = 0;
	if (join(p, p->root, AGGT_NONE))
		return -1;
	while (missing) {
		struct candidate c;

		if (!p->n_heap || is_beyond(p))
			return 1;
		c = pop(p);
		if (!accept(p, &c))
			continue;
		missing -= p->sends[c.from];
		if (join(p, c.from, c.to))
			return -1;
	}
	prune(p);
	return 0;
}

/* Links have room for as many trees as have this rate together. */
static void set_room(struct pack *p, const struct unit *unit)
{
	uint32_t i, links = p->topo->graph->n_links;

	aggt_cut_rates(&p->cut, p->base);
	for (i = 0; i < 2 * links; i++) {
		uint64_t *room = &p->cut.room[i];

		*room = *room > UINT64_MAX / unit->parts ? UINT32_MAX :
			*room * unit->parts / unit->rate;
	}
}

/* Return: 0, 1 if they do not fit, or -1 without memory. */
static int grow_all(struct pack *p, const struct unit *unit)
{
	uint32_t i;
	int ret;

	set_room(p, unit);
	for (i = 0; i < p->n; i++) {
		p->up = p->parent + (size_t)i * p->topo->servers;
		p->later = p->n - i - 1;
		ret = grow(p);
		if (ret)
			return ret;
	}
	return 0;
}

/* ------------------------------------------------------------------ rates */

static bool is_lower(const struct unit *a, const struct unit *b)
{
	return a->rate * b->parts < b->rate * a->parts;
}

static int highest_first(const void *a, const void *b)
{
	return is_lower(a, b) ? 1 : is_lower(b, a) ? -1 : 0;
}

static int by_rate(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The different rates of links. Return: how many, 0 without memory. */
static size_t list_rates(const struct pack *p, uint64_t **list)
{
	uint32_t i, links = p->topo->graph->n_links;
	uint64_t *rate = malloc(((size_t)links + 1) * sizeof(*rate));
	size_t n = 0;

	*list = rate;
	if (!rate)
		return 0;
	rate[links] = p->base;
	for (i = 0; i < links; i++)
		rate[i] = aggt_cut_rate(p->topo, i, p->base);
	qsort(rate, (size_t)links + 1, sizeof(*rate), by_rate);
	for (i = 0; i <= links; i++)
		if (!i || rate[i] != rate[i - 1])
			rate[n++] = rate[i];
	return n;
}

/* The rates of a tree at which a link has room for one more, from the highest. */
static size_t list_units(const struct pack *p, struct unit **list)
{
	uint64_t *rate;
	size_t i, n = list_rates(p, &rate), units = 0;
	uint32_t parts;

	*list = malloc(n * p->n * sizeof(**list));
	for (i = 0; *list && i < n; i++)
		for (parts = 1; parts <= p->n; parts++)
			(*list)[units++] = (struct unit){ rate[i], parts };
	if (units)
		qsort(*list, units, sizeof(**list), highest_first);
	free(rate);
	return units;
}

static bool has_flows(struct pack *p, const struct unit *unit)
{
	set_room(p, unit);
	return aggt_cut_least(&p->cut, p->job, p->n) >= p->n;
}

/* The first unit at which the flows of all senders have room. */
static size_t first_unit(struct pack *p, const struct unit *unit, size_t n)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (has_flows(p, &unit[middle]))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Return: 0, 1 if nothing fits within the budget, or -1 without memory. */
static int try_units(struct pack *p, const struct unit *unit, size_t n)
{
	size_t i;
	int ret = 1;

	p->checked = true;
	for (i = first_unit(p, unit, n); i < n; i++) {
		if (i && !highest_first(&unit[i], &unit[i - 1]))
			continue;
		for (p->order = 0; p->order < ORDERS && !is_beyond(p);
		     p->order++) {
			p->careful = p->order & 1;
			ret = grow_all(p, &unit[i]);
			if (ret <= 0)
				return ret;
		}
	}
	return ret;
}

/* With more and more room on all links until any trees fit. */
static int relax(struct pack *p, struct unit unit)
{
	int ret = 1;

	p->checked = false;
	p->order = 0;
	for (; ret > 0 && unit.parts < UINT32_MAX / 2; unit.parts *= 2)
		ret = grow_all(p, &unit);
	return ret;
}

static int connect(struct pack *p, struct aggt_tree *tree, uint32_t number)
{
	const aggt_node *parent = p->parent + (size_t)number * p->topo->servers;
	uint32_t v, up;

	for (v = 1; v < tree->n; v++) {
		up = aggt_tree_add(tree, parent[tree->code[v]]);
		if (up == AGGT_NONE)
			return -1;
		tree->parent[v] = up;
	}
	return aggt_tree_finish(tree);
}

static int pack(struct pack *p, struct aggt_tree **tree)
{
	struct unit *unit;
	size_t units = list_units(p, &unit);
	uint32_t i;
	int ret = -1;

	if (!units)
		goto out;
	ret = try_units(p, unit, units);
	if (ret > 0)
		ret = relax(p, unit[units - 1]);
	for (i = 0; i < p->n && !ret; i++)
		ret = connect(p, tree[i], i);
out:
	free(unit);
	return ret;
}

int aggt_pack(struct aggt_tree **tree, uint32_t n, const struct aggt_job *job,
	      struct aggt_err *err)
{
	struct pack p;
	int ret = pack_init(&p, job, n, tree[0]->topo) ? -1 : pack(&p, tree);

	pack_free(&p);
	if (ret)
		aggt_err_nomem(err);
	return ret ? -1 : 0;
}
