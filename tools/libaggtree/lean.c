// SPDX-License-Identifier: GPL-2.0
/*
 * For points that are switches: the server that an aggregating switch uses
 * (paper 004, V-C), and the entries of servers, which are all ends.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/**
 * struct reach - what leaves a switch, or what its servers send
 * @inputs: flows that meet at the switch
 * @senders: at and above it
 * @to: vertex whose server is the next end for what arrives here
 * @hops: from switch to switch up to there
 * @collector: entry of the server that flows are merged at, if there is one
 */
struct reach {
	uint32_t inputs;
	uint32_t senders;
	uint32_t to;
	uint32_t hops;
	struct aggt_entry *collector;
};

/* The receiver's own flow does not reach its switch. */
static void count_inputs(const struct aggt_tree *tree,
			 const struct aggt_job *job, struct reach *r)
{
	uint32_t v, s;

	for (v = tree->n; v--; ) {
		for (s = tree->sender[v]; s != AGGT_NONE; s = tree->more[s]) {
			r[v].senders++;
			r[v].inputs += v ||
				       job->senders[s] != tree->receiver;
		}
		if (!v)
			continue;
		r[tree->parent[v]].inputs++;
		r[tree->parent[v]].senders += r[v].senders;
	}
}

/* It stays the same as long as it works; else the sender named first. */
static aggt_node choose(const struct aggt_tree *tree,
			const struct aggt_job *job, uint32_t v)
{
	const struct aggt_topo *topo = tree->topo;
	aggt_node server = aggt_map_get(&tree->leans, tree->code[v]);
	uint32_t s;

	if (server != AGGT_NONE && aggt_topo_server_ok(topo, server))
		return server;
	server = AGGT_NONE;
	for (s = tree->sender[v]; s != AGGT_NONE; s = tree->more[s])
		server = job->senders[s];
	if (server != AGGT_NONE)
		return server;
	server = aggt_decode(topo, tree->code[v]) * topo->per_point;
	while (!aggt_topo_server_ok(topo, server))
		server++;
	return server;
}

int aggt_tree_lean(struct aggt_tree *tree, const struct aggt_job *job)
{
	struct reach *r = calloc(tree->n, sizeof(*r));
	struct aggt_map leans;
	uint32_t v, *slot;

	if (!r || aggt_map_init(&leans, 0)) {
		free(r);
		return -1;
	}
	count_inputs(tree, job, r);
	for (v = 1; v < tree->n && tree->aggregates; v++) {
		if (r[v].inputs < 2)
			continue;
		slot = aggt_map_slot(&leans, tree->code[v]);
		if (!slot)
			goto fail;
		*slot = choose(tree, job, v);
	}
	free(r);
	aggt_map_free(&tree->leans);
	tree->leans = leans;
	return 0;
fail:
	free(r);
	aggt_map_free(&leans);
	return -1;
}

aggt_node aggt_tree_leans(const struct aggt_tree *tree, size_t i)
{
	if (!tree->topo->agents)
		return AGGT_NONE;
	return i ? aggt_map_get(&tree->leans, tree->code[i]) : tree->receiver;
}

/* Parents come first: a flow ends here, or where the parent's ends. */
static void find_ends(const struct aggt_tree *tree, struct reach *r)
{
	uint32_t v;

	for (v = 1; v < tree->n; v++) {
		const struct reach *up = &r[tree->parent[v]];

		r[v].to = v;
		if (aggt_tree_leans(tree, v) != AGGT_NONE)
			continue;
		r[v].to = up->to;
		r[v].hops = up->hops + 1;
	}
}

/* An entry whose flow goes from the switch at @v to the end behind @via. */
static struct aggt_entry *add(const struct aggt_tree *tree,
			      struct aggt_entry **next, aggt_node server,
			      const struct reach *via, uint32_t hops)
{
	struct aggt_entry *e = (*next)++;

	e->server = server;
	e->receiver = tree->receiver;
	e->flags = AGGT_END;
	e->level = 0;
	e->parent_level = 0;
	e->sw = server / tree->topo->per_point;
	e->parent = AGGT_NONE;
	e->parent_end = AGGT_NONE;
	if (!via)
		return e;
	e->parent = aggt_tree_leans(tree, via->to);
	e->parent_end = e->parent;
	e->links = 2 + via->hops + hops;
	return e;
}

static void send(struct aggt_entry *e, const struct aggt_job *job, uint32_t s)
{
	e->flags |= AGGT_SENDER;
	e->tasks = job->tasks ? job->tasks[s] : 1;
	e->contributors++;
}

/* The server that merges at @v, and the senders beside it. */
static void add_vertex(const struct aggt_tree *tree, const struct aggt_job *job,
		       struct reach *r, uint32_t v, struct aggt_entry **next)
{
	aggt_node leans = aggt_tree_leans(tree, v);
	struct aggt_entry *e;
	uint32_t s;

	if (leans != AGGT_NONE) {
		e = add(tree, next, leans, v ? &r[tree->parent[v]] : NULL, 1);
		e->flags |= v ? AGGT_LEANS : AGGT_RECEIVER;
		e->sources = r[v].senders;
		r[v].collector = e;
	}
	for (s = tree->sender[v]; s != AGGT_NONE; s = tree->more[s]) {
		if (job->senders[s] == leans) {
			send(r[v].collector, job, s);
			continue;
		}
		e = add(tree, next, job->senders[s], &r[v], 0);
		e->sources = 1;
		send(e, job, s);
	}
}

/*
 * Add each entry's server to the children of the entry that its flow goes to.
 */
static aggt_node *add_children(const struct aggt_tree *tree,
			       const struct reach *r, struct aggt_entry *first,
			       struct aggt_entry *end, aggt_node *pool)
{
	struct aggt_entry *e, *to;

	for (e = first; e < end; e++)
		if (e->parent_end != AGGT_NONE)
			r[aggt_tree_find(tree, e->parent_end)].collector
				->n_children++;
	for (e = first; e < end; e++) {
		if (!e->n_children)
			continue;
		e->children = pool;
		e->contributors += e->n_children;
		pool += e->n_children;
		e->n_children = 0;
	}
	for (e = first; e < end; e++) {
		if (e->parent_end == AGGT_NONE)
			continue;
		to = r[aggt_tree_find(tree, e->parent_end)].collector;
		((aggt_node *)to->children)[to->n_children++] = e->server;
	}
	return pool;
}

aggt_node *aggt_lean_entries(const struct aggt_plan *plan, uint32_t number,
			     struct aggt_entry **next, aggt_node *pool)
{
	const struct aggt_tree *tree = plan->tree[number];
	struct reach *r = calloc(tree->n, sizeof(*r));
	struct aggt_entry *first = *next;
	uint32_t v;

	if (!r)
		return NULL;
	count_inputs(tree, &plan->job, r);
	find_ends(tree, r);
	for (v = 0; v < tree->n; v++)
		add_vertex(tree, &plan->job, r, v, next);
	pool = add_children(tree, r, first, *next, pool);
	for (; first < *next; first++)
		first->tree = number;
	free(r);
	return pool;
}
