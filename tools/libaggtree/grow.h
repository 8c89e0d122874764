/* SPDX-License-Identifier: GPL-2.0 */
/* The local search for trees: what its files share. */
#ifndef AGGT_GROW_H
#define AGGT_GROW_H

#include "internal.h"

/**
 * struct vertex - of the tree that is searched
 * @child: first child
 * @next: sibling
 * @prev: sibling, or the parent if it is the first child
 * @depth: hops to the receiver
 * @height: hops to the deepest below
 * @mark: number of the walk that saw it last
 * @used: false on the free list, which is linked by @next
 * @load: sizes at and below it, together
 * @heavy: the largest of them
 * @push: what a heavier flow adds on the path down from here
 * @pushed: number of the search that @push is of
 */
struct vertex {
	uint32_t child;
	uint32_t next;
	uint32_t prev;
	uint32_t depth;
	uint32_t height;
	uint32_t mark;
	bool used;
	double load;
	double heavy;
	double push;
	uint64_t pushed;
};

/**
 * struct grow - a search
 * @topo: the topology
 * @code: labels
 * @parent: AGGT_NONE while a vertex is not attached
 * @v: the rest of the vertices: the receiver, senders, then servers that were
 *	added
 * @n: how many slots of @v are in use or on the free list
 * @room: of @v and the scratch arrays
 * @terminals: receiver and senders
 * @free: list of slots
 * @size: of the terminals' flows, the largest being 1; the receiver's stays
 * @sized: whether they differ
 * @lambda: what a flow adds to a hop beside the largest of all there
 * @bound: on the depth
 * @rng: for ties and orders
 * @walk: number of the last walk
 * @search: number of the last search for a place
 * @off: scratch: where a label differs from each vertex's
 * @stack: scratch
 * @work: edges looked at so far
 */
struct grow {
	const struct aggt_topo *topo;
	aggt_code *code;
	uint32_t *parent;
	struct vertex *v;
	uint32_t n;
	uint32_t room;
	uint32_t terminals;
	uint32_t free;
	double *size;
	bool sized;
	double lambda;
	uint32_t bound;
	struct aggt_rng rng;
	uint32_t walk;
	uint64_t search;
	aggt_code *off;
	uint32_t *stack;
	uint64_t work;
};

/** struct place - where a subtree could hang: on the edge above @edge. */
struct place {
	uint32_t edge;
	uint32_t hops;
	uint32_t depth;
	double cost;
};

static inline unsigned int grow_hops(const struct grow *g, uint32_t a,
				     uint32_t b)
{
	return aggt_weight(g->topo, g->code[a] ^ g->code[b]);
}

static inline bool grow_added(const struct grow *g, uint32_t i)
{
	return i >= g->terminals;
}

static inline double grow_own_size(const struct grow *g, uint32_t i)
{
	return grow_added(g, i) ? 0 : g->size[i];
}

/* What a hop of the edge above @i costs. */
static inline double grow_weight(const struct grow *g, uint32_t i)
{
	return g->v[i].heavy + g->lambda * g->v[i].load;
}

/** aggt_grow_add - Return: a vertex without edges; there is room for it. */
uint32_t aggt_grow_add(struct grow *g, aggt_code code);
void aggt_grow_unlink(struct grow *g, uint32_t i);

/**
 * aggt_grow_walk_down - mark a subtree, set depths
 * @g: the search
 * @top: its vertex nearest to the receiver
 * @depth: of that
 *
 * Return: how many vertices it has; they are on the stack, parents first.
 */
uint32_t aggt_grow_walk_down(struct grow *g, uint32_t top, uint32_t depth);

/** aggt_grow_walk_up - heights and loads of the @n vertices on the stack. */
void aggt_grow_walk_up(struct grow *g, uint32_t n);

/** aggt_grow_lift - find the largest flows anew from @i down to the receiver. */
void aggt_grow_lift(struct grow *g, uint32_t i);

/** aggt_grow_fuse - make one of @a and its child @b. Return: that one. */
uint32_t aggt_grow_fuse(struct grow *g, uint32_t a, uint32_t b);

/** aggt_grow_attach - hang @x on the edge above @i. Return: @x or its heir. */
uint32_t aggt_grow_attach(struct grow *g, uint32_t x, uint32_t i);

/** aggt_grow_tidy - drop @p if it was added and is not needed any more. */
void aggt_grow_tidy(struct grow *g, uint32_t p);

/** aggt_grow_weigh - what it takes to hang @x on the edge above @i. */
struct place aggt_grow_weigh(struct grow *g, uint32_t x, uint32_t i);

/**
 * aggt_grow_find - the best place among what the last walk did not see
 * @g: the search
 * @x: the vertex that is to hang there
 * @shuffle: draw among equal ones
 */
struct place aggt_grow_find(struct grow *g, uint32_t x, bool shuffle);

/**
 * aggt_grow_relabel - give added servers the labels that cost least
 * @g: the search
 * @order: scratch, of as many as there is room for
 */
void aggt_grow_relabel(struct grow *g, uint32_t *order);

#endif /* AGGT_GROW_H */
