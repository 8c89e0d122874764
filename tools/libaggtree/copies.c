// SPDX-License-Identifier: GPL-2.0
/*
 * Copies of switches with Bloom tables. All copies of a packet have made the same
 * number of hops at a time, so a walk counts how many are at each vertex.
 */
#include <stdlib.h>
#include <string.h>

#include "copies.h"

/* The module makes so many of a packet at a node: AGGNET_COPIES_MAX. */
#define COPIES_MAX 4

/* Forwards of a packet beyond the links of its planned path. */
#define SPARE_HOPS 2

/**
 * struct exit - a link by which a tree leaves a switch
 * @sw: the switch
 * @to: the vertex behind the link
 */
struct exit {
	uint32_t sw;
	uint32_t to;
};

/**
 * struct walk - the packets of one flow
 * @all: where copies go
 * @tree: the tree
 * @exit: of all switches, ordered by switch
 * @first: by vertex: the first exit of the switch behind it, and how many
 * @n_exits: exits of that switch
 * @now: by vertex and whether the packet came in by the link that leads on:
 *	packets there
 * @next: the same one hop later
 * @of: vertex that the flow leaves
 * @end: vertex that takes it
 * @links: that the packets have crossed
 */
struct walk {
	struct aggt_copies *all;
	const struct aggt_tree *tree;
	struct exit *exit;
	uint32_t *first;
	uint32_t *n_exits;
	double *now;
	double *next;
	uint32_t of;
	uint32_t end;
	uint32_t links;
};

static int by_switch(const void *a, const void *b)
{
	const struct exit *x = a, *y = b;

	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static int by_vertex(const void *a, const void *b)
{
	const struct aggt_copy *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static uint32_t switch_of(const struct aggt_tree *tree, uint32_t v)
{
	return tree->topo->ops->switch_between(tree->topo, tree->code[v],
					       tree->code[tree->parent[v]], 0);
}

/* Sort the exits of all switches and find those of each vertex's switch. */
static void find_exits(struct walk *w)
{
	const struct aggt_tree *tree = w->tree;
	uint32_t v, low, high, middle, sw, n = 0;

	for (v = 1; v < tree->n; v++)
		w->exit[v - 1] = (struct exit){ switch_of(tree, v),
						tree->parent[v] };
	qsort(w->exit, tree->n - 1, sizeof(*w->exit), by_switch);
	for (v = 0; v < tree->n - 1; v++)
		if (!n || by_switch(&w->exit[v], &w->exit[n - 1]))
			w->exit[n++] = w->exit[v];
	for (v = 1; v < tree->n; v++) {
		sw = switch_of(tree, v);
		for (low = 0, high = n; low < high; ) {
			middle = (low + high) / 2;
			if (w->exit[middle].sw < sw)
				low = middle + 1;
			else
				high = middle;
		}
		w->first[v] = low;
		while (high < n && w->exit[high].sw == sw)
			high++;
		w->n_exits[v] = high - low;
	}
}

/* Links that match a packet from @v: all exits but the one that it came by. */
static uint32_t matches(const struct walk *w, uint32_t v)
{
	uint32_t i, n = w->n_exits[v];

	for (i = w->first[v]; i < w->first[v] + w->n_exits[v]; i++)
		n -= w->exit[i].to == v;
	return n;
}

static int walk_init(struct walk *w)
{
	size_t n = w->tree->n;

	w->exit = calloc(n, sizeof(*w->exit));
	w->first = calloc(n, sizeof(*w->first));
	w->n_exits = calloc(n, sizeof(*w->n_exits));
	w->now = calloc(2 * n, sizeof(*w->now));
	w->next = calloc(2 * n, sizeof(*w->next));
	if (!w->exit || !w->first || !w->n_exits || !w->now || !w->next)
		return -1;
	find_exits(w);
	return 0;
}

static void walk_free(struct walk *w)
{
	free(w->exit);
	free(w->first);
	free(w->n_exits);
	free(w->now);
	free(w->next);
}

/* Add copies on link @i of the hop between two points. */
static int cross(struct walk *w, aggt_code from, aggt_code to, uint32_t i,
		 uint32_t at, double times)
{
	struct aggt_copies *all = w->all;
	const struct aggt_topo *topo = w->tree->topo;
	size_t room = 2 * all->room + 64;
	struct aggt_copy *copy;

	if (times <= 0)
		return 0;
	if (all->n == all->room) {
		copy = realloc(all->copy, room * sizeof(*copy));
		if (!copy)
			return -1;
		all->copy = copy;
		all->room = room;
	}
	copy = &all->copy[all->n++];
	*copy = (struct aggt_copy){ .of = w->of, .at = at, .times = times,
				    .links = w->links + 1 };
	copy->link = topo->ops->hop_link(topo, from, to, i, &copy->back);
	return 0;
}

/* A server does not send a packet back: plain IP leads it to the flow's end. */
static int by_routes(struct walk *w, uint32_t v, double times)
{
	const struct aggt_topo *topo = w->tree->topo;
	aggt_code at = w->tree->code[v], end = w->tree->code[w->end], next;
	uint32_t i, n;

	for (; at != end; at = next) {
		next = topo->ops->next_hop(topo, at, end);
		n = aggt_hop_links(topo, at, next);
		for (i = 0; i < n; i++)
			if (cross(w, at, next, i, AGGT_NONE, times))
				return -1;
	}
	return 0;
}

/* From the switch behind @v; @planned: one packet takes the flow's own path. */
static int leave_switch(struct walk *w, uint32_t v, double times,
			bool planned)
{
	const struct aggt_tree *tree = w->tree;
	const struct exit *exit = &w->exit[w->first[v]];
	uint32_t i, to;
	double copies;

	for (i = 0; i < w->n_exits[v]; i++) {
		to = exit[i].to;
		copies = times - (planned && to == tree->parent[v]);
		if (to == v)
			continue;
		if (cross(w, tree->code[v], tree->code[to], 1, to, copies))
			return -1;
		/* The receiver drops packets that name another end. */
		if (to && to != w->end)
			w->next[2 * to + (switch_of(tree, to) ==
					  exit[i].sw)] += times;
	}
	return 0;
}

static int leave(struct walk *w, uint32_t v, bool back, bool planned,
		 uint32_t hops)
{
	double times = w->now[2 * v + back];

	if (times <= 0)
		return 0;
	if (back)
		return by_routes(w, v, times - planned);
	if (cross(w, w->tree->code[v], w->tree->code[w->tree->parent[v]], 0,
		  AGGT_NONE, times - planned))
		return -1;
	w->links++;
	/* The server, unless it made the packet, has taken one off, too. */
	if (hops && leave_switch(w, v, times, planned))
		return -1;
	w->links--;
	return 0;
}

/* Follow the packets of the flow that leaves @v, hop by hop. */
static int follow(struct walk *w, uint32_t v, uint32_t end, uint32_t links)
{
	const struct aggt_tree *tree = w->tree;
	uint32_t hops = links + SPARE_HOPS, i, at = v;
	bool any = true;	/* packets may be left */

	w->of = v;
	w->end = end;
	memset(w->now, 0, 2 * tree->n * sizeof(*w->now));
	w->now[2 * v] = 1;
	for (w->links = 0; any; w->links += 2) {
		bool planned = at != end;
		double *swap = w->now;

		memset(w->next, 0, 2 * tree->n * sizeof(*w->next));
		for (i = 2; i < 2 * tree->n; i++)
			if (leave(w, i / 2, i % 2, planned && i / 2 == at,
				  hops))
				return -1;
		/* A switch and the next server: each takes one off. */
		any = hops;
		hops -= hops ? 2 : 0;
		at = planned ? tree->parent[at] : at;
		w->now = w->next;
		w->next = swap;
	}
	return 0;
}

/* Do packets of the flow that leaves @v meet a switch that copies? */
static bool copied(const struct walk *w, uint32_t v, uint32_t end)
{
	for (; v != end; v = w->tree->parent[v])
		if (matches(w, v) > 1)
			return true;
	return false;
}

static int follow_all(struct walk *w, const struct aggt_flow *flow)
{
	const struct aggt_tree *tree = w->tree;
	uint32_t v, end, links;

	for (v = 1; v < tree->n; v++) {
		if (matches(w, v) > COPIES_MAX)
			w->all->lost_at = switch_of(tree, v);
		if (tree->sender[v] == AGGT_NONE && flow[v].inputs < 2)
			continue;
		end = v;
		links = 0;
		do {
			links += aggt_hop_links(tree->topo, tree->code[end],
						tree->code[tree->parent[end]]);
			end = tree->parent[end];
		} while (end && tree->sender[end] == AGGT_NONE &&
			 flow[end].inputs < 2);
		if (copied(w, v, end) && follow(w, v, end, links))
			return -1;
	}
	return 0;
}

int aggt_copies_find(struct aggt_copies *all, const struct aggt_tree *tree,
		     const struct aggt_job *job)
{
	struct walk w = { .all = all, .tree = tree };
	struct aggt_flow *flow;
	int ret = -1;

	*all = (struct aggt_copies){ .lost_at = AGGT_NONE };
	if (!job->copies || !tree->aggregates || tree->topo->agents ||
	    !aggt_topo_digits(tree->topo) || tree->n < 2)
		return 0;
	flow = aggt_flows(tree, job);
	if (flow && !walk_init(&w))
		ret = follow_all(&w, flow);
	walk_free(&w);
	free(flow);
	if (!ret && all->n)
		qsort(all->copy, all->n, sizeof(*all->copy), by_vertex);
	return ret;
}

void aggt_copies_free(struct aggt_copies *all)
{
	free(all->copy);
}

int aggt_copies_refuse(const struct aggt_tree *tree, const struct aggt_job *job,
		       struct aggt_err *err)
{
	struct aggt_copies all;
	int ret = aggt_copies_find(&all, tree, job);

	if (ret) {
		aggt_err_nomem(err);
	} else if (all.lost_at != AGGT_NONE) {
		aggt_err_set(err, "switch %s: the tree of %s leaves it by more than %d links, and a switch with Bloom tables makes %d copies at most: use another method or scheme",
			     aggt_switch_label(tree->topo, all.lost_at).text,
			     aggt_label(tree->topo, tree->receiver).text,
			     COPIES_MAX, COPIES_MAX);
		ret = -1;
	}
	aggt_copies_free(&all);
	return ret;
}
