// SPDX-License-Identifier: GPL-2.0
/*
 * The tree object: vertices with parents, found by label; pruned and put in
 * order once its builder is done.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static int grow(struct aggt_tree *tree, uint32_t room)
{
	aggt_code *code = realloc(tree->code, room * sizeof(*code));
	uint32_t *parent, *sender;

	if (!code)
		return -1;
	tree->code = code;
	parent = realloc(tree->parent, room * sizeof(*parent));
	if (!parent)
		return -1;
	tree->parent = parent;
	sender = realloc(tree->sender, room * sizeof(*sender));
	if (!sender)
		return -1;
	tree->sender = sender;
	tree->room = room;
	return 0;
}

uint32_t aggt_tree_add(struct aggt_tree *tree, aggt_code code)
{
	uint32_t *slot = aggt_map_slot(&tree->index, code);

	if (!slot)
		return AGGT_NONE;
	if (*slot != AGGT_NONE)
		return *slot;
	if (tree->n == tree->room && grow(tree, tree->room * 2))
		return AGGT_NONE;
	*slot = tree->n;
	tree->code[tree->n] = code;
	tree->parent[tree->n] = AGGT_NONE;
	tree->sender[tree->n] = AGGT_NONE;
	return tree->n++;
}

uint32_t aggt_tree_at(const struct aggt_tree *tree, aggt_code code)
{
	return aggt_map_get(&tree->index, code);
}

int aggt_tree_seat(struct aggt_tree *tree, const struct aggt_job *job)
{
	uint32_t *more = realloc(tree->more,
				 job->n_senders * sizeof(*tree->more));
	uint32_t v, i;

	if (!more)
		return -1;
	tree->more = more;
	tree->n_senders = job->n_senders;
	for (v = 0; v < tree->n; v++)
		tree->sender[v] = AGGT_NONE;
	for (i = 0; i < job->n_senders; i++) {
		v = aggt_tree_at(tree, aggt_encode(tree->topo,
						   job->senders[i]));
		more[i] = tree->sender[v];
		tree->sender[v] = i;
	}
	return 0;
}

struct aggt_tree *aggt_tree_new(const struct aggt_topo *topo,
				const struct aggt_job *job, aggt_node receiver)
{
	struct aggt_tree *tree = calloc(1, sizeof(*tree));
	size_t i;

	if (!tree)
		return NULL;
	tree->topo = topo;
	tree->receiver = receiver;
	tree->entry = AGGT_NONE;
	tree->aggregates = true;
	if (aggt_map_init(&tree->index, job->n_senders + 1) ||
	    (topo->agents && aggt_map_init(&tree->leans, 0)) ||
	    grow(tree, job->n_senders + 16) ||
	    aggt_tree_add(tree, aggt_encode(topo, receiver)) == AGGT_NONE)
		goto fail;
	for (i = 0; i < job->n_senders; i++)
		if (aggt_tree_add(tree, aggt_encode(topo, job->senders[i])) ==
		    AGGT_NONE)
			goto fail;
	if (!aggt_tree_seat(tree, job))
		return tree;
fail:
	aggt_tree_free(tree);
	return NULL;
}

void aggt_tree_free(struct aggt_tree *tree)
{
	if (!tree)
		return;
	aggt_map_free(&tree->index);
	aggt_map_free(&tree->leans);
	free(tree->code);
	free(tree->parent);
	free(tree->sender);
	free(tree->more);
	free(tree);
}

struct aggt_tree *aggt_tree_copy(const struct aggt_tree *tree)
{
	struct aggt_tree *copy = malloc(sizeof(*copy));
	uint32_t i;

	if (!copy)
		return NULL;
	*copy = *tree;
	copy->n = 0;
	copy->code = NULL;
	copy->parent = NULL;
	copy->sender = NULL;
	memset(&copy->index, 0, sizeof(copy->index));
	memset(&copy->leans, 0, sizeof(copy->leans));
	copy->more = malloc(tree->n_senders * sizeof(*copy->more));
	if (!copy->more)
		goto fail;
	memcpy(copy->more, tree->more, tree->n_senders * sizeof(*copy->more));
	if (aggt_map_init(&copy->index, tree->n) || grow(copy, tree->n) ||
	    (tree->topo->agents && aggt_map_copy(&copy->leans, &tree->leans)))
		goto fail;
	for (i = 0; i < tree->n; i++) {
		if (aggt_tree_add(copy, tree->code[i]) == AGGT_NONE)
			goto fail;
		copy->parent[i] = tree->parent[i];
		copy->sender[i] = tree->sender[i];
	}
	return copy;
fail:
	aggt_tree_free(copy);
	return NULL;
}

/*
 * Number the vertices that senders need so that parents come first: walk up
 * from each sender to a numbered vertex, then number that walk backwards.
 */
static uint32_t renumber(const struct aggt_tree *tree, uint32_t *number,
			 uint32_t *walk)
{
	uint32_t v, n = 0;

	for (v = 0; v < tree->n; v++)
		number[v] = AGGT_NONE;
	number[0] = n++;
	for (v = 0; v < tree->n; v++) {
		uint32_t up, len = 0;

		if (tree->sender[v] == AGGT_NONE)
			continue;
		for (up = v; number[up] == AGGT_NONE; up = tree->parent[up])
			walk[len++] = up;
		while (len)
			number[walk[--len]] = n++;
	}
	return n;
}

int aggt_tree_finish(struct aggt_tree *tree)
{
	uint32_t *number = malloc(tree->n * sizeof(*number));
	uint32_t *walk = malloc(tree->n * sizeof(*walk));
	struct aggt_tree old = *tree;
	uint32_t v;
	int ret = -1;

	if (!number || !walk)
		goto out;
	tree->n = renumber(tree, number, walk);
	tree->code = NULL;
	tree->parent = NULL;
	tree->sender = NULL;
	memset(&tree->index, 0, sizeof(tree->index));
	if (grow(tree, tree->n) || aggt_map_init(&tree->index, tree->n))
		goto restore;
	for (v = 0; v < old.n; v++) {
		uint32_t i = number[v];

		if (i == AGGT_NONE)
			continue;
		tree->code[i] = old.code[v];
		tree->sender[i] = old.sender[v];
		tree->parent[i] = i ? number[old.parent[v]] : AGGT_NONE;
		*aggt_map_slot(&tree->index, old.code[v]) = i;
	}
	aggt_map_free(&old.index);
	free(old.code);
	free(old.parent);
	free(old.sender);
	ret = 0;
	goto out;
restore:
	aggt_map_free(&tree->index);
	free(tree->code);
	free(tree->parent);
	free(tree->sender);
	*tree = old;
out:
	free(number);
	free(walk);
	return ret;
}

/* The point after @at on the path to @to, by its @order of dimensions if any. */
static aggt_code next_on_path(const struct aggt_topo *topo, aggt_code at,
			      aggt_code to, const unsigned int *order)
{
	if (!order)
		return topo->ops->next_hop(topo, at, to);
	while (!((at ^ to) & topo->mask[*order]))
		order++;
	return at ^ ((at ^ to) & topo->mask[*order]);
}

int aggt_tree_route(struct aggt_tree *tree, uint32_t from, aggt_code to,
		    const unsigned int *order)
{
	aggt_code at = tree->code[from];

	while (at != to) {
		uint32_t next;

		at = next_on_path(tree->topo, at, to, order);
		next = aggt_tree_add(tree, at);
		if (next == AGGT_NONE)
			return -1;
		tree->parent[from] = next;
		if (!next || tree->parent[next] != AGGT_NONE)
			return 0;
		from = next;
	}
	return 0;
}

size_t aggt_tree_size(const struct aggt_tree *tree)
{
	return tree->n;
}

aggt_node aggt_tree_server(const struct aggt_tree *tree, size_t i)
{
	return aggt_decode(tree->topo, tree->code[i]);
}

uint32_t aggt_tree_parent(const struct aggt_tree *tree, size_t i)
{
	return tree->parent[i];
}

bool aggt_tree_sends(const struct aggt_tree *tree, size_t i)
{
	return tree->sender[i] != AGGT_NONE;
}

aggt_node aggt_tree_receiver(const struct aggt_tree *tree)
{
	return tree->receiver;
}

aggt_node aggt_tree_entry(const struct aggt_tree *tree)
{
	return tree->entry;
}

uint32_t aggt_tree_find(const struct aggt_tree *tree, aggt_node server)
{
	return aggt_tree_at(tree, aggt_encode(tree->topo, server));
}

unsigned int aggt_tree_sequence(const struct aggt_tree *tree,
				unsigned int *symbols)
{
	memcpy(symbols, tree->symbol, tree->n_symbols * sizeof(*symbols));
	return tree->n_symbols;
}
