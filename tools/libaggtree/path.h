/* SPDX-License-Identifier: GPL-2.0 */
/* A flow's path by the links that its packets' filter names, and by those that
 * the nodes on it look up beside them.
 */
#ifndef AGGT_WAY_H
#define AGGT_WAY_H

#include "aggtree.h"

/** struct aggt_names - names of links, a list that grows. */
struct aggt_names {
	uint64_t *name;
	size_t n;
	size_t room;
};

/**
 * struct aggt_path - from an end to the receiver
 * @right: links of the path
 * @wrong: links that are tested and do not belong to it, node by node
 * @node: where the names of each node end in @wrong
 * @n_nodes: nodes that test links
 */
struct aggt_path {
	struct aggt_names right;
	struct aggt_names wrong;
	size_t *node;
	size_t n_nodes;
	size_t room;
};

/**
 * aggt_path_find - the path of an end's flow
 * @path: zero or used before
 * @plan: the plan
 * @entry: of the end
 * @conf: which nodes look up what
 *
 * Return: 0, or -1 without memory; aggt_path_free() is due in any case.
 */
int aggt_path_find(struct aggt_path *path, const struct aggt_plan *plan,
		   const struct aggt_entry *entry,
		   const struct aggt_filter_conf *conf);
void aggt_path_free(struct aggt_path *path);

#endif
