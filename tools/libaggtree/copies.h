/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies that switches with Bloom tables make of a tree's packets. Such a switch
 * sends each packet of a tree by every link by which the tree leaves it.
 */
#ifndef AGGT_COPIES_H
#define AGGT_COPIES_H

#include "internal.h"

/**
 * struct aggt_copy - the copies of a flow that cross a link
 * @link: name of the link
 * @back: direction, as of struct aggt_topo_ops' @hop_link
 * @of: vertex that the flow leaves
 * @at: vertex that the copies arrive at, AGGT_NONE if the link leads elsewhere
 * @links: links from @of to there
 * @times: how many copies of each packet
 */
struct aggt_copy {
	uint64_t link;
	bool back;
	uint32_t of;
	uint32_t at;
	uint32_t links;
	double times;
};

/**
 * struct aggt_copies - all copies of a tree's flows
 * @copy: ordered by @at
 * @n: how many
 * @room: memory of @copy
 * @lost_at: a switch that the tree leaves by more links than the module makes
 *	copies, so packets may miss theirs; AGGT_NONE if there is none
 */
struct aggt_copies {
	struct aggt_copy *copy;
	size_t n;
	size_t room;
	uint32_t lost_at;
};

/**
 * aggt_copies_find - find the copies of a finished tree
 * @all: filled in; to be emptied with aggt_copies_free() in any case
 * @tree: the tree
 * @job: if its switches do not copy there are none
 *
 * Return: 0 or -1 without memory.
 */
int aggt_copies_find(struct aggt_copies *all, const struct aggt_tree *tree,
		     const struct aggt_job *job);
void aggt_copies_free(struct aggt_copies *all);

/**
 * aggt_copies_refuse - refuse a tree whose packets may miss their link
 * @tree: the tree
 * @job: whether its switches copy
 * @err: names the switch
 *
 * Return: 0, or -1 if it is refused or there is no memory.
 */
int aggt_copies_refuse(const struct aggt_tree *tree, const struct aggt_job *job,
		       struct aggt_err *err);

#endif /* AGGT_COPIES_H */
