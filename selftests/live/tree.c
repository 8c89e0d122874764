// SPDX-License-Identifier: GPL-2.0
/* The ends of a tree that userspace programs merge along. */
#include <stdio.h>
#include <string.h>

#include "tree.h"

static uint32_t find(const struct tree *tree, const char *node)
{
	uint32_t i;

	for (i = 0; i < tree->n && strcmp(tree->node[i].name, node); i++)
		;
	return i;
}

bool tree_read(struct tree *tree, const char *file)
{
	FILE *in = fopen(file, "r");
	uint32_t n = 0;

	if (!in) {
		perror(file);
		return false;
	}
	while (n < TREE_NODES && fscanf(in, "%15s %15s", tree->node[n].name,
					tree->node[n].parent) == 2)
		n++;
	fclose(in);
	tree->n = n;
	if (n)
		strcpy(tree->root, tree->node[0].parent);
	while (n--)
		tree_add_inputs(tree, tree->node[n].parent, 1);
	return true;
}

void tree_add_inputs(struct tree *tree, const char *node, uint32_t sources)
{
	uint32_t i = find(tree, node);

	if (i < tree->n)
		tree->node[i].inputs += sources;
	else if (!strcmp(node, tree->root))
		tree->root_inputs += sources;
}

uint32_t tree_inputs(const struct tree *tree, const char *node)
{
	uint32_t i = find(tree, node);

	return i < tree->n ? tree->node[i].inputs : tree->root_inputs;
}

const char *tree_parent(const struct tree *tree, const char *node)
{
	uint32_t i = find(tree, node);

	return i < tree->n ? tree->node[i].parent : tree->root;
}
