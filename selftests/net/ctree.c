// SPDX-License-Identifier: GPL-2.0
/* The tree of a transfer on the line: its entries, and their state. */
#include <stdio.h>
#include <stdlib.h>

#include "ctree.h"

struct line line = { .n = NODES };

uint64_t ctree_id(void)
{
	return aggnet_incast_id(CTREE_JOB, line_identity(&line, R));
}

int ctree_add(const struct ctree *tree, int i)
{
	struct in_addr child, absent = { tree->absent };
	struct aggnet_tree_info e = {
		.has = AGGNET_HAS(AGGNET_A_TREE_INCAST_ID) |
		       AGGNET_HAS(AGGNET_A_TREE_INSTANCE) |
		       AGGNET_HAS(AGGNET_A_TREE_ATTEMPT) |
		       AGGNET_HAS(AGGNET_A_TREE_CONTRIBUTORS) |
		       AGGNET_HAS(AGGNET_A_TREE_SOURCES) |
		       AGGNET_HAS(AGGNET_A_TREE_WRITERS) |
		       AGGNET_HAS(AGGNET_A_TREE_MEMORY) |
		       AGGNET_HAS(AGGNET_A_TREE_GIVE_UP) |
		       AGGNET_HAS(AGGNET_A_TREE_HOLD),
		.incast_id = ctree_id(),
		.instance = tree->instance,
		.attempt = tree->attempt,
		.contributors = tree->node[i].contributors,
		.sources = tree->node[i].sources,
		.writers = tree->node[i].writers,
		.memory = tree->memory,
		.give_up = tree->give_up,
		.hold = tree->node[i].hold,
	};

	if (i != S && e.contributors > !!e.writers) {
		child.s_addr = node_id(i - 1);
		e.children = (struct aggnet_addrs){ &child, 1 };
		e.has |= AGGNET_HAS(AGGNET_A_TREE_CHILDREN);
	}
	if (i == R && tree->absent) {
		e.absent = (struct aggnet_addrs){ &absent, 1 };
		e.has |= AGGNET_HAS(AGGNET_A_TREE_ABSENT);
	}
	return aggnet_tree_add(line.ctl[i], &e, true);
}

int ctree_del(int i)
{
	return aggnet_tree_del(line.ctl[i], ctree_id());
}

void ctree_install(const struct ctree *tree)
{
	int i;

	for (i = NODES; i-- > 0;)
		if (ctree_add(tree, i)) {
			fprintf(stderr, "%s\n", aggnet_ctl_error(line.ctl[i]));
			exit(1);
		}
}

bool ctree_get(int i, struct aggnet_tree_info *info)
{
	*info = (struct aggnet_tree_info){};
	return !aggnet_tree_get(line.ctl[i], ctree_id(), info);
}
