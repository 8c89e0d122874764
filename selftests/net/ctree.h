/* SPDX-License-Identifier: GPL-2.0 */
/* The tree of a transfer on the line: its entries, and their state. */
#ifndef NET_CTREE_H
#define NET_CTREE_H

#include "../lib/line.h"

/* The line of this process: s (sends), a (merges) and r (receives) */
enum { S, A, R, NODES };

extern struct line line;

/* Identity, network order */
static inline uint32_t node_id(int i)
{
	return line_identity(&line, i).s_addr;
}

#define CTREE_JOB	1

/**
 * struct ctree - a tree in one epoch
 * @instance: epoch
 * @attempt: epoch
 * @memory: bytes of each entry
 * @give_up: milliseconds, of each entry
 * @node: what differs between the nodes' entries
 * @node.contributors: flows that it merges
 * @node.sources: sources in its subtree, itself included
 * @node.writers: processes that send there
 * @node.hold: milliseconds
 * @absent: identity of a source that was left out, 0: none
 */
struct ctree {
	uint32_t instance;
	uint32_t attempt;
	uint32_t memory;
	uint32_t give_up;
	struct {
		uint32_t contributors;
		uint32_t sources;
		uint32_t writers;
		uint32_t hold;
	} node[NODES];
	uint32_t absent;
};

uint64_t ctree_id(void);

/* Add node @i's entry, or replace one of an older epoch. Return: 0 or -errno */
int ctree_add(const struct ctree *tree, int i);
int ctree_del(int i);

/* Add all entries, parents first. Exits on failure. */
void ctree_install(const struct ctree *tree);

/* Get the state of node @i's entry. Return: false if it has no entry */
bool ctree_get(int i, struct aggnet_tree_info *info);

#endif
