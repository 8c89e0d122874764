// SPDX-License-Identifier: GPL-2.0
/*
 * A tree for servers that wait for all inputs before they send: it is grown from the
 * receiver as a broadcast would spread. Each link of a server in the tree takes one
 * member after the other, and each member that has joined takes others meanwhile.
 * Backwards in time, many pairs merge at once, and the last to join merge first.
 */
#include <stdlib.h>

#include "cut.h"
#include "graph.h"

/**
 * struct turn - when a link of a member can take another one
 * @at: the time
 * @member: its vertex in the tree
 * @via: the other end of the link
 */
struct turn {
	double at;
	uint32_t member;
	uint32_t via;
};

/**
 * struct rounds - such a tree in the making
 * @tree: the tree; its first vertices are the members
 * @topo: a graph
 * @n: members
 * @unit: rate of links without one
 * @joined: by member
 * @reached: by vertex of the graph: a member next to it has joined
 * @turn: of all links of members that have joined
 * @turns: how many
 * @room: of @turn
 */
struct rounds {
	struct aggt_tree *tree;
	const struct aggt_topo *topo;
	uint32_t n;
	double unit;
	bool *joined;
	bool *reached;
	struct turn *turn;
	size_t turns;
	size_t room;
};

/**
 * struct choice - a member that could join
 * @member: its vertex in the tree
 * @again: a member at the same switch has joined; flows that cross the network merge
 *	last, so there are few of them
 * @takes: time of a flow by the slowest link of the path
 * @links: of the path
 */
struct choice {
	uint32_t member;
	bool again;
	double takes;
	uint32_t links;
};

static int add_turns(struct rounds *r, uint32_t member, double at)
{
	const struct aggt_graph *graph = r->topo->graph;
	uint32_t v = (uint32_t)r->tree->code[member], i;
	size_t need = r->turns + aggt_graph_ports(graph, v);

	if (need > r->room) {
		struct turn *turn = realloc(r->turn, 2 * need * sizeof(*turn));

		if (!turn)
			return -1;
		r->turn = turn;
		r->room = 2 * need;
	}
	r->joined[member] = true;
	for (i = graph->first[v]; i < graph->first[v + 1]; i++) {
		r->turn[r->turns++] = (struct turn){ at, member,
						     graph->arc[i].to };
		r->reached[graph->arc[i].to] = true;
	}
	return 0;
}

static uint32_t first_turn(const struct rounds *r)
{
	uint32_t i, first = 0;

	for (i = 1; i < r->turns; i++)
		if (r->turn[i].at < r->turn[first].at)
			first = i;
	return first;
}

static double slowness(const struct rounds *r, uint32_t a, uint32_t b)
{
	uint32_t link = aggt_graph_find_link(r->topo, a, b);
	uint64_t rate = r->topo->graph->link[link].rate;

	return rate ? r->unit / (double)rate : 1;
}

/* Return: does the path of a member to the one of the turn arrive by its link? */
static bool arrives(const struct rounds *r, const struct turn *turn,
		    struct choice *c)
{
	uint32_t at = (uint32_t)r->tree->code[c->member];
	uint32_t to = (uint32_t)r->tree->code[turn->member], next;

	next = aggt_graph_up(r->topo, at, to);
	c->again = next >= r->topo->servers && r->reached[next];
	c->takes = 0;
	for (c->links = 0; at != to; c->links++) {
		next = aggt_graph_up(r->topo, at, to);
		if (next == to && at != turn->via)
			return false;
		if (slowness(r, at, next) > c->takes)
			c->takes = slowness(r, at, next);
		at = next;
	}
	return true;
}

static bool is_before(const struct choice *a, const struct choice *b)
{
	if (a->again != b->again)
		return !a->again;
	if (a->takes != b->takes)
		return a->takes < b->takes;
	return a->links < b->links;
}

/* Return: the member for a link's turn; its vertex is AGGT_NONE if there is none */
static struct choice choose(const struct rounds *r, const struct turn *turn)
{
	struct choice best = { .member = AGGT_NONE }, c;

	for (c.member = 1; c.member < r->n; c.member++)
		if (!r->joined[c.member] && arrives(r, turn, &c) &&
		    (best.member == AGGT_NONE || is_before(&c, &best)))
			best = c;
	return best;
}

/* A member that a path leads through joins with it. */
static int join(struct rounds *r, struct turn *turn)
{
	struct choice c = choose(r, turn);
	aggt_code to = r->tree->code[turn->member];

	if (c.member == AGGT_NONE) {
		*turn = r->turn[--r->turns];
		return 0;
	}
	turn->at += c.takes;
	if (r->tree->parent[c.member] == AGGT_NONE &&
	    aggt_tree_route(r->tree, c.member, to, NULL))
		return -1;
	return add_turns(r, c.member, turn->at);
}

static int grow(struct rounds *r, uint64_t budget)
{
	uint64_t before = r->topo->graph->work, members = 0;

	while (r->turns) {
		members += r->n;
		if (members + r->topo->graph->work - before > budget)
			return AGGT_BEYOND;
		if (join(r, &r->turn[first_turn(r)]))
			return -1;
	}
	return 0;
}

int aggt_build_rounds(struct aggt_tree *tree, const struct aggt_job *job,
		      uint64_t budget)
{
	struct rounds r = {
		.tree = tree,
		.topo = tree->topo,
		.n = tree->n,
		.unit = (double)aggt_cut_unit(tree->topo, job),
		.joined = calloc(tree->n, sizeof(*r.joined)),
		.reached = calloc(tree->topo->graph->n, sizeof(*r.reached)),
	};
	int ret = -1;

	if (r.joined && r.reached && !add_turns(&r, 0, 0))
		ret = grow(&r, budget);
	free(r.joined);
	free(r.reached);
	free(r.turn);
	return ret;
}
