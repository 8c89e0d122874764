// SPDX-License-Identifier: GPL-2.0
/*
 * Trees around failures, by the rules of paper 004, IV-E: a vertex that lost
 * its next hop uses another path to the same parent, or to the next aggregating
 * server.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Hops that a path around may be longer than the shortest. */
#define MAX_DETOUR 4

/* Labels that a search for a path may look at. */
#define MAX_LOOKED 200000

/**
 * struct detour - a search for a path around failures
 * @tree: the tree
 * @from: the vertex that looks for it
 * @target: label to reach
 * @join: whether any vertex of the tree that is not behind @from will do
 * @turn: whether the path may lead through those behind it, which then turn
 * @seen: label -> most hops to spare with which it was looked at, plus one
 * @path: labels after @from
 * @n: how many
 */
struct detour {
	struct aggt_tree *tree;
	uint32_t from;
	aggt_code target;
	bool join;
	bool turn;
	struct aggt_map seen;
	aggt_code path[AGGT_MAX_DIMS + MAX_DETOUR + 1];
	unsigned int n;
};

/* Does @v's flow pass @at in the current tree? */
static bool passes(const struct aggt_tree *tree, uint32_t v, uint32_t at)
{
	while (v != AGGT_NONE && v != at)
		v = tree->parent[v];
	return v == at;
}

static bool walk(struct detour *d, aggt_code at, unsigned int spare);

/* Go to @next if the hop works and the server there may be passed, or the goal. */
static bool enter(struct detour *d, aggt_code at, aggt_code next,
		  unsigned int spare)
{
	uint32_t v = aggt_tree_at(d->tree, next), *seen;

	if (!aggt_hop_ok(d->tree->topo, at, next))
		return false;
	d->path[d->n++] = next;
	if (next == d->target)
		return true;
	if (v != AGGT_NONE && d->join && !passes(d->tree, v, d->from))
		return true;
	seen = v == AGGT_NONE || (d->turn && v != d->from) ?
	       aggt_map_slot(&d->seen, next) : NULL;
	if (seen && d->seen.n < MAX_LOOKED &&
	    (*seen == AGGT_NONE || *seen <= spare)) {
		*seen = spare + 1;
		if (walk(d, next, spare))
			return true;
	}
	d->n--;
	return false;
}

/* Try all digits of dimension @dim but the present one and the target's. */
static bool sidestep(struct detour *d, aggt_code at, unsigned int dim,
		     unsigned int spare)
{
	const struct aggt_topo *topo = d->tree->topo;
	uint32_t i;

	for (i = 0; i < topo->radix[dim]; i++) {
		aggt_code digit = (aggt_code)i << topo->shift[dim];

		if (digit == (at & topo->mask[dim]) ||
		    digit == (d->target & topo->mask[dim]))
			continue;
		if (enter(d, at, (at & ~topo->mask[dim]) | digit, spare))
			return true;
	}
	return false;
}

/*
 * Depth first with a limit: correcting a digit is free, changing one that
 * must be corrected anyway costs a hop, changing a right one costs two.
 */
static bool walk(struct detour *d, aggt_code at, unsigned int spare)
{
	const struct aggt_topo *topo = d->tree->topo;
	unsigned int i;

	for (i = topo->dims; i--; ) {
		aggt_code diff = (at ^ d->target) & topo->mask[i];

		if (diff && enter(d, at, at ^ diff, spare))
			return true;
	}
	for (i = topo->dims; i--; ) {
		unsigned int price = (at ^ d->target) & topo->mask[i] ? 1 : 2;

		if (spare >= price && sidestep(d, at, i, spare - price))
			return true;
	}
	return false;
}

/* Find the shortest path to @target. Return: 1 if there is one, 0, or -1. */
static int find_path(struct detour *d)
{
	unsigned int spare;
	bool found = false;

	for (spare = 0; spare <= MAX_DETOUR && !found; spare++) {
		d->n = 0;
		aggt_map_clear(&d->seen);
		found = walk(d, d->tree->code[d->from], spare);
	}
	return found;
}

int aggt_tree_follow(struct aggt_tree *tree, uint32_t v, const aggt_code *path,
		     unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		uint32_t next = aggt_tree_add(tree, path[i]);
		bool behind;

		if (next == AGGT_NONE)
			return -1;
		/* The subtree of this vertex continues before it instead. */
		behind = passes(tree, next, v);
		tree->parent[v] = next;
		if (!next || (tree->parent[next] != AGGT_NONE && !behind))
			return 0;
		if (behind)
			tree->parent[next] = AGGT_NONE;
		v = next;
	}
	return 0;
}

/*
 * Connect orphan @v to @target by a path of its own; if all paths are taken, in
 * that direction up to where one meets the tree: flows merge wherever they
 * meet. What is behind @v itself is no help; then the receiver is the target.
 * Where that is the only path it turns around, and goes on before @v.
 *
 * Return: 1 if there is a path, 0, or -1 without memory.
 */
static int reconnect(struct aggt_tree *tree, uint32_t v, uint32_t target)
{
	struct detour d = { .tree = tree, .from = v };
	int found = 0;

	if (aggt_map_init(&d.seen, 64))
		return -1;
	d.target = tree->code[target];
	if (!passes(tree, target, v)) {
		found = find_path(&d);
		d.join = true;
		if (!found)
			found = find_path(&d);
	}
	d.target = tree->code[0];
	d.join = true;
	if (!found)
		found = find_path(&d);
	d.turn = true;
	if (!found)
		found = find_path(&d);
	aggt_map_free(&d.seen);
	if (found && aggt_tree_follow(tree, v, d.path, d.n))
		return -1;
	return found;
}

/*
 * The same in a graph: by the shortest path that works, to @target or, if that
 * is behind @v, to the receiver.
 */
static int reconnect_graph(struct aggt_tree *tree, uint32_t v, uint32_t target)
{
	aggt_code to = tree->code[passes(tree, target, v) ? 0 : target];
	unsigned int n;
	aggt_code *path;
	int ret;

	if (aggt_path_links(tree->topo, tree->code[v], to) == AGGT_NONE)
		return 0;
	path = aggt_path(tree->topo, tree->code[v], to, &n);
	ret = !path || aggt_tree_follow(tree, v, path, n) ? -1 : 1;
	free(path);
	return ret;
}

static int connect_orphan(struct aggt_tree *tree, uint32_t v, uint32_t target,
			  struct aggt_err *err)
{
	int found = aggt_topo_digits(tree->topo) ?
		    reconnect(tree, v, target) :
		    reconnect_graph(tree, v, target);

	if (found > 0)
		return 0;
	if (found < 0)
		aggt_err_nomem(err);
	else if (tree->topo->agents)
		aggt_err_set(err, "w%u: failures cut it off from receiver v%u",
			     aggt_tree_server(tree, v), tree->receiver);
	else
		aggt_err_set(err, "%s: failures cut it off from receiver %s",
			     aggt_label(tree->topo,
					aggt_tree_server(tree, v)).text,
			     aggt_label(tree->topo, tree->receiver).text);
	return -1;
}

/*
 * Where the flow of @v continues if its parent has failed: the next aggregator.
 */
static uint32_t next_aggregator(const struct aggt_tree *tree,
				const uint32_t *inputs, uint32_t v)
{
	do {
		v = tree->parent[v];
	} while (v && (inputs[v] < 2 ||
		       !aggt_point_ok(tree->topo, tree->code[v])));
	return v;
}

/* Cut off what fails, and note the target of each orphan. */
static uint32_t cut(struct aggt_tree *tree, uint32_t *target)
{
	uint32_t *inputs = calloc(tree->n, sizeof(*inputs));
	uint32_t v, s, orphans = 0;

	if (!inputs)
		return AGGT_NONE;
	for (v = 0; v < tree->n; v++) {
		for (s = tree->sender[v]; s != AGGT_NONE; s = tree->more[s])
			inputs[v]++;
		if (v)
			inputs[tree->parent[v]]++;
	}
	for (v = 1; v < tree->n; v++) {
		uint32_t up = tree->parent[v];

		target[v] = AGGT_NONE;
		if (aggt_hop_ok(tree->topo, tree->code[v], tree->code[up]) ||
		    !aggt_point_ok(tree->topo, tree->code[v]))
			continue;
		target[v] = up;
		if (!aggt_point_ok(tree->topo, tree->code[up]))
			target[v] = next_aggregator(tree, inputs, up);
		orphans++;
	}
	for (v = 1; v < tree->n && orphans; v++)
		if (target[v] != AGGT_NONE)
			tree->parent[v] = AGGT_NONE;
	free(inputs);
	return orphans;
}

int aggt_tree_repair(struct aggt_tree *tree, struct aggt_err *err)
{
	uint32_t *target, v, orphans, n = tree->n;
	int ret = 0;

	if (!tree->topo->fault.n)
		return 0;
	target = malloc(n * sizeof(*target));
	orphans = target ? cut(tree, target) : AGGT_NONE;
	if (orphans == AGGT_NONE) {
		aggt_err_nomem(err);
		ret = -1;
	}
	/* Parents come first, so a target's own path is connected. */
	for (v = 1; v < n && orphans && !ret; v++)
		if (target[v] != AGGT_NONE && tree->parent[v] == AGGT_NONE)
			ret = connect_orphan(tree, v, target[v], err);
	free(target);
	if (ret || !orphans)
		return ret;
	if (aggt_tree_finish(tree)) {
		aggt_err_nomem(err);
		return -1;
	}
	return 0;
}
