// SPDX-License-Identifier: GPL-2.0
/* Entries: the part of the plan's trees for each server and each switch. */
#include <stdlib.h>
#include <string.h>

#include <linux/aggnet_packet.h>

#include "internal.h"

/* The kernel takes no entry with more; kmod/ctl/tree_nl.c has the same limit. */
#define MAX_LINKS (AGGNET_HOP_MAX - 2)

/**
 * struct survey - one tree seen from its vertices
 * @inputs: flows that meet here, the own one included
 * @sources: sending servers in the subtree
 * @end: nearest end from here on towards the receiver, itself excluded
 * @links: to @end
 * @ends: nearest upstream ends
 */
struct survey {
	uint32_t inputs;
	uint32_t sources;
	uint32_t end;
	uint32_t links;
	uint32_t ends;
};

static uint32_t links_up(const struct aggt_tree *tree, uint32_t v)
{
	return aggt_hop_links(tree->topo, tree->code[v],
			      tree->code[tree->parent[v]]);
}

static bool is_end(const struct aggt_tree *tree, const struct survey *s,
		   uint32_t v)
{
	return !v || tree->sender[v] != AGGT_NONE || s[v].inputs > 1;
}

/* In an aggregating tree flows merge wherever they meet. */
static void survey_merging(const struct aggt_tree *tree, struct survey *s)
{
	uint32_t v, up;

	for (v = tree->n; v--; ) {
		if (tree->sender[v] != AGGT_NONE) {
			s[v].inputs++;
			s[v].sources++;
		}
		if (v) {
			s[tree->parent[v]].inputs++;
			s[tree->parent[v]].sources += s[v].sources;
		}
	}
	for (v = 1; v < tree->n; v++) {
		up = tree->parent[v];
		s[v].end = is_end(tree, s, up) ? up : s[up].end;
		s[v].links = links_up(tree, v);
		if (!is_end(tree, s, up))
			s[v].links += s[up].links;
		if (is_end(tree, s, v))
			s[s[v].end].ends++;
	}
}

/* Without aggregation every flow goes to the receiver separately. */
static void survey_routing(const struct aggt_tree *tree, struct survey *s)
{
	uint32_t v;

	for (v = 0; v < tree->n; v++) {
		if (tree->sender[v] != AGGT_NONE) {
			s[v].inputs = 1;
			s[v].sources = 1;
			s[0].inputs += v != 0;
			s[0].sources += v != 0;
			s[0].ends += v != 0;
		}
		if (v)
			s[v].links = links_up(tree, v) +
				     s[tree->parent[v]].links;
	}
}

static struct survey *survey(const struct aggt_tree *tree)
{
	struct survey *s = calloc(tree->n, sizeof(*s));

	if (!s)
		return NULL;
	if (tree->aggregates)
		survey_merging(tree, s);
	else
		survey_routing(tree, s);
	return s;
}

/* A router on an unaggregated path has no entry. */
static bool has_entry(const struct aggt_tree *tree, uint32_t v)
{
	return tree->aggregates || !v || tree->sender[v] != AGGT_NONE;
}

static void fill(const struct aggt_tree *tree, const struct aggt_job *job,
		 const struct survey *s, uint32_t v, struct aggt_entry *e)
{
	const struct aggt_topo *topo = tree->topo;

	e->server = aggt_tree_server(tree, v);
	e->receiver = tree->receiver;
	e->flags = v ? 0 : AGGT_RECEIVER;
	if (tree->sender[v] != AGGT_NONE) {
		e->flags |= AGGT_SENDER;
		e->tasks = job->tasks ? job->tasks[tree->sender[v]] : 1;
	}
	if (is_end(tree, s, v))
		e->flags |= AGGT_END;
	e->contributors = s[v].inputs;
	e->sources = s[v].sources;
	e->parent = AGGT_NONE;
	e->parent_end = AGGT_NONE;
	e->level = AGGT_NONE;
	e->parent_level = AGGT_NONE;
	e->sw = AGGT_NONE;
	if (!v)
		return;
	e->parent = aggt_tree_server(tree, tree->parent[v]);
	e->parent_end = aggt_tree_server(tree, s[v].end);
	e->level = aggt_topo_link_dim(topo, e->server, e->parent);
	e->parent_level = aggt_topo_link_dim(topo, e->parent, e->server);
	e->sw = aggt_topo_hop_switch(topo, e->server, e->parent, 0);
	e->links = s[v].links;
}

static int by_number(const void *a, const void *b)
{
	const aggt_node *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * Fill one tree's entries from @e on and its children's lists from @pool on.
 * Return: the end of the children's lists or NULL without memory.
 */
static aggt_node *derive_tree(const struct aggt_plan *plan, uint32_t number,
			      struct aggt_entry **e, aggt_node *pool)
{
	const struct aggt_tree *tree = plan->tree[number];
	uint32_t v;
	struct survey *s = survey(tree);
	struct aggt_entry **of = calloc(tree->n, sizeof(*of));

	if (!s || !of)
		goto fail;
	for (v = 0; v < tree->n; v++) {
		if (!has_entry(tree, v))
			continue;
		of[v] = (*e)++;
		fill(tree, &plan->job, s, v, of[v]);
		of[v]->tree = number;
		if (!s[v].ends || !(of[v]->flags & AGGT_END))
			continue;
		of[v]->children = pool;
		pool += s[v].ends;
	}
	for (v = 1; v < tree->n; v++) {
		struct aggt_entry *end = of[s[v].end];

		if (of[v] && of[v]->flags & AGGT_END)
			((aggt_node *)end->children)[end->n_children++] =
				of[v]->server;
	}
	free(of);
	free(s);
	return pool;
fail:
	free(of);
	free(s);
	return NULL;
}

static int by_server(const void *a, const void *b)
{
	const struct aggt_entry *x = a, *y = b;

	if (x->server != y->server)
		return x->server < y->server ? -1 : 1;
	return x->tree < y->tree ? -1 : x->tree > y->tree;
}

static int by_switch(const void *a, const void *b)
{
	const struct aggt_switch_entry *x = a, *y = b;

	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	if (x->tree != y->tree)
		return x->tree < y->tree ? -1 : 1;
	return x->server < y->server ? -1 : x->server > y->server;
}

/* A switch entry for each edge, then those of edges that end alike once. */
static int derive_switches(struct aggt_plan *plan)
{
	size_t i, n = 0;

	plan->sw_entry = calloc(plan->n_entries + 1, sizeof(*plan->sw_entry));
	if (!plan->sw_entry)
		return -1;
	/* Switches of other topologies pass packets on by themselves. */
	if (!plan->aggregates || plan->topo->agents ||
	    !aggt_topo_digits(plan->topo))
		return 0;
	for (i = 0; i < plan->n_entries; i++) {
		const struct aggt_entry *e = &plan->entry[i];
		struct aggt_switch_entry *se = &plan->sw_entry[n];

		if (e->flags & AGGT_RECEIVER)
			continue;
		se->sw = e->sw;
		se->tree = e->tree;
		se->receiver = e->receiver;
		se->server = e->parent;
		se->port = aggt_topo_digit(plan->topo, e->parent, e->level);
		n++;
	}
	qsort(plan->sw_entry, n, sizeof(*plan->sw_entry), by_switch);
	for (i = 0; i < n; i++)
		if (!i || by_switch(&plan->sw_entry[i], &plan->sw_entry[i - 1]))
			plan->sw_entry[plan->n_sw_entries++] =
				plan->sw_entry[i];
	return 0;
}

int aggt_plan_derive(struct aggt_plan *plan)
{
	struct aggt_entry *e;
	aggt_node *pool;
	size_t i, n = 0;

	for (i = 0; i < plan->n_trees; i++)
		n += plan->tree[i]->n + plan->tree[i]->n_senders;
	plan->entry = calloc(n, sizeof(*plan->entry));
	plan->children = calloc(n, sizeof(*plan->children));
	if (!plan->entry || !plan->children)
		return -1;
	e = plan->entry;
	pool = plan->children;
	for (i = 0; i < plan->n_trees; i++) {
		pool = plan->topo->agents ?
		       aggt_lean_entries(plan, i, &e, pool) :
		       derive_tree(plan, i, &e, pool);
		if (!pool)
			return -1;
	}
	plan->n_entries = e - plan->entry;
	for (i = 0; i < plan->n_entries; i++)
		if (plan->entry[i].n_children)
			qsort((aggt_node *)plan->entry[i].children,
			      plan->entry[i].n_children, sizeof(aggt_node),
			      by_number);
	qsort(plan->entry, plan->n_entries, sizeof(*plan->entry), by_server);
	return derive_switches(plan);
}

int aggt_plan_check_links(const struct aggt_plan *plan, struct aggt_err *err)
{
	size_t i;

	for (i = 0; i < plan->n_entries; i++) {
		const struct aggt_entry *e = &plan->entry[i];

		if (e->links <= MAX_LINKS)
			continue;
		aggt_err_set(err, "server %s: %u links to its next end, %u at most",
			     aggt_label(plan->topo, e->server).text, e->links,
			     MAX_LINKS);
		return -1;
	}
	return 0;
}

const char *aggt_entry_role(const struct aggt_entry *entry)
{
	if (entry->flags & AGGT_RECEIVER)
		return "receiver";
	if (entry->flags & AGGT_SENDER)
		return "sender";
	return entry->flags & AGGT_END ? "end" : "transit";
}

const struct aggt_entry *aggt_plan_entries(const struct aggt_plan *plan,
					   size_t *n)
{
	*n = plan->n_entries;
	return plan->entry;
}

const struct aggt_switch_entry *
aggt_plan_switch_entries(const struct aggt_plan *plan, size_t *n)
{
	*n = plan->n_sw_entries;
	return plan->sw_entry;
}
