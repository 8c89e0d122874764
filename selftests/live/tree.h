/* SPDX-License-Identifier: GPL-2.0 */
/* The ends of a tree that userspace programs merge along. */
#ifndef LIVE_TREE_H
#define LIVE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#define TREE_NODES	1024

/**
 * struct tree - the ends but the receiver
 * @node: with parents before children
 * @n: how many
 * @root: name of the receiver
 * @root_inputs: flows that it merges
 */
struct tree {
	struct {
		char name[16];
		char parent[16];
		uint32_t inputs;
	} node[TREE_NODES];
	uint32_t n;
	char root[16];
	uint32_t root_inputs;
};

/* Read lines "NODE PARENT". Return: false with an error line printed */
bool tree_read(struct tree *tree, const char *file);

/* So many sources of a node are inputs of it, too; does nothing if it is unknown. */
void tree_add_inputs(struct tree *tree, const char *node, uint32_t sources);

/* Flows that a node merges, its own included. */
uint32_t tree_inputs(const struct tree *tree, const char *node);

const char *tree_parent(const struct tree *tree, const char *node);

#endif
