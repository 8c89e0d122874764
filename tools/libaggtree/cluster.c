// SPDX-License-Identifier: GPL-2.0
/*
 * Trees of paper 001: MIB lets senders meet at senders nearer the receiver, MC
 * clusters senders by shared digits, M2 does both in turn.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/**
 * struct member - a vertex and the digits that it shares with other members.
 */
struct member {
	aggt_code key;
	uint32_t vertex;
};

/** struct group - a run of equal keys in the sorted members. */
struct group {
	uint32_t first;
	uint32_t n;
};

/**
 * struct cluster - vertices on their path to one root
 * @tree: the tree
 * @root: label of the root
 * @active: vertices; those with a parent are done
 * @n: how many
 * @room: of @active and @key
 * @key: scratch
 * @member: the members that share each switch of the level at hand
 * @n_members: how many
 * @room_members: of @member
 */
struct cluster {
	struct aggt_tree *tree;
	aggt_code root;
	uint32_t *active;
	uint32_t n;
	uint32_t room;
	aggt_code *key;
	struct member *member;
	size_t n_members;
	size_t room_members;
};

static int by_code(const void *a, const void *b)
{
	const aggt_code *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int by_key(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

static int by_size(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static int add_active(struct cluster *c, uint32_t v)
{
	if (c->n == c->room) {
		uint32_t room = c->room ? c->room * 2 : 64;
		uint32_t *active = realloc(c->active, room * sizeof(*active));
		aggt_code *key;

		if (!active)
			return -1;
		c->active = active;
		key = realloc(c->key, room * sizeof(*key));
		if (!key)
			return -1;
		c->key = key;
		c->room = room;
	}
	c->active[c->n++] = v;
	return 0;
}

static int add_member(struct cluster *c, aggt_code key, uint32_t v)
{
	if (c->n_members == c->room_members) {
		size_t room = c->room_members ? c->room_members * 2 : 64;
		struct member *member = realloc(c->member,
						room * sizeof(*member));

		if (!member)
			return -1;
		c->member = member;
		c->room_members = room;
	}
	c->member[c->n_members].key = key;
	c->member[c->n_members++].vertex = v;
	return 0;
}

/* The digits, relative to the root, in which two labels agree. */
static aggt_code shared(const struct aggt_topo *topo, aggt_code a, aggt_code b)
{
	unsigned int d;

	for (d = 0; d < topo->dims; d++)
		if ((a ^ b) & topo->mask[d])
			a &= ~topo->mask[d];
	return a;
}

/* List the sets of digits, @j each, that @v shares with other vertices. */
static int find_shared(struct cluster *c, unsigned int j, uint32_t v)
{
	const struct aggt_tree *tree = c->tree;
	aggt_code rel = tree->code[v] ^ c->root;
	aggt_code own = aggt_differs(tree->topo, rel);
	uint32_t i, n = 0;

	for (i = 0; i < c->n; i++) {
		aggt_code peer = tree->code[c->active[i]] ^ c->root;
		aggt_code off = aggt_differs(tree->topo, rel ^ peer);

		if (aggt_bits(own & ~off) != j || peer == rel ||
		    aggt_weight(tree->topo, peer) <= j ||
		    tree->parent[c->active[i]] != AGGT_NONE)
			continue;
		c->key[n++] = shared(tree->topo, rel, peer);
	}
	qsort(c->key, n, sizeof(*c->key), by_code);
	for (i = 0; i < n; i++)
		if ((!i || c->key[i] != c->key[i - 1]) &&
		    add_member(c, c->key[i], v))
			return -1;
	return 0;
}

/* What is left of a group meets at the server with the shared digits. */
static int merge_group(struct cluster *c, const struct group *g)
{
	struct aggt_tree *tree = c->tree;
	aggt_code meet = c->member[g->first].key ^ c->root;
	uint32_t i, at, before = tree->n, left = 0;

	for (i = g->first; i < g->first + g->n; i++)
		left += tree->parent[c->member[i].vertex] == AGGT_NONE;
	if (left < 2)
		return 0;
	at = aggt_tree_add(tree, meet);
	if (at == AGGT_NONE)
		return -1;
	for (i = g->first; i < g->first + g->n; i++)
		if (tree->parent[c->member[i].vertex] == AGGT_NONE &&
		    aggt_tree_route(tree, c->member[i].vertex, meet, NULL))
			return -1;
	return at == before ? add_active(c, at) : 0;
}

/* Algorithm 2 for sets of @j shared digits: the largest groups first. */
static int cluster_level(struct cluster *c, unsigned int j)
{
	struct group *group;
	uint32_t i, n = 0;
	int ret = 0;

	c->n_members = 0;
	for (i = 0; i < c->n; i++)
		if (c->tree->parent[c->active[i]] == AGGT_NONE &&
		    find_shared(c, j, c->active[i]))
			return -1;
	if (!c->n_members)
		return 0;
	qsort(c->member, c->n_members, sizeof(*c->member), by_key);
	group = malloc(c->n_members * sizeof(*group));
	if (!group)
		return -1;
	for (i = 0; i < c->n_members; i++) {
		if (!i || c->member[i].key != c->member[i - 1].key) {
			group[n].first = i;
			group[n++].n = 0;
		}
		group[n - 1].n++;
	}
	qsort(group, n, sizeof(*group), by_size);
	for (i = 0; i < n && !ret; i++)
		ret = merge_group(c, &group[i]);
	free(group);
	return ret;
}

/* Cluster the active vertices from the top down, lead the rest to the root. */
static int cluster(struct cluster *c)
{
	const struct aggt_tree *tree = c->tree;
	unsigned int j, top = 0;
	uint32_t i;

	for (i = 0; i < c->n; i++) {
		j = aggt_weight(tree->topo, tree->code[c->active[i]] ^ c->root);
		if (j > top)
			top = j;
	}
	for (j = top; j > 1; )
		if (cluster_level(c, --j))
			return -1;
	for (i = 0; i < c->n; i++)
		if (tree->parent[c->active[i]] == AGGT_NONE &&
		    aggt_tree_route(c->tree, c->active[i], c->root, NULL))
			return -1;
	return 0;
}

static void cluster_free(struct cluster *c)
{
	free(c->active);
	free(c->key);
	free(c->member);
}

/*
 * The sender that @v is related to: on a shortest path from @v to the
 * receiver, as near @v as possible; ties go to the one named first.
 */
static uint32_t related(const struct aggt_tree *tree, uint32_t v, uint32_t n)
{
	const struct aggt_topo *topo = tree->topo;
	aggt_code rel = tree->code[v] ^ tree->code[0];
	unsigned int level = 0;
	uint32_t i, best = AGGT_NONE;

	for (i = 1; i < n; i++) {
		aggt_code peer = tree->code[i] ^ tree->code[0];
		aggt_code own = aggt_differs(topo, peer);

		if (i == v || own & aggt_differs(topo, rel ^ peer) ||
		    aggt_bits(own) <= level)
			continue;
		level = aggt_bits(own);
		best = i;
	}
	return best;
}

/* Build a minimal incast branch for each sender that has related senders. */
static int build_branches(struct aggt_tree *tree)
{
	uint32_t i, n_members = 0, n = tree->n;
	struct member *member = malloc(n * sizeof(*member));
	struct cluster c = { .tree = tree };
	int ret = -1;

	if (!member)
		return -1;
	for (i = 1; i < n; i++) {
		uint32_t root = related(tree, i, n);

		if (root == AGGT_NONE)
			continue;
		member[n_members].key = root;
		member[n_members++].vertex = i;
	}
	qsort(member, n_members, sizeof(*member), by_key);
	for (i = 0; i < n_members; i++) {
		c.root = tree->code[member[i].key];
		if (add_active(&c, member[i].vertex))
			goto out;
		if (i + 1 < n_members && member[i + 1].key == member[i].key)
			continue;
		if (cluster(&c))
			goto out;
		c.n = 0;
	}
	ret = 0;
out:
	cluster_free(&c);
	free(member);
	return ret;
}

/*
 * Connect vertices without a parent to the receiver, clustered or one by one.
 */
static int build_rest(struct aggt_tree *tree, bool clustered)
{
	struct cluster c = { .tree = tree, .root = tree->code[0] };
	uint32_t v, n = tree->n;
	int ret = 0;

	for (v = 1; v < n && !ret; v++) {
		if (tree->parent[v] != AGGT_NONE)
			continue;
		ret = clustered ? add_active(&c, v) :
				  aggt_tree_route(tree, v, tree->code[0], NULL);
	}
	if (!ret && clustered)
		ret = cluster(&c);
	cluster_free(&c);
	return ret;
}

int aggt_build_mib(struct aggt_tree *tree)
{
	return build_branches(tree) || build_rest(tree, false) ? -1 : 0;
}

int aggt_build_mc(struct aggt_tree *tree)
{
	return build_rest(tree, true);
}

int aggt_build_m2(struct aggt_tree *tree)
{
	return build_branches(tree) || build_rest(tree, true) ? -1 : 0;
}
