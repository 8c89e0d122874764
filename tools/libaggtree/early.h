/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A tree that changes vertex by vertex and always has the time at which its
 * transfer ends, for the search for the earliest end.
 */
#ifndef AGGT_EARLY_H
#define AGGT_EARLY_H

#include "internal.h"

/**
 * struct aggt_state - what a vertex sends, and when
 * @flow: traffic that leaves it
 * @ready: when it begins to send if merging servers wait for their inputs
 * @height: hops from the sender that is farthest behind it
 * @load: the most that one of its links brings
 * @squares: of what each link brings or of when it is done, all together
 */
struct aggt_state {
	double flow;
	double ready;
	uint32_t height;
	double load;
	double squares;
};

/**
 * struct aggt_spot - a vertex
 * @code: its label
 * @up: parent, AGGT_NONE at the root and while it is not in the tree
 * @first: first child
 * @next: next child of the same parent
 * @dim: of the hop to the parent
 * @used: it is in the tree, or about to be
 * @sends: it is a sender
 * @size: of its own flow
 * @state: with all that is behind it
 * @stamp: of the last walk that came by
 */
struct aggt_spot {
	aggt_code code;
	uint32_t up;
	uint32_t first;
	uint32_t next;
	uint32_t dim;
	bool used;
	bool sends;
	double size;
	struct aggt_state state;
	uint32_t stamp;
};

/** struct aggt_input - a flow that comes to a vertex. */
struct aggt_input {
	uint32_t dim;
	uint32_t height;
	double flow;
	double ready;
};

/**
 * struct aggt_early - the tree
 * @topo: of servers with digits
 * @job: delta, packets, whether servers wait
 * @spot: vertices, the root first; unused ones stay for their labels
 * @n: how many
 * @room: memory of @spot
 * @index: label -> vertex
 * @input: room for the inputs of a vertex
 * @input_room: how many
 * @load: the most that a link carries
 * @squares: of all vertices
 * @stamp: of the last walk
 * @work: inputs looked at
 * @one_exit: leave no switch by two links
 * @nomem: memory ran out
 */
struct aggt_early {
	const struct aggt_topo *topo;
	const struct aggt_job *job;
	struct aggt_spot *spot;
	uint32_t n;
	uint32_t room;
	struct aggt_map index;
	struct aggt_input *input;
	uint32_t input_room;
	double load;
	double squares;
	uint32_t stamp;
	uint64_t work;
	bool one_exit;
	bool nomem;
};

/**
 * struct aggt_rank - how good a tree is
 * @time: until the receiver has all
 * @squares: less is better balanced
 * @hops: fewer make less traffic
 */
struct aggt_rank {
	double time;
	double squares;
	double hops;
};

/** AGGT_CHAIN_MAX - vertices of a chain. */
#define AGGT_CHAIN_MAX 256

/** struct aggt_chain - vertices with one input between two others. */
struct aggt_chain {
	aggt_code code[AGGT_CHAIN_MAX];
	uint32_t n;
};

int aggt_early_init(struct aggt_early *e, const struct aggt_tree *tree,
		    const struct aggt_job *job);
void aggt_early_free(struct aggt_early *e);

/** aggt_early_spot - Return: the vertex of a label, AGGT_NONE: nomem. */
uint32_t aggt_early_spot(struct aggt_early *e, aggt_code code);

/** aggt_early_rank - of the tree as it is. */
struct aggt_rank aggt_early_rank(const struct aggt_early *e);

/**
 * aggt_early_try - the effect of adding a vertex at a place
 * @e: the tree
 * @v: the vertex, not in the tree, with its subtree
 * @at: the place
 * @dim: of the last hop
 * @hops: to there
 * @rank: filled in
 *
 * Return: hops of the longest path then.
 */
uint32_t aggt_early_try(struct aggt_early *e, uint32_t v, uint32_t at,
			uint32_t dim, uint32_t hops, struct aggt_rank *rank);

/** aggt_early_hang - add a vertex to the tree behind a chain of others. */
int aggt_early_hang(struct aggt_early *e, uint32_t v, uint32_t at,
		    const struct aggt_chain *chain);

/**
 * aggt_early_cut - remove a vertex and its subtree from the tree
 * @e: the tree
 * @v: the vertex
 * @chain: the part of its path that only it needs, which is removed, too
 *
 * Return: where that path began.
 */
uint32_t aggt_early_cut(struct aggt_early *e, uint32_t v,
			struct aggt_chain *chain);

/** aggt_better_rank - whether one is less, by time first. */
bool aggt_better_rank(const struct aggt_rank *a, const struct aggt_rank *b);

#endif
