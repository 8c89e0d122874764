// SPDX-License-Identifier: GPL-2.0
/* Plans from stored trees, checked as strictly as input from elsewhere is. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static int add_edge(struct aggt_tree *tree, const struct aggt_edge *e,
		    struct aggt_err *err)
{
	const struct aggt_topo *topo = tree->topo;
	uint32_t child, parent;

	if (e->child >= topo->points || e->parent >= topo->points ||
	    aggt_topo_link_dim(topo, e->child * topo->per_point,
			       e->parent * topo->per_point) == AGGT_NONE) {
		aggt_err_set(err, "tree of v%u: %u -> %u is not a hop in %s",
			     tree->receiver, e->child, e->parent, topo->name);
		return -1;
	}
	child = aggt_tree_add(tree, aggt_encode(topo, e->child *
							topo->per_point));
	parent = aggt_tree_add(tree, aggt_encode(topo, e->parent *
							 topo->per_point));
	if (child == AGGT_NONE || parent == AGGT_NONE) {
		aggt_err_nomem(err);
		return -1;
	}
	if (!child || tree->parent[child] != AGGT_NONE) {
		aggt_err_set(err, "tree of v%u: %u %s", tree->receiver,
			     e->child, child ? "has two parents" :
					       "is the receiver and has a parent");
		return -1;
	}
	tree->parent[child] = parent;
	return 0;
}

/* Every vertex must lead to the receiver; @seen marks those that do. */
static int check_paths(const struct aggt_tree *tree, uint32_t *seen,
		       struct aggt_err *err)
{
	uint32_t v, at;

	memset(seen, 0, tree->n * sizeof(*seen));
	seen[0] = UINT32_MAX;
	for (v = 1; v < tree->n; v++) {
		for (at = v; at != AGGT_NONE && !seen[at];
		     at = tree->parent[at])
			seen[at] = v;
		if (at == AGGT_NONE || seen[at] == v) {
			aggt_err_set(err, "tree of v%u: %u does not lead there",
				     tree->receiver, aggt_tree_server(tree, v));
			return -1;
		}
		for (at = v; seen[at] == v; at = tree->parent[at])
			seen[at] = UINT32_MAX;
	}
	return 0;
}

static int keep_symbols(struct aggt_tree *tree, const struct aggt_shape *shape,
			struct aggt_err *err)
{
	unsigned int i, used = 0;

	for (i = 0; i < shape->n_symbols; i++) {
		unsigned int d = shape->symbols[i];

		if (shape->n_symbols != tree->topo->dims ||
		    d >= tree->topo->dims || used & 1u << d) {
			aggt_err_set(err, "tree of v%u: its symbols are not each dimension once",
				     tree->receiver);
			return -1;
		}
		used |= 1u << d;
		tree->symbol[i] = d;
	}
	tree->n_symbols = shape->n_symbols;
	return 0;
}

/* Servers that have failed since are no longer leant on. */
static int keep_leans(struct aggt_tree *tree, const struct aggt_shape *shape,
		      struct aggt_err *err)
{
	const struct aggt_topo *topo = tree->topo;
	uint32_t *slot;
	size_t i;

	for (i = 0; i < shape->n_leans; i++) {
		const struct aggt_lean *lean = &shape->lean[i];

		if (!topo->agents || lean->server >= topo->servers ||
		    lean->server / topo->per_point != lean->sw) {
			aggt_err_set(err, "tree of v%u: w%u cannot use v%u",
				     tree->receiver, lean->sw, lean->server);
			return -1;
		}
		slot = aggt_map_slot(&tree->leans,
				     aggt_encode(topo, lean->server));
		if (!slot) {
			aggt_err_nomem(err);
			return -1;
		}
		*slot = lean->server;
	}
	return 0;
}

static int restore_tree(struct aggt_tree *tree, const struct aggt_shape *shape,
			struct aggt_err *err)
{
	uint32_t *seen;
	size_t i;
	int ret;

	if (shape->entry != AGGT_NONE && shape->entry >= tree->topo->servers) {
		aggt_err_set(err, "tree of v%u: entry v%u does not exist",
			     tree->receiver, shape->entry);
		return -1;
	}
	tree->entry = shape->entry;
	for (i = 0; i < shape->n_edges; i++)
		if (add_edge(tree, &shape->edge[i], err))
			return -1;
	seen = malloc(tree->n * sizeof(*seen));
	ret = seen ? check_paths(tree, seen, err) : -1;
	if (!seen)
		aggt_err_nomem(err);
	free(seen);
	if (ret || keep_symbols(tree, shape, err) ||
	    keep_leans(tree, shape, err))
		return -1;
	if (aggt_tree_finish(tree)) {
		aggt_err_nomem(err);
		return -1;
	}
	return 0;
}

struct aggt_plan *aggt_plan_restore(const struct aggt_topo *topo,
				    const struct aggt_job *job,
				    const struct aggt_shape *shape,
				    struct aggt_err *err)
{
	struct aggt_plan *plan;
	size_t i;

	if (aggt_job_check(topo, job, err))
		return NULL;
	plan = aggt_plan_new(topo, job, err);
	if (!plan)
		return NULL;
	plan->aggregates = strcmp(job->method, "existing") != 0;
	for (i = 0; i < plan->n_trees; i++) {
		plan->tree[i] = aggt_tree_new(topo, &plan->job,
					      aggt_job_receiver(job, i));
		if (!plan->tree[i]) {
			aggt_err_nomem(err);
			goto fail;
		}
		plan->tree[i]->aggregates = plan->aggregates;
		if (restore_tree(plan->tree[i], &shape[i], err))
			goto fail;
	}
	if (!aggt_plan_complete(plan, err))
		return plan;
fail:
	aggt_plan_free(plan);
	return NULL;
}
